//! What a server counts about itself.
//!
//! The one idea: the server's own statistics become the counters that reports use for every engine.
//!
//! What it does not do: it takes no differences and reads no clock.

use crate::{Failure, Session};
use observation::{Counted, Counter};

/// Counters with the server's expression for each, and where they are read.
pub(super) type Asked<'a> = (&'a [(Counter, &'a str)], &'a str);

/// Sessions that wait for a lock now, of the same database and program as the one that asks: what others wait for is no
/// wait of the transactions that are measured.
const OWN_WAITS: &str = "(SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
    AND datname = current_database() AND application_name = current_setting('application_name'))";

/// Of the session's database, cumulative.
const DATABASE: Asked = (
    &[
        (Counter::Commits, "xact_commit"),
        (Counter::Rollbacks, "xact_rollback"),
        (Counter::BufferHits, "blks_hit"),
        (Counter::BufferReads, "blks_read"),
        (Counter::Deadlocks, "deadlocks"),
        (Counter::RowsScanned, "tup_returned"),
        (Counter::RowsLookedUp, "tup_fetched"),
        (Counter::RowsInserted, "tup_inserted"),
        (Counter::RowsUpdated, "tup_updated"),
        (Counter::RowsDeleted, "tup_deleted"),
        (Counter::TemporaryBytes, "temp_bytes"),
        (Counter::LockWaits, OWN_WAITS),
        (Counter::LogBytes, "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"),
    ],
    "FROM pg_stat_database WHERE datname = current_database()",
);

/// Of the whole server, up to version 16.
const WRITER: Asked = (
    &[
        (Counter::CheckpointsTimed, "checkpoints_timed"),
        (Counter::CheckpointsRequested, "checkpoints_req"),
        (Counter::BuffersByCheckpoints, "buffers_checkpoint"),
        (Counter::BuffersInBackground, "buffers_clean"),
        (Counter::BuffersBySessions, "buffers_backend"),
    ],
    "FROM pg_stat_bgwriter",
);

/// The same since version 17, which moved it.
const WRITER_17: Asked = (
    &[
        (Counter::CheckpointsTimed, "c.num_timed"),
        (Counter::CheckpointsRequested, "c.num_requested"),
        (Counter::BuffersByCheckpoints, "c.buffers_written"),
        (Counter::BuffersInBackground, "b.buffers_clean"),
    ],
    "FROM pg_stat_checkpointer c, pg_stat_bgwriter b",
);

/// Of the log since version 14; writes and syncs are counted elsewhere since version 18.
const LOG: [(Counter, &str); 7] = [
    (Counter::LogRecords, "wal_records"),
    (Counter::LogPageImages, "wal_fpi"),
    (Counter::LogBuffersFull, "wal_buffers_full"),
    (Counter::LogWrites, "wal_write"),
    (Counter::LogSyncs, "wal_sync"),
    (Counter::LogWriteSeconds, "wal_write_time / 1000"),
    (Counter::LogSyncSeconds, "wal_sync_time / 1000"),
];

/// The server's counters since they were reset, as far as its version has them.
///
/// # Errors
/// The failure.
pub fn counters(session: &mut super::PostgresSession) -> Result<Counted, Failure> {
    let version = session.major();
    let log = match version {
        0..=13 => &[],
        14..=17 => &LOG[..],
        _ => &LOG[..3],
    };
    let mut found = asked(session, DATABASE)?;
    found.extend(asked(session, if version < 17 { WRITER } else { WRITER_17 })?);
    if !log.is_empty() {
        found.extend(asked(session, (log, "FROM pg_stat_wal"))?);
    }
    Ok(found)
}

/// What is known of what is asked for, in the first row of the answer.
pub(super) fn asked(session: &mut super::PostgresSession, (counters, place): Asked) -> Result<Counted, Failure> {
    let columns: Vec<&str> = counters.iter().map(|(_, expression)| *expression).collect();
    let values = session.row(&format!("SELECT {} {place}", columns.join(", ")))?;
    Ok(counters.iter().zip(values).filter_map(|((counter, _), value)| Some((*counter, value.number()?))).collect())
}
