//! Tests of the room as a whole, and what tests of its parts share.

mod across;
mod alike;
pub(crate) mod certificates;
mod cost;
mod ownership;
mod plans;
pub(crate) mod skip;
mod tampering;
