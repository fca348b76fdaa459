//! Tests of the room as a whole, and what tests of its parts share.

mod across;
mod alike;
pub(crate) mod certificates;
mod cost;
mod plans;
mod planted;
pub(crate) mod skip;
mod tampering;
