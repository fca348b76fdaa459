//! From findings to an exit code: thresholds and comparisons.
//!
//! The one idea: a guard that lets an unanswered question pass is no guard, so that "inconclusive" and "not measured" fail
//! too, unless the user has said otherwise.

use crate::exit::Outcome;
use analysis::{Comparison, DeadlineFinding, Finding, Findings, InTime, ThresholdOutcome, ThresholdState, Verdict};

/// Whether every threshold passes and the job that the answer is about is over in time, with a line for each that does not.
pub fn of_thresholds(findings: &Findings, allow_inconclusive: bool) -> (Outcome, Vec<String>) {
    let failed = findings.findings.iter().filter_map(|finding| match finding {
        Finding::Threshold(threshold) => fails(threshold.state, allow_inconclusive).then(|| words(threshold)),
        Finding::Deadline(job) => misses(job, allow_inconclusive).then(|| late(job)),
        _ => None,
    });
    let failed: Vec<String> = failed.collect();
    (if failed.is_empty() { Outcome::Fine } else { Outcome::Failed }, failed)
}

/// What makes a run fail whatever its figures are, a line each: damage, and failed operations.
pub fn of_wrong(findings: &Findings, allow_damage: bool, allow_errors: bool) -> Vec<String> {
    let damage = findings.damage().filter(|_| !allow_damage);
    let mut lines: Vec<String> = damage.map(|found| format!("damage: {}", found.text)).collect();
    let failed: u64 = findings
        .trials
        .iter()
        .filter(|trial| !trial.interrupted)
        .flat_map(|trial| &trial.streams)
        .map(|stream| stream.account.failed)
        .sum();
    if failed > 0 && !allow_errors {
        let failed = units::count(failed);
        lines.push(format!("failed: {failed} in all trials; the caveats say which, and --allow-errors lets them pass"));
    }
    lines
}

/// Whether the comparison that the study was made for came out well. Where no metric is declared primary, all of
/// them decide.
pub fn of_comparisons(findings: &Findings, allow_inconclusive: bool) -> Outcome {
    let all: Vec<&Comparison> = findings.comparisons().collect();
    let primary: Vec<&Comparison> = all.iter().copied().filter(|comparison| comparison.primary).collect();
    let decisive = if primary.is_empty() { all } else { primary };
    let bad = |comparison: &&Comparison| match comparison.verdict {
        Verdict::Worse => true,
        Verdict::Inconclusive => !allow_inconclusive,
        Verdict::Better | Verdict::Equivalent => false,
    };
    if decisive.iter().any(bad) { Outcome::Failed } else { Outcome::Fine }
}

fn fails(state: ThresholdState, allow_inconclusive: bool) -> bool {
    match state {
        ThresholdState::Passed => false,
        ThresholdState::Failed => true,
        ThresholdState::Inconclusive | ThresholdState::NotMeasured => !allow_inconclusive,
    }
}

fn misses(job: &DeadlineFinding, allow_inconclusive: bool) -> bool {
    let misses = match job.in_time {
        InTime::Yes => false,
        InTime::No => true,
        InTime::CannotTell => !allow_inconclusive,
    };
    job.decides && misses
}

fn late(job: &DeadlineFinding) -> String {
    let open = job.open().map(|why| format!(": {why}")).unwrap_or_default();
    format!("deadline at {}: {}{open}; it {}", job.point, job.in_time.word(), job.ends())
}

