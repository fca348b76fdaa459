//! Every field filled, every value different, and each value telling its own place.
//!
//! Latencies are coded: 110 is a mean, 150 a p50, 195 a p95, 199 a p99, 299 a p99.9, 390 a maximum; the first decimal says
//! response (1), service (2) or lateness (3), the second the trial, the third the stream. So a value in the wrong place
//! is seen in a golden file without a table beside it.

use super::build::{At, caveat, count, sized, word};
use analysis::*;
use observation::*;
use study::{Direction, Metric, Yield};
use units::{Nanos, PerSecond};

/// The sample with each text replaced by what `rename` makes of it; for tests of escaping.
pub fn renamed(rename: &dyn Fn(&str) -> String) -> Findings {
    let mut findings = distinct();
    let mut texts: Vec<&mut String> = Vec::new();
    let run = &mut findings.run;
    texts.extend([&mut run.id, &mut run.study, &mut run.title, &mut run.question, &mut run.version, &mut run.commit]);
    texts.extend([&mut run.study_text, &mut run.note]);
    texts.extend(run.targets.iter_mut().chain(&mut run.settings).chain(&mut run.only).chain(&mut run.tags));
    for system in &mut run.systems {
        texts.extend([&mut system.name, &mut system.kind, &mut system.place, &mut system.driver]);
        texts.extend(system.fingerprint.iter_mut().flat_map(|fact| [&mut fact.key, &mut fact.value]));
    }
    for trial in &mut findings.trials {
        let label = &mut trial.label;
        texts.extend([&mut label.experiment, &mut label.system]);
        texts.extend(label.state.0.iter_mut().filter_map(said));
        texts.extend(label.search.as_mut().map(|search| &mut search.words));
        texts.extend(label.factors.iter_mut().map(|factor| &mut factor.name));
        for stream in &mut label.streams {
            texts.extend([&mut stream.name, &mut stream.workload, &mut stream.load]);
        }
        texts.extend(trial.streams.iter_mut().flat_map(|stream| &mut stream.classes).map(|class| &mut class.name));
        texts.extend(trial.machine.disks.iter_mut().map(|disk| &mut disk.name));
        texts.extend(trial.events.iter_mut().map(|event| &mut event.text));
        texts.extend(trial.mishaps.iter_mut().flat_map(|mishap| [&mut mishap.what, &mut mishap.first]));
        texts.extend(trial.caveats.iter_mut().map(|caveat| &mut caveat.text));
    }
    for point in &mut findings.points {
        texts.extend([&mut point.at.experiment, &mut point.at.system, &mut point.at.stream]);
        texts.extend(point.at.factors.iter_mut().map(|factor| &mut factor.name));
        texts.extend(point.caveats.iter_mut().map(|caveat| &mut caveat.text));
    }
    texts.extend(findings.answer.iter_mut());
    texts.extend(findings.caveats.iter_mut().map(|caveat| &mut caveat.text));
    texts.into_iter().for_each(|text| *text = rename(text));
    findings.findings.iter_mut().for_each(|finding| rename_finding(finding, rename));
    findings
}

/// The words of a state that are only shown.
fn said(part: &mut StatePart) -> Option<&mut String> {
    if let StatePart::Said(words) = part { Some(words) } else { None }
}

fn of(point: &mut Point) -> [&mut String; 3] {
    [&mut point.experiment, &mut point.system, &mut point.stream]
}

