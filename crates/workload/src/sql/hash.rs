//! The hashes and the permutation of pgbench's expressions, with its exact values.
//!
//! The one idea: scripts use them to spread keys, and a data set that was made with them must be met again. FNV-1a is by
//! Fowler, Noll and Vo, Murmur2 by Austin Appleby; the permutation mixes each half of the range in turn with the numbers
//! of xoroshiro128** (Blackman and Vigna 2018), seeded by SplitMix64.

use random::{GOLDEN, mix};

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;
const MURMUR: u64 = 0xc6a4_a793_5bd1_e995;
const MURMUR_ROTATION: u32 = 47;
const ROUNDS: u32 = 6;

/// FNV-1a over the eight bytes of a number, lowest first.
pub(super) fn fnv1a(value: i64, seed: i64) -> i64 {
    let octets = value.to_le_bytes();
    octets.iter().fold(FNV_BASIS ^ seed as u64, |hash, octet| (hash ^ u64::from(*octet)).wrapping_mul(FNV_PRIME)) as i64
}

/// Murmur2 over one number of eight bytes.
pub(super) fn murmur2(value: i64, seed: i64) -> i64 {
    let mut key = (value as u64).wrapping_mul(MURMUR);
    key = (key ^ (key >> MURMUR_ROTATION)).wrapping_mul(MURMUR);
    let mut hash = ((seed as u64 ^ MURMUR.wrapping_mul(8)) ^ key).wrapping_mul(MURMUR);
    hash = (hash ^ (hash >> MURMUR_ROTATION)).wrapping_mul(MURMUR);
    (hash ^ (hash >> MURMUR_ROTATION)) as i64
}

/// Where `value` lies in the permutation of 0..`size` that `seed` names; values beyond are brought below `size` first.
pub(super) fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let size = size as u64;
    let half = Half { bits: 63 - size.leading_zeros() };
    let mut numbers = Xoroshiro::new(seed as u64);
    let mut at = value as u64 % size;
    for _ in 0..ROUNDS {
        at = half.scramble(at, &mut numbers);
        // The upper half overlaps the lower one, so that every value is mixed although the size is no power of two.
        at = size - 1 - half.scramble(size - 1 - at, &mut numbers);
        let shift = numbers.up_to(size - 1);
        at = ((u128::from(at) + u128::from(shift)) % u128::from(size)) as u64;
    }
    at as i64
}

/// The largest power of two that is not above the size.
struct Half {
    bits: u32,
}

impl Half {
    /// A bijection on the half: an odd factor, a pattern, and a rotation; values outside stay.
    fn scramble(&self, at: u64, numbers: &mut Xoroshiro) -> u64 {
        let mask = (1u64 << self.bits) - 1;
        let factor = (numbers.next() & mask) | 1;
        let pattern = numbers.next() & mask;
        if at > mask {
            return at;
        }
        let mixed = (at.wrapping_mul(factor) ^ pattern) & mask;
        ((mixed << 1) & mask) | (mixed >> (self.bits - 1))
    }
}

struct Xoroshiro(u64, u64);

impl Xoroshiro {
    fn new(seed: u64) -> Xoroshiro {
        let first = seed.wrapping_add(GOLDEN);
        Xoroshiro(mix(first), mix(first.wrapping_add(GOLDEN)))
    }

    fn next(&mut self) -> u64 {
        let (low, crossed) = (self.0, self.1 ^ self.0);
        self.0 = low.rotate_left(24) ^ crossed ^ (crossed << 16);
        self.1 = crossed.rotate_left(37);
        low.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// An even draw from 0 to `top`, by rejecting what lies above in as many bits as `top` has.
    fn up_to(&mut self, top: u64) -> u64 {
        let shift = top.leading_zeros();
        loop {
            let drawn = self.next() >> shift;
            if drawn <= top {
                return drawn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_pgbench() {
        // Printed by debug() of pgbench 15.18.
        assert_eq!(murmur2(5, 7), 7_395_858_956_932_106_968);
        assert_eq!(murmur2(-123_456_789, -99), -55_280_102_900_166_482);
        assert_eq!(fnv1a(5, 7), -1_820_151_046_732_198_393);
        assert_eq!(fnv1a(-123_456_789, -99), 2_093_487_166_833_604_785);
    }

    #[test]
    fn the_permutation_is_that_of_pgbench() {
        let table = [
            (3, 10, 5, 9),
            (0, 2, 5, 0),
            (0, 1, 5, 0),
            (12_345, 1_000_000, 42, 100_143),
            (-7, 1000, 42, 983),
            (i64::MAX, i64::MAX, 42, 1_400_127_293_584_671_183),
            (5, 4_294_967_297, -3, 2_895_656_926),
        ];
        for (value, size, seed, at) in table {
            assert_eq!(permute(value, size, seed), at, "permute({value}, {size}, {seed})");
        }
    }

    #[test]
    fn a_permutation_meets_every_value_once() {
        for size in [2, 3, 5, 64, 100, 1000] {
            let mut seen: Vec<i64> = (0..size).map(|value| permute(value, size, 99)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..size).collect::<Vec<_>>());
        }
    }
}
