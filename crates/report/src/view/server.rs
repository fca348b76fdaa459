//! What the database's server spent, level by level, and what it counted itself at the point that people quote.
//!
//! The one idea: the price of a transaction on the server stands beside its price in the generator, so that a client that
//! costs more than what it measures is seen.

use super::curve::{Sweep, factors_text};
use super::figure::Figure;
use super::mix::{Quoted, quoted, trials_of};
use super::quantity::Quantity;
use super::table::{Cell, Column, Table};
use analysis::{Findings, PointSummary, ServerSummary, Work};
use observation::Counter;

/// Said wherever the CPU of an embedded database is shown.
const EMBEDDED: &str =
    "The database runs inside the generator's process: the CPU of a transaction is of both together.";

/// The server over the sweep, and its counters at the quoted points.
pub fn figures(findings: &Findings, sweep: &Sweep) -> Vec<Figure> {
    if sweep.work != Work::Transactions {
        return Vec::new();
    }
    let quoted = quoted(findings, sweep);
    let several = sweep.several_systems();
    let counted = quoted.iter().filter_map(counters);
    let embedded = quoted.iter().any(|quoted| quoted.trial.server.as_ref().is_some_and(|server| server.embedded));
    let notes = if embedded { vec![EMBEDDED.to_owned()] } else { Vec::new() };
    let spent = PARTS.iter().filter_map(|part| {
        let table = table(findings, sweep, part, several)?;
        Some(Figure::of_table(part.title, notes.clone(), table))
    });
    let spent: Vec<Figure> = spent.collect();
    let folded = |table| Figure { folded: true, ..Figure::of_table("Counters of the server", Vec::new(), table) };
    spent.into_iter().chain(counted.map(folded)).collect()
}

/// One table of what was spent, narrow enough for the page.
struct Part {
    title: &'static str,
    caption: &'static str,
    columns: fn() -> Vec<Column>,
    numbers: fn(&Findings, &PointSummary) -> Vec<Cell>,
}

const PARTS: [Part; 2] = [
    Part {
        title: "Throughput for each core, and CPU",
        caption: "“/tx” is for each transaction; “per core” is of this machine, “per busy core” of what the server kept busy",
        columns: cpu_columns,
        numbers: cpu_numbers,
    },
    Part {
        title: "I/O of the server",
        caption: "What the server's processes read and wrote; “/tx” is for each transaction",
        columns: io_columns,
        numbers: io_numbers,
    },
];

/// None where nothing was observed.
fn table(findings: &Findings, sweep: &Sweep, part: &Part, several: bool) -> Option<Table> {
    let name = sweep.factor_name();
    let mut columns = vec![
        Column { numeric: sweep.numeric, ..Column::words(name, name) },
        Column::words("system", "system"),
        Column::words("at", "factors"),
    ];
    columns.extend((part.columns)());
    let mut table = Table::new(part.caption, columns);
    for (curve, point) in sweep.curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, *point))) {
        let level = sweep.level(point).map_or("", |level| level.text());
        let system = if several { &curve.at.system } else { "" };
        let mut row = vec![Cell::word(level), Cell::word(system), Cell::word(factors_text(&curve.at.factors))];
        row.extend((part.numbers)(findings, point));
        table.rows.push(row);
    }
    let seen = table.rows.iter().flatten().any(|cell| cell.raw().is_some());
    seen.then(|| table.without_empty_columns())
}

fn cpu_columns() -> Vec<Column> {
    vec![
        Column::numbers("transactions", "throughput_per_s"),
        Column::numbers("per core", "per_machine_core_per_s"),
        Column::numbers("per busy core", "per_server_core_per_s"),
        Column::numbers("server user", "server_cpu_user_cores"),
        Column::numbers("server system", "server_cpu_system_cores"),
        Column::numbers("server CPU/tx", "server_cpu_ms_per_transaction"),
        Column::numbers("client CPU/tx", "cpu_us"),
    ]
}

fn cpu_numbers(findings: &Findings, point: &PointSummary) -> Vec<Cell> {
    let mean = |of: fn(&ServerSummary) -> Option<f64>, quantity| mean(findings, point, of, quantity);
    vec![
        Cell::estimate(&point.throughput_per_s, Quantity::Rate),
        mean(|server| server.per_machine_core_per_s, Quantity::Rate),
        mean(|server| server.per_server_core_per_s, Quantity::Rate),
        mean(|server| server.cpu_user_cores, Quantity::Cores),
        mean(|server| server.cpu_system_cores, Quantity::Cores),
        mean(|server| server.per_transaction.cpu_ms, Quantity::Milliseconds),
        Cell::optional_estimate(point.cpu_us.as_ref(), Quantity::Microseconds),
    ]
}

fn io_columns() -> Vec<Column> {
    vec![
        Column::numbers("read", "server_bytes_read_per_s"),
        Column::numbers("written", "server_bytes_written_per_s"),
        Column::numbers("read/tx", "server_bytes_read_per_transaction"),
        Column::numbers("written/tx", "server_bytes_written_per_transaction"),
        Column::numbers("log/tx", "server_log_bytes_per_transaction"),
        Column::numbers("buffer hits", "buffer_hit_share"),
    ]
}

fn io_numbers(findings: &Findings, point: &PointSummary) -> Vec<Cell> {
    let mean = |of: fn(&ServerSummary) -> Option<f64>, quantity| mean(findings, point, of, quantity);
    vec![
        mean(|server| server.bytes_read_per_s, Quantity::ByteRate),
        mean(|server| server.bytes_written_per_s, Quantity::ByteRate),
        mean(|server| server.per_transaction.bytes_read, Quantity::Bytes),
        mean(|server| server.per_transaction.bytes_written, Quantity::Bytes),
        mean(|server| server.per_transaction.log_bytes, Quantity::Bytes),
        mean(|server| server.buffer_hit_share, Quantity::Share),
    ]
}

/// The trials of a point averaged, as far as they observed it.
fn mean(findings: &Findings, point: &PointSummary, of: fn(&ServerSummary) -> Option<f64>, quantity: Quantity) -> Cell {
    let servers = trials_of(findings, point).filter_map(|(trial, _)| trial.server.as_ref());
    let values: Vec<f64> = servers.filter_map(of).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Cell::optional((!values.is_empty()).then_some(mean), quantity)
}

/// What the server counted, for a second and for a transaction; none where it counts nothing.
fn counters(quoted: &Quoted) -> Option<Table> {
    let server = quoted.trial.server.as_ref().filter(|server| !server.counters.is_empty())?;
    let per_s = quoted.stream.throughput_per_s.value;
    let caption = format!("What the server counted{} (trial {})", quoted.place(), quoted.trial.label.index);
    let columns = vec![
        Column::words("counter", "counter"),
        Column::numbers("a second", "per_s"),
        Column::numbers("a transaction", "per_transaction"),
    ];
    let mut table = Table::new(caption, columns);
    table.rows = server.counters.iter().map(|(counter, rate)| counted(*counter, *rate, per_s)).collect();
    Some(table)
}

fn counted(counter: Counter, rate: f64, per_s: f64) -> Vec<Cell> {
    let bytes = counter.in_bytes();
    let (second, one) = if bytes { (Quantity::ByteRate, Quantity::Bytes) } else { (Quantity::Rate, Quantity::Plain) };
    let each = (per_s > 0.0).then(|| rate / per_s);
    vec![Cell::word(counter.word()), Cell::number(rate, second), Cell::optional(each, one)]
}
