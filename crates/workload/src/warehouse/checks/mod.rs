//! What must hold for the warehouse at any time, and what the fill made of it.
//!
//! What it does not do: it asks no database; queries are handed out.

mod figures;
mod invariants;
#[cfg(test)]
mod tests;

pub(super) use figures::figures;
pub(super) use invariants::invariants;
