//! What a worker carries out on a database.

use crate::worker::profile::Profile;
use workload::transaction::Business;

/// The transactions of one worker, with what it remembers of them.
pub(crate) struct Transactions {
    pub(crate) business: Box<dyn Business>,
    /// How often one is tried at most.
    pub(crate) tries: u32,
    /// What was asked, by statement.
    pub(crate) profile: Profile,
}
