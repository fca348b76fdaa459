//! The noncentral t distribution.
//!
//! Power of the two-sided t test by it: Lenth, "Algorithm AS 243: cumulative distribution
//! function of the non-central t distribution", Applied Statistics 38 (1989); sample sizes as in Cohen, "Statistical
//! Power Analysis for the Behavioral Sciences" (1988), chapter 2.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

/// Beyond this noncentrality the first terms of the series are too small for a double, and the normal approximation is
/// exact to all digits that matter.
const SERIES_DELTA_MAX: f64 = 37.0;

/// The `p` quantile of Student's t; infinite without a degree of freedom.
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

fn normal_cdf(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

/// Probability that a noncentral t of `freedom` degrees and noncentrality `delta` lies at or below `value`.
fn noncentral_t_cdf(value: f64, freedom: f64, delta: f64) -> f64 {
    if delta.abs() > SERIES_DELTA_MAX {
        // Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.10.
        let spread = (1.0 + value * value / (2.0 * freedom)).sqrt();
        return normal_cdf((value * (1.0 - 0.25 / freedom) - delta) / spread);
    }
    if value < 0.0 { 1.0 - series(-value, freedom, -delta) } else { series(value, freedom, delta) }
}

/// The series of AS 243 for a value that is not negative: incomplete beta functions weighted like a Poisson
/// distribution, each got from the one before.
fn series(value: f64, freedom: f64, delta: f64) -> f64 {
    let x = value * value / (value * value + freedom);
    if x <= 0.0 {
        return normal_cdf(-delta);
    }
    let lambda = delta * delta;
    let (mut a, b) = (0.5, freedom / 2.0);
    let rest = (1.0 - x).powf(b);
    let ln_beta = std::f64::consts::PI.sqrt().ln() + ln_gamma(b) - ln_gamma(a + b);
    let (mut odd, mut even) = (beta_reg(a, b, x), 1.0 - rest);
    let (mut odd_step, mut even_step) = (2.0 * rest * (a * x.ln() - ln_beta).exp(), b * x * rest);
    let mut p = 0.5 * (-0.5 * lambda).exp();
    let mut q = (2.0 / std::f64::consts::PI).sqrt() * p * delta;
    let mut left = 0.5 - p;
    let mut total = p * odd + q * even;
    for n in 1..5_000 {
        let n = f64::from(n);
        a += 1.0;
        odd -= odd_step;
        even -= even_step;
        odd_step *= x * (a + b - 1.0) / a;
        even_step *= x * (a + b - 0.5) / (a + 0.5);
        p *= lambda / (2.0 * n);
        q *= lambda / (2.0 * n + 1.0);
        left -= p;
        total += p * odd + q * even;
        if (2.0 * left * (odd - odd_step)).abs() < 1e-13 {
            break;
        }
    }
    (total + normal_cdf(-delta)).clamp(0.0, 1.0)
}

/// Probability that a noncentral t lies farther from zero than `critical`.
pub fn beyond(critical: f64, freedom: f64, delta: f64) -> f64 {
    // So far off that the other side is out of reach.
    let other = if delta > 8.0 { 0.0 } else { noncentral_t_cdf(-critical, freedom, delta) };
    1.0 - noncentral_t_cdf(critical, freedom, delta) + other
}

/// Chance that a two-sided t test of confidence `confidence` with `freedom` degrees finds an effect of `noncentrality`
/// standard errors.
fn power(noncentrality: f64, freedom: f64, confidence: f64) -> f64 {
    if freedom < 1.0 {
        return 0.0;
    }
    beyond(t_quantile(0.5 + confidence / 2.0, freedom), freedom, noncentrality.abs())
}

/// The noncentrality at which the test has the power asked for, by Newton's method from the normal approximation.
pub fn noncentrality_for(wanted: f64, freedom: f64, confidence: f64) -> f64 {
    let critical = t_quantile(0.5 + confidence / 2.0, freedom);
    let mut delta = (critical + Normal::standard().inverse_cdf(wanted)).max(0.1);
    for _ in 0..20 {
        let step = 1e-4 * delta;
        let here = power(delta, freedom, confidence);
        let slope = (power(delta + step, freedom, confidence) - here) / step;
        // Power rises with the noncentrality; where it is flat the step is bounded, so that nothing runs away.
        let next = delta + ((wanted - here) / slope.max(1e-6)).clamp(-0.5 * delta, delta);
        if (next - delta).abs() < 1e-9 * delta {
            return next;
        }
        delta = next;
    }
    delta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        assert!((t_quantile(0.975, 3.0) - 3.182).abs() < 1e-3);
        assert!((t_quantile(0.975, 10.0) - 2.228).abs() < 1e-3);
        assert!((t_quantile(0.80, 3.0) - 0.978).abs() < 1e-3);
    }

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