fn rename_finding(finding: &mut Finding, rename: &dyn Fn(&str) -> String) {
    let texts: Vec<&mut String> = match finding {
        Finding::Comparison(f) => of(&mut f.point).into_iter().chain([&mut f.baseline, &mut f.metric]).collect(),
        Finding::Footprint(f) => of(&mut f.point).into_iter().chain([&mut f.baseline]).collect(),
        Finding::Tier(f) => {
            of(&mut f.point).into_iter().chain(f.steps.iter_mut().map(|step| &mut step.system)).collect()
        }
        Finding::Mirror(f) => {
            let against = f.tuning.as_mut().map(|tuning| &mut tuning.against);
            of(&mut f.point).into_iter().chain([&mut f.baseline]).chain(against).collect()
        }
        Finding::Beside(f) => of(&mut f.point).into_iter().chain(of(&mut f.baseline)).chain(&mut f.beside).collect(),
        Finding::Knee(f) => of(&mut f.point).into_iter().chain([&mut f.factor]).collect(),
        Finding::HighestRate(f) => of(&mut f.point).into_iter().chain([&mut f.reason]).collect(),
        Finding::ServiceFit(f) => of(&mut f.point).into(),
        Finding::Scaling(f) => of(&mut f.point).into_iter().chain([&mut f.factor]).collect(),
        Finding::Sustained(f) => of(&mut f.point).into(),
        Finding::Pair(f) => of(&mut f.point).into_iter().chain([&mut f.event]).collect(),
        Finding::Felt(f) => of(&mut f.point).into_iter().chain([&mut f.event]).collect(),
        Finding::Deadline(f) => of(&mut f.point).into_iter().chain([&mut f.what]).collect(),
        Finding::Threshold(f) => vec![&mut f.text, &mut f.at],
        Finding::Damage(f) => vec![&mut f.source, &mut f.what, &mut f.text],
        Finding::Outage(f) => vec![&mut f.text],
    };
    texts.into_iter().for_each(|text| *text = rename(text));
}

pub fn distinct() -> Findings {
    Findings {
        run: run(),
        trials: vec![trial(0), trial(1)],
        points: (0..4).map(point).collect(),
        findings: of_the_data().into_iter().chain(findings()).collect(),
        caveats: vec![
            caveat(CaveatKind::Unfinished, None, "2 of 4 trials ended"),
            caveat(CaveatKind::Steal, Some(1), "steal 3.7%"),
        ],
        checks: vec![TrialCheck {
            trial: 1,
            attempt: 2,
            check: Check {
                kind: CheckKind::Ledger,
                moment: CheckMoment::Outage,
                name: "ledger".into(),
                says: "what was acknowledged is there".into(),
                result: CheckResult::Failed,
                found: "17 acknowledged orders are missing".into(),
                took_s: 0.75,
            },
        }],
        answered: Vec::new(),
        doubted: None,
        answer: vec!["The answer in one sentence.".into(), "A second one.".into()],
        doubts: vec!["Its main doubt.".into()],
        typical: Some(Typical {
            read_ms: Some(0.0425),
            most_per_s: Some(80_250.0),
            durable_ms: Some(2.375),
            bytes_per_s: None,
        }),
        metric: Some(Metric::Throughput),
        storage: Vec::new(),
    }
}

fn of_the_data() -> [Finding; 3] {
    [
        Finding::Damage(DamageFinding {
            trial: 1,
            attempt: Some(2),
            source: "ledger".into(),
            what: "ledger".into(),
            count: 17,
            text: "trial 1, after an outage: ledger: 17 acknowledged orders are missing".into(),
        }),
        Finding::Outage(OutageFinding {
            trial: 1,
            attempt: 2,
            recovered: true,
            text: "trial 1: the server takes connections again".into(),
        }),
        Finding::Deadline(DeadlineFinding {
            point: At::new("curve", "left", "stream-0").point(),
            what: Yield::Accounts.word().into(),
            measured: 2_000.0,
            work: 10_000_000.0,
            takes_s: estimate(22_320.0),
            within_s: 25_200.0,
            begins_s: Some(82_800.0),
            in_time: InTime::Yes,
            decides: true,
            doubts: vec!["the pilot has 2 transactions for each job".into()],
        }),
    ]
}

