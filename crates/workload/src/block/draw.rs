//! Random numbers by counter: draw `k` of a lane is a function of the lane's key and of `k`.
//!
//! The one idea: nothing is remembered between draws, so that any worker can draw any `k` and all agree. The mixing is
//! the finaliser of SplitMix64 (Steele, Lea, Flood 2014) over a Weyl sequence that starts at the lane's key.
//!
//! What it does not do: it is no cipher.

use units::Share;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads every bit of the input over the output; a bijection.
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// What the draws of a lane decide; lanes of different purposes are independent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Offset = 1,
    Direction = 2,
    Size = 3,
    Scatter = 4,
    Heat = 5,
    Tape = 6,
    Pool = 7,
    Payload = 8,
    Twin = 9,
}

/// One sequence of draws.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane(u64);

impl Lane {
    pub(crate) fn new(seed: u64, module: u64, purpose: Purpose) -> Lane {
        let place = mix(module.wrapping_mul(GOLDEN).wrapping_add(purpose as u64));
        Lane(mix(mix(seed.wrapping_add(GOLDEN)) ^ place))
    }

    /// Draw `k`: 64 even bits.
    #[inline]
    pub(crate) fn at(self, k: u64) -> u64 {
        mix(self.0.wrapping_add(k.wrapping_mul(GOLDEN)))
    }

    /// A lane of its own for draw `k`, where one draw is not enough.
    #[inline]
    pub(crate) fn under(self, k: u64) -> Lane {
        Lane(self.at(k))
    }
}

/// A draw brought below `n` without a division; the bias is below n / 2^64.
#[inline]
pub(crate) fn below(draw: u64, n: u64) -> u64 {
    ((u128::from(draw) * u128::from(n)) >> 64) as u64
}

/// A draw as a fraction in [0, 1).
#[inline]
pub(crate) fn fraction(draw: u64) -> f64 {
    (draw >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A yes with a stated probability. Zero never says yes and one always does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance {
    limit: u128,
}

impl Chance {
    pub(crate) fn of(share: Share) -> Chance {
        Chance { limit: (share.0.clamp(0.0, 1.0) * 2f64.powi(64)) as u128 }
    }

    #[inline]
    pub(crate) fn says_yes(self, draw: u64) -> bool {
        u128::from(draw) < self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chance_of_nothing_never_comes_and_of_everything_always() {
        for draw in [0, 1, u64::MAX / 2, u64::MAX] {
            assert!(!Chance::of(Share(0.0)).says_yes(draw));
            assert!(Chance::of(Share(1.0)).says_yes(draw));
        }
    }

    #[test]
    fn draws_stay_below_their_bound_and_reach_both_ends() {
        assert_eq!((below(0, 7), below(u64::MAX, 7)), (0, 6));
        assert!(fraction(u64::MAX) < 1.0);
    }

    #[test]
    fn lanes_of_different_purpose_module_or_seed_share_no_draw() {
        let lanes = [
            Lane::new(1, 0, Purpose::Offset),
            Lane::new(1, 0, Purpose::Direction),
            Lane::new(1, 1, Purpose::Offset),
            Lane::new(2, 0, Purpose::Offset),
        ];
        let mut seen: Vec<u64> = lanes.iter().flat_map(|lane| (0..1000).map(|k| lane.at(k))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 4000);
    }

    #[test]
    fn draws_of_a_seed_stay_what_they_are() {
        use Purpose::{Direction, Heat, Offset, Payload, Pool, Scatter, Size, Tape, Twin};
        let firsts = [Offset, Direction, Size, Scatter, Heat, Tape, Pool, Payload, Twin]
            .map(|purpose| Lane::new(42, 3, purpose).at(5));
        assert_eq!(
            firsts,
            [
                6_403_476_936_256_278_738,
                14_096_793_257_437_920_953,
                15_340_472_504_903_397_579,
                7_210_374_406_327_686_686,
                1_025_319_504_607_658_393,
                7_426_555_545_005_920_076,
                7_609_078_579_304_055_218,
                2_230_027_202_154_535_619,
                11_114_098_919_502_942_857
            ]
        );
        let lane = Lane::new(u64::MAX, 1 << 40, Offset);
        assert_eq!(
            [lane.at(0), lane.at(u64::MAX), lane.under(9).at(1)],
            [16_665_644_778_927_214_082, 16_335_596_511_095_347_337, 16_686_318_506_964_241_984]
        );
        assert_eq!([mix(0), mix(1), mix(u64::MAX)], [0, 6_238_072_747_940_578_789, 13_029_008_266_876_403_067]);
        assert_eq!([below(lane.at(1), 1_000_000), below(lane.at(2), u64::MAX)], [147_829, 14_969_024_164_108_821_408]);
        assert_eq!(fraction(lane.at(3)).to_bits(), 4_605_226_778_803_725_266);
    }
}
