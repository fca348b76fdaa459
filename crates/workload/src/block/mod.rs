//! Reads and writes of blocks at offsets of a module: the classic storage workload.
//!
//! The one idea: operations are drawn by number and data is stamped by place, so that neither needs memory of what was
//! done before. Only the check for stale and torn blocks remembers something: eight bytes a unit.
//!
//! What it does not do: it moves no byte to or from a system.

mod data;
mod domain;
mod generations;
mod generator;
mod grid;
mod kept;
pub mod keys;
mod offsets;
pub(crate) mod purpose;
mod reading;
mod spec;
mod stamp;
mod transfer;
mod verify;
mod word;

pub use data::{DataPool, Duplicates};
pub use generations::{Generations, OUTSTANDING_MAX, WatchError};
pub use generator::{Generator, READ, SYNC, TRIM, WRITE};
pub use grid::Grid;
pub use keys::{KEYS, read};
pub use reading::Reading;
pub use spec::{DataShape, Hotspot, Offsets, Pattern, Spec, SpecError, Transfer};
pub use stamp::{SECTOR, Sector, Stamp, fill};
pub use verify::{Acceptable, Checked, Damage, DamageKind, Expectation, Expected, Found, Printed, verify, verify_all};
pub use word::Beginning;

#[cfg(test)]
mod tests;