fn run() -> RunFacts {
    let fact = |key: &str, value: &str, private| Fact { key: key.into(), value: value.into(), private };
    RunFacts {
        id: "2026-11-21T2130-distinct".into(),
        study: "distinct".into(),
        title: "The title".into(),
        question: "The question?".into(),
        started_unix_ns: 1_795_296_600_000_000_007,
        seed: 18_446_744_073_709_551_557,
        version: "9.8.7".into(),
        commit: "abcdef0".into(),
        study_text: "title = \"The title\"\n[system.left]\ndir = \"/srv/left\"\n".into(),
        targets: vec!["file:/srv/left".into(), "device:/dev/disk/by-id/right".into()],
        settings: vec!["measure=7s".into()],
        only: vec!["curve".into()],
        tags: vec!["first tag".into(), "second tag".into()],
        note: "note by the user of /srv/left".into(),
        systems: vec![
            SystemFacts {
                name: "left".into(),
                kind: "file".into(),
                place: "/srv/left".into(),
                modules: 11,
                driver: "io_uring, direct".into(),
                fingerprint: vec![fact("kernel.release", "6.1.2", false), fact("host.name", "secret-host", true)],
                footprint: Footprint {
                    drives: Some(12.0),
                    watts: Some(13.5),
                    rack_units: Some(14.0),
                    price: Some(15_000.25),
                    floor: Some(1.75),
                },
            },
            SystemFacts {
                name: "right".into(),
                kind: "device".into(),
                place: "/dev/disk/by-id/right".into(),
                modules: 16,
                driver: "pread, buffered".into(),
                fingerprint: vec![fact("disk.serial", "SERIAL-0042", true), fact("disk.scheduler", "none", false)],
                footprint: Footprint::default(),
            },
        ],
        ceiling: Some(Ceiling {
            null_operation_ns: 41.5,
            clock_read_ns: 9.25,
            lateness_p99_ns: 1_240.5,
            open_rate_error_pct: 0.031,
        }),
        finished: false,
        running: false,
    }
}

fn latency(kind: f64, trial: u32, stream: u16) -> LatencySummary {
    let code = kind * 0.1 + f64::from(trial) * 0.01 + f64::from(stream) * 0.001;
    LatencySummary {
        count: 700 + u64::from(trial) * 10 + u64::from(stream),
        mean_ms: 110.0 + code,
        p50_ms: 150.0 + code,
        p90_ms: 190.0 + code,
        p95_ms: 195.0 + code,
        p99_ms: 199.0 + code,
        p999_ms: 299.0 + code,
        max_ms: 390.0 + code,
        tail: Tail { p99_firm: true, p999_firm: trial == 0, censored: stream == 1 },
    }
}

