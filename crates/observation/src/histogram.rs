//! A frozen, sparse histogram: the buckets that hold anything, with exact count, sum, least and greatest.

use crate::bucket::{bucket_index, bucket_middle};
use std::iter::Peekable;

/// Durations in nanoseconds by bucket. Building one is the recorder's work; this type merges, cuts and is asked.
///
/// A trial keeps thousands of these, one for each interval, so the buckets are packed: two or three bytes for each
/// where a pair of numbers takes sixteen. They are read in order, which is how every question is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    packed: Box<[u8]>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

/// The buckets of a histogram, `(bucket index, how many)`, ascending.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    packed: &'a [u8],
    /// The least index that the next bucket can have.
    next: u32,
}

impl Iterator for Entries<'_> {
    type Item = (u32, u64);

    #[inline]
    fn next(&mut self) -> Option<(u32, u64)> {
        if self.packed.is_empty() {
            return None;
        }
        let index = self.next + self.unpack() as u32;
        self.next = index + 1;
        Some((index, self.unpack() + 1))
    }
}

impl Entries<'_> {
    /// Seven bits a byte, the least first; the top bit says that more follow.
    #[inline]
    fn unpack(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        while let Some((byte, rest)) = self.packed.split_first() {
            self.packed = rest;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
        }
        value
    }
}

/// Packs ascending buckets without zeros: the distance from the bucket before, and the count less one.
fn pack(entries: impl IntoIterator<Item = (u32, u64)>) -> Box<[u8]> {
    let mut packed = Vec::new();
    let mut next = 0;
    for (index, count) in entries {
        for mut value in [u64::from(index - next), count - 1] {
            while value >= 0x80 {
                packed.push(value as u8 | 0x80);
                value >>= 7;
            }
            packed.push(value as u8);
        }
        next = index + 1;
    }
    packed.into_boxed_slice()
}

impl Histogram {
    /// A histogram of the given values; for tests, imports and models. The recorder has a faster road.
    pub fn from_values(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut values: Vec<u64> = values.into_iter().collect();
        values.sort_unstable();
        let mut entries: Vec<(u32, u64)> = Vec::new();
        for value in &values {
            let index = bucket_index(*value);
            match entries.last_mut() {
                Some((last, n)) if *last == index => *n += 1,
                _ => entries.push((index, 1)),
            }
        }
        Histogram {
            packed: pack(entries),
            count: values.len() as u64,
            sum_ns: values.iter().map(|v| u128::from(*v)).sum(),
            min_ns: values.first().copied().unwrap_or(0),
            max_ns: values.last().copied().unwrap_or(0),
        }
    }

    /// A histogram from its parts. `entries` must ascend by index and hold no zero; the count is theirs.
    ///
    /// # Errors
    /// The reason, when the entries are out of order, hold a zero, or the extremes do not fit them. Readers of saved
    /// files hand in what they found; nothing here panics on it.
    pub fn from_parts(
        entries: Vec<(u32, u64)>,
        sum_ns: u128,
        min_ns: u64,
        max_ns: u64,
    ) -> Result<Histogram, &'static str> {
        if entries.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err("histogram buckets are out of order");
        }
        if entries.iter().any(|(index, n)| *n == 0 || *index >= crate::BUCKET_COUNT) {
            return Err("histogram holds an empty or unknown bucket");
        }
        let count =
            entries.iter().try_fold(0u64, |total, (_, n)| total.checked_add(*n)).ok_or("histogram counts overflow")?;
        let ends = (entries.first().map(|e| e.0), entries.last().map(|e| e.0));
        let fits = match ends {
            (Some(first), Some(last)) => bucket_index(min_ns) == first && bucket_index(max_ns) == last,
            _ => min_ns == 0 && max_ns == 0 && sum_ns == 0,
        };
        if !fits {
            return Err("histogram extremes do not fit its buckets");
        }
        Ok(Histogram { packed: pack(entries), count, sum_ns, min_ns, max_ns })
    }

    /// `(bucket index, how many)`, ascending.
    pub fn entries(&self) -> Entries<'_> {
        Entries { packed: &self.packed, next: 0 }
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum of all values, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The exact smallest value, 0 when empty.
    pub fn min_ns(&self) -> u64 {
        self.min_ns
    }

    /// The exact greatest value, 0 when empty.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The exact mean in nanoseconds; nothing when empty.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The value at or below which the share `q` of all values lies (nearest rank), to three digits, never above the
    /// exact maximum; nothing when empty.
    pub fn quantile_ns(&self, q: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        // A rank computed a hair above a whole number by rounding must not move to the next value.
        let rank = ((q.clamp(0.0, 1.0) * self.count as f64) - 1e-9).ceil().clamp(1.0, self.count as f64) as u64;
        if rank == self.count {
            return Some(self.max_ns);
        }
        let mut seen = 0;
        for (index, n) in self.entries() {
            seen += n;
            if seen >= rank {
                return Some(bucket_middle(index).clamp(self.min_ns, self.max_ns));
            }
        }
        Some(self.max_ns)
    }

    /// How many values lie surely above `ns`: those whose whole bucket is beyond it.
    pub fn count_above(&self, ns: u64) -> u64 {
        let at = bucket_index(ns);
        self.entries().filter(|(index, _)| *index > at).map(|(_, n)| n).sum()
    }

    /// Adds all of `other`; every total is the sum of the two totals.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            self.clone_from(other);
            return;
        }
        self.packed = pack(Merged { left: self.entries().peekable(), right: other.entries().peekable() });
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

