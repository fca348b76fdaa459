//! How sure one trial can be of its own mean and quantiles of response.
//!
//! A quantile is inverted from the share of operations at or below it: the share varies from interval to interval, batch
//! means say how much its mean is worth, and the ends of the share's interval are read back off the distribution (the
//! indirect estimate of Heidelberger and Lewis, "Quantile estimation in dependent sequences", Operations Research 32,
//! 1984). Intervals hold unequal numbers of operations, so shares and means are ratio estimates: the residual of each
//! interval is its sum less the overall ratio times its count (Cochran, "Sampling Techniques", 1977, chapter 6).

use super::cut::Cut;
use super::latency::Placed;
use crate::statistics::batch_means::batch_mean_interval;
use crate::{Estimate, ResponseEstimates};
use observation::{Cell, CellSource, Histogram};

/// The quantiles that are estimated.
pub const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// Fewer operations than this tell nothing about their spread.
const COUNT_MIN: u64 = 10;

/// What one interval adds: how many, their sum in milliseconds, and how many at or below each quantile of the whole.
#[derive(Clone, Copy, Default)]
struct Row {
    count: f64,
    sum_ms: f64,
    below: [f64; 4],
}

/// The window of one stream, interval by interval; empty when hardly anything ended.
pub struct Rows {
    first: u32,
    /// The quantiles of the whole window, nanoseconds.
    levels: [u64; 4],
    rows: Vec<Row>,
}

/// Intervals of mean and quantiles over the batches of one trial; nothing when hardly anything ended.
pub fn response_estimates(rows: &Rows, total: &Placed, confidence: f64) -> Option<ResponseEstimates> {
    if total.all.count() < COUNT_MIN {
        return None;
    }
    let counts: Vec<f64> = rows.rows.iter().map(|row| row.count).collect();
    let sums: Vec<f64> = rows.rows.iter().map(|row| row.sum_ms).collect();
    let mean_ms = ratio_estimate(&sums, &counts, confidence);
    let quantiles_ms = QUANTILES
        .iter()
        .enumerate()
        .map(|(i, q)| {
            let below: Vec<f64> = rows.rows.iter().map(|row| row.below[i]).collect();
            (*q, quantile_estimate(&ratio_estimate(&below, &counts, confidence), *q, total))
        })
        .collect();
    Some(ResponseEstimates { mean_ms, quantiles_ms })
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
        let intervals = if total.all.count() < COUNT_MIN { 0 } else { cut.end - cut.first };
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

/// The ratio of two sums over intervals, with the interval of its batch means.
fn ratio_estimate(above: &[f64], below: &[f64], confidence: f64) -> Estimate {
    let total: f64 = below.iter().sum();
    let ratio = above.iter().sum::<f64>() / total;
    let residuals: Vec<f64> = above.iter().zip(below).map(|(a, b)| a - ratio * b).collect();
    let spread = batch_mean_interval(&residuals, confidence);
    let half = (spread.high - spread.low) / 2.0 / (total / below.len() as f64);
    Estimate { value: ratio, low: ratio - half, high: ratio + half, n: spread.n, confidence }
}

/// The quantile at the share and at both ends of its interval, around the share that was asked for.
fn quantile_estimate(share: &Estimate, q: f64, total: &Placed) -> Estimate {
    let half = (share.high - share.low) / 2.0;
    let ends = if half.is_finite() {
        (total.quantile_ms((q - half).max(0.0)), total.quantile_ms((q + half).min(1.0)))
    } else {
        (f64::NAN, f64::NAN)
    };
    Estimate { value: total.quantile_ms(q), low: ends.0, high: ends.1, n: share.n, confidence: share.confidence }
}
