//! Which record an operation is about.

use super::{Distribution, Spec};
use random::{Lane, Permutation, Zipf};
use std::collections::BTreeSet;

/// The exponent of the cloud benchmark.
const EXPONENT: f64 = 0.99;

/// Draws keys, which are numbers from 1.
#[derive(Clone, Debug)]
pub(super) struct Choose {
    keys: Distribution,
    rows: u64,
    zipf: Zipf,
    scatter: Permutation,
    lane: Lane,
}

impl Choose {
    pub(super) fn new(spec: &Spec, lane: Lane) -> Choose {
        let rows = spec.rows.max(1);
        // Popular records are the same in every run, as the data is.
        let scatter = Permutation::new(rows, 0x6b65_7973);
        Choose { keys: spec.keys, rows, zipf: Zipf::new(rows, EXPONENT), scatter, lane }
    }

    /// The key of operation `n`. `inserted` knows what was added to the fill.
    pub(super) fn key(&self, n: u64, inserted: &Inserted) -> i64 {
        let key = match self.keys {
            Distribution::Uniform => 1 + random::below(self.lane.at(n), self.rows),
            Distribution::Zipfian => 1 + self.scatter.at(self.zipf.rank(self.lane, n)),
            Distribution::Latest => inserted.by_age(self.zipf.rank(self.lane, n)),
        };
        key as i64
    }
}

/// Numbers of the records that one worker inserts, which no other worker and no earlier trial has used.
#[derive(Clone, Debug)]
pub(super) struct Inserted {
    /// Records of the fill.
    rows: u64,
    /// The greatest number before the trial.
    before: u64,
    worker: u64,
    workers: u64,
    /// How many numbers were given out.
    given: u64,
    /// All before this one have ended.
    ended: u64,
    /// Those that ended out of order.
    early: BTreeSet<u64>,
    /// Those of which nobody knows that they are there.
    missing: BTreeSet<u64>,
}

impl Inserted {
    pub(super) fn new(rows: u64, before: u64, worker: u32, workers: u32) -> Inserted {
        let (worker, workers) = (u64::from(worker), u64::from(workers));
        let (early, missing) = (BTreeSet::new(), BTreeSet::new());
        Inserted { rows, before, worker, workers, given: 0, ended: 0, early, missing }
    }

    fn number(&self, place: u64) -> u64 {
        self.before + 1 + place * self.workers + self.worker
    }

    /// The place of the next record to insert, and its key.
    pub(super) fn take(&mut self) -> (u64, i64) {
        self.given += 1;
        (self.given - 1, self.number(self.given - 1) as i64)
    }

    /// The insert of a place ended, and the record is there for certain or not.
    pub(super) fn end(&mut self, place: u64, there: bool) {
        if !there {
            self.missing.insert(place);
        }
        self.early.insert(place);
        while self.early.remove(&self.ended) {
            self.ended += 1;
        }
    }

    /// The record that has so many newer ones, as far as this worker knows. What earlier trials inserted has gaps, where an
    /// insert was under way at their end, and is left out.
    fn by_age(&self, age: u64) -> u64 {
        if age >= self.ended {
            return self.rows.saturating_sub(age - self.ended).max(1);
        }
        let place = self.ended - 1 - age;
        if self.missing.contains(&place) { self.rows } else { self.number(place) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mix;
    use super::*;

    fn spec(keys: Distribution) -> Spec {
        Spec { mix: Mix::A, keys, rows: 1_000, fields: 1, field_bytes: 10, scan: 100 }
    }

    #[test]
    fn every_key_is_one_of_the_fill_and_zipfs_law_prefers_few() {
        let inserted = Inserted::new(1_000, 1_000, 0, 1);
        for (keys, least, most) in [(Distribution::Uniform, 5, 45), (Distribution::Zipfian, 1_000, 2_000)] {
            let choose = Choose::new(&spec(keys), Lane::new(7, 0, 0));
            let mut counts = vec![0u32; 1_001];
            (0..20_000).for_each(|n| counts[choose.key(n, &inserted) as usize] += 1);
            assert_eq!(counts[0], 0);
            // 1 / (1 + 2^-0.99 + .. + 1000^-0.99) of the draws are those of the first rank: about 2,550 of 20,000.
            let top = *counts.iter().max().unwrap();
            assert!((least..most * 2).contains(&top), "{keys:?}: {top}");
        }
    }

    #[test]
    fn the_latest_records_are_those_that_were_inserted_and_have_ended() {
        let mut inserted = Inserted::new(1_000, 1_000, 1, 3);
        let keys: Vec<i64> = (0..3).map(|_| inserted.take().1).collect();
        assert_eq!(keys, [1_002, 1_005, 1_008], "no other worker uses them");
        assert_eq!(inserted.by_age(0), 1_000, "none of them is known to be there");
        inserted.end(1, true);
        assert_eq!(inserted.by_age(0), 1_000, "the one before may still be missing");
        inserted.end(0, true);
        assert_eq!([0, 1, 2, 3].map(|age| inserted.by_age(age)), [1_005, 1_002, 1_000, 999]);
        assert_eq!(inserted.by_age(5_000), 1);
    }

    #[test]
    fn the_latest_records_are_never_those_that_may_be_missing() {
        // An earlier trial reached number 1,500, and what was under way at its end left gaps.
        let mut inserted = Inserted::new(1_000, 1_500, 0, 2);
        assert_eq!([0, 1].map(|age| inserted.by_age(age)), [1_000, 999]);
        let keys: Vec<i64> = (0..2).map(|_| inserted.take().1).collect();
        assert_eq!(keys, [1_501, 1_503]);
        inserted.end(0, true);
        inserted.end(1, false);
        assert_eq!([0, 1, 2].map(|age| inserted.by_age(age)), [1_000, 1_501, 1_000]);
    }
}
