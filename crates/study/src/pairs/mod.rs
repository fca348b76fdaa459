//! How many pairs it takes to find a difference, and which difference a number of pairs can find.
//!
//! The one idea: the plan promises what the comparison keeps, so both ask the same functions. Ratios are compared on the
//! log scale by a test on pairs in both orders; [`Design`] says what that test loses to the order, and [`power`] how often
//! it finds a difference when the log ratios scatter by so much. Where the scatter was estimated from few pairs, the power
//! is the mean over the deviations that it may have come from: a promise made from an estimate has to hold on average
//! over estimates.
//!
//! What it does not do: it compares nothing; analysis does.

mod design;
mod noncentral;

pub use design::{Design, Shape};
pub use noncentral::noncentrality_for;

use noncentral::{beyond, t_quantile};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Share of the true differences of the wanted size that must be found.
pub const POWER: f64 = 0.80;
/// Pairs of a pilot; fewer give no verdict.
pub const PILOT: u32 = 4;
/// More pairs than this are not asked for; the noise has to be lowered first.
pub const PAIRS_MAX: u32 = 1_000;
/// Spread from trial to trial that is assumed where nothing was measured yet, as a share. Repeats of one storage trial on
/// a quiet machine differ by 1 to 5 percent; a larger value asks for more pairs.
pub const SPREAD_ASSUMED: f64 = 0.03;

/// Share of runs in which the comparison withholds a verdict that the test alone would give: a mark of the trial before
/// and a trend of the ratio are seen by chance in one of a hundred runs each, and a resemblance of neighbouring ratios, which
/// takes six pairs to be looked for, in five, most of which it costs the verdict.
fn withheld(pairs: u32) -> f64 {
    if pairs < 6 { 0.01 } else { 0.05 }
}

/// How many deviations stand for all that an estimate may have come from.
const NODES: u32 = 8;

/// How much the log ratio of a pair scatters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Standard deviation of the log ratio of a pair.
    pub deviation: f64,
    /// Degrees of freedom behind it; infinite when it is known or assumed.
    pub freedom: f64,
    /// What one operation a window, or one bucket of a histogram, is of the log ratio. The test keeps it off every difference,
    /// because all pairs may have been cut off alike.
    pub floor: f64,
}

impl Scatter {
    /// A deviation that is known.
    pub fn known(deviation: f64) -> Scatter {
        Scatter { deviation, freedom: f64::INFINITY, floor: 0.0 }
    }

    /// What follows when single trials spread by `share`, independently.
    pub fn of_trials(share: f64) -> Scatter {
        Scatter::known(share * std::f64::consts::SQRT_2)
    }

    /// The scatter of a sample; none for fewer than two values.
    pub fn of(values: &[f64]) -> Option<Scatter> {
        if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let freedom = (values.len() - 1) as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Scatter { deviation: (squares / freedom).sqrt(), freedom, floor: 0.0 })
    }

    /// The same with this floor.
    pub fn floor(self, floor: f64) -> Scatter {
        Scatter { floor, ..self }
    }

    /// Deviations that stand for all from which this estimate may have come, each as likely as the others.
    fn candidates(&self) -> Vec<f64> {
        match ChiSquared::new(self.freedom) {
            Ok(chi) if self.freedom.is_finite() => (0..NODES)
                .map(|node| (f64::from(node) + 0.5) / f64::from(NODES))
                .map(|share| self.deviation * (self.freedom / chi.inverse_cdf(share)).sqrt())
                .collect(),
            _ => vec![self.deviation],
        }
    }
}

/// Chance that a comparison of this shape finds a true difference, given as a logarithm.
pub fn power(effect: f64, shape: &Shape, scatter: &Scatter, confidence: f64) -> f64 {
    chance(beyond_floor(effect, scatter), shape, &scatter.candidates(), confidence)
}

/// What is left of an effect when the floor is kept off it.
fn beyond_floor(effect: f64, scatter: &Scatter) -> f64 {
    (effect.abs() - scatter.floor).max(0.0)
}

fn chance(effect: f64, shape: &Shape, deviations: &[f64], confidence: f64) -> f64 {
    if shape.freedom < 1.0 {
        return 0.0;
    }
    let critical = t_quantile(0.5 + confidence / 2.0, shape.freedom) * shape.allowance.sqrt();
    let one = |deviation: &f64| match deviation * shape.weight.sqrt() {
        error if error > 0.0 => beyond(critical, shape.freedom, effect.abs() / error),
        _ => f64::from(effect != 0.0),
    };
    (1.0 - withheld(shape.pairs)) * deviations.iter().map(one).sum::<f64>() / deviations.len() as f64
}

