//! What `pg_stat_statements` knows of statements.
//!
//! The one idea: the extension counts every execution of every text; pages, log bytes and times are read as they stand, and
//! who reads twice has the difference.
//!
//! What it does not do: it makes the extension on private servers only; a server that is given by URL is only read.

use super::PostgresSession;
use crate::Session;
use crate::cost::StatementCost;
use crate::server::SCRIPTS;
use observation::OfStatement;
use study::Engine;

/// What a private server is started with to count costs. Reading clocks around I/O lets the estimate of CPU leave waits for
/// disks out.
pub(super) const SETTINGS: &[(&str, &str)] = &[
    ("shared_preload_libraries", "pg_stat_statements"),
    ("pg_stat_statements.track_planning", "on"),
    ("track_io_timing", "on"),
];

/// How they come to a database whose server loads the library.
const EXTENSION: &str = "run CREATE EXTENSION pg_stat_statements in this database";

/// How the statistics come to a server that has none.
const REMEDY: &str = "set shared_preload_libraries = 'pg_stat_statements' in the server's configuration, restart it, and \
    run CREATE EXTENSION pg_stat_statements in this database";

const AMOUNTS: [OfStatement; 7] = [
    OfStatement::ServerExecutions,
    OfStatement::ExecutionSeconds,
    OfStatement::PlanningSeconds,
    OfStatement::IoSeconds,
    OfStatement::Lookups,
    OfStatement::Reads,
    OfStatement::LogBytes,
];

/// Makes the extension in a database of our own.
pub(super) fn make(session: &mut PostgresSession) -> Result<(), String> {
    session.script("CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public").map_err(|failure| failure.text)
}

/// What statements of this user, and of scripts on a private server, have cost in this database so far.
///
/// # Errors
/// In words, why it is not known.
pub(super) fn read(session: &mut PostgresSession) -> Result<Vec<StatementCost>, String> {
    let schema = schema(session)?;
    let version = session.major();
    let rows = session.query(&query(&schema, version));
    let rows = rows.map_err(|failure| format!("pg_stat_statements cannot be read ({}): {REMEDY}", failure.text))?;
    let costs = rows.iter().filter_map(|row| StatementCost::shown(Engine::Postgres, &AMOUNTS, row));
    // The work of a commit is done behind the statement, where nobody counts it: near nothing would be shown for much.
    let ends = |key: &str| key == "commit" || key == "rollback" || key.starts_with("begin");
    Ok(costs.filter(|cost| !ends(&cost.key)).collect())
}

/// Where the extension is, quoted.
fn schema(session: &mut PostgresSession) -> Result<String, String> {
    let sql = "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
               WHERE e.extname = 'pg_stat_statements'";
    let found = session.text(sql).map_err(|failure| failure.text)?;
    if let Some(schema) = found {
        return Ok(schema);
    }
    // A server that loads the library needs no restart; who may not see the setting is told all of it.
    let loaded = session.text("SELECT current_setting('shared_preload_libraries', true)").ok().flatten();
    let loaded = loaded.is_some_and(|libraries| libraries.contains("pg_stat_statements"));
    Err(format!("pg_stat_statements is not there: {}", if loaded { EXTENSION } else { REMEDY }))
}

/// Names of columns changed in versions 13 and 17.
fn query(schema: &str, version: u32) -> String {
    let (execution, planning, log) = match version {
        0..=12 => ("total_time", "NULL::float8", "NULL::float8"),
        _ => ("total_exec_time", "total_plan_time", "wal_bytes::float8"),
    };
    let io =
        if version < 17 { "blk_read_time + blk_write_time" } else { "shared_blk_read_time + shared_blk_write_time" };
    format!(
        "SELECT query, calls, {execution} / 1000, {planning} / 1000, ({io}) / 1000, \
         shared_blks_hit + shared_blks_read, shared_blks_read, {log} FROM {schema}.pg_stat_statements \
         WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) \
         AND userid IN (SELECT oid FROM pg_roles WHERE rolname IN (current_user, '{SCRIPTS}'))"
    )
}
