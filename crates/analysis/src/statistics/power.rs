//! How many pairs a difference needs, and which difference so many pairs can find.
//!
//! Power of the two-sided t test by the noncentral t distribution: Lenth, "Algorithm AS 243: cumulative distribution
//! function of the non-central t distribution", Applied Statistics 38 (1989); sample sizes as in Cohen, "Statistical
//! Power Analysis for the Behavioral Sciences" (1988), chapter 2.

use super::student::{normal_cdf, t_quantile};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

/// Probability that a noncentral t of `freedom` degrees and noncentrality `delta` lies at or below `value`.
pub fn noncentral_t_cdf(value: f64, freedom: f64, delta: f64) -> f64 {
    if value < 0.0 {
        return 1.0 - noncentral_t_cdf_upper(-value, freedom, -delta);
    }
    noncentral_t_cdf_upper(value, freedom, delta)
}

/// The same for a value that is not negative: the series of AS 243 in its plain, accumulated form.
fn noncentral_t_cdf_upper(value: f64, freedom: f64, delta: f64) -> f64 {
    let x = value * value / (value * value + freedom);
    let half = delta * delta / 2.0;
    let mut total = normal_cdf(-delta);
    if x <= 0.0 {
        return total;
    }
    // Poisson-like weights, kept as logarithms so that a large noncentrality does not underflow the first term.
    for j in 0..2_000 {
        let j = f64::from(j);
        let ln_p = j * half.ln() - half - ln_gamma(j + 1.0);
        let ln_q = j * half.ln() - half - ln_gamma(j + 1.5);
        let p = if half == 0.0 { f64::from(j == 0.0) } else { ln_p.exp() };
        let q = if half == 0.0 { 0.0 } else { delta / std::f64::consts::SQRT_2 * ln_q.exp() };
        total += 0.5 * (p * beta_reg(j + 0.5, freedom / 2.0, x) + q * beta_reg(j + 1.0, freedom / 2.0, x));
        if j > half && p < 1e-14 {
            break;
        }
    }
    total.clamp(0.0, 1.0)
}

/// Chance that a two-sided t test of confidence `confidence` with `freedom` degrees finds an effect of `noncentrality`
/// standard errors.
pub fn power(noncentrality: f64, freedom: f64, confidence: f64) -> f64 {
    if freedom < 1.0 {
        return 0.0;
    }
    let critical = t_quantile(0.5 + confidence / 2.0, freedom);
    let delta = noncentrality.abs();
    1.0 - noncentral_t_cdf(critical, freedom, delta) + noncentral_t_cdf(-critical, freedom, delta)
}

/// The noncentrality at which the test has the power asked for, by halving.
pub fn noncentrality_for(wanted: f64, freedom: f64, confidence: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while power(high, freedom, confidence) < wanted && high < 1e4 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if power(middle, freedom, confidence) < wanted { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sample sizes of the paired t test, two-sided 5 percent, 80 percent power, from Cohen (1988) and G*Power 3.1
    /// (Faul and others, 2007): 199 pairs for an effect of 0.2, 34 for 0.5, 15 for 0.8.
    #[test]
    fn sample_sizes_agree_with_the_published_tables() {
        for (effect, pairs) in [(0.2, 199), (0.5, 34), (0.8, 15), (1.0, 10)] {
            let needed = (2..500).find(|n| {
                let n = f64::from(*n);
                power(effect * n.sqrt(), n - 1.0, 0.95) >= 0.8
            });
            assert_eq!(needed, Some(pairs), "effect {effect}");
        }
    }

    /// G*Power 3.1: n = 34, d = 0.5 has a power of 0.8077775.
    #[test]
    fn the_power_of_a_known_test_is_the_published_one() {
        assert!((power(0.5 * 34f64.sqrt(), 33.0, 0.95) - 0.8077775).abs() < 1e-5);
    }

    #[test]
    fn without_an_effect_the_power_is_the_false_alarm_rate() {
        assert!((power(0.0, 9.0, 0.95) - 0.05).abs() < 1e-9);
    }

    #[test]
    fn the_noncentrality_found_has_the_power_asked_for() {
        for freedom in [3.0, 7.0, 30.0] {
            assert!((power(noncentrality_for(0.8, freedom, 0.95), freedom, 0.95) - 0.8).abs() < 1e-9);
        }
    }
}
