//! What one transaction asks of the database, statement by statement, at the point that people quote.
//!
//! The one idea: the statements that take the most CPU come first, those that hardly matter are one row, and the sum stands
//! beside what was measured from outside, so that a reader sees how much the statements explain.

use super::curve::Sweep;
use super::figure::Figure;
use super::mix::{Quoted, quoted_servers};
use super::quantity::Quantity;
use super::table::{Field, Table, optional, word};
use analysis::{CpuBasis, Findings, ServerSummary, StatementProfile, StatementsProfile};
use observation::Counter;

/// Statements that have a row to themselves on a page; all of them are in the JSON.
const SHOWN: usize = 16;

/// The same where there is little room.
const SHOWN_SHORT: usize = 6;

/// One table for each quoted trial whose statements were counted.
pub fn figures(findings: &Findings, sweep: &Sweep) -> Vec<Figure> {
    quoted_servers(findings, sweep).iter().filter_map(figure).collect()
}

/// The same as short tables without notes.
pub fn tables(findings: &Findings, sweep: &Sweep) -> Vec<Table> {
    quoted_servers(findings, sweep).iter().filter_map(|quoted| table(quoted, SHOWN_SHORT)).collect()
}

fn figure(quoted: &Quoted) -> Option<Figure> {
    let profile = quoted.trial.server.as_ref()?.profile.as_ref()?;
    let notes = notes(profile, quoted.trial.streams.len());
    let title = "What one transaction asks of the database";
    Some(Figure { folded: true, ..Figure::new(title, notes, Vec::new(), table(quoted, SHOWN)?) })
}

fn notes(profile: &StatementsProfile, streams: usize) -> Vec<String> {
    let cpu = match profile.cpu {
        CpuBasis::Unknown => None,
        CpuBasis::Sampled => Some(
            "The first 32 executions in each session were measured on the CPU clock of their thread; of those after them about one \
             in sixteen, which stands for the others.",
        ),
        CpuBasis::SharedOut => Some(
            "CPU by statement is an estimate: what the server's processes spent is shared out by the time of execution and \
             planning, less waits for I/O where the server takes their time. Waits for locks count as work, since no server \
             takes their time by statement: under contention the CPU of a statement that waits is too high. The time of \
             execution stands beside it. What sessions do between statements, commits included, is shared out with it.",
        ),
    };
    let known = |of: fn(&StatementProfile) -> Option<f64>| profile.statements.iter().any(|one| of(one).is_some());
    let pages = known(|one| one.lookups)
        .then_some("Lookups are pages asked of the buffer, reads those that were not in it, over the whole trial.");
    let rows = known(|one| one.rows_examined).then_some(
        "This server counts no pages by statement, so that lookups and reads have a dash; what it looked at is counted in rows.",
    );
    let log = profile.log_shared_out.then_some(
        "Log by statement is an estimate: what the server wrote in the window is shared out by changed rows.",
    );
    let several = (streams > 1).then_some("The streams of the trial are one here.");
    [cpu, pages, rows, log, several].into_iter().flatten().map(str::to_owned).collect()
}

fn table(quoted: &Quoted, most: usize) -> Option<Table> {
    let server = quoted.trial.server.as_ref()?;
    let profile = server.profile.as_ref()?;
    let (place, trial) = (quoted.place(), quoted.trial.label.index);
    let estimated = match (profile.cpu == CpuBasis::SharedOut, profile.log_shared_out) {
        (true, true) => "; CPU and log are estimates, and waits for locks count as CPU",
        (true, false) => "; CPU is an estimate, and waits for locks count as CPU",
        (false, true) => "; log is an estimate",
        (false, false) => "",
    };
    let caption = format!("What one transaction asks of the database{place}, by statement (trial {trial}){estimated}");
    let total = profile.total();
    let row = |one: &StatementProfile| row(one, total.cpu_us);
    let (shown, others) = profile.statements.split_at(profile.statements.len().min(most));
    let mut rows: Vec<Vec<Field>> = shown.iter().map(row).collect();
    match others {
        [] => {}
        [only] => rows.push(row(only)),
        others => rows.push(row(&StatementProfile::sum(&format!("{} others", others.len()), others))),
    }
    let mut sum = row(&total);
    sum[0] = name("sum of these, over the whole trial").shortened("sum, whole trial");
    rows.push(sum);
    rows.extend(measured(quoted, server));
    let mut table = Table::new(caption, rows);
    table.trials = [trial].into();
    Some(table.without_empty_columns())
}

fn name(text: &str) -> Field {
    word("statement", "statement", text)
}

fn row(one: &StatementProfile, all_us: Option<f64>) -> Vec<Field> {
    let share = one.cpu_us.zip(all_us).filter(|(_, all)| *all > 0.0).map(|(own, all)| own / all);
    let each = one.cpu_us.filter(|_| one.executions > 0.0).map(|cpu| cpu / one.executions);
    let count = |title, key, amount| optional(title, key, amount, Quantity::Plain);
    let us = |title, key, time| optional(title, key, time, Quantity::Microseconds);
    vec![
        name(&one.name),
        count("executions", "executions", Some(one.executions)),
        us("CPU", "cpu_us", one.cpu_us).leading(),
        optional("CPU share", "cpu_share", share, Quantity::Share).minor(),
        us("CPU/execution", "cpu_us_per_execution", each).minor(),
        us("execution time", "execution_us", one.execution_us).minor(),
        us("planning", "planning_us", one.planning_us).minor(),
        count("lookups", "lookups", one.lookups),
        count("reads", "reads", one.reads),
        count("rows looked at", "rows_examined", one.rows_examined),
        count("rows", "rows", Some(one.rows)).minor(),
        count("changed", "changed", Some(one.changed)),
        optional("log", "log_bytes", one.log_bytes, Quantity::Bytes),
    ]
}

/// What was seen from outside of the statements: the CPU of processes, and what the server counted in all.
fn measured(quoted: &Quoted, server: &ServerSummary) -> Option<Vec<Field>> {
    let per_s = quoted.all_per_s();
    let counter = |wanted: Counter| server.counter(wanted).filter(|_| per_s > 0.0).map(|rate| rate / per_s);
    let client_us = quoted.stream.cpu.map(|cpu| cpu.user_us + cpu.system_us).filter(|_| server.embedded);
    let cpu_us = client_us.or_else(|| server.per_transaction.cpu_ms.map(|ms| 1e3 * ms));
    let reads = counter(Counter::BufferReads);
    let lookups = counter(Counter::BufferRequests).or_else(|| Some(counter(Counter::BufferHits)? + reads?));
    let log_bytes = server.per_transaction.log_bytes;
    if [cpu_us, lookups, log_bytes].iter().all(Option::is_none) {
        return None;
    }
    let told = if server.embedded { "measured in the window, generator included" } else { "measured in the window" };
    let seen = StatementProfile { cpu_us, lookups, reads, log_bytes, ..StatementProfile::default() };
    let mut fields: Vec<Field> = row(&seen, None);
    fields[0] = name(told).shortened("measured, window");
    // What nobody counts from outside: executions, rows and changes.
    Some(fields.into_iter().enumerate().map(|(at, field)| field.only_if(![1, 10, 11].contains(&at))).collect())
}
