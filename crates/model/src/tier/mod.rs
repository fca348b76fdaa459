//! Two tiers of storage, disks and flash, and a mover that keeps hot data on the fast one.
//!
//! The one idea: a few extents take most operations, so a little flash takes most of the load off the disks; how much follows
//! from the skew of the heat and the share that fits. The mover learns heat by counting, and pays for what it moves at the same
//! disks and flash that operations wait for. Without flash and with nothing else are the ends of one machine.
//!
//! What it does not do: it holds no data, and an operation lies on one disk or in one part of the flash.

mod cache;
mod heat;
mod law;
mod machine;
mod mover;
mod spec;
#[cfg(test)]
mod tests;

pub use law::{hit_share, operations_per_s};
pub use machine::Tiered;
pub use spec::{Place, Spec, Start};
