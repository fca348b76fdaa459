//! What is known of a quantile: an interval where there are enough samples beyond it, a lower bound where there are not.
//!
//! The one idea: a share of operations has an error, and the ends of its interval are read back off the distribution (the
//! indirect estimate of Heidelberger and Lewis, "Quantile estimation in dependent sequences", Operations Research 32,
//! 1984). Beyond a tail quantile there must be 100 samples that came at ten moments or more: samples of one stall say as
//! much as one sample. Where there are fewer, the end above is not in the data. What is left is a lower bound from order
//! statistics (David and Nagaraja, "Order Statistics", 2003, section 7.1), in which operations that resemble each other
//! count as often as independent ones would.

use crate::Estimate;
use crate::statistics::series_mean::WORTH_MIN;
use crate::statistics::student::{half_width, normal_quantile, t_quantile};
use observation::{Histogram, bucket_high, bucket_index, bucket_low};

/// How many samples must lie beyond a tail quantile.
pub const SAMPLES_BEYOND: f64 = 100.0;

/// How many of them must be independent of each other.
pub const CLUSTERS_BEYOND: f64 = 10.0;

/// The median lies so deep in the sample that its order statistics are known from ten independent operations.
const OF_MEDIAN: f64 = 5.0;

/// An end of the interval of the share must leave this part of what lies beyond, so that samples decide where it is.
const SPENT_MAX: f64 = 0.9;

/// A quantile of a distribution, and how well the share at or below it is known.
#[derive(Clone, Copy, Debug)]
pub struct Quantile<'a> {
    /// Which: 0.99 is p99.
    pub q: f64,
    /// All times, what never ended at the age that it had reached.
    pub times: &'a Histogram,
    /// The least age of what never ended: from there on times are only lower bounds.
    pub censored_from_ns: Option<u64>,
    /// Standard error of the share.
    pub error: f64,
    /// The largest error that it may have instead: by it is judged whether there are samples enough.
    pub error_most: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// The fewest independent values that the window is worth, looked at from the mean or from any of the quantiles.
    pub worth_least: f64,
    /// The mean of the same times, in milliseconds.
    pub mean_ms: Estimate,
}

impl Quantile<'_> {
    /// The quantile in milliseconds with its interval, or with a lower bound and no end above.
    pub fn estimate(&self, confidence: f64) -> Estimate {
        let value = self.times.quantile_ns(self.q).unwrap_or(0) as f64 / 1e6;
        let half = self.half(confidence);
        let ends = match self.short_by(confidence) {
            None if !self.censored(self.q + half) => (self.low_ms(self.q - half), self.high_ms(self.q + half)),
            None => (self.low_ms(self.q - self.half(2.0 * confidence - 1.0)), f64::INFINITY),
            Some(_) => self.like_the_mean(value, half).unwrap_or_else(|| self.bound(confidence)),
        };
        // An age that is still growing is a bound, however few samples there are.
        let ends = if ends.0.is_nan() && self.censored(self.q) { (value, f64::INFINITY) } else { ends };
        Estimate { value, low: ends.0, high: ends.1, n: self.worth().floor() as u32, confidence }
    }

    /// A median of a window that is too short for its own correlation is as uncertain as the mean of the same times: what
    /// moves slowly moves both. Of the tail that cannot be said.
    fn like_the_mean(&self, value: f64, half: f64) -> Option<(f64, f64)> {
        let mean = self.mean_ms;
        if self.q > 0.5 || self.q * self.count() < OF_MEDIAN || !mean.has_interval() || self.censored(self.q) {
            return None;
        }
        let (low, high) = (value * mean.low / mean.value, value * mean.high / mean.value);
        if half < SPENT_MAX * self.beyond() && !self.censored(self.q + half) {
            return Some((low.min(self.low_ms(self.q - half)), high.max(self.high_ms(self.q + half))));
        }
        Some((low, high))
    }

    /// How many times as long a window has to be before there is an interval; nothing where there is one.
    pub fn short_by(&self, confidence: f64) -> Option<f64> {
        let beyond = self.beyond();
        let (samples, clusters) = if self.q > 0.5 { (SAMPLES_BEYOND, CLUSTERS_BEYOND) } else { (OF_MEDIAN, OF_MEDIAN) };
        // The half width falls with the root of the time.
        let wide = (self.half(confidence) / (SPENT_MAX * beyond)).powi(2);
        let worth = self.worth_by(self.error_most);
        let alike = WORTH_MIN / self.worth_least;
        let missing = [samples / (beyond * self.count()), clusters / (beyond * worth), alike, wide];
        let longest = missing.into_iter().fold(0.0, f64::max);
        // A count of exactly 10 000 has 100 beyond p99; the hair keeps rounding from taking one away.
        (longest > 1.0 + 1e-9 || self.half(confidence).is_nan()).then_some(longest)
    }

    fn count(&self) -> f64 {
        self.times.count() as f64
    }

    /// The share on the side where fewer samples are.
    fn beyond(&self) -> f64 {
        self.q.min(1.0 - self.q)
    }

    /// How many independent operations know the share as well: never more than there are.
    pub fn worth(&self) -> f64 {
        self.worth_by(self.error)
    }

    fn worth_by(&self, error: f64) -> f64 {
        (self.q * (1.0 - self.q) / (error * error)).min(self.count()).max(0.0)
    }

    /// The error of the share, never below the binomial one.
    fn error(&self) -> f64 {
        self.error.max((self.q * (1.0 - self.q) / self.count()).sqrt())
    }

    /// Half the width of the share's interval. What came in few clusters has told its error as often as there are clusters.
    fn half(&self, confidence: f64) -> f64 {
        let clusters = self.beyond() * self.worth_by(self.error_most) - 1.0;
        let freedom = if self.q > 0.5 { self.freedom.min(clusters.max(2.0)) } else { self.freedom };
        half_width(self.error(), freedom, confidence)
    }

    /// A lower bound and no end above, from order statistics; neither where no sample surely lies below.
    fn bound(&self, confidence: f64) -> (f64, f64) {
        // An error with few degrees of freedom may be too small by as much as t exceeds the normal.
        let doubt = normal_quantile(confidence) / t_quantile(confidence, self.freedom.max(1.0));
        let worth = (self.worth_by(self.error_most).min(self.worth_least) * doubt * doubt).floor().max(1.0);
        match rank_below(worth, self.q, confidence) {
            Some(rank) => (self.low_ms((rank - 0.5) / worth), f64::INFINITY),
            None => (f64::NAN, f64::NAN),
        }
    }

    /// Whether a share reaches times that are only ages.
    fn censored(&self, share: f64) -> bool {
        let at = self.times.quantile_ns(share.min(1.0)).unwrap_or(0);
        self.censored_from_ns.is_some_and(|from| bucket_index(at) >= bucket_index(from))
    }

    /// The lower end of the bucket in which a share ends.
    fn low_ms(&self, share: f64) -> f64 {
        let at = self.times.quantile_ns(share.max(0.0)).unwrap_or(0);
        bucket_low(bucket_index(at)).max(self.times.min_ns()) as f64 / 1e6
    }

    fn high_ms(&self, share: f64) -> f64 {
        let at = self.times.quantile_ns(share.min(1.0)).unwrap_or(0);
        bucket_high(bucket_index(at)) as f64 / 1e6
    }
}

