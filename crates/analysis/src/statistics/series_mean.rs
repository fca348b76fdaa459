//! The error of the mean of one long, autocorrelated series.
//!
//! Neighbouring intervals of a trial resemble each other, so that their scatter understates the error of their mean. Two
//! estimates that fail in different places are made, and the wider is taken:
//!
//! - **The sum of autocovariances** over the initial monotone sequence (Geyer, "Practical Markov chain Monte Carlo",
//!   Statistical Science 7, 1992). Distances from the sample's own mean make each autocovariance too small by the variance
//!   of that mean (Kendall, Biometrika 41, 1954); that is put back. It knows any shape, and sees too little of a series
//!   that is short.
//! - **AR(1) at the upper end of what its coefficient may be**, where neighbours resemble each other beyond noise. A short
//!   series hides how long it remembers; the bound is what it may have hidden. It is made of means of batches so long
//!   that resemblance stands out most, because noise in every value hides it. Where few values are far above the others,
//!   as in queues near their limit, most of the variance has not been seen: then the widest of all lengths is taken.
//!
//! A series that may be worth fewer than five values is too short for its own correlation: the widest error that AR(1)
//! gives is taken, and whoever asks is told.

use super::autocorrelation::{autocorrelation, noise_bound};
use super::moments::{mean, squares_about_mean};
use super::student::half_width;

/// Fewer values than this have no error at all.
const VALUES_MIN: usize = 4;

/// Batches are not made so long that fewer than this are left: their autocorrelation would be noise.
const BATCHES_MIN: usize = 20;

/// How many of its own standard errors an AR(1) coefficient is raised by. Chosen by simulation, so that series of 40 to 500
/// values with coefficients up to 0.95 cover 93 to 97 percent; one whole error covers 98.
const RAISED_BY: f64 = 0.5;

/// The same of a skewed series.
const RAISED_IF_SKEWED: f64 = 1.0;

/// Values of this skewness or more hide their variance in the few that are far above the others; chosen by simulation with
/// the exponential of AR(1).
const SKEWED: f64 = 1.0;

/// The confidence at which the wider of two errors is told.
const WIDER_AT: f64 = 0.95;

/// A series worth fewer values than this says too little about its own correlation.
pub const WORTH_MIN: f64 = 5.0;

/// The standard error of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanError {
    /// The standard error.
    pub error: f64,
    /// How many independent values have the same error.
    pub worth: f64,
    /// Degrees of freedom of the error.
    pub freedom: f64,
}

impl MeanError {
    /// Half the width of the interval of this confidence.
    pub fn half(&self, confidence: f64) -> f64 {
        half_width(self.error, self.freedom, confidence)
    }
}

/// The error of the mean of a series; nothing below four values.
pub fn mean_error(series: &[f64]) -> Option<MeanError> {
    if series.len() < VALUES_MIN {
        return None;
    }
    let plain = squares_about_mean(series) / (series.len() as f64 - 1.0);
    let candidates = [Some(summed(series)), bounded(series)];
    let errors = candidates.into_iter().flatten().map(|(variance, freedom)| MeanError {
        error: variance.sqrt(),
        worth: if variance > 0.0 { (plain / variance).clamp(1.0, series.len() as f64) } else { series.len() as f64 },
        freedom,
    });
    errors.max_by(|a, b| a.half(WIDER_AT).total_cmp(&b.half(WIDER_AT)))
}

/// Variance of the mean from the initial monotone sequence of autocovariances, and its degrees of freedom.
fn summed(series: &[f64]) -> (f64, f64) {
    let n = series.len() as f64;
    let own = squares_about_mean(series) / n;
    let (mut sum, mut lag, mut least) = (own, 1, f64::INFINITY);
    while lag < series.len() / 3 {
        let both = own * (autocorrelation(series, lag) + autocorrelation(series, lag + 1));
        if both <= 0.0 {
            break;
        }
        // The variance of the mean as far as it is known, which is missing from both.
        let missing = sum / (n - (2 * lag - 1) as f64);
        least = least.min(both + 2.0 * missing);
        sum += 2.0 * least;
        lag += 2;
    }
    let terms = (2 * lag - 1) as f64;
    // Of a flat spectral window as wide as the terms (Priestley, "Spectral Analysis and Time Series", 1981, table 6.2).
    (sum / (n - terms), (2.0 * n / terms - 1.0).clamp(2.0, n - 1.0))
}

/// The same from the upper end of an AR(1) coefficient; nothing where neighbours do not resemble each other beyond noise.
fn bounded(series: &[f64]) -> Option<(f64, f64)> {
    let longest = (series.len() / BATCHES_MIN).max(1);
    let lengths = std::iter::successors(Some(1), |length| Some(length * 2)).take_while(|length| *length <= longest);
    let skewed = skewness(series) > SKEWED;
    let by = if skewed { RAISED_IF_SKEWED } else { RAISED_BY };
    let all = lengths.filter_map(|length| bound_of(&batches(series, length), by));
    if skewed {
        let half = |(_, variance, freedom): &(f64, f64, f64)| half_width(variance.sqrt(), *freedom, WIDER_AT);
        return all.max_by(|a, b| half(a).total_cmp(&half(b))).map(|(_, variance, freedom)| (variance, freedom));
    }
    all.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, variance, freedom)| (variance, freedom))
}

