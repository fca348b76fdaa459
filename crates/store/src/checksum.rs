//! Checksums of what was recorded: a bit that flips on a disk or on its way is found and named.
//!
//! The one idea: a trial that ends leaves a sum over its rows in each table, within the transaction that ends it; a file that is
//! closed leaves sums over the tables of the run, and one over all the other sums. A file that a killed run left has only the
//! sums of its trials. Files of version 1 have none and are read as they are.
//!
//! What it does not do: it holds off nobody who changes the sums too.

use crate::StoreError;
use crate::cells::row_range;
use crate::columns::read as read_rows;
use crate::error::During;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Params, params};
use std::path::Path;

/// The version from which on files have sums.
const SINCE: i64 = 2;

/// Stands for the run where others have the row of their trial, which begins at 1.
const RUN: i64 = 0;

/// Tables with rows of one trial, and which rows these are.
const OF_A_TRIAL: [(&str, Rows); 14] = [
    ("trial", Rows::Own("id = ?1")),
    ("factor", Rows::Own("trial = ?1 ORDER BY position")),
    ("stream", Rows::Own("trial = ?1 ORDER BY stream")),
    ("class", Rows::Own("trial = ?1 ORDER BY stream, class")),
    ("endpoint", Rows::Own("trial = ?1 ORDER BY endpoint")),
    ("account", Rows::Own("trial = ?1 ORDER BY stream")),
    ("checked", Rows::Own("trial = ?1 ORDER BY id")),
    ("mishap", Rows::Own("trial = ?1 ORDER BY id")),
    ("ledger_count", Rows::Own("trial = ?1 ORDER BY name")),
    ("ledger_page", Rows::Own("trial = ?1 ORDER BY page")),
    ("series", Rows::Own("trial = ?1 ORDER BY id")),
    ("event", Rows::Range),
    ("cell", Rows::Range),
    ("reading", Rows::Range),
];

/// Tables of the run, with what orders their rows.
const OF_THE_RUN: [(&str, &str); 7] = [
    ("about", "rowid"),
    ("run", "rowid"),
    ("run_word", "rowid"),
    ("ceiling", "rowid"),
    ("system", "position"),
    ("system_fact", "rowid"),
    // Last, because it covers all sums of trials.
    ("checksum", "trial, part"),
];

/// Tables that are found by an index: one that lost an entry would hide a trial.
const INDEXED: [&str; 2] = ["trial", "series"];

#[derive(Clone, Copy)]
enum Rows {
    /// By this condition.
    Own(&'static str),
    /// By ids that begin with the row of the trial.
    Range,
}

/// Leaves the sums of a trial that has ended.
pub(crate) fn end_trial(connection: &Connection, trial: i64) -> Result<(), Error> {
    if !has_sums(connection)? {
        return Ok(());
    }
    for (table, rows) in OF_A_TRIAL {
        put(connection, trial, table, of_trial(connection, table, rows, trial)?)?;
    }
    Ok(())
}

/// Leaves the sums of the run, of which nothing changes any more.
pub(crate) fn close(connection: &Connection) -> Result<(), Error> {
    if !has_sums(connection)? {
        return Ok(());
    }
    for (table, order) in OF_THE_RUN {
        put(connection, RUN, table, of_run(connection, table, order)?)?;
    }
    Ok(())
}

/// Takes the sums of the run away, because it is about to change.
pub(crate) fn reopen(connection: &Connection) -> Result<(), Error> {
    if has_sums(connection)? {
        connection.execute("DELETE FROM checksum WHERE trial = ?1", [RUN])?;
    }
    Ok(())
}

/// Leaves all sums of a file that was just written.
pub(crate) fn renew(connection: &Connection) -> Result<(), Error> {
    for trial in trials(connection)? {
        end_trial(connection, trial)?;
    }
    close(connection)
}

/// Holds what is in the file against its sums: all of it, or what a glance reads. One that was closed has those of the run.
///
/// # Errors
/// [`StoreError::Damaged`] names the first table that is not as it was written, and the trial.
pub(crate) fn check(connection: &Connection, path: &Path, but: &[&str], closed: bool) -> Result<(), StoreError> {
    const ACTION: &str = "comparing checksums";
    if !has_sums(connection).during(ACTION, path)? {
        return Ok(());
    }
    match first_difference(connection, but, closed).during(ACTION, path)? {
        Some(what) => Err(StoreError::Damaged(path.to_path_buf(), what)),
        None => Ok(()),
    }
}

fn first_difference(connection: &Connection, but: &[&str], closed: bool) -> Result<Option<String>, Error> {
    for table in INDEXED {
        let told: String = connection.query_row(&format!("PRAGMA integrity_check({table})"), (), |row| row.get(0))?;
        if told != "ok" {
            return Ok(Some(format!("the table `{table}` and its index differ: {told}")));
        }
    }
    for (table, order) in OF_THE_RUN {
        let sum = sum_of(connection, RUN, table)?;
        if (sum.is_some() || closed) && sum != Some(of_run(connection, table, order)?) {
            return Ok(Some(format!("the table `{table}` is not what was written; its checksum differs")));
        }
    }
    for trial in trials(connection)? {
        for (table, rows) in OF_A_TRIAL.iter().filter(|(table, _)| !but.contains(table)) {
            if sum_of(connection, trial, table)? != Some(of_trial(connection, table, *rows, trial)?) {
                return Ok(Some(format!(
                    "{} is not what was written; its checksum differs",
                    told(connection, trial, table)?
                )));
            }
        }
    }
    Ok(None)
}

/// A part of a trial in words; the number of the trial may be what was damaged.
fn told(connection: &Connection, trial: i64, table: &str) -> Result<String, Error> {
    let sql = "SELECT number, attempt FROM trial WHERE id = ?1";
    Ok(match read_rows(connection, sql, [trial], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?.first() {
        None => "the list of trials".to_owned(),
        Some((number, 0)) => format!("the part `{table}` of trial {number}"),
        Some((number, attempt)) => {
            format!("the part `{table}` of trial {number}, attempt {}", attempt.saturating_add(1))
        }
    })
}

/// Trials that have ended, by row. One that was running when its process was killed has no sums.
fn trials(connection: &Connection) -> Result<Vec<i64>, Error> {
    let sql = "SELECT id FROM trial WHERE state <> 'running' UNION SELECT trial FROM checksum WHERE trial <> ?1";
    read_rows(connection, sql, [RUN], |row| row.get(0))
}

fn has_sums(connection: &Connection) -> Result<bool, Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).map(|version| version >= SINCE)
}

