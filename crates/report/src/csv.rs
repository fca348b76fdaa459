//! CSV: tidy, one row a trial and stream, the unit in the name of every column.
//!
//! The one idea: a spreadsheet or a data frame reads it without a word of explanation, at full precision. Factors have a
//! column each, in base units. What is not known is an empty field.

use crate::view::each_once;
use analysis::{ClassSummary, Findings, LatencySummary, StreamSummary, TrialSummary};
use observation::{Level, StreamLabel, level_of};
use study::Yield;

/// What one row is of.
struct Of<'a> {
    findings: &'a Findings,
    trial: &'a TrialSummary,
    stream: &'a StreamSummary,
}

/// The name of a column, and what stands in it.
type Column = (&'static str, fn(&Of) -> String);

const BEFORE: [Column; 10] = [
    ("run", |of| of.findings.run.id.clone()),
    ("study", |of| of.findings.run.study.clone()),
    ("trial", |of| of.trial.label.index.to_string()),
    ("experiment", |of| of.trial.label.experiment.clone()),
    ("system", |of| of.trial.label.system.clone()),
    ("stream", |of| of.label().map(|label| label.name.clone()).unwrap_or_default()),
    ("workload", |of| of.label().map(|label| label.workload.clone()).unwrap_or_default()),
    ("replicate", |of| of.trial.label.replicate.to_string()),
    ("block", |of| of.trial.label.block.to_string()),
    ("backend", |of| of.trial.provenance.word().to_owned()),
];

const AFTER: [Column; 8] = [
    ("started_unix_ns", |of| of.trial.started_unix_ns.to_string()),
    ("window_s", |of| number(of.trial.window.length().seconds())),
    ("throughput_per_s", |of| number(of.stream.throughput_per_s.value)),
    ("throughput_low_per_s", |of| number(of.stream.throughput_per_s.low)),
    ("throughput_high_per_s", |of| number(of.stream.throughput_per_s.high)),
    ("offered_per_s", |of| optional(of.stream.offered_per_s)),
    ("bytes_per_s", |of| number(of.stream.bytes_per_s)),
    ("elapsed_s", |of| number(of.trial.elapsed_s)),
];

/// What transactions give those who ask for them, each by the hour.
const GIVEN: [Column; 4] = [
    ("postings_per_h", |of| of.given(Yield::Postings)),
    ("accounts_balanced_per_h", |of| of.given(Yield::Accounts)),
    ("dialog_steps_per_h", |of| of.given(Yield::DialogSteps)),
    ("rows_loaded_per_h", |of| of.given(Yield::LoadedRows)),
];

/// How old what users saw was; beyond the share that is named last, quantiles are only lower bounds.
const FRESHNESS: [Column; 4] = [
    ("freshness_p50_ms", |of| optional(of.age().map(|class| class.response.p50_ms))),
    ("freshness_p99_ms", |of| optional(of.age().map(|class| class.response.p99_ms))),
    ("freshness_max_ms", |of| optional(of.age().map(|class| class.response.max_ms))),
    ("freshness_lower_bound_from", |of| optional(of.age().and_then(|class| class.bound_from))),
];

type Times = fn(&StreamSummary) -> &LatencySummary;

const TIMES: [(&str, Times); 3] = [
    ("response", |stream| &stream.response),
    ("service", |stream| &stream.service),
    ("lateness", |stream| &stream.lateness),
];

type Figure = fn(&LatencySummary) -> f64;

/// Of each of these times.
const FIGURES: [(&str, Figure); 6] = [
    ("mean", |times| times.mean_ms),
    ("p50", |times| times.p50_ms),
    ("p95", |times| times.p95_ms),
    ("p99", |times| times.p99_ms),
    ("p999", |times| times.p999_ms),
    ("max", |times| times.max_ms),
];

const LAST: [Column; 15] = [
    ("planned", |of| of.stream.account.planned.to_string()),
    ("done", |of| of.stream.account.done.to_string()),
    ("failed", |of| of.stream.account.failed.to_string()),
    ("censored", |of| of.stream.account.censored.to_string()),
    ("retried", |of| of.stream.retried.to_string()),
    ("rolled_back", |of| of.stream.rolled_back.to_string()),
    ("over_limit", |of| of.stream.limit.as_ref().map(|limit| limit.late.to_string()).unwrap_or_default()),
    ("skipped", |of| {
        of.stream.limit.as_ref().and_then(|limit| limit.skipped).map(|n| n.to_string()).unwrap_or_default()
    }),
    ("generator_cpu_user_s", |of| number(of.trial.generator_cpu.user_s)),
    ("generator_cpu_system_s", |of| number(of.trial.generator_cpu.system_s)),
    ("cpu_user_us_per_operation", |of| optional(of.stream.cpu.map(|cpu| cpu.user_us))),
    ("cpu_system_us_per_operation", |of| optional(of.stream.cpu.map(|cpu| cpu.system_us))),
    ("steady", |of| of.stream.steady.answer.word().to_owned()),
    ("little_gap_pct", |of| optional(of.stream.little_gap_pct)),
    ("caveats", |of| crate::json::kinds(&of.trial.caveats).join(" ")),
];

/// One row a trial and stream, header first, lines ended by `\n`, fields quoted as RFC 4180 says where they must be.
pub fn csv(findings: &Findings) -> String {
    let all = findings.trials.iter().flat_map(|trial| &trial.label.factors);
    let factors = each_once(all.map(|factor| factor.name.as_str()));
    let names = |columns: &[Column]| columns.iter().map(|column| column.0.to_owned()).collect::<Vec<_>>();
    let times = TIMES.iter().flat_map(|(what, _)| FIGURES.map(|(figure, _)| format!("{what}_{figure}_ms")));
    let before = names(&BEFORE).into_iter().chain(factors.iter().map(|name| format!("factor.{name}")));
    let after = [&AFTER[..], &GIVEN].concat();
    let last = [&FRESHNESS[..], &LAST].concat();
    let mut text = row(before.chain(names(&after)).chain(times).chain(names(&last)));
    for trial in &findings.trials {
        for stream in &trial.streams {
            text.push_str(&row(Of { findings, trial, stream }.fields(&factors)));
        }
    }
    text
}

impl Of<'_> {
    fn label(&self) -> Option<&StreamLabel> {
        self.trial.label.streams.get(usize::from(self.stream.stream))
    }

    fn fields<'a>(&'a self, factors: &'a [&str]) -> impl Iterator<Item = String> + 'a {
        let held = |columns: &'static [Column]| columns.iter().map(|column| column.1(self));
        let levels = factors.iter().map(|name| match level_of(&self.trial.label.factors, name) {
            Some(Level::Number { value, .. }) => number(*value),
            Some(Level::Word(word)) => word.clone(),
            None => String::new(),
        });
        let times = TIMES.iter().map(|(_, times)| times(self.stream)).flat_map(|times| {
            FIGURES.map(|(_, figure)| if times.count == 0 { String::new() } else { number(figure(times)) })
        });
        let after = held(&AFTER).chain(held(&GIVEN));
        held(&BEFORE).chain(levels).chain(after).chain(times).chain(held(&FRESHNESS)).chain(held(&LAST))
    }

    fn given(&self, what: Yield) -> String {
        let given = self.stream.yields.iter().find(|given| given.what == what.word());
        optional(given.map(|given| 3_600.0 * given.per_s.value))
    }

    /// The class of ages, where anything was seen that has one.
    fn age(&self) -> Option<&ClassSummary> {
        self.stream.age(&self.trial.label).filter(|class| class.response.count > 0)
    }
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
