//! `prony/run/1`: a whole run with its findings.

use super::value::{Json as _, object, objects};
use super::{estimate, factors, finding::finding, optional_estimate, trial};
use crate::caveats::all_caveats;
use analysis::{Caveat, Findings, PointSummary};
use observation::{Ceiling, Fact, Footprint, RunFacts, SystemFacts};
use serde_json::{Value, json};

/// The run as `prony/run/1`. See `docs/schema/run-1.json`.
pub fn json(findings: &Findings) -> Value {
    let run = &findings.run;
    json!({
        "schema": "prony/run/1",
        "study": run.study,
        "run": run.id,
        "about": run.json(),
        "answer": findings.answer,
        "systems": run.systems.json(),
        "trials": trials(findings),
        "points": findings.points.iter().map(point).collect::<Vec<_>>(),
        "findings": findings.findings.iter().map(finding).collect::<Vec<_>>(),
        "caveats": caveats(findings),
    })
}

objects! {
    run: RunFacts {
        title, question, started_unix_ns, seed, version, commit, study_text, targets, settings, only, tags, note,
        finished, ceiling,
    }

    ceiling: Ceiling { null_operation_ns, clock_read_ns, lateness_p99_ns, open_rate_error_pct }

    system: SystemFacts { name, kind, place, modules, driver, footprint, fingerprint }

    footprint: Footprint { drives, watts, rack_units, price }

    fact: Fact { key, value, private }
}

fn trials(findings: &Findings) -> Value {
    let of = |summary| move |stream| trial::entry(summary, stream);
    findings.trials.iter().flat_map(|summary| summary.streams.iter().map(of(summary))).collect()
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