fn put(connection: &Connection, trial: i64, part: &str, sum: u32) -> Result<(), Error> {
    let sql = "INSERT OR REPLACE INTO checksum (trial, part, crc32c) VALUES (?1, ?2, ?3)";
    connection.prepare_cached(sql)?.execute(params![trial, part, sum]).map(|_| ())
}

fn sum_of(connection: &Connection, trial: i64, part: &str) -> Result<Option<u32>, Error> {
    let sql = "SELECT crc32c FROM checksum WHERE trial = ?1 AND part = ?2";
    let found = read_rows(connection, sql, params![trial, part], |row| row.get::<_, i64>(0))?;
    // One that does not fit is as wrong as any.
    Ok(found.first().map(|sum| u32::try_from(*sum).unwrap_or_default()))
}

fn of_trial(connection: &Connection, table: &str, rows: Rows, trial: i64) -> Result<u32, Error> {
    match rows {
        Rows::Own(rows) => sum(connection, &format!("SELECT * FROM {table} WHERE {rows}"), [trial]),
        Rows::Range => {
            sum(connection, &format!("SELECT * FROM {table} WHERE id BETWEEN ?1 AND ?2 ORDER BY id"), row_range(trial))
        }
    }
}

fn of_run(connection: &Connection, table: &str, order: &str) -> Result<u32, Error> {
    // The sums of the run do not cover themselves.
    let rows = if table == "checksum" { "WHERE trial <> 0" } else { "" };
    sum(connection, &format!("SELECT * FROM {table} {rows} ORDER BY {order}"), ())
}

/// CRC-32C over all values, each with its type and length, so that no value can pass for a part of another.
fn sum(connection: &Connection, sql: &str, params: impl Params) -> Result<u32, Error> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params)?;
    let mut sum = 0;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            let number;
            let (kind, bytes): (u8, &[u8]) = match row.get_ref(column)? {
                ValueRef::Null => (0, &[]),
                ValueRef::Integer(value) => {
                    number = value.to_le_bytes();
                    (1, &number)
                }
                ValueRef::Real(value) => {
                    number = value.to_bits().to_le_bytes();
                    (2, &number)
                }
                ValueRef::Text(bytes) => (3, bytes),
                ValueRef::Blob(bytes) => (4, bytes),
            };
            sum = crc32c::crc32c_append(sum, &[kind]);
            sum = crc32c::crc32c_append(sum, &(bytes.len() as u64).to_le_bytes());
            sum = crc32c::crc32c_append(sum, bytes);
        }
    }
    Ok(sum)
}
