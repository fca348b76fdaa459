//! What a tiered store settles at, in closed form.
//!
//! The one idea: the share of operations that flash takes is the share of the heat of the hottest extents that fit. Disks and
//! parts of flash are then single servers of a closed network, whose demands are these shares.

use super::spec::Spec;
use crate::form::closed;

/// Share of all operations that goes to the hottest `fast` of `extents` extents, whose heat follows Zipf's law.
pub fn hit_share(extents: u32, fast: u32, skew: f64) -> f64 {
    let fast = fast.min(extents);
    if fast == extents { 1.0 } else { harmonic(fast, skew) / harmonic(extents, skew) }
}

/// Terms that are added one by one; the others by the formula of Euler and Maclaurin, to a billionth.
const EXACT: u32 = 256;

/// The sum of `r` to the power of `-skew` up to `count`.
fn harmonic(count: u32, skew: f64) -> f64 {
    let power = |rank: f64| libm::pow(rank, -skew);
    let sum: f64 = (1..=count.min(EXACT)).map(|rank| power(f64::from(rank))).sum();
    if count <= EXACT {
        return sum;
    }
    let (from, to) = (f64::from(EXACT), f64::from(count));
    let integral = match (skew - 1.0).abs() < 1e-9 {
        true => libm::log(to / from),
        false => (libm::pow(to, 1.0 - skew) - libm::pow(from, 1.0 - skew)) / (1.0 - skew),
    };
    let slope = |rank: f64| -skew * libm::pow(rank, -skew - 1.0);
    sum + integral + 0.5 * (power(to) - power(from)) + (slope(to) - slope(from)) / 12.0
}

impl Spec {
    /// Share of operations that flash takes when the mover has settled. Where heat drifts, the mover knows what was hot on the
    /// mean half a period and its memory ago; what moved since is on flash by chance. What it cannot move in time stays behind.
    pub fn settled_hits(&self) -> f64 {
        let (extents, fast) = (f64::from(self.extents), f64::from(self.fast));
        let best = hit_share(self.extents, self.fast, self.skew);
        if self.drift_per_hour <= 0.0 || self.fast == 0 || self.fast >= self.extents {
            return best;
        }
        let chance = fast / extents;
        chance + (best - chance) * self.in_place()
    }

    /// Deviation of the share of operations that disks take, as a part of it, from one store to the next: which of the hottest
    /// extents happen to lie where is chance, and few of them have much of the heat.
    pub fn scatter(&self) -> f64 {
        if self.fast == 0 || self.fast >= self.extents {
            return 0.0;
        }
        let (known, chance) = (self.in_place(), f64::from(self.fast) / f64::from(self.extents));
        let by_chance = |share: f64| share * (1.0 - share);
        let squares = |count: u32| harmonic(count, 2.0 * self.skew);
        let (hot, all) = (squares(self.fast), squares(self.extents));
        let cold = (1.0 - known) * chance;
        let variance = hot * by_chance(known + cold) + (all - hot) * by_chance(cold);
        libm::sqrt(variance) / harmonic(self.extents, self.skew) / (1.0 - self.settled_hits())
    }

    /// Share of the extents that lie where their heat of now wants them, beside those that do so by chance.
    pub fn in_place(&self) -> f64 {
        if self.drift_per_hour <= 0.0 {
            return 1.0;
        }
        if self.mover_bytes_per_s <= 0.0 || self.fast == 0 || self.fast >= self.extents {
            return 0.0;
        }
        let age_s = self.period_s * (0.5 + self.memory);
        let known = libm::exp(-self.drift_per_hour / 3_600.0 * age_s);
        // Hot extents that come up a second, and pairs of extents that change places.
        let pairs = self.mover_bytes_per_s / (2.0 * self.extent_bytes as f64);
        known * (pairs / self.changing_per_s()).min(1.0)
    }

    /// Extents a second that become hot while they lie on disks.
    fn changing_per_s(&self) -> f64 {
        let chance = f64::from(self.fast) / f64::from(self.extents);
        self.drifting_per_s() * chance * (1.0 - chance)
    }

    /// Bytes a second that the mover moves when it has settled.
    pub fn moved_per_s(&self) -> f64 {
        (2.0 * self.changing_per_s() * self.extent_bytes as f64).min(self.mover_bytes_per_s)
    }
}

/// Operations a second of a settled store with so many outstanding, of so many bytes each. What is moved takes its part of
/// both tiers.
pub fn operations_per_s(spec: &Spec, outstanding: u32, bytes: f64) -> f64 {
    let hits = spec.settled_hits();
    let piece = super::mover::PIECE as f64;
    let moved = spec.moved_per_s() / piece;
    let demand = |place: &super::Place, share: f64| {
        let busy = (moved * place.mean_ns(piece) / 1e9 / f64::from(place.count)).min(0.9);
        (place.count, share * place.mean_ns(bytes) / 1e9 / f64::from(place.count) / (1.0 - busy))
    };
    closed::groups(outstanding.max(1), 0.0, &[demand(&spec.disks, 1.0 - hits), demand(&spec.flash, hits)]).rate_per_s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_the_sums_of_zipfs_law() {
        let sum = |count: u32, skew: f64| (1..=count).map(|rank| libm::pow(f64::from(rank), -skew)).sum::<f64>();
        for (extents, fast, skew) in [(1_000, 100, 0.9), (50_000, 2_500, 1.0), (20_000, 7, 1.4), (300, 299, 0.0)] {
            let exact = sum(fast, skew) / sum(extents, skew);
            assert!((hit_share(extents, fast, skew) / exact - 1.0).abs() < 1e-9, "{extents} {fast} {skew}");
        }
        assert_eq!((hit_share(9, 0, 1.0), hit_share(9, 9, 1.0), hit_share(9, 20, 1.0)), (0.0, 1.0, 1.0));
    }
}
