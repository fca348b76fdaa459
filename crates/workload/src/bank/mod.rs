//! A bank: what its customers and its own people ask for by day, and the balancing of all accounts at night.
//!
//! The one idea: the data set and every transaction follow from a few numbers (accounts, days, seed), so that all engines hold
//! the same rows and are asked the same things. Day and night work on one data set, and both post by double entry: the items of
//! an order add up to nothing.
//!
//! What it does not do: it talks to no database.

mod checks;
pub mod data_set;
pub mod day;
pub mod fill;
pub mod history;
pub mod night;
pub mod scale;
pub mod schema;
#[cfg(test)]
mod tests;

pub use scale::Scale;
