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
use observation::{Counter, EventKind, Spent};

/// Statements that have a row to themselves on a page; all of them are in the JSON.
const SHOWN: usize = 16;

/// The same where there is little room.
const SHOWN_SHORT: usize = 6;

/// One table for each quoted trial whose statements were counted.
pub fn figures(findings: &Findings, sweep: &Sweep) -> Vec<Figure> {
    quoted_servers(findings, sweep)
        .iter()
        .flat_map(|quoted| figure(quoted).into_iter().chain(spent(quoted)).chain(plans(quoted)))
        .collect()
}

/// How the costliest statements are planned, step by step.
fn plans(quoted: &Quoted) -> Option<Figure> {
    let plans = quoted.trial.events.iter().filter(|event| event.kind == EventKind::Plan);
    let step = |(at, name, line): (usize, &str, &str)| {
        // Steps lie within one another as far as they stand to the right.
        let (depth, line) = (line.len() - line.trim_start().len(), line.trim_start());
        let name = if at == 0 { name } else { "" };
        vec![self::name(name), word("step", "step", format!("{}{line}", "\u{a0}".repeat(depth)))]
    };
    let steps = |text: &str| -> Vec<Vec<Field>> {
        let mut lines = text.lines();
        let name = lines.next().unwrap_or_default();
        lines.enumerate().map(|(at, line)| step((at, name, line))).collect()
    };
    let rows: Vec<Vec<Field>> = plans.flat_map(|event| steps(&event.text)).collect();
    let notes = "The plan of the statements that took most of the time, asked for behind the load: the generic one of PostgreSQL, elsewhere \
                 that with 1 for every parameter; for some values the server may take another one.";
    let trial = quoted.trial.label.index;
    let mut table = Table::new(format!("Plans of the costliest statements{} (trial {trial})", quoted.place()), rows);
    table.trials = [trial].into();
    let figure = Figure::new("Plans of the costliest statements", vec![notes.to_owned()], Vec::new(), table);
    (!figure.table.rows.is_empty()).then_some(Figure { folded: true, ..figure })
}

/// The same as short tables without notes.
pub fn tables(findings: &Findings, sweep: &Sweep) -> Vec<Table> {
    let of = |quoted: &Quoted| {
        let spent = spent_table(quoted, SHOWN_SHORT);
        table(quoted, SHOWN_SHORT).into_iter().chain(spent).collect::<Vec<Table>>()
    };
    quoted_servers(findings, sweep).iter().flat_map(of).collect()
}

/// Where the time of statements goes, by what sessions were seen waiting for.
fn spent(quoted: &Quoted) -> Option<Figure> {
    let notes = vec![
        "One more session looked 20 times a second at what each session did, over the whole trial: what is seen on one session all \
         the time takes a second in every second. CPU is on a core or waiting for one; locks are those of transactions (rows, \
         tables); log is writing it, waiting for it, and for a mirror to confirm; other are latches of the server's memory, the \
         client, other processes. What took less than a few looks is rough. MariaDB tells waits for locks and commits only: \
         reads and latches count as CPU there."
            .to_owned(),
    ];
    Some(Figure { folded: true, ..Figure::new(SPENT, notes, Vec::new(), spent_table(quoted, SHOWN)?) })
}

const SPENT: &str = "Where the time of statements goes";