/// The buckets of two histograms in one order, those that both have added up.
struct Merged<'a> {
    left: Peekable<Entries<'a>>,
    right: Peekable<Entries<'a>>,
}

impl Iterator for Merged<'_> {
    type Item = (u32, u64);

    fn next(&mut self) -> Option<(u32, u64)> {
        match (self.left.peek(), self.right.peek()) {
            (Some((l, _)), Some((r, _))) if l < r => self.left.next(),
            (Some((l, _)), Some((r, _))) if l == r => {
                let ((index, a), (_, b)) = (self.left.next()?, self.right.next()?);
                Some((index, a + b))
            }
            (_, Some(_)) => self.right.next(),
            (_, None) => self.left.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_histogram_has_no_mean_and_no_percentile() {
        assert_eq!(Histogram::default().mean_ns(), None);
        assert_eq!(Histogram::default().quantile_ns(0.5), None);
    }

    #[test]
    fn parts_that_contradict_each_other_are_refused() {
        assert!(Histogram::from_parts(vec![(5, 1), (4, 1)], 9, 4, 5).is_err());
        assert!(Histogram::from_parts(vec![(5, 0)], 0, 5, 5).is_err());
        assert!(Histogram::from_parts(vec![(5, 1)], 5, 6, 6).is_err());
        assert!(Histogram::from_parts(vec![(5, u64::MAX), (6, 1)], 5, 5, 6).is_err());
    }

    proptest! {
        #[test]
        fn merging_keeps_every_total(a in proptest::collection::vec(0u64..1 << 45, 0..200),
                                     b in proptest::collection::vec(0u64..1 << 45, 0..200)) {
            let mut merged = Histogram::from_values(a.iter().copied());
            merged.merge(&Histogram::from_values(b.iter().copied()));
            prop_assert_eq!(merged, Histogram::from_values(a.into_iter().chain(b)));
        }

        #[test]
        fn percentiles_agree_with_the_reference_histogram(mut values in proptest::collection::vec(1u64..1 << 40, 1..300),
                                                          q in 0.0f64..1.0) {
            let ours = Histogram::from_values(values.iter().copied());
            let mut reference = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 1 << 42, 3).unwrap();
            values.iter().for_each(|v| reference.record(*v).unwrap());
            values.sort_unstable();
            let exact = values[((q * values.len() as f64 - 1e-9).ceil() as usize).clamp(1, values.len()) - 1] as f64;
            let ours = ours.quantile_ns(q).unwrap() as f64;
            prop_assert!((ours - exact).abs() <= exact * 0.0005 + 1.0);
            let theirs = reference.value_at_quantile(q) as f64;
            prop_assert!((ours - theirs).abs() <= theirs * 0.002 + 1.0);
        }

        #[test]
        fn parts_round_trip(values in proptest::collection::vec(0u64..1 << 45, 0..100)) {
            let h = Histogram::from_values(values);
            let back = Histogram::from_parts(h.entries().collect(), h.sum_ns(), h.min_ns(), h.max_ns());
            prop_assert_eq!(back, Ok(h));
        }
    }
}