/// Resemblance of neighbours, variance of the mean, and degrees of freedom, of means of batches of one length, with the
/// coefficient raised `by` so many of its errors.
fn bound_of(means: &[f64], by: f64) -> Option<(f64, f64, f64)> {
    let (n, seen) = (means.len() as f64, autocorrelation(means, 1));
    if seen <= noise_bound(means.len()) {
        return None;
    }
    // The first autocorrelation of a short series is low by about (1 + 4 rho) / n (Kendall, 1954).
    let unbiased = (seen + (1.0 + 4.0 * seen) / n).min(1.0);
    let raised = (unbiased + by * ((1.0 - unbiased * unbiased) / n).sqrt()).min(1.0 - 1.0 / n);
    let memory = ((1.0 + raised) / (1.0 - raised)).min(n / 2.0);
    // The sample's own mean takes its variance out of the scatter as well.
    let own = squares_about_mean(means) / n / (1.0 - memory / n);
    Some((seen, own * memory / n, (n / memory).clamp(2.0, n - 1.0)))
}

/// The third moment over the cube of the deviation.
fn skewness(series: &[f64]) -> f64 {
    let (centre, n) = (mean(series), series.len() as f64);
    let deviation = (squares_about_mean(series) / n).sqrt();
    series.iter().map(|value| ((value - centre) / deviation).powi(3)).sum::<f64>() / n
}

/// Means of batches of `length`. What does not fill a batch is left out at the start, where a trial is least steady.
fn batches(series: &[f64], length: usize) -> Vec<f64> {
    series[series.len() % length..].chunks(length).map(mean).collect()
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
            mean_error(&series).is_some_and(|error| mean(&series).abs() <= error.half(0.95))
        });
        covered.count() as f64 / 400.0
    }

    /// The variance of the mean of AR(1) is (1 + phi) / (1 - phi) times that of independent values.
    #[test]
    fn the_sum_of_autocovariances_has_the_size_that_theory_gives_it() {
        for phi in [0.0, 0.5, 0.8] {
            let mut draws = Draws::new(3);
            let ratios: Vec<f64> = (0..40)
                .map(|_| {
                    let series = ar1(&mut draws, 4_000, phi);
                    let plain = squares_about_mean(&series) / 4_000.0 / 4_000.0;
                    summed(&series).0 / plain
                })
                .collect();
            let (seen, theory) = (mean(&ratios), (1.0 + phi) / (1.0 - phi));
            assert!((seen / theory - 1.0).abs() < 0.1, "phi {phi}: {seen} where theory says {theory}");
        }
    }

    /// The mean of a short series takes a part of each autocovariance with it, which is given back.
    #[test]
    fn a_short_series_is_not_taken_for_one_of_less_memory() {
        let (phi, length) = (0.7f64, 60usize);
        let n = length as f64;
        let mut draws = Draws::new(5);
        let theory = {
            let lags = (1..length).map(|lag| 2.0 * (1.0 - lag as f64 / n) * phi.powi(lag as i32));
            (1.0 + lags.sum::<f64>()) / n
        };
        let mut seen: Vec<f64> = (0..2_000).map(|_| summed(&ar1(&mut draws, length, phi)).0).collect();
        seen.sort_by(f64::total_cmp);
        let ratio = seen[1_000] / theory;
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn intervals_of_independent_values_cover_as_they_promise() {
        for length in [20, 60, 400] {
            let share = coverage(0.0, length);
            assert!((0.925..=0.985).contains(&share), "{length}: {share}");
        }
    }

    /// A plain t interval covers 48 percent at 0.8, and 20 at 0.95.
    #[test]
    fn intervals_of_autocorrelated_values_cover_as_they_promise() {
        for (phi, length) in [(0.5, 40), (0.7, 40), (0.8, 40), (0.8, 400), (0.9, 100), (0.95, 500)] {
            let share = coverage(phi, length);
            assert!((0.925..=0.985).contains(&share), "{phi} over {length}: {share}");
        }
    }

    #[test]
    fn a_series_too_short_for_its_correlation_says_so_and_one_of_noise_does_not() {
        let mut draws = Draws::new(8);
        let short = |phi: f64, draws: &mut Draws| {
            (0..100).filter(|_| mean_error(&ar1(draws, 40, phi)).is_some_and(|error| error.worth < WORTH_MIN)).count()
        };
        let (noise, long_memory) = (short(0.0, &mut draws), short(0.95, &mut draws));
        assert!(noise <= 2 && long_memory >= 90, "{noise} {long_memory}");
    }

    #[test]
    fn three_values_have_no_error_and_equal_ones_none_at_all() {
        assert_eq!(mean_error(&[1.0, 2.0, 3.0]), None);
        assert_eq!(mean_error(&[5.0; 20]).map(|error| error.error), Some(0.0));
    }
}