fn spent_table(quoted: &Quoted, most: usize) -> Option<Table> {
    let profile = quoted.trial.server.as_ref()?.profile.as_ref()?;
    let total = profile.total();
    let mut seen: Vec<&StatementProfile> = profile.statements.iter().filter(|one| !one.seen.is_empty()).collect();
    let took = |one: &StatementProfile| one.seen.iter().map(|(_, us)| us).sum::<f64>();
    seen.sort_by(|a, b| took(b).total_cmp(&took(a)));
    let all = took(&total);
    let row = |one: &StatementProfile| {
        let took = took(one);
        let share = |title: &str, key: &str, on: Spent| {
            optional(title, key, one.spent(on).map(|us| us / took), Quantity::Share)
        };
        let wait = one.seen.iter().find(|(event, us)| Spent::of(event) != Spent::Cpu && us / took >= 0.01);
        let wait = wait.map(|(event, us)| format!("{event} {}", units::percent(us / took))).unwrap_or_default();
        vec![
            name(&one.name),
            optional("time", "seen_us", Some(took), Quantity::Microseconds).leading(),
            optional("of all", "seen_share", Some(took / all), Quantity::Share).minor(),
            share("CPU", "cpu_share", Spent::Cpu),
            share("locks", "locks_share", Spent::Locks),
            share("log", "log_share", Spent::Log),
            share("I/O", "io_share", Spent::Io),
            share("other", "other_share", Spent::Other),
            word("waits most for", "waits_most_for", wait).minor(),
        ]
    };
    let sum = StatementProfile { name: "all statements".to_owned(), ..total.clone() };
    let rows = seen.iter().take(most).copied().chain([&sum]).map(row);
    let caption = format!("{SPENT}{}, for each transaction (trial {})", quoted.place(), quoted.trial.label.index);
    let mut table = Table::new(caption, rows);
    table.trials = [quoted.trial.label.index].into();
    (!seen.is_empty()).then_some(table)
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
             planning, less waits for I/O where the server takes their time. The time of execution stands beside it. What \
             sessions do between statements, commits included, is shared out with it.",
        ),
    };
    let waits = (profile.cpu == CpuBasis::SharedOut).then_some(match profile.looked_at() {
        true => "Waits for locks, the log and latches are not in it, as far as they were seen 20 times a second.",
        false => {
            "Nobody looked at what sessions wait for, so that waits for locks count as work: under contention the CPU of a \
             statement that waits is too high."
        }
    });
    let known = |of: fn(&StatementProfile) -> Option<f64>| profile.statements.iter().any(|one| of(one).is_some());
    let pages = known(|one| one.lookups)
        .then_some("Lookups are pages asked of the buffer, reads those that were not in it, over the whole trial.");
    let rows = known(|one| one.rows_examined).then_some(
        "This server counts no pages by statement, so that lookups and reads have a dash; what it looked at is counted in rows.",
    );
    let log = profile.log_shared_out.then_some(
        "Log by statement is an estimate: what the server wrote in the window is shared out by changed rows.",
    );
    let several = (streams > 1).then_some("The workloads of the trial are one here.");
    [cpu, waits, pages, rows, log, several].into_iter().flatten().map(str::to_owned).collect()
}

fn table(quoted: &Quoted, most: usize) -> Option<Table> {
    let server = quoted.trial.server.as_ref()?;
    let profile = server.profile.as_ref()?;
    let (place, trial) = (quoted.place(), quoted.trial.label.index);
    let shared_out = profile.cpu == CpuBasis::SharedOut;
    let estimated = match (shared_out, profile.log_shared_out) {
        (true, true) => "; CPU and log are estimates",
        (true, false) => "; CPU is an estimate",
        (false, true) => "; log is an estimate",
        (false, false) => "",
    };
    let locks = if shared_out && !profile.looked_at() { ", and waits for locks count as CPU" } else { "" };
    let caption =
        format!("What one transaction asks of the database{place}, by statement (trial {trial}){estimated}{locks}");
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
    word("statement", "statement", text).wrapping()
}

fn row(one: &StatementProfile, all_us: Option<f64>) -> Vec<Field> {
    let share = one.cpu_us.zip(all_us).filter(|(_, all)| *all > 0.0).map(|(own, all)| own / all);
    let each = one.cpu_us.filter(|_| one.executions > 0.0).map(|cpu| cpu / one.executions);
    let count = |title, key, amount| optional(title, key, amount, Quantity::Plain);
    let us = |title, key, time| optional(title, key, time, Quantity::Microseconds);
    vec![
        name(&one.name),
        count("calls", "executions", Some(one.executions)),
        us("CPU", "cpu_us", one.cpu_us).leading(),
        optional("CPU share", "cpu_share", share, Quantity::Share).minor(),
        us("CPU/call", "cpu_us_per_execution", each).minor(),
        us("execution time", "execution_us", one.execution_us).minor(),
        us("planning", "planning_us", one.planning_us).minor(),
        us("locks", "locks_us", one.spent(Spent::Locks)),
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
    Some(fields.into_iter().enumerate().map(|(at, field)| field.only_if(![1, 11, 12].contains(&at))).collect())
}
