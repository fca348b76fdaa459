//! CSV: tidy, one row a trial and stream, the unit in the name of every column.
//!
//! The one idea: a spreadsheet or a data frame reads it without a word of explanation, at full precision. Factors have a
//! column each, in base units. What is not known is an empty field.

use crate::view::each_once;
use analysis::{Findings, StreamSummary, TrialSummary};
use observation::{Level, level_of};

/// One row a trial and stream, header first, lines ended by `\n`, fields quoted as RFC 4180 says where they must be.
pub fn csv(findings: &Findings) -> String {
    let all = findings.trials.iter().flat_map(|trial| &trial.label.factors);
    let factors = each_once(all.map(|factor| factor.name.as_str()));
    let mut text = row(columns(&factors).into_iter());
    for trial in &findings.trials {
        for stream in &trial.streams {
            let levels = factors.iter().map(|name| level(trial, name));
            text.push_str(&row(before(findings, trial, stream).into_iter().chain(levels).chain(after(trial, stream))));
        }
    }
    text
}

const COLUMNS_BEFORE: [&str; 10] =
    ["run", "study", "trial", "experiment", "system", "stream", "workload", "replicate", "block", "backend"];

const COLUMNS_AFTER: [&str; 8] = [
    "started_unix_ns",
    "window_s",
    "throughput_per_s",
    "throughput_low_per_s",
    "throughput_high_per_s",
    "offered_per_s",
    "bytes_per_s",
    "elapsed_s",
];

/// Of each of response, service and lateness.
const LATENCIES: [&str; 6] = ["mean", "p50", "p95", "p99", "p999", "max"];

const COLUMNS_LAST: [&str; 13] = [
    "planned",
    "done",
    "failed",
    "censored",
    "retried",
    "rolled_back",
    "generator_cpu_user_s",
    "generator_cpu_system_s",
    "cpu_user_us_per_operation",
    "cpu_system_us_per_operation",
    "steady",
    "little_gap_pct",
    "caveats",
];

/// All columns, with one for each factor.
fn columns(factors: &[&str]) -> Vec<String> {
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let latencies = ["response", "service", "lateness"].map(|what| LATENCIES.map(|of| format!("{what}_{of}_ms")));
    let factors = factors.iter().map(|name| format!("factor.{name}"));
    let before = named(&COLUMNS_BEFORE).into_iter().chain(factors).chain(named(&COLUMNS_AFTER));
    before.chain(latencies.into_iter().flatten()).chain(named(&COLUMNS_LAST)).collect()
}

fn level(trial: &TrialSummary, name: &str) -> String {
    match level_of(&trial.label.factors, name) {
        Some(Level::Number { value, .. }) => number(*value),
        Some(Level::Word(word)) => word.clone(),
        None => String::new(),
    }
}

fn before(findings: &Findings, trial: &TrialSummary, stream: &StreamSummary) -> Vec<String> {
    let label = &trial.label;
    let names = label.streams.get(usize::from(stream.stream));
    vec![
        findings.run.id.clone(),
        findings.run.study.clone(),
        label.index.to_string(),
        label.experiment.clone(),
        label.system.clone(),
        names.map(|names| names.name.clone()).unwrap_or_default(),
        names.map(|names| names.workload.clone()).unwrap_or_default(),
        label.replicate.to_string(),
        label.block.to_string(),
        trial.provenance.word().to_owned(),
    ]
}

fn after(trial: &TrialSummary, stream: &StreamSummary) -> Vec<String> {
    let mut fields = vec![
        trial.started_unix_ns.to_string(),
        number(trial.window.length().seconds()),
        number(stream.throughput_per_s.value),
        number(stream.throughput_per_s.low),
        number(stream.throughput_per_s.high),
        optional(stream.offered_per_s),
        number(stream.bytes_per_s),
        number(trial.elapsed_s),
    ];
    for latency in [&stream.response, &stream.service, &stream.lateness] {
        let values = [latency.mean_ms, latency.p50_ms, latency.p95_ms, latency.p99_ms, latency.p999_ms, latency.max_ms];
        fields.extend(values.map(|ms| if latency.count == 0 { String::new() } else { number(ms) }));
    }
    let account = &stream.account;
    let counts = [account.planned, account.done, account.failed, account.censored, stream.retried, stream.rolled_back];
    fields.extend(counts.map(|n| n.to_string()));
    fields.extend([
        number(trial.generator_cpu.user_s),
        number(trial.generator_cpu.system_s),
        optional(stream.cpu.map(|cpu| cpu.user_us)),
        optional(stream.cpu.map(|cpu| cpu.system_us)),
        stream.steady.answer.word().to_owned(),
        optional(stream.little_gap_pct),
        trial.caveats.iter().map(|caveat| caveat.kind.word()).collect::<Vec<_>>().join(" "),
    ]);
    fields
}

fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

fn optional(value: Option<f64>) -> String {
    value.map(number).unwrap_or_default()
}

fn row(fields: impl Iterator<Item = String>) -> String {
    let mut line = fields.map(|field| quoted(&field)).collect::<Vec<_>>().join(",");
    line.push('\n');
    line
}

/// Quotes where a comma, quote or line break would split the field, and where a spreadsheet would take a word for a formula.
fn quoted(field: &str) -> String {
    let formula =
        field.starts_with(['=', '+', '@', '\t', '\r']) || (field.starts_with('-') && field.parse::<f64>().is_err());
    let field = if formula { format!("'{field}") } else { field.to_owned() };
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_that_looks_like_a_formula_is_defused() {
        assert_eq!(quoted("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(quoted("-0.5"), "-0.5");
    }

    proptest! {
        #[test]
        fn a_field_never_breaks_out_of_its_row(text: String) {
            let line = row([text, "end".to_owned()].into_iter());
            let mut quotes = 0;
            let breaks = line.chars().filter(|c| { quotes += u32::from(*c == '"'); matches!(c, '\n' | '\r') && quotes % 2 == 0 });
            prop_assert_eq!(breaks.count(), 1);
        }
    }
}
