//! The saved form of a histogram: differences and counts as numbers of variable length.
//!
//! The one idea: most buckets follow each other and most counts are small, so that a bucket takes about two bytes. The
//! reader trusts nothing: it checks every number against the bytes that are left before it makes room for it, and
//! hands the parts to the histogram, which checks that they fit each other.

use observation::{BUCKET_COUNT, Histogram};

/// The most operations that one saved histogram may hold. No interval comes near it; it keeps the sums over all cells of
/// a damaged file inside 64 bits.
pub(crate) const COUNT_MAX: u64 = 1 << 40;

/// Why bytes are not a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// The bytes end inside a number.
    #[error("the histogram ends early")]
    Short,
    /// Bytes are left behind the last bucket.
    #[error("bytes follow the histogram")]
    Trailing,
    /// A number does not fit its type, or a bucket is beyond the last.
    #[error("a number of the histogram is out of range")]
    Range,
    /// The numbers contradict each other.
    #[error("{0}")]
    Contradiction(&'static str),
}

/// The saved form; empty for an empty histogram.
pub fn encode(histogram: &Histogram) -> Vec<u8> {
    let entries: Vec<(u32, u64)> = histogram.entries().collect();
    let mut bytes = Vec::with_capacity(32 + 3 * entries.len());
    if entries.is_empty() {
        return bytes;
    }
    put(&mut bytes, entries.len() as u128);
    put(&mut bytes, u128::from(histogram.min_ns()));
    put(&mut bytes, u128::from(histogram.max_ns()));
    put(&mut bytes, histogram.sum_ns());
    let mut next = 0;
    for (index, count) in entries {
        put(&mut bytes, u128::from(index - next));
        put(&mut bytes, u128::from(count));
        next = index + 1;
    }
    bytes
}

/// Reads the saved form.
///
/// # Errors
/// Anything that [`encode`] cannot have written. Work and memory are bounded by the length of `bytes`.
pub fn decode(bytes: &[u8]) -> Result<Histogram, BlobError> {
    if bytes.is_empty() {
        return Ok(Histogram::default());
    }
    let mut rest = bytes;
    let length = take(&mut rest, u128::from(BUCKET_COUNT))? as usize;
    let min_ns = take(&mut rest, u128::from(u64::MAX))? as u64;
    let max_ns = take(&mut rest, u128::from(u64::MAX))? as u64;
    let sum_ns = take(&mut rest, u128::MAX)?;
    // A bucket takes two bytes at least: a length beyond that is a lie, found before room is made for it.
    if length == 0 || length > rest.len() / 2 {
        return Err(BlobError::Short);
    }
    let entries = take_entries(&mut rest, length)?;
    if !rest.is_empty() {
        return Err(BlobError::Trailing);
    }
    build(entries, sum_ns, min_ns, max_ns)
}

fn take_entries(rest: &mut &[u8], length: usize) -> Result<Vec<(u32, u64)>, BlobError> {
    let mut entries = Vec::with_capacity(length);
    let mut next = 0u32;
    for _ in 0..length {
        let index = next + take(rest, u128::from(BUCKET_COUNT - 1 - next.min(BUCKET_COUNT - 1)))? as u32;
        let count = take(rest, u128::from(COUNT_MAX))? as u64;
        entries.push((index, count));
        next = index + 1;
    }
    Ok(entries)
}

fn build(entries: Vec<(u32, u64)>, sum_ns: u128, min_ns: u64, max_ns: u64) -> Result<Histogram, BlobError> {
    let histogram = Histogram::from_parts(entries, sum_ns, min_ns, max_ns).map_err(BlobError::Contradiction)?;
    let count = u128::from(histogram.count());
    if count > u128::from(COUNT_MAX) {
        return Err(BlobError::Range);
    }
    if sum_ns < count * u128::from(min_ns) || sum_ns > count * u128::from(max_ns) {
        return Err(BlobError::Contradiction("histogram sum does not fit its extremes"));
    }
    Ok(histogram)
}

fn put(bytes: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn take(rest: &mut &[u8], max: u128) -> Result<u128, BlobError> {
    let mut value = 0u128;
    for shift in (0..u128::BITS).step_by(7) {
        let (byte, after) = rest.split_first().ok_or(BlobError::Short)?;
        *rest = after;
        let part = u128::from(byte & 0x7f);
        if part != 0 && part > (max >> shift) {
            return Err(BlobError::Range);
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return if value <= max { Ok(value) } else { Err(BlobError::Range) };
        }
    }
    Err(BlobError::Range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_histogram_takes_no_byte() {
        assert_eq!(encode(&Histogram::default()), Vec::<u8>::new());
        assert_eq!(decode(&[]), Ok(Histogram::default()));
    }

    #[test]
    fn the_saved_form_is_the_one_that_the_file_describes() {
        let histogram = Histogram::from_values([5, 5, 7, 300]);
        assert_eq!(encode(&histogram), [3, 5, 0xac, 2, 0xbd, 2, 5, 2, 1, 1, 0xa4, 2, 1]);
    }

    #[test]
    fn a_length_beyond_the_bytes_is_refused_before_room_is_made() {
        assert_eq!(decode(&[0x80, 0x80, 2, 1, 1, 1, 1, 1]), Err(BlobError::Short));
    }

    #[test]
    fn a_sum_that_its_extremes_cannot_give_is_refused() {
        assert!(matches!(decode(&[1, 5, 5, 9, 5, 1]), Err(BlobError::Contradiction(_))));
    }

    #[test]
    fn a_second_of_a_fast_device_takes_a_few_kilobytes() {
        // 400,000 operations with a lognormal-like spread over two decades, from a fixed sequence.
        let mut state = 1u64;
        let values = (0..400_000).map(|_| {
            let mut sum = 0.0;
            for _ in 0..4 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                sum += (state >> 40) as f64 / (1u64 << 24) as f64;
            }
            (80_000.0 * (sum - 2.0f64).exp()) as u64
        });
        let size = encode(&Histogram::from_values(values)).len();
        assert!(size < 12_000, "{size} bytes");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(values in proptest::collection::vec(any::<u64>(), 0..200)) {
            let histogram = Histogram::from_values(values);
            prop_assert_eq!(decode(&encode(&histogram)), Ok(histogram));
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = decode(&bytes);
        }

        #[test]
        fn a_changed_byte_never_makes_the_reader_panic(values in proptest::collection::vec(0u64..1 << 44, 1..50),
                                                       at: proptest::sample::Index, byte: u8) {
            let mut bytes = encode(&Histogram::from_values(values));
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = decode(&bytes);
        }

        #[test]
        fn a_cut_histogram_is_refused(values in proptest::collection::vec(0u64..1 << 44, 1..50),
                                      at: proptest::sample::Index) {
            let bytes = encode(&Histogram::from_values(values));
            let cut = at.index(bytes.len());
            prop_assume!(cut > 0);
            prop_assert!(decode(&bytes[..cut]).is_err());
        }
    }
}
