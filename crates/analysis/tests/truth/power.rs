//! Is the difference that is called detectable found in 80 of 100 runs, and none where there is none?

use super::hand::{judgement, trial};
use analysis::{Comparison, TrialSummary, Verdict, judge};
use observation::RunFacts;
use random::Draws;
use std::fmt::Write as _;
use study::pairs::{Scatter, Shape, detectable};

/// Spread of single trials.
const SPREAD: f64 = 0.03;

/// A row for each number of pairs: what is promised, how often it is found, and how often a difference is claimed where
/// there is none.
pub fn rows(runs: u32, seed: u64) -> String {
    let mut text = "| pairs | detectable | found | claimed where nothing differs |\n|---|---|---|---|\n".to_owned();
    for pairs in [4, 8, 16, 32] {
        let mut draws = Draws::numbered(seed, u64::from(pairs));
        let promised = detectable(&Shape::alternating(pairs, 2), &Scatter::of_trials(SPREAD), 0.95).unwrap_or(f64::NAN);
        let mut share = |factor: f64| {
            let claims = (0..runs).filter(|_| claimed(&run(&mut draws, pairs, factor)));
            100.0 * claims.count() as f64 / f64::from(runs)
        };
        let (found, false_claims) = (share(1.0 / (1.0 + promised)), share(1.0));
        let _ = writeln!(text, "| {pairs} | {:.2}% | {found:.1}% | {false_claims:.1}% |", 100.0 * promised);
    }
    text
}

/// Trials in the order AB BA AB BA, where B is `factor` times as fast.
fn run(draws: &mut Draws, pairs: u32, factor: f64) -> Vec<TrialSummary> {
    let one = |place: u32| {
        let system = matches!(place % 4, 1 | 2);
        let rate = 1000.0 * (SPREAD * draws.normal()).exp() * if system { factor } else { 1.0 };
        trial(place, if system { "b" } else { "a" }, place / 2, rate, 1.0)
    };
    (0..2 * pairs).map(one).collect()
}

fn claimed(trials: &[TrialSummary]) -> bool {
    let found = judge(RunFacts::default(), trials.to_vec(), &judgement(1e-4));
    let primary = found.findings.iter().filter_map(Comparison::of).find(|comparison| comparison.primary);
    primary.is_some_and(|comparison| matches!(comparison.verdict, Verdict::Better | Verdict::Worse))
}
