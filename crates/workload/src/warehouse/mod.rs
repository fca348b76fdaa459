//! A data warehouse that is asked while it loads: ten cubes with shared dimensions, users who walk through reports, and streams
//! of deltas beside them.
//!
//! The one idea: everything follows from a few numbers: each fact from its cube and number, each step of a user from the seed
//! and the number of its arrival, each delta from its own number.
//!
//! What it does not do: it talks to no database.

mod business;
mod checks;
pub mod data_set;
mod deltas;
mod fill;
pub mod scale;
mod schema;
pub mod spec;
mod statements;
mod walk;
mod workload;

pub use business::Warehouse;
pub use scale::Scale;
pub use spec::{KEYS, Spec, read};

#[cfg(test)]
mod tests;
