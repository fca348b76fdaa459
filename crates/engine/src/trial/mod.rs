//! One trial: the state that it starts in, its load, and what became of it.

mod by_clock;
mod coordinator;
mod discard;
mod events;
mod fill;
#[path = "tests/injected.rs"]
#[cfg(test)]
mod injected;
pub(crate) mod left;
mod outcome;
pub(crate) mod read_back;
pub(crate) mod run;
mod side_by_side;
mod state;
