//! A keyed permutation of 0..n for any n, in constant memory.
//!
//! The one idea: a Feistel network permutes the next power of two whatever its round function is (Luby, Rackoff 1988);
//! walking on from a value outside 0..n until one falls inside keeps it a permutation (Black, Rogaway 2002). The power
//! of two is below 2 n, so that fewer than two steps are expected. The halves differ by at most one bit.
//!
//! What it does not do: it is no cipher; six half rounds are for evenness, not secrecy.

use crate::mix;

const ROUNDS: usize = 3;

/// One permutation of 0..n.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    n: u64,
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [u64; 2 * ROUNDS],
}

impl Permutation {
    /// `n` is at least 1.
    pub fn new(n: u64, key: u64) -> Permutation {
        let bits = (64 - (n.max(1) - 1).leading_zeros()).max(2);
        let low_bits = bits / 2;
        let mut keys = [0; 2 * ROUNDS];
        for (i, round) in keys.iter_mut().enumerate() {
            *round = mix(key.wrapping_add(mix(i as u64 + 1)));
        }
        Permutation { n, low_bits, low_mask: ones(low_bits), high_mask: ones(bits - low_bits), keys }
    }

    /// Where `i` (below n) goes.
    #[inline]
    pub fn at(&self, i: u64) -> u64 {
        let mut value = i;
        loop {
            value = self.network(value);
            if value < self.n {
                return value;
            }
        }
    }

    #[inline]
    fn network(&self, value: u64) -> u64 {
        let (mut low, mut high) = (value & self.low_mask, value >> self.low_bits);
        for round in self.keys.chunks_exact(2) {
            low ^= fold(high, round[0]) & self.low_mask;
            high ^= fold(low, round[1]) & self.high_mask;
        }
        (high << self.low_bits) | low
    }
}

fn ones(bits: u32) -> u64 {
    (1u64 << bits) - 1
}

/// The two halves of a 128-bit product, folded: one multiplication that lets every input bit reach the low bits.
#[inline]
fn fold(value: u64, key: u64) -> u64 {
    let product = u128::from(value ^ key) * 0xa076_1d64_78bd_642f;
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_small_size_is_permuted_without_repeats() {
        for n in 1..=300 {
            let permutation = Permutation::new(n, 7);
            let mut seen: Vec<u64> = (0..n).map(|i| permutation.at(i)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn neighbours_are_torn_apart_evenly() {
        // The distance between the images of neighbours is even over 0..n, modulo n: 16 bins, chi-square with 15
        // degrees of freedom stays below 37.7 (one in a thousand).
        let n = 100_003;
        let permutation = Permutation::new(n, 42);
        let mut bins = [0f64; 16];
        for i in 0..n - 1 {
            let distance = (permutation.at(i + 1) + n - permutation.at(i)) % n;
            bins[(distance * 16 / n) as usize] += 1.0;
        }
        let expected = (n - 1) as f64 / 16.0;
        let chi_square: f64 = bins.iter().map(|seen| (seen - expected).powi(2) / expected).sum();
        assert!(chi_square < 37.7, "{chi_square}");
    }

    #[test]
    fn two_keys_agree_no_more_often_than_chance() {
        let (one, two) = (Permutation::new(50_000, 1), Permutation::new(50_000, 2));
        let same = (0..50_000).filter(|i| one.at(*i) == two.at(*i)).count();
        assert!(same < 10, "{same} fixed places where about 1 is expected");
    }

    #[test]
    fn the_order_of_a_key_stays_what_it_is() {
        let permutation = Permutation::new(1_000_003, 42);
        assert_eq!([0, 1, 2, 1_000_002].map(|i| permutation.at(i)), [222_483, 823_378, 635_647, 360_748]);
    }

    proptest! {
        #[test]
        fn images_stay_below_n_and_differ(n in 1u64..1 << 44, key: u64, start: u64) {
            let permutation = Permutation::new(n, key);
            let start = start % n;
            let end = n.min(start + 64);
            let mut seen: Vec<u64> = (start..end).map(|i| permutation.at(i)).collect();
            prop_assert!(seen.iter().all(|image| *image < n));
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len() as u64, end - start);
        }
    }
}