fn trial(index: u32) -> TrialSummary {
    let at = f64::from(index);
    TrialSummary {
        label: TrialLabel {
            index,
            experiment: "curve".into(),
            system: if index == 0 { "left" } else { "right" }.into(),
            replicate: 3 + index,
            block: 5 + index,
            factors: vec![
                Factor { name: "outstanding".into(), level: count(32.0 + at) },
                Factor { name: "transfer".into(), level: sized(4096.0) },
                Factor { name: "think".into(), level: Level::Number { value: 0.25, text: "250 ms".into() } },
                Factor { name: "cache".into(), level: word("cold") },
            ],
            streams: (0..2).map(label).collect(),
            state: StatePolicy::read("as left"),
            search: (index == 1).then(|| Searched::read("rate 4 k/s of the search".into())),
        },
        provenance: if index == 0 { Provenance::Measured } else { Provenance::Simulated },
        started_unix_ns: 1_795_296_601_000_000_003 + i64::from(index),
        window: Window { start: Nanos::from_secs(2), end: Nanos::from_secs(9 + u64::from(index)) },
        interrupted: index == 1,
        streams: (0..2).map(|stream| summary(index, stream)).collect(),
        elapsed_s: 21.5 + at,
        fixed_work: index == 1,
        jobs_ended: false,
        jobs: (index == 1).then_some(Jobs { longest_s: 1.3, mean_s: 1.25 }),
        generator_cpu: CpuTime { user_s: 31.5 + at, system_s: 33.5 + at },
        generator: GeneratorSummary {
            waited_for_cpu: (index == 0).then_some(0.0725),
            children_cores: (index == 0).then_some(0.0925),
            looks: (index == 0).then_some(LooksSummary { mean_ms: 0.0121, p99_ms: 0.0131, max_ms: 0.141 }),
            clock: (index == 0).then_some(ClockSummary {
                error_ppm: -2.25,
                uncertainty_ppm: 0.0351,
                suspended_s: 3.75,
                jump_s: 0.0625,
            }),
            rings: (index == 0).then_some(RingsSummary {
                generation: 2.0,
                registered_buffers: Some(0.625),
                poll_first: Some(0.375),
            }),
            hung: 3,
            hung_before: 4,
        },
        machine: MachineSummary {
            cpu_user_cores: Some(1.11 + at),
            cpu_system_cores: Some(1.22 + at),
            cpu_iowait_cores: (index == 0).then_some(1.33),
            cpu_steal_cores: Some(0.44 + at),
            waited_for_cpu: (index == 0).then_some(0.0825),
            cores: Some(8 + index),
            busiest: Some((format!("station{index}"), 0.51 + at / 100.0)),
            disks: vec![DiskSummary {
                name: format!("disk{index}"),
                utilisation: 0.51 + at / 10.0,
                wait_ms: 5.2 + at,
                operations_per_s: 5_300.0 + at,
                bytes_per_s: 5_400_000.0 + at,
            }],
        },
        server: (index == 0).then(|| server(at)),
        timeline: (0..6)
            .map(|second| TimePoint {
                at_s: f64::from(second),
                throughput_per_s: vec![6_100.0 + f64::from(second), 6_200.0 + f64::from(second)],
                failed: vec![0, 0],
                p99_ms: vec![Some(63.0 + f64::from(second)), (second != 3).then_some(64.5 + f64::from(second))],
            })
            .collect(),
        events: vec![Event { at: Nanos::from_millis(3_500), kind: EventKind::Note, text: format!("event {index}") }],
        mishaps: vec![Mishap {
            stream: 0,
            kind: EventKind::Failure,
            what: "connection lost".into(),
            count: 18 + u64::from(index),
            first: format!("first {index}"),
        }],
        checks_failed: 2 + u64::from(index),
        pair: None,
        caveats: vec![caveat(CaveatKind::ThinTail, Some(index), &format!("beyond p99.9 are {} samples", 37 + index))],
    }
}

fn mix(place: u64) -> ClassMix {
    let at = place as f64;
    ClassMix {
        share: Some(0.301 + at / 1e3),
        planned_share: Some(0.311 + at / 1e3),
        mix_ok: Some(place == 0),
        limit_s: Some(2.5 + at),
        response_ok: Some(place == 1),
    }
}

fn server(at: f64) -> ServerSummary {
    ServerSummary {
        embedded: false,
        cpu_user_cores: Some(1.51 + at),
        cpu_system_cores: Some(1.62 + at),
        cpu_busy_cores: None,
        mirror_cpu_cores: Some(0.273 + at),
        mirror: MirrorWaits {
            waiting: Some(1.71 + at),
            changing_per_s: Some(2_340.5 + at),
            written_ms: Some(0.613 + at),
            flushed_ms: Some(0.927 + at),
            applied_ms: Some(1.153 + at),
            flush_ms: Some(0.317 + at),
            wire_ms: Some(0.113 + at),
            trips_per_s: Some(4_120.5 + at),
        },
        bytes_read_per_s: Some(8_510_000.5 + at),
        bytes_written_per_s: Some(8_620_000.5 + at),
        processes: Some(17.0 + at),
        counters: vec![(Counter::Commits, 8_701.5 + at), (Counter::LogBytes, 8_802.5 + at)],
        buffer_hit_share: Some(0.987),
        in_sessions: InSessions { busy: 3.25 + at, per_s: 3_550.5 + at },
        profile: None,
        per_transaction: PerTransaction {
            cpu_ms: Some(0.431 + at),
            mirror_cpu_ms: Some(0.127 + at),
            bytes_read: Some(1_198.5 + at),
            bytes_written: Some(1_214.5 + at),
            log_bytes: Some(1_239.5 + at),
            ..PerTransaction::default()
        },
        per_machine_core_per_s: Some(887.5 + at),
        per_server_core_per_s: Some(2_268.5 + at),
        checkpoints: Some(Checkpoints {
            held: Held::Cycles,
            measured: Window { start: Nanos::from_secs(61), end: Nanos::from_secs(92) },
            begun: Some(6),
            cycles: 5,
            cycle_s: Some(4.9125 + at),
            text: format!("the window holds 5 whole checkpoint cycles of {} s", 4.9125 + at),
        }),
        working_set: Some(WorkingSet {
            data_bytes: Some(8_901_000.5 + at),
            buffer_bytes: Some(8_912_000.5 + at),
            buffer_each: false,
            buffered_bytes: Some(8_923_000.5 + at),
            memory_bytes: Some(8_934_000.5 + at),
            page_cached_bytes: Some(8_945_000.5 + at),
            fits: Some(Fits::Buffer),
        }),
    }
}

