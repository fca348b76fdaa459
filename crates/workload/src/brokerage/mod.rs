//! The brokerage house: customers with accounts trade securities through brokers on an exchange.
//!
//! The one idea: the data set and every transaction follow from a few numbers (preset, customers, days, seed), so that
//! all engines hold the same rows and are asked the same things. The exchange is part of the workload: orders leave,
//! fills and quotes come back later as transactions of their own.
//!
//! What it does not do: it talks to no database.

mod business;
pub mod charges;
pub mod checks;
pub mod codes;
pub mod data_set;
mod draws;
mod exchange;
mod fill;
pub mod history;
mod mix;
pub mod names;
mod numbers;
pub mod price;
pub mod procedures;
pub mod scale;
pub mod schema;
mod spec;
mod statements;
mod steps;
mod workload;

pub use crate::kind::orders as ledger;
pub use business::Brokerage;
pub use ledger::Ledger;
pub use mix::{MEAN, MIXES, classes};
pub use numbers::epoch_after;
pub use price::price_cents;
pub use scale::Scale;
pub use spec::{KEYS, Market, PROCEDURES, Preset, Spec, read};
pub use statements::{cleanup_statements, samples, statements};
pub use workload::judge;

#[cfg(test)]
mod tests;
