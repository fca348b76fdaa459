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
    outcome: Outcome,
}

units::words! {
    /// What became of a probe.
    enum Outcome {
        Passed = "passed" "It kept the bound.",
        Above = "failed" "Its quantile lay above the bound.",
        NotSustained = "failed, because the load was not sustained" "The load was not carried as it was offered, or some of it never ended.",
        Generator = "could not be judged, because the generator was at its limit" "The generator set the rate, so that nothing is known of the system.",
        Thin = "held too few operations for its quantile; measure longer" "It kept the bound, with too few operations for its quantile.",
    }
}

impl Probe {
    fn passed(&self) -> bool {
        self.outcome == Outcome::Passed
    }
}

/// The result of every search for a highest rate, one a system, stream and point.
pub fn highest_rates(groups: &[Group], confidence: f64) -> Vec<HighestRate> {
    let mut searches: Vec<(Point, SearchGoal, Vec<Probe>)> = Vec::new();
    for group in groups {
        let point = searched_point(group);
        for (trial, stream) in &group.members {
            let Some(goal) = trial.label.search.as_ref().and_then(|search| search.goal) else { continue };
            let Some(probe) = probe(trial, stream, &goal) else { continue };
            match searches.iter_mut().find(|(known, aim, _)| *known == point && *aim == goal) {
                Some((_, _, probes)) => probes.push(probe),
                None => searches.push((point.clone(), goal, vec![probe])),
            }
        }
    }
    searches.into_iter().map(|(point, goal, probes)| conclude(point, &goal, probes, confidence)).collect()
}

/// The point that was searched on: all factors but the rate, which the search chose.
fn searched_point(group: &Group) -> Point {
    let mut point = group.point.clone();
    point.factors.retain(|chosen| chosen.name != factor::RATE);
    point
}

fn probe(trial: &TrialSummary, stream: &StreamSummary, goal: &SearchGoal) -> Option<Probe> {
    let named = level_of(&trial.label.factors, factor::RATE).and_then(Level::number);
    let rate = stream.offered_per_s.or(named)?;
    let quantile_ms = own_estimate(trial, stream, Metric::ResponseQuantile(goal.quantile))?.value * 1e3;
    let has = |kind: CaveatKind| trial.caveats.iter().any(|caveat| caveat.kind == kind);
    let thin = stream.response.count as f64 * (1.0 - goal.quantile) + 1e-6 < 100.0;
    let outcome = if has(CaveatKind::GeneratorBound) {
        Outcome::Generator
    } else if has(CaveatKind::NotSustained) || has(CaveatKind::Censored) {
        Outcome::NotSustained
    } else if quantile_ms.is_nan() || quantile_ms > goal.bound.milliseconds() {
        Outcome::Above
    } else if thin {
        Outcome::Thin
    } else {
        Outcome::Passed
    };
    Some(Probe { index: trial.label.index, rate, quantile_ms, outcome })
}

fn conclude(point: Point, goal: &SearchGoal, mut probes: Vec<Probe>, confidence: f64) -> HighestRate {
    probes.sort_by_key(|probe| probe.index);
    let best = highest(&probes);
    let failed = best.and_then(|(rate, _)| lowest_failure(&probes, rate));
    HighestRate {
        point,
        quantile: goal.quantile,
        bound_ms: goal.bound.milliseconds(),
        rate_per_s: best.map(|(rate, passes)| Estimate { n: passes, confidence, ..Estimate::single(rate) }),
        failed_per_s: failed.map(|probe| probe.rate),
        reason: reason(&probes, best, failed),
        probes: probes.iter().map(|probe| (probe.rate, probe.quantile_ms, probe.passed())).collect(),
    }
}

/// The probe that failed at the lowest rate above.
fn lowest_failure(probes: &[Probe], above: f64) -> Option<&Probe> {
    let failed = probes.iter().filter(|probe| !probe.passed() && probe.rate > above);
    failed.min_by(|a, b| a.rate.total_cmp(&b.rate))
}

/// The highest rate with enough passes and no failure. A failure at a lower rate, once, among passes higher up, is noise
/// and stays visible in the probes.
fn highest(probes: &[Probe]) -> Option<(f64, u32)> {
    let mut rates: Vec<f64> = probes.iter().map(|probe| probe.rate).collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    rates.dedup();
    rates.into_iter().find_map(|rate| {
        let here = || probes.iter().filter(|probe| probe.rate == rate);
        let passes = here().filter(|probe| probe.passed()).count() as u32;
        (passes >= PASSES && here().all(Probe::passed)).then_some((rate, passes))
    })
}

