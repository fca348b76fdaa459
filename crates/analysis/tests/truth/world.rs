//! Worlds whose truth is known: operations drawn from a law, and recorded as the engine records them.
//!
//! The one idea: an interval is honest when it holds the truth of the law that drew the operations, whichever moment of it
//! a trial happened to see. Every trial therefore begins at a moment of its own.

use observation::{
    Account, Asks, Cell, CellKey, ClassKind, Histogram, Observations, Provenance, StatePolicy, StreamLabel, Tally,
    TrialLabel, Window,
};
use random::Draws;
use units::Nanos;

/// How the operations of a world come and are served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// One outstanding, always the same time.
    Constant,
    /// One outstanding, times within so much of their mean.
    Near(f64),
    /// One outstanding, exponential times.
    Exponential,
    /// One outstanding; one in ten takes eleven times as long as the others on average.
    Hyper,
    /// One outstanding, exponential times, and nothing is served in the last `1` seconds of every `0`.
    Stall(f64, f64),
    /// One outstanding; times are slower by this share for half of so many seconds, and faster for the other half.
    Regimes(f64, f64),
    /// One outstanding; the logarithm of the time follows AR(1) from one tenth of a second to the next: `(phi, deviation)`.
    Ar(f64, f64),
    /// Poisson arrivals at this share of what one exponential server can do.
    Queue(f64),
}

/// A world: a law, the mean time of an operation, and how long it is watched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct World {
    /// How it is called in tables.
    pub name: &'static str,
    /// Its law.
    pub law: Law,
    /// Mean time of an operation where nothing else happens, seconds.
    pub mean_s: f64,
    /// Length of the measured window, seconds.
    pub window_s: f64,
}

/// What holds in a world in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Completions a second.
    pub rate: f64,
    /// Mean of response, milliseconds.
    pub mean_ms: f64,
    /// Median of response, milliseconds.
    pub p50_ms: f64,
    /// 99th percentile of response, milliseconds.
    pub p99_ms: f64,
}

/// One operation: intended and completed, seconds.
type Operation = (f64, f64);

/// How many operations stand for the long run: their own error is a few percent of the narrowest interval.
const LONG_RUN: f64 = 1e6;

/// The standard normal's 99th percentile.
const Z99: f64 = 2.326_347_874;

impl World {
    /// What holds in the long run: by formula where there is one, else from a run long enough not to matter.
    pub fn truth(&self) -> Truth {
        let exponential = |rate: f64, mean_s: f64| {
            let of = |beyond: f64| -1e3 * mean_s * beyond.ln();
            Truth { rate, mean_ms: 1e3 * mean_s, p50_ms: of(0.5), p99_ms: of(0.01) }
        };
        let mean_s = self.mean_s;
        match self.law {
            Law::Constant => {
                Truth { rate: 1.0 / mean_s, mean_ms: 1e3 * mean_s, p50_ms: 1e3 * mean_s, p99_ms: 1e3 * mean_s }
            }
            Law::Near(spread) => {
                let of = |q: f64| 1e3 * mean_s * (1.0 - spread + 2.0 * spread * q);
                Truth { rate: 1.0 / mean_s, mean_ms: 1e3 * mean_s, p50_ms: of(0.5), p99_ms: of(0.99) }
            }
            Law::Exponential => exponential(1.0 / mean_s, mean_s),
            Law::Queue(load) => exponential(load / mean_s, mean_s / (1.0 - load)),
            // Operations are met more often where they are short: among them the logarithm lies lower by its variance.
            Law::Ar(_, spread) => {
                let of = |z: f64| 1e3 * mean_s * (spread * z - spread * spread).exp();
                let rate = (spread * spread / 2.0).exp() / mean_s;
                Truth { rate, mean_ms: 1e3 / rate, p50_ms: of(0.0), p99_ms: of(Z99) }
            }
            Law::Hyper | Law::Stall(..) | Law::Regimes(..) => self.long_run(),
        }
    }

    fn long_run(&self) -> Truth {
        let seconds = LONG_RUN * self.mean_s;
        // Whole cycles, so that where they are cut does not matter.
        let every = match self.law {
            Law::Stall(every, _) | Law::Regimes(every, _) => every,
            _ => seconds,
        };
        let seconds = (seconds / every).ceil() * every;
        let times = self.operations(&mut Draws::numbered(1, 0), 0.0, seconds);
        let mut responses: Vec<f64> = times.iter().map(|(intended, completed)| completed - intended).collect();
        let rate = responses.len() as f64 / seconds;
        let mut of = |q: f64| {
            let place = (q * responses.len() as f64) as usize;
            1e3 * *responses.select_nth_unstable_by(place, f64::total_cmp).1
        };
        Truth { rate, mean_ms: 1e3 / rate, p50_ms: of(0.5), p99_ms: of(0.99) }
    }

    /// All operations intended before `end`, from `from` on or from before.
    fn operations(&self, draws: &mut Draws, from: f64, end: f64) -> Vec<Operation> {
        match self.law {
            // Twenty relaxation times after it was empty, a queue has forgotten it.
            Law::Queue(load) => self.queued(draws, from - 20.0 * self.mean_s / (1.0 - load.sqrt()).powi(2), end),
            _ => self.one_by_one(draws, from, end),
        }
    }

    /// Lindley's recursion, from an empty server on.
    fn queued(&self, draws: &mut Draws, from: f64, end: f64) -> Vec<Operation> {
        let idle = 1.0 / self.truth().rate;
        let (mut at, mut free) = (from, from);
        let mut all = Vec::new();
        loop {
            at += idle * draws.exponential();
            if at >= end {
                return all;
            }
            free = free.max(at) + self.mean_s * draws.exponential();
            all.push((at, free));
        }
    }

