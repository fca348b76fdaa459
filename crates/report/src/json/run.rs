//! `prony/run/1`: a whole run with its findings; and `prony/compare/1`: only what sets two systems, or two runs, against each other.

use super::trial;
use super::value::{factors, object, objects};
use crate::caveats::all_caveats;
use crate::view::{Card, Number, report};
use analysis::{Caveat, Comparison, Estimate, Findings, FootprintFinding, PointSummary};
use observation::{Ceiling, Fact, Footprint, RunFacts, SystemFacts, TrialCheck};
use serde_json::Value;

/// The run as `prony/run/1`. See `docs/schema/run-1.json`.
pub fn json(findings: &Findings) -> Value {
    let run = &findings.run;
    let of = |summary| move |stream| trial::entry(summary, stream);
    let trials = findings.trials.iter().flat_map(|summary| summary.streams.iter().map(of(summary)));
    object!(findings {
        "schema": "prony/run/1", "study": run.study, "run": run.id, "about": run, "answer": told(findings), "card": report(findings).card,
        "systems": run.systems, "trials": trials.collect::<Vec<_>>(), points, findings, checks, "caveats": all_caveats(findings),
    })
}

/// The comparisons as `prony/compare/1`. `runs` names the one or two runs that stand behind them, the baseline's first.
/// See `docs/schema/compare-1.json`.
pub fn compare_json(findings: &Findings, runs: &[&str]) -> Value {
    let comparisons: Vec<&Comparison> = findings.comparisons().collect();
    object!(findings {
        "schema": "prony/compare/1", "study": findings.run.study, "runs": runs,
        "baseline": comparisons.first().map(|comparison| &comparison.baseline), "answer": told(findings), "systems": findings.run.systems,
        "findings": comparisons, "footprints": findings.findings.iter().filter(|one| FootprintFinding::of(one).is_some()).collect::<Vec<_>>(),
        "caveats": all_caveats(findings),
    })
}

/// The answer with what is to be doubted of it.
fn told(findings: &Findings) -> Vec<String> {
    findings.answer.iter().chain(&findings.doubts).cloned().collect()
}

objects! {
    run: RunFacts {
        title, question, started_unix_ns, seed, version, commit, study_text, targets, settings, only, tags, note,
        finished, ceiling,
    }

    card: Card { tested, numbers, typical, verdict, more, doubts }

    number: Number { value, interval, what, place, also }

    ceiling: Ceiling { null_operation_ns, clock_read_ns, lateness_p99_ns, open_rate_error_pct }

    system: SystemFacts { name, kind, place, modules, driver, footprint, fingerprint }

    footprint: Footprint { drives, watts, rack_units, price, floor }

    fact: Fact { key, value, private }

    point: PointSummary {
        "experiment": point.at.experiment, "system": point.at.system, "stream": point.at.stream,
        "factors": factors(&point.at.factors), "backend": point.provenance.word(), trials, throughput_per_s, bytes_per_s, asked_most_per_s,
        "yields": point.yields.iter().map(given).collect::<Vec<_>>(),
        response_mean_ms, response_p50_ms, response_p99_ms, response_p999_ms, service_mean_ms, elapsed_s, cpu_elapsed_s,
        cpu_us, disk_utilisation, disk_wait_ms, "steady": point.steady.word(), "caveats": kinds(&point.caveats),
    }

    told: TrialCheck {
        "trial": told.trial, "attempt": told.attempt, "kind": told.check.kind.word(), "name": told.check.name,
        "when": told.check.moment.word(), "says": told.check.says, "result": told.check.result.word(),
        "found": told.check.found, "took_s": told.check.took_s,
    }

    caveat: Caveat { "kind": caveat.kind.word(), trial, text }
}

/// Something that transactions gave, by the hour.
fn given((what, per_s): &(String, Estimate)) -> Value {
    object!(per_s { "what": what, "per_h": per_s.scaled(3_600.0) })
}

/// The kinds of caveats.
pub(crate) fn kinds(caveats: &[Caveat]) -> Vec<&'static str> {
    let mut found = Vec::new();
    for word in caveats.iter().map(|caveat| caveat.kind.word()) {
        if !found.contains(&word) {
            found.push(word);
        }
    }
    found
}
