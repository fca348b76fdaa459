//! The one bucket scheme of every histogram: log-linear, 1024 buckets to each doubling.
//!
//! Values below 2048 have a bucket each. Above, a bucket is at most 1/1024 of its value wide, so that the middle of a
//! bucket is within 0.05 percent of any value in it: three significant digits, with room. The scheme is that of
//! HdrHistogram with three digits, which tests use as the reference.

/// Sub-buckets to each doubling, as a power of two.
const HALF_BITS: u32 = 10;
const HALF: u64 = 1 << HALF_BITS;

/// The largest value that has a bucket of its own magnitude: about 73 minutes in nanoseconds. Larger values go to the
/// last bucket, and the exact maximum is kept beside the buckets.
const MAX_BITS: u32 = 42;

/// How many buckets there are; an index is always below this.
pub const BUCKET_COUNT: u32 = (MAX_BITS - HALF_BITS + 1) << HALF_BITS;

/// The width of a bucket at most, as a share of what is in it.
pub const BUCKET_WIDTH: f64 = 1.0 / (1u32 << HALF_BITS) as f64;

/// The bucket that holds `value`.
#[inline]
pub fn bucket_index(value: u64) -> u32 {
    let value = if value < (1 << MAX_BITS) { value } else { (1 << MAX_BITS) - 1 };
    // The exponent is 0 for everything below 2048, so small values index themselves.
    let exponent = (63 - (value | (2 * HALF - 1)).leading_zeros()) - HALF_BITS;
    ((exponent as u64 * HALF) + (value >> exponent)) as u32
}

/// The smallest value that falls into bucket `index`.
#[inline]
pub fn bucket_low(index: u32) -> u64 {
    let index = u64::from(index);
    if index < 2 * HALF {
        return index;
    }
    let exponent = index / HALF - 1;
    (index - exponent * HALF) << exponent
}

/// The largest value that falls into bucket `index`.
#[inline]
pub fn bucket_high(index: u32) -> u64 {
    bucket_low(index + 1) - 1
}

/// The value that stands for bucket `index` in means and percentiles.
#[inline]
pub fn bucket_middle(index: u32) -> u64 {
    let low = bucket_low(index);
    low + (bucket_high(index) - low) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_follow_each_other_without_gap_or_overlap() {
        for index in 0..BUCKET_COUNT - 1 {
            assert_eq!(bucket_index(bucket_low(index)), index);
            assert_eq!(bucket_index(bucket_high(index)), index);
        }
    }

    proptest! {
        #[test]
        fn the_middle_of_a_bucket_is_within_three_significant_digits(value in 1u64..1 << 42) {
            let middle = bucket_middle(bucket_index(value)) as f64;
            prop_assert!((middle - value as f64).abs() / value as f64 <= 0.0005);
        }

        #[test]
        fn no_value_falls_outside_the_table(value: u64) {
            prop_assert!(bucket_index(value) < BUCKET_COUNT);
        }
    }
}
