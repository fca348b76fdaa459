//! Mirrored pairs of transaction servers in virtual time.
//!
//! The one idea: a transaction computes and waits for its storage, and for what it changes it goes to the other node and back,
//! one change after the other: over the link, through a job and the log there. A pair that is apart only notes what changed;
//! afterwards those rows go the same way, beside the transactions. The parameters are those of the closed form. What takes the
//! mirror away in the middle of a trial comes as an event, and [`Machine::course`](crate::machine::Machine::course) says how the
//! nodes stood.
//!
//! What it does not do: it executes no statement, and it loses nothing.

mod apart;
mod machine;
mod node;
mod plan;
#[cfg(test)]
mod tests;

pub use machine::Pair;
pub use plan::{Mode, PairPlan, Resync};
