//! The path of an I/O through an array: host, port, controller, module, and back.
//!
//! The one idea: every part in the path does one operation after the other for a short turn, which is what limits rates, and
//! an operation takes longer in sum than its turns, which is latency that nobody waits for. So a single operation takes its
//! published time, and many reach the published rates.

pub mod general;
mod path;
pub mod raid;
mod simulate;

#[cfg(test)]
mod tests;

pub use path::{Path, Sectors};
pub(crate) use path::{READ, WRITE, reached_over};
pub use simulate::Array;
