//! What a study may say of a bank, whatever is done there.

use super::scale::Scale;
use crate::kind::{DAYS, INDEXES};
use reading::Settings;
use reading::key::{Count, Is, Key};

/// Accounts of the data set.
pub static ACCOUNTS: Key<Count, Is> = Key {
    name: "accounts",
    domain: Count { min: 1_000, max: 100_000_000 },
    default: Is("20000"),
    help: "Accounts of customers; everything else scales with them.",
};

/// The bank that these settings ask for.
pub(super) fn scale(settings: &mut dyn Settings) -> Scale {
    let (accounts, indexes) = (settings.get(&ACCOUNTS), settings.get(&INDEXES));
    Scale { accounts, days: settings.given(&DAYS).unwrap_or(20), indexes }
}
