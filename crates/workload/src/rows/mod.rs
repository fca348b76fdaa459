//! Batch jobs: each goes over a table of its own, row by row or in blocks.
//!
//! The one idea: a job is a slot, and a slot keeps its place in its table, so that jobs never wait for each other's rows
//! and what is measured is the engine's own cost of a row.
//!
//! What it does not do: it draws nothing; jobs go through their tables in order, round and round. Where a round of deletes or inserts is
//! over, the first transaction of the next one brings all rows back by one statement, or takes them away.

mod business;
pub mod data_set;
pub mod keys;
mod spec;
mod statements;
#[cfg(test)]
mod tests;
mod workload;

pub use business::Rows;
pub use data_set::tables;
pub use keys::{KEYS, read};
pub use spec::{Access, Mode, Spec, Update};
pub use statements::{classes, statements, tally_statement};
