//! What must hold for the data of a bank, as SQL that every engine understands unchanged.
//!
//! The one idea: an invariant is a query for rows that break it. Mostly both sides of a sum are stacked and grouped once, so that
//! what is missing on either side is seen; where one side is known to be complete, the other is joined to it, which is faster.
//!
//! What it does not do: it runs no query.

mod figures;

pub(super) use figures::figures;

use super::history::History;
use super::scale::{FIRST_ORDER, Scale, TODAY};
use crate::dataset::Invariant;

/// All of them.
pub(super) fn invariants(scale: Scale, seed: u64) -> Vec<Invariant> {
    let numbers = numbers(scale, seed);
    let files = [include_str!("postings.sql"), include_str!("night.sql")];
    files.into_iter().flat_map(|file| Invariant::all(file, &numbers)).collect()
}

/// What stands in braces in the texts.
fn numbers(scale: Scale, seed: u64) -> [(&'static str, String); 9] {
    let history = History::new(scale, seed);
    [
        ("{first_day}", scale.first_day().to_string()),
        ("{last_day}", (TODAY - 1).to_string()),
        ("{today}", TODAY.to_string()),
        ("{balances}", (scale.days + 1).to_string()),
        ("{accounts}", scale.accounts.to_string()),
        ("{first_order}", history.first_kept_order().to_string()),
        ("{last_order}", history.last_order().to_string()),
        ("{first_of_day}", history.first_order_of_day().to_string()),
        ("{first_of_night}", FIRST_ORDER.to_string()),
    ]
}