/// The smallest difference, as a share, that a comparison of this shape finds with [`POWER`]; none below [`PILOT`] pairs,
/// which give no verdict.
pub fn detectable(shape: &Shape, scatter: &Scatter, confidence: f64) -> Option<f64> {
    if shape.pairs < PILOT || shape.freedom < 1.0 || !scatter.deviation.is_finite() {
        return None;
    }
    let deviations = scatter.candidates();
    let missing = |effect: f64| POWER - chance(effect, shape, &deviations, confidence);
    let unit = scatter.deviation * shape.weight.sqrt();
    if unit <= 0.0 {
        return Some(scatter.floor.exp_m1());
    }
    let (mut few, mut many) = (0.0, 4.0 * unit);
    while missing(many) > 0.0 {
        (few, many) = (many, 2.0 * many);
    }
    // False position: the power is close to a straight line where it passes what is wanted; the end that stays is given
    // half its weight (the Illinois rule), so that it moves too.
    let (mut under, mut over) = (missing(few), missing(many));
    while many - few > 1e-4 * many && over.abs() > 1e-6 {
        let middle = (few * over - many * under) / (over - under);
        match missing(middle) {
            left if left > 0.0 => (few, under, over) = (middle, left, over / 2.0),
            left => (many, over, under) = (middle, left, under / 2.0),
        }
    }
    Some((many + scatter.floor).exp_m1())
}

/// How many pairs find a difference of `margin` (a share) with [`POWER`]: even, so that each system goes first equally
/// often, at least [`PILOT`]; none when more than [`PAIRS_MAX`] would be needed. `block` is how many trials a block has.
pub fn needed(scatter: &Scatter, margin: f64, confidence: f64, block: u32) -> Option<u32> {
    let (effect, deviations) = (beyond_floor(margin.ln_1p(), scatter), scatter.candidates());
    let enough = |pairs: u32| chance(effect, &Shape::alternating(pairs, block), &deviations, confidence) >= POWER;
    if !scatter.deviation.is_finite() || !enough(PAIRS_MAX) {
        return None;
    }
    // Power grows with the pairs, so the bracket of half-numbers can be halved.
    let (mut few, mut many) = (PILOT / 2 - 1, PAIRS_MAX / 2);
    while many - few > 1 {
        let middle = (few + many) / 2;
        if enough(2 * middle) { many = middle } else { few = middle }
    }
    Some(2 * many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_spread_and_a_smaller_margin_need_more_pairs() {
        let of = |deviation, margin| needed(&Scatter { deviation, freedom: 3.0, floor: 0.0 }, margin, 0.95, 2).unwrap();
        assert_eq!(of(0.0, 0.05), PILOT);
        assert!(of(0.06, 0.05) > of(0.03, 0.05));
        assert!(of(0.03, 0.02) > of(0.03, 0.05));
        assert_eq!(of(0.06, 0.05) % 2, 0);
        assert_eq!(needed(&Scatter::known(3.0), 0.01, 0.95, 2), None);
        assert_eq!(needed(&Scatter::known(f64::INFINITY), 0.05, 0.95, 2), None);
    }

    #[test]
    fn a_short_pilot_asks_for_more_pairs_than_a_known_deviation() {
        let known = needed(&Scatter::known(0.04), 0.05, 0.95, 2).unwrap();
        let short = needed(&Scatter { deviation: 0.04, freedom: 4.0, floor: 0.0 }, 0.05, 0.95, 2).unwrap();
        assert!(short > known, "{short} {known}");
    }

    /// Cohen's table has 34 pairs for half a standard deviation. Two orders take a degree of freedom more than the plain
    /// paired test, and the allowance of 1.2 for the order multiplies the critical value alone, which makes 34 x
    /// (1.96 sqrt(1.23) + 0.84)^2 / (1.96 + 0.84)^2 = 39; the lost degree and the verdicts withheld lead to 44.
    #[test]
    fn the_number_of_pairs_follows_the_published_table() {
        assert_eq!(needed(&Scatter::known(0.05f64.ln_1p() / 0.5), 0.05, 0.95, 2), Some(44));
    }

    #[test]
    fn the_detectable_difference_shrinks_with_the_root_of_the_pairs() {
        let of = |pairs| detectable(&Shape::alternating(pairs, 2), &Scatter::known(0.03), 0.95).unwrap();
        assert!(of(4) > of(8) && of(8) > of(32));
        assert!((of(400) / of(100) - 0.5).abs() < 0.02);
        assert_eq!(detectable(&Shape::alternating(3, 2), &Scatter::known(0.03), 0.95), None);
        assert_eq!(detectable(&Shape::alternating(8, 2), &Scatter::known(0.0), 0.95), Some(0.0));
    }

    #[test]
    fn what_is_needed_and_what_is_detectable_agree() {
        for floor in [0.0, 0.01] {
            let scatter = Scatter { deviation: 0.03, freedom: 6.0, floor };
            let pairs = needed(&scatter, 0.05, 0.95, 2).unwrap();
            assert!(detectable(&Shape::alternating(pairs, 2), &scatter, 0.95).unwrap() <= 0.05);
            assert!(detectable(&Shape::alternating(pairs - 2, 2), &scatter, 0.95).unwrap() > 0.05);
        }
    }

    #[test]
    fn no_number_of_pairs_finds_what_is_below_the_floor() {
        let scatter = Scatter::known(0.03).floor(0.05);
        assert_eq!(needed(&scatter, 0.05, 0.95, 2), None);
        assert!(detectable(&Shape::alternating(400, 2), &scatter, 0.95).unwrap() > 0.05);
        assert_eq!(power(0.04, &Shape::alternating(400, 2), &Scatter::known(0.0).floor(0.05), 0.95), 0.0);
    }
}
