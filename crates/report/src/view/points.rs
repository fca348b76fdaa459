//! The table of one experiment: a row for every point, with everything that was estimated there.

use super::curve::{Curve, Sweep};
use super::quantity::Quantity;
use super::table::{Cell, Field, Table, numbers, words};
use crate::caveats::{Caveats, Touches};
use analysis::{Estimate, PointSummary, SteadyAnswer, Work};
use observation::Factor;
use observation::factor::short_name;
use std::collections::BTreeSet;

/// All points of a sweep, by level and curve.
pub fn table(sweep: &Sweep, caveats: &Caveats) -> Table {
    let caption = format!("Every point of “{}”; p50 to mean are of response", sweep.experiment);
    let table = Table::of(caption, rows(sweep, caveats));
    Table { trials: trials(sweep).collect(), ..table }.without_empty_columns()
}

fn rows(sweep: &Sweep, caveats: &Caveats) -> Vec<Vec<Field>> {
    let several = sweep.several_systems();
    let one = |(curve, point): (&Curve, &PointSummary)| {
        let mut row = Vec::new();
        if sweep.factor.is_some() {
            let (name, level) = (sweep.factor_name(), sweep.level(point).map_or("", |level| level.text()));
            row.push(Field::new(name, name, sweep.numeric, Cell::word(level)));
        }
        row.push(words("system", "system", if several { &curve.at.system } else { "" }));
        row.push(words("stream", "stream", &curve.at.stream));
        let named = |factor: &Factor| words(short_name(&factor.name), short_name(&factor.name), factor.level.text());
        row.extend(curve.at.factors.iter().map(named));
        row.extend(numbers_of(sweep, point, caveats));
        row
    };
    points(sweep).map(one).collect()
}

/// The tables of several sweeps over the same factor as one.
pub fn joined(sweeps: &[&Sweep], caveats: &Caveats) -> Table {
    if let [one] = sweeps {
        return table(one, caveats);
    }
    let mut all: Vec<Vec<Field>> = Vec::new();
    let mut touched = BTreeSet::new();
    for sweep in sweeps {
        let mut rows = rows(sweep, caveats);
        rows.iter_mut().for_each(|row| row.insert(0, words("experiment", "experiment", sweep.experiment)));
        // Sweeps that do not share their columns cannot share a table.
        let columns = |row: &Vec<Field>| row.iter().map(|field| field.column.clone()).collect::<Vec<_>>();
        if all.is_empty() || all.first().map(columns) == rows.first().map(columns) {
            touched.extend(trials(sweep));
            all.append(&mut rows);
        }
    }
    let table = Table::of("Every point, by experiment; p50 to mean are of response", all);
    Table { trials: touched, ..table }.without_empty_columns()
}

fn trials(sweep: &Sweep) -> impl Iterator<Item = u32> {
    points(sweep).flat_map(|(_, point)| point.trials.iter().copied())
}

/// By curve, then along the axis: a reader follows one curve at a time.
pub fn points<'a>(sweep: &'a Sweep) -> impl Iterator<Item = (&'a Curve<'a>, &'a PointSummary)> {
    sweep.curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, *point)))
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

fn numbers_of(sweep: &Sweep, point: &PointSummary, caveats: &Caveats) -> Vec<Field> {
    let all = caveats.marks(&point.caveats, Touches::All);
    let tail = caveats.marks(&point.caveats, Touches::Tail);
    let fixed_work = point.elapsed_s.is_some();
    let known = |estimate: &Option<Estimate>, quantity| Cell::optional_estimate(estimate.as_ref(), quantity);
    let ms = |estimate: &Estimate| Cell::estimate(estimate, Quantity::Milliseconds);
    let throughput = Cell::estimate(&point.throughput_per_s, Quantity::Rate).marked(if fixed_work { "" } else { &all });
    let n = point.elapsed_s.map_or(point.throughput_per_s.n, |elapsed| elapsed.n);
    vec![
        numbers("elapsed", "elapsed_s", known(&point.elapsed_s, Quantity::Seconds).marked(&all)).leading(),
        numbers("CPU-normalised", "cpu_elapsed_core_s", known(&point.cpu_elapsed_s, Quantity::CoreSeconds)),
        numbers(sweep.work.word(), "throughput_per_s", throughput).leading(),
        numbers("bytes", "bytes_per_s", bytes(point)).minor(),
        numbers("p50", "response_p50_ms", ms(&point.response_p50_ms)),
        numbers("p99", "response_p99_ms", ms(&point.response_p99_ms).marked(&tail)),
        numbers("p99.9", "response_p999_ms", ms(&point.response_p999_ms).marked(tail)).minor(),
        numbers("mean", "response_mean_ms", ms(&point.response_mean_ms)).minor(),
        numbers("service", "service_mean_ms", ms(&point.service_mean_ms)).minor(),
        numbers(cpu_title(sweep.work), "cpu_us", known(&point.cpu_us, Quantity::Microseconds)).minor(),
        numbers("disk busy", "disk_utilisation", known(&point.disk_utilisation, Quantity::Share)).minor(),
        numbers("disk wait", "disk_wait_ms", known(&point.disk_wait_ms, Quantity::Milliseconds)).minor(),
        numbers("n", "n", Cell::number(f64::from(n), Quantity::Count)).minor(),
        words("steady", "steady", steady(point)).minor(),
        words("from", "provenance", point.provenance.word()).minor(),
    ]
}

/// Fixed work has no steady state; its time is the result.
fn steady(point: &PointSummary) -> &'static str {
    match (point.elapsed_s, point.steady) {
        (Some(_), SteadyAnswer::TooShort) => "",
        (_, answer) => answer.word(),
    }
}
