//! What a rule finds.

/// A place with what is wrong there: `crates/load/src/lib.rs:12: ...`.
pub type Problem = String;
