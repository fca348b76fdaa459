//! How many pairs a comparison needs, from a short pilot.

use super::paired_test::few_allowance;
use crate::statistics::power::power;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Fewer pairs than this give no verdict: their intervals say more about luck than about systems.
pub const PAIRS_MIN: u32 = 4;

/// More pairs than this are not planned; the noise has to be lowered first.
pub const PAIRS_MAX: u32 = 1_000;

/// How far the standard deviation of a pilot is raised, as a confidence: a short pilot is as likely to understate the
/// noise as to overstate it, and planning from the plain value misses the promised power more often than not (Browne,
/// "On the use of a pilot sample for sample size determination", Statistics in Medicine 14, 1995).
const PILOT_CONFIDENCE: f64 = 0.8;

/// The worst factor of AR(1) noise between neighbouring trials on the variance of the effect, in the order AB BA AB BA:
/// what the test takes into its standard error.
const ORDER_INFLATION: f64 = 1.25;

/// What a pilot, or earlier runs, say about the noise of a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pilot {
    /// Standard deviation of the log-ratio of a pair.
    pub deviation: f64,
    /// Degrees of freedom behind it; infinite when it is known.
    pub freedom: f64,
}

impl Pilot {
    /// The deviation that is planned with: the upper limit of what the pilot may have come from.
    fn planned(&self) -> f64 {
        match ChiSquared::new(self.freedom) {
            Ok(chi) if self.freedom.is_finite() => {
                self.deviation * (self.freedom / chi.inverse_cdf(1.0 - PILOT_CONFIDENCE)).sqrt()
            }
            _ => self.deviation,
        }
    }
}

/// How many pairs find a difference of `margin` (a share) with this power at this confidence: even, so that both orders
/// occur as often, at least `PAIRS_MIN`, nothing when more than `PAIRS_MAX` would be needed.
pub fn replicates_needed(pilot: &Pilot, margin: f64, wanted: f64, confidence: f64) -> Option<u32> {
    let effect = margin.ln_1p().abs();
    let deviation = pilot.planned();
    let enough = |pairs: u32| power(effect / error(pairs, deviation), freedom(pairs), confidence) >= wanted;
    if !enough(PAIRS_MAX) {
        return None;
    }
    // Power grows with the pairs, so the bracket of half-numbers can be halved.
    let (mut few, mut many) = (PAIRS_MIN / 2 - 1, PAIRS_MAX / 2);
    while many - few > 1 {
        let middle = (few + many) / 2;
        if enough(2 * middle) { many = middle } else { few = middle }
    }
    Some(2 * many)
}

fn error(pairs: u32, deviation: f64) -> f64 {
    (deviation * (ORDER_INFLATION * few_allowance(freedom(pairs)) / f64::from(pairs)).sqrt()).max(f64::MIN_POSITIVE)
}

/// Pairs less the means of the two orders.
fn freedom(pairs: u32) -> f64 {
    f64::from(pairs) - 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::power::noncentrality_for;

    fn known(deviation: f64) -> Pilot {
        Pilot { deviation, freedom: f64::INFINITY }
    }

    /// The smallest difference, as a share, that so many pairs find with this power, when the log-ratio of a pair scatters by
    /// `deviation`; nothing below `PAIRS_MIN` pairs, which give no verdict.
    fn detectable(pairs: u32, deviation: f64, wanted: f64, confidence: f64) -> Option<f64> {
        (pairs >= PAIRS_MIN)
            .then(|| (noncentrality_for(wanted, freedom(pairs), confidence) * error(pairs, deviation)).exp_m1())
    }

    /// Without the order's inflation and its degree of freedom this is the paired t test, whose table gives 34 pairs for
    /// half a standard deviation; 34 x 1.25, the allowance for few and one more degree lead to 44.
    #[test]
    fn the_number_of_pairs_follows_the_published_table() {
        let margin = 0.05f64;
        let pilot = known(margin.ln_1p() / 0.5);
        assert_eq!(replicates_needed(&pilot, margin, 0.8, 0.95), Some(44));
    }

    #[test]
    fn a_short_pilot_asks_for_more_pairs_than_a_known_deviation() {
        let known = replicates_needed(&known(0.04), 0.05, 0.8, 0.95).unwrap();
        let short = replicates_needed(&Pilot { deviation: 0.04, freedom: 4.0 }, 0.05, 0.8, 0.95).unwrap();
        assert!(short > known, "{short} {known}");
    }

    #[test]
    fn quiet_systems_need_four_pairs_and_hopeless_ones_get_no_number() {
        assert_eq!(replicates_needed(&known(0.0001), 0.05, 0.8, 0.95), Some(4));
        assert_eq!(replicates_needed(&known(3.0), 0.01, 0.8, 0.95), None);
    }

    #[test]
    fn the_detectable_difference_of_the_planned_pairs_is_within_the_margin() {
        let pairs = replicates_needed(&known(0.03), 0.05, 0.8, 0.95).unwrap();
        assert!(detectable(pairs, 0.03, 0.8, 0.95).unwrap() <= 0.05);
        assert!(detectable(pairs - 2, 0.03, 0.8, 0.95).unwrap() > 0.05);
        assert_eq!(detectable(3, 0.03, 0.8, 0.95), None);
    }
}
