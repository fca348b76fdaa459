//! How much a series repeats itself.

use super::moments::{mean, squares_about_mean};

/// The correlation of a series with itself `lag` places on; zero when the series is constant or too short.
pub fn autocorrelation(series: &[f64], lag: usize) -> f64 {
    let below = squares_about_mean(series);
    if lag >= series.len() || below <= 0.0 {
        return 0.0;
    }
    let centre = mean(series);
    let above: f64 = series.iter().zip(&series[lag..]).map(|(a, b)| (a - centre) * (b - centre)).sum();
    above / below
}

/// The largest first autocorrelation that a series of `n` independent values shows in 95 of 100 cases.
pub fn noise_bound(n: usize) -> f64 {
    // Anderson (1942): the one-sided 95 percent point of the first serial correlation of white noise.
    let n = n as f64;
    (-1.0 + 1.645 * (n - 2.0).max(0.0).sqrt()) / (n - 1.0).max(1.0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::statistics::bootstrap::Draws;

    /// A first-order autoregressive series with unit variance.
    pub(crate) fn ar1(draws: &mut Draws, n: usize, phi: f64) -> Vec<f64> {
        let mut state = draws.normal();
        (0..n)
            .map(|_| {
                state = phi * state + (1.0 - phi * phi).sqrt() * draws.normal();
                state
            })
            .collect()
    }

    #[test]
    fn the_first_autocorrelation_of_a_short_series_is_exact() {
        // Mean 3, deviations -2 -1 0 1 2: (2 + 0 + 0 + 2) / 10.
        assert!((autocorrelation(&[1.0, 2.0, 3.0, 4.0, 5.0], 1) - 0.4).abs() < 1e-12);
        assert_eq!(autocorrelation(&[3.0, 3.0, 3.0], 1), 0.0);
    }

    /// By hand: (-1 + 1.645 sqrt(23)) / 24.
    #[test]
    fn the_bound_of_noise_follows_anderson() {
        assert!((noise_bound(25) - 0.287).abs() < 1e-3);
    }
}
