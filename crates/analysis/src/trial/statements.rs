//! What one transaction asks of the database, statement by statement.
//!
//! The one idea: executions, rows and changes are counts of the generator's; what they cost is the database's own account over
//! the same trial. Both are divided by the transactions that were done in it. A server counts no CPU by statement: what its
//! processes spent is shared out by the time that each statement was executed and planned, less its waits for I/O. Where it
//! counts no log bytes by statement, those of the whole are shared out by changed rows.
//!
//! Somebody who looked at what sessions wait for knows of waits for locks, which no server times by statement.
//!
//! What it does not do: where nobody looked, waits for locks are in that time too; a shared CPU is an estimate.

use super::cut::Cut;
use super::machine::level;
use crate::{CpuBasis, PerTransaction, StatementProfile, StatementsProfile};
use observation::{COMMIT, Observations, OfStatement, Probe, Series, Spent, Whole};
use std::collections::HashMap;

/// The profile of a trial's statements, per transaction; none where nothing was counted. `each` is what the server
/// spent on a transaction, as far as it is known.
pub fn statements(observations: &Observations, cuts: &[Cut], each: &PerTransaction) -> Option<StatementsProfile> {
    let per_s = level(observations, Whole::Transactions).filter(|rate| *rate > 0.0 && !cuts.is_empty())?;
    let mut order: Vec<&str> = Vec::new();
    let mut amounts: HashMap<(&str, OfStatement), f64> = HashMap::new();
    for series in &observations.series {
        let (Probe::Statement(name, amount), Some((_, rate))) = (&series.probe, series.points.last()) else { continue };
        if *amount == OfStatement::Executions {
            order.push(name);
        }
        amounts.insert((name, *amount), rate / per_s);
    }
    let read = |name: &&str| StatementProfile {
        seen: seen(observations, name, per_s),
        ..StatementProfile::read(name, |amount| amounts.get(&(*name, amount)).copied())
    };
    let statements = order.iter().map(read).collect();
    let mut profile = StatementsProfile { statements, ..StatementsProfile::default() };
    share_out(&mut profile, each.cpu_ms);
    share_out_log(&mut profile, each.log_bytes);
    let key = |statement: &StatementProfile| (statement.cpu_us.unwrap_or(-1.0), statement.executions);
    profile.statements.sort_by(|a, b| key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal));
    (!profile.statements.is_empty()).then_some(profile)
}

/// What sessions were seen at a statement for, microseconds for each transaction, the most first.
fn seen(observations: &Observations, statement: &str, per_s: f64) -> Vec<(String, f64)> {
    let of = |series: &Series| match (&series.probe, series.points.last()) {
        (Probe::Wait(name, event), Some((_, sessions))) if name == statement => {
            Some((event.clone(), 1e6 * sessions / per_s))
        }
        _ => None,
    };
    let mut all: Vec<(String, f64)> = observations.series.iter().filter_map(of).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}

/// Gives each statement its part of the server's CPU, where the database counted none itself.
fn share_out(profile: &mut StatementsProfile, cpu_ms: Option<f64>) {
    if profile.statements.iter().any(|statement| statement.cpu_us.is_some()) {
        profile.cpu = CpuBasis::Sampled;
        return;
    }
    let busy = |statement: &StatementProfile| {
        let spent = |on| statement.spent(on).unwrap_or(0.0);
        let reads = statement.io_us.unwrap_or_else(|| spent(Spent::Io));
        let waited = reads + spent(Spent::Locks) + spent(Spent::Log) + spent(Spent::Other);
        statement.execution_us.map(|time| (time + statement.planning_us.unwrap_or(0.0) - waited).max(0.0))
    };
    let all: f64 = profile.statements.iter().filter_map(busy).sum();
    let Some(cpu_ms) = cpu_ms.filter(|_| all > 0.0) else { return };
    profile.cpu = CpuBasis::SharedOut;
    for statement in &mut profile.statements {
        statement.cpu_us = busy(statement).map(|time| 1e3 * cpu_ms * time / all);
    }
}

