//! How a PostgreSQL stands: its data beside its buffer, and what makes a checkpoint due.
//!
//! The one idea: asked once when a trial has ended, in one answer each, so that nothing of it costs the trial anything.
//!
//! What it does not do: it leaves out what the server does not show (pages in the buffer are shown by the extension
//! `pg_buffercache` alone), and it does not add up what TOAST holds.

use super::counters::asked;
use crate::{Failure, Session};
use observation::{Counted, Counter};
use std::path::{Path, PathBuf};
use workload::transaction::Value;

/// A checkpoint is due when the log has grown so far since the last (`CalculateCheckpointSegments`), or its time is over.
const LIMITS: [(Counter, &str); 3] = [
    (Counter::Buffer, "pg_size_bytes(current_setting('shared_buffers'))"),
    (
        Counter::LogBeforeCheckpoint,
        "pg_size_bytes(current_setting('max_wal_size')) / (1 + current_setting('checkpoint_completion_target')::float8)",
    ),
    (Counter::CheckpointTimeout, "extract(epoch FROM current_setting('checkpoint_timeout')::interval)"),
];

/// Shows what is in the buffer; ours to add on a private server alone.
const EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS pg_buffercache";

/// The tables and indexes of a schema.
fn relations(schema: &str) -> String {
    format!(
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '{schema}' \
         AND c.relkind IN ('r', 'i', 'm', 't')"
    )
}

/// Levels, as far as the server shows them.
///
/// # Errors
/// The failure.
pub(super) fn standing(
    session: &mut super::PostgresSession,
    schema: Option<&str>,
    own: bool,
) -> Result<Counted, Failure> {
    if own {
        // Without the package of extensions the buffer stays unknown, which is no failure.
        let _ = session.script(EXTENSION);
    }
    let mut found = asked(session, (&LIMITS, ""))?;
    found.extend(match schema {
        Some(schema) => asked(session, (&[(Counter::Data, "sum(pg_relation_size(c.oid))")], &relations(schema)))?,
        None => asked(session, (&[(Counter::Data, "pg_database_size(current_database())")], ""))?,
    });
    if session.text("SELECT to_regclass('pg_buffercache')::text")?.is_some() {
        // A role may see the view and not be let in.
        let count = "count(*) * current_setting('block_size')::float8";
        found.extend(asked(session, (&[(Counter::Buffered, count)], &buffered(schema))).unwrap_or_default());
    }
    Ok(found)
}

/// The pages of a schema in the buffer, or of the whole database.
fn buffered(schema: Option<&str>) -> String {
    let here = "b.reldatabase = (SELECT oid FROM pg_database WHERE datname = current_database())";
    match schema {
        Some(schema) => {
            let files = format!("SELECT pg_relation_filenode(c.oid) {}", relations(schema));
            format!("FROM pg_buffercache b WHERE {here} AND b.relfilenode IN ({files})")
        }
        None => format!("FROM pg_buffercache b WHERE {here}"),
    }
}

/// The files of a schema's tables and indexes, with their further segments; of a server on this machine that shows its
/// folder.
///
/// # Errors
/// The failure.
pub(super) fn files(session: &mut super::PostgresSession, schema: &str) -> Result<Vec<PathBuf>, Failure> {
    let path = format!("SELECT current_setting('data_directory'), pg_relation_filepath(c.oid) {}", relations(schema));
    let mut found = Vec::new();
    for row in session.query(&path)? {
        let text = |at: usize| row.get(at).and_then(Value::text);
        if let (Some(folder), Some(file)) = (text(0), text(1)) {
            segments(&Path::new(folder).join(file), &mut found);
        }
    }
    Ok(found)
}

/// A relation of more than a gigabyte goes on in `FILE.1`, `FILE.2` and so on.
fn segments(first: &Path, found: &mut Vec<PathBuf>) {
    let mut at = first.to_path_buf();
    let mut number = 0;
    while at.is_file() {
        found.push(at);
        number += 1;
        at = PathBuf::from(format!("{}.{number}", first.display()));
    }
}
