//! The place of a data set on a server: a schema in PostgreSQL, a database in MariaDB.

use super::{Database, origin};
use crate::DataSet;
use crate::dialect::quoted;
use crate::mark::Found;
use crate::mark::{self, TABLE};
use crate::{DatabaseError, Failure, FailureKind, Session};
use study::Engine;
use workload::transaction::Value;

/// What is in the place of a data set.
pub(crate) fn find<D: Database + ?Sized>(database: &D, dataset: &DataSet) -> Result<Found, DatabaseError> {
    let (engine, schema) = (database.engine(), dataset.schema());
    let failed = |failure| DatabaseError::statement(&database.place(), "look up schemas and tables", failure);
    let mut session = database.catalogue()?;
    if session.query(&schemas(engine, &schema)).map_err(failed)?.is_empty() {
        return Ok(Found::Nothing);
    }
    let tables = session.query(&contents(engine, &schema)).map_err(failed)?;
    if tables.is_empty() {
        return Ok(Found::Empty);
    }
    if !tables.iter().any(|row| row.first().and_then(Value::text) == Some(TABLE)) {
        return Ok(Found::NotOurs);
    }
    if let Some(what) = origin::strange(&mut *session, engine, &schema).map_err(failed)?.into_iter().next() {
        return Err(DatabaseError::Planted { place: database.place(), name: schema, what });
    }
    let Some(rows) = marked_with(&mut *session, engine, &schema).map_err(failed)? else { return Ok(Found::NotOurs) };
    // Between the table of the mark and its rows a fill may end where one statement does not take the other back.
    let cut_off = rows.is_empty() && tables.len() == 1;
    Ok(if cut_off { Found::CutOff } else { Found::by_mark(&rows) })
}

/// The rows of a mark; none where a table of that name has not its columns.
fn marked_with(session: &mut dyn Session, engine: Engine, schema: &str) -> Result<Option<Vec<Vec<Value>>>, Failure> {
    match session.query(&mark::query(&in_schema(engine, schema))) {
        Err(failure) if failure.kind == FailureKind::Refused => Ok(None),
        rows => rows.map(Some),
    }
}

/// The data sets of all schemas that carry our mark and are filled, and why one cannot be looked at.
pub(crate) fn all<D: Database + ?Sized>(database: &D) -> Result<Vec<Result<DataSet, DatabaseError>>, DatabaseError> {
    let engine = database.engine();
    let failed = |failure| DatabaseError::statement(&database.place(), "look up schemas and tables", failure);
    let mut session = database.catalogue()?;
    let schemas = session.query(&marked(engine)).map_err(failed)?;
    let mut look = |schema: &str| {
        let strange = origin::strange(&mut *session, engine, schema).map_err(failed)?;
        if let Some(what) = strange.into_iter().next() {
            return Err(DatabaseError::Planted { place: database.place(), name: schema.to_owned(), what });
        }
        let rows = marked_with(&mut *session, engine, schema).map_err(failed)?;
        Ok(rows.map_or(Found::NotOurs, |rows| Found::by_mark(&rows)))
    };
    let names = schemas.iter().filter_map(|row| row.first().and_then(Value::text));
    // No schema of ours has a name that needs quotes.
    let names = names.filter(|name| origin::plain(name));
    Ok(names.filter_map(|name| present(look(name), &database.place(), name)).collect())
}

/// The data set that was found under a name, or why it cannot be checked; none where none of ours is filled.
pub(crate) fn present(
    found: Result<Found, DatabaseError>,
    place: &str,
    name: &str,
) -> Option<Result<DataSet, DatabaseError>> {
    match found {
        Ok(Found::OtherFormat(format)) => {
            Some(Err(DatabaseError::OtherFormat { place: place.to_owned(), name: name.to_owned(), format }))
        }
        Ok(found) => found.filled().map(Ok),
        Err(error) => Some(Err(error)),
    }
}

/// The schemas that hold a table of our mark's name.
fn marked(engine: Engine) -> String {
    match engine {
        Engine::Mariadb => format!("SELECT table_schema FROM information_schema.tables WHERE table_name = '{TABLE}'"),
        _ => format!(
            "SELECT n.nspname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.relname = '{TABLE}' AND NOT c.relkind IN ('i', 'I')"
        ),
    }
}

