//! Reads and writes of blocks at offsets of a module: the classic storage workload.

mod spec;

pub use spec::{DataShape, Hotspot, Offsets, Pattern, Spec, Transfer};
