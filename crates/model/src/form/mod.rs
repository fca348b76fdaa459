//! Closed forms: answers in microseconds, with the same parameters as the simulations.
//!
//! The one idea: each form is a law of how such machines work, in a file of its own; nothing here is a curve that was chosen
//! because it met some rows.

pub mod batch;
pub mod closed;
pub mod group_commit;
pub mod misses;
pub mod processors;
pub mod service_time;
pub mod slowest;
pub mod sustained;
pub mod usl;
pub mod waiting;
