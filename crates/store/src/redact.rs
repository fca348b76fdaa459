//! A copy of a run file without host names, users, addresses and paths.
//!
//! The one idea: the copy is a new file, written row by row, so that nothing of the original can linger in a free page.

use crate::columns::read;
use crate::error::During;
use crate::file::{Access, connect, make};
use crate::scrub::Scrubber;
use crate::{RunFile, StoreError, checksum, schema};
use rusqlite::types::Value;
use rusqlite::{Connection, Error, params_from_iter};
use std::path::Path;

/// Columns whose few words are read back as they are, and can hold nothing private.
const KEPT: [(&str, &str); 18] = [
    ("run", "prony_version"),
    ("run", "prony_commit"),
    ("run_word", "list"),
    ("system", "kind"),
    ("trial", "state"),
    ("trial", "provenance"),
    ("factor", "form"),
    ("class", "kind"),
    ("event", "kind"),
    ("checked", "kind"),
    ("checked", "moment"),
    ("checked", "result"),
    ("mishap", "kind"),
    ("series", "unit"),
    ("account", "service_ns"),
    ("account", "lateness_ns"),
    ("account", "think_ns"),
    ("account", "slots_ns"),
];

/// Columns that hold sentences: of people, and of servers.
const SENTENCES: [(&str, &str); 9] = [
    ("run", "title"),
    ("run", "question"),
    ("run", "note"),
    ("event", "text"),
    ("system_fact", "value"),
    ("checked", "says"),
    ("checked", "found"),
    ("mishap", "what"),
    ("mishap", "first"),
];

/// Writes a copy of the run file `source` to the new file `copy`, without facts that are marked as private, without places, and
/// with every path, host name and serial number that was found in them taken out of all other texts.
///
/// # Errors
/// As [`RunFile::open`] for the source and [`RunFile::create`] for the copy; no half-made copy is left behind.
pub fn redact(source: &Path, copy: &Path) -> Result<(), StoreError> {
    let source = RunFile::open(source)?;
    let scrubber = Scrubber::of(&source.facts()?);
    make(copy, || write_copy(&source, copy, &scrubber))
}

fn write_copy(source: &RunFile, copy: &Path, scrubber: &Scrubber) -> Result<(), StoreError> {
    let target = connect(copy, Access::Write, copy)?;
    let transaction = target.unchecked_transaction().during("starting the copy", copy)?;
    schema::make(&transaction, copy)?;
    for table in tables(&source.connection).during("reading the tables", source.path())? {
        copy_table(&source.connection, &target, &table, scrubber).during("copying a table", copy)?;
    }
    checksum::renew(&target).during("writing checksums", copy)?;
    transaction.commit().during("ending the copy", copy)?;
    target.close().map_err(|(_, error)| error).during("closing the copy", copy)
}

/// The tables that hold a run; the copy has its own explanation and checksums, and needs no reserve.
fn tables(connection: &Connection) -> Result<Vec<String>, Error> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('about', 'checksum', 'reserve') ORDER BY name";
    let names: Vec<String> = read(connection, sql, (), |row| row.get(0))?;
    Ok(names.into_iter().filter(|name| schema::is_ours(name)).collect())
}

fn copy_table(source: &Connection, target: &Connection, table: &str, scrubber: &Scrubber) -> Result<(), Error> {
    let filter = if table == "system_fact" { " WHERE private = 0" } else { "" };
    let mut select = source.prepare(&format!("SELECT * FROM {table}{filter}"))?;
    let columns: Vec<String> = select.column_names().into_iter().map(str::to_owned).collect();
    let places = vec!["?"; columns.len()].join(", ");
    let mut insert = target.prepare(&format!("INSERT INTO {table} VALUES ({places})"))?;
    let mut rows = select.query(())?;
    while let Some(row) = rows.next()? {
        let mut values = Vec::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            values.push(clean(row.get(at)?, table, column, scrubber));
        }
        insert.execute(params_from_iter(values))?;
    }
    Ok(())
}

fn clean(value: Value, table: &str, column: &str, scrubber: &Scrubber) -> Value {
    match value {
        Value::Text(_) if (table, column) == ("system", "place") => Value::Text("(private)".to_owned()),
        Value::Text(text) if SENTENCES.contains(&(table, column)) => Value::Text(scrubber.clean_sentence(&text)),
        Value::Text(text) if !KEPT.contains(&(table, column)) => Value::Text(scrubber.clean(&text)),
        other => other,
    }
}
