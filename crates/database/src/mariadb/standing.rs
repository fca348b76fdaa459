//! How a MariaDB stands: its data beside its buffer pool, and how much log it may owe.
//!
//! The one idea: asked once when a trial has ended, so that nothing of it costs the trial anything.
//!
//! What it does not do: pages in the buffer pool are those of all data, undo and dictionary included; the server does not
//! tell them apart.

use crate::{Failure, Session};
use observation::{Counted, Counter};
use std::path::PathBuf;
use workload::transaction::Value;

/// The log that there may be before pages must be written: one file since MariaDB 10.5, one setting since MySQL 8.0.30.
const CAPACITY: [&str; 2] = ["@@GLOBAL.innodb_redo_log_capacity", "@@GLOBAL.innodb_log_file_size"];

/// Sizes of files as InnoDB knows them, in MariaDB and in MySQL; statistics of tables where neither is shown.
fn data_sizes(schema: &str) -> [String; 3] {
    let files = |table: &str| {
        format!(
            "SELECT SUM(FILE_SIZE) FROM information_schema.{table} WHERE NAME LIKE '{}/%'",
            schema.replace('_', "\\_")
        )
    };
    let tables = format!(
        "SELECT SUM(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{schema}'"
    );
    [files("INNODB_SYS_TABLESPACES"), files("INNODB_TABLESPACES"), tables]
}

/// Levels, as far as the server shows them.
///
/// # Errors
/// The failure.
pub(super) fn standing(session: &mut dyn Session, schema: Option<&str>) -> Result<Counted, Failure> {
    let mut found = Vec::new();
    let mut put = |counter: Counter, value: Option<f64>| found.extend(value.map(|value| (counter, value)));
    put(Counter::Buffer, session.number("SELECT @@GLOBAL.innodb_buffer_pool_size")?);
    let status = session.row("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_bytes_data'")?;
    put(Counter::Buffered, status.get(1).and_then(Value::number));
    let mut capacity = CAPACITY.iter().filter_map(|name| session.number(&format!("SELECT {name}")).ok().flatten());
    put(Counter::LogCapacity, capacity.next());
    if let Some(schema) = schema {
        // A table that this server does not have is refused, and the next is asked.
        let mut sizes = data_sizes(schema).into_iter().filter_map(|sql| session.number(&sql).ok().flatten());
        put(Counter::Data, sizes.next());
    }
    Ok(found)
}

/// The files of a schema's tables in the data folder of a server on this machine.
///
/// # Errors
/// The failure.
pub(super) fn files(session: &mut dyn Session, schema: &str) -> Result<Vec<PathBuf>, Failure> {
    let folder = session.text("SELECT @@GLOBAL.datadir")?.unwrap_or_default();
    let Ok(listed) = std::fs::read_dir(PathBuf::from(folder).join(schema)) else { return Ok(Vec::new()) };
    let paths = listed.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|ending| ending == "ibd")).collect())
}
