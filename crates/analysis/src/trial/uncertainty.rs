//! How sure one trial can be of its own mean and quantiles of response.
//!
//! The share of operations at or below a quantile varies from interval to interval, and so does the mean; the error of
//! their means over the window follows from the series of intervals. Intervals hold unequal numbers of operations, so shares
//! and means are ratio estimates: the residual of each interval is its sum less the overall ratio times its count (Cochran,
//! "Sampling Techniques", 1977, chapter 6).

use super::cut::Cut;
use super::latency::Placed;
use crate::quantile::Quantile;
use crate::statistics::series_mean::{MeanError, WORTH_MIN, mean_error};
use crate::statistics::student::half_width;
use crate::{Estimate, QuantileEstimate, ResponseEstimates};
use observation::{Cell, CellSource, Histogram};

/// The quantiles that are estimated.
pub const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// Fewer operations than this tell nothing about the spread of their mean.
const COUNT_MIN: f64 = 5.0;

/// What one interval adds: how many, their sum in milliseconds, and how many at or below each quantile of the whole.
#[derive(Clone, Copy, Default)]
struct Row {
    count: f64,
    sum_ms: f64,
    below: [f64; 4],
}

/// The window of one stream, interval by interval; empty when nothing ended.
pub struct Rows {
    first: u32,
    /// The quantiles of the whole window, nanoseconds.
    levels: [u64; 4],
    rows: Vec<Row>,
}

/// Mean and quantiles of one trial, each with what it knows of it; nothing when nothing ended.
pub fn response_estimates(rows: &Rows, total: &Placed, confidence: f64) -> Option<ResponseEstimates> {
    if total.all.is_empty() {
        return None;
    }
    let counts: Vec<f64> = rows.rows.iter().map(|row| row.count).collect();
    let sums: Vec<f64> = rows.rows.iter().map(|row| row.sum_ms).collect();
    let errors = QUANTILES.iter().enumerate().map(|(i, q)| {
        let below: Vec<f64> = rows.rows.iter().map(|row| row.below[i]).collect();
        QuantileEstimate::known(*q, ratio_error(&below, &counts).unwrap_or(NOTHING_KNOWN))
    });
    Some(ResponseEstimates::known(mean_estimate(&sums, &counts, confidence), errors.collect(), total, confidence))
}

/// The same of fixed work, which has no series: a trial knows how many operations it had and nothing of how they resemble each
/// other, so that each share has the binomial error with one degree of freedom. Replicates know more.
pub fn estimates_of_fixed_work(total: &Placed, confidence: f64) -> Option<ResponseEstimates> {
    let (count, mean) = (total.all.count(), total.all.mean_ns()?);
    let alone = |q: f64| MeanError { error: (q * (1.0 - q) / count as f64).sqrt(), worth: count as f64, freedom: 1.0 };
    let mean_ms = Estimate { n: count.min(u64::from(u32::MAX)) as u32, confidence, ..Estimate::single(mean / 1e6) };
    let quantiles = QUANTILES.iter().map(|q| QuantileEstimate::known(*q, alone(*q))).collect();
    Some(ResponseEstimates::known(mean_ms, quantiles, total, confidence))
}

/// Below four intervals there is no series to tell an error from.
const NOTHING_KNOWN: MeanError = MeanError { error: 0.0, worth: 1.0, freedom: 2.0 };

/// A clock step of a nanosecond, in milliseconds: no mean is known better.
const CLOCK_STEP_MS: f64 = 1e-6;

fn mean_estimate(sums: &[f64], counts: &[f64], confidence: f64) -> Estimate {
    let count: f64 = counts.iter().sum();
    let value = sums.iter().sum::<f64>() / count;
    let known = ratio_error(sums, counts).filter(|_| count >= COUNT_MIN);
    let Some(known) = known else { return Estimate { confidence, ..Estimate::single(value) } };
    // However many intervals there are, their scatter comes from so many operations.
    let error = known.error * (count / (count - 1.0)).sqrt();
    let half = half_width(error, known.freedom.min(count - 1.0), confidence);
    Estimate::positive(value, half, CLOCK_STEP_MS, known.worth.min(count).floor() as u32, confidence)
}

impl QuantileEstimate {
    /// A quantile of which only the error of its share is known yet.
    fn known(q: f64, known: MeanError) -> QuantileEstimate {
        QuantileEstimate { q, ms: Estimate::single(f64::NAN), share_error: known.error, freedom: known.freedom }
    }
}

/// The share of operations that never ended from which a mean is only a lower bound.
const AGES_MOST: f64 = 0.01;

