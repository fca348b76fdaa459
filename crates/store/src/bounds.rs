//! What a run can hold at most: lengths of windows, counts of operations, bytes of texts.
//!
//! The one idea: whoever made a file could write any number into it, and each is the beginning of sums and of memory later on.
//! So the whole file is held against bounds that no run comes near before anything is read from it.

use crate::StoreError;
use crate::checked;
use crate::error::During;
use observation::{SYSTEMS_MAX, TRIALS_MAX};
use rusqlite::Connection;
use std::path::Path;

/// Intervals that trials may have between them beyond those that the bytes of the file can fill; each takes memory when it is
/// read, whether anything is in it or not. A second each, these are 23 days.
const INTERVALS_MAX: f64 = 2e6;

/// No interval with anything in it takes fewer bytes.
const INTERVAL_BYTES: f64 = 64.0;

/// Nanoseconds of a window or interval: 104 days.
const LENGTH_MAX: i64 = 1 << 53;

/// Operations of a stream in a trial: a thousand times a million a second over 13 days.
const OPERATIONS_MAX: i64 = 1 << 50;

/// Streams of a trial.
const STREAMS_MAX: u64 = 1_024;

/// Rows of tables that are read as a whole and set beside each other in every table and chart. A study has no more of them.
const ROWS_MAX: &[(&str, u64)] =
    &[("system", SYSTEMS_MAX as u64), ("trial", TRIALS_MAX), ("system_fact", 20_000), ("factor", 1 << 20)];

/// Factors of a trial: a study has fewer keys.
const FACTORS_MAX: u64 = 128;

/// Rows of each of the tables of checks.
const CHECKS_MAX: f64 = 2e6;

/// Bytes of one text, such as a name or a word of the command line.
const TEXT_MAX: u64 = 64 << 10;

/// Bytes of all texts that label something: tables repeat them with every figure.
const LABELS_MAX: u64 = 8 << 20;

/// Bytes of the study, of the note, and of an event, in which a server may have said much.
const WRITTEN_MAX: u64 = 8 << 20;

/// Columns of texts by table.
const LABELS: &[(&str, &[&str])] = &[
    ("run", &["id", "study", "title", "question", "prony_version", "prony_commit"]),
    ("run_word", &["list", "word"]),
    ("system", &["name", "kind", "place", "driver"]),
    ("system_fact", &["key", "value"]),
    ("trial", &["experiment", "system", "state_policy", "search"]),
    ("factor", &["name", "text"]),
    ("stream", &["name", "workload", "load"]),
    ("class", &["name"]),
    ("endpoint", &["name"]),
    ("series", &["probe", "unit"]),
];

/// Refuses a file with anything in it that no run of so many bytes can have. `records` says that its long tables are to be
/// read, too.
pub(crate) fn check(connection: &Connection, path: &Path, bytes: u64, records: bool) -> Result<(), StoreError> {
    let bounded = Bounded { connection, path };
    bounded.rows()?;
    bounded.texts()?;
    if records {
        bounded.lengths(bytes)?;
        bounded.counts()?;
        bounded.longest("event", "text", WRITTEN_MAX)?;
        if checked::are_there(connection).during("looking for what no run can hold", path)? {
            bounded.added()?;
        }
    }
    Ok(())
}

struct Bounded<'a> {
    connection: &'a Connection,
    path: &'a Path,
}

