//! Thresholds on p99 where there are few operations: what is decided must be true.

use super::coverage::{judgement, trial};
use super::table::Share;
use super::world::{Law, World};
use analysis::{ThresholdOutcome, ThresholdState, judge};
use observation::RunFacts;
use random::Draws;
use study::{Judgement, Metric, Selector, Threshold};

/// How often a threshold `p99 > limit` was decided, and how often wrongly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Decided {
    /// Said to have failed.
    pub failed: u32,
    /// Said to have passed.
    pub passed: u32,
}

/// Forty exponential operations of 100 ms, whose p99 is 460 ms, against a limit that is this share of it.
pub fn decided(share: f64, runs: u32, seed: u64) -> Decided {
    let world = World { name: "exponential, n 40", law: Law::Exponential, mean_s: 0.1, window_s: 4.0 };
    let threshold = Threshold {
        text: "response p99".to_owned(),
        metric: Metric::ResponseQuantile(0.99),
        fails_above: true,
        limit: share * world.truth().p99_ms / 1e3,
        selector: Selector::default(),
    };
    let judgement = Judgement { thresholds: vec![threshold], ..judgement() };
    let mut decided = Decided::default();
    for run in 0..runs {
        let mut draws = Draws::numbered(seed, u64::from(run));
        let trials = vec![trial(&world, &world.label(0, "a", 0), 0.0, &mut draws, &judgement)];
        let findings = judge(RunFacts { finished: true, ..RunFacts::default() }, trials, &judgement);
        match findings.findings.iter().find_map(ThresholdOutcome::of).map(|found| found.state) {
            Some(ThresholdState::Failed) => decided.failed += 1,
            Some(ThresholdState::Passed) => decided.passed += 1,
            _ => {}
        }
    }
    decided
}

/// The table.
pub fn table(runs: u32, seed: u64) -> String {
    let mut text = format!(
        "\nA threshold `p99 > limit` on 40 exponential operations, {runs} runs a row, percent\n\n\
         | limit over the true p99 | failed | passed |\n|---|---|---|\n"
    );
    for share in [0.25, 0.5, 0.8, 0.93, 1.0, 1.1, 2.0] {
        let decided = decided(share, runs, seed);
        let (failed, passed) = (Share::of(decided.failed, runs), Share::of(decided.passed, runs));
        text.push_str(&format!("| {share} | {failed} | {passed} |\n"));
    }
    text
}
