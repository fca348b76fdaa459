//! What the database's server spent, level by level, and what it counted itself at the point that people quote.
//!
//! The one idea: the price of a transaction on the server stands beside its price in the generator, so that a client that
//! costs more than what it measures is seen.

use super::axes::factor_title;
use super::curve::{Sweep, factors_text};
use super::figure::Figure;
use super::mix::{Quoted, asking, of_streams, quoted_servers, trials_of};
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, optional, word};
use analysis::{Estimate, Findings, PointSummary, ServerSummary, TrialSummary, Work};
use observation::Counter;
use std::collections::BTreeSet;

/// Said wherever the CPU of an embedded database is shown.
const EMBEDDED: &str =
    "The database runs inside the generator's process: the CPU of a transaction is of both together.";

/// The server over the sweep, and its counters at the quoted points.
pub fn figures(findings: &Findings, sweep: &Sweep) -> Vec<Figure> {
    if sweep.work != Work::Transactions {
        return Vec::new();
    }
    let quoted = quoted_servers(findings, sweep);
    let several = sweep.several_systems();
    let counted = quoted.iter().filter_map(counters);
    let embedded = quoted.iter().any(|quoted| quoted.trial.server.as_ref().is_some_and(|server| server.embedded));
    let mut servers = quoted.iter().filter_map(|quoted| quoted.trial.server.as_ref());
    let device = servers.any(|server| server.per_transaction.device_writes.is_some());
    let spent = [cpu_part(embedded), if device { DISK } else { PROCESSES }].into_iter().filter_map(|part| {
        let table = table(findings, sweep, &part, several)?;
        let columns = Some(table.notes_of(&COLUMNS).join(" ")).filter(|said| !said.is_empty());
        let notes = part.note.map(str::to_owned).into_iter().chain(columns).collect();
        Some(Figure::new(part.title, notes, Vec::new(), table))
    });
    let spent: Vec<Figure> = spent.collect();
    let folded =
        |table| Figure { folded: true, ..Figure::new("Counters of the server", Vec::new(), Vec::new(), table) };
    spent.into_iter().chain(counted.map(folded)).collect()
}

/// What the titles of columns mean, as far as they stand there.
const COLUMNS: [(&str, &str); 3] = [
    ("/tx", "“/tx”: for each transaction."),
    ("per core", "“Per core”: for each core of this machine."),
    ("per busy core", "“Per busy core”: for each core that the server kept busy."),
];

/// One table of what was spent, narrow enough for the page.
struct Part {
    title: &'static str,
    caption: &'static str,
    note: Option<&'static str>,
    numbers: fn(&Findings, &PointSummary) -> Vec<Field>,
}

fn cpu_part(embedded: bool) -> Part {
    Part {
        title: "Throughput for each core, and CPU",
        caption: "The server's throughput and CPU",
        note: embedded.then_some(EMBEDDED),
        numbers: cpu_numbers,
    }
}

/// Where the disk is watched, nobody knows for whom it read and wrote.
const DISK: Part = Part {
    title: "I/O below the data",
    caption: "What was read and written on the disk below the data, by all programs",
    note: None,
    numbers: io_numbers,
};

const PROCESSES: Part =
    Part { title: "I/O of the server", caption: "What the server's processes read and wrote", ..DISK };

/// None where nothing was observed.
fn table(findings: &Findings, sweep: &Sweep, part: &Part, several: bool) -> Option<Table> {
    let name = sweep.factor_name();
    let streams = streams(findings, sweep);
    let points = sweep.curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, *point)));
    let mut points: Vec<_> = points.collect();
    // The streams of a trial share its server.
    let mut seen = BTreeSet::<&[u32]>::new();
    points.retain(|&(_, point)| seen.insert(&point.trials) || streams < 2);
    let rows = points.into_iter().map(|(curve, point)| {
        let mut row = vec![
            word(&factor_title(name, sweep.numeric), name, sweep.level(point).map_or("", |level| level.text()))
                .numeric(sweep.numeric),
            word("system", "system", &curve.at.system).only_if(several),
            word("at", "factors", factors_text(&curve.at.factors)),
        ];
        row.extend((part.numbers)(findings, point));
        row
    });
    let table = Table::new(format!("{}{}", part.caption, of_streams(streams)), rows);
    let seen = table.rows.iter().flatten().any(|cell| cell.raw().is_some());
    seen.then(|| table.without_empty_columns())
}

