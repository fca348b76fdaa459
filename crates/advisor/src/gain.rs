//! What an object makes sessions wait for on either tier.
//!
//! The one idea: reads and flushes of the log are waited for and weigh fully; what a server writes on its own (checkpoints, page
//! cleaners) weighs next to nothing.

use crate::object::{Counts, Object};
use crate::reach::Reach;

/// What a write that nobody waits for weighs beside a read: it takes time of a device that others wait for.
pub(crate) const UNWAITED: f64 = 0.02;

/// Times of a tier for a block, seconds, at the depth at which it is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// A read at a random place.
    pub read_s: f64,
    /// A read of what comes next.
    pub in_order_s: f64,
    /// A write that is flushed.
    pub flush_s: f64,
    /// A block of a copy, which comes in order and is one more reader beside all those who were seen.
    pub copied_s: f64,
}

impl Times {
    /// A read, of which so large a share comes in order.
    pub(crate) fn mean_read_s(&self, in_order: f64) -> f64 {
        in_order * self.in_order_s + (1.0 - in_order) * self.read_s
    }
}

/// Both tiers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tiers {
    /// Where most lies.
    pub slow: Times,
    /// Where there is little room.
    pub fast: Times,
}

impl Tiers {
    /// The tier on which an object is.
    pub(crate) fn here(&self, object: &Object) -> &Times {
        if object.known.fast { &self.fast } else { &self.slow }
    }
}

/// What an object makes sessions wait, in seconds of the window, on either tier.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gain {
    /// On the slow tier, by slice.
    pub slow: Vec<f64>,
    /// On the fast tier, by slice.
    pub fast: Vec<f64>,
}

impl Gain {
    /// What an object makes sessions wait.
    pub(crate) fn of(object: &Object, tiers: &Tiers, reach: &Reach) -> Gain {
        let in_order = object.in_order();
        // What was measured on the tier where it is needs no model.
        let slice = |times: &Times, here: bool, counts: &Counts| {
            let read_s = counts.read_s.filter(|_| here);
            let flush_s = counts.flush_s.filter(|_| here);
            read_s.unwrap_or(counts.reads * reach.share * times.mean_read_s(in_order))
                + flush_s.unwrap_or(counts.flushes * times.flush_s)
                + UNWAITED * counts.writes * times.flush_s
        };
        let on = |times: &Times, here: bool| {
            object.slices.iter().map(|counts| slice(times, here, counts)).collect::<Vec<f64>>()
        };
        Gain { slow: on(&tiers.slow, !object.known.fast), fast: on(&tiers.fast, object.known.fast) }
    }

    /// The wait of both, added up.
    pub(crate) fn and(&self, other: &Gain) -> Gain {
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        Gain { slow: sum(&self.slow, &other.slow), fast: sum(&self.fast, &other.fast) }
    }

    /// Seconds on the slow tier.
    pub fn slow_s(&self) -> f64 {
        self.slow.iter().sum()
    }

    /// Seconds on the fast tier, which is never worse: nobody moves what would not gain.
    pub fn fast_s(&self) -> f64 {
        self.fast.iter().sum::<f64>().min(self.slow_s())
    }

    /// Seconds that it waits less on the fast tier.
    pub fn saved_s(&self) -> f64 {
        self.slow_s() - self.fast_s()
    }

    /// The same of one slice, so that all slices add up to the whole: one in which the slow tier happened to be the faster one counts
    /// against the others.
    pub(crate) fn saved_in(&self, slice: usize) -> f64 {
        if self.saved_s() > 0.0 { self.slow[slice] - self.fast[slice] } else { 0.0 }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Kind;
    use crate::object::tests::table;
    use crate::reach::Way;

    pub(crate) const TIERS: Tiers = Tiers {
        slow: Times { read_s: 6e-3, in_order_s: 5e-5, flush_s: 6e-3, copied_s: 8e-5 },
        fast: Times { read_s: 2e-4, in_order_s: 2e-5, flush_s: 1e-4, copied_s: 3e-5 },
    };

    pub(crate) const ALL: Reach = Reach { way: Way::Requested, share: 1.0, low: 0.0, high: 1.0, from_memory: false };

    #[test]
    fn random_reads_and_flushes_weigh_fully_scans_and_unwaited_writes_hardly() {
        let gain = |counts: Counts| {
            let mut object = table("t", 1e6, &[0.0]);
            object.slices = vec![counts];
            Gain::of(&object, &TIERS, &ALL).saved_s()
        };
        let random = gain(Counts { reads: 1000.0, rows_by_key: 1000.0, ..Counts::default() });
        assert!((random - 5.8).abs() < 1e-9, "{random}");
        let flushed = gain(Counts { flushes: 1000.0, ..Counts::default() });
        assert!((flushed - 5.9).abs() < 1e-9, "{flushed}");
        let scanned = gain(Counts { reads: 1000.0, rows_in_order: 10_000.0, ..Counts::default() });
        assert!((scanned - 0.03).abs() < 1e-9, "{scanned}");
        assert!(gain(Counts { writes: 1000.0, ..Counts::default() }) < 0.05 * flushed);
    }

    #[test]
    fn a_time_that_the_server_counted_stands_in_place_of_the_model() {
        let mut object = table("t", 1e6, &[100.0]);
        object.slices[0].read_s = Some(0.9);
        let gain = Gain::of(&object, &TIERS, &ALL);
        assert!((gain.slow_s() - 0.9).abs() < 1e-9 && (gain.fast_s() - 0.02).abs() < 1e-9);
        object.known.kind = Kind::Log;
        object.slices[0] = Counts { flushes: 10.0, flush_s: Some(0.5), ..Counts::default() };
        assert!((Gain::of(&object, &TIERS, &ALL).slow_s() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn what_is_on_the_fast_tier_is_taken_to_the_slow_one_by_the_model() {
        let mut object = table("t", 1e6, &[100.0]);
        object.known.fast = true;
        object.slices[0].read_s = Some(0.01);
        let gain = Gain::of(&object, &TIERS, &ALL);
        assert!((gain.fast_s() - 0.01).abs() < 1e-9 && (gain.slow_s() - 0.6).abs() < 1e-9);
    }

    #[test]
    fn slices_add_up_to_the_whole_although_one_of_them_was_the_faster_on_the_slow_tier() {
        let gain = Gain { slow: vec![3.0, 0.5], fast: vec![1.0, 1.0] };
        assert_eq!(gain.saved_in(0) + gain.saved_in(1), gain.saved_s());
        let never = Gain { slow: vec![0.5, 1.0], fast: vec![1.0, 0.75] };
        assert_eq!((never.saved_in(0), never.saved_in(1), never.saved_s()), (0.0, 0.0, 0.0));
    }
}
