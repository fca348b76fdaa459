//! How many pairs it takes to find a difference, and which difference a number of pairs can find.
//!
//! The one idea: ratios are compared on the log scale by a paired t test, so one standard deviation, that of the pairs'
//! log ratios, decides. After a pilot the count follows Stein's two-stage rule, which keeps the power whatever the true
//! spread is: C. Stein, "A two-sample test for a linear hypothesis whose power is independent of the variance", Annals
//! of Mathematical Statistics 16 (1945).
//!
//! What it does not do: it compares nothing; analysis does.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Share of the true differences of the wanted size that must be found.
pub const POWER: f64 = 0.80;
/// Pairs of a pilot; fewer give no verdict.
pub const PILOT: u32 = 4;
/// Spread from trial to trial that is assumed where nothing was measured yet, as a share. Repeats of one storage trial on
/// a quiet machine differ by 1 to 5 percent; a larger value asks for more pairs.
pub const SPREAD_ASSUMED: f64 = 0.03;

/// What the comparison adds to the variance of a pair for the order in which the two systems ran: neighbours in time are
/// alike, and the test allows for the worst of it. Simulated with the comparison itself, see its tests.
const ORDER: f64 = 1.25;

/// The `p` quantile of Student's t; infinite without a degree of freedom.
fn t_quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

/// Standard deviation of the log ratio of a pair when single trials spread by `share`.
pub fn pair_spread(share: f64) -> f64 {
    share * std::f64::consts::SQRT_2
}

/// Sample standard deviation; none for fewer than two.
pub fn spread(values: &[f64]) -> Option<f64> {
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Pairs that find a difference of `margin` with [`POWER`], from the spread of `pilot` pairs: even, so that each system
/// goes first equally often, at least the pilot, at most `most`.
pub fn needed(spread: f64, pilot: u32, margin: f64, confidence: f64, most: u32) -> u32 {
    let freedom = f64::from(pilot.max(2) - 1);
    let both = t_quantile(0.5 + confidence / 2.0, freedom) + t_quantile(POWER, freedom);
    let count = (ORDER * (both * spread / margin.ln_1p()).powi(2)).ceil();
    let even = if count.is_finite() && count < 1e6 { (count as u32).next_multiple_of(2) } else { u32::MAX - 1 };
    even.clamp(PILOT, most.max(PILOT))
}

/// The smallest difference, as a share, that `pairs` pairs of that spread find with [`POWER`]; none below two pairs.
pub fn detectable(spread: f64, pairs: u32, confidence: f64) -> Option<f64> {
    if pairs < 2 {
        return None;
    }
    let freedom = f64::from(pairs - 1);
    let both = t_quantile(0.5 + confidence / 2.0, freedom) + t_quantile(POWER, freedom);
    Some((both * spread * (ORDER / f64::from(pairs)).sqrt()).exp_m1())
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

    #[test]
    fn more_spread_and_a_smaller_margin_need_more_pairs() {
        let of = |spread, margin| needed(spread, PILOT, margin, 0.95, 1000);
        assert_eq!(of(0.0, 0.05), PILOT);
        assert!(of(0.06, 0.05) > of(0.03, 0.05));
        assert!(of(0.03, 0.02) > of(0.03, 0.05));
        assert_eq!(of(0.06, 0.05) % 2, 0);
        assert_eq!(needed(1.0, PILOT, 0.05, 0.95, 32), 32);
        assert_eq!(needed(f64::INFINITY, PILOT, 0.05, 0.95, 32), 32);
    }

    #[test]
    fn the_detectable_difference_shrinks_with_the_root_of_the_pairs() {
        let of = |pairs| detectable(0.03, pairs, 0.95).unwrap();
        assert!(of(4) > of(8) && of(8) > of(32));
        assert!((of(400) / of(100) - 0.5).abs() < 0.02);
        assert_eq!(detectable(0.03, 1, 0.95), None);
    }
}
