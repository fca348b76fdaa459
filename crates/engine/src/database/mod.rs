//! A database under test: opened for a trial, filled, loaded over sessions, read and checked.

mod beside;
pub(crate) mod checks;
pub(crate) mod costs;
pub(crate) mod counters;
pub(crate) mod databases;
mod held;
mod lags;
pub(crate) mod levels;
mod looking;
pub(crate) mod mirrored;
mod outage;
mod page_cache;
mod pages;
pub(crate) mod plans;
pub(crate) mod sessions;
pub(crate) mod waits;
