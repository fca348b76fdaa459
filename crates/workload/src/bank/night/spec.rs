//! What a bank's night is, as a study says it.

use crate::bank::Scale;
use crate::bank::scale::{ACCOUNTS, scale};
use crate::kind::{COMMIT_EVERY, DAYS, INDEXES};
use reading::{Settings, keys};

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    ACCOUNTS;
    DAYS;
    INDEXES;
    COMMIT_EVERY;
}

/// A bank's night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The bank.
    pub scale: Scale,
    /// Accounts of a transaction.
    pub commit_every: u64,
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> Spec {
    Spec { scale: scale(settings), commit_every: settings.given(&COMMIT_EVERY).unwrap_or(100) }
}
