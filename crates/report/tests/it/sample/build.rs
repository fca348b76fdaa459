//! The parts from which samples are put together.

use analysis::*;
use observation::*;
use units::Nanos;

/// A repeatable number between -1 and 1 for each pair of indices: noise without a generator to carry around.
pub fn noise(a: usize, b: usize) -> f64 {
    let mut x = (a as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (b as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 31;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 29;
    (x % 20_001) as f64 / 10_000.0 - 1.0
}

/// An estimate with an interval of the given half width, a little wider above.
pub fn about(value: f64, half_share: f64, n: u32) -> Estimate {
    if half_share == 0.0 {
        return Estimate::single(value);
    }
    Estimate { value, low: value * (1.0 - half_share), high: value * (1.0 + 1.15 * half_share), n, confidence: 0.95 }
}

pub fn count(value: f64) -> Level {
    Level::Number { value, text: format!("{value}") }
}

pub fn sized(value: f64) -> Level {
    Level::Number { value, text: units::bytes(units::Bytes(value as u64)) }
}

pub fn word(text: &str) -> Level {
    Level::Word(text.to_owned())
}

pub fn caveat(kind: CaveatKind, trial: Option<u32>, text: &str) -> Caveat {
    Caveat { kind, trial, text: text.to_owned() }
}

/// Where a point or trial belongs.
#[derive(Clone)]
pub struct At {
    pub experiment: &'static str,
    pub system: &'static str,
    pub stream: &'static str,
    pub factors: Vec<Factor>,
    pub index: u32,
}

impl At {
    pub fn new(experiment: &'static str, system: &'static str, stream: &'static str) -> At {
        At { experiment, system, stream, factors: Vec::new(), index: 0 }
    }

    pub fn with(mut self, name: &str, level: Level) -> At {
        self.factors.push(Factor { name: name.to_owned(), level });
        self
    }

    pub fn point(&self) -> Point {
        let (experiment, system, stream) = (self.experiment.into(), self.system.into(), self.stream.into());
        Point { experiment, system, stream, factors: self.factors.clone() }
    }

    pub fn index(mut self, index: u32) -> At {
        self.index = index;
        self
    }
}

/// What was seen there.
#[derive(Clone, Copy)]
pub struct Seen {
    pub throughput: f64,
    pub transfer: f64,
    pub p50_ms: f64,
    pub tail: f64,
    pub spread: f64,
    pub n: u32,
}

pub fn point(at: &At, seen: Seen) -> PointSummary {
    let ms = |value: f64| about(value, seen.spread * 1.4, seen.n);
    PointSummary {
        at: at.point(),
        work: Work::Operations,
        provenance: Provenance::Measured,
        trials: vec![at.index],
        throughput_per_s: about(seen.throughput, seen.spread, seen.n),
        bytes_per_s: about(seen.throughput * seen.transfer, seen.spread, seen.n),
        asked_most_per_s: None,
        yields: Vec::new(),
        response_mean_ms: ms(seen.p50_ms * 1.12),
        response_p50_ms: ms(seen.p50_ms),
        response_p99_ms: ms(seen.p50_ms * seen.tail),
        response_p999_ms: ms(seen.p50_ms * seen.tail * 2.3),
        service_mean_ms: ms(seen.p50_ms * 1.09),
        elapsed_s: None,
        cpu_elapsed_s: None,
        cpu_us: Some(about(2.1 + seen.p50_ms, 0.02, seen.n)),
        disk_utilisation: Some(about(0.4 + 0.5 * (1.0 - 1.0 / (1.0 + seen.p50_ms)), 0.03, seen.n)),
        disk_wait_ms: Some(ms(seen.p50_ms * 0.94)),
        steady: SteadyAnswer::Yes,
        caveats: Vec::new(),
    }
}

pub fn latency(p50_ms: f64, tail: f64, count: u64) -> LatencySummary {
    LatencySummary {
        count,
        mean_ms: p50_ms * 1.12,
        p50_ms,
        p90_ms: p50_ms * (1.0 + (tail - 1.0) * 0.2),
        p95_ms: p50_ms * (1.0 + (tail - 1.0) * 0.4),
        p99_ms: p50_ms * tail,
        p999_ms: p50_ms * tail * 2.3,
        max_ms: p50_ms * tail * 9.1,
        tail: Tail { p99_firm: true, p999_firm: count > 100_000, censored: false },
    }
}

/// A distribution whose median, p99 and p99.9 are those of `latency`.
pub fn distribution(latency: &LatencySummary) -> Vec<(f64, f64)> {
    let anchors = [
        (0.0, latency.p50_ms * 0.8),
        (0.301, latency.p50_ms),
        (1.301, latency.p95_ms),
        (2.0, latency.p99_ms),
        (3.0, latency.p999_ms),
        (5.0, latency.max_ms),
    ];
    (0..=50)
        .map(|step| {
            let nines = f64::from(step) / 10.0;
            let after = anchors.iter().position(|(at, _)| *at >= nines).unwrap_or(5).max(1);
            let ((x0, y0), (x1, y1)) = (anchors[after - 1], anchors[after]);
            let share = (nines - x0) / (x1 - x0);
            (1.0 - 10f64.powf(-nines), (y0.ln() + share * (y1.ln() - y0.ln())).exp())
        })
        .collect()
}

pub fn stream_label(name: &str, load: &str, slots: u32) -> StreamLabel {
    StreamLabel {
        name: name.into(),
        workload: name.into(),
        asks: Asks::of_load(load),
        load: load.into(),
        slots: Some(slots),
        think_mean: Nanos::ZERO,
        offered: None,
        classes: vec![("read".into(), ClassKind::Work)],
        gives: Vec::new(),
    }
}

/// A trial of one stream, `seconds` long after a warm-up of `warm_up` seconds.
pub fn trial(at: &At, seen: Seen, warm_up: usize, seconds: usize) -> TrialSummary {
    let timeline = (0..warm_up + seconds)
        .map(|second| {
            let start = if second < warm_up { 0.75 + 0.25 * second as f64 / warm_up as f64 } else { 1.0 };
            let wave = 1.0 + 0.02 * noise(at.index as usize, second);
            let tail = if noise(second, 7) > 0.93 { 1.9 } else { 1.0 + 0.12 * noise(second, 3) };
            TimePoint {
                at_s: second as f64,
                throughput_per_s: vec![seen.throughput * start * wave],
                failed: vec![0],
                p99_ms: vec![Some(seen.p50_ms * seen.tail * tail)],
            }
        })
        .collect();
    let done = (seen.throughput * seconds as f64) as u64;
    let response = latency(seen.p50_ms, seen.tail, done);
    TrialSummary {
        label: TrialLabel {
            index: at.index,
            experiment: at.experiment.into(),
            system: at.system.into(),
            replicate: 0,
            block: 0,
            factors: at.factors.clone(),
            streams: vec![stream_label(at.stream, "closed, 32 outstanding", 32)],
            state: StatePolicy::read("preconditioned, left as the trial before left it"),
            search: None,
        },
        provenance: Provenance::Measured,
        started_unix_ns: 1_795_296_600_000_000_000 + i64::from(at.index) * 65_000_000_000,
        window: Window { start: Nanos::from_secs(warm_up as u64), end: Nanos::from_secs((warm_up + seconds) as u64) },
        interrupted: false,
        streams: vec![stream(seen, done, response)],
        elapsed_s: seconds as f64,
        fixed_work: false,
        jobs_ended: false,
        jobs: None,
        generator_cpu: CpuTime { user_s: 1.31 + done as f64 * 8e-7, system_s: 2.62 + done as f64 * 1.6e-6 },
        generator: GeneratorSummary::default(),
        machine: MachineSummary {
            cpu_user_cores: Some(0.31),
            cpu_system_cores: Some(0.72),
            cpu_iowait_cores: Some(1.13),
            cpu_steal_cores: Some(0.014),
            waited_for_cpu: None,
            cores: Some(8),
            busiest: None,
            disks: vec![DiskSummary {
                name: "nvme0n1".into(),
                utilisation: 0.93,
                wait_ms: seen.p50_ms * 0.95,
                operations_per_s: seen.throughput * 1.01,
                bytes_per_s: seen.throughput * seen.transfer * 1.01,
            }],
        },
        server: None,
        timeline,
        events: Vec::new(),
        mishaps: Vec::new(),
        checks_failed: 0,
        pair: None,
        caveats: Vec::new(),
    }
}

fn stream(seen: Seen, done: u64, response: LatencySummary) -> StreamSummary {
    StreamSummary {
        stream: 0,
        throughput_per_s: about(seen.throughput, seen.spread, 30),
        offered_per_s: None,
        bytes_per_s: seen.throughput * seen.transfer,
        yields: Vec::new(),
        limit: None,
        response,
        service: latency(seen.p50_ms * 0.97, seen.tail, done),
        lateness: latency(seen.p50_ms * 0.02, seen.tail, done),
        classes: vec![ClassSummary {
            name: "read".into(),
            throughput_per_s: seen.throughput,
            offered_per_s: None,
            bound_from: None,
            done,
            failed: 0,
            retried: 0,
            bytes_per_s: seen.throughput * seen.transfer,
            response,
            service: latency(seen.p50_ms * 0.97, seen.tail, done),
            mix: ClassMix { share: Some(1.0), ..ClassMix::default() },
        }],
        account: Account { planned: done, done, ..Account::default() },
        retried: 0,
        rolled_back: 0,
        cpu: Some(CpuPerOperation { user_us: 0.81, system_us: 1.63 }),
        steady: Steady {
            answer: SteadyAnswer::Yes,
            rounds: Some(RoundsTrace {
                means: (0..5).map(|round| seen.throughput * (1.0 + 0.012 * noise(round, 5))).collect(),
                range: 0.024,
                slope: -0.006,
                noise: 0.009,
                freedom: 95.0,
            }),
        },
        little_gap_pct: Some(0.12),
        sustained: None,
        stall: None,
        distribution: distribution(&response),
        response_estimates: None,
    }
}

fn fact(key: &str, value: &str, private: bool) -> Fact {
    Fact { key: key.into(), value: value.into(), private }
}

pub fn system(name: &str, kind: &str, place: &str, modules: u32) -> SystemFacts {
    SystemFacts {
        name: name.into(),
        kind: kind.into(),
        place: place.into(),
        modules,
        driver: "io_uring, direct".into(),
        fingerprint: vec![
            fact("host.name", "atlas-17.lab", true),
            fact("kernel.release", "6.12.9", false),
            fact("cpu.model", "AMD EPYC 9354P", false),
            fact("cpu.governor", "performance", false),
            fact("cpu.mitigations", "auto", false),
            fact("disk.nvme0n1.model", "Samsung PM9A3 3.84 TB", false),
            fact("disk.nvme0n1.serial", "S64GNE0R701234", true),
            fact("disk.nvme0n1.firmware", "GDC5902Q", false),
            fact("disk.nvme0n1.scheduler", "none", false),
            fact("disk.nvme0n1.write_cache", "write through", false),
            fact("filesystem.kind", "xfs", false),
            fact("filesystem.options", "rw,noatime,inode64", false),
            fact("filesystem.free", "1.8 TiB", false),
        ],
        footprint: Footprint { drives: Some(1.0), watts: Some(13.5), ..Footprint::default() },
    }
}

pub fn run(study: &str, title: &str, question: &str) -> RunFacts {
    RunFacts {
        id: format!("2026-11-21T2130-{study}"),
        study: study.into(),
        title: title.into(),
        question: question.into(),
        started_unix_ns: 1_795_296_600_000_000_000,
        seed: 7_305_981_442_190_336_141,
        version: "0.1.0".into(),
        commit: "17f162e".into(),
        study_text: format!(
            "title    = \"{title}\"\nquestion = \"{question}\"\n\n[system.target]\nkind = \"file\"\ndir  = \"/mnt/flash\"\nsize = \"4 GiB\"\n"
        ),
        targets: vec!["file:/mnt/flash".into()],
        settings: vec!["size=4 GiB".into()],
        only: Vec::new(),
        tags: vec!["acceptance".into()],
        note: "after the firmware update".into(),
        systems: Vec::new(),
        ceiling: Some(Ceiling {
            null_operation_ns: 41.7,
            clock_read_ns: 9.3,
            lateness_p99_ns: 1_240.0,
            open_rate_error_pct: 0.031,
        }),
        finished: true,
        running: false,
    }
}
