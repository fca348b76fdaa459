//! Systems that are always the same: no scatter, and still no certainty, because a window counts whole operations.

use super::coverage::{judgement, trial};
use super::table::Share;
use super::world::{Law, World};
use analysis::{Comparison, Verdict, judge};
use observation::RunFacts;
use random::Draws;
use study::{Judgement, Metric, Primary, Selector};

/// How comparisons of systems that are always the same fared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// Comparisons.
    pub runs: u32,
    /// Intervals of the ratio that hold the true one.
    pub held: u32,
    /// `equivalent`, where the truth differs by more than the margin.
    pub false_equivalent: u32,
    /// `better` or `worse`, where it is the other way round.
    pub wrong_way: u32,
    /// Verdicts at all.
    pub verdicts: u32,
}

/// Random pairs of constant service times between 5 ms and 2 s that differ by up to a quarter, four pairs of 4 s each, in step.
pub fn told(runs: u32, seed: u64) -> Told {
    let mut told = Told::default();
    for run in 0..runs {
        let mut draws = Draws::numbered(seed, u64::from(run));
        let base = 5e-3 * (400f64).powf(draws.uniform());
        let ratio = 0.8 + 0.45 * draws.uniform();
        told.add(&compared(base, base / ratio, &mut draws), ratio);
    }
    told
}

impl Told {
    fn add(&mut self, found: &Comparison, truth: f64) {
        self.runs += 1;
        self.held += u32::from(found.ratio.low <= truth && truth <= found.ratio.high);
        self.verdicts += u32::from(found.verdict != Verdict::Inconclusive);
        let beyond = (truth - 1.0).abs() > found.margin;
        self.false_equivalent += u32::from(found.verdict == Verdict::Equivalent && beyond);
        let wrong = if truth > 1.0 { Verdict::Worse } else { Verdict::Better };
        self.wrong_way += u32::from(found.verdict == wrong);
    }
}

/// Four counterbalanced pairs whose operations begin at the same moment: the throughput of `b` over that of `a`.
pub fn compared(a_s: f64, b_s: f64, draws: &mut Draws) -> Comparison {
    let primary = Some(Primary { metric: Metric::Throughput, selector: Selector::default() });
    let judgement = Judgement { primary, baseline: Some("a".to_owned()), ..judgement() };
    let seed = draws.bits();
    let mut trials = Vec::new();
    for block in 0..4 {
        let order = if block % 2 == 0 { ["a", "b"] } else { ["b", "a"] };
        for system in order {
            let mean_s = if system == "a" { a_s } else { b_s };
            let world = World { name: "constant", law: Law::Constant, mean_s, window_s: 4.0 };
            let label = world.label(trials.len() as u32, system, block);
            trials.push(trial(&world, &label, 0.0, &mut Draws::numbered(seed, 0), &judgement));
        }
    }
    let findings = judge(RunFacts { finished: true, ..RunFacts::default() }, trials, &judgement);
    findings.comparisons().find(|found| found.primary).expect("a comparison of what both did").clone()
}

/// The table.
pub fn table(runs: u32, seed: u64) -> String {
    let told = told(runs, seed);
    let share = |part: u32| Share::of(part, told.runs);
    format!(
        "\n{runs} pairs of systems with constant service times, four trials each, all begun alike\n\n\
         | what | percent |\n|---|---|\n| interval of the ratio holds the truth | {} |\n| `equivalent` beyond the margin | {} |\n\
         | `better` or `worse` the wrong way | {} |\n| verdicts | {} |\n",
        share(told.held),
        share(told.false_equivalent),
        share(told.wrong_way),
        share(told.verdicts)
    )
}
