//! What a load itself allows: nobody completes more than is asked for.
//!
//! The one idea: users who think start so many transactions a second at most, and what comes by a clock comes as often as that says. No
//! interval reaches beyond. A value that lies beyond shows that others ask, too (timers, transactions that cause others), and is left alone.

use super::Group;
use crate::{Estimate, PointSummary, Work};
use observation::StreamLabel;
use study::Metric;

/// Users who complete this share of what they can start are hardly kept waiting.
pub(crate) const NEARLY_ALL: f64 = 0.85;

/// What is told of an estimate may be this share off by arithmetic alone.
const ALIKE: f64 = 1.0 - 1e-9;

impl Group<'_> {
    fn labels(&self) -> impl Iterator<Item = &StreamLabel> {
        self.members.iter().filter_map(|(trial, stream)| trial.label.streams.get(usize::from(stream.stream)))
    }

    /// The most transactions a second that its users start, where all trials have users who think.
    pub(super) fn asked_most_per_s(&self) -> Option<f64> {
        self.labels().map(StreamLabel::asked_most_per_s).reduce(|a, b| Some(a?.max(b?)))?
    }

    /// An estimate with no upper end beyond what is asked for. What transactions give is bounded with their rate, as many for each as were
    /// seen, or by the clock by which it comes.
    pub(super) fn as_asked(&self, metric: Metric, estimate: Estimate) -> Estimate {
        let most = match metric {
            Metric::Throughput => self.asked_most_per_s(),
            Metric::Yield(what) => self.by_clock(what.word()).or_else(|| self.in_proportion(&estimate)),
            Metric::Bandwidth => self.in_proportion(&estimate),
            _ => None,
        };
        let beyond = most.filter(|most| estimate.value <= *most && estimate.high > *most && estimate.high.is_finite());
        beyond.map_or(estimate, |high| Estimate { high, ..estimate })
    }

    fn by_clock(&self, what: &str) -> Option<f64> {
        let offered = self.labels().map(|label| label.offered_of(what)).reduce(|a, b| Some(a?.max(b?)))?;
        offered.filter(|per_s| *per_s > 0.0)
    }

    /// What there would be of it if users were never kept waiting.
    fn in_proportion(&self, estimate: &Estimate) -> Option<f64> {
        let done: f64 = self.members.iter().map(|(_, stream)| stream.throughput_per_s.value).sum();
        let done = done / self.members.len() as f64;
        self.asked_most_per_s().filter(|most| done > 0.0 && done <= *most).map(|most| estimate.value * most / done)
    }
}

impl PointSummary {
    /// Whether users complete nearly all that they start, or the interval ends there: then they are what limits the rate.
    pub fn limited_by_users(&self) -> bool {
        let (done, rate) = (self.throughput_per_s.value, self.throughput_per_s);
        self.asked_most_per_s.filter(|_| self.work == Work::Transactions).is_some_and(|most| {
            let given = |(_, given): &(String, Estimate)| given.high >= ALIKE * given.value * most / done;
            done >= NEARLY_ALL * most
                || done <= most && (rate.high >= ALIKE * most || self.yields.first().is_some_and(given))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::{groups, point};
    use crate::run::tests::trial;
    use crate::{TrialSummary, YieldSummary};
    use study::Yield;
    use units::Nanos;

    /// Trials with such rates of 64 users who think 50 ms, and start 1280 transactions a second at most; each gives ten postings.
    fn of_users(rates: &[f64]) -> PointSummary {
        let of = |(index, per_s): (u32, &f64)| -> TrialSummary {
            let mut one = trial(index, "s", index, *per_s);
            let label = &mut one.label.streams[0];
            (label.asks, label.think_mean) = (observation::Asks::Transactions, Nanos::from_millis(50));
            label.load = "64 users, 50 ms mean think time, 8 sessions".to_owned();
            one.server = Some(crate::ServerSummary::default());
            let per_s = Estimate::single(10.0 * per_s);
            one.streams[0].yields = vec![YieldSummary { what: Yield::Postings.word().to_owned(), per_s, most: 10.0 }];
            one
        };
        let trials: Vec<TrialSummary> = (0..).zip(rates).map(of).collect();
        point(&groups(&trials)[0], 0.95)
    }

    #[test]
    fn no_interval_of_a_rate_or_of_what_it_gives_reaches_beyond_what_users_start() {
        let wide = of_users(&[900.0, 1_250.0, 1_000.0]);
        let postings = wide.yields[0].1;
        assert_eq!(wide.throughput_per_s.high, 1_280.0, "{wide:?}");
        assert!((postings.high - 12_800.0).abs() < 1e-6 && postings.low < 10_000.0, "{postings:?}");
        assert!(wide.limited_by_users(), "the interval ends there");
        let clear = of_users(&[600.0, 610.0, 590.0]);
        assert!(clear.throughput_per_s.high < 700.0 && !clear.limited_by_users(), "{clear:?}");
    }

    #[test]
    fn a_rate_beyond_what_users_start_is_left_as_it_was_seen() {
        let beyond = of_users(&[1_300.0, 1_310.0, 1_305.0]);
        assert!(beyond.throughput_per_s.high > 1_305.0 && beyond.yields[0].1.high > 13_050.0, "timers start some");
    }
}
