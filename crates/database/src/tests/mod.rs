//! Tests of the room as a whole, and what tests of its parts share.

mod across;
mod alike;
pub(crate) mod certificates;
mod cost;
mod layouts;
mod lock_step;
mod ownership;
mod plans;
mod planted;
mod scripts;
pub(crate) mod skip;
mod subscribed;
mod tampering;
