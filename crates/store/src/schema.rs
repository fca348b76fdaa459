//! The tables, their version, and the check that a file has exactly these.

use crate::StoreError;
use crate::columns::read;
use crate::error::During;
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

/// The version of the saved forms that this Prony writes. Files of every version from 1 up to it are read. Version 2 added
/// tables; from version 3 on a class may say what it gives, and from version 4 on another counts what was given.
pub const VERSION: i64 = 4;

/// Marks the file for `file(1)` and for us: "Prny".
pub(crate) const APPLICATION_ID: i64 = 0x5072_6e79;

/// All tables and views of version 1; later versions have them too.
const SCHEMA: &str = include_str!("schema.sql");

/// Tables of version 2; a file of version 1 that was written again may have them, too.
pub(crate) const ADDED: &str = include_str!("added.sql");

/// Makes the marks and the tables in a new file, within the caller's transaction.
pub(crate) fn make(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    const ACTION: &str = "making the tables";
    connection.pragma_update(None, "application_id", APPLICATION_ID).during(ACTION, path)?;
    connection.pragma_update(None, "user_version", VERSION).during(ACTION, path)?;
    connection.execute_batch(SCHEMA).during(ACTION, path)?;
    connection.execute_batch(ADDED).during(ACTION, path)
}

/// Checks the marks and the version of an existing file, for which no table is read.
pub(crate) fn check_marks(connection: &Connection, path: &Path) -> Result<(), StoreError> {
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
    Ok(())
}

/// Checks the tables of an existing file, and says on which page each table and index begins, with the name of the table.
///
/// A file may come from anybody. Were `cell` a view of theirs, or a trigger hung on `trial`, reading would run their program; so
/// every table must be ours to the letter, and what somebody added must be what can run nothing.
pub(crate) fn check_tables(connection: &Connection, path: &Path) -> Result<Vec<(String, u32)>, StoreError> {
    const ACTION: &str = "reading the tables";
    let damaged = |what: String| StoreError::Damaged(path.to_path_buf(), what);
    let version =
        connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).during(ACTION, path)?;
    let (ours, added) = ours().during(ACTION, path)?;
    let (mut missing, mut strange, mut roots) = (ours.clone(), None, Vec::new());
    let mut later = added.clone();
    for (object, table, root) in objects(connection).during(ACTION, path)? {
        roots.extend((root != 0).then_some((table, root)));
        if !missing.remove(&object) && !later.remove(&object) && !object.can_run_nothing() {
            strange = Some(object);
        }
    }
    // A file of version 1 has none of the later ones, or all.
    if version > 1 || later.len() < added.len() {
        missing.append(&mut later);
    }
    let short = |text: &str| text.chars().take(40).collect::<String>();
    match (missing.first(), strange) {
        (Some(Object { kind, name, .. }), _) => Err(damaged(format!("the {kind} `{name}` is missing or changed"))),
        (_, Some(added)) => Err(damaged(format!("somebody added the {} `{}`", short(&added.kind), short(&added.name)))),
        _ => Ok(roots),
    }
}

/// Whether a table of this name belongs to the schema.
pub(crate) fn is_ours(table: &str) -> bool {
    [SCHEMA, ADDED].iter().any(|text| text.contains(&format!("CREATE TABLE {table} (")))
}

/// A table, index, view or trigger, as the list of tables has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Object {
    kind: String,
    name: String,
    sql: Option<String>,
}

impl Object {
    /// Whether it is a table or view that nobody asks for, or an index of plain columns that somebody made for speed. SQLite goes by the
    /// text alone, whatever else the list says of it.
    fn can_run_nothing(&self) -> bool {
        let sql = self.sql.as_deref().unwrap_or_default();
        let index = sql.strip_prefix("CREATE UNIQUE INDEX ").or_else(|| sql.strip_prefix("CREATE INDEX "));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " _,\"".contains(c);
        match (self.kind.as_str(), index.and_then(|text| text.split_once('('))) {
            ("index", Some((_, columns))) => columns.strip_suffix(')').is_some_and(|names| names.chars().all(is_plain)),
            ("index", None) => self.sql.is_none(),
            ("table", None) => sql.starts_with("CREATE TABLE ") && !is_ours(&self.name),
            ("view", None) => sql.starts_with("CREATE VIEW "),
            _ => false,
        }
    }
}

/// What every file has, and what a new one has beside that.
type Ours = (BTreeSet<Object>, BTreeSet<Object>);

/// Worked out once, because some commands open every run of a folder.
fn ours() -> Result<&'static Ours, rusqlite::Error> {
    static OURS: OnceLock<Ours> = OnceLock::new();
    if let Some(known) = OURS.get() {
        return Ok(known);
    }
    let made = |text: &str| {
        let empty = Connection::open_in_memory()?;
        empty.execute_batch(text)?;
        Ok::<_, rusqlite::Error>(objects(&empty)?.into_iter().map(|(object, ..)| object).collect())
    };
    let both = (made(SCHEMA)?, made(ADDED)?);
    Ok(OURS.get_or_init(|| both))
}

/// Each object, with the table that it belongs to and the page on which it begins.
fn objects(connection: &Connection) -> Result<Vec<(Object, String, u32)>, rusqlite::Error> {
    let sql = "SELECT type, name, sql, tbl_name, coalesce(rootpage, 0) FROM sqlite_schema";
    read(connection, sql, (), |row| {
        let object = Object { kind: row.get(0)?, name: row.get(1)?, sql: row.get(2)? };
        Ok((object, row.get(3)?, row.get(4)?))
    })
}
