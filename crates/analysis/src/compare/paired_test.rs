//! The test on pairs: the logarithm of the ratio, freed of order, with a standard error that neither drift nor
//! resemblance between neighbouring trials can make too small.
//!
//! The one idea: the plan's order is known, so its weaknesses are too.
//!
//! - **Order and linear drift.** Pairs with the baseline first and pairs with it last are averaged separately, and the two
//!   averages are averaged: what favours whoever comes first, or last, cancels (the AB/BA crossover; Jones and Kenward,
//!   "Design and Analysis of Cross-Over Trials", chapter 2). That takes one degree of freedom more than a plain paired t.
//! - **Resemblance of neighbouring trials.** For trials whose noise is AR(1), how much the standard error understates
//!   follows from the order of the trials alone. The worst case over all positive correlations is computed for the order
//!   that was run and taken into the standard error, always: estimating a correlation from eight pairs and correcting only
//!   when it looks large lets too many false claims through.
//! - **Resemblance of neighbouring ratios** beyond that is corrected when it is beyond noise.

use super::Pair;
use crate::statistics::autocorrelation::{autocorrelation, noise_bound};
use crate::statistics::least_squares::{Weighted, weighted_line};
use crate::statistics::moments::mean;
use crate::statistics::student::{half_width, t_two_sided};
use study::pairs::{Design, Scatter, Shape, detectable, power};

/// What the pairs say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedTest {
    /// How many pairs.
    pub pairs: u32,
    /// Logarithm of the ratio.
    pub effect: f64,
    /// Its standard error.
    pub error: f64,
    /// The least doubt that the windows leave of it, which is not made smaller by more pairs: all of them may have been cut off
    /// alike.
    pub floor: f64,
    /// Degrees of freedom of the standard error, and what decides how sensitive the test is.
    pub shape: Shape,
    /// Standard deviation of the log-ratios about the means of their orders.
    pub deviation: f64,
    /// Two-sided p value of no difference.
    pub p_value: f64,
    /// Whether both orders occur.
    pub both_orders: bool,
    /// Drift left in the effect because one system came later on average, as a logarithm.
    pub drift_bias: f64,
    /// What the trial before leaves behind, as a logarithm, when it is beyond chance (1 percent).
    pub carry_over: Option<f64>,
    /// How much the ratio itself rose over the run, as a logarithm, when it is beyond chance (1 percent).
    pub trend: Option<f64>,
}

/// A finding about the method needs less chance of being wrong than a finding about the system: it takes a verdict away.
const METHOD_ALPHA: f64 = 0.01;

impl PairedTest {
    /// The interval of the ratio at a confidence, as `(low, high)`.
    pub fn ratio_interval(&self, confidence: f64) -> (f64, f64) {
        let half = half_width(self.error, self.shape.freedom, confidence) + self.floor;
        ((self.effect - half).exp(), (self.effect + half).exp())
    }

    /// The same of trials that know nothing of one another, as those of a model do: their order costs nothing.
    pub fn of_independent(self) -> PairedTest {
        let shape = self.shape.independent();
        PairedTest { error: shape.error(self.deviation), shape, ..self }
    }

    /// How much the log-ratios were seen to scatter.
    pub fn scatter(&self) -> Scatter {
        Scatter { deviation: self.deviation, freedom: self.shape.freedom, floor: self.floor }
    }

    /// The smallest difference, as a share, that as many pairs find in 80 of 100 runs.
    pub fn detectable(&self, confidence: f64) -> Option<f64> {
        detectable(&self.shape, &self.scatter(), confidence)
    }

    /// In which share of runs as many pairs find a difference of `margin`.
    pub fn power(&self, margin: f64, confidence: f64) -> f64 {
        power(margin.ln_1p(), &self.shape, &self.scatter(), confidence)
    }
}

