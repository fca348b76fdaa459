//! Sixty-four even bits, and what is made of them.

/// The odd number next to 2^64 divided by the golden ratio: the step of the sequence under SplitMix64.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads every bit of a number over the answer: the finaliser of SplitMix64, a bijection.
#[inline]
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Bits brought below `n` without a division; the bias is below n / 2^64. 0 when `n` is 0.
#[inline]
pub const fn below(bits: u64, n: u64) -> u64 {
    ((bits as u128 * n as u128) >> 64) as u64
}

/// Bits as a fraction in [0, 1).
#[inline]
pub fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Bits as a fraction in (0, 1]: its logarithm always exists. It is [`fraction`] and one step, not its complement.
#[inline]
pub fn uniform(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_stay_below_their_bound_and_reach_both_ends() {
        assert_eq!((below(0, 7), below(u64::MAX, 7), below(u64::MAX, 0)), (0, 6, 0));
        assert_eq!((fraction(0), uniform(u64::MAX)), (0.0, 1.0));
        assert!(fraction(u64::MAX) < 1.0 && uniform(0) > 0.0);
    }
}