fn label(stream: u16) -> StreamLabel {
    StreamLabel {
        name: format!("stream-{stream}"),
        workload: format!("workload-{stream}"),
        asks: Asks::Operations,
        load: if stream == 0 { "closed, 32 outstanding" } else { "open, Poisson, 4 k/s" }.into(),
        slots: (stream == 0).then_some(32),
        think_mean: Nanos::from_millis(250),
        offered: (stream == 1).then_some(PerSecond(4_000.0)),
        classes: vec![(format!("class-{stream}"), ClassKind::Work)],
        gives: vec![Gives { class: 0, amount: 30.0, what: Yield::Postings.word().into(), offered_per_s: None }],
    }
}

fn summary(trial: u32, stream: u16) -> StreamSummary {
    let (t, s) = (u64::from(trial), u64::from(stream));
    let at = f64::from(trial) * 10.0 + f64::from(stream);
    let response = latency(1.0, trial, stream);
    StreamSummary {
        stream,
        throughput_per_s: Estimate {
            value: 7_100.5 + at,
            low: 7_000.5 + at,
            high: 7_200.5 + at,
            n: 19,
            confidence: 0.95,
        },
        offered_per_s: (stream == 1).then_some(7_300.5 + at),
        bytes_per_s: 74_000_000.5 + at,
        yields: vec![YieldSummary { what: Yield::Postings.word().into(), per_s: estimate(5_500.0 + at), most: 30.0 }],
        limit: (stream == 1).then(|| LimitSummary {
            words: "over 50 ms".into(),
            late: 8_700 + t,
            late_share: estimate(0.031 + at / 1e4),
            skipped: Some(8_800 + t),
            skipped_share: Some(estimate(0.042 + at / 1e4)),
        }),
        response,
        service: latency(2.0, trial, stream),
        lateness: latency(3.0, trial, stream),
        classes: vec![ClassSummary {
            name: format!("class-{stream}"),
            throughput_per_s: 7_500.5 + at,
            offered_per_s: Some(7_700.5 + at),
            bound_from: Some(0.9),
            done: 8_100 + t * 10 + s,
            failed: 8_200 + t * 10 + s,
            retried: 8_250 + t * 10 + s,
            bytes_per_s: 8_300.5 + at,
            response: latency(4.0, trial, stream),
            service: latency(5.0, trial, stream),
            mix: mix(t * 10 + s),
        }],
        account: Account {
            planned: 9_600 + 3 * (t * 10 + s),
            done: 9_100 + t * 10 + s,
            failed: 300 + t * 10 + s,
            censored: 200 + t * 10 + s,
            ..Account::default()
        },
        retried: 401 + t * 10 + s,
        rolled_back: 501 + t * 10 + s,
        cpu: (trial == 0).then_some(CpuPerOperation { user_us: 61.5 + at, system_us: 62.5 + at }),
        steady: Steady {
            answer: [SteadyAnswer::Yes, SteadyAnswer::Never, SteadyAnswer::TooShort, SteadyAnswer::Yes]
                [usize::from(stream) + trial as usize],
            rounds: (stream == 0).then(|| RoundsTrace {
                means: vec![7_001.0 + at, 7_002.0 + at, 7_003.0 + at, 7_004.0 + at, 7_005.0 + at],
                range: 0.081 + at / 1e3,
                slope: -0.032 - at / 1e3,
                noise: 0.0123 + at / 1e3,
                freedom: 47.0,
            }),
        },
        little_gap_pct: (stream == 0).then_some(0.71 + at),
        sustained: (stream == 1).then(|| sustained(at)),
        stall: None,
        distribution: vec![
            (0.5, response.p50_ms),
            (0.9, 180.0 + at),
            (0.99, response.p99_ms),
            (0.999, response.p999_ms),
            (1.0, response.max_ms),
        ],
        response_estimates: None,
    }
}

