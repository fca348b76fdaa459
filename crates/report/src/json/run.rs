//! `prony/run/1`: a whole run with its findings.

use super::{estimate, factors, finding::finding, number, optional, optional_estimate, trial};
use crate::caveats::all_caveats;
use analysis::{Caveat, Findings, PointSummary};
use observation::{Ceiling, Footprint, RunFacts, SystemFacts};
use serde_json::{Value, json};

/// The run as `prony/run/1`. See `docs/schema/run-1.json`.
pub fn json(findings: &Findings) -> Value {
    let run = &findings.run;
    json!({
        "schema": "prony/run/1",
        "study": run.study,
        "run": run.id,
        "about": about(run),
        "answer": findings.answer,
        "systems": systems(run),
        "trials": trials(findings),
        "points": findings.points.iter().map(point).collect::<Vec<_>>(),
        "findings": findings.findings.iter().map(finding).collect::<Vec<_>>(),
        "caveats": caveats(findings),
    })
}

fn about(run: &RunFacts) -> Value {
    json!({
        "title": run.title,
        "question": run.question,
        "started_unix_ns": run.started_unix_ns,
        "seed": run.seed,
        "version": run.version,
        "commit": run.commit,
        "study_text": run.study_text,
        "targets": run.targets,
        "settings": run.settings,
        "only": run.only,
        "tags": run.tags,
        "note": run.note,
        "finished": run.finished,
        "ceiling": run.ceiling.as_ref().map(ceiling),
    })
}

/// The four figures of the generator itself.
pub(super) fn ceiling(ceiling: &Ceiling) -> Value {
    json!({
        "null_operation_ns": number(ceiling.null_operation_ns),
        "clock_read_ns": number(ceiling.clock_read_ns),
        "lateness_p99_ns": number(ceiling.lateness_p99_ns),
        "open_rate_error_pct": number(ceiling.open_rate_error_pct),
    })
}

pub(super) fn systems(run: &RunFacts) -> Value {
    run.systems.iter().map(system).collect()
}

fn system(system: &SystemFacts) -> Value {
    json!({
        "name": system.name,
        "kind": system.kind,
        "place": system.place,
        "modules": system.modules,
        "driver": system.driver,
        "footprint": footprint(&system.footprint),
        "fingerprint": system.fingerprint.iter().map(|fact| json!({
            "key": fact.key,
            "value": fact.value,
            "private": fact.private,
        })).collect::<Vec<_>>(),
    })
}

fn footprint(footprint: &Footprint) -> Value {
    json!({
        "drives": optional(footprint.drives),
        "watts": optional(footprint.watts),
        "rack_units": optional(footprint.rack_units),
        "price": optional(footprint.price),
    })
}

fn trials(findings: &Findings) -> Value {
    let entries = |trial| -> Vec<Value> { streams_of(trial) };
    findings.trials.iter().flat_map(entries).collect()
}

fn streams_of(summary: &analysis::TrialSummary) -> Vec<Value> {
    summary.streams.iter().map(|stream| trial::entry(summary, stream)).collect()
}

fn point(point: &PointSummary) -> Value {
    json!({
        "experiment": point.at.experiment,
        "system": point.at.system,
        "stream": point.at.stream,
        "factors": factors(&point.at.factors),
        "backend": point.provenance.word(),
        "trials": point.trials,
        "throughput_per_s": estimate(&point.throughput_per_s),
        "bytes_per_s": estimate(&point.bytes_per_s),
        "response_mean_ms": estimate(&point.response_mean_ms),
        "response_p50_ms": estimate(&point.response_p50_ms),
        "response_p99_ms": estimate(&point.response_p99_ms),
        "response_p999_ms": estimate(&point.response_p999_ms),
        "service_mean_ms": estimate(&point.service_mean_ms),
        "elapsed_s": optional_estimate(point.elapsed_s.as_ref()),
        "cpu_elapsed_s": optional_estimate(point.cpu_elapsed_s.as_ref()),
        "cpu_us": optional_estimate(point.cpu_us.as_ref()),
        "disk_utilisation": optional_estimate(point.disk_utilisation.as_ref()),
        "disk_wait_ms": optional_estimate(point.disk_wait_ms.as_ref()),
        "steady": point.steady.word(),
        "caveats": point.caveats.iter().map(|caveat| caveat.kind.word()).collect::<Vec<_>>(),
    })
}

/// All caveats, each once.
pub(super) fn caveats(findings: &Findings) -> Value {
    all_caveats(findings).into_iter().map(caveat).collect()
}

fn caveat(caveat: &Caveat) -> Value {
    json!({ "kind": caveat.kind.word(), "trial": caveat.trial, "text": caveat.text })
}
