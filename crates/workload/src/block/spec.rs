//! What a block workload is, as a study says it.

use units::{Bytes, Share};

/// A block workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// In which order offsets are visited.
    pub pattern: Pattern,
    /// Which offsets a random pattern prefers.
    pub offsets: Offsets,
    /// Sizes of the transfers with their weights; one entry for a fixed size.
    pub transfers: Vec<Transfer>,
    /// Share of the operations that read; the rest write.
    pub read: Share,
    /// Distance by which every offset is shifted off its natural alignment; zero keeps blocks aligned.
    pub shift: Bytes,
    /// Share of each module that is used, from its start.
    pub range: Share,
    /// What the written data looks like.
    pub data: DataShape,
    /// A data sync after every so many writes as an operation of its own; none for never.
    pub sync_every: Option<u32>,
}

/// In which order offsets are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Independent offsets; blocks may repeat before all were visited.
    Random,
    /// Every block once, in random order, before any is visited again.
    RandomOnce,
    /// One block after the other, from the start again at the end.
    Sequential,
}

/// Which offsets a random pattern prefers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offsets {
    /// All alike.
    Uniform,
    /// Zipf's law: block of rank r is asked for in proportion to r^-exponent; ranks are scattered over the module.
    Zipf {
        /// Greater than 0 and not 1 within 1e-6; 0.99 is common, 1.2 is steep.
        exponent: f64,
    },
    /// A share of the operations goes to a share of the blocks.
    Hotspot(Hotspot),
}

/// A hot spot at the start of a module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hotspot {
    /// Share of the operations that go to the hot blocks.
    pub operations: Share,
    /// Share of the blocks that are hot.
    pub blocks: Share,
}

/// One transfer size of a mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Bytes moved by one operation.
    pub size: Bytes,
    /// How often, in proportion to the other weights.
    pub weight: f64,
}

/// What the written data looks like to a device that compresses or removes duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataShape {
    /// Share of each block that compresses away; 0 is incompressible.
    pub compressible: Share,
    /// Share of blocks whose payload repeats another block's; stamps differ even then.
    pub duplicate: Share,
}

impl Spec {
    /// The largest transfer.
    pub fn transfer_max(&self) -> Bytes {
        self.transfers.iter().map(|t| t.size).max().unwrap_or_default()
    }

    /// Whether any operation writes.
    pub fn writes(&self) -> bool {
        self.read.0 < 1.0
    }
}
