//! A brokerage house over sessions on one server: mix, prices and checks.

use super::build::*;
use analysis::*;
use observation::*;
use units::Nanos;

/// Class, planned share, measured share, p90 in milliseconds, and limit in seconds.
const CLASSES: [(&str, f64, f64, f64, f64); 4] = [
    ("trade-order", 0.101, 0.1004, 14.2, 2.0),
    ("trade-status", 0.319, 0.3222, 3.1, 1.0),
    ("market-watch", 0.46, 0.4574, 1_204.0, 1.0),
    ("trade-result", 0.12, 0.12, 22.5, 2.0),
];

pub fn house() -> Findings {
    let mut run = run("brokerage", "Transactions of a brokerage house", "How many transactions a second?");
    run.systems = vec![system("postgres", "postgres", "local:postgres", 1)];
    let mut findings = Findings { run, ..Findings::default() };
    findings.answer = vec!["postgres completes 1912 /s of brokerage at 16 sessions.".into()];
    for (index, (sessions, rate)) in [(1.0, 420.0), (4.0, 1_310.0), (16.0, 1_912.0)].into_iter().enumerate() {
        add(&mut findings, index as u32, sessions, rate);
    }
    let curve =
        findings.points.iter().map(|point| (point.at.factors[0].level.number().unwrap(), point.throughput_per_s));
    findings.findings = vec![Finding::Knee(Knee {
        point: At::new(EXPERIMENT, "postgres", "brokerage").point(),
        factor: "sessions".into(),
        at: Some(Estimate { value: 16.0, low: 4.0, high: 16.0, n: 3, confidence: 0.95 }),
        scatters: false,
        peak_per_s: about(1_912.0, 0.02, 3),
        curve: curve.collect(),
    })];
    findings
}

const EXPERIMENT: &str = "throughput by sessions";

fn add(findings: &mut Findings, index: u32, sessions: f64, rate: f64) {
    let at = At::new(EXPERIMENT, "postgres", "brokerage").with("sessions", count(sessions)).index(index);
    let seen = Seen { throughput: rate, transfer: 0.0, p50_ms: sessions / rate * 1e3, tail: 6.0, spread: 0.02, n: 3 };
    let no_bytes = Estimate { n: 0, ..Estimate::single(0.0) };
    findings.points.push(PointSummary { work: Work::Transactions, bytes_per_s: no_bytes, ..point(&at, seen) });
    let mut trial = trial(&at, seen, 2, 20);
    trial.label.streams[0].load = format!("closed, {sessions} sessions");
    trial.label.streams[0].asks = Asks::Transactions;
    trial.streams[0].classes = CLASSES.iter().map(|class| summary(*class, rate)).collect();
    trial.server = Some(server(rate));
    let note = |text: &str| Event { at: Nanos::from_secs(22), kind: EventKind::Note, text: text.into() };
    trial.events =
        vec![note("all 10 checks of the data hold, done in 0.4 s"), note("ledger: 3217 orders are as acknowledged")];
    let plan = "watched prices\nNested Loop\n  ->  Seq Scan on watched\n        Filter: (list = $1)\n  ->  Index Scan using security_key on security";
    trial.events.push(Event { kind: EventKind::Plan, ..note(plan) });
    findings.trials.push(trial);
}

fn summary((name, planned, share, p90_ms, limit): (&str, f64, f64, f64, f64), rate: f64) -> ClassSummary {
    let response = LatencySummary { p90_ms, ..latency(p90_ms / 2.0, 3.0, 4_000) };
    ClassSummary {
        name: name.into(),
        throughput_per_s: share * rate,
        offered_per_s: None,
        bound_from: None,
        done: (20.0 * share * rate) as u64,
        failed: 0,
        retried: 0,
        bytes_per_s: 0.0,
        response,
        service: response,
        mix: ClassMix {
            share: Some(share),
            planned_share: Some(planned),
            mix_ok: Some(true),
            limit_s: Some(limit),
            response_ok: Some(p90_ms <= 1e3 * limit),
        },
    }
}

