//! The first table: for every curve the point that people quote, and nothing else.

use super::curve::{Curve, Sweep, factor_text, last_part, level_of};
use super::quantity::Quantity;
use super::table::{Cell, Column, Table};
use crate::doubts::{Doubts, Touches};
use analysis::{Finding, Findings, Point};

/// More rows than this, and the low end of each curve is left to the experiment's own table.
const ROWS_MAX: usize = 14;

struct Row<'a> {
    curve: &'a Curve<'a>,
    point: &'a Point,
    experiment: &'a str,
    at: String,
    /// Whether it is the low end of its curve.
    low_end: bool,
}

/// The headline table.
pub fn table(findings: &Findings, sweeps: &[Sweep], doubts: &Doubts) -> Table {
    let mut rows: Vec<Row> = sweeps.iter().flat_map(|sweep| quoted(findings, sweep)).collect();
    if rows.len() > ROWS_MAX {
        rows.retain(|row| !row.low_end);
    }
    let systems = rows.iter().any(|row| row.curve.system != rows[0].curve.system);
    let mut table = Table::new("The figures in short", columns(&rows));
    for row in &rows {
        let mut cells = vec![
            if systems { Cell::word(row.curve.system) } else { Cell::nothing() },
            Cell::word(row.curve.stream),
            Cell::word(&row.at),
        ];
        cells.extend(numbers(row.point, doubts));
        cells.push(Cell::word(row.experiment));
        table.rows.push(cells);
    }
    table.without_empty_columns()
}

fn columns(rows: &[Row]) -> Vec<Column> {
    let fixed_work = rows.iter().all(|row| row.point.elapsed_s.is_some());
    let experiment = Column::words("experiment", "experiment");
    let mut columns = vec![
        Column::words("system", "system"),
        Column::words("stream", "stream"),
        Column::words("at", "at"),
        Column::numbers("elapsed", "elapsed_s").leading(),
        Column::numbers("CPU-normalised", "cpu_elapsed_core_s"),
        Column::numbers("operations", "throughput_per_s").leading(),
        Column::numbers("bytes", "bytes_per_s"),
        Column::numbers("p50", "response_p50_ms"),
        Column::numbers("p99", "response_p99_ms"),
        Column::numbers("CPU/op", "cpu_us").minor(),
        Column::numbers("disk busy", "disk_utilisation").minor(),
        Column::numbers("disk wait", "disk_wait_ms").minor(),
        if told_apart(rows) { experiment.minor() } else { experiment },
    ];
    if fixed_work {
        let minor = ["throughput_per_s", "response_p50_ms", "response_p99_ms"];
        for column in columns.iter_mut().filter(|column| minor.contains(&column.key.as_str())) {
            (column.minor, column.leading) = (true, false);
        }
    }
    columns
}

/// Whether every row is told from the others without the name of its experiment.
fn told_apart(rows: &[Row]) -> bool {
    let mut seen = std::collections::HashSet::new();
    rows.iter().all(|row| seen.insert((row.curve.system, row.curve.stream, row.at.as_str())))
}

fn numbers(point: &Point, doubts: &Doubts) -> Vec<Cell> {
    let all = doubts.marks(&point.caveats, Touches::All);
    let tail = doubts.marks(&point.caveats, Touches::Tail);
    let (elapsed_marks, rate_marks) =
        if point.elapsed_s.is_some() { (all, String::new()) } else { (String::new(), all) };
    vec![
        Cell::optional_estimate(point.elapsed_s.as_ref(), Quantity::Seconds).marked(elapsed_marks),
        Cell::optional_estimate(point.cpu_elapsed_s.as_ref(), Quantity::CoreSeconds),
        Cell::estimate(&point.throughput_per_s, Quantity::Rate).marked(rate_marks),
        Cell::estimate(&point.bytes_per_s, Quantity::ByteRate),
        Cell::estimate(&point.response_p50_ms, Quantity::Milliseconds),
        Cell::estimate(&point.response_p99_ms, Quantity::Milliseconds).marked(tail),
        Cell::optional_estimate(point.cpu_us.as_ref(), Quantity::Microseconds),
        Cell::optional_estimate(point.disk_utilisation.as_ref(), Quantity::Share),
        Cell::optional_estimate(point.disk_wait_ms.as_ref(), Quantity::Milliseconds),
    ]
}

