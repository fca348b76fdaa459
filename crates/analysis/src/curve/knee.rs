//! The knee: the fewest outstanding (or sessions) that reach 95 percent of the peak.
//!
//! More than that buys no throughput worth having, and pays for it in response time. The interval comes from resampled
//! replicates: the knee of each resample, and the levels between which 95 of 100 of them lie. A curve whose knee is its
//! last level has not been seen to bend.

use super::curves::Curve;
use crate::statistics::bootstrap::{Draws, RESAMPLES, SEED, percentile_interval};
use crate::{Estimate, Knee};
use study::Metric;

/// The share of the peak that counts as reaching it.
const PEAK_SHARE: f64 = 0.95;

/// Fewer levels show no shape.
const LEVELS_MIN: usize = 3;

/// The knee of a closed curve of throughput; nothing when the load was open or the levels are too few.
pub fn knee(curve: &Curve, confidence: f64) -> Option<Knee> {
    let points = curve.estimates(Metric::Throughput, confidence);
    if points.len() < LEVELS_MIN || !curve.all(|trial, stream| !trial.fixed_work && stream.offered_per_s.is_none()) {
        return None;
    }
    let values: Vec<f64> = points.iter().map(|(_, estimate)| estimate.value).collect();
    let at = first_at_peak(&values)?;
    let peak = points.iter().map(|(_, e)| *e).max_by(|a, b| a.value.total_cmp(&b.value))?;
    let bent = at + 1 < points.len();
    Some(Knee {
        point: curve.point.clone(),
        factor: curve.factor.clone(),
        at: bent.then(|| interval(curve, points[at].0, confidence)),
        peak_per_s: peak,
        curve: points,
    })
}

/// Index of the first value that reaches the share of the greatest.
fn first_at_peak(values: &[f64]) -> Option<usize> {
    let peak = values.iter().copied().fold(f64::MIN, f64::max);
    (peak > 0.0).then(|| values.iter().position(|value| *value >= PEAK_SHARE * peak)).flatten()
}

fn interval(curve: &Curve, at: f64, confidence: f64) -> Estimate {
    let mut draws = Draws::new(SEED);
    let knees: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| first_at_peak(&curve.resampled(&mut draws)).map(|index| curve.steps[index].0))
        .collect();
    // Ends are levels that were measured: a quantile between two is rounded outwards.
    let (low, high) = percentile_interval(&knees, confidence);
    let levels = || curve.steps.iter().map(|(level, _)| *level);
    let low = levels().filter(|level| *level <= low).fold(f64::MIN, f64::max).min(at);
    let high = levels().filter(|level| *level >= high).fold(f64::MAX, f64::min).max(at);
    Estimate { value: at, low, high, n: curve.replicates(), confidence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::curves;
    use crate::point::groups;
    use crate::run::tests::{swept, trial};
    use observation::Searched;

    fn knee_of(rates: &[(f64, f64)], replicates: u32) -> Knee {
        let trials = swept("outstanding", rates, replicates, 0.01);
        let groups = groups(&trials);
        knee(&curves(&groups, "outstanding")[0], 0.95).unwrap()
    }

    #[test]
    fn the_knee_is_the_fewest_that_reach_ninety_five_percent() {
        let found = knee_of(&[(1.0, 100.0), (2.0, 195.0), (4.0, 360.0), (8.0, 492.0), (16.0, 497.0), (32.0, 500.0)], 5);
        let at = found.at.unwrap();
        assert_eq!(at.value, 8.0);
        assert!(at.low <= 8.0 && at.high >= 8.0 && at.high <= 16.0);
        assert!((found.peak_per_s.value / 500.0 - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_curve_that_still_rises_has_no_knee() {
        assert_eq!(knee_of(&[(1.0, 100.0), (2.0, 200.0), (4.0, 390.0)], 3).at, None);
    }

    #[test]
    fn one_trial_a_level_gives_an_interval_from_its_own_batches() {
        let found = knee_of(&[(1.0, 100.0), (2.0, 195.0), (4.0, 200.0), (8.0, 201.0)], 1);
        assert_eq!(found.at.map(|at| (at.value, at.n)), Some((2.0, 1)));
    }

    #[test]
    fn a_knee_between_two_levels_has_both_in_its_interval() {
        // The second level is within noise of 95 percent.
        let at = knee_of(&[(1.0, 50.0), (2.0, 95.0), (4.0, 100.0), (8.0, 100.0)], 6).at.unwrap();
        assert!(at.low == 2.0 && at.high == 4.0, "{at:?}");
    }

    #[test]
    fn sessions_bend_as_outstanding_do() {
        let trials = swept("sessions", &[(1.0, 100.0), (4.0, 380.0), (16.0, 500.0), (64.0, 420.0)], 3, 0.01);
        let groups = groups(&trials);
        let found = knee(&curves(&groups, "sessions")[0], 0.95).unwrap();
        assert_eq!((found.at.map(|at| at.value), &*found.factor), (Some(16.0), "sessions"));
    }

    #[test]
    fn trials_of_a_search_are_no_curve() {
        let mut trials = swept("outstanding", &[(1.0, 1.0), (2.0, 2.0)], 1, 0.0);
        trials.push(trial(9, "a", 0, 5.0));
        trials.iter_mut().for_each(|trial| trial.label.search = Some(Searched::read("knee".to_owned())));
        assert!(curves(&groups(&trials), "outstanding").is_empty());
    }
}
