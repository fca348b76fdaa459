//! The warehouse on a real database in memory.

pub(super) mod bench;
mod demand;
mod loading;
mod reports;
