//! Student's t distribution: the intervals of means of few samples.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The value that a t of `freedom` degrees stays below with probability `p`; infinite when there is no freedom.
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        // One half loses all digits in the inverse of the incomplete beta function, and is zero by symmetry.
        Ok(_) if p == 0.5 => 0.0,
        Ok(t) => polish(&t, t.inverse_cdf(p), p),
        Err(_) => f64::INFINITY,
    }
}

/// One step of Newton's method, because the inverse that we build on stops at about eight digits.
fn polish(t: &StudentsT, at: f64, p: f64) -> f64 {
    use statrs::distribution::Continuous;
    let slope = t.pdf(at);
    let next = at - (t.cdf(at) - p) / slope;
    if slope > 0.0 && next.is_finite() { next } else { at }
}

/// Probability that a t of `freedom` degrees lies at or below `value`.
pub fn t_cdf(value: f64, freedom: f64) -> f64 {
    if value.is_infinite() {
        return if value > 0.0 { 1.0 } else { 0.0 };
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.cdf(value))
}

/// Probability of a t at least as far from zero as `value`, on either side.
pub fn t_two_sided(value: f64, freedom: f64) -> f64 {
    (2.0 * t_cdf(-value.abs(), freedom)).min(1.0)
}

/// The value that a standard normal stays below with probability `p`.
pub fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// Probability that a standard normal lies at or below `value`.
pub fn normal_cdf(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

/// Density of a standard normal.
pub fn normal_density(value: f64) -> f64 {
    (-value * value / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Half the width of an interval around a mean: the two-sided t times the standard error.
pub fn half_width(standard_error: f64, freedom: f64, confidence: f64) -> f64 {
    if freedom < 1.0 { f64::NAN } else { t_quantile(0.5 + confidence / 2.0, freedom) * standard_error }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::Estimate;
    use crate::statistics::moments::{deviation, mean};
    use proptest::prelude::*;

    /// The mean of independent samples with its t interval; a single sample has no interval.
    pub(in crate::statistics) fn mean_interval(samples: &[f64], confidence: f64) -> Estimate {
        let value = mean(samples);
        let n = samples.len();
        if n < 2 {
            return Estimate { confidence, ..Estimate::single(value) };
        }
        let half = half_width(deviation(samples) / (n as f64).sqrt(), (n - 1) as f64, confidence);
        Estimate { value, low: value - half, high: value + half, n: n as u32, confidence }
    }

    /// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, critical values of Student's t.
    #[test]
    fn critical_values_agree_with_the_nist_table() {
        let table = [
            (0.975, 1.0, 12.706),
            (0.975, 3.0, 3.182),
            (0.95, 4.0, 2.132),
            (0.975, 7.0, 2.365),
            (0.99, 10.0, 2.764),
            (0.995, 29.0, 2.756),
            (0.975, 100.0, 1.984),
        ];
        for (p, freedom, value) in table {
            assert!((t_quantile(p, freedom) - value).abs() < 6e-4, "t({p}, {freedom}) = {}", t_quantile(p, freedom));
        }
    }

    /// W. S. Gosset's ten pairs of hours of additional sleep (Student, 1908): mean 1.58, t = 4.062, p = 0.00283.
    #[test]
    fn the_interval_of_the_sleep_data_is_the_published_one() {
        let sleep = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let estimate = mean_interval(&sleep, 0.95);
        assert!((estimate.value - 1.58).abs() < 1e-9);
        assert!((estimate.low - 0.7001142).abs() < 1e-6, "{}", estimate.low);
        assert!((estimate.high - 2.4598858).abs() < 1e-6);
        assert!((t_two_sided(4.0621277, 9.0) - 0.0028329).abs() < 1e-6);
    }

    #[test]
    fn one_sample_has_no_interval() {
        assert!(!mean_interval(&[5.0], 0.95).has_interval());
    }

    proptest! {
        #[test]
        fn the_quantile_inverts_the_distribution(p in 0.001f64..0.999, freedom in 1.0f64..200.0) {
            prop_assert!((t_cdf(t_quantile(p, freedom), freedom) - p).abs() < 1e-7);
        }
    }
}
