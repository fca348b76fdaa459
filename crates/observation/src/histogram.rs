//! A frozen, sparse histogram: the buckets that hold anything, with exact count, sum, least and greatest.

use crate::bucket::{bucket_high, bucket_index, bucket_middle};

/// Durations in nanoseconds by bucket. Building one is the recorder's work; this type merges, cuts and is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// `(bucket index, how many)`, ascending by index, no zero counts.
    entries: Vec<(u32, u64)>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Histogram {
    /// A histogram of the given values; for tests, imports and models. The recorder has a faster road.
    pub fn from_values(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut values: Vec<u64> = values.into_iter().collect();
        values.sort_unstable();
        let mut histogram = Histogram {
            count: values.len() as u64,
            sum_ns: values.iter().map(|v| u128::from(*v)).sum(),
            min_ns: values.first().copied().unwrap_or(0),
            max_ns: values.last().copied().unwrap_or(0),
            entries: Vec::new(),
        };
        for value in values {
            let index = bucket_index(value);
            match histogram.entries.last_mut() {
                Some((last, n)) if *last == index => *n += 1,
                _ => histogram.entries.push((index, 1)),
            }
        }
        histogram
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
        Ok(Histogram { entries, count, sum_ns, min_ns, max_ns })
    }

    /// `(bucket index, how many)`, ascending.
    pub fn entries(&self) -> &[(u32, u64)] {
        &self.entries
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
        for (index, n) in &self.entries {
            seen += n;
            if seen >= rank {
                return Some(bucket_middle(*index).clamp(self.min_ns, self.max_ns));
            }
        }
        Some(self.max_ns)
    }

    /// How many values lie surely above `ns`: those whose whole bucket is beyond it.
    pub fn count_above(&self, ns: u64) -> u64 {
        let at = bucket_index(ns);
        self.entries.iter().filter(|(index, _)| *index > at).map(|(_, n)| n).sum()
    }

    /// The upper edges of the buckets with the count up to each: the whole distribution, for a chart.
    pub fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.entries.iter().scan(0, |seen, (index, n)| {
            *seen += n;
            Some((bucket_high(*index), *seen))
        })
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
        self.entries = merge_entries(&self.entries, &other.entries);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }
}

fn merge_entries(left: &[(u32, u64)], right: &[(u32, u64)]) -> Vec<(u32, u64)> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        match left[l].0.cmp(&right[r].0) {
            std::cmp::Ordering::Less => {
                merged.push(left[l]);
                l += 1;
            }
            std::cmp::Ordering::Greater => {
                merged.push(right[r]);
                r += 1;
            }
            std::cmp::Ordering::Equal => {
                merged.push((left[l].0, left[l].1 + right[r].1));
                l += 1;
                r += 1;
            }
        }
    }
    merged.extend_from_slice(&left[l..]);
    merged.extend_from_slice(&right[r..]);
    merged
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
            let back = Histogram::from_parts(h.entries().to_vec(), h.sum_ns(), h.min_ns(), h.max_ns());
            prop_assert_eq!(back, Ok(h));
        }
    }
}
