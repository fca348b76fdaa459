//! What a server counts about itself.
//!
//! The one idea: names of the server's own status become counters that mean the same to a reader who never saw them, each
//! in its unit.
//!
//! What it does not do: it takes no differences and reads no clock.

use crate::{Failure, Session};
use observation::{Counted, Counter};
use workload::transaction::Value;

/// The counter, the server's name, and what one of the server's is in our unit.
const COUNTERS: &[(Counter, &str, f64)] = &[
    (Counter::Commits, "Com_commit", 1.0),
    (Counter::Rollbacks, "Com_rollback", 1.0),
    (Counter::Statements, "Questions", 1.0),
    (Counter::BufferRequests, "Innodb_buffer_pool_read_requests", 1.0),
    (Counter::BufferReads, "Innodb_buffer_pool_reads", 1.0),
    (Counter::BufferWaits, "Innodb_buffer_pool_wait_free", 1.0),
    (Counter::PagesFlushed, "Innodb_buffer_pool_pages_flushed", 1.0),
    (Counter::PagesDirty, "Innodb_buffer_pool_pages_dirty", 1.0),
    (Counter::DataBytesRead, "Innodb_data_read", 1.0),
    (Counter::DataBytesWritten, "Innodb_data_written", 1.0),
    (Counter::DataSyncs, "Innodb_data_fsyncs", 1.0),
    (Counter::LogBytes, "Innodb_os_log_written", 1.0),
    (Counter::LogWrites, "Innodb_log_writes", 1.0),
    (Counter::LogWriteRequests, "Innodb_log_write_requests", 1.0),
    // MySQL counts syncs of the log apart; MariaDB since 10.8 does not.
    (Counter::LogSyncs, "Innodb_os_log_fsyncs", 1.0),
    (Counter::LogWaits, "Innodb_log_waits", 1.0),
    (Counter::RowLockWaits, "Innodb_row_lock_waits", 1.0),
    (Counter::RowLockSeconds, "Innodb_row_lock_time", 0.001),
    (Counter::Deadlocks, "Innodb_deadlocks", 1.0),
    (Counter::CheckpointAge, "Innodb_checkpoint_age", 1.0),
    (Counter::HistoryOfChanges, "Innodb_history_list_length", 1.0),
    (Counter::ThreadsRunning, "Threads_running", 1.0),
];

/// The server's counters since its start, as far as it has them. Reading them costs the server under a millisecond.
///
/// # Errors
/// The failure.
pub fn counters(session: &mut dyn Session) -> Result<Counted, Failure> {
    let names: Vec<String> = COUNTERS.iter().map(|(_, name, _)| format!("'{name}'")).collect();
    let rows = session.query(&format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", names.join(", ")))?;
    let find = |wanted: &str| {
        let row = rows.iter().find(|row| row.first().and_then(Value::text) == Some(wanted))?;
        row.get(1)?.number()
    };
    Ok(COUNTERS.iter().filter_map(|(ours, theirs, unit)| Some((*ours, find(theirs)? * unit))).collect())
}
