//! Trials made by hand for tests of what is concluded from them.

use crate::{
    Comparison, Estimate, GeneratorSummary, LatencySummary, MachineSummary, RoundsTrace, Steady, SteadyAnswer,
    StreamSummary, Tail, TrialSummary, Verdict,
};
use observation::{
    Account, Asks, CpuTime, Factor, Level, Point, Provenance, StatePolicy, StreamLabel, TrialLabel, Window,
};
use study::{Direction, Judgement, Metric, Primary, Selector, SteadyRule};
use units::Nanos;

/// A judgement with throughput as its primary metric and 5 percent as its margin.
pub(crate) fn judgement() -> Judgement {
    Judgement {
        primary: Some(Primary { metric: Metric::Throughput, selector: Selector::default() }),
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
        allow_inconclusive: false,
        rounds: Vec::new(),
        planned: None,
        unfinished: false,
    }
}

/// The throughput of orders of a system, times that of the one that is alone.
pub(crate) fn compared(system: &str, ratio: Estimate, verdict: Verdict) -> Comparison {
    Comparison {
        point: Point { system: system.to_owned(), stream: "orders".to_owned(), ..Point::default() },
        baseline: "alone".to_owned(),
        metric: "throughput".to_owned(),
        said: "throughput".to_owned(),
        primary: true,
        direction: Direction::HigherIsBetter,
        ratio,
        margin: 0.05,
        detectable: None,
        interleaved: true,
        adjusted: false,
        p_value: 0.5,
        verdict,
        reason: None,
        because: None,
    }
}

/// A closed trial of one stream with this throughput; everything else follows from it or is unremarkable.
pub(crate) fn trial(index: u32, system: &str, block: u32, throughput: f64) -> TrialSummary {
    let response = LatencySummary {
        count: 100_000,
        mean_ms: 8e3 / throughput,
        p50_ms: 7e3 / throughput,
        p90_ms: 10e3 / throughput,
        p95_ms: 12e3 / throughput,
        p99_ms: 20e3 / throughput,
        p999_ms: 40e3 / throughput,
        max_ms: 90e3 / throughput,
        tail: Tail { p99_firm: true, p999_firm: true, censored: false },
    };
    TrialSummary {
        label: label(index, system, block),
        provenance: Provenance::Measured,
        started_unix_ns: 0,
        window: Window { start: Nanos::from_secs(1), end: Nanos::from_secs(11) },
        interrupted: false,
        streams: vec![stream(throughput, response)],
        elapsed_s: 10.0,
        fixed_work: false,
        jobs_ended: false,
        jobs: None,
        generator_cpu: CpuTime { user_s: 1.0, system_s: 2.0 },
        generator: GeneratorSummary::default(),
        machine: MachineSummary::default(),
        server: None,
        timeline: Vec::new(),
        events: Vec::new(),
        mishaps: Vec::new(),
        checks_failed: 0,
        pair: None,
        caveats: Vec::new(),
    }
}

fn label(index: u32, system: &str, block: u32) -> TrialLabel {
    TrialLabel {
        index,
        experiment: "rates".to_owned(),
        system: system.to_owned(),
        replicate: block,
        block,
        factors: Vec::new(),
        streams: vec![StreamLabel {
            name: "random-read".to_owned(),
            workload: "random-read".to_owned(),
            asks: Asks::Operations,
            load: "closed, 8 outstanding".to_owned(),
            slots: Some(8),
            think_mean: Nanos::ZERO,
            offered: None,
            classes: vec![("read".to_owned(), observation::ClassKind::Work)],
            gives: Vec::new(),
        }],
        state: StatePolicy::read("as the last trial left it"),
        search: None,
    }
}

fn stream(throughput: f64, response: LatencySummary) -> StreamSummary {
    StreamSummary {
        stream: 0,
        throughput_per_s: Estimate {
            value: throughput,
            low: throughput * 0.98,
            high: throughput * 1.02,
            n: 10,
            confidence: 0.95,
        },
        offered_per_s: None,
        bytes_per_s: throughput * 4096.0,
        yields: Vec::new(),
        limit: None,
        response,
        service: response,
        lateness: LatencySummary::default(),
        classes: Vec::new(),
        account: Account { planned: 100_000, done: 100_000, ..Account::default() },
        retried: 0,
        rolled_back: 0,
        cpu: None,
        steady: Steady {
            answer: SteadyAnswer::Yes,
            rounds: Some(RoundsTrace { means: vec![throughput; 5], range: 0.0, slope: 0.0, noise: 0.0, freedom: 95.0 }),
        },
        little_gap_pct: Some(0.0),
        sustained: None,
        stall: None,
        distribution: vec![(0.5, response.p50_ms), (0.99, response.p99_ms), (1.0, response.max_ms)],
        response_estimates: None,
    }
}

/// A numeric level as a study writes it.
pub(crate) fn level(name: &str, value: f64) -> Factor {
    Factor { name: name.to_owned(), level: Level::Number { value, text: format!("{value}") } }
}

/// Trials over the levels of a factor, with replicates whose throughput scatters by `noise` around the value given.
pub(crate) fn swept(factor: &str, rates: &[(f64, f64)], replicates: u32, noise: f64) -> Vec<TrialSummary> {
    let mut draws = crate::statistics::bootstrap::Draws::new(5);
    let mut trials = Vec::new();
    for block in 0..replicates {
        for (at, rate) in rates {
            let mut one = trial(trials.len() as u32, "a", block, rate * (1.0 + noise * draws.normal()));
            one.label.factors = vec![level(factor, *at)];
            trials.push(one);
        }
    }
    trials
}
