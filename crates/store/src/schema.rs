//! The tables, their version, and the check that a file has exactly these.

use crate::StoreError;
use crate::columns::read;
use crate::error::During;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// The version of the saved forms that this Prony writes. Files of every version from 1 up to it are read.
pub const VERSION: i64 = 1;

/// Marks the file for `file(1)` and for us: "Prny".
pub(crate) const APPLICATION_ID: i64 = 0x5072_6e79;

/// All tables and views of version 1.
pub(crate) const SCHEMA: &str = include_str!("schema.sql");

/// Makes the marks and the tables in a new file, within the caller's transaction.
pub(crate) fn make(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    const ACTION: &str = "making the tables";
    connection.pragma_update(None, "application_id", APPLICATION_ID).during(ACTION, path)?;
    connection.pragma_update(None, "user_version", VERSION).during(ACTION, path)?;
    connection.execute_batch(SCHEMA).during(ACTION, path)
}

/// Checks the marks, the version and the tables of an existing file.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    const ACTION: &str = "reading the header";
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if pragma("application_id").during(ACTION, path)? != APPLICATION_ID {
        return Err(StoreError::NotARunFile(path.to_path_buf()));
    }
    let found = pragma("user_version").during(ACTION, path)?;
    if found > VERSION {
        return Err(StoreError::TooNew(path.to_path_buf(), found));
    }
    if found < 1 {
        return Err(StoreError::TooOld(path.to_path_buf(), found));
    }
    check_tables(connection, path)
}

/// A file may come from anybody. Were `cell` a view of theirs, or a trigger hung on `trial`, reading would run their
/// program; so every table must be ours to the letter. Indices that somebody added for speed do no harm.
fn check_tables(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let damaged = |what: String| StoreError::Damaged(path.to_path_buf(), what);
    let found = objects(connection).during("reading the tables", path)?;
    if let Some(name) = found.iter().find(|(_, (kind, _))| kind == "trigger").map(|(name, _)| name) {
        return Err(damaged(format!("somebody added the trigger `{name}`")));
    }
    for (name, object) in ours().during("reading the tables", path)? {
        if found.get(name) != Some(object) {
            return Err(damaged(format!("the {} `{name}` is missing or changed", object.0)));
        }
    }
    Ok(())
}

/// Whether a table of this name belongs to the schema.
pub(crate) fn is_ours(table: &str) -> bool {
    SCHEMA.contains(&format!("CREATE TABLE {table} ("))
}

/// What a new file has; worked out once, because some commands open every run of a folder.
fn ours() -> Result<&'static Objects, rusqlite::Error> {
    static OURS: OnceLock<Objects> = OnceLock::new();
    if let Some(known) = OURS.get() {
        return Ok(known);
    }
    let empty = Connection::open_in_memory()?;
    empty.execute_batch(SCHEMA)?;
    let made = objects(&empty)?;
    Ok(OURS.get_or_init(|| made))
}

type Objects = BTreeMap<String, (String, Option<String>)>;

fn objects(connection: &Connection) -> Result<Objects, rusqlite::Error> {
    let sql = "SELECT name, type, sql FROM sqlite_schema";
    Ok(read(connection, sql, (), |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?.into_iter().collect())
}
