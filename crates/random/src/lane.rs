//! Draws by number: draw `k` of a lane is a function of the lane's key and of `k`.
//!
//! The one idea: nothing is remembered between draws, so that any worker can draw any `k` and all agree. The finaliser goes
//! over a Weyl sequence that starts at the lane's key.

use crate::draws::{GOLDEN, mix};

/// One sequence of draws, met at any place.
#[derive(Clone, Copy, Debug)]
pub struct Lane(u64);

impl Lane {
    /// The lane of a seed for a part of the work and a purpose; lanes of different purposes are independent.
    pub const fn new(seed: u64, part: u64, purpose: u64) -> Lane {
        let place = mix(part.wrapping_mul(GOLDEN).wrapping_add(purpose));
        Lane(mix(mix(seed.wrapping_add(GOLDEN)) ^ place))
    }

    /// Draw `k`: 64 even bits.
    #[inline]
    pub const fn at(self, k: u64) -> u64 {
        mix(self.0.wrapping_add(k.wrapping_mul(GOLDEN)))
    }

    /// A lane of its own for draw `k`, where one draw is not enough.
    #[inline]
    pub const fn under(self, k: u64) -> Lane {
        Lane(self.at(k))
    }
}

/// A yes with a stated probability. Zero never says yes and one always does.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    limit: u128,
}

impl Chance {
    /// Yes in this share of all draws, which is held between 0 and 1.
    pub fn of(share: f64) -> Chance {
        Chance { limit: (share.clamp(0.0, 1.0) * 2f64.powi(64)) as u128 }
    }

    /// What a draw says.
    #[inline]
    pub const fn says_yes(self, bits: u64) -> bool {
        (bits as u128) < self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{below, fraction};

    #[test]
    fn a_chance_of_nothing_never_comes_and_of_everything_always() {
        for draw in [0, 1, u64::MAX / 2, u64::MAX] {
            assert!(!Chance::of(0.0).says_yes(draw));
            assert!(Chance::of(1.0).says_yes(draw));
        }
    }

    #[test]
    fn lanes_of_different_purpose_module_or_seed_share_no_draw() {
        let lanes = [Lane::new(1, 0, 1), Lane::new(1, 0, 2), Lane::new(1, 1, 1), Lane::new(2, 0, 1)];
        let mut seen: Vec<u64> = lanes.iter().flat_map(|lane| (0..1000).map(|k| lane.at(k))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 4000);
    }

    #[test]
    fn draws_of_a_seed_stay_what_they_are() {
        let firsts = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(|purpose| Lane::new(42, 3, purpose).at(5));
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
        let lane = Lane::new(u64::MAX, 1 << 40, 1);
        assert_eq!(
            [lane.at(0), lane.at(u64::MAX), lane.under(9).at(1)],
            [16_665_644_778_927_214_082, 16_335_596_511_095_347_337, 16_686_318_506_964_241_984]
        );
        assert_eq!([mix(0), mix(1), mix(u64::MAX)], [0, 6_238_072_747_940_578_789, 13_029_008_266_876_403_067]);
        assert_eq!([below(lane.at(1), 1_000_000), below(lane.at(2), u64::MAX)], [147_829, 14_969_024_164_108_821_408]);
        assert_eq!(fraction(lane.at(3)).to_bits(), 4_605_226_778_803_725_266);
    }
}
