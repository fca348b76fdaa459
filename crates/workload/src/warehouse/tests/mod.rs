//! The warehouse on a real database in memory.

pub(super) mod bench;
mod loading;
mod reports;