/// Tests pairs in the order in which they were run, of which the windows leave `floor` open; nothing below two pairs.
pub fn paired_test(pairs: &[Pair], floor: f64) -> Option<PairedTest> {
    if pairs.len() < 2 {
        return None;
    }
    let design = Design::new(pairs.iter().map(|pair| (pair.baseline_at, pair.system_at)).collect());
    let ratios: Vec<f64> = pairs.iter().map(Pair::log_ratio).collect();
    let effect: f64 = ratios.iter().zip(&design.weights).map(|(r, w)| r * w).sum();
    let residuals = residuals(&design, &ratios);
    let plain = design.shape();
    let shape = Shape { allowance: plain.allowance * resemblance(&residuals), ..plain };
    let freedom = shape.freedom;
    let variance = residuals.iter().map(|r| r * r).sum::<f64>() / freedom;
    let error = shape.error(variance.sqrt());
    let drift = drift_per_place(pairs);
    Some(PairedTest {
        pairs: pairs.len() as u32,
        effect,
        error,
        floor,
        shape,
        deviation: variance.sqrt(),
        p_value: beyond_floor(effect, floor).map_or(1.0, |effect| p_value(effect, error, freedom)),
        both_orders: design.orders() > 1.0,
        drift_bias: drift.map_or(0.0, |(slope, _)| slope * later_by(&design, pairs)),
        carry_over: carry_over(&design, &ratios, pairs, variance * shape.weight, drift),
        trend: trend(&residuals, freedom),
    })
}

/// What of an effect is beyond what the windows leave open; none when that may be all of it.
fn beyond_floor(effect: f64, floor: f64) -> Option<f64> {
    let beyond = (effect.abs() - floor).max(0.0);
    (floor <= 0.0 || beyond > 0.0).then_some(beyond)
}

/// Values that are all the same have no error: they differ surely, or not at all.
fn p_value(effect: f64, error: f64, freedom: f64) -> f64 {
    if error > 0.0 {
        t_two_sided(effect / error, freedom)
    } else if freedom >= 1.0 {
        f64::from(effect == 0.0)
    } else {
        f64::NAN
    }
}

/// The log-ratios about the mean of their own order.
fn residuals(design: &Design, ratios: &[f64]) -> Vec<f64> {
    let of = |order: bool| -> f64 {
        let own: Vec<f64> = ratios.iter().zip(&design.first).filter(|(_, f)| **f == order).map(|(r, _)| *r).collect();
        mean(&own)
    };
    let (ahead, behind) = (of(true), of(false));
    ratios.iter().zip(&design.first).map(|(r, first)| r - if *first { ahead } else { behind }).collect()
}

/// How much later the system was measured than the baseline, in places, as it enters the effect.
fn later_by(design: &Design, pairs: &[Pair]) -> f64 {
    pairs.iter().zip(&design.weights).map(|(pair, w)| w * (pair.system_at - pair.baseline_at)).sum()
}

/// The factor of an AR(1) series on the variance of its mean, when the residuals resemble their neighbours beyond noise.
fn resemblance(residuals: &[f64]) -> f64 {
    let seen = autocorrelation(residuals, 1);
    if residuals.len() < 6 || seen <= noise_bound(residuals.len()) {
        return 1.0;
    }
    let n = residuals.len() as f64;
    let seen = (seen + (1.0 + 4.0 * seen) / n).min(0.9);
    (1.0 + seen) / (1.0 - seen)
}

/// Drift of both systems together, for each place in the order, with its standard error: the line through the means of
/// the pairs.
fn drift_per_place(pairs: &[Pair]) -> Option<(f64, f64)> {
    let middle = |pair: &Pair| Weighted {
        x: (pair.baseline_at + pair.system_at) / 2.0,
        y: (pair.baseline + pair.system) / 2.0,
        weight: 1.0,
    };
    let line = weighted_line(&pairs.iter().map(middle).collect::<Vec<_>>())?;
    line.slope_error.is_finite().then_some((line.slope, line.slope_error))
}

/// What the trial before leaves behind: the difference between the two orders beyond what drift explains.
fn carry_over(design: &Design, ratios: &[f64], pairs: &[Pair], plain: f64, drift: Option<(f64, f64)>) -> Option<f64> {
    let freedom = pairs.len() as f64 - design.orders();
    if design.orders() < 2.0 || freedom < 2.0 {
        return None;
    }
    let (slope, slope_error) = drift?;
    let contrast = |value: &dyn Fn(usize) -> f64| -> f64 {
        let signed = |i: usize| if design.first[i] { design.weights[i] } else { -design.weights[i] };
        (0..ratios.len()).map(|i| signed(i) * value(i)).sum()
    };
    let gap = contrast(&|i| pairs[i].system_at - pairs[i].baseline_at);
    let left = contrast(&|i| ratios[i]) - slope * gap;
    let error = (plain + (slope_error * gap).powi(2)).sqrt();
    (p_value(left, error, freedom) < METHOD_ALPHA).then_some(left)
}

