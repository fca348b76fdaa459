//! A measured run as a source of rows, like a published table.
//!
//! The one idea: each point becomes a row with the columns of published tables, so that what was measured here calibrates and
//! judges a model in the same way as what somebody else printed.

use crate::failure::Failure;
use crate::{asked, judged, run};
use analysis::{Findings, PointSummary, Work};
use model::rows::{Row, Table};
use observation::factor::{self, short_name};
use observation::{Level, Point, Provenance};
use std::collections::BTreeMap;
use study::Trial;

/// The points of a run as rows, and whether they were measured; of one that also simulated, the first point says it.
///
/// # Errors
/// When the run cannot be opened or judged, or does not say how work came to a point.
pub fn table(run: &str) -> Result<(Table, Provenance), Failure> {
    let (_, findings) = judged::named(run)?;
    let trials = planned(&findings)?;
    let points = findings.points.iter().enumerate();
    let rows: Vec<Row> =
        points.map(|(place, point)| row(&findings, &trials, place, point)).collect::<Result<_, Failure>>()?;
    let mut columns: Vec<String> = Vec::new();
    for column in rows.iter().flat_map(|row| row.cells.keys()) {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    let provenance = findings.points.first().map_or(Provenance::Measured, |point| point.provenance);
    Ok((Table { columns, rows }, provenance))
}

/// The trials of a run, planned again. Where its systems are not at hand, only how large they are stays unknown.
///
/// # Errors
/// When its study can no longer be planned.
pub fn planned(findings: &Findings) -> Result<Vec<Trial>, Failure> {
    let facts = &findings.run;
    let study = judged::study_of(facts)?;
    let ended = findings.trials.iter().filter(|trial| !trial.interrupted);
    let here = run::plan(&facts.study, &study, facts.seed);
    let plan = here.or_else(|_| run::plan_anywhere(&facts.study, &study, facts.seed))?;
    Ok(run::trials_again(plan, ended))
}

fn row(findings: &Findings, trials: &[Trial], place: usize, point: &PointSummary) -> Result<Row, Failure> {
    let at = &point.at;
    let levels: Vec<String> =
        at.factors.iter().map(|factor| format!("{} {}", short_name(&factor.name), factor.level.text())).collect();
    let id = format!("{}: {} {}", at.experiment, at.stream, levels.join(", "));
    let mut cells = BTreeMap::from([("row_id".to_owned(), id.clone()), ("config_id".to_owned(), at.system.clone())]);
    let factors = at.factors.iter().filter(|factor| !COMES.contains(&short_name(&factor.name)));
    cells.extend(factors.map(|factor| cell(short_name(&factor.name), &factor.level)));
    cells.extend(asks(trials, at).ok_or_else(|| unplanned(findings, &id))?);
    let mut set = |column: &str, text: String| {
        cells.insert(column.to_owned(), text);
    };
    let rate = if point.work == Work::Transactions { "throughput_tps" } else { "io_rate_iops" };
    set(rate, digits(point.throughput_per_s.value));
    set("throughput_mb_s", digits(point.bytes_per_s.value / 1e6));
    set("response_ms", digits(point.response_mean_ms.value));
    if let Some(cpu) = &point.cpu_us {
        set("generator_cpu_us", digits(cpu.value));
    }
    Ok(Row { id, line: place as u64 + 1, cells })
}

/// Factors of how work comes. Questions say that in columns of their own, and tables mean something else by some of these words.
const COMES: [&str; 6] = ["users", "think", "think_times", "rate", "arrivals", "slots"];

/// What the study asked at a point, in the words in which it asks a model.
fn asks(trials: &[Trial], at: &Point) -> Option<BTreeMap<String, String>> {
    trials.iter().find_map(|trial| {
        let stream = (0..trial.streams.len()).find(|stream| trial.label.point(*stream as u16) == *at)?;
        Some(asked::cells(trial, &trial.streams[stream]))
    })
}

fn unplanned(findings: &Findings, point: &str) -> Failure {
    let (id, version) = (&findings.run.id, &findings.run.version);
    Failure::new(format!("reading the run `{id}` as rows: its study says nothing of the point `{point}` any more"))
        .hint(format!("the run was made by Prony {version}; use that version, or run the study again"))
}

/// A factor's level as a cell with its unit in the column's name.
fn cell(name: &str, level: &Level) -> (String, String) {
    match (name, level.number()) {
        (factor::TRANSFER, Some(bytes)) => ("transfer_kb".to_owned(), (bytes / 1024.0).to_string()),
        (factor::SESSIONS, Some(count)) => ("threads".to_owned(), count.to_string()),
        (name, Some(value)) => (name.to_owned(), value.to_string()),
        (name, None) => (name.to_owned(), level.text().to_owned()),
    }
}

/// Six digits: finer than any measured rate is known, and so that no zero at the end is taken for rounding.
fn digits(value: f64) -> String {
    format!("{value:.5e}")
}
