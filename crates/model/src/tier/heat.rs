//! Which extent an operation goes to, and how often each was asked for.
//!
//! The one idea: ranks have a law, and extents have ranks; heat drifts when two extents change ranks.

use super::spec::{Spec, Start};
use random::Draws;

/// The extents of a store.
#[derive(Clone, Debug)]
pub(super) struct Heat {
    /// Heat of all ranks up to one.
    sums: Vec<f64>,
    /// The extent of each rank.
    ranks: Vec<u32>,
    /// Whether an extent lies on flash.
    pub fast: Vec<bool>,
    /// What was counted of it, this period and before.
    counts: Vec<f64>,
    draws: Draws,
    drifts: Draws,
}

impl Heat {
    /// Extents at the beginning. Which is hot is a matter of chance, and so is where it lies unless it is settled.
    pub fn new(spec: &Spec, seed: u64) -> Heat {
        let extents = spec.extents.max(1);
        let mut sum = 0.0;
        let sums = (1..=extents).map(|rank| {
            sum += libm::pow(f64::from(rank), -spec.skew);
            sum
        });
        let sums: Vec<f64> = sums.collect();
        let mut shuffle = Draws::numbered(seed, 1 << 20);
        let mut ranks: Vec<u32> = (0..extents).collect();
        for last in (1..ranks.len()).rev() {
            ranks.swap(last, shuffle.below(last as u64 + 1) as usize);
        }
        let mut heat = Heat {
            sums,
            fast: vec![false; extents as usize],
            counts: vec![0.0; extents as usize],
            draws: Draws::numbered(seed, 1 << 21),
            drifts: Draws::numbered(seed, 1 << 22),
            ranks,
        };
        let fast = spec.fast.min(extents) as usize;
        match spec.start {
            Start::Settled => {
                heat.ranks[..fast].iter().for_each(|extent| heat.fast[*extent as usize] = true);
                // What has drifted since the mover looked last; each change is of two extents.
                let changed = -0.5 * f64::from(extents) * libm::log(spec.in_place().max(1e-3));
                (0..changed as u64).for_each(|_| heat.drift());
            }
            Start::Chance => heat.fast[..fast].fill(true),
        }
        heat
    }

    /// The extent of the next operation, by its heat.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let total = self.sums[self.sums.len() - 1];
        let at = self.draws.uniform() * total;
        let rank = self.sums.partition_point(|sum| *sum < at).min(self.sums.len() - 1);
        self.ranks[rank]
    }

    /// An operation goes to an extent; whether that lies on flash.
    #[inline]
    pub fn count(&mut self, extent: u32) -> bool {
        self.counts[extent as usize] += 1.0;
        self.fast[extent as usize]
    }

    /// Two extents change ranks.
    pub fn drift(&mut self) {
        let count = self.ranks.len() as u64;
        let (one, other) = (self.drifts.below(count) as usize, self.drifts.below(count) as usize);
        self.ranks.swap(one, other);
    }

    /// What was counted of an extent.
    pub fn counted(&self, extent: u32) -> f64 {
        self.counts[extent as usize]
    }

    /// Lets what was counted fade by this share.
    pub fn fade(&mut self, kept: f64) {
        self.counts.iter_mut().for_each(|count| *count *= kept);
    }
}
