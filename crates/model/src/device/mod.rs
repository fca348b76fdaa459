//! Devices from the inside: what a flash device and a disk do with an operation, part by part.
//!
//! The one idea: nothing here is told how fast a device is under a load. Rates, waits and the fall from "at most" to
//! "sustained" come out of dies that are busy, blocks that must be cleaned, and arms that move.
//!
//! What it does not do: it knows no array, no cache of a controller, and no clock.

mod ceiling;
pub mod disk;
pub mod flash;
mod lane;

pub use ceiling::{Ceiling, ceiling};
pub(crate) use lane::Lane;
