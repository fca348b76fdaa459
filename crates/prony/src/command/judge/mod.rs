//! `prony judge MODEL ROWS.csv`: how wrong a model is on rows that it never saw.
//!
//! The one idea: the simplest laws stand beside every prediction, so that nobody has to believe a model that is no better
//! than a straight line.

mod page;

use crate::args::Judge;
use crate::failure::Failure;
use crate::model_file::{self, ModelText};
use crate::output;
use crate::rows_file;
use model::file::{Description, ENOUGH};
use model::judge::{Baseline, Judged, Judgement, Role, judge};
use observation::Provenance;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Judges every table.
pub fn run(asked: &Judge) -> Result<(), Failure> {
    let found = model_file::find(&asked.model)?;
    let known = rows_file::shipped_rows();
    let (mut judgements, mut sources) = (Vec::new(), Vec::new());
    for path in &asked.rows {
        let (table, source) = rows_file::sourced(path)?;
        let judgement = judge(&found.model, &table, &known)
            .map_err(|error| Failure::caused(format!("judging `{}` on `{path}`", found.model.name), &error))?;
        judgements.push(judgement);
        sources.push(source);
    }
    if let Some(path) = &asked.html {
        model_file::write_new(path, &page::page(&found, &judgements, &sources))?;
    }
    output::answer(asked.json, || as_json(&found, &judgements), || as_text(&found, &judgements, held(&sources)))
}

fn as_json(found: &ModelText, judgements: &[Judgement]) -> Value {
    let model = &found.model;
    let rows: Vec<Value> = judgements.iter().flat_map(|judgement| &judgement.rows).map(row).collect();
    let unanswered = judgements.iter().flat_map(|judgement| &judgement.unanswered);
    let unanswered: Vec<Value> =
        unanswered.map(|(row_id, reason)| json!({ "row_id": row_id, "reason": reason })).collect();
    json!({
        "schema": "prony/judge/1",
        "model": model.name,
        "changes": found.changed(),
        "kind": model.kind.word(),
        "rows": rows,
        "unanswered": unanswered,
        "summary": summaries(judgements),
        "not_separable": separation(model),
    })
}

fn row(judged: &Judged) -> Value {
    let law = |law: &Option<Baseline>| {
        law.as_ref().map(|law| {
            let error_pct = judged.published.map(|published| 100.0 * (law.predicted / published - 1.0));
            json!({ "law": law.law, "predicted": law.predicted, "error_pct": error_pct })
        })
    };
    let laws = &judged.baselines;
    json!({
        "row_id": judged.row_id,
        "metric": judged.metric,
        "role": judged.role.word(),
        "published": judged.published,
        "predicted": judged.predicted,
        "low": judged.low,
        "high": judged.high,
        "error_pct": judged.error_pct,
        "floor_pct": judged.floor_pct,
        "baselines": {
            "linear": law(&laws.linear),
            "usl": law(&laws.usl),
            "two_parameters": law(&laws.two_parameters),
        },
    })
}

/// Errors of the judged rows by column: the model's and those of the laws beside it.
fn summaries(judgements: &[Judgement]) -> Vec<Value> {
    columns(judgements)
        .into_iter()
        .map(|column| {
            let rows = judged(judgements, &column);
            let worst = |of: &dyn Fn(&Judged) -> Option<f64>| worst(&rows, of);
            json!({
                "metric": column,
                "judged": rows.len(),
                "worst_error_pct": worst(&|row| row.error_pct),
                "mean_error_pct": mean(&rows),
                "inside_interval": rows.iter().filter(|row| inside(row)).count(),
                "worst_of_baselines_pct": {
                    "linear": worst(&|row| off(row, &row.baselines.linear)),
                    "usl": worst(&|row| off(row, &row.baselines.usl)),
                    "two_parameters": worst(&|row| off(row, &row.baselines.two_parameters)),
                },
            })
        })
        .collect()
}

fn columns(judgements: &[Judgement]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for row in judgements.iter().flat_map(|judgement| &judgement.rows) {
        if !columns.contains(&row.metric) {
            columns.push(row.metric.clone());
        }
    }
    columns
}