fn sustained(at: f64) -> Sustained {
    Sustained {
        peak_per_s: 7_801.0 + at,
        peak_window_s: 3.5 + at,
        late_per_s: 7_601.0 + at,
        burst: Some(Burst {
            before_per_s: 7_835.0 + at,
            sustained_per_s: 7_602.0 + at,
            credit_operations: 990.0 + at,
            lasted_s: 4.25 + at,
            p_value: 0.00011 + at / 1e6,
            apart: true,
        }),
        averages: vec![(1.0, 7_800.0 + at), (2.0, 7_700.0 + at), (7.0, 7_610.0 + at)],
    }
}

fn estimate(value: f64) -> Estimate {
    Estimate { value, low: value * 0.984, high: value * 1.027, n: 5, confidence: 0.95 }
}

/// Two curves of two points; the code of a latency is as above with 6 for the point estimate.
fn point(i: u32) -> PointSummary {
    let at = f64::from(i);
    let ms = |code: f64| estimate(code + 0.6 + at);
    let (system, provenance) = if i < 2 { ("left", Provenance::Measured) } else { ("right", Provenance::Simulated) };
    let at_point = At::new("curve", system, "stream-0")
        .with("outstanding", count(32.0 + f64::from(i % 2)))
        .with("transfer", sized(4096.0))
        .with("cache", word("cold"));
    PointSummary {
        at: at_point.point(),
        work: Work::Operations,
        provenance,
        trials: vec![i],
        throughput_per_s: estimate(1_100.0 + 10.0 * at),
        bytes_per_s: estimate(12_000_000.0 + 100_000.0 * at),
        asked_most_per_s: Some(1_470.5 + at),
        yields: vec![(Yield::Postings.word().into(), estimate(3_300.0 + at))],
        response_mean_ms: ms(110.0),
        response_p50_ms: ms(150.0),
        response_p99_ms: ms(199.0),
        response_p999_ms: ms(299.0),
        service_mean_ms: ms(120.0),
        elapsed_s: (i == 3).then(|| estimate(27.5)),
        cpu_elapsed_s: (i == 3).then(|| estimate(28.5)),
        cpu_us: (i != 1).then(|| estimate(63.5 + at)),
        disk_utilisation: Some(estimate(0.61 + at / 100.0)),
        disk_wait_ms: Some(estimate(6.2 + at)),
        steady: [SteadyAnswer::Yes, SteadyAnswer::Never, SteadyAnswer::TooShort, SteadyAnswer::Yes][i as usize],
        caveats: if i == 1 { vec![caveat(CaveatKind::NotSteady, Some(1), "slope 12%")] } else { Vec::new() },
    }
}

