//! What statements cost the database, counted where they are carried out.
//!
//! The one idea: a cost belongs to the text of a statement. Engines rewrite texts before they count (values become marks,
//! spaces go, names are quoted), so that costs are found again by the [`crate::fingerprint`] of a text, which is the same for
//! what was sent and for what an engine made of it.
//!
//! What it does not do: it takes no differences, and it shares nothing out between statements.

use rusqlite::Connection;

/// Amounts that an engine may know of a statement. They grow for as long as it counts.
pub mod amount {
    /// Executions, as the database counts them.
    pub const SERVER_EXECUTIONS: &str = "server_executions";
    /// Seconds from the begin to the end of executions, waits included.
    pub const EXECUTION_SECONDS: &str = "execution_seconds";
    /// Seconds of these that were spent in reads and writes of pages, where the server takes their time.
    pub const IO_SECONDS: &str = "io_seconds";
    /// Seconds spent in planning.
    pub const PLANNING_SECONDS: &str = "planning_seconds";
    /// Seconds of CPU.
    pub const CPU_SECONDS: &str = "cpu_seconds";
    /// Pages asked of the buffer, found there or not.
    pub const LOOKUPS: &str = "lookups";
    /// Pages of these that were not in the buffer.
    pub const READS: &str = "reads";
    /// Rows that were looked at, where an engine counts no pages.
    pub const ROWS_EXAMINED: &str = "rows_examined";
    /// Bytes written to the log.
    pub const LOG_BYTES: &str = "log_bytes";
}

/// What `COMMIT` is called in profiles; no workload has a statement of that name.
pub const COMMIT: &str = "(commit)";

/// What one text has cost since the database began to count.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementCost {
    /// The fingerprint of its text.
    pub key: String,
    /// What is known, each under a name of [`amount`].
    pub amounts: Vec<(&'static str, f64)>,
}

/// Whether costs of statements are counted, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profiling {
    /// Whether they are: private servers are started so that they count, SQLite is sampled.
    pub on: bool,
    /// How pages of a SQLite connection are counted; without it they are not.
    pub pages: Option<PageCounter>,
}

/// Reads the page counters of a connection.
pub type PageCounter = fn(&Connection) -> Pages;

/// What a connection to SQLite did with pages since it was opened. Counts are of 32 bits and begin again at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// Found in the connection's cache.
    pub hits: u32,
    /// Not found there.
    pub misses: u32,
    /// Written to the file or its log.
    pub writes: u32,
}
