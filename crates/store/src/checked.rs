//! What checks of the data found, what went wrong by kind, and what a trial knows of acknowledged work.
//!
//! The one idea: these tables came to the format later. A file that has none of them is read as one in which nothing was checked,
//! and gets them when something is written.
//!
//! What it does not do: it holds nothing against a database.

use crate::columns::{Saved as _, count, read as read_rows, word};
use crate::error::During;
use crate::{RunFile, StoreError, schema};
use observation::{Check, CheckKind, CheckMoment, CheckResult, EventKind, Ledger, Mishap, TrialCheck};
use rusqlite::{Connection, Error, Row, params};
use std::collections::BTreeMap;

impl RunFile {
    /// Keeps what checks of the data of an open trial found. When this returns, the end of this process cannot lose it any more.
    ///
    /// # Errors
    /// As [`RunFile::append_interval`].
    pub fn append_checks(&mut self, index: u32, checks: &[Check]) -> Result<(), StoreError> {
        let id = self.open_row(index)?;
        self.change("keeping what checks found", |connection| write_checks(connection, id, checks))
    }

    /// Keeps what an open trial knows of acknowledged work, in place of what was kept of it before.
    ///
    /// # Errors
    /// As [`RunFile::append_interval`].
    pub fn set_ledger(&mut self, index: u32, ledger: &Ledger) -> Result<(), StoreError> {
        let id = self.open_row(index)?;
        self.change("keeping the ledger", |connection| write_ledger(connection, id, ledger))
    }

    /// What the checks of all attempts at all trials found, in the order in which they were made.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn checks(&self) -> Result<Vec<TrialCheck>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, number, attempt FROM checked JOIN trial ON trial.id = checked.trial ORDER BY checked.id"
        );
        self.added("reading what checks found", |connection| {
            read_rows(connection, &sql, (), |row| {
                Ok(TrialCheck { trial: row.get("number")?, attempt: row.get("attempt")?, check: check(row)? })
            })
        })
    }

    /// What each attempt at a trial that got so far knows of acknowledged work, in their order.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn ledgers(&self, index: u32) -> Result<Vec<Ledger>, StoreError> {
        self.added("reading the ledgers of a trial", |connection| read_ledgers(connection, index))
    }

    /// Reads tables that an older file has not.
    fn added<T: Default>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let read =
            are_there(&self.connection).and_then(|there| if there { work(&self.connection) } else { Ok(T::default()) });
        read.during(action, self.path())
    }
}

/// Whether the file has the tables that came later.
pub(crate) fn are_there(connection: &Connection) -> Result<bool, Error> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'checked'";
    connection.query_row(sql, (), |row| row.get::<_, i64>(0)).map(|tables| tables > 0)
}

/// Makes the tables that came later, in a file that has not got them.
fn make(connection: &Connection) -> Result<(), Error> {
    if are_there(connection)? { Ok(()) } else { connection.execute_batch(schema::ADDED) }
}

fn write_checks(connection: &Connection, trial: i64, checks: &[Check]) -> Result<(), Error> {
    make(connection)?;
    let sql = format!("INSERT INTO checked (trial, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
    let mut insert = connection.prepare_cached(&sql)?;
    for Check { kind, moment, name, says, result, found, took_s } in checks {
        insert.execute(params![trial, kind.word(), moment.word(), name, says, result.word(), found, took_s])?;
    }
    Ok(())
}

fn write_ledger(connection: &Connection, trial: i64, ledger: &Ledger) -> Result<(), Error> {
    make(connection)?;
    connection.execute("DELETE FROM ledger_count WHERE trial = ?1", [trial])?;
    connection.execute("DELETE FROM ledger_page WHERE trial = ?1", [trial])?;
    let mut insert = connection.prepare_cached("INSERT INTO ledger_count (trial, name, value) VALUES (?1, ?2, ?3)")?;
    for (name, value) in &ledger.counts {
        insert.execute(params![trial, name, value])?;
    }
    let mut insert = connection.prepare_cached("INSERT INTO ledger_page (trial, page, entries) VALUES (?1, ?2, ?3)")?;
    for (page, entries) in &ledger.pages {
        insert.execute(params![trial, page.save()?, entries])?;
    }
    Ok(())
}

fn read_ledgers(connection: &Connection, number: u32) -> Result<Vec<Ledger>, Error> {
    let sql = "SELECT id FROM trial WHERE number = ?1 AND (id IN (SELECT trial FROM ledger_count)
               OR id IN (SELECT trial FROM ledger_page)) ORDER BY attempt";
    let trials: Vec<i64> = read_rows(connection, sql, [number], |row| row.get(0))?;
    trials.into_iter().map(|trial| read_ledger(connection, trial)).collect()
}

fn read_ledger(connection: &Connection, trial: i64) -> Result<Ledger, Error> {
    let counts = "SELECT name, value FROM ledger_count WHERE trial = ?1";
    let pages = "SELECT page, entries FROM ledger_page WHERE trial = ?1";
    Ok(Ledger {
        counts: BTreeMap::from_iter(read_rows(connection, counts, [trial], |row| Ok((row.get(0)?, row.get(1)?)))?),
        pages: BTreeMap::from_iter(read_rows(connection, pages, [trial], |row| Ok((u64::load(row, 0)?, row.get(1)?)))?),
    })
}

/// The columns of a check, in the order in which they are read.
const COLUMNS: &str = "kind, moment, name, says, result, found, took_s";

fn check(row: &Row<'_>) -> Result<Check, Error> {
    Ok(Check {
        kind: word(row, 0, CheckKind::of_word)?,
        moment: word(row, 1, CheckMoment::of_word)?,
        name: row.get(2)?,
        says: row.get(3)?,
        result: word(row, 4, CheckResult::of_word)?,
        found: row.get(5)?,
        took_s: f64::load(row, 6)?,
    })
}

/// Reads what the checks of one attempt at a trial found.
pub(crate) fn read_checks(connection: &Connection, trial: i64) -> Result<Vec<Check>, Error> {
    if !are_there(connection)? {
        return Ok(Vec::new());
    }
    read_rows(connection, &format!("SELECT {COLUMNS} FROM checked WHERE trial = ?1 ORDER BY id"), [trial], check)
}

/// Adds what went wrong in a trial.
pub(crate) fn write_mishaps(connection: &Connection, trial: i64, mishaps: &[Mishap]) -> Result<(), Error> {
    if mishaps.is_empty() {
        return Ok(());
    }
    make(connection)?;
    let sql = "INSERT INTO mishap (trial, stream, kind, what, count, first) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut insert = connection.prepare_cached(sql)?;
    for Mishap { stream, kind, what, count, first } in mishaps {
        insert.execute(params![trial, stream, kind.word(), what, count.save()?, first])?;
    }
    Ok(())
}

/// Reads what went wrong in a trial.
pub(crate) fn read_mishaps(connection: &Connection, trial: i64) -> Result<Vec<Mishap>, Error> {
    if !are_there(connection)? {
        return Ok(Vec::new());
    }
    let sql = "SELECT stream, kind, what, count, first FROM mishap WHERE trial = ?1 ORDER BY id";
    read_rows(connection, sql, [trial], |row| {
        let (kind, count) = (word(row, 1, EventKind::of_word)?, count(row, 3, 0)?);
        Ok(Mishap { stream: row.get(0)?, kind, what: row.get(2)?, count, first: row.get(4)? })
    })
}