fn server(rate: f64) -> ServerSummary {
    ServerSummary {
        embedded: false,
        cpu_user_cores: Some(2.9),
        cpu_system_cores: Some(0.8),
        cpu_busy_cores: None,
        mirror_cpu_cores: None,
        mirror: MirrorWaits::default(),
        bytes_read_per_s: Some(0.0),
        bytes_written_per_s: Some(rate * 14_300.0),
        processes: Some(23.0),
        counters: vec![(Counter::Commits, rate * 0.99), (Counter::LogBytes, rate * 6_100.0)],
        buffer_hit_share: Some(0.9931),
        in_sessions: InSessions { busy: 24.0, per_s: rate },
        profile: Some(profile(3.7e6 / rate)),
        per_transaction: PerTransaction {
            cpu_ms: Some(3_700.0 / rate),
            bytes_read: Some(0.0),
            bytes_written: Some(14_300.0),
            log_bytes: Some(6_100.0),
            ..PerTransaction::default()
        },
        per_machine_core_per_s: Some(rate / 8.0),
        per_server_core_per_s: Some(rate / 3.7),
        checkpoints: Some(Checkpoints {
            held: Held::Forced,
            measured: Window { start: Nanos::from_secs(2), end: Nanos::from_secs(22) },
            begun: Some(0),
            cycles: 0,
            cycle_s: Some(300.0),
            text: "the window begins right after a forced checkpoint and holds no whole cycle".into(),
        }),
        working_set: Some(WorkingSet {
            data_bytes: Some(5e9),
            buffer_bytes: Some(2e9),
            buffered_bytes: Some(1.9e9),
            memory_bytes: Some(32e9),
            page_cached_bytes: Some(4e9),
            fits: Some(Fits::PageCache),
            ..WorkingSet::default()
        }),
    }
}

/// Where sessions were seen, as far as they were.
fn seen(all: &[(&str, f64)]) -> Vec<(String, f64)> {
    all.iter().filter(|(_, us)| *us > 0.0).map(|(event, us)| ((*event).to_owned(), *us)).collect()
}

/// A read that takes most of the CPU, a write, a commit whose cost nobody counts, and many that hardly matter.
fn profile(cpu_us: f64) -> StatementsProfile {
    let one = |name: &str, executions: f64, share: f64, log_bytes: f64| StatementProfile {
        name: name.into(),
        executions,
        rows: executions * 2.0,
        changed: if log_bytes > 0.0 { executions } else { 0.0 },
        server_executions: Some(executions * 1.01),
        cpu_us: Some(share * cpu_us),
        execution_us: Some(share * cpu_us * 1.5),
        planning_us: Some(executions * 0.4),
        io_us: Some(share * 20.0),
        lookups: Some(executions * 9.0),
        reads: Some(executions * 0.06),
        rows_examined: None,
        log_bytes: Some(log_bytes),
        seen: seen(&[
            ("CPU", share * cpu_us),
            ("Lock:transactionid", if log_bytes > 0.0 { 70.0 } else { 0.0 }),
            ("IO:DataFileRead", share * 20.0),
        ]),
    };
    let mut statements = vec![one("watched prices", 0.46, 0.6, 0.0), one("change a position", 0.31, 0.2, 4_100.0)];
    statements.extend((1..=24).map(|n| one(&format!("small {n}"), 0.05, 0.2 / 24.0, 0.0)));
    statements.push(StatementProfile {
        name: "(commit)".into(),
        executions: 0.22,
        seen: seen(&[("IO:WALSync", 190.0), ("LWLock:WALWrite", 24.0), ("CPU", 8.0), ("Client:ClientRead", 2.0)]),
        ..StatementProfile::default()
    });
    StatementsProfile { statements, cpu: CpuBasis::SharedOut, log_shared_out: false }
}
