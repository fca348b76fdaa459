//! A disk: an arm that moves, a platter that turns, and tracks that hold more outside than inside.
//!
//! The one idea: the time of an operation follows from where the arm and the platter are when it begins, so sequential reads
//! reach the rate of their zone and a queue that is served in a good order does more, without being told either.
//!
//! What it does not do: beyond what it reads ahead it has no cache of its own, so a write ends when it is on the platter; the
//! platter never slows down.

mod machine;
mod shape;
#[cfg(test)]
mod tests;

pub use machine::Disk;
pub use shape::{Order, Place, Refused, Seek, Shape};