/// Makes the place with the mark that a fill has begun.
pub(crate) fn make<D: Database + ?Sized>(database: &D, dataset: &DataSet) -> Result<(), DatabaseError> {
    let (engine, schema) = (database.engine(), dataset.schema());
    let (name, mark) = (quoted(engine, &schema), mark::script(engine, &in_schema(engine, &schema), dataset));
    let script = match engine {
        Engine::Mariadb => format!("CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4; {mark}"),
        _ => format!("BEGIN; CREATE SCHEMA IF NOT EXISTS {name}; {mark}; COMMIT"),
    };
    run(database, &mut *database.catalogue()?, &script, "create a schema")
}

/// Drops the place, after another look at its mark.
pub(crate) fn clear<D: Database + ?Sized>(database: &D, dataset: &DataSet) -> Result<(), DatabaseError> {
    let (place, name) = (database.place(), dataset.schema());
    match find(database, dataset)? {
        Found::Nothing => Ok(()),
        Found::Ours(mark) if mark.dataset == *dataset => dropped(database, dataset),
        Found::Empty | Found::CutOff => dropped(database, dataset),
        Found::OtherFormat(_) if database.alone() => dropped(database, dataset),
        Found::OtherFormat(format) => Err(DatabaseError::OtherFormat { place, name, format }),
        Found::NotOurs | Found::Ours(_) => Err(DatabaseError::NotOurs { place, name }),
    }
}

/// Where others may keep something, what is not ours is looked for first. On PostgreSQL our tables go by name and without what
/// depends on them elsewhere, such as a view, so that the server refuses all of it where there is any.
fn dropped<D: Database + ?Sized>(database: &D, dataset: &DataSet) -> Result<(), DatabaseError> {
    let (engine, schema, mut session) = (database.engine(), dataset.schema(), database.catalogue()?);
    let name = quoted(engine, &schema);
    let mut first = String::new();
    if !database.alone() {
        let failed = |failure| DatabaseError::statement(&database.place(), "look up schemas and tables", failure);
        let names = session.query(&contents(engine, &schema)).map_err(failed)?;
        if let Some(what) = mark::foreign(&names, engine, dataset) {
            return Err(DatabaseError::Foreign { place: database.place(), name: schema, what });
        }
        let ours = dataset.tables().into_iter().map(|table| table.name.to_string()).chain([TABLE.to_owned()]);
        let ours: Vec<String> = ours.map(|table| format!("{name}.{}", quoted(engine, &table))).collect();
        first = format!("DROP TABLE IF EXISTS {}; ", ours.join(", "));
    }
    let script = match engine {
        Engine::Mariadb => format!("DROP DATABASE {name}"),
        _ => format!("BEGIN; {first}DROP SCHEMA {name} CASCADE; COMMIT"),
    };
    run(database, &mut *session, &script, "drop a schema")
}

fn run<D>(database: &D, session: &mut dyn Session, script: &str, action: &str) -> Result<(), DatabaseError>
where
    D: Database + ?Sized,
{
    session.script(script).map_err(|failure| DatabaseError::statement(&database.place(), action, failure))
}

fn in_schema(engine: Engine, schema: &str) -> String {
    format!("{}.{TABLE}", quoted(engine, schema))
}

fn schemas(engine: Engine, schema: &str) -> String {
    match engine {
        Engine::Mariadb => {
            format!("SELECT schema_name FROM information_schema.schemata WHERE schema_name = '{schema}'")
        }
        _ => format!("SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname = '{schema}'"),
    }
}

/// Names of tables, views and routines.
fn contents(engine: Engine, schema: &str) -> String {
    match engine {
        Engine::Mariadb => format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = '{schema}' \
             UNION ALL SELECT routine_name FROM information_schema.routines WHERE routine_schema = '{schema}'"
        ),
        _ => format!(
            "SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = '{schema}' AND NOT c.relkind IN ('i', 'I') UNION ALL SELECT p.proname \
             FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = '{schema}'"
        ),
    }
}
