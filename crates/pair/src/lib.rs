//! The life of a mirrored pair: who may write, what is noted meanwhile, and when both nodes are equal again.
//!
//! The one idea: the life is a pure function from what happened to what is to be done. Whoever runs a pair tells it what it saw
//! and does what it is told, in that order; so every order of failures can be tried in a simulation, and those who carry out
//! know only how.
//!
//! What it does not do: it starts no server, opens no link and reads no clock.

mod life;
mod state;

pub use life::{Life, Refusal, Rule};
pub use state::{Action, Behind, Event, Node, Reason, State};
