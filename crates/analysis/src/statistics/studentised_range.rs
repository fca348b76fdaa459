//! The studentised range: how far apart the greatest and the least of several means lie by chance.
//!
//! The one idea: the range of k normal values over an independent estimate of their standard error has its own distribution
//! (Newman, "The distribution of range in samples from a normal population", Biometrika 31, 1939; Tukey's q). It is the
//! integral over the greatest value of the chance that all others lie less than the range below it, and over the
//! distribution of the estimated error.

use super::student::{normal_cdf, normal_density};
use statrs::distribution::{ChiSquared, Continuous};

/// From so many degrees of freedom on the error counts as known.
const FREEDOM_KNOWN: f64 = 500.0;

/// No range of so many errors is looked for.
const MOST: f64 = 1e4;

/// The range of `k` means, in standard errors that are known with `freedom` degrees, that chance stays below with
/// probability `p`; infinite without freedom.
pub fn range_quantile(p: f64, k: usize, freedom: f64) -> f64 {
    let Some(errors) = errors(freedom) else { return f64::INFINITY };
    let below = |q: f64| errors.iter().map(|(error, weight)| weight * below(q * error, k)).sum::<f64>();
    let (mut low, mut high) = (0.0, 4.0);
    while below(high) < p && high < MOST {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 2e-4 * high {
        let middle = f64::midpoint(low, high);
        if below(middle) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Values of the estimated error over the true one, each with its weight.
fn errors(freedom: f64) -> Option<Vec<(f64, f64)>> {
    if freedom >= FREEDOM_KNOWN {
        return Some(vec![(1.0, 1.0)]);
    }
    let squares = ChiSquared::new(freedom).ok()?;
    let reach = 6.0 / (2.0 * freedom).sqrt();
    let density = |error: f64| 2.0 * freedom * error * squares.ln_pdf(freedom * error * error).exp();
    Some(steps((1.0 - reach).max(1e-6), 1.0 + reach).map(|(at, weight)| (at, weight * density(at))).collect())
}

/// The chance that the range of `k` standard normal values is less than `width`.
fn below(width: f64, k: usize) -> f64 {
    let others = k.saturating_sub(1).min(i32::MAX as usize) as i32;
    let chance = |greatest: f64| {
        normal_density(greatest) * (normal_cdf(greatest) - normal_cdf(greatest - width)).max(0.0).powi(others)
    };
    k as f64 * steps(-6.0, 8.0).map(|(at, weight)| weight * chance(at)).sum::<f64>()
}

/// Places and weights of Simpson's rule.
fn steps(from: f64, to: f64) -> impl Iterator<Item = (f64, f64)> {
    const STEPS: u32 = 48;
    let width = (to - from) / f64::from(STEPS);
    (0..=STEPS).map(move |at| {
        let weight = match at {
            0 | STEPS => 1.0,
            _ if at % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (from + width * f64::from(at), weight * width / 3.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::student::t_quantile;

    /// Harter, "Tables of range and studentized range", Annals of Mathematical Statistics 31, 1960.
    #[test]
    fn quantiles_are_those_of_the_published_tables() {
        let table = [
            (5, f64::INFINITY, 3.858),
            (5, 10.0, 4.654),
            (5, 3.0, 7.502),
            (3, 20.0, 3.578),
            (5, 120.0, 3.917),
            (10, f64::INFINITY, 4.474),
        ];
        for (k, freedom, published) in table {
            let found = range_quantile(0.95, k, freedom);
            assert!((found - published).abs() < 2e-3, "{found} for {k} means and {freedom} degrees, not {published}");
        }
    }

    /// The range of two is their difference, whose t has the root of two of their error.
    #[test]
    fn two_means_are_a_t_test() {
        for freedom in [4.0, 12.0, 60.0] {
            let by_t = std::f64::consts::SQRT_2 * t_quantile(0.975, freedom);
            let found = range_quantile(0.95, 2, freedom);
            assert!((found - by_t).abs() < 2e-3, "{found} against {by_t}");
        }
        assert_eq!(range_quantile(0.95, 5, 0.0), f64::INFINITY);
        let nearly = range_quantile(0.95, 5, 499.0);
        assert!((3.858..3.88).contains(&nearly), "{nearly} for an error that is nearly known");
    }
}
