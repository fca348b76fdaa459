//! Space that is taken from the disk before the run, and given back after it.
//!
//! The one idea: during a trial only the write-ahead log grows, and between trials its pages are copied into the file.
//! So both must own their blocks beforehand. A filler is written in turns as large as the log is to be: each goes through the
//! log and then, by a checkpoint, into the file, which all of them make as large as it is to be; deleting the filler leaves the
//! log's blocks to be overwritten and the file's pages on its free list. On a filesystem that writes in place (ext4, XFS, tmpfs) later writes need no new block. A
//! filesystem that never writes in place (btrfs, ZFS) can still run full; then the error says so, and what was
//! acknowledged stays readable.

use crate::StoreError;
use crate::error::During;
use rusqlite::Connection;
use std::path::Path;

/// A filler is written in pieces, because one blob is limited to a gigabyte.
const PIECE_BYTES: u64 = 4 << 20;

/// A cell takes this much at most, as a rule: three histograms of some hundred buckets each. A wide spread takes more.
const CELL_BYTES: u64 = 3 << 10;

/// What a cell takes without its histograms.
const EMPTY_BYTES: u64 = 48;

/// What one operation adds to the histograms of a cell that has few: a bucket in each of three.
const OPERATION_BYTES: u64 = 12;

/// Every append rewrites the pages at the end of its tables in the log, however little it adds: those of cells and those of
/// readings, of which a border brings some fifty.
const APPEND_BYTES: u64 = 32 << 10;

/// What everything else takes: facts, tables and indexes.
const BASE_BYTES: u64 = 1 << 20;

/// Space for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reserve {
    /// Bytes of the file: all trials.
    pub file: u64,
    /// Bytes of its log: the largest trial.
    pub log: u64,
}

impl From<u64> for Reserve {
    /// As much for each.
    fn from(bytes: u64) -> Reserve {
        Reserve { file: bytes, log: bytes }
    }
}

impl Reserve {
    /// Bytes that both take on the disk.
    pub fn bytes(self) -> u64 {
        self.file.max(self.log).saturating_add(self.log)
    }

    /// Of trials, each with its count of intervals (warm-up included) and what is kept of one ([`cells_bytes`]); `more` bytes
    /// come to the file. At most `most` in either.
    pub fn of(trials: impl Iterator<Item = (u64, u64)>, more: u64, most: u64) -> Reserve {
        let mut reserve = Reserve { file: BASE_BYTES.saturating_add(more), log: BASE_BYTES };
        for (intervals, kept) in trials {
            reserve.file = reserve.file.saturating_add(intervals.saturating_mul(kept));
            let appended = intervals.saturating_mul(APPEND_BYTES.saturating_add(kept));
            reserve.log = reserve.log.max(appended.saturating_add(BASE_BYTES));
        }
        Reserve { file: reserve.file.min(most), log: reserve.log.min(most) }
    }
}

/// What one interval adds to the file: at most so many cells, with so many operations in all of them.
pub fn cells_bytes(cells: u64, operations: u64) -> u64 {
    let few = operations.saturating_mul(OPERATION_BYTES);
    cells.saturating_mul(EMPTY_BYTES).saturating_add(cells.saturating_mul(CELL_BYTES).min(few))
}

/// Takes a reserve.
pub(crate) fn take(connection: &Connection, reserve: Reserve, path: &Path) -> Result<(), StoreError> {
    const ACTION: &str = "reserving space for the run";
    let mut left = reserve.file.max(reserve.log);
    while left > 0 {
        let turn = left.min(reserve.log.max(PIECE_BYTES));
        fill(connection, turn).during(ACTION, path)?;
        checkpoint(connection, "RESTART", path)?;
        left -= turn;
    }
    connection.execute("DELETE FROM reserve", ()).during(ACTION, path)?;
    checkpoint(connection, "RESTART", path)
}

fn fill(connection: &Connection, bytes: u64) -> Result<(), rusqlite::Error> {
    let transaction = connection.unchecked_transaction()?;
    let mut left = bytes;
    while left > 0 {
        let piece = left.min(PIECE_BYTES);
        transaction.execute("INSERT INTO reserve (filler) VALUES (zeroblob(?1))", [piece as i64])?;
        left -= piece;
    }
    transaction.commit()
}

/// Copies the log into the file and waits until both are on stable media. Only between trials: it flushes.
pub(crate) fn checkpoint(connection: &Connection, mode: &str, path: &Path) -> Result<(), StoreError> {
    const ACTION: &str = "folding the log into the file";
    connection.pragma_update(None, "synchronous", "FULL").during(ACTION, path)?;
    let pragma = format!("PRAGMA wal_checkpoint({mode})");
    let blocked: i64 = connection.query_row(&pragma, (), |row| row.get(0)).during(ACTION, path)?;
    connection.pragma_update(None, "synchronous", "OFF").during(ACTION, path)?;
    if blocked != 0 {
        return Err(StoreError::InUse(path.to_path_buf()));
    }
    Ok(())
}

/// Gives unused space back and leaves one file without a log.
pub(crate) fn release(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    const ACTION: &str = "giving reserved space back";
    // A process that was killed while it took its reserve left the filler behind.
    connection.execute("DELETE FROM reserve", ()).during(ACTION, path)?;
    // Moves pages from the end into free places and cuts the file: in place, because a full disk has no room for a copy.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum").during(ACTION, path)?;
    let mut rows = vacuum.query(()).during(ACTION, path)?;
    while rows.next().during(ACTION, path)?.is_some() {}
    drop(rows);
    drop(vacuum);
    checkpoint(connection, "TRUNCATE", path)?;
    connection.pragma_update(None, "journal_mode", "DELETE").during(ACTION, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_flush_nothing_before_and_after_a_checkpoint() {
        let connection = Connection::open_in_memory().unwrap();
        let synchronous = || connection.pragma_query_value(None, "synchronous", |row| row.get::<_, i64>(0)).unwrap();
        checkpoint(&connection, "RESTART", Path::new("x")).unwrap();
        assert_eq!(synchronous(), 0);
    }

    #[test]
    fn a_reserve_grows_with_trials_and_what_is_kept_of_them_and_never_overflows() {
        let of = |trials: &[(u64, u64)]| Reserve::of(trials.iter().copied(), 0, u64::MAX);
        let (one, two) = (of(&[(60, 4_000)]), of(&[(60, 4_000), (60, 4_000)]));
        assert_eq!((two.log, two.file - one.file), (one.log, 240_000), "the log is used again by each trial");
        assert_eq!(of(&[]), Reserve::from(1 << 20));
        assert_eq!(Reserve::of([(1 << 40, 1 << 40)].into_iter(), 7, 5 << 20), Reserve::from(5 << 20));
        assert_eq!(Reserve { file: 30, log: 10 }.bytes(), 40);
        assert_eq!(Reserve { file: 1, log: 10 }.bytes(), 20, "what goes through the log lands in the file");
        let _ = of(&[(1 << 40, 1 << 40), (u64::MAX, u64::MAX)]).bytes();
    }

    #[test]
    fn cells_of_few_operations_take_little() {
        assert_eq!(cells_bytes(10, 0), 480);
        assert!(cells_bytes(768, 100) < 40 << 10);
        assert_eq!(cells_bytes(1, u64::MAX), 48 + (3 << 10));
    }
}
