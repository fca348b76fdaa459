//! Checks: what must hold for the data, and what the generator knows of it.
//!
//! The one idea: invariants and checksums come as queries from the workload and are run as they are; the ledger is held against the
//! trades page by page, so that nothing grows with the length of a run.
//!
//! What it does not do: it mends nothing, and it measures no time but with the clock that it is handed.

use super::DataSet;
use crate::{DatabaseError, Failure, Session};
use std::time::Duration;
use workload::brokerage::Ledger;
use workload::brokerage::checks::{Invariant, checksum_queries, invariants};
use workload::brokerage::ledger::Judged;
use workload::transaction::Value;

/// Trades that are read at once.
const PAGE: usize = 50_000;

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOutcome {
    /// Its name.
    pub name: String,
    /// What should hold, as a sentence.
    pub says: String,
    /// Whether it holds.
    pub passed: bool,
    /// Rows that break it, ten at most.
    pub violations: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// Holds the data against all invariants of its kind; only the brokerage house has any. `clock` tells the time since any moment.
///
/// # Errors
/// When the database refuses a query.
pub fn check(
    session: &mut dyn Session,
    dataset: &DataSet,
    clock: &dyn Fn() -> Duration,
) -> Result<Vec<CheckOutcome>, DatabaseError> {
    // Batch jobs are held to their tallies, and of scripts nobody knows what must hold.
    let DataSet::Brokerage { scale, .. } = dataset else { return Ok(Vec::new()) };
    invariants(scale.preset).iter().map(|invariant| outcome(session, dataset, invariant, clock)).collect()
}

fn outcome(
    session: &mut dyn Session,
    dataset: &DataSet,
    invariant: &Invariant,
    clock: &dyn Fn() -> Duration,
) -> Result<CheckOutcome, DatabaseError> {
    let began = clock();
    let rows = session.query(&invariant.sql).map_err(|failure| failed(dataset, invariant.name, failure))?;
    Ok(CheckOutcome {
        name: invariant.name.to_owned(),
        says: invariant.says.to_owned(),
        passed: rows.is_empty(),
        violations: rows.iter().map(|row| row.iter().map(shown).collect::<Vec<_>>().join(", ")).collect(),
        took: clock().saturating_sub(began),
    })
}

/// The checksums of each table of the brokerage house: the same on all engines that hold the same rows.
///
/// # Errors
/// When the database refuses a query.
pub fn checksums(session: &mut dyn Session, dataset: &DataSet) -> Result<Vec<(String, Vec<String>)>, DatabaseError> {
    let DataSet::Brokerage { scale, .. } = dataset else { return Ok(Vec::new()) };
    let sums = checksum_queries(scale.preset).into_iter().map(|(table, sql)| {
        let rows = session.query(&sql).map_err(|failure| failed(dataset, &format!("checksum of {table}"), failure))?;
        Ok((table, rows.first().into_iter().flatten().map(shown).collect()))
    });
    sums.collect()
}

/// The highest number of a trade: transactions of the next run number theirs beyond it.
///
/// # Errors
/// When the database refuses the query.
pub fn last_trade(session: &mut dyn Session, dataset: &DataSet) -> Result<u64, DatabaseError> {
    let found = session.one("SELECT MAX(id) FROM trade");
    let found = found.map_err(|failure| failed(dataset, "the last trade", failure))?;
    Ok(found.as_ref().and_then(number).unwrap_or(0))
}

/// Holds what the generator knows against the trades from number `from` on.
///
/// # Errors
/// When the database refuses a query.
pub fn check_ledger(
    session: &mut dyn Session,
    dataset: &DataSet,
    ledger: &Ledger,
    from: u64,
) -> Result<Judged, DatabaseError> {
    let mut trades = Trades { session, next: Some(from), page: Vec::new().into_iter(), failure: None };
    let judged = ledger.judge(&mut trades);
    // Trades beyond the last that the ledger knows were not read, but a failure was met before.
    match trades.failure {
        Some(failure) => Err(failed(dataset, "the ledger", failure)),
        None => Ok(judged),
    }
}

/// Number and status of trades in ascending order, page by page.
struct Trades<'a> {
    session: &'a mut dyn Session,
    /// Where the next page begins; none after the last.
    next: Option<u64>,
    page: std::vec::IntoIter<Vec<Value>>,
    failure: Option<Failure>,
}

impl Trades<'_> {
    fn turn(&mut self, from: u64) {
        let sql = format!("SELECT id, status FROM trade WHERE id >= {from} ORDER BY id LIMIT {PAGE}");
        match self.session.query(&sql) {
            Ok(rows) => {
                let last = rows.last().and_then(|row| number(row.first()?));
                self.next = last.filter(|_| rows.len() == PAGE).map(|last| last + 1);
                self.page = rows.into_iter();
            }
            Err(failure) => (self.next, self.failure) = (None, Some(failure)),
        }
    }
}

impl Iterator for Trades<'_> {
    type Item = (u64, String);

    fn next(&mut self) -> Option<(u64, String)> {
        if self.page.len() == 0 {
            let from = self.next.take()?;
            self.turn(from);
        }
        let row = self.page.next()?;
        Some((number(row.first()?)?, row.get(1)?.text()?.to_owned()))
    }
}

fn number(value: &Value) -> Option<u64> {
    u64::try_from(value.int()?).ok()
}

fn failed(dataset: &DataSet, what: &str, failure: Failure) -> DatabaseError {
    DatabaseError::statement(&dataset.name(), &format!("check {what}"), failure)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Int(number) => number.to_string(),
        // Some engines give sums of whole numbers as numbers with a fraction.
        Value::Float(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}