fn judged<'a>(judgements: &'a [Judgement], column: &str) -> Vec<&'a Judged> {
    let rows = judgements.iter().flat_map(|judgement| &judgement.rows);
    rows.filter(|row| row.role == Role::Judged && row.metric == column && row.published.is_some()).collect()
}

fn off(row: &Judged, law: &Option<Baseline>) -> Option<f64> {
    Some(100.0 * (law.as_ref()?.predicted / row.published? - 1.0))
}

fn inside(row: &Judged) -> bool {
    row.published.is_some_and(|published| (row.low..=row.high).contains(&published))
}

/// The error that is farthest from zero, with its sign.
fn worst(rows: &[&Judged], of: &dyn Fn(&Judged) -> Option<f64>) -> Option<f64> {
    rows.iter().filter_map(|row| of(row)).max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

fn mean(rows: &[&Judged]) -> Option<f64> {
    let errors: Vec<f64> = rows.iter().filter_map(|row| row.error_pct).map(f64::abs).collect();
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

/// What the rows of the model's calibration left open.
fn separation(model: &Description) -> Value {
    let none = Vec::new();
    let (silent, flat) = model.doubt.as_ref().map_or((&none, &[][..]), |doubt| (&doubt.silent, &doubt.flat[..]));
    json!({ "silent": silent, "flat": flat })
}

/// What the values are that a model is held against.
fn held(sources: &[Provenance]) -> &'static str {
    match sources {
        [first, others @ ..] if others.iter().all(|other| other == first) => first.word(),
        _ => "value",
    }
}

fn as_text(found: &ModelText, judgements: &[Judgement], values: &str) -> String {
    let model = &found.model;
    let mut text = format!("{}: {}\n", study::model_shown(&model.name, &found.changes), model.title);
    let _ = writeln!(
        text,
        "\n{:<34} {:<20} {:>11} {:>11} {:>25} {:>8} {:>7}  {:>8} {:>8} {:>8}",
        "row", "metric", values, "predicted", "95% interval", "error", "floor", "linear", "usl", "two"
    );
    for row in judgements.iter().flat_map(|judgement| &judgement.rows) {
        text.push_str(&line(row));
    }
    for (row_id, reason) in judgements.iter().flat_map(|judgement| &judgement.unanswered) {
        let _ = writeln!(text, "{row_id:<34} not answered: {reason}");
    }
    text.push('\n');
    for column in columns(judgements) {
        let rows = judged(judgements, &column);
        if let (Some(worst), Some(mean)) = (worst(&rows, &|row| row.error_pct), mean(&rows)) {
            let held = rows.iter().filter(|row| inside(row)).count();
            let _ = writeln!(
                text,
                "{column}: {} judged, mean error {mean:.2}%, worst {worst:+.2}%, {held} inside their intervals",
                units::counted(rows.len() as u64, "rows")
            );
        }
    }
    if let Some(discrepancy) = model.discrepancy.as_ref().filter(|discrepancy| !discrepancy.calibrated()) {
        let scores = units::counted(u64::from(discrepancy.scores), "scores");
        let _ =
            writeln!(text, "intervals are not calibrated: {scores} of rows that were left out, and it takes {ENOUGH}");
    }
    if let Some(doubt) = &model.doubt {
        if !doubt.silent.is_empty() {
            let _ = writeln!(text, "the calibration rows say nothing of: {}", doubt.silent.join(", "));
        }
        for names in &doubt.flat {
            let _ = writeln!(text, "the calibration rows cannot separate: {}", names.join(", "));
        }
    }
    text
}

fn line(row: &Judged) -> String {
    let percent = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:+.2}%"));
    let role = if row.role == Role::Calibration { " (fitted on, not counted)" } else { "" };
    format!(
        "{:<34} {:<20} {:>11} {:>11} {:>25} {:>8} {:>7}  {:>8} {:>8} {:>8}{role}\n",
        row.row_id,
        row.metric,
        row.published.map_or_else(|| "-".to_owned(), units::significant),
        units::significant(row.predicted),
        format!("{} to {}", units::significant(row.low), units::significant(row.high)),
        percent(row.error_pct),
        row.floor_pct.map_or_else(|| "-".to_owned(), |floor| format!("{floor:.2}%")),
        percent(off(row, &row.baselines.linear)),
        percent(off(row, &row.baselines.usl)),
        percent(off(row, &row.baselines.two_parameters)),
    )
}
