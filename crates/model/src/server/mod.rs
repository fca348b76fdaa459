//! Servers and their transactions in virtual time.
//!
//! The one idea: a transaction is a list of steps between processors, storage, locks and the log; its profile says how many
//! of each. The simulation has the parameters of the closed forms, and a test holds both together.
//!
//! What it does not do: it executes no statement and holds no data.

mod ceiling;
mod hold;
mod profile;
mod simulate;
mod storage;

#[cfg(test)]
mod tests;

pub use ceiling::{Ceiling, ceiling};
pub use profile::{Amount, Factors, Log, Plan, Profile, Work};
pub use simulate::Server;
pub use storage::{Reads, Tier};
