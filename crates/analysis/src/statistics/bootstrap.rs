//! Resampling with a fixed seed: intervals of things that have no formula, such as a knee.
//!
//! Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), percentile intervals. The seed is a constant, because
//! the same observations must give the same report every time.

use super::moments::quantile;

/// How many resamples an interval is made from: the ends of a 95 percent interval then rest on 25 each.
pub const RESAMPLES: u32 = 1_000;

/// The seed of every resampling.
pub const SEED: u64 = 0x5072_6f6e_7931_3935;

/// A small stream of random numbers.
#[derive(Clone, Debug)]
pub struct Draws(random::Draws);

impl Draws {
    /// A stream that follows from its seed alone.
    pub fn new(seed: u64) -> Draws {
        Draws(random::Draws::from_state(seed))
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0.fraction()
    }

    /// A whole number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((self.uniform() * bound as f64) as usize).min(bound.saturating_sub(1))
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// As many values as there are, drawn with repeats.
    pub fn resample(&mut self, values: &[f64]) -> Vec<f64> {
        (0..values.len()).map(|_| values[self.below(values.len())]).collect()
    }
}

/// The ends between which the share `confidence` of the resampled values lies.
pub fn percentile_interval(values: &[f64], confidence: f64) -> (f64, f64) {
    (quantile(values, (1.0 - confidence) / 2.0), quantile(values, (1.0 + confidence) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::moments::{mean, variance};

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut draws = Draws::new(3);
        let values: Vec<f64> = (0..20_000).map(|_| draws.normal()).collect();
        assert!(mean(&values).abs() < 0.03 && (variance(&values) - 1.0).abs() < 0.04);
    }

    #[test]
    fn the_bootstrap_interval_of_a_mean_is_close_to_the_t_interval() {
        let mut draws = Draws::new(4);
        let sample: Vec<f64> = (0..200).map(|_| draws.normal()).collect();
        let means: Vec<f64> = (0..RESAMPLES).map(|_| mean(&draws.resample(&sample))).collect();
        let (low, high) = percentile_interval(&means, 0.95);
        let exact = crate::statistics::student::tests::mean_interval(&sample, 0.95);
        assert!((low - exact.low).abs() < 0.03 && (high - exact.high).abs() < 0.03);
    }

    #[test]
    fn draws_stay_what_they_are() {
        let mut draws = Draws::new(SEED);
        assert_eq!([draws.below(1_000_000), draws.below(7)], [532_867, 6]);
        assert_eq!(draws.uniform().to_bits(), 4_603_937_526_315_771_956);
        assert_eq!(draws.resample(&[1.0, 2.0, 3.0, 4.0, 5.0]), [3.0, 2.0, 1.0, 3.0, 3.0]);
        // Its logarithm and cosine are those of the C library, whose last digit may differ.
        assert_eq!((draws.normal() * 1e12).round(), -543_939_944_806.0);
    }
}