fn words(threshold: &ThresholdOutcome) -> String {
    let outcome = match (threshold.state, threshold.open()) {
        (ThresholdState::NotMeasured, _) => "not measured: no trial matches it".to_owned(),
        (state, Some(why)) => format!("{}: {why}", state.word()),
        (state, None) => state.word().to_owned(),
    };
    let at = if threshold.at.is_empty() { String::new() } else { format!(" at {}", threshold.at) };
    format!("threshold `{}`{at}: {outcome}", threshold.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Estimate;
    use observation::Point;
    use study::{Direction, Metric};

    fn threshold(state: ThresholdState) -> Findings {
        let (text, metric) = ("throughput < 1 /s".into(), Metric::Throughput);
        let outcome = ThresholdOutcome { text, metric, at: "rates".into(), value: None, needs: None, state };
        Findings { findings: vec![Finding::Threshold(outcome)], ..Findings::default() }
    }

    fn compared(verdicts: &[(bool, Verdict)]) -> Findings {
        let comparison = |(primary, verdict): &(bool, Verdict)| {
            Finding::Comparison(Comparison {
                point: Point::default(),
                baseline: "a".into(),
                metric: "throughput".into(),
                said: "throughput".into(),
                primary: *primary,
                direction: Direction::HigherIsBetter,
                ratio: Estimate::single(1.0),
                margin: 0.05,
                detectable: None,
                interleaved: true,
                adjusted: false,
                p_value: 1.0,
                verdict: *verdict,
                reason: None,
                because: None,
            })
        };
        Findings { findings: verdicts.iter().map(comparison).collect(), ..Findings::default() }
    }

    #[test]
    fn only_a_threshold_that_passed_lets_a_run_pass_unless_inconclusive_is_allowed() {
        let outcome = |state, allow| of_thresholds(&threshold(state), allow).0;
        assert_eq!(outcome(ThresholdState::Passed, false), Outcome::Fine);
        for state in [ThresholdState::Failed, ThresholdState::Inconclusive, ThresholdState::NotMeasured] {
            assert_eq!(outcome(state, false), Outcome::Failed);
        }
        assert_eq!(outcome(ThresholdState::Inconclusive, true), Outcome::Fine);
        assert_eq!(outcome(ThresholdState::Failed, true), Outcome::Failed);
    }

    #[test]
    fn a_job_that_is_late_fails_as_a_threshold_does_where_the_answer_is_about_it() {
        let outcome = |in_time, decides, allow| {
            let job = DeadlineFinding {
                point: Point::default(),
                what: "accounts balanced".into(),
                measured: 1.0,
                work: 1.0,
                takes_s: Estimate::single(60.0),
                within_s: 30.0,
                begins_s: None,
                in_time,
                decides,
                doubts: Vec::new(),
            };
            let findings = Findings { findings: vec![Finding::Deadline(job)], ..Findings::default() };
            let (outcome, lines) = of_thresholds(&findings, allow);
            assert_eq!(lines.len(), usize::from(outcome == Outcome::Failed), "{lines:?}");
            outcome
        };
        assert_eq!(outcome(InTime::No, true, true), Outcome::Failed);
        assert_eq!(outcome(InTime::No, false, false), Outcome::Fine, "one job of several may be late");
        assert_eq!(outcome(InTime::Yes, true, false), Outcome::Fine);
        let open = [false, true].map(|allow| outcome(InTime::CannotTell, true, allow));
        assert_eq!(open, [Outcome::Failed, Outcome::Fine]);
    }

    #[test]
    fn a_failed_threshold_is_named_with_its_place() {
        let (_, lines) = of_thresholds(&threshold(ThresholdState::Failed), false);
        assert_eq!(lines, ["threshold `throughput < 1 /s` at rates: failed"]);
    }

    #[test]
    fn a_value_without_an_interval_is_not_said_to_have_one() {
        let told = |value: Estimate| {
            let mut findings = threshold(ThresholdState::Inconclusive);
            let Finding::Threshold(outcome) = &mut findings.findings[0] else { panic!("a threshold") };
            outcome.value = Some(value);
            of_thresholds(&findings, false).1.remove(0)
        };
        let single = told(Estimate::single(3.0));
        assert!(
            single.ends_with("inconclusive: a single trial gives it no interval; run with --set replicates=4 or more")
        );
        let wide = told(Estimate { low: 0.5, high: 2.0, n: 4, ..Estimate::single(1.0) });
        assert!(wide.ends_with("inconclusive: the interval contains the limit"));
    }

    #[test]
    fn the_primary_comparison_decides_and_without_one_all_do() {
        let outcome = |verdicts: &[(bool, Verdict)], allow| of_comparisons(&compared(verdicts), allow);
        assert_eq!(outcome(&[(true, Verdict::Better), (false, Verdict::Worse)], false), Outcome::Fine);
        assert_eq!(outcome(&[(false, Verdict::Equivalent), (false, Verdict::Worse)], false), Outcome::Failed);
        assert_eq!(outcome(&[(true, Verdict::Inconclusive)], false), Outcome::Failed);
        assert_eq!(outcome(&[(true, Verdict::Inconclusive)], true), Outcome::Fine);
        assert_eq!(outcome(&[(true, Verdict::Worse)], true), Outcome::Failed);
    }
}
