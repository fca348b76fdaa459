//! Coverage: how often the printed interval holds what is true.

use super::table::{Share, percent};
use super::world::{Law, Truth, World};
use analysis::{Estimate, PointSummary, TrialSummary, judge, summarise_from};
use observation::{RunFacts, TrialLabel};
use random::Draws;
use std::fmt;
use study::{Judgement, SteadyRule};

/// Every condition of the published table.
pub const WORLDS: [World; 27] = [
    world("constant 1.7 ms", Law::Constant, 1.7e-3, 4.0),
    world("constant 1.7 s", Law::Constant, 1.7, 4.0),
    world("5 % spread, n 4,000", Law::Near(0.05), 1e-3, 4.0),
    world("5 % spread, n 20,000", Law::Near(0.05), 5e-4, 10.0),
    world("exponential, n 5", Law::Exponential, 0.8, 4.0),
    world("exponential, n 12", Law::Exponential, 1.0 / 3.0, 4.0),
    world("exponential, n 40", Law::Exponential, 0.1, 4.0),
    world("exponential, n 400", Law::Exponential, 1e-2, 4.0),
    world("exponential, n 4,000", Law::Exponential, 1e-3, 4.0),
    world("exponential, n 100,000", Law::Exponential, 1e-4, 10.0),
    world("hyper-exponential, n 400", Law::Hyper, 1e-2, 4.0),
    world("hyper-exponential, n 20,000", Law::Hyper, 5e-4, 10.0),
    world("stall 0.1 s in 1 s, 4 s", Law::Stall(1.0, 0.1), 1e-3, 4.0),
    world("stall 0.5 s in 1.7 s, 4 s", Law::Stall(1.7, 0.5), 1e-3, 4.0),
    world("stall 0.1 s in 1 s, 60 s", Law::Stall(1.0, 0.1), 1e-3, 60.0),
    world("regimes of 3 s, 4 s", Law::Regimes(6.0, 0.3), 1e-3, 4.0),
    world("regimes of 3 s, 60 s", Law::Regimes(6.0, 0.3), 1e-3, 60.0),
    world("AR(1) 0.7, 15 %, 4 s", Law::Ar(0.7, 0.15), 1e-3, 4.0),
    world("AR(1) 0.9, 15 %, 4 s", Law::Ar(0.9, 0.15), 1e-3, 4.0),
    world("AR(1) 0.95, 20 %, 10 s", Law::Ar(0.95, 0.2), 1e-3, 10.0),
    world("AR(1) 0.98, 20 %, 60 s", Law::Ar(0.98, 0.2), 1e-3, 60.0),
    world("M/M/1 at 0.5, 4 s", Law::Queue(0.5), 1e-3, 4.0),
    world("M/M/1 at 0.5, 60 s", Law::Queue(0.5), 1e-3, 60.0),
    world("M/M/1 at 0.9, 4 s", Law::Queue(0.9), 1e-3, 4.0),
    world("M/M/1 at 0.9, 60 s", Law::Queue(0.9), 1e-3, 60.0),
    world("M/M/1 at 0.95, 60 s", Law::Queue(0.95), 1e-3, 60.0),
    world("M/M/1 at 0.9, 600 s", Law::Queue(0.9), 1e-3, 600.0),
];

const fn world(name: &'static str, law: Law, mean_s: f64, window_s: f64) -> World {
    World { name, law, mean_s, window_s }
}

/// How one metric fared over many runs.
#[derive(Clone, Debug, Default)]
pub struct Fared {
    /// Runs.
    pub runs: u32,
    /// Runs that gave an interval.
    pub given: u32,
    /// Of those, how many held the truth.
    pub held: u32,
    /// Runs that gave a lower bound alone.
    pub bounds: u32,
    /// Of those, how many lay at or below the truth.
    pub bounds_held: u32,
    /// Of each interval, half its width as a share of its value.
    pub widths: Vec<f64>,
}

impl Fared {
    fn add(&mut self, estimate: &Estimate, truth: f64) {
        // What is known is known to the width of a bucket of the truth itself.
        let held = |low: f64, high: f64| low <= truth * (1.0 + 1e-9) && truth * (1.0 - 1e-9) <= high;
        self.runs += 1;
        if estimate.has_interval() {
            self.given += 1;
            self.held += u32::from(held(estimate.low, estimate.high));
            self.widths.push((estimate.high - estimate.low) / 2.0 / estimate.value.abs().max(f64::MIN_POSITIVE));
        } else if estimate.low.is_finite() {
            self.bounds += 1;
            self.bounds_held += u32::from(held(estimate.low, f64::INFINITY));
        }
    }

