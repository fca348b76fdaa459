//! The highest rate with a quantile of response under a bound, from the probes of a search.
//!
//! A rate holds when it passed three times afresh and never failed there; the answer lies between it and the lowest rate
//! above it that failed. A probe passes when its quantile rests on enough samples, no censored operation reaches it, the
//! load was sustained, and the quantile is under the bound.

use crate::point::{Group, own_estimate};
use crate::{CaveatKind, Estimate, HighestRate, StreamSummary, TrialSummary};
use observation::{Level, Point, SearchGoal, factor, level_of};
use study::Metric;

/// Fresh passes that a rate needs.
const PASSES: u32 = 3;

/// One probe of a search.
struct Probe {
    index: u32,
    rate: f64,
    quantile_ms: f64,
    passed: bool,
    thin: bool,
}

/// The result of every search for a highest rate, one a system and stream.
pub fn highest_rates(groups: &[Group], confidence: f64) -> Vec<HighestRate> {
    let mut searches: Vec<(&Group, SearchGoal, Vec<Probe>)> = Vec::new();
    for group in groups {
        for (trial, stream) in &group.members {
            let Some(goal) = trial.label.search.as_ref().and_then(|search| search.goal) else { continue };
            let Some(probe) = probe(trial, stream, &goal) else { continue };
            match searches.iter_mut().find(|(known, aim, _)| known.alike(group) && *aim == goal) {
                Some((_, _, probes)) => probes.push(probe),
                None => searches.push((group, goal, vec![probe])),
            }
        }
    }
    searches.into_iter().map(|(group, goal, probes)| conclude(group, &goal, probes, confidence)).collect()
}

fn probe(trial: &TrialSummary, stream: &StreamSummary, goal: &SearchGoal) -> Option<Probe> {
    let named = level_of(&trial.label.factors, factor::RATE).and_then(Level::number);
    let rate = stream.offered_per_s.or(named)?;
    let quantile_ms = own_estimate(trial, stream, Metric::ResponseQuantile(goal.quantile))?.value * 1e3;
    let thin = stream.response.count as f64 * (1.0 - goal.quantile) + 1e-6 < 100.0;
    let touched = [CaveatKind::NotSustained, CaveatKind::GeneratorBound, CaveatKind::Censored];
    let sound = !trial.caveats.iter().any(|caveat| touched.contains(&caveat.kind));
    Some(Probe {
        index: trial.label.index,
        rate,
        quantile_ms,
        passed: sound && !thin && quantile_ms < goal.bound.milliseconds(),
        thin,
    })
}

fn conclude(group: &Group, goal: &SearchGoal, mut probes: Vec<Probe>, confidence: f64) -> HighestRate {
    probes.sort_by_key(|probe| probe.index);
    let best = highest(&probes);
    let failing = |above: f64| {
        let failed = probes.iter().filter(|probe| !probe.passed && probe.rate > above).map(|probe| probe.rate);
        failed.fold(f64::INFINITY, f64::min)
    };
    let rate_per_s = best.map(|(rate, passes)| {
        let above = failing(rate);
        let high = if above.is_finite() { above } else { f64::NAN };
        Estimate { value: rate, low: rate, high, n: passes, confidence }
    });
    HighestRate {
        point: Point { factors: Vec::new(), ..group.point.clone() },
        quantile: goal.quantile,
        bound_ms: goal.bound.milliseconds(),
        rate_per_s,
        reason: reason(&probes, rate_per_s.as_ref()),
        probes: probes.iter().map(|probe| (probe.rate, probe.quantile_ms, probe.passed)).collect(),
    }
}

/// The highest rate with enough passes and no failure. A failure at a lower rate, once, among passes higher up, is noise
/// and stays visible in the probes.
fn highest(probes: &[Probe]) -> Option<(f64, u32)> {
    let mut rates: Vec<f64> = probes.iter().map(|probe| probe.rate).collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    rates.dedup();
    rates.into_iter().find_map(|rate| {
        let here = || probes.iter().filter(|probe| probe.rate == rate);
        let passes = here().filter(|probe| probe.passed).count() as u32;
        (passes >= PASSES && here().all(|probe| probe.passed)).then_some((rate, passes))
    })
}

fn reason(probes: &[Probe], found: Option<&Estimate>) -> String {
    match found {
        Some(rate) if rate.high.is_finite() => {
            format!("{} passed {} times, and {} failed", units::rate(rate.value), rate.n, units::rate(rate.high))
        }
        Some(rate) => format!("{} passed {} times, and nothing higher was tried", units::rate(rate.value), rate.n),
        None if probes.iter().any(|probe| probe.thin) => {
            "a probe held too few operations for its quantile; measure longer".to_owned()
        }
        None if probes.iter().any(|probe| probe.passed) => {
            format!("no rate passed {PASSES} times without a failure; the quantile varies around the bound")
        }
        None => "no rate that was tried held the bound".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::groups;
    use crate::run::tests::{level, trial};
    use observation::Searched;

    fn search(probes: &[(f64, f64)]) -> HighestRate {
        let probe = |(index, (rate, p99)): (usize, &(f64, f64))| {
            let mut trial = trial(index as u32, "a", 0, *rate);
            trial.label.search = Some(Searched::read("highest rate with p99 under 5 ms".to_owned()));
            trial.label.factors = vec![level("rate", *rate)];
            trial.streams[0].offered_per_s = Some(*rate);
            trial.streams[0].distribution = vec![(0.5, 1.0), (0.99, *p99), (1.0, 50.0)];
            trial
        };
        let trials: Vec<_> = probes.iter().enumerate().map(probe).collect();
        highest_rates(&groups(&trials), 0.95).remove(0)
    }

    #[test]
    fn three_passes_and_a_failure_above_give_the_rate() {
        let found = search(&[(1e3, 2.0), (2e3, 9.0), (1.5e3, 4.0), (1.5e3, 4.5), (1.5e3, 4.9)]);
        let rate = found.rate_per_s.unwrap();
        assert_eq!((rate.value, rate.high, rate.n), (1.5e3, 2e3, 3));
        assert_eq!(found.probes[1], (2e3, 9.0, false));
        assert_eq!((found.quantile, found.bound_ms), (0.99, 5.0));
    }

    #[test]
    fn a_rate_that_also_failed_does_not_hold() {
        let found = search(&[(1e3, 2.0), (1e3, 3.0), (1e3, 5.5), (1e3, 2.0)]);
        assert_eq!(found.rate_per_s, None);
        assert!(found.reason.contains("varies around the bound"), "{}", found.reason);
    }
}
