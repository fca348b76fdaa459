//! Whether what stands in the place of a data set is what Prony makes there, as the catalogue tells it.
//!
//! The one idea: a name and a comment can be claimed by anybody, and a view, a trigger or an expression runs the code of its maker
//! with the rights of whoever looks. So before anything in a schema is touched the catalogue is asked for what Prony never makes, and
//! in PostgreSQL, where everything has an owner, for owners who could not do without us what their code would do through us.
//!
//! What it does not do: it asks nothing but catalogues, and holds nobody off who may change the schema after this look. In PostgreSQL
//! that is its owner, who has our rights; in MariaDB whoever may make views there.

use crate::{Failure, Session};
use study::Engine;
use workload::transaction::Value;

/// So many strange things are told.
const TOLD: &str = "10";

/// What Prony did not make there, in words that a sentence can begin with, ten at most; nothing where all is ours or absent.
/// The schema is a plain word.
pub(crate) fn strange(session: &mut dyn Session, engine: Engine, schema: &str) -> Result<Vec<String>, Failure> {
    let [more, others, itself] = told(session, engine, schema)?;
    Ok([itself, others, more].concat())
}

/// The same in three: what would be strange whoever had made it, what is because it belongs to another role, and the schema itself where
/// that belongs to one.
pub(crate) fn told(session: &mut dyn Session, engine: Engine, schema: &str) -> Result<[Vec<String>; 3], Failure> {
    let mut found: [Vec<String>; 3] = Default::default();
    for row in session.query(&query(engine, schema))? {
        let why = row.get(1).and_then(Value::number).unwrap_or(0.0) as usize;
        found[why.min(2)].extend(row.first().and_then(Value::text).map(str::to_owned));
    }
    Ok(found)
}

/// Whether a name needs no quotes in a query of a catalogue, as those of our schemas do not.
pub(crate) fn plain(schema: &str) -> bool {
    schema.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a private server of this folder was made for a data set: others are called by what they are for.
pub(crate) fn of_data_set(folder: &std::path::Path) -> bool {
    let name = folder.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    name.starts_with("prony_") && plain(name)
}

/// The query whose rows tell what is strange.
pub(crate) fn query(engine: Engine, schema: &str) -> String {
    let text = match engine {
        Engine::Mariadb => MARIADB,
        Engine::Sqlite | Engine::Null => SQLITE,
        Engine::Postgres => POSTGRES,
    };
    format!("{} LIMIT {TOLD}", text.replace("{schema}", schema))
}

const SQLITE: &str = "SELECT 'the ' || CASE type WHEN 'table' THEN 'virtual table' ELSE type END || ' ' || name \
    FROM sqlite_schema WHERE type IN ('view', 'trigger') OR sql LIKE 'create virtual%'";

/// Stored code runs with the rights of who made it, but for views and procedures of an invoker; those are made anew before they
/// are called. Neither expressions of columns nor of checks may call code of anybody's.
const MARIADB: &str = include_str!("origin_mariadb.sql");

/// An owner is trusted who may become the connected role, as a superuser may, or could give himself that right: before version 16
/// whoever makes roles. What the server itself made has no rows in `pg_depend`, so that each row there leads to code of somebody's. An index belongs to the owner of its table, which is told.
const POSTGRES: &str = include_str!("origin_postgres.sql");