    /// Half the width of the middle interval, as a share of its value.
    pub fn width(&self) -> f64 {
        let mut widths = self.widths.clone();
        widths.sort_by(f64::total_cmp);
        widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

/// The metrics, in the order of [`fared`].
pub const METRICS: [&str; 4] = ["throughput", "mean", "p50", "p99"];

/// How the replicates of a run lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replicates {
    /// Each begins at a moment of its own.
    Apart(u32),
    /// All begin at the same moment of a cycle.
    InStep(u32),
}

impl Replicates {
    /// How many.
    pub fn count(self) -> u32 {
        match self {
            Replicates::Apart(count) | Replicates::InStep(count) => count,
        }
    }
}

/// Many runs of one world: what is printed of it, against what is true.
pub fn fared(world: &World, replicates: Replicates, runs: u32, seed: u64) -> [Fared; 4] {
    let truth = world.truth();
    let mut all: [Fared; 4] = Default::default();
    for run in 0..runs {
        let mut draws = Draws::numbered(seed, u64::from(run));
        let point = point(world, replicates, &mut draws);
        for ((fared, estimate), truth) in all.iter_mut().zip(estimates(&point)).zip(truths(&truth)) {
            fared.add(&estimate, truth);
        }
    }
    all
}

fn point(world: &World, replicates: Replicates, draws: &mut Draws) -> PointSummary {
    let judgement = judgement();
    let shared = world.moment(draws);
    let trials = (0..replicates.count()).map(|index| {
        let moment = if matches!(replicates, Replicates::InStep(_)) { shared } else { world.moment(draws) };
        trial(world, &world.label(index, "a", index), moment, draws, &judgement)
    });
    judge(RunFacts { finished: true, ..RunFacts::default() }, trials.collect(), &judgement).points.remove(0)
}

/// One trial on the road of a real one: recorded, cut and reduced.
pub fn trial(world: &World, label: &TrialLabel, moment: f64, draws: &mut Draws, judgement: &Judgement) -> TrialSummary {
    let observations = world.observations(draws, moment);
    let Ok(trial) = summarise_from(label, &observations, observations.cells.as_slice(), judgement);
    trial
}

fn estimates(point: &PointSummary) -> [Estimate; 4] {
    [point.throughput_per_s, point.response_mean_ms, point.response_p50_ms, point.response_p99_ms]
}

fn truths(truth: &Truth) -> [f64; 4] {
    [truth.rate, truth.mean_ms, truth.p50_ms, truth.p99_ms]
}

/// What a study without wishes asks.
pub fn judgement() -> Judgement {
    Judgement {
        primary: None,
        baseline: None,
        other_baselines: Vec::new(),
        margin: 0.05,
        confidence: 0.95,
        thresholds: Vec::new(),
        steady: SteadyRule::default(),
        deadline: None,
        asks_deadline: false,
        proof: None,
        mirrored: Vec::new(),
        storage: Vec::new(),
        points: Vec::new(),
        rounds: Vec::new(),
        allow_inconclusive: false,
        planned: None,
        unfinished: false,
    }
}

/// The table of one number of replicates.
pub fn table(replicates: Replicates, runs: u32, seed: u64, only: Option<&str>) -> String {
    let (count, step) = match replicates {
        Replicates::Apart(1) => ("one replicate".to_owned(), ""),
        Replicates::Apart(count) => (format!("{count} replicates"), ""),
        Replicates::InStep(count) => (format!("{count} replicates"), " that begin at the same moment of a cycle"),
    };
    let mut text = format!("\n### {count}{step}, {runs} runs a cell\n\n");
    text.push_str("| world | metric | interval holds | given | bound holds | given | half width |\n|---|---|---|---|---|---|---|\n");
    let cycles = |world: &&World| step.is_empty() || matches!(world.law, Law::Stall(..) | Law::Regimes(..));
    let asked = |world: &&World| only.is_none_or(|only| world.name.contains(only)) && cycles(world);
    for world in WORLDS.iter().filter(asked) {
        for (metric, fared) in METRICS.iter().zip(fared(world, replicates, runs, seed)) {
            text.push_str(&format!("| {} | {metric} | {fared} |\n", world.name));
        }
    }
    text
}

impl fmt::Display for Fared {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let given = |n: u32| percent(f64::from(n) / f64::from(self.runs));
        let (held, bounds) = (Share::of(self.held, self.given), Share::of(self.bounds_held, self.bounds));
        let width = percent(self.width());
        write!(f, "{held} | {} | {bounds} | {} | {width}", given(self.given), given(self.bounds))
    }
}
