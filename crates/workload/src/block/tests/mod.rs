//! Behaviour that spans the parts of a block workload.

mod concurrency;
mod damage;
mod data;
mod generations;
mod generator;
mod store;

use units::{Bytes, Share};

use super::{DataShape, Offsets, Pattern, Spec, Transfer};

pub(super) fn spec(pattern: Pattern, bytes: u64) -> Spec {
    Spec {
        pattern,
        offsets: Offsets::Uniform,
        transfers: vec![Transfer { size: Bytes(bytes), weight: 1.0 }],
        read: Share(1.0),
        write_transfers: Vec::new(),
        trims: Share(0.0),
        shift: Bytes(0),
        start: Bytes(0),
        range: Share(1.0),
        data: DataShape::default(),
    }
}
