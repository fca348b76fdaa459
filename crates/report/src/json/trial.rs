//! One entry a trial and stream.

use super::run::kinds;
use super::value::{factors, object, objects, pairs};
use analysis::{
    Bound, Burst, ClassSummary, ClockSummary, CpuPerOperation, DiskSummary, Estimate, GeneratorSummary, Jobs,
    LatencySummary, LimitSummary, LooksSummary, MachineSummary, RingsSummary, RoundsTrace, Stall, StreamSummary,
    Sustained, TrialSummary, YieldSummary, bound,
};
use observation::{CpuTime, Event, EventKind, Mishap};
use serde_json::Value;

/// The entry of stream `stream` of `trial`.
pub(super) fn entry(trial: &TrialSummary, stream: &StreamSummary) -> Value {
    let label = &trial.label;
    let named = label.streams.get(usize::from(stream.stream));
    object!(stream {
        "trial": label.index, "experiment": label.experiment, "system": label.system,
        "stream": named.map(|named| named.name.as_str()), "workload": named.map(|named| named.workload.as_str()),
        "load": named.map(|named| named.load.as_str()), "factors": factors(&label.factors),
        "replicate": label.replicate, "block": label.block, "state": label.state.to_string(), "search": label.search.as_ref().map(|search| search.words.clone()),
        "backend": trial.provenance.word(), "started_unix_ns": trial.started_unix_ns,
        "interrupted": trial.interrupted, "window_s": trial.window,
        "throughput_per_s": stream.throughput_per_s.value, "throughput_interval_per_s": ends(&stream.throughput_per_s),
        offered_per_s, bytes_per_s, yields, "latency_limit": stream.limit, "elapsed_s": trial.elapsed_s, "fixed_work": trial.fixed_work, "jobs": trial.jobs,
        "response_ms": stream.response, "service_ms": stream.service, "lateness_ms": stream.lateness,
        "tail": tail(&stream.response), classes,
        "planned": stream.account.planned, "done": stream.account.done, "failed": stream.account.failed,
        "censored": stream.account.censored, retried, rolled_back, "generator_cpu_s": trial.generator_cpu,
        "cpu_us_per_operation": stream.cpu, "steady": stream.steady.answer.word(), "rounds": stream.steady.rounds,
        little_gap_pct, sustained, stall, "bound": bound(trial, stream), "generator": trial.generator, "machine": trial.machine,
        "server": trial.server,
        "mishaps": of_stream(&trial.mishaps, stream.stream), "checks_failed": trial.checks_failed,
        "events": happened(&trial.events), "caveats": kinds(&trial.caveats),
    })
}

/// What went wrong in a stream.
fn of_stream(mishaps: &[Mishap], stream: u16) -> Vec<&Mishap> {
    mishaps.iter().filter(|mishap| mishap.stream == stream).collect()
}

/// What happened besides the phases, which follow from the times.
fn happened(events: &[Event]) -> Vec<&Event> {
    events.iter().filter(|event| event.kind != EventKind::Phase).collect()
}

objects! {
    given: YieldSummary {
        what, "per_h": given.per_s.scaled(3_600.0).value, "interval_per_h": ends(&given.per_s.scaled(3_600.0)),
    }

    limit: LimitSummary {
        "words": limit.words.clone(), late, "late_share": limit.late_share.value, "late_share_interval": ends(&limit.late_share),
        skipped, "skipped_share": limit.skipped_share.map(|share| share.value),
        "skipped_share_interval": limit.skipped_share.map(|share| ends(&share)),
    }

    mishap: Mishap { "kind": mishap.kind.word(), what, count, first }

    event: Event { "at_s": event.at.seconds(), "kind": event.kind.word(), text }

    jobs: Jobs { longest_s, mean_s, "longest_over_mean": jobs.longest_s / jobs.mean_s }

    class: ClassSummary {
        name, throughput_per_s, offered_per_s, bytes_per_s, done, failed, retried, "lower_bound_from": class.bound_from, "share": class.mix.share,
        "planned_share": class.mix.planned_share, "mix_ok": class.mix.mix_ok,
        "p90_ms": Some(class.response.p90_ms).filter(|_| class.response.count > 0), "limit_s": class.mix.limit_s,
        "response_ok": class.mix.response_ok, "response_ms": class.response, "service_ms": class.service,
    }

    cpu: CpuTime { "user": cpu.user_s, "system": cpu.system_s }

    cpu: CpuPerOperation { "user": cpu.user_us, "system": cpu.system_us }

    rounds: RoundsTrace { "means_per_s": rounds.means, range, slope, noise }

    sustained: Sustained {
        peak_per_s, peak_window_s, late_per_s, burst,
        "averages": pairs(&sustained.averages, ["window_s", "throughput_per_s"]),
    }

    stall: Stall { at_s, lasted_s, slots, rate_per_s, open_p99_ms }

    found: Bound {
        "by": found.by.word(), "station": found.station.as_ref().map(|(name, _)| name.clone()),
        "station_busy": found.station.as_ref().map(|(_, busy)| *busy), cpu, own_cpu, commits, commits_at_most,
        reads, locks, sessions, waits,
    }

    burst: Burst { before_per_s, sustained_per_s, credit_operations, lasted_s, p_value, apart }

    generator: GeneratorSummary { "between_looks_ms": generator.looks, waited_for_cpu, children_cores, clock, rings, hung, hung_before }

    looks: LooksSummary { "mean": looks.mean_ms, "p99": looks.p99_ms, "max": looks.max_ms }

    clock: ClockSummary { error_ppm, uncertainty_ppm, suspended_s, jump_s }

    rings: RingsSummary { generation, registered_buffers, poll_first }

    machine: MachineSummary {
        "cpu_cores": object!(machine {
            "user": machine.cpu_user_cores, "system": machine.cpu_system_cores, "iowait": machine.cpu_iowait_cores,
            "steal": machine.cpu_steal_cores, "all": machine.cores,
        }),
        waited_for_cpu, disks,
    }

    disk: DiskSummary { name, utilisation, wait_ms, operations_per_s, bytes_per_s }

    latency: LatencySummary {
        "mean": at(latency, latency.mean_ms), "p50": at(latency, latency.p50_ms), "p95": at(latency, latency.p95_ms),
        "p99": at(latency, latency.p99_ms), "p999": at(latency, latency.p999_ms), "max": at(latency, latency.max_ms),
    }
}

/// Quantiles of nothing are unknown, not zero.
fn at(latency: &LatencySummary, ms: f64) -> Option<f64> {
    (latency.count > 0).then_some(ms)
}

fn ends(estimate: &Estimate) -> Value {
    object!(estimate { low, high })
}

fn tail(response: &LatencySummary) -> Value {
    let tail = &response.tail;
    object!(tail { p99_firm, p999_firm, "lower_bound": tail.censored })
}
