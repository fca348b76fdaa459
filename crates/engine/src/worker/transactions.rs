//! What a worker carries out on a database.

use crate::worker::profile::Profile;
use units::Nanos;
use workload::transaction::{Business, Caused, Ending};

/// The transactions of one worker, with what it remembers of them.
pub(crate) struct Transactions {
    pub(crate) business: Box<dyn Business>,
    /// How often one is tried at most.
    pub(crate) tries: u32,
    /// Whether a refused statement ends the trial.
    pub(crate) stops: bool,
    /// What was asked, by statement.
    pub(crate) profile: Profile,
}

impl Transactions {
    /// The transaction in a slot has ended; what it causes is added to `caused`.
    pub(crate) fn ended(&mut self, slot: u32, ending: Ending, at: Nanos, caused: &mut Vec<Caused>) {
        if ending == Ending::Done {
            self.profile.done();
        }
        self.business.ended(slot, ending, at, caused);
    }
}
