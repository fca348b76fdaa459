//! File work: n copies of a loop that creates a file, copies it and reads the copy.

mod spec;

pub use spec::Spec;