fn findings() -> Vec<Finding> {
    vec![
        comparison(true, Verdict::Better, None),
        comparison(false, Verdict::Inconclusive, Some("the interval holds 1")),
        Finding::Knee(Knee {
            point: At::new("curve", "left", "stream-0").with("cache", word("cold")).point(),
            factor: "outstanding".into(),
            at: Some(Estimate { value: 33.0, low: 31.0, high: 34.0, n: 6, confidence: 0.9 }),
            scatters: false,
            peak_per_s: estimate(1_130.0),
            curve: vec![(32.0, estimate(1_101.0)), (33.0, estimate(1_111.0))],
        }),
        Finding::HighestRate(HighestRate {
            point: At::new("curve", "left", "stream-1").point(),
            quantile: 0.99,
            bound_ms: 2.5,
            rate_per_s: Some(Estimate { n: 3, ..Estimate::single(4_040.0) }),
            failed_per_s: Some(4_500.0),
            probes: vec![(4_000.0, 1.75, true), (4_500.0, 3.75, false)],
            reason: "the step above failed".into(),
        }),
        Finding::ServiceFit(ServiceFit {
            point: At::new("curve", "right", "stream-0").with("outstanding", count(1.0)).point(),
            form: ServiceForm::Stepped,
            base_ms: estimate(0.085),
            rate_bytes_per_s: estimate(1_900_000_000.0),
            step_bytes: Some(16_384),
            error: 0.021,
            points: vec![(512.0, estimate(0.086)), (4096.0, estimate(0.088))],
        }),
        Finding::Scaling(Scaling {
            point: At::new("curve", "right", "stream-1").point(),
            factor: "modules".into(),
            kind: ScalingKind::Retrograde,
            efficiency: estimate(0.47),
            curve: vec![(1.0, estimate(1_201.0)), (2.0, estimate(1_211.0))],
        }),
        Finding::Sustained(SustainedFinding {
            point: At::new("curve", "left", "stream-1").with("outstanding", count(32.0)).point(),
            claim: Some(FallClaim::Credit),
            sustained: sustained(20.0),
        }),
        Finding::Footprint(FootprintFinding {
            point: At::new("curve", "right", "stream-0").with("outstanding", count(33.0)).point(),
            baseline: "left".into(),
            what: Yield::Accounts.word().into(),
            primary: true,
            same: Same::Yes,
            ratio: estimate(0.97),
            amounts: vec![
                FootprintAmount {
                    amount: "drives",
                    of_system: 22.0,
                    of_baseline: 96.0,
                    rate_for_each: estimate(403.0),
                    baseline_for_each: estimate(94.0),
                    ratio: estimate(4.28),
                },
                FootprintAmount {
                    amount: "floor",
                    of_system: 0.75,
                    of_baseline: 0.5,
                    rate_for_each: estimate(11_822.0),
                    baseline_for_each: estimate(18_047.0),
                    ratio: estimate(0.655),
                },
            ],
            break_even: Some(estimate(9_311.0)),
            price: Some(4_411.5),
        }),
        Finding::Pair(PairFinding {
            point: At::new("curve", "left", "stream-1").with("outstanding", count(32.0)).point(),
            trial: 4,
            event: "half-open".into(),
            at_s: 2.5,
            freeze_s: 1.45,
            errors: 7,
            interval_s: 0.05,
            alone: Some((1.04, MirrorState::Silent)),
            released: 7,
            rate_before_per_s: Some(1_372.0),
            rate_alone_per_s: Some(1_523.0),
            kept_bytes: Some(40_894_464.0),
            kept_per_s: Some(15_728_640.0),
            resync_s: Some(1.37),
            resync_bytes: Some(44_040_192.0),
            rate_resync_per_s: Some(913.0),
            rate_after_per_s: Some(1_381.0),
            kept: Some(true),
            equal: Some(true),
        }),
        Finding::Felt(Felt {
            point: At::new("curve", "left", "stream-1").with("outstanding", count(32.0)).point(),
            trial: 3,
            event: "fail path 7".into(),
            at_s: 2.25,
            rate_before_per_s: 1_371.0,
            p99_before_ms: Some(0.63),
            rate_least_per_s: Some(412.0),
            p99_most_ms: Some(4.7),
            failed: 17_003,
            until: FeltUntil::After(1.35),
        }),
        Finding::Tier(TierFinding {
            point: At::new("curve", "left", "stream-1").point(),
            what: Yield::Postings.word().into(),
            per_s: estimate(37.0),
            times: estimate(3.1),
            steps: vec![
                tier_step("right", "hot_pkey", (8_192.0, 0.25), (0.71, 0.69)),
                tier_step("right", "cold", (32_768.0, 1.0), (1.0, 1.0)),
            ],
        }),
        Finding::Mirror(MirrorFinding {
            point: At::new("curve", "left", "stream-1").point(),
            baseline: "right".into(),
            unit: "the unit of waiting is the commit: it waits once, however many rows it changed",
            own_networks: true,
            added: vec![AddedTime {
                factors: At::new("curve", "left", "stream-1").point().factors,
                alone_ms: 0.83,
                added_ms: estimate(1.37),
                times: estimate(2.63),
                parts: vec![
                    AddedPart { part: PartOf::Wire, ms: 0.21 },
                    AddedPart { part: PartOf::Flushed, ms: 0.57 },
                    AddedPart { part: PartOf::Elsewhere, ms: 0.59 },
                ],
                round_trips: Some(4.03),
                own_flush_ms: Some((0.243, 0.391)),
                mirror_flush_ms: Some(0.317),
            }],
            tuning: Some(Tuning {
                against: "stream-0".into(),
                alone: estimate(3.17),
                mirrored: estimate(2.83),
                across: estimate(1.43),
            }),
            compensations: vec![Compensation {
                sessions: 8.0,
                predicted: estimate(9.7),
                observed: Some(9.4),
                tried: (12.0, 1.07),
                up_to: 16.3,
                ceiling: Some(1.37),
                cpu: Some((0.77, 12.0)),
                flushes: true,
                limit: Some(SessionLimit::Cores),
            }],
            core_compensations: vec![CoreCompensation {
                cores: 0.5,
                cpu_ms: [0.47, 0.59, 0.11],
                predicted: Some(estimate(0.67)),
                ceiling: 1.73,
                observed: Some(estimate(0.71)),
                tried: (0.75, 1.03),
                up_to: 0.87,
            }],
            round_trips: Some(estimate(1.02)),
            spreads: vec![Spreading {
                at: "spread split".into(),
                rate: estimate(1.31),
                response: Some(estimate(0.77)),
                cpu: Some(1.63),
                again: 0.045,
            }],
        }),
        Finding::Beside(Beside {
            point: At::new("curve", "left", "stream-1").point(),
            baseline: At::new("alone", "left", "stream-1").point(),
            beside: vec!["stream-0".into()],
            what: Some(Yield::Accounts.word().into()),
            ratio: estimate(0.58),
            response: Some(estimate(1.9)),
        }),
        Finding::Threshold(ThresholdOutcome {
            needs: None,
            text: "throughput < 10k/s".into(),
            metric: Metric::Throughput,
            at: "left, 32 outstanding".into(),
            value: Some(estimate(8_808.0)),
            state: ThresholdState::Failed,
        }),
        Finding::Threshold(ThresholdOutcome {
            needs: None,
            text: "response p99 > 5 ms".into(),
            metric: Metric::ResponseQuantile(0.99),
            at: "no trial matched".into(),
            value: None,
            state: ThresholdState::NotMeasured,
        }),
    ]
}