/// How much the ratio rose from the first pair to the last, when a line through the residuals is beyond chance.
fn trend(residuals: &[f64], freedom: f64) -> Option<f64> {
    let line = crate::statistics::least_squares::line_over_index(residuals)?;
    let freedom = freedom - 1.0;
    let error = line.slope_error * (line.freedom / freedom).sqrt();
    let significant = freedom >= 3.0 && p_value(line.slope, error, freedom) < METHOD_ALPHA;
    significant.then(|| line.slope * (residuals.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs in the order AB BA AB BA ... with the given log-ratios, over a drift for each place.
    fn counterbalanced(ratios: &[f64], drift: f64) -> Vec<Pair> {
        let pair = |(k, ratio): (usize, &f64)| {
            let (first, second) = (2.0 * k as f64, 2.0 * k as f64 + 1.0);
            let (a, b) = if k % 2 == 0 { (first, second) } else { (second, first) };
            Pair { baseline: drift * a, system: drift * b + ratio, baseline_at: a, system_at: b }
        };
        ratios.iter().enumerate().map(pair).collect()
    }

    #[test]
    fn linear_drift_cancels_exactly() {
        let ratios = [0.05, 0.06, 0.04, 0.05, 0.06, 0.04];
        let still = paired_test(&counterbalanced(&ratios, 0.0), 0.0).unwrap();
        let drifting = paired_test(&counterbalanced(&ratios, 0.1), 0.0).unwrap();
        assert!((still.effect - 0.05).abs() < 1e-12);
        assert!((still.effect - drifting.effect).abs() < 1e-12 && (still.error - drifting.error).abs() < 1e-12);
        assert!(drifting.drift_bias.abs() < 1e-12);
        assert_eq!(drifting.carry_over, None);
    }

    /// By hand: orders {1, 3} and {2, 6}, means 2 and 4, effect 3, residual sum of squares 2 + 8 over 2 degrees.
    #[test]
    fn effect_and_error_are_those_of_the_crossover() {
        let test = paired_test(&counterbalanced(&[0.01, 0.02, 0.03, 0.06], 0.0), 0.0).unwrap();
        assert!((test.effect - 0.03).abs() < 1e-12);
        assert_eq!(test.shape.freedom, 2.0);
        assert!((test.deviation - 5e-4f64.sqrt()).abs() < 1e-9, "{}", test.deviation);
        // Not smaller than the plain error, and by no more than the worst AR(1) between neighbours adds.
        let plain = test.deviation / 2.0;
        assert!(test.error >= plain && test.error < 1.4 * plain, "{}", test.error / plain);
    }

    #[test]
    fn a_mark_left_by_the_trial_before_is_seen() {
        // Whoever comes second is slower by 10 percent; noise is a tenth of that.
        let noise = [0.010, -0.008, 0.004, 0.002, -0.011, 0.006, -0.003, 0.009];
        let second_slower = |k: usize| if k.is_multiple_of(2) { -0.1 } else { 0.1 };
        let ratios: Vec<f64> = noise.iter().enumerate().map(|(k, e)| e + second_slower(k)).collect();
        let test = paired_test(&counterbalanced(&ratios, 0.0), 0.0).unwrap();
        assert!((test.carry_over.unwrap() + 0.1).abs() < 0.01);
        assert!(test.effect.abs() < 0.01);
    }

    #[test]
    fn one_order_only_leaves_the_drift_in_the_effect_and_says_so() {
        let pair = |k: f64| Pair {
            baseline: 0.02 * k,
            system: 0.02 * k + 0.01,
            baseline_at: 2.0 * k,
            system_at: 2.0 * k + 1.0,
        };
        let test = paired_test(&[0.0, 1.0, 2.0, 3.0].map(pair), 0.0).unwrap();
        assert!(!test.both_orders);
        assert!((test.drift_bias - 0.01).abs() < 1e-9, "{}", test.drift_bias);
    }

    #[test]
    fn a_ratio_that_drifts_is_seen() {
        let ratios: Vec<f64> = (0..10).map(|k| 0.01 * f64::from(k) + 0.001 * f64::from(k % 3)).collect();
        let trend = paired_test(&counterbalanced(&ratios, 0.0), 0.0).unwrap().trend.unwrap();
        assert!((trend - 0.09).abs() < 0.02, "{trend}");
    }
}
