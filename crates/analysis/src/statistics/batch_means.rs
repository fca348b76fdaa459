//! The interval of a mean from one long, autocorrelated series: batch means.
//!
//! Neighbouring intervals of a trial resemble each other, so that their scatter understates the uncertainty of their
//! mean. Means of batches that are long against that resemblance are nearly independent. Batches double in length until
//! the first autocorrelation of their means is within noise, but never fewer than ten are made (Law and Carson, "A
//! sequential procedure for determining the length of a steady-state simulation", Operations Research 27, 1979; the
//! choice of few long batches after Schmeiser, Operations Research 30, 1982). What resemblance is left at ten batches
//! is taken off by the effective number of an AR(1) series.

use super::autocorrelation::{autocorrelation, noise_bound};
use super::moments::{deviation, mean};
use super::student::half_width;
use crate::Estimate;

/// Fewer batches than this are not made longer: below, t intervals grow faster than independence pays.
const BATCHES_MIN: usize = 10;

/// Fewer values than this have no interval at all.
const VALUES_MIN: usize = 4;

/// The mean of a series with an interval that knows of autocorrelation. `n` is the effective number of batches.
pub fn batch_mean_interval(series: &[f64], confidence: f64) -> Estimate {
    let value = mean(series);
    if series.len() < VALUES_MIN {
        return Estimate { confidence, ..Estimate::single(value) };
    }
    let means = independent_batches(series);
    let worth = worth_of(&means);
    // The scatter is known from all batches, however alike neighbours are; resemblance widens the error, and taking the
    // freedom down to one or two as well would turn a restless trial's interval into nonsense.
    let half = half_width(deviation(&means) / worth.sqrt(), means.len() as f64 - 1.0, confidence);
    Estimate { value, low: value - half, high: value + half, n: worth.floor() as u32, confidence }
}

/// Means of batches that no longer resemble their neighbours, or of the longest that may be made.
fn independent_batches(series: &[f64]) -> Vec<f64> {
    let longest = (series.len() / BATCHES_MIN).max(1);
    let mut length = 1;
    while length * 2 <= longest {
        let means = batches(series, length);
        if autocorrelation(&means, 1) <= noise_bound(means.len()) {
            break;
        }
        length *= 2;
    }
    // "Within noise" still leaves what the noise hides: where batches had to grow at all, they grow once more.
    if length > 1 && length * 2 <= longest {
        length *= 2;
    }
    batches(series, length)
}

/// Means of batches of `length`. What does not fill a batch is left out at the start, where a trial is least steady.
fn batches(series: &[f64], length: usize) -> Vec<f64> {
    series[series.len() % length..].chunks(length).map(mean).collect()
}

/// How many independent values the means are worth when they resemble each other beyond noise.
fn worth_of(means: &[f64]) -> f64 {
    let n = means.len() as f64;
    let left = autocorrelation(means, 1);
    if left <= noise_bound(means.len()) {
        return n;
    }
    // The first autocorrelation of a short series is biased low by about (1 + 4 rho) / n (Kendall, Biometrika 41, 1954).
    let left = (left + (1.0 + 4.0 * left) / n).min(0.95);
    (n * (1.0 - left) / (1.0 + left)).max(2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::autocorrelation::tests::ar1;
    use crate::statistics::bootstrap::Draws;

    fn coverage(phi: f64, length: usize) -> f64 {
        let mut draws = Draws::new(7);
        let covered = (0..400).filter(|_| {
            let series = ar1(&mut draws, length, phi);
            let estimate = batch_mean_interval(&series, 0.95);
            estimate.low <= 0.0 && 0.0 <= estimate.high
        });
        covered.count() as f64 / 400.0
    }

    #[test]
    fn intervals_of_independent_values_cover_as_they_promise() {
        let share = coverage(0.0, 60);
        assert!((0.925..=0.975).contains(&share), "{share}");
    }

    #[test]
    fn intervals_of_strongly_autocorrelated_values_cover_nearly_as_they_promise() {
        // A plain t interval covers about 50 percent here.
        let share = coverage(0.8, 400);
        assert!(share >= 0.92, "{share}");
    }

    #[test]
    fn three_values_have_no_interval() {
        assert!(!batch_mean_interval(&[1.0, 2.0, 3.0], 0.95).has_interval());
    }

    #[test]
    fn a_constant_series_has_an_interval_of_no_width() {
        let estimate = batch_mean_interval(&[5.0; 20], 0.95);
        assert_eq!((estimate.low, estimate.high), (5.0, 5.0));
    }
}
