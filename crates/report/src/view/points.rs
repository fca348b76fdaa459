//! The table of one experiment: a row for every point, with everything that was estimated there.

use super::curve::{Curve, Sweep};
use super::quantity::Quantity;
use super::table::{Cell, Column, Table};
use crate::caveats::{Caveats, Touches};
use analysis::{PointSummary, SteadyAnswer, Work};
use observation::factor::short_name;

/// All points of a sweep, by level and curve.
pub fn table(sweep: &Sweep, caveats: &Caveats) -> Table {
    let mut table =
        Table::new(format!("Every point of “{}”; p50 to mean are of response", sweep.experiment), all_columns(sweep));
    table.rows = all_rows(sweep, caveats);
    table.trials = trials(sweep).collect();
    table.without_empty_columns()
}

fn all_columns(sweep: &Sweep) -> Vec<Column> {
    let mut columns = Vec::new();
    if sweep.factor.is_some() {
        let name = sweep.factor_name();
        columns.push(Column { numeric: sweep.numeric, ..Column::words(name, name) });
    }
    columns.extend([Column::words("system", "system"), Column::words("stream", "stream")]);
    let fixed = sweep.curves.first().into_iter().flat_map(|curve| &curve.at.factors);
    columns.extend(fixed.map(|factor| Column::words(short_name(&factor.name), short_name(&factor.name))));
    columns.extend(number_columns(sweep));
    columns
}

fn all_rows(sweep: &Sweep, caveats: &Caveats) -> Vec<Vec<Cell>> {
    let several = sweep.several_systems();
    let one = |(curve, point): (&Curve, &PointSummary)| {
        let mut row = Vec::new();
        if sweep.factor.is_some() {
            row.push(Cell::word(sweep.level(point).map_or("", |level| level.text())));
        }
        row.push(if several { Cell::word(&curve.at.system) } else { Cell::nothing() });
        row.push(Cell::word(&curve.at.stream));
        row.extend(curve.at.factors.iter().map(|factor| Cell::word(factor.level.text())));
        row.extend(numbers(point, caveats));
        row
    };
    rows(sweep).map(one).collect()
}

/// The tables of several sweeps over the same factor as one.
pub fn joined(sweeps: &[&Sweep], caveats: &Caveats) -> Table {
    if let [one] = sweeps {
        return table(one, caveats);
    }
    let mut whole = Table::new("Every point, by experiment; p50 to mean are of response", Vec::new());
    for sweep in sweeps {
        let mut columns = all_columns(sweep);
        columns.insert(0, Column::words("experiment", "experiment"));
        // Sweeps that do not share their columns cannot share a table.
        if whole.columns.is_empty() {
            whole.columns = columns;
        } else if whole.columns != columns {
            continue;
        }
        whole.trials.extend(trials(sweep));
        for mut row in all_rows(sweep, caveats) {
            row.insert(0, Cell::word(sweep.experiment));
            whole.rows.push(row);
        }
    }
    whole.without_empty_columns()
}

fn trials(sweep: &Sweep) -> impl Iterator<Item = u32> {
    rows(sweep).flat_map(|(_, point)| point.trials.iter().copied())
}

/// By curve, then along the axis: a reader follows one curve at a time.
fn rows<'a>(sweep: &'a Sweep) -> impl Iterator<Item = (&'a Curve<'a>, &'a PointSummary)> {
    sweep.curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, *point)))
}

fn number_columns(sweep: &Sweep) -> Vec<Column> {
    vec![
        Column::numbers("elapsed", "elapsed_s").leading(),
        Column::numbers("CPU-normalised", "cpu_elapsed_core_s"),
        Column::numbers(sweep.work.word(), "throughput_per_s").leading(),
        Column::numbers("bytes", "bytes_per_s").minor(),
        Column::numbers("p50", "response_p50_ms"),
        Column::numbers("p99", "response_p99_ms"),
        Column::numbers("p99.9", "response_p999_ms").minor(),
        Column::numbers("mean", "response_mean_ms").minor(),
        Column::numbers("service", "service_mean_ms").minor(),
        Column::numbers(cpu_title(sweep.work), "cpu_us").minor(),
        Column::numbers("disk busy", "disk_utilisation").minor(),
        Column::numbers("disk wait", "disk_wait_ms").minor(),
        Column::numbers("n", "n").minor(),
        Column::words("steady", "steady").minor(),
        Column::words("from", "provenance").minor(),
    ]
}

/// What the generator spends on one.
pub fn cpu_title(work: Work) -> &'static str {
    match work {
        Work::Operations => "CPU/op",
        Work::Transactions => "client CPU/tx",
    }
}

/// Bytes that were moved; where nothing moves bytes there is nothing to show.
pub fn bytes(point: &PointSummary) -> Cell {
    if point.bytes_per_s.n == 0 && point.work == Work::Transactions {
        return Cell::nothing();
    }
    Cell::estimate(&point.bytes_per_s, Quantity::ByteRate)
}

fn numbers(point: &PointSummary, caveats: &Caveats) -> Vec<Cell> {
    let all = caveats.marks(&point.caveats, Touches::All);
    let tail = caveats.marks(&point.caveats, Touches::Tail);
    let main = |cell: Cell| cell.marked(all.clone());
    let fixed_work = point.elapsed_s.is_some();
    let throughput = Cell::estimate(&point.throughput_per_s, Quantity::Rate);
    let n = point.elapsed_s.map_or(point.throughput_per_s.n, |elapsed| elapsed.n);
    vec![
        main(Cell::optional_estimate(point.elapsed_s.as_ref(), Quantity::Seconds)),
        Cell::optional_estimate(point.cpu_elapsed_s.as_ref(), Quantity::CoreSeconds),
        if fixed_work { throughput } else { main(throughput) },
        bytes(point),
        Cell::estimate(&point.response_p50_ms, Quantity::Milliseconds),
        Cell::estimate(&point.response_p99_ms, Quantity::Milliseconds).marked(tail.clone()),
        Cell::estimate(&point.response_p999_ms, Quantity::Milliseconds).marked(tail),
        Cell::estimate(&point.response_mean_ms, Quantity::Milliseconds),
        Cell::estimate(&point.service_mean_ms, Quantity::Milliseconds),
        Cell::optional_estimate(point.cpu_us.as_ref(), Quantity::Microseconds),
        Cell::optional_estimate(point.disk_utilisation.as_ref(), Quantity::Share),
        Cell::optional_estimate(point.disk_wait_ms.as_ref(), Quantity::Milliseconds),
        Cell::number(f64::from(n), Quantity::Count),
        steady(point),
        Cell::word(point.provenance.word()),
    ]
}

/// Fixed work has no steady state; its time is the result.
fn steady(point: &PointSummary) -> Cell {
    match (point.elapsed_s, point.steady) {
        (Some(_), SteadyAnswer::TooShort) => Cell::nothing(),
        (_, answer) => Cell::word(answer.word()),
    }
}
