//! What a bank's night is, as a study says it.

use crate::bank::Scale;
use crate::bank::keys::{ACCOUNTS, DAYS, scale};
use reading::key::Count;
use reading::{Settings, keys};

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    ACCOUNTS;
    DAYS;
    COMMIT_EVERY "commit_every": Count = Count { min: 1, max: 1_000_000 }, Is("100"),
        "Accounts that a job of the night settles between two commits; they are one operation. A session is a job, and has a \
         range of accounts of its own.";
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
    Spec { scale: scale(settings), commit_every: settings.get(&COMMIT_EVERY) }
}
