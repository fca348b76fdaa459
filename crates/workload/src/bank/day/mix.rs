//! The classes of a bank's day, their weights, how fast they should answer, and what each of them posts.
//!
//! The one idea: users go round in loops of fifteen calls on a set of twenty accounts, with thirty-five postings a loop, as banks'
//! own benchmarks have it. Standing orders and payment runs come by the clock.
//!
//! What it does not do: it does not judge a run.

use super::Spec;
use crate::kind::numbers::share_at;
use crate::kind::{self, Demand, Yield};
use random::Lane;

macro_rules! classes {
    ($($class:ident $name:literal $weight:literal $limit:expr, $postings:expr, $statements:literal $lookups:literal $changes:literal;)*) => {
        /// A class of transactions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Class { $($class),* }

        const ALL: &[Part] = &[$(Part {
            class: Class::$class,
            name: $name,
            weight: $weight,
            limit_s: $limit,
            postings: $postings,
            demand: Demand { statements: $statements, lookups: $lookups, changes: $changes },
        }),*];
    };
}

struct Part {
    class: Class,
    name: &'static str,
    /// Calls of this class in a loop of fifteen; none for what comes by the clock.
    weight: u64,
    limit_s: Option<f64>,
    /// What one posts on the mean.
    postings: f64,
    /// What one asks for, as a test counts it on the null database.
    demand: Demand,
}

/// Accounts of a bulk posting, beside the payer's.
pub(super) const BULK: usize = 30;
/// Payments that a transaction of a payment run posts.
pub(super) const RUN: usize = 50;
/// Percent of single postings that are over the limit on purpose.
pub(super) const REJECTED: u64 = 1;
/// One in so many payment orders and bulk postings is back-dated, as in the history.
pub(super) const BACK_DATED: u64 = 16;
/// Percent of payment orders that are for a day to come.
pub(super) const LATER: u64 = 10;

const KEPT: f64 = 1.0 - REJECTED as f64 / 100.0;

// Weight, limit, postings; then statements, rows found, and rows changed.
classes! {
    Bulk "bulk-posting" 1 Some(3.0), BULK as f64, 158.0 95.0 126.0;
    Card "card-posting" 4 Some(1.0), KEPT, 11.9 16.0 7.94;
    Order "payment-order" 1 Some(2.0), KEPT * (1.0 - LATER as f64 / 100.0), 10.6 5.7 7.56;
    List "list-postings" 3 Some(1.0), 0.0, 1.0 19.0 0.0;
    Detail "posting-detail" 2 Some(1.0), 0.0, 2.0 1.1 0.0;
    Balance "balance" 2 Some(1.0), 0.0, 3.0 6.0 0.0;
    Master "master-data" 1 Some(1.0), 0.0, 3.0 4.0 0.0;
    Statement "account-statement" 1 Some(2.0), 0.0, 2.0 20.0 0.0;
    Run "payment-run" 0 None, RUN as f64, 256.0 153.0 204.0;
    Standing "standing-order" 0 None, 1.0, 13.0 8.0 9.0;
}

/// Calls of a loop.
pub(super) const LOOP: u64 = 15;
/// Accounts that a loop is about.
pub(super) const ACCOUNTS: u64 = 20;

impl Class {
    /// Its place among the classes.
    pub(super) fn place(self) -> u16 {
        self as u16
    }

    /// The class of arrival `n` of the schedule.
    pub(super) fn drawn(spec: &Spec, lane: Lane, n: u64) -> Class {
        let weights = || ALL.iter().map(|part| part.weight_in(spec));
        let drawn = share_at(random::below(lane.at(n), weights().sum()), weights());
        drawn.map_or(Class::Balance, |place| ALL[place].class)
    }
}

impl Part {
    fn weight_in(&self, spec: &Spec) -> u64 {
        match self.class {
            Class::Bulk | Class::Order => self.weight * spec.payments,
            Class::Master => self.weight * spec.reads,
            _ => self.weight,
        }
    }
}

/// The mixes: one, whose shares follow from the study.
pub const MIXES: &[fn() -> Vec<kind::Class>] = &[classes];

/// The classes with their response limits; [`Business::class`](crate::transaction::Business::class) is a place in this list.
pub fn classes() -> Vec<kind::Class> {
    let planned = |part: &Part| kind::Class {
        limit_s: part.limit_s,
        gives: (part.postings > 0.0).then_some((Yield::Postings, part.postings)),
        demand: Some(part.demand),
        ..kind::Class::plain(part.name)
    };
    ALL.iter().map(planned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_has_fifteen_calls_and_thirty_five_postings() {
        assert_eq!(ALL.iter().map(|part| part.weight).sum::<u64>(), LOOP);
        let asked: f64 = ALL.iter().map(|part| part.weight as f64 * part.postings.ceil()).sum();
        assert_eq!(asked, 35.0);
        assert!((0..ALL.len()).all(|place| usize::from(ALL[place].class.place()) == place));
    }

    #[test]
    fn heavier_payments_and_master_data_come_more_often() {
        let count = |payments, reads| {
            let spec = Spec { payments, reads, ..crate::bank::tests::day() };
            let mut counts = [0; 10];
            (0..30_000).for_each(|n| {
                counts[usize::from(Class::drawn(&spec, Lane::new(1, 0, 1), n).place())] += 1;
            });
            counts
        };
        let (plain, heavy) = (count(1, 1), count(5, 3));
        let expected = [1, 4, 1, 3, 2, 2, 1, 1, 0, 0];
        for (counted, weight) in plain.into_iter().zip(expected) {
            assert!((counted as f64 - weight as f64 * 2_000.0).abs() <= 200.0, "{plain:?}");
        }
        assert!(heavy[0] > 2 * plain[0] && heavy[2] > 2 * plain[2] && heavy[6] > plain[6] * 3 / 2, "{heavy:?}");
        assert!(heavy[3] < plain[3]);
    }
}
