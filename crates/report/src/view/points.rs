//! The table of one experiment: a row for every point, with everything that was estimated there.

use super::axes::factor_title;
use super::curve::{Curve, Sweep};
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, word};
use crate::caveats::{Caveats, Touches};
use analysis::{PointSummary, SteadyAnswer, Work};
use observation::factor::short_name;
use study::Yield;

/// All points of a sweep, by level and curve.
pub fn table(sweep: &Sweep, caveats: &Caveats) -> Table {
    let caption = format!("Every point of “{}”", sweep.experiment);
    let mut table = Table::new(caption, all_rows(sweep, caveats));
    table.trials = trials(sweep).collect();
    table.row_trials = rows(sweep).map(|(_, point)| point.trials.iter().copied().collect()).collect();
    table.without_empty_columns()
}

fn all_rows(sweep: &Sweep, caveats: &Caveats) -> Vec<Vec<Field>> {
    let several = sweep.several_systems();
    let one = |(curve, point): (&Curve, &PointSummary)| {
        let mut row = Vec::new();
        if sweep.factor.is_some() {
            let (name, level) = (sweep.factor_name(), sweep.level(point).map_or("", |level| level.text()));
            row.push(word(&factor_title(name, sweep.numeric), name, level).numeric(sweep.numeric));
        }
        row.push(word("system", "system", &curve.at.system).only_if(several));
        row.push(word("workload", "stream", &curve.at.stream));
        row.extend(curve.at.factors.iter().map(|factor| {
            let name = short_name(&factor.name);
            word(&factor_title(name, factor.level.number().is_some()), name, factor.level.text())
        }));
        row.extend(numbers(sweep, point, caveats));
        row
    };
    rows(sweep).map(one).collect()
}

/// The tables of several sweeps over the same factor as one.
pub fn joined(sweeps: &[&Sweep], caveats: &Caveats) -> Table {
    if let [one] = sweeps {
        return table(one, caveats);
    }
    let mut whole = Table::default();
    for sweep in sweeps {
        let mut rows = all_rows(sweep, caveats);
        rows.iter_mut().for_each(|row| row.insert(0, word("experiment", "experiment", sweep.experiment)));
        let part = Table::new("Every point, by experiment", rows);
        // Sweeps that do not share their columns cannot share a table.
        if whole.columns.is_empty() {
            whole = part;
        } else if whole.columns == part.columns {
            whole.rows.extend(part.rows);
        } else {
            continue;
        }
        whole.trials.extend(trials(sweep));
    }
    whole.without_empty_columns()
}

/// The trials behind a sweep.
pub fn trials(sweep: &Sweep) -> impl Iterator<Item = u32> {
    rows(sweep).flat_map(|(_, point)| point.trials.iter().copied())
}

/// By curve, then along the axis: a reader follows one curve at a time.
fn rows<'a>(sweep: &'a Sweep) -> impl Iterator<Item = (&'a Curve<'a>, &'a PointSummary)> {
    sweep.curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, *point)))
}

/// What the generator spends on one.
pub fn cpu_title(work: Work) -> &'static str {
    match work {
        Work::Operations | Work::Files => "CPU/op",
        Work::Transactions => "load generator CPU/tx",
    }
}

/// What transactions gave those who asked for them, each by the hour in a column of its own.
pub fn yields(point: &PointSummary) -> Vec<Field> {
    let of = |what: Yield| {
        let known = point.yields.iter().find(|(name, _)| *name == what.word());
        let per_hour = known.map(|(_, per_s)| per_s.scaled(3_600.0));
        estimate(what.word(), &format!("{}_per_h", what.word().replace(' ', "_")), per_hour.as_ref(), Quantity::PerHour)
    };
    Yield::ALL.iter().copied().map(of).collect()
}

/// The time that a transaction spends in the database, as a share of its response.
fn share_of_response(point: &PointSummary) -> Field {
    let share = point.service_mean_ms.value / point.response_mean_ms.value;
    number("share of latency", "service_share", share, Quantity::Share).only_if(!point.yields.is_empty())
}

/// Bytes that were moved; where nothing moves bytes there is nothing to show.
pub fn bytes(point: &PointSummary) -> Field {
    let moves = point.bytes_per_s.value > 0.0 || point.work != Work::Transactions;
    estimate("bandwidth", "bytes_per_s", &point.bytes_per_s, Quantity::ByteRate).only_if(moves)
}

fn numbers(sweep: &Sweep, point: &PointSummary, caveats: &Caveats) -> Vec<Field> {
    let all = caveats.marks(&point.caveats, Touches::All);
    let tail = caveats.tail_marks(point);
    let fixed_work = point.elapsed_s.is_some();
    // A session does nothing but ask the database, so that what a transaction spends in one is its requests.
    let asks = sweep.work == Work::Transactions;
    let ms = |title, key, value| estimate(title, key, value, Quantity::Milliseconds);
    let throughput =
        estimate(sweep.work.unit(), "throughput_per_s", &point.throughput_per_s, Quantity::Work(sweep.work));
    let n = point.elapsed_s.map_or(point.throughput_per_s.n, |elapsed| elapsed.n);
    // Fixed work has no steady state; its time is the result.
    let steady = !(fixed_work && point.steady == SteadyAnswer::TooShort);
    let mut fields: Vec<Field> = yields(point).into_iter().map(|field| field.leading().marked(all.clone())).collect();
    fields.extend([
        estimate("elapsed", "elapsed_s", &point.elapsed_s, Quantity::Seconds).leading().marked(all.clone()),
        estimate(super::elapsed::cpu_of_all(point), "cpu_elapsed_core_s", &point.cpu_elapsed_s, Quantity::Seconds),
        throughput.leading().marked(if fixed_work { String::new() } else { all }),
        bytes(point).minor(),
        ms("p50", "response_p50_ms", &point.response_p50_ms),
        ms("p99", "response_p99_ms", &point.response_p99_ms).marked(tail.clone()),
        ms("p99.9", "response_p999_ms", &point.response_p999_ms).minor().marked(tail),
        ms("mean latency", "response_mean_ms", &point.response_mean_ms).minor(),
        ms("service", "service_mean_ms", &point.service_mean_ms).minor().only_if(!asks),
        ms("request time", "request_mean_ms", &point.service_mean_ms).minor().only_if(asks),
        share_of_response(point).minor().only_if(asks),
        estimate(cpu_title(sweep.work), "cpu_us", &point.cpu_us, Quantity::Microseconds).minor(),
        estimate("disk busy", "disk_utilisation", &point.disk_utilisation, Quantity::Share).minor(),
        estimate("disk wait", "disk_wait_ms", &point.disk_wait_ms, Quantity::Milliseconds).minor(),
        number("independent values", "n", f64::from(n), Quantity::Count).minor(),
        word("steady rate", "steady", point.steady.word()).minor().only_if(steady),
        word("source", "provenance", point.provenance.word()).minor(),
    ]);
    fields
}
