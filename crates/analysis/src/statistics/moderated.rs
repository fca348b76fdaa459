//! Variances of many points, each from few values: shrunk towards what the points have in common.
//!
//! The variances are taken for draws from one law, a scaled inverse chi-squared, whose middle and width follow from their
//! logarithms (Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
//! experiments", Statistical Applications in Genetics and Molecular Biology 3, 2004). A point quieter than the middle gets
//! the mean of both, and the freedom of both. A louder one keeps its own variance and its own freedom: with as few points as
//! a run has, the law cannot be told well enough to call a loud point quiet.

use statrs::function::gamma::digamma;

/// A variance and its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variance {
    /// The variance.
    pub value: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
}

/// What the points have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common(Variance);

impl Common {
    /// Learns from the variances of all points; nothing where none has any freedom and scatter.
    pub fn learn(all: &[Variance]) -> Option<Common> {
        let known = || all.iter().filter(|own| own.freedom >= 1.0 && own.value > 0.0);
        let n = known().count() as f64;
        // Logarithms of variances, freed of the bias that a logarithm of few degrees has.
        let centred: Vec<f64> =
            known().map(|own| own.value.ln() - digamma(own.freedom / 2.0) + (own.freedom / 2.0).ln()).collect();
        if centred.is_empty() {
            return None;
        }
        let mean = centred.iter().sum::<f64>() / n;
        let seen = centred.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let expected = known().map(|own| trigamma(own.freedom / 2.0)).sum::<f64>() / n;
        let pooled: f64 = known().map(|own| own.freedom).sum();
        // The law can be no better known than all values together; one point knows nothing of others.
        let freedom = if n < 2.0 { 0.0 } else { (2.0 * trigamma_inverse(seen - expected)).min(pooled) };
        let value = if freedom >= pooled || freedom <= 0.0 {
            mean.exp()
        } else {
            (mean + digamma(freedom / 2.0) - (freedom / 2.0).ln()).exp()
        };
        Some(Common(Variance { value, freedom }))
    }

    /// The variance of one point in the light of all.
    pub fn moderate(&self, own: Variance) -> Variance {
        if own.value >= self.0.value || self.0.freedom <= 0.0 {
            return own;
        }
        let freedom = own.freedom + self.0.freedom;
        Variance { value: (own.value * own.freedom + self.0.value * self.0.freedom) / freedom, freedom }
    }
}

/// The second derivative of the logarithm of the gamma function: its recurrence up to 6, and the asymptotic series there
/// (Abramowitz and Stegun, "Handbook of Mathematical Functions", 6.4.6 and 6.4.12).
fn trigamma(x: f64) -> f64 {
    if x < 6.0 {
        return trigamma(x + 1.0) + 1.0 / (x * x);
    }
    let y = 1.0 / (x * x);
    1.0 / x + y / 2.0 + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y / 42.0))
}

/// Where the trigamma function has a value; infinite for one that is not positive. By halving: it falls steadily.
fn trigamma_inverse(value: f64) -> f64 {
    if value <= 0.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (1e-6f64, 1e6f64);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value { low = middle } else { high = middle }
    }
    (low * high).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::bootstrap::Draws;

    fn of(values: &[f64]) -> Vec<Variance> {
        values.iter().map(|value| Variance { value: *value, freedom: 4.0 }).collect()
    }

    /// Abramowitz and Stegun, table 6.1: the trigamma of 1 is pi squared over 6, that of 2 is one less.
    #[test]
    fn the_trigamma_function_has_its_published_values() {
        let first = std::f64::consts::PI.powi(2) / 6.0;
        assert!((trigamma(1.0) - first).abs() < 1e-6 && (trigamma(2.0) - first + 1.0).abs() < 1e-6);
        assert!((trigamma_inverse(trigamma(3.5)) - 3.5).abs() < 1e-6);
        assert_eq!(trigamma_inverse(-0.1), f64::INFINITY);
    }

    #[test]
    fn a_quiet_point_is_raised_and_a_loud_one_stays() {
        let all = of(&[1.0, 1.3, 0.8, 1.1, 30.0]);
        let common = Common::learn(&all).unwrap();
        let quiet = common.moderate(all[2]);
        assert!(quiet.value > 0.8 && quiet.freedom > 4.0, "{quiet:?}");
        assert_eq!(common.moderate(all[4]), all[4]);
    }

    #[test]
    fn points_that_are_alike_share_all_their_freedom() {
        let all = of(&[1.0, 1.1, 0.9, 1.0]);
        assert_eq!(Common::learn(&all).unwrap().moderate(all[2]).freedom, 20.0);
    }

    /// Variances drawn from the law that is assumed, with 10 degrees of freedom behind it and 6 in each point.
    #[test]
    fn the_freedom_of_the_law_that_variances_were_drawn_from_is_found() {
        let mut draws = Draws::new(9);
        let mut chi = |freedom: usize| (0..freedom).map(|_| draws.normal().powi(2)).sum::<f64>() / freedom as f64;
        let all: Vec<Variance> = (0..3_000).map(|_| Variance { value: chi(6) / chi(10), freedom: 6.0 }).collect();
        let Common(law) = Common::learn(&all).unwrap();
        assert!((8.0..12.5).contains(&law.freedom) && (0.93..1.07).contains(&law.value), "{law:?}");
    }

    #[test]
    fn one_point_stands_for_itself() {
        let all = of(&[2.0]);
        assert_eq!(Common::learn(&all).unwrap().moderate(all[0]), all[0]);
        assert_eq!(Common::learn(&of(&[0.0])), None);
    }
}
