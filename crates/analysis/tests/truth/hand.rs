//! Trials made by hand, of which only what a part asks about varies.

use analysis::{Estimate, TrialSummary, summarise_from};
use observation::{
    Account, Asks, Cell, CellKey, ClassKind, Factor, Histogram, Level, Observations, StatePolicy, StreamLabel, Tally,
    TrialLabel, Window,
};
use random::Draws;
use std::sync::LazyLock;
use study::{Judgement, Metric, Primary, Selector};
use units::Nanos;

/// A judgement with throughput as its primary metric.
pub fn judgement(margin: f64) -> Judgement {
    Judgement {
        primary: Some(Primary { metric: Metric::Throughput, selector: Selector::default() }),
        margin,
        ..super::coverage::judgement()
    }
}

/// A trial that completed so many operations a second in intervals of `interval`, through the road of real ones.
pub fn course(rates: &[f64], interval: Nanos) -> TrialSummary {
    let cell = |(at, rate): (usize, &f64)| {
        let done = (rate * interval.seconds()).round().max(0.0) as u64;
        let times = Histogram::from_values(vec![1_000_000; done as usize]);
        Cell {
            key: CellKey { interval: at as u32, ..CellKey::default() },
            service: times.clone(),
            lateness: Histogram::default(),
            response: times,
            censored: Histogram::default(),
            tally: Tally { done, bytes: 4096 * done, ..Tally::default() },
        }
    };
    let cells: Vec<Cell> = rates.iter().enumerate().map(cell).collect();
    let done = cells.iter().map(|cell| cell.tally.done).sum();
    let observations = Observations {
        window: Window { start: Nanos::ZERO, end: Nanos(interval.0 * rates.len() as u64) },
        interval,
        endpoints: vec!["m0".to_owned()],
        generators: 1,
        cells: Vec::new(),
        accounts: vec![Account { planned: done, done, ..Account::default() }],
        ..Observations::default()
    };
    let Ok(summary) = summarise_from(&label(), &observations, cells.as_slice(), &judgement(0.05));
    summary
}

/// A trial of ten seconds with this throughput, and this standard error of it.
pub fn trial(index: u32, system: &str, block: u32, throughput: f64, error: f64) -> TrialSummary {
    static MADE: LazyLock<TrialSummary> = LazyLock::new(|| course(&[1000.0; 10], Nanos::from_millis(1000)));
    let mut made = MADE.clone();
    (made.label.index, made.label.block, made.label.replicate) = (index, block, block);
    made.label.system = system.to_owned();
    let (low, high) = (throughput - 1.96 * error, throughput + 1.96 * error);
    made.streams[0].throughput_per_s = Estimate { value: throughput, low, high, n: 10, confidence: 0.95 };
    made
}

/// A level of a factor that is a number.
pub fn level(name: &str, value: f64) -> Factor {
    Factor { name: name.to_owned(), level: Level::Number { value, text: format!("{value}") } }
}

/// AR(1) noise of unit variance.
pub fn ar1(draws: &mut Draws, n: usize, phi: f64) -> Vec<f64> {
    let mut state = draws.normal();
    let mut next = || {
        state = phi * state + (1.0 - phi * phi).sqrt() * draws.normal();
        state
    };
    (0..n).map(|_| next()).collect()
}

fn label() -> TrialLabel {
    TrialLabel {
        index: 0,
        experiment: "rates".to_owned(),
        system: "a".to_owned(),
        replicate: 0,
        block: 0,
        factors: Vec::new(),
        streams: vec![StreamLabel {
            name: "random-read".to_owned(),
            workload: "random-read".to_owned(),
            asks: Asks::Operations,
            load: "closed, 1 outstanding".to_owned(),
            slots: Some(1),
            think_mean: Nanos::ZERO,
            offered: None,
            classes: vec![("read".to_owned(), ClassKind::Work)],
            gives: Vec::new(),
        }],
        state: StatePolicy::read("as the last trial left it"),
        search: None,
    }
}
