//! What a server counts about itself.
//!
//! The one idea: names of the server's own status become counters that mean the same to a reader who never saw them, each
//! in its unit.
//!
//! What it does not do: it takes no differences and reads no clock.
//!
//! The server counts waits for row locks of all its databases in one sum. Where others may ask it too, the sessions of the measured
//! database that wait are looked up instead; a user who may not see them (without the privilege `PROCESS`) is told of no waits.

use crate::dialect::literal;
use crate::{Failure, Session};
use observation::{Counted, Counter};
use study::Engine;
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

/// Sessions of the asking user in a database that wait for a row lock now.
fn own_waits(schema: &str) -> String {
    let mut name = String::new();
    literal(Engine::Mariadb, &Value::Text(schema.to_owned()), &mut name);
    format!(
        "SELECT count(*) FROM information_schema.INNODB_TRX t JOIN information_schema.PROCESSLIST p \
         ON p.ID = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.DB <=> NULLIF({name}, '') \
         AND p.USER = SUBSTRING_INDEX(USER(), '@', 1)"
    )
}

/// Status variables of the server under the names that are ours, in a unit of ours; what the server does not have is missing.
///
/// # Errors
/// The failure.
pub(crate) fn status<T: Copy>(session: &mut dyn Session, wanted: &[(T, &str, f64)]) -> Result<Vec<(T, f64)>, Failure> {
    let names: Vec<String> = wanted.iter().map(|(_, name, _)| format!("'{name}'")).collect();
    let rows = session.query(&format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", names.join(", ")))?;
    let find = |name: &str| {
        let row = rows.iter().find(|row| row.first().and_then(Value::text) == Some(name))?;
        row.get(1)?.number()
    };
    Ok(wanted.iter().filter_map(|(ours, theirs, unit)| Some((*ours, find(theirs)? * unit))).collect())
}

/// The server's counters since its start, as far as it has them; of a server that others may ask, with what waits in one of its
/// databases. Reading them costs the server under a millisecond.
///
/// # Errors
/// The failure.
pub fn counters(session: &mut dyn Session, shared: Option<&str>) -> Result<Counted, Failure> {
    let mut found = status(session, COUNTERS)?;
    if let Some(schema) = shared {
        let of_all = |counter: Counter| matches!(counter, Counter::RowLockWaits | Counter::RowLockSeconds);
        found.retain(|(counter, _)| !of_all(*counter));
        let waiting = session.number(&own_waits(schema)).ok().flatten();
        found.extend(waiting.map(|count| (Counter::LockWaits, count)));
    }
    Ok(found)
}
