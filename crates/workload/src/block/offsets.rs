//! Where operation `k` of a random pattern goes.
//!
//! The one idea: blocks of one transfer size lie side by side from the start of the range, so an offset is a block
//! number times the size. A mixture has a grid for each size; Zipf's law counts units of the smallest size, and a larger
//! transfer starts where the block of its own size around that unit starts.
//!
//! What it does not do: it neither shifts off alignment nor decides between read and write; the generator does.

use units::{Bytes, Share};

use super::purpose::Purpose;
use super::transfer::Sizes;
use super::{Hotspot, Offsets};
use random::{Chance, Lane, Permutation, Zipf, below};

/// Blocks of one transfer size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    bytes: u64,
    blocks: u64,
    hot: u64,
}

/// How offsets are chosen.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    Uniform { grids: Vec<Grid> },
    Hotspot { grids: Vec<Grid>, chance: Chance },
    Zipf { grids: Vec<Grid>, unit: u64, units: u64, law: Zipf },
}

/// What a choice needs to know of one module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    offset: Lane,
    heat: Lane,
    scatter: Permutation,
}

impl Choice {
    pub(crate) fn new(offsets: Offsets, sizes: &Sizes, range: Bytes) -> Choice {
        let share = if let Offsets::Hotspot(spot) = offsets { spot.blocks } else { Share(0.0) };
        let grids = sizes.bytes.iter().map(|bytes| Grid::new(u64::from(*bytes), range, share)).collect();
        let unit = u64::from(sizes.smallest());
        match offsets {
            Offsets::Uniform => Choice::Uniform { grids },
            Offsets::Hotspot(Hotspot { operations, .. }) => Choice::Hotspot { grids, chance: Chance::of(operations.0) },
            Offsets::Zipf { exponent } => {
                Choice::Zipf { grids, unit, units: range.0 / unit, law: Zipf::new(range.0 / unit, exponent) }
            }
        }
    }

    pub(crate) fn lanes(&self, seed: u64, module: u64) -> Lanes {
        let units = if let Choice::Zipf { units, .. } = self { *units } else { 1 };
        Lanes {
            offset: Purpose::Offset.lane(seed, module),
            heat: Purpose::Heat.lane(seed, module),
            scatter: Permutation::new(units, Purpose::Scatter.lane(seed, module).at(0)),
        }
    }

    /// Offset of operation `k`, whose transfer has the size of this index.
    #[inline]
    pub(crate) fn at(&self, lanes: &Lanes, k: u64, size: usize) -> u64 {
        match self {
            Choice::Uniform { grids } => below(lanes.offset.at(k), grids[size].blocks) * grids[size].bytes,
            Choice::Hotspot { grids, chance } => {
                grids[size].near_or_far(chance.says_yes(lanes.heat.at(k)), lanes.offset.at(k))
            }
            Choice::Zipf { grids, unit, law, .. } => {
                let start = lanes.scatter.at(law.rank(lanes.heat, k)) * unit;
                grids[size].around(start, *unit)
            }
        }
    }
}

impl Grid {
    fn new(bytes: u64, range: Bytes, hot_share: Share) -> Grid {
        let blocks = range.0 / bytes;
        let hot = ((blocks as f64 * hot_share.0).round() as u64).clamp(1, blocks);
        Grid { bytes, blocks, hot }
    }

    fn near_or_far(&self, hot: bool, draw: u64) -> u64 {
        // Without cold blocks everything is hot.
        let block = if hot || self.hot == self.blocks {
            below(draw, self.hot)
        } else {
            self.hot + below(draw, self.blocks - self.hot)
        };
        block * self.bytes
    }

    fn around(&self, start: u64, unit: u64) -> u64 {
        if self.bytes == unit {
            return start;
        }
        (start / self.bytes).min(self.blocks - 1) * self.bytes
    }
}
