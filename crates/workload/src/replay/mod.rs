//! A trace of a live database, sent again: its statements, in its sessions, at its moments.
//!
//! The one idea: a session of the trace is a session here, and says itself when its next transaction is due; whoever is behind
//! starts at once and is late. So a slower system is asked for the same work, and its users' wait is seen.
//!
//! What it does not do: it makes no data. The tables are those that the trace was taken on, or a copy of them, and statements that change
//! rows change them each time anew.

mod business;
pub mod keys;
mod literals;
mod program;
mod spelled;
#[cfg(test)]
mod tests;
mod trace;

pub use keys::{Asked, KEYS, read};
pub use literals::{shape, told};
pub use program::{Said, bound};
pub use trace::{Heard, Trace};