fn reason(probes: &[Probe], found: Option<(f64, u32)>, failed: Option<&Probe>) -> String {
    if let Some((rate, passes)) = found {
        let held = format!("{} passed {passes} times", units::rate(rate));
        return match failed {
            Some(probe) => format!("{held}, and {} {}", units::rate(probe.rate), probe.outcome.word()),
            None if probes.iter().any(|probe| probe.rate > rate) => format!("{held}, and nothing higher failed"),
            None => format!("{held}, and nothing higher was tried"),
        };
    }
    let passed = |probe: &&Probe| probe.passed();
    let shaken = |probe: &Probe| probes.iter().any(|other| other.rate == probe.rate && !other.passed());
    if probes.iter().filter(passed).any(shaken) {
        return format!("no rate passed {PASSES} times without a failure; the quantile varies around the bound");
    }
    if let Some(best) = probes.iter().filter(passed).max_by(|a, b| a.rate.total_cmp(&b.rate)) {
        let ended = lowest_failure(probes, best.rate)
            .map_or_else(String::new, |probe| format!("; {} {}", units::rate(probe.rate), probe.outcome.word()));
        return format!("{} passed, and was not confirmed {PASSES} times{ended}", units::rate(best.rate));
    }
    let undecided = [Outcome::Thin, Outcome::Generator, Outcome::NotSustained];
    let lowest = probes.iter().min_by(|a, b| a.rate.total_cmp(&b.rate));
    match lowest.filter(|probe| undecided.contains(&probe.outcome)) {
        Some(probe) => {
            format!("no rate that was tried held the bound; {} {}", units::rate(probe.rate), probe.outcome.word())
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
        highest_rates(&groups(&trials(probes)), 0.95).remove(0)
    }

    #[test]
    fn three_passes_and_a_failure_above_give_the_rate() {
        let found = search(&[(1e3, 2.0), (2e3, 9.0), (1.5e3, 4.0), (1.5e3, 4.5), (1.5e3, 4.9)]);
        let rate = found.rate_per_s.unwrap();
        assert_eq!((rate.value, found.failed_per_s, rate.n), (1.5e3, Some(2e3), 3));
        assert!(!rate.has_interval(), "the step of a search is no interval");
        assert_eq!(found.reason, "1500 /s passed 3 times, and 2000 /s failed");
        assert_eq!(found.probes[1], (2e3, 9.0, false));
        assert_eq!((found.quantile, found.bound_ms), (0.99, 5.0));
    }

    #[test]
    fn a_rate_that_also_failed_does_not_hold() {
        let found = search(&[(1e3, 2.0), (1e3, 3.0), (1e3, 5.5), (1e3, 2.0)]);
        assert_eq!(found.rate_per_s, None);
        assert!(found.reason.contains("varies around the bound"), "{}", found.reason);
    }

    fn trials(probes: &[(f64, f64)]) -> Vec<TrialSummary> {
        let probe = |(index, (rate, p99)): (usize, &(f64, f64))| {
            let mut trial = trial(index as u32, "a", 0, *rate);
            trial.label.search = Some(Searched::read("highest rate with p99 under 5 ms".to_owned()));
            trial.label.factors = vec![level("rate", *rate)];
            trial.streams[0].offered_per_s = Some(*rate);
            trial.streams[0].distribution = vec![(0.5, 1.0), (0.99, *p99), (1.0, 50.0)];
            trial
        };
        probes.iter().enumerate().map(probe).collect()
    }

    #[test]
    fn searches_at_two_levels_of_a_factor_stay_two() {
        let mut all = trials(&[(1e3, 2.0), (1e3, 2.1), (1e3, 2.2), (2e3, 3.0), (2e3, 3.1), (2e3, 3.2)]);
        for (index, trial) in all.iter_mut().enumerate() {
            trial.label.factors.push(level("transfer", if index < 3 { 4096.0 } else { 8192.0 }));
        }
        let found = highest_rates(&groups(&all), 0.95);
        let rates: Vec<f64> = found.iter().map(|one| one.rate_per_s.unwrap().value).collect();
        assert_eq!(rates, [1e3, 2e3]);
        assert_eq!(found[0].point.factors, [level("transfer", 4096.0)]);
    }

    #[test]
    fn the_reason_that_is_given_is_the_one_that_was() {
        let caveat = |kind| crate::Caveat { kind, trial: None, text: String::new() };
        let reason = |all: &[TrialSummary]| highest_rates(&groups(all), 0.95).remove(0).reason;
        // Two passes, and then the generator was at its limit: nothing varies around the bound.
        let mut all = trials(&[(1e3, 2.0), (2e3, 2.0)]);
        all[1].caveats = vec![caveat(CaveatKind::GeneratorBound)];
        assert!(reason(&all).ends_with("2000 /s could not be judged, because the generator was at its limit"));
        // A probe above the bound is above it, however few operations another held.
        let mut all = trials(&[(1e3, 9.0), (2e3, 9.0)]);
        all[1].streams[0].response.count = 10;
        assert_eq!(reason(&all), "no rate that was tried held the bound");
        let mut all = trials(&[(1e3, 2.0)]);
        all[0].streams[0].response.count = 10;
        assert!(reason(&all).contains("held too few operations"), "{}", reason(&all));
        // A higher rate that passed once was tried.
        assert!(reason(&trials(&[(1e3, 2.0), (1e3, 2.0), (1e3, 2.0), (2e3, 2.0)])).ends_with("nothing higher failed"));
    }
}