/// Gives each statement its part of the server's log, where the database counted none by statement. What a commit writes
/// goes with the changes before it.
fn share_out_log(profile: &mut StatementsProfile, log_bytes: Option<f64>) {
    let all: f64 = profile.statements.iter().map(|statement| statement.changed).sum();
    let counted = profile.statements.iter().any(|statement| statement.log_bytes.is_some());
    let Some(log_bytes) = log_bytes.filter(|_| !counted && all > 0.0) else { return };
    profile.log_shared_out = true;
    for statement in profile.statements.iter_mut().filter(|statement| statement.name != COMMIT) {
        statement.log_bytes = Some(log_bytes * statement.changed / all);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_goes_to_those_who_changed_rows_unless_it_was_counted() {
        let write = |changed: f64| StatementProfile { changed, ..StatementProfile::read("write", |_| None) };
        let statements = vec![
            write(3.0),
            write(1.0),
            StatementProfile::read("read", |_| None),
            StatementProfile::read(COMMIT, |_| None),
        ];
        let mut profile = StatementsProfile { statements, ..StatementsProfile::default() };
        share_out_log(&mut profile, Some(800.0));
        let log: Vec<Option<f64>> = profile.statements.iter().map(|statement| statement.log_bytes).collect();
        assert_eq!((log, profile.log_shared_out), (vec![Some(600.0), Some(200.0), Some(0.0), None], true));
        let counted = StatementProfile { log_bytes: Some(7.0), ..write(1.0) };
        let mut profile = StatementsProfile { statements: vec![counted], ..StatementsProfile::default() };
        share_out_log(&mut profile, Some(800.0));
        assert_eq!((profile.log_shared_out, profile.total().log_bytes), (false, Some(7.0)));
    }

    fn counted(name: &str, execution: f64, io: f64) -> StatementProfile {
        StatementProfile { execution_us: Some(execution), io_us: Some(io), ..StatementProfile::read(name, |_| None) }
    }

    #[test]
    fn cpu_goes_to_those_who_were_busy_and_not_to_those_who_waited() {
        let statements = vec![
            counted("works", 300.0, 0.0),
            counted("waits", 1_000.0, 900.0),
            StatementProfile::read(COMMIT, |_| None),
        ];
        let mut profile = StatementsProfile { statements, ..StatementsProfile::default() };
        share_out(&mut profile, Some(2.0));
        let cpu: Vec<Option<f64>> = profile.statements.iter().map(|statement| statement.cpu_us).collect();
        assert_eq!((cpu, profile.cpu), (vec![Some(1_500.0), Some(500.0), None], CpuBasis::SharedOut));
        assert_eq!(profile.total().cpu_us, Some(2_000.0), "the parts are the whole");
    }

    #[test]
    fn what_was_seen_waiting_for_a_lock_is_no_cpu() {
        let seen = |seen: &[(&str, f64)]| seen.iter().map(|(event, us)| ((*event).to_owned(), *us)).collect();
        let waits = StatementProfile {
            seen: seen(&[("Lock:transactionid", 700.0), ("CPU", 250.0), ("LWLock:WALWrite", 50.0)]),
            ..counted("waits", 1_000.0, 0.0)
        };
        let statements = vec![waits, counted("works", 750.0, 0.0)];
        let mut profile = StatementsProfile { statements, ..StatementsProfile::default() };
        share_out(&mut profile, Some(2.0));
        let cpu: Vec<Option<f64>> = profile.statements.iter().map(|statement| statement.cpu_us).collect();
        assert_eq!(cpu, [Some(500.0), Some(1_500.0)]);
        let total = profile.total();
        let spent = |on| total.spent(on).expect("somebody looked");
        assert_eq!((spent(Spent::Locks), spent(Spent::Log), spent(Spent::Io)), (700.0, 50.0, 0.0));
        assert_eq!(profile.statements[1].spent(Spent::Locks), None, "nobody looked at it");
    }

    #[test]
    fn cpu_that_was_measured_is_not_shared_out() {
        let measured = StatementProfile { cpu_us: Some(7.0), ..counted("one", 10.0, 0.0) };
        let mut profile = StatementsProfile { statements: vec![measured], ..StatementsProfile::default() };
        share_out(&mut profile, Some(2.0));
        assert_eq!((profile.cpu, profile.total().cpu_us), (CpuBasis::Sampled, Some(7.0)));
    }
}
