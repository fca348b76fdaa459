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
use observation::Histogram;

/// The quantiles that are estimated.
pub const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// What one interval adds: how many, their sum in milliseconds, and how many at or below each quantile of the whole.
struct Row {
    count: f64,
    sum_ms: f64,
    below: [f64; 4],
}

/// Intervals of mean and quantiles over the batches of one trial; nothing when hardly anything ended.
pub fn response_estimates(cut: &Cut, total: &Placed, confidence: f64) -> Option<ResponseEstimates> {
    if total.all.count() < 10 {
        return None;
    }
    let levels = QUANTILES.map(|q| total.all.quantile_ns(q).unwrap_or(0));
    let rows = rows(cut, &levels);
    let counts: Vec<f64> = rows.iter().map(|row| row.count).collect();
    let sums: Vec<f64> = rows.iter().map(|row| row.sum_ms).collect();
    let mean_ms = ratio_estimate(&sums, &counts, confidence);
    let quantiles_ms = QUANTILES
        .iter()
        .enumerate()
        .map(|(i, q)| {
            let below: Vec<f64> = rows.iter().map(|row| row.below[i]).collect();
            (*q, quantile_estimate(&ratio_estimate(&below, &counts, confidence), *q, total))
        })
        .collect();
    Some(ResponseEstimates { mean_ms, quantiles_ms })
}

fn rows(cut: &Cut, levels: &[u64; 4]) -> Vec<Row> {
    let mut rows: Vec<Row> = (cut.first..cut.end).map(|_| Row { count: 0.0, sum_ms: 0.0, below: [0.0; 4] }).collect();
    for cell in cut.work() {
        let row = &mut rows[(cell.key.interval - cut.first) as usize];
        for histogram in [&cell.response, &cell.censored] {
            row.add(histogram, levels);
        }
    }
    rows
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