impl Bounded<'_> {
    fn number(&self, sql: &str) -> Result<f64, StoreError> {
        self.connection.query_row(sql, (), |row| row.get(0)).during("looking for what no run can hold", self.path)
    }

    fn damaged(&self, what: String) -> StoreError {
        StoreError::Damaged(self.path.to_path_buf(), what)
    }

    fn rows(&self) -> Result<(), StoreError> {
        for (table, most) in ROWS_MAX {
            let rows = self.number(&format!("SELECT count(*) + 0.0 FROM {table}"))?;
            if rows > *most as f64 {
                return Err(self.damaged(format!("`{table}` has {rows} rows, and at most {most} are read")));
            }
        }
        let factors = "SELECT coalesce(max(n), 0) + 0.0 FROM (SELECT count(*) AS n FROM factor GROUP BY trial)";
        match self.number(factors)? {
            most if most > FACTORS_MAX as f64 => Err(self.damaged(format!("a trial of it has {most} factors"))),
            _ => Ok(()),
        }
    }

    fn lengths(&self, bytes: u64) -> Result<(), StoreError> {
        // Saved as signed; what shows as negative is beyond every other.
        let unsigned = |column: &str| format!("CASE WHEN {column} < 0 THEN 2e19 ELSE {column} END");
        let [start, end, interval] = &["window_start_ns", "window_end_ns", "interval_ns"].map(unsigned);
        let has = self.number(&format!(
            "SELECT coalesce(sum((max({start}, {end}) / max({interval}, 1.0) + 1.0)
             * (SELECT count(*) + 1 FROM stream WHERE stream.trial = trial.id)), 0.0) FROM trial",
        ))?;
        if has > INTERVALS_MAX + bytes as f64 / INTERVAL_BYTES {
            return Err(self.damaged(format!("its windows have {has:.1e} intervals, more than it can hold")));
        }
        for column in [start, end, interval] {
            let longest = self.number(&format!("SELECT coalesce(max({column}), 0.0) + 0.0 FROM trial"))?;
            if longest > LENGTH_MAX as f64 {
                return Err(self.damaged(format!("a window or interval of it lasts {longest:.1e} ns")));
            }
        }
        Ok(())
    }

    fn counts(&self) -> Result<(), StoreError> {
        for (table, column) in ["planned", "done", "failed", "censored"]
            .map(|column| ("account", column))
            .into_iter()
            .chain([("trial", "validated_reads")])
        {
            let beyond =
                format!("SELECT count(*) + 0.0 FROM {table} WHERE {column} NOT BETWEEN 0 AND {OPERATIONS_MAX}");
            if self.number(&beyond)? > 0.0 {
                return Err(self.damaged(format!("`{column}` holds a count that no trial can reach")));
            }
        }
        let streams = "SELECT coalesce(max(n), 0) + 0.0 FROM (SELECT count(*) AS n FROM stream GROUP BY trial
                       UNION ALL SELECT count(*) FROM account GROUP BY trial)";
        match self.number(streams)? {
            most if most > STREAMS_MAX as f64 => Err(self.damaged(format!("a trial of it has {most} streams"))),
            _ => Ok(()),
        }
    }

    fn texts(&self) -> Result<(), StoreError> {
        let mut all = 0.0;
        for (table, columns) in LABELS {
            for column in *columns {
                self.longest(table, column, TEXT_MAX)?;
                all += self.number(&format!("SELECT total({}) FROM {table}", bytes_of(column)))?;
            }
        }
        if all > LABELS_MAX as f64 {
            return Err(self.damaged(format!("its names have {all} bytes, and at most {LABELS_MAX} are read")));
        }
        ["study_text", "note"].iter().try_for_each(|column| self.longest("run", column, WRITTEN_MAX))
    }

    /// The tables that came later.
    fn added(&self) -> Result<(), StoreError> {
        for table in ["checked", "mishap", "ledger_count"] {
            let rows = self.number(&format!("SELECT count(*) + 0.0 FROM {table}"))?;
            if rows > CHECKS_MAX {
                return Err(self.damaged(format!("`{table}` has {rows} rows, and at most {CHECKS_MAX} are read")));
            }
        }
        let texts = [("checked", ["name", "says", "found"].as_slice()), ("mishap", &["what", "first"])];
        for (table, columns) in texts.into_iter().chain([("ledger_count", ["name"].as_slice())]) {
            columns.iter().try_for_each(|column| self.longest(table, column, WRITTEN_MAX))?;
        }
        self.longest("ledger_page", "entries", TEXT_MAX)
    }

    fn longest(&self, table: &str, column: &str, most: u64) -> Result<(), StoreError> {
        match self.number(&format!("SELECT coalesce(max({}), 0) + 0.0 FROM {table}", bytes_of(column)))? {
            longest if longest > most as f64 => {
                Err(self.damaged(format!("`{table}.{column}` holds {longest} bytes, and at most {most} are read")))
            }
            _ => Ok(()),
        }
    }
}

/// `length` alone counts characters, and only up to the first that is zero.
fn bytes_of(column: &str) -> String {
    format!("length(CAST({column} AS BLOB))")
}