/// The highest rank of `n` independent samples that lies at or below their quantile `q` with this confidence: that many or
/// more of them lie below it.
fn rank_below(n: f64, q: f64, confidence: f64) -> Option<f64> {
    let all = q.powf(n);
    if all < f64::MIN_POSITIVE {
        let share = q - normal_quantile(confidence) * (q * (1.0 - q) / n).sqrt();
        return Some((share * n).floor()).filter(|rank| *rank >= 1.0);
    }
    let (mut rank, mut exactly, mut at_least) = (n, all, all);
    while at_least < confidence && rank >= 1.0 {
        exactly *= rank / (n - rank + 1.0) * (1.0 - q) / q;
        at_least += exactly;
        rank -= 1.0;
    }
    (rank >= 1.0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0.99^12 = 0.886, and with 12 x 0.99^11 x 0.01 it is 0.994; of 300, 0.99^300 = 0.049 and at least 297 lie below
    /// with 0.647, 296 with 0.816, 295 with 0.917, 294 with 0.967.
    #[test]
    fn ranks_below_a_quantile_are_those_of_the_binomial() {
        assert_eq!(rank_below(12.0, 0.99, 0.95), Some(11.0));
        assert_eq!(rank_below(5.0, 0.99, 0.95), Some(5.0));
        assert_eq!(rank_below(300.0, 0.99, 0.95), Some(294.0));
        assert_eq!(rank_below(4.0, 0.5, 0.95), None);
    }

    fn of(times: &Histogram, q: f64, error: f64) -> Quantile<'_> {
        let mean_ms = Estimate::single(1.0);
        Quantile { q, times, censored_from_ns: None, error, error_most: error, freedom: 1e6, worth_least: 1e9, mean_ms }
    }

    fn thousandths(n: u64) -> Histogram {
        Histogram::from_values((1..=n).map(|k| k * 1_000_000))
    }

    #[test]
    fn a_p99_of_forty_is_at_least_the_third_greatest_and_has_no_end_above() {
        let times = thousandths(40);
        let p99 = of(&times, 0.99, 0.0).estimate(0.95);
        assert!((p99.low - 38.0).abs() < 0.05 && p99.high.is_infinite() && p99.lower_bound(), "{p99:?}");
        assert!(of(&times, 0.99, 0.0).short_by(0.95).is_some_and(|longer| (longer - 250.0).abs() < 1e-9));
    }

    #[test]
    fn a_share_without_scatter_still_has_its_binomial_error() {
        let times = thousandths(20_000);
        let p99 = of(&times, 0.99, 0.0).estimate(0.95);
        assert!(p99.has_interval());
        // 0.01 +- 1.96 sqrt(0.0099 / 20000) of 20 s.
        assert!((p99.low - 19_772.0).abs() < 20.0 && (p99.high - 19_828.0).abs() < 20.0, "{p99:?}");
    }

    #[test]
    fn samples_of_nine_moments_are_no_interval() {
        let times = thousandths(20_000);
        let (nine, eleven) = ((0.0099f64 / 900.0).sqrt(), (0.0099f64 / 1_100.0).sqrt());
        assert!(of(&times, 0.99, nine).estimate(0.95).lower_bound());
        assert!(of(&times, 0.99, eleven).estimate(0.95).has_interval());
    }

    #[test]
    fn what_never_ended_takes_the_end_above() {
        let times = thousandths(20_000);
        let hung = Quantile { censored_from_ns: Some(19_800_000_000), ..of(&times, 0.99, 0.0) };
        assert!(hung.estimate(0.95).lower_bound());
        assert!(Quantile { q: 0.5, ..hung }.estimate(0.95).has_interval());
    }

    #[test]
    fn a_median_that_is_an_age_is_a_bound_although_samples_are_too_few_for_one() {
        let times = thousandths(12);
        let hung = Quantile { censored_from_ns: Some(times.min_ns()), worth_least: 1.0, ..of(&times, 0.5, 0.4) };
        let median = hung.estimate(0.95);
        assert!(median.lower_bound() && median.low == median.value, "{median:?}");
    }
}
