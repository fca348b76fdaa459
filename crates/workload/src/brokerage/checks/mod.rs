//! What must hold for the data of a brokerage house, as SQL that every engine understands unchanged.
//!
//! The one idea: an invariant is a query for rows that break it, and a checksum is a query whose answer is the same on all
//! engines that hold the same rows. Both sides of a sum are stacked and grouped once, so that what is missing on either
//! side is seen and a planner has little to choose from.
//!
//! What it does not do: it runs no query.

mod figures;
mod invariants;

pub use figures::{figures, row_checks};
pub use invariants::invariants;

#[cfg(test)]
mod tests;