fn comparison(primary: bool, verdict: Verdict, reason: Option<&str>) -> Finding {
    let more = if primary { 0.0 } else { 0.1 };
    Finding::Comparison(Comparison {
        point: At::new("curve", "right", "stream-0").with("outstanding", count(33.0)).point(),
        baseline: "left".into(),
        metric: if primary { "throughput" } else { "response p99" }.into(),
        said: if primary { "throughput" } else { "p99 latency" }.into(),
        primary,
        direction: if primary { Direction::HigherIsBetter } else { Direction::LowerIsBetter },
        ratio: Estimate { value: 1.234 - more, low: 1.111 - more, high: 1.357 - more, n: 8, confidence: 0.95 },
        margin: 0.05 + more,
        detectable: primary.then_some(0.042),
        interleaved: primary,
        adjusted: !primary,
        p_value: 0.012 + more,
        verdict,
        reason: reason.map(str::to_owned),
        because: reason.map(|_| "too few pairs".to_owned()),
    })
}

/// A step with one object, its bytes so far and their share, and what was promised and delivered of it.
fn tier_step(system: &str, object: &str, (bytes, of_bytes): (f64, f64), (promised, delivered): (f64, f64)) -> TierStep {
    TierStep {
        system: system.into(),
        objects: vec![(object.into(), bytes)],
        bytes,
        of_bytes,
        promised: estimate(promised),
        delivered: Some(estimate(delivered)),
        per_s: estimate(91.0),
    }
}