/// How many streams of a trial ask a database at most.
fn streams(findings: &Findings, sweep: &Sweep) -> usize {
    let points = sweep.curves.iter().flat_map(|curve| &curve.points);
    let trials = points.flat_map(|point| trials_of(findings, point));
    trials.map(|(trial, _)| asking(trial).count()).max().unwrap_or(0)
}

/// Transactions of all streams; of several without an interval.
fn transactions(findings: &Findings, point: &PointSummary) -> Estimate {
    let all = |trial: &TrialSummary| asking(trial).map(|stream| stream.throughput_per_s.value).sum::<f64>();
    let each: Vec<(usize, f64)> =
        trials_of(findings, point).map(|(trial, _)| (asking(trial).count(), all(trial))).collect();
    match each.iter().any(|(streams, _)| *streams > 1) {
        true => Estimate::single(each.iter().map(|(_, per_s)| per_s).sum::<f64>() / each.len() as f64),
        false => point.throughput_per_s,
    }
}

type Of = fn(&ServerSummary) -> Option<f64>;

fn cpu_numbers(findings: &Findings, point: &PointSummary) -> Vec<Field> {
    let mean = |title, key, of: Of, quantity| optional(title, key, mean(findings, point, of), quantity);
    vec![
        estimate("transactions", "throughput_per_s", &transactions(findings, point), Quantity::Rate),
        mean("per core", "per_machine_core_per_s", |server| server.per_machine_core_per_s, Quantity::Rate),
        mean("per busy core", "per_server_core_per_s", |server| server.per_server_core_per_s, Quantity::Rate),
        mean("server user", "server_cpu_user_cores", |server| server.cpu_user_cores, Quantity::Cores),
        mean("server system", "server_cpu_system_cores", |server| server.cpu_system_cores, Quantity::Cores),
        mean("server CPU/tx", "server_cpu_ms_per_transaction", |s| s.per_transaction.cpu_ms, Quantity::Milliseconds),
        mean(
            "mirror CPU/tx",
            "mirror_cpu_ms_per_transaction",
            |s| s.per_transaction.mirror_cpu_ms,
            Quantity::Milliseconds,
        ),
        estimate("load generator CPU/tx", "cpu_us", &point.cpu_us, Quantity::Microseconds),
    ]
}

fn io_numbers(findings: &Findings, point: &PointSummary) -> Vec<Field> {
    let mean = |title, key, of: Of, quantity| optional(title, key, mean(findings, point, of), quantity);
    vec![
        mean("read", "server_bytes_read_per_s", |server| server.bytes_read_per_s, Quantity::ByteRate),
        mean("written", "server_bytes_written_per_s", |server| server.bytes_written_per_s, Quantity::ByteRate),
        mean("read/tx", "server_bytes_read_per_transaction", |s| s.per_transaction.bytes_read, Quantity::Bytes),
        mean(
            "written/tx",
            "server_bytes_written_per_transaction",
            |s| s.per_transaction.bytes_written,
            Quantity::Bytes,
        ),
        mean("log/tx", "server_log_bytes_per_transaction", |s| s.per_transaction.log_bytes, Quantity::Bytes),
        mean("buffer hits", "buffer_hit_share", |server| server.buffer_hit_share, Quantity::Share),
    ]
}

/// The trials of a point averaged, as far as they observed it.
fn mean(findings: &Findings, point: &PointSummary, of: Of) -> Option<f64> {
    let servers = trials_of(findings, point).filter_map(|(trial, _)| trial.server.as_ref());
    let values: Vec<f64> = servers.filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// What the server counted, for a second and for a transaction; none where it counts nothing.
fn counters(quoted: &Quoted) -> Option<Table> {
    let server = quoted.trial.server.as_ref().filter(|server| !server.counters.is_empty())?;
    let per_s = quoted.all_per_s();
    let (of, place) = (quoted.of_streams(), quoted.place());
    let of = if of.is_empty() { of } else { format!("; a transaction is one{of}") };
    let caption = format!("What the server counted{place} (trial {}){of}", quoted.trial.label.index);
    Some(Table::new(caption, server.counters.iter().map(|(counter, rate)| counted(*counter, *rate, per_s))))
}

fn counted(counter: Counter, rate: f64, per_s: f64) -> Vec<Field> {
    let bytes = counter.in_bytes();
    let (second, one) = if bytes { (Quantity::ByteRate, Quantity::Bytes) } else { (Quantity::Rate, Quantity::Plain) };
    let each = (per_s > 0.0).then(|| rate / per_s);
    vec![
        word("counter", "counter", counter.word()),
        number("a second", "per_s", rate, second),
        optional("a transaction", "per_transaction", each, one),
    ]
}
