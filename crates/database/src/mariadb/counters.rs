//! What a server counts about itself.
//!
//! The one idea: names of the server's own status become words that mean the same to a reader who never saw them, each
//! with its unit; all of them only grow, except those that say `now`.
//!
//! What it does not do: it takes no differences and reads no clock.

use crate::{Failure, Session};
use workload::transaction::Value;

/// Our name, the server's name, and what one of the server's is in our unit.
const COUNTERS: &[(&str, &str, f64)] = &[
    ("commits", "Com_commit", 1.0),
    ("rollbacks", "Com_rollback", 1.0),
    ("statements", "Questions", 1.0),
    ("buffer requests", "Innodb_buffer_pool_read_requests", 1.0),
    ("buffer reads", "Innodb_buffer_pool_reads", 1.0),
    ("buffer waits", "Innodb_buffer_pool_wait_free", 1.0),
    ("pages flushed", "Innodb_buffer_pool_pages_flushed", 1.0),
    ("pages dirty now", "Innodb_buffer_pool_pages_dirty", 1.0),
    ("data bytes read", "Innodb_data_read", 1.0),
    ("data bytes written", "Innodb_data_written", 1.0),
    ("data syncs", "Innodb_data_fsyncs", 1.0),
    ("log bytes", "Innodb_os_log_written", 1.0),
    ("log writes", "Innodb_log_writes", 1.0),
    ("log write requests", "Innodb_log_write_requests", 1.0),
    // MySQL counts syncs of the log apart; MariaDB since 10.8 does not.
    ("log syncs", "Innodb_os_log_fsyncs", 1.0),
    ("log waits", "Innodb_log_waits", 1.0),
    ("row lock waits", "Innodb_row_lock_waits", 1.0),
    ("row lock seconds", "Innodb_row_lock_time", 0.001),
    ("deadlocks", "Innodb_deadlocks", 1.0),
    ("checkpoint age bytes now", "Innodb_checkpoint_age", 1.0),
    ("history of changes now", "Innodb_history_list_length", 1.0),
    ("threads running now", "Threads_running", 1.0),
];

/// The server's counters since its start, as far as it has them. Reading them costs the server under a millisecond.
///
/// # Errors
/// The failure.
pub fn counters(session: &mut dyn Session) -> Result<Vec<(String, f64)>, Failure> {
    let names: Vec<String> = COUNTERS.iter().map(|(_, name, _)| format!("'{name}'")).collect();
    let rows = session.query(&format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", names.join(", ")))?;
    let find = |wanted: &str| {
        let row = rows.iter().find(|row| row.first().and_then(Value::text) == Some(wanted))?;
        row.get(1)?.number()
    };
    let found = COUNTERS.iter().filter_map(|(ours, theirs, unit)| Some((*ours, find(theirs)? * unit)));
    Ok(found.map(|(name, value)| (name.to_owned(), value)).collect())
}
