//! Records found by a key: point reads, updates, inserts and short scans, in the mixes A to F of the well-known cloud benchmark.
//!
//! The one idea: an operation is a function of seed and number: its class, its key and what it writes. Every change is counted
//! in its record, so that what was acknowledged can be held against the data.
//!
//! What it does not do: keys are drawn over the records of the fill; only `latest` reaches those that a trial inserts.

mod business;
mod choose;
pub mod data_set;
mod history;
mod spec;
mod statements;
#[cfg(test)]
mod tests;
mod workload;

pub use business::KeyValue;
pub use history::edn;
pub use spec::{Distribution, KEYS, Mix, Spec, read};
