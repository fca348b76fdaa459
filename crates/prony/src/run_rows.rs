//! A measured run as a source of rows, like a published table.
//!
//! The one idea: each point becomes a row with the columns of published tables, so that what was measured here calibrates and
//! judges a model in the same way as what somebody else printed.

use crate::failure::Failure;
use crate::judged;
use analysis::{Findings, PointSummary, Work};
use model::rows::{Row, Table};
use observation::factor::{self, short_name};
use observation::{Level, Provenance};
use std::collections::BTreeMap;

/// The points of a run as rows, and whether they were measured; of one that also simulated, the first point says it.
///
/// # Errors
/// When the run cannot be opened or judged.
pub fn table(run: &str) -> Result<(Table, Provenance), Failure> {
    let (_, findings) = judged::named(run)?;
    let rows: Vec<Row> =
        findings.points.iter().enumerate().map(|(place, point)| row(&findings, place, point)).collect();
    let mut columns: Vec<String> = Vec::new();
    for column in rows.iter().flat_map(|row| row.cells.keys()) {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    let provenance = findings.points.first().map_or(Provenance::Measured, |point| point.provenance);
    Ok((Table { columns, rows }, provenance))
}

fn row(findings: &Findings, place: usize, point: &PointSummary) -> Row {
    let at = &point.at;
    let levels: Vec<String> =
        at.factors.iter().map(|factor| format!("{} {}", short_name(&factor.name), factor.level.text())).collect();
    let id = format!("{}: {} {}", at.experiment, at.stream, levels.join(", "));
    let mut cells = BTreeMap::from([("row_id".to_owned(), id.clone()), ("config_id".to_owned(), at.system.clone())]);
    let mut set = |column: &str, text: String| {
        cells.insert(column.to_owned(), text);
    };
    for factor in &at.factors {
        let (column, text) = cell(short_name(&factor.name), &factor.level);
        set(&column, text);
    }
    if let Some(slots) = slots(findings, point) {
        set(if point.work == Work::Transactions { "threads" } else { "outstanding" }, slots.to_string());
    }
    let rate = if point.work == Work::Transactions { "throughput_tps" } else { "io_rate_iops" };
    set(rate, digits(point.throughput_per_s.value));
    set("throughput_mb_s", digits(point.bytes_per_s.value / 1e6));
    set("response_ms", digits(point.response_mean_ms.value));
    if let Some(cpu) = &point.cpu_us {
        set("generator_cpu_us", digits(cpu.value));
    }
    Row { id, line: place as u64 + 1, cells }
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

/// How many were outstanding, or how many sessions there were.
fn slots(findings: &Findings, point: &PointSummary) -> Option<u32> {
    let trial = findings.trials.iter().find(|trial| point.trials.contains(&trial.label.index))?;
    trial.label.streams.iter().find(|stream| stream.name == point.at.stream)?.slots
}

/// Six digits: finer than any measured rate is known, and so that no zero at the end is taken for rounding.
fn digits(value: f64) -> String {
    format!("{value:.5e}")
}
