//! Random choices of a plan.
//!
//! The one idea: every choice is a function of the seed and of what is chosen, by a generator that is written here,
//! because a run that is resumed by a later version must find the same order again; a library's may change.
//!
//! What it does not do: it is no source of randomness; the seed is handed in.

/// SplitMix64 (Steele, Lea and Flood, 2014): passes BigCrush, and any seed will do.
pub(crate) struct Draws(u64);

impl Draws {
    /// The stream of draws for one purpose, named by a few numbers.
    pub fn of(seed: u64, purpose: &[u64]) -> Draws {
        let mut draws = Draws(seed);
        for part in purpose {
            let mixed = draws.next() ^ part.wrapping_mul(0xD6E8_FEB8_6659_FD93);
            draws = Draws(mixed);
        }
        draws
    }

    /// The next draw.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`; the bias of the multiplication is below 2^-32 for any plan that fits in memory.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// The numbers below `n` in random order (Fisher and Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i as u64 + 1) as usize);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        // First outputs of SplitMix64 from seed 1234567, as in the reference implementation.
        let mut draws = Draws(1_234_567);
        assert_eq!(draws.next(), 6_457_827_717_110_365_317);
        assert_eq!(draws.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn every_order_of_three_is_about_equally_frequent() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            *counts.entry(Draws::of(seed, &[1, 2]).permutation(3)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn draws_of_a_seed_stay_what_they_are() {
        let mut draws = Draws::of(42, &[3, 5, u64::MAX]);
        assert_eq!(
            [draws.next(), draws.below(1_000_000), draws.next()],
            [1_673_594_834_989_636_407, 435_149, 8_350_771_452_645_526_777]
        );
        assert_eq!(Draws::of(42, &[]).next(), 13_679_457_532_755_275_413);
        assert_eq!(Draws::of(42, &[1]).permutation(10), [5, 8, 6, 3, 0, 2, 1, 7, 4, 9]);
        assert_eq!(crate::plan::trial_seed(42, 1, 2, 3), 12_016_397_692_313_070_407);
    }
}
