//! One trial: the state that it starts in, its load, and what became of it.

mod coordinator;
mod discard;
mod fill;
mod outcome;
pub(crate) mod run;
mod state;
