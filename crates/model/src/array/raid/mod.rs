//! RAID: which I/Os behind an array one I/O in front of it becomes.
//!
//! The one idea: RAID is a mapping and not a station. It says which modules read and which then write; modules that are lost
//! change the answer, and nothing else.

mod mapping;

#[cfg(test)]
mod tests;

pub use mapping::{Level, Piece, Raid, RaidError, Stripe};
