//! One entry a trial and stream.

use super::{factors, number, optional, server};
use analysis::{Burst, ClassSummary, LatencySummary, MachineSummary, StreamSummary, Sustained, TrialSummary};
use serde_json::{Value, json};

/// The entry of stream `stream` of `trial`.
pub(super) fn entry(trial: &TrialSummary, stream: &StreamSummary) -> Value {
    let label = trial.label.streams.get(usize::from(stream.stream));
    json!({
        "trial": trial.label.index,
        "experiment": trial.label.experiment,
        "system": trial.label.system,
        "stream": label.map(|label| label.name.as_str()),
        "workload": label.map(|label| label.workload.as_str()),
        "load": label.map(|label| label.load.as_str()),
        "factors": factors(&trial.label.factors),
        "replicate": trial.label.replicate,
        "block": trial.label.block,
        "state": trial.label.state.to_string(),
        "search": trial.label.search.as_ref().map(|search| &search.words),
        "backend": trial.provenance.word(),
        "started_unix_ns": trial.started_unix_ns,
        "interrupted": trial.interrupted,
        "window_s": { "start": number(trial.window.start.seconds()), "end": number(trial.window.end.seconds()) },
        "throughput_per_s": number(stream.throughput_per_s.value),
        "throughput_interval_per_s": {
            "low": number(stream.throughput_per_s.low),
            "high": number(stream.throughput_per_s.high),
        },
        "offered_per_s": optional(stream.offered_per_s),
        "bytes_per_s": number(stream.bytes_per_s),
        "elapsed_s": number(trial.elapsed_s),
        "fixed_work": trial.fixed_work,
        "response_ms": latency(&stream.response),
        "service_ms": latency(&stream.service),
        "lateness_ms": latency(&stream.lateness),
        "tail": tail(&stream.response),
        "classes": stream.classes.iter().map(class).collect::<Vec<_>>(),
        "planned": stream.account.planned,
        "done": stream.account.done,
        "failed": stream.account.failed,
        "censored": stream.account.censored,
        "retried": stream.retried,
        "rolled_back": stream.rolled_back,
        "generator_cpu_s": {
            "user": number(trial.generator_cpu.user_s),
            "system": number(trial.generator_cpu.system_s),
        },
        "cpu_us_per_operation": stream.cpu.map(|cpu| json!({
            "user": number(cpu.user_us),
            "system": number(cpu.system_us),
        })),
        "steady": stream.steady.answer.word(),
        "rounds": stream.steady.rounds.as_ref().map(|rounds| json!({
            "means_per_s": rounds.means.iter().copied().map(number).collect::<Vec<_>>(),
            "range": number(rounds.range),
            "slope": number(rounds.slope),
        })),
        "little_gap_pct": optional(stream.little_gap_pct),
        "sustained": stream.sustained.as_ref().map(sustained),
        "machine": machine(&trial.machine),
        "server": trial.server.as_ref().map(server::entry),
        "caveats": trial.caveats.iter().map(|caveat| caveat.kind.word()).collect::<Vec<_>>(),
    })
}

/// Quantiles of nothing are unknown, not zero.
fn latency(latency: &LatencySummary) -> Value {
    let at = |ms: f64| if latency.count == 0 { Value::Null } else { number(ms) };
    json!({
        "mean": at(latency.mean_ms),
        "p50": at(latency.p50_ms),
        "p95": at(latency.p95_ms),
        "p99": at(latency.p99_ms),
        "p999": at(latency.p999_ms),
        "max": at(latency.max_ms),
    })
}

fn tail(response: &LatencySummary) -> Value {
    json!({
        "p99_firm": response.tail.p99_firm,
        "p999_firm": response.tail.p999_firm,
        "lower_bound": response.tail.censored,
    })
}

fn class(class: &ClassSummary) -> Value {
    json!({
        "name": class.name,
        "throughput_per_s": number(class.throughput_per_s),
        "bytes_per_s": number(class.bytes_per_s),
        "done": class.done,
        "failed": class.failed,
        "share": optional(class.mix.share),
        "planned_share": optional(class.mix.planned_share),
        "mix_ok": class.mix.mix_ok,
        "p90_ms": optional(Some(class.response.p90_ms).filter(|_| class.response.count > 0)),
        "limit_s": optional(class.mix.limit_s),
        "response_ok": class.mix.response_ok,
        "response_ms": latency(&class.response),
        "service_ms": latency(&class.service),
    })
}

/// At most against sustained; also used for the finding of that kind.
pub(super) fn sustained(sustained: &Sustained) -> Value {
    json!({
        "peak_per_s": number(sustained.peak_per_s),
        "peak_window_s": number(sustained.peak_window_s),
        "late_per_s": number(sustained.late_per_s),
        "burst": sustained.burst.map(burst),
        "averages": sustained.averages.iter().map(|(window, rate)| json!({
            "window_s": number(*window),
            "throughput_per_s": number(*rate),
        })).collect::<Vec<_>>(),
    })
}

fn burst(burst: Burst) -> Value {
    json!({
        "sustained_per_s": number(burst.sustained_per_s),
        "credit_operations": number(burst.credit_operations),
        "lasted_s": number(burst.lasted_s),
    })
}

fn machine(machine: &MachineSummary) -> Value {
    json!({
        "cpu_cores": {
            "user": optional(machine.cpu_user_cores),
            "system": optional(machine.cpu_system_cores),
            "iowait": optional(machine.cpu_iowait_cores),
            "steal": optional(machine.cpu_steal_cores),
            "all": machine.cores,
        },
        "disks": machine.disks.iter().map(|disk| json!({
            "name": disk.name,
            "utilisation": number(disk.utilisation),
            "wait_ms": number(disk.wait_ms),
            "operations_per_s": number(disk.operations_per_s),
            "bytes_per_s": number(disk.bytes_per_s),
        })).collect::<Vec<_>>(),
    })
}
