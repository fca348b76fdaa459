//! Batch jobs: each goes over a table of its own, row by row or in blocks.
//!
//! The one idea: a job is a slot, and a slot keeps its place in its table, so that jobs never wait for each other's rows
//! and what is measured is the engine's own cost of a row.
//!
//! What it does not do: it draws nothing; jobs go through their tables in order, round and round.

mod business;
mod fill;
mod spec;
mod statements;
#[cfg(test)]
mod tests;

pub use crate::transaction::Tally;
pub use business::Rows;
pub use fill::{Table, TableRows, tables};
pub use spec::{Mode, Spec};
pub use statements::{classes, statements, tally_statement};
