//! What a server counts about itself.
//!
//! The one idea: the server's own statistics become the words that reports use for every engine; all of them only grow,
//! except those that say `now`.
//!
//! What it does not do: it takes no differences and reads no clock.

use crate::{Failure, Session};

/// Of the session's database, cumulative.
const DATABASE: &str = "SELECT xact_commit AS \"commits\", xact_rollback AS \"rollbacks\", blks_hit AS \"buffer hits\", \
    blks_read AS \"buffer reads\", deadlocks AS \"deadlocks\", tup_returned AS \"rows scanned\", \
    tup_fetched AS \"rows looked up\", tup_inserted AS \"rows inserted\", tup_updated AS \"rows updated\", \
    tup_deleted AS \"rows deleted\", temp_bytes AS \"temporary bytes\", \
    (SELECT count(*) FROM pg_locks WHERE NOT granted) AS \"lock waits now\", \
    pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS \"log bytes\" \
    FROM pg_stat_database WHERE datname = current_database()";

/// Of the whole server, up to version 16.
const WRITER: &str = "SELECT checkpoints_timed AS \"checkpoints timed\", checkpoints_req AS \"checkpoints requested\", \
    buffers_checkpoint AS \"buffers written by checkpoints\", buffers_clean AS \"buffers written in background\", \
    buffers_backend AS \"buffers written by sessions\" FROM pg_stat_bgwriter";

/// The same since version 17, which moved it.
const WRITER_17: &str = "SELECT c.num_timed AS \"checkpoints timed\", c.num_requested AS \"checkpoints requested\", \
    c.buffers_written AS \"buffers written by checkpoints\", b.buffers_clean AS \"buffers written in background\" \
    FROM pg_stat_checkpointer c, pg_stat_bgwriter b";

/// Of the log, versions 14 to 17.
const LOG: &str = "SELECT wal_records AS \"log records\", wal_fpi AS \"log page images\", \
    wal_buffers_full AS \"log buffers full\", wal_write AS \"log writes\", wal_sync AS \"log syncs\" FROM pg_stat_wal";

/// The same since version 18, where writes and syncs are counted elsewhere.
const LOG_18: &str = "SELECT wal_records AS \"log records\", wal_fpi AS \"log page images\", \
    wal_buffers_full AS \"log buffers full\" FROM pg_stat_wal";

/// The server's counters since they were reset, as far as its version has them.
///
/// # Errors
/// The failure.
pub fn counters(session: &mut super::PostgresSession) -> Result<Vec<(String, f64)>, Failure> {
    let version: u32 =
        session.version().split(|c: char| !c.is_ascii_digit()).next().map_or(0, |n| n.parse().unwrap_or(0));
    let log = match version {
        0..=13 => None,
        14..=17 => Some(LOG),
        _ => Some(LOG_18),
    };
    let mut found = Vec::new();
    for sql in [Some(DATABASE), Some(if version < 17 { WRITER } else { WRITER_17 }), log].into_iter().flatten() {
        found.extend(named(session, sql)?);
    }
    Ok(found)
}

/// The first row of an answer, its numbers by the names that stand in quotes in the statement.
pub(super) fn named(session: &mut super::PostgresSession, sql: &str) -> Result<Vec<(String, f64)>, Failure> {
    let rows = session.query(sql)?;
    let names = sql.split('"').skip(1).step_by(2);
    let values = rows.first().into_iter().flatten();
    Ok(names.zip(values).filter_map(|(name, value)| Some((name.to_owned(), value.number()?))).collect())
}

/// Writes all that is still to be written, and returns when it is there.
///
/// # Errors
/// The failure; only a superuser or a member of `pg_checkpoint` may ask for it.
pub fn force_checkpoint(session: &mut dyn Session) -> Result<(), Failure> {
    session.script("CHECKPOINT")
}
