//! How throughput grows with modules or width: in proportion, less and less, or back down.

use super::curves::Curve;
use crate::statistics::bootstrap::{Draws, RESAMPLES, SEED, percentile_interval};
use crate::{Estimate, Scaling, ScalingKind};
use study::Metric;

/// Growth within this share of proportion is called linear when the interval agrees.
const LINEAR_MIN: f64 = 0.95;

/// A fall from the peak by this share, beyond its interval, is called retrograde.
const FALL_MIN: f64 = 0.05;

/// An interval of the efficiency wider than this tells nothing.
const WIDTH_MAX: f64 = 0.5;

/// How a curve scales. Efficiency is throughput at the largest level over that at the smallest, divided by the ratio of the
/// levels; its interval is from resampled replicates.
pub fn scaling(curve: &Curve, confidence: f64) -> Option<Scaling> {
    let points = curve.estimates(Metric::Throughput, confidence);
    let (first, last) = (points.first()?, points.last()?);
    if points.len() < 2 || first.0 <= 0.0 || first.1.value <= 0.0 {
        return None;
    }
    let linear = last.0 / first.0;
    let mut draws = Draws::new(SEED);
    let mut efficiencies = Vec::new();
    let mut falls = Vec::new();
    for _ in 0..RESAMPLES {
        let drawn = curve.resampled(&mut draws);
        let end = drawn[drawn.len() - 1];
        efficiencies.push(end / drawn[0] / linear);
        falls.push(end / drawn.iter().copied().fold(f64::MIN, f64::max));
    }
    let known = curve.steps.iter().all(|(_, g)| g.members.len() > 1 || g.members[0].1.throughput_per_s.has_interval());
    let (low, high) = if known { percentile_interval(&efficiencies, confidence) } else { (f64::NAN, f64::NAN) };
    let n = curve.replicates();
    let efficiency = Estimate { value: last.1.value / first.1.value / linear, low, high, n, confidence };
    let fall_high = percentile_interval(&falls, confidence).1;
    Some(Scaling {
        point: curve.point.clone(),
        factor: curve.factor.clone(),
        kind: kind(&efficiency, fall_high),
        efficiency,
        curve: points,
    })
}

/// `fall_high` is the upper end of the last level's share of the peak.
fn kind(efficiency: &Estimate, fall_high: f64) -> ScalingKind {
    if !efficiency.has_interval() || efficiency.high - efficiency.low > WIDTH_MAX {
        return ScalingKind::Unclear;
    }
    if fall_high < 1.0 - FALL_MIN {
        return ScalingKind::Retrograde;
    }
    if efficiency.value >= LINEAR_MIN || efficiency.high >= 1.0 {
        return ScalingKind::Linear;
    }
    ScalingKind::Saturating
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::curves;
    use crate::point::groups;
    use crate::run::tests::swept;

    fn scaled(rates: &[(f64, f64)], noise: f64) -> Scaling {
        let trials = swept("modules", rates, 6, noise);
        let groups = groups(&trials);
        scaling(&curves(&groups, "modules")[0], 0.95).unwrap()
    }

    #[test]
    fn each_kind_of_growth_is_named() {
        let linear = scaled(&[(1.0, 100.0), (2.0, 199.0), (4.0, 398.0)], 0.01);
        assert_eq!(linear.kind, ScalingKind::Linear);
        assert!((linear.efficiency.value - 0.995).abs() < 0.02);
        assert_eq!(scaled(&[(1.0, 100.0), (2.0, 150.0), (4.0, 170.0)], 0.01).kind, ScalingKind::Saturating);
        assert_eq!(scaled(&[(1.0, 100.0), (2.0, 180.0), (4.0, 140.0)], 0.01).kind, ScalingKind::Retrograde);
        assert_eq!(scaled(&[(1.0, 100.0), (2.0, 150.0), (4.0, 300.0)], 0.6).kind, ScalingKind::Unclear);
    }
}
