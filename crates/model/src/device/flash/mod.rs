//! A flash device: channels, dies and planes, with page-mapped translation and cleaning.
//!
//! The one idea: a die does one thing at a time and a page cannot be written twice before its block is erased. A rested
//! device has erased blocks and answers at its best; when they are used up, each write also pays for the pages that are
//! copied to empty a block, and reads wait behind both. Write amplification depends on the share of spare blocks and not on
//! the size, so a device is simulated with fewer blocks than it has.
//!
//! What it does not do: reads suspend no program and no erase; copies stay in their plane; flash cells do not fail; all that
//! stands in the write buffer survives a loss of power, so a sync has nothing to wait for.

pub mod amplification;
mod blocks;
mod die;
mod machine;
mod shape;
mod translation;

#[path = "tests/formulas.rs"]
#[cfg(test)]
mod formulas;
#[cfg(test)]
mod tests;

pub use machine::Flash;
pub use shape::{Pace, Refused, Shape, Start};