    fn one_by_one(&self, draws: &mut Draws, from: f64, end: f64) -> Vec<Operation> {
        let mut course = Course { law: self.law, step: i64::MIN, state: draws.normal() };
        let mut at = from;
        let mut all = Vec::new();
        while at < end {
            let done = course.end(draws, at, self.mean_s);
            all.push((at, done));
            at = done;
        }
        all
    }

    /// A moment of its cycle, if it has one, seconds.
    pub fn moment(&self, draws: &mut Draws) -> f64 {
        match self.law {
            Law::Stall(every, _) | Law::Regimes(every, _) => every * draws.uniform(),
            _ => 0.0,
        }
    }

    /// The observations of one trial that begins at this moment of a cycle, and at any of an operation.
    pub fn observations(&self, draws: &mut Draws, moment: f64) -> Observations {
        let (interval, zero) = (interval_s(self.window_s), moment);
        let from = match self.law {
            // What is always the same is met at any of its moments.
            Law::Constant => zero - self.mean_s * draws.uniform(),
            _ => zero - self.mean_s * (4.0 + draws.uniform()),
        };
        let intervals = (self.window_s / interval).round() as usize + 1;
        let mut slices: Vec<Slice> = vec![Slice::default(); intervals];
        let place = |at: f64| (at >= zero).then(|| ((at - zero) / interval) as usize).filter(|at| *at < intervals);
        for (intended, completed) in self.operations(draws, from, zero + interval + self.window_s) {
            if let Some(slice) = place(intended) {
                slices[slice].times.push(((completed - intended) * 1e9).round() as u64);
            }
            if let Some(slice) = place(completed) {
                slices[slice].done += 1;
            }
        }
        recorded(slices, interval, self.window_s)
    }

    /// The label of a trial.
    pub fn label(&self, index: u32, system: &str, block: u32) -> TrialLabel {
        TrialLabel {
            index,
            experiment: "truth".to_owned(),
            system: system.to_owned(),
            replicate: block,
            block,
            factors: Vec::new(),
            streams: vec![StreamLabel {
                name: "work".to_owned(),
                workload: "work".to_owned(),
                asks: Asks::Operations,
                load: String::new(),
                slots: (!matches!(self.law, Law::Queue(_))).then_some(1),
                think_mean: Nanos::ZERO,
                offered: None,
                classes: vec![("read".to_owned(), ClassKind::Work)],
                gives: Vec::new(),
            }],
            state: StatePolicy::read("as the last trial left it"),
            search: None,
        }
    }
}

/// The length of an interval, as a study chooses it.
fn interval_s(window_s: f64) -> f64 {
    match window_s {
        ..=1.0 => 0.05,
        ..=10.0 => 0.1,
        ..=30.0 => 0.2,
        ..=60.0 => 0.5,
        _ => (window_s / 500.0).ceil(),
    }
}

/// What one interval saw: times of what was intended in it, and how many completed in it.
#[derive(Clone, Default)]
struct Slice {
    times: Vec<u64>,
    done: u64,
}

fn recorded(slices: Vec<Slice>, interval: f64, window_s: f64) -> Observations {
    let interval = Nanos::from_seconds(interval);
    let planned = slices.iter().skip(1).map(|slice| slice.times.len() as u64).sum();
    let cells = (0..).zip(slices).map(|(at, Slice { times, done })| Cell {
        key: CellKey { interval: at, ..CellKey::default() },
        response: Histogram::from_values(times),
        tally: Tally { done, ..Tally::default() },
        ..Cell::default()
    });
    Observations {
        provenance: Provenance::Simulated,
        window: Window { start: interval, end: interval + Nanos::from_seconds(window_s) },
        interval,
        endpoints: vec!["m0".to_owned()],
        generators: 1,
        cells: cells.collect(),
        accounts: vec![Account { planned, done: planned, ..Account::default() }],
        ..Observations::default()
    }
}

/// The course of one slot of a closed load.
struct Course {
    law: Law,
    /// Which tenth of a second the state belongs to.
    step: i64,
    state: f64,
}

impl Course {
    /// When an operation that begins at `at` ends.
    fn end(&mut self, draws: &mut Draws, at: f64, mean_s: f64) -> f64 {
        match self.law {
            Law::Constant | Law::Queue(_) => at + mean_s,
            Law::Near(spread) => at + mean_s * (1.0 - spread + 2.0 * spread * draws.uniform()),
            Law::Exponential => at + mean_s * draws.exponential(),
            Law::Hyper => {
                let slow = if draws.uniform() < 0.1 { 5.5 } else { 0.5 };
                at + mean_s * slow * draws.exponential()
            }
            Law::Stall(every, lasts) => behind_stalls(at, mean_s * draws.exponential(), every, lasts),
            Law::Regimes(every, by) => {
                let slow = at.rem_euclid(every) < every / 2.0;
                let noise = 0.9 + 0.2 * draws.uniform();
                at + mean_s * noise * if slow { 1.0 + by } else { 1.0 - by }
            }
            Law::Ar(phi, spread) => {
                let step = (at * 10.0).floor() as i64;
                let steps = if self.step == i64::MIN { 0 } else { step - self.step };
                for _ in 0..steps {
                    self.state = phi * self.state + (1.0 - phi * phi).sqrt() * draws.normal();
                }
                self.step = step;
                at + mean_s * (spread * self.state).exp()
            }
        }
    }
}

/// When work that begins at `at` ends, if the last `lasts` seconds of every `every` are lost.
fn behind_stalls(at: f64, work: f64, every: f64, lasts: f64) -> f64 {
    let awake = every - lasts;
    let cycle = (at / every).floor();
    let done = cycle * awake + (at - cycle * every).min(awake) + work;
    let cycles = (done / awake).floor();
    cycles * every + done - cycles * awake
}
