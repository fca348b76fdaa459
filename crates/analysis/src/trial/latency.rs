//! Latency distributions in milliseconds, with operations that never ended in their place.
//!
//! The one idea: an operation that did not end took at least as long as it was watched. It enters the distribution at
//! that age, where it is a lower bound; quantiles that reach it are lower bounds too and are marked. Leaving it out
//! would report a system that hangs as a fast one.

use crate::{LatencySummary, Tail};
use observation::{Histogram, bucket_index};

/// How many samples must lie beyond a quantile before it is called firm.
pub const SAMPLES_BEYOND: u64 = 100;

/// A distribution with its censored operations.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// Ended and censored together.
    pub all: Histogram,
    /// The ages of those that never ended.
    pub censored: Histogram,
}

impl Placed {
    /// Puts the censored ages among the times of those that ended.
    pub fn new(ended: Histogram, censored: Histogram) -> Placed {
        let mut all = ended;
        all.merge(&censored);
        Placed { all, censored }
    }

    /// The quantile in milliseconds; 0 when there is nothing.
    pub fn quantile_ms(&self, q: f64) -> f64 {
        self.all.quantile_ns(q).unwrap_or(0) as f64 / 1e6
    }

    /// The age of the youngest that never ended.
    pub fn censored_from_ns(&self) -> Option<u64> {
        (!self.censored.is_empty()).then(|| self.censored.min_ns())
    }

    /// The smallest share beyond which quantiles are only lower bounds: that of the youngest censored age.
    pub fn bound_from(&self) -> Option<f64> {
        if self.censored.is_empty() {
            return None;
        }
        let youngest = bucket_index(self.censored.min_ns());
        let before: u64 = self.all.entries().take_while(|(index, _)| *index < youngest).map(|(_, n)| n).sum();
        Some(before as f64 / self.all.count() as f64)
    }
}

/// Mean, quantiles and how far they can be trusted.
pub fn latency_summary(placed: &Placed) -> LatencySummary {
    let all = &placed.all;
    LatencySummary {
        count: all.count(),
        mean_ms: all.mean_ns().unwrap_or(0.0) / 1e6,
        p50_ms: placed.quantile_ms(0.5),
        p90_ms: placed.quantile_ms(0.9),
        p95_ms: placed.quantile_ms(0.95),
        p99_ms: placed.quantile_ms(0.99),
        p999_ms: placed.quantile_ms(0.999),
        max_ms: all.max_ns() as f64 / 1e6,
        tail: Tail {
            p99_firm: firm(all.count(), 0.99),
            p999_firm: firm(all.count(), 0.999),
            censored: !placed.censored.is_empty(),
        },
    }
}

/// Whether at least [`SAMPLES_BEYOND`] of `count` samples lie beyond quantile `q`.
pub fn firm(count: u64, q: f64) -> bool {
    // A count of exactly 10 000 has 100 beyond p99; the hair keeps rounding from taking one away.
    count as f64 * (1.0 - q) + 1e-6 >= SAMPLES_BEYOND as f64
}

/// `(quantile, milliseconds)` for a chart: even steps up to the median, then sixteen to each tenth of what is left, up to
/// the last sample.
pub fn distribution(placed: &Placed) -> Vec<(f64, f64)> {
    let count = placed.all.count();
    if count == 0 {
        return Vec::new();
    }
    let mut shares: Vec<f64> = (0..10).map(|step| f64::from(step) * 0.05).collect();
    let decades = (count as f64).log10().max(0.3);
    let steps = ((decades - 0.5f64.recip().log10()) * 16.0).ceil() as u32;
    shares.extend((0..=steps).map(|step| 1.0 - 0.5 * 10f64.powf(-f64::from(step) / 16.0)));
    shares.retain(|share| *share <= 1.0 - 1.0 / count as f64);
    // The quantiles that tables show are marks of the chart as well.
    shares.extend([0.5, 0.9, 0.95, 0.99, 0.999, 0.9999].into_iter().filter(|q| (1.0 - q) * count as f64 >= 1.0));
    shares.push(1.0);
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    shares.into_iter().map(|share| (share, placed.quantile_ms(share))).collect()
}