fn quoted<'a>(findings: &Findings, sweep: &'a Sweep) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for curve in &sweep.curves {
        let Some(factor) = sweep.factor.as_deref() else {
            rows.extend(curve.points.iter().map(|point| row(sweep, curve, point, load(findings, point), false)));
            continue;
        };
        let (main, prefix) = main_point(findings, sweep, curve, factor);
        let first = curve.points.first().copied();
        if let Some(low) = first.filter(|low| !main.is_some_and(|main| std::ptr::eq(main, *low))) {
            rows.push(row(sweep, curve, low, at(low, factor, curve), true));
        }
        if let Some(main) = main {
            rows.push(row(sweep, curve, main, format!("{prefix}{}", at(main, factor, curve)), false));
        }
    }
    rows
}

/// Where nothing was varied, the load says at what the number was taken.
fn load(findings: &Findings, point: &Point) -> String {
    let trial = findings.trials.iter().find(|trial| {
        point.trials.contains(&trial.label.index) && trial.label.experiment == point.experiment
    });
    let label = trial.and_then(|trial| trial.label.streams.iter().find(|label| label.name == point.stream));
    match label {
        Some(label) => match (label.slots, label.offered) {
            (_, Some(rate)) => format!("{} offered", units::rate(rate.0)),
            (Some(slots), None) if point.elapsed_s.is_none() => format!("{slots} outstanding"),
            _ => label.load.clone(),
        },
        None => String::new(),
    }
}

/// The point of a curve that people quote.
pub fn quoted_point<'a>(findings: &Findings, sweep: &Sweep, curve: &Curve<'a>) -> Option<&'a Point> {
    match sweep.factor.as_deref() {
        Some(factor) => main_point(findings, sweep, curve, factor).0,
        None => curve.points.first().copied(),
    }
}

fn row<'a>(sweep: &'a Sweep, curve: &'a Curve<'a>, point: &'a Point, at: String, low_end: bool) -> Row<'a> {
    Row { curve, point, experiment: sweep.experiment, at, low_end }
}

fn at(point: &Point, factor: &str, curve: &Curve) -> String {
    let swept = level_of(point, factor).map(|level| factor_text(factor, level));
    let fixed = curve.fixed.iter().map(|(name, level)| factor_text(name, level));
    swept.into_iter().chain(fixed).collect::<Vec<_>>().join(", ")
}

/// The knee where there is one, the far end of what grows in size or width, else the peak.
fn main_point<'a>(
    findings: &Findings,
    sweep: &Sweep,
    curve: &Curve<'a>,
    factor: &str,
) -> (Option<&'a Point>, &'static str) {
    if let Some(knee) = knee_level(findings, sweep, curve) {
        let near = |point: &&&Point| {
            level_of(point, factor).and_then(|level| level.number()).is_some_and(|at| at >= knee - 1e-9)
        };
        if let Some(point) = curve.points.iter().find(near) {
            return (Some(point), "knee: ");
        }
    }
    let grows = matches!(last_part(factor), "transfer" | "width" | "size" | "modules");
    let fixed_work = curve.points.iter().any(|point| point.elapsed_s.is_some());
    if grows || fixed_work || !sweep.numeric {
        return (curve.points.last().copied(), "");
    }
    let rate = |point: &&Point| point.throughput_per_s.value;
    (curve.points.iter().copied().max_by(|a, b| rate(a).total_cmp(&rate(b))), "peak: ")
}

fn knee_level(findings: &Findings, sweep: &Sweep, curve: &Curve) -> Option<f64> {
    findings.findings.iter().find_map(|finding| match finding {
        Finding::Knee(knee)
            if knee.experiment == sweep.experiment
                && knee.system == curve.system
                && knee.stream == curve.stream
                && curve
                    .fixed
                    .iter()
                    .all(|(name, level)| knee.fixed.iter().all(|(other, at)| other != name || at == *level)) =>
        {
            knee.at.map(|at| at.value)
        }
        _ => None,
    })
}