impl ResponseEstimates {
    /// With the ends of each quantile, read back off the times by the error of its share.
    fn known(
        mean_ms: Estimate,
        quantiles: Vec<QuantileEstimate>,
        total: &Placed,
        confidence: f64,
    ) -> ResponseEstimates {
        let (times, censored_from_ns) = (total.all.clone(), total.censored_from_ns());
        // Ages that are still growing make a mean too short by nobody knows how much.
        let ages = total.censored.count() as f64 > AGES_MOST * times.count() as f64;
        let low = if mean_ms.low.is_nan() { mean_ms.value } else { mean_ms.low };
        let mean_ms = if ages { Estimate { low, high: f64::INFINITY, ..mean_ms } } else { mean_ms };
        let mut estimates = ResponseEstimates { mean_ms, quantiles, times, censored_from_ns };
        let ends = |known: &QuantileEstimate| QuantileEstimate {
            ms: estimates.quantile(known).estimate(confidence),
            ..*known
        };
        estimates.quantiles = estimates.quantiles.iter().map(ends).collect();
        estimates
    }

    /// One of its quantiles beside the times that it is of.
    pub(crate) fn quantile(&self, known: &QuantileEstimate) -> Quantile<'_> {
        Quantile {
            q: known.q,
            times: &self.times,
            censored_from_ns: self.censored_from_ns,
            error: known.share_error,
            error_most: known.share_error,
            freedom: known.freedom,
            worth_least: self.worth_least(),
            mean_ms: self.mean_ms,
        }
    }

    /// The fewest independent values that the window is worth, looked at from any of the quantiles, or from the mean where
    /// that is too few for anything.
    pub(crate) fn worth_least(&self) -> f64 {
        let (of_mean, count) = (f64::from(self.mean_ms.n), self.times.count() as f64);
        let least = if of_mean < WORTH_MIN { of_mean } else { count };
        let worth = |known: &QuantileEstimate| known.q * (1.0 - known.q) / known.share_error.powi(2);
        self.quantiles.iter().map(worth).fold(least, f64::min)
    }
}

/// The rows of every stream, in a second walk over the cells: shares can be counted only when the quantiles of the whole
/// are known.
pub fn rows<S: CellSource + ?Sized>(cuts: &[Cut], totals: &[Placed], cells: &S) -> Result<Vec<Rows>, S::Error> {
    let mut all: Vec<Rows> = cuts.iter().zip(totals).map(|(cut, total)| Rows::new(cut, total)).collect();
    if all.iter().any(|rows| !rows.rows.is_empty()) {
        cells.each(&mut |cell| {
            let stream = usize::from(cell.key.stream);
            if cuts.get(stream).is_some_and(|cut| cut.counts_as_work(cell.key.class)) {
                all[stream].add(cell);
            }
        })?;
    }
    Ok(all)
}

impl Rows {
    fn new(cut: &Cut, total: &Placed) -> Rows {
        let intervals = if total.all.is_empty() { 0 } else { cut.end - cut.first };
        let levels = QUANTILES.map(|q| total.all.quantile_ns(q).unwrap_or(0));
        Rows { first: cut.first, levels, rows: vec![Row::default(); intervals as usize] }
    }

    fn add(&mut self, cell: &Cell) {
        let place = cell.key.interval.checked_sub(self.first);
        if let Some(row) = place.and_then(|place| self.rows.get_mut(place as usize)) {
            for histogram in [&cell.response, &cell.censored] {
                row.add(histogram, &self.levels);
            }
        }
    }
}

impl Row {
    fn add(&mut self, histogram: &Histogram, levels: &[u64; 4]) {
        self.count += histogram.count() as f64;
        self.sum_ms += histogram.sum_ns() as f64 / 1e6;
        for (below, level) in self.below.iter_mut().zip(levels) {
            *below += (histogram.count() - histogram.count_above(*level)) as f64;
        }
    }
}

/// The error of the ratio of two sums over intervals.
pub(super) fn ratio_error(above: &[f64], below: &[f64]) -> Option<MeanError> {
    let total: f64 = below.iter().sum();
    let ratio = above.iter().sum::<f64>() / total;
    let residuals: Vec<f64> = above.iter().zip(below).map(|(a, b)| a - ratio * b).collect();
    let known = mean_error(&residuals)?;
    Some(MeanError { error: known.error / (total / below.len() as f64), ..known })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The standard error of a mean is s over the root of n, with n - 1 in s.
    #[test]
    fn few_operations_are_a_sample_and_never_all_there_are() {
        let times = [3.0, 5.0, 4.0, 6.0, 2.0, 4.0];
        let estimate = mean_estimate(&times, &[1.0; 6], 0.95);
        let half = half_width((2.0f64 / 6.0).sqrt(), 5.0, 0.95);
        assert!((estimate.high - estimate.low) / 2.0 > half, "{estimate:?}");
    }
}
