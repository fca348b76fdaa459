//! Thresholds of the study and of the command line: does the whole interval lie on the good side?

use crate::point::{Group, selects};
use crate::{Estimate, ThresholdOutcome, ThresholdState};
use study::{Judgement, Threshold};

/// One outcome a threshold, decided by the worst of the points that it selects.
pub fn thresholds(groups: &[Group], judgement: &Judgement) -> Vec<ThresholdOutcome> {
    let unfinished = || judgement.unfinished.then(|| "the run is not finished".to_owned());
    let one = |threshold| {
        let found = outcome(threshold, groups, judgement.confidence);
        ThresholdOutcome { needs: found.needs.clone().or_else(unfinished), ..found }
    };
    judgement.thresholds.iter().map(one).collect()
}

fn outcome(threshold: &Threshold, groups: &[Group], confidence: f64) -> ThresholdOutcome {
    // A search holds its trials against its own bound; what went wrong in one went wrong all the same.
    let counts = threshold.metric.counts();
    let meant = groups.iter().filter(|g| selects(&threshold.selector, &g.point) && (counts || !g.searched()));
    let measured = meant.filter_map(|group| Some((group, group.estimate(threshold.metric, confidence)?)));
    let worst = measured.max_by(|a, b| {
        let rank = |estimate: &Estimate| severity(state(threshold, estimate));
        rank(&a.1).cmp(&rank(&b.1)).then(excess(threshold, &a.1).total_cmp(&excess(threshold, &b.1)))
    });
    ThresholdOutcome {
        text: threshold.text.clone(),
        metric: threshold.metric,
        at: worst.map_or_else(|| "no trial matches".to_owned(), |(group, _)| group.point.to_string()),
        value: worst.map(|(_, value)| value),
        needs: worst.and_then(|(group, _)| group.needs(threshold.metric, confidence)),
        state: worst.map_or(ThresholdState::NotMeasured, |(_, value)| state(threshold, &value)),
    }
}

/// A value without an interval decides nothing: how far it would move the next time is not known. A lower bound decides what
/// lies below it: a limit that is exceeded is, and one that is not may be.
fn state(threshold: &Threshold, estimate: &Estimate) -> ThresholdState {
    if !estimate.has_interval() && !estimate.lower_bound() {
        return ThresholdState::Inconclusive;
    }
    let (low, high) = (estimate.low, estimate.high);
    let (bad, good) = if threshold.fails_above {
        (low > threshold.limit, high <= threshold.limit)
    } else {
        (high < threshold.limit, low >= threshold.limit)
    };
    match (bad, good) {
        (true, _) => ThresholdState::Failed,
        (_, true) => ThresholdState::Passed,
        _ => ThresholdState::Inconclusive,
    }
}

fn severity(state: ThresholdState) -> u8 {
    match state {
        ThresholdState::NotMeasured => 0,
        ThresholdState::Passed => 1,
        ThresholdState::Inconclusive => 2,
        ThresholdState::Failed => 3,
    }
}

/// How far a value lies on the bad side.
fn excess(threshold: &Threshold, estimate: &Estimate) -> f64 {
    let over = estimate.value - threshold.limit;
    if threshold.fails_above { over } else { -over }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::groups;
    use crate::run::tests::{judgement, trial};
    use observation::Account;
    use study::{Metric, Selector};

    fn state_of(limit: f64, fails_above: bool, throughputs: &[f64]) -> ThresholdState {
        let trials: Vec<_> = throughputs.iter().enumerate().map(|(i, x)| trial(i as u32, "a", i as u32, *x)).collect();
        let mut judgement = judgement();
        judgement.thresholds = vec![Threshold {
            text: "throughput".to_owned(),
            metric: Metric::Throughput,
            fails_above,
            limit,
            selector: Selector::default(),
        }];
        thresholds(&groups(&trials), &judgement)[0].state
    }

    #[test]
    fn what_went_wrong_is_counted_and_decides_without_an_interval() {
        let mut trials = vec![trial(0, "a", 0, 100.0), trial(1, "a", 1, 100.0)];
        trials[1].streams[0].account = Account { planned: 200, done: 197, failed: 3, ..Account::default() };
        trials[1].streams[0].retried = 10;
        trials[0].checks_failed = 1;
        let state = |metric, limit| {
            let mut judgement = judgement();
            let (text, selector) = (String::new(), Selector::default());
            judgement.thresholds = vec![Threshold { text, metric, fails_above: true, limit, selector }];
            thresholds(&groups(&trials), &judgement)[0].state
        };
        assert_eq!(state(Metric::Damage, 0.0), ThresholdState::Failed);
        assert_eq!(state(Metric::Damage, 1.0), ThresholdState::Passed);
        assert_eq!(state(Metric::Failed, 0.01), ThresholdState::Failed, "3 of 200 in one trial");
        assert_eq!(state(Metric::Failed, 0.02), ThresholdState::Passed);
        assert_eq!(state(Metric::Retried, 0.05), ThresholdState::Failed);
    }

    #[test]
    fn a_lower_bound_fails_what_is_exceeded_and_passes_nothing() {
        let held = |limit: f64, fails_above: bool| {
            let bound = Estimate { value: 430.0, low: 400.0, high: f64::INFINITY, n: 40, confidence: 0.95 };
            let text = "response p99".to_owned();
            let metric = Metric::ResponseQuantile(0.99);
            state(&Threshold { text, metric, fails_above, limit, selector: Selector::default() }, &bound)
        };
        assert_eq!(held(390.0, true), ThresholdState::Failed);
        assert_eq!(held(410.0, true), ThresholdState::Inconclusive);
        assert_eq!(held(1e6, true), ThresholdState::Inconclusive);
        assert_eq!(held(390.0, false), ThresholdState::Passed);
        assert_eq!(held(1e6, false), ThresholdState::Inconclusive);
    }

    #[test]
    fn only_a_whole_interval_decides() {
        let replicates = [100.0, 102.0, 98.0, 101.0, 99.0];
        assert_eq!(state_of(90.0, false, &replicates), ThresholdState::Passed);
        assert_eq!(state_of(110.0, false, &replicates), ThresholdState::Failed);
        assert_eq!(state_of(100.5, false, &replicates), ThresholdState::Inconclusive);
        assert_eq!(state_of(110.0, true, &replicates), ThresholdState::Passed);
        assert_eq!(state_of(90.0, true, &replicates), ThresholdState::Failed);
        assert_eq!(state_of(90.0, false, &[]), ThresholdState::NotMeasured);
    }
}
