//! Sizes of transfers: drawn by weight, or laid on a tape for sequential work.
//!
//! The one idea: a size is drawn by its weight from a cumulative table. Sequential work with a mixture needs the sum of
//! all sizes before operation `k`, so it reads them from a short tape whose prefix sums are known.
//!
//! What it does not do: it places nothing; offsets do.

use units::Bytes;

use super::Transfer;
use super::purpose::Purpose;
use random::Permutation;

/// Entries of the tape of a mixture. Shares on the tape are kept to one part in this many.
const TAPE: u64 = 4096;

/// The sizes of a workload with the chance of each.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    pub(crate) bytes: Vec<u32>,
    /// Upper end of each size's part of the 64-bit range; the last size takes what is above the last but one.
    ends: Vec<u64>,
    /// The same of sizes that are only written; they stand behind the others. None where both directions have the same.
    of_writes: Option<Vec<u64>>,
}

impl Sizes {
    /// The spec was checked: there is a size, sizes fit 32 bits, weights are positive.
    pub(crate) fn new(transfers: &[Transfer], of_writes: &[Transfer]) -> Sizes {
        let bytes = transfers.iter().chain(of_writes).map(|transfer| transfer.size.0 as u32).collect();
        Sizes { bytes, ends: ends(transfers), of_writes: (!of_writes.is_empty()).then(|| ends(of_writes)) }
    }

    pub(crate) fn single(&self) -> bool {
        self.ends.is_empty() && self.of_writes.is_none()
    }

    /// Index of the size that a draw chooses for a read, or for what is none.
    #[inline]
    pub(crate) fn pick_for(&self, reads: bool, draw: u64) -> usize {
        match &self.of_writes {
            Some(ends) if !reads => self.ends.len() + 1 + ends.iter().take_while(|end| draw >= **end).count(),
            _ => self.pick(draw),
        }
    }

    /// Index of the size that a draw chooses.
    #[inline]
    pub(crate) fn pick(&self, draw: u64) -> usize {
        self.ends.iter().take_while(|end| draw >= **end).count()
    }

    pub(crate) fn smallest(&self) -> u32 {
        self.bytes.iter().copied().min().unwrap_or(0)
    }
}

fn ends(transfers: &[Transfer]) -> Vec<u64> {
    let total: f64 = transfers.iter().map(|transfer| transfer.weight).sum();
    let mut sum = 0.0;
    let mut ends = Vec::with_capacity(transfers.len());
    for transfer in transfers {
        sum += transfer.weight;
        ends.push((sum / total * 2f64.powi(64)) as u64);
    }
    ends.pop();
    ends
}

/// The order of sizes of sequential work, over and over.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    entries: Vec<Entry>,
    /// Entries are a power of two.
    bits: u32,
    cycle: u64,
    /// Operations of one pass over the range; what is left at its end is shorter than the next transfer.
    pub(crate) per_pass: u64,
}

/// One transfer on the tape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) start: u64,
    pub(crate) bytes: u32,
}

impl Tape {
    pub(crate) fn new(sizes: &Sizes, range: Bytes, seed: u64) -> Tape {
        let length = if sizes.single() { 1 } else { TAPE };
        let shuffled = Permutation::new(length, Purpose::Tape.lane(seed, 0).at(0));
        let mut cycle = 0;
        let mut entries = Vec::with_capacity(length as usize);
        for i in 0..length {
            // The middle of each of the equal strata: every share is met to within one entry.
            let stratum = (u64::MAX / length).wrapping_mul(shuffled.at(i)) + u64::MAX / length / 2;
            let bytes = sizes.bytes[sizes.pick(stratum)];
            entries.push(Entry { start: cycle, bytes });
            cycle += u64::from(bytes);
        }
        let left = range.0 % cycle;
        let last = entries.iter().take_while(|entry| entry.start + u64::from(entry.bytes) <= left).count() as u64;
        Tape { bits: length.trailing_zeros(), per_pass: range.0 / cycle * length + last, entries, cycle }
    }

    /// Transfer `index` of a pass.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> Entry {
        let entry = self.entries[(index & (self.entries.len() as u64 - 1)) as usize];
        Entry { start: (index >> self.bits) * self.cycle + entry.start, ..entry }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixture() -> Sizes {
        let of = |kib, weight| Transfer { size: Bytes::kib(kib), weight };
        Sizes::new(&[of(4, 70.0), of(8, 20.0), of(64, 10.0)], &[])
    }

    #[test]
    fn sizes_come_by_their_weights() {
        let (sizes, lane) = (mixture(), Purpose::Size.lane(1, 0));
        let mut counts = [0f64; 3];
        (0..100_000).for_each(|k| counts[sizes.pick(lane.at(k))] += 1.0);
        for (count, expected) in counts.iter().zip([70_000.0, 20_000.0, 10_000.0]) {
            assert!((count - expected).abs() < 600.0, "{counts:?}");
        }
    }

    #[test]
    fn a_tape_of_a_mixture_runs_without_gaps_and_keeps_the_shares() {
        let tape = Tape::new(&mixture(), Bytes::gib(1), 9);
        let mut next = 0;
        let mut counts = [0u32; 3];
        for index in 0..tape.per_pass {
            let entry = tape.at(index);
            assert_eq!(entry.start, next);
            next += u64::from(entry.bytes);
            counts[match entry.bytes {
                4096 => 0,
                8192 => 1,
                _ => 2,
            }] += u32::from(index < 4096);
        }
        assert!(next <= 1 << 30 && next > (1 << 30) - 65536);
        for (count, expected) in counts.iter().zip([2867.2, 819.2, 409.6]) {
            assert!((f64::from(*count) - expected).abs() <= 1.5, "{counts:?}");
        }
    }

    #[test]
    fn a_range_smaller_than_the_tape_still_holds_some_of_it() {
        let tape = Tape::new(&mixture(), Bytes::kib(100), 9);
        assert!(tape.per_pass >= 1);
        let last = tape.at(tape.per_pass - 1);
        assert!(last.start + u64::from(last.bytes) <= 100 << 10);
    }
}
