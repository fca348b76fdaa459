//! File work: n copies of a loop that creates a file, copies it and reads the copy.
//!
//! The one idea: the work is fixed and counted, so that the time that it takes compares systems.
//!
//! What it does not do: it opens no file; the engine carries the steps out.

mod spec;
mod steps;

pub use spec::{KEYS, Spec, read};
pub use steps::{COPY, CREATE, Path, Piece, READ, Step, Steps, pieces};
