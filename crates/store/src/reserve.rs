//! Space that is taken from the disk before the run, and given back after it.
//!
//! The one idea: during a trial only the write-ahead log grows, and between trials its pages are copied into the file.
//! So both must own their blocks beforehand. Writing a filler as large as the reserve puts it through the log and then,
//! by a checkpoint, into the file; deleting the filler leaves the log's blocks to be overwritten and the file's pages on
//! its free list. On a filesystem that writes in place (ext4, XFS, tmpfs) later writes need no new block. A
//! filesystem that never writes in place (btrfs, ZFS) can still run full; then the error says so, and what was
//! acknowledged stays readable.

use crate::StoreError;
use crate::error::During;
use rusqlite::Connection;
use std::path::Path;

/// A filler is written in pieces, because one blob is limited to a gigabyte.
const PIECE_BYTES: u64 = 4 << 20;

/// A cell takes about this much: three histograms of some hundred buckets each. A wide spread takes more, an idle
/// interval less.
const CELL_BYTES: u64 = 3 << 10;

/// Every append rewrites the pages at the end of its tables in the log, however little it adds: those of cells and those of
/// readings, of which a border brings some fifty.
const APPEND_BYTES: u64 = 32 << 10;

/// How much to reserve for a run: `intervals` over all trials (warm-up included), each with about `cells` cells.
pub fn estimate_bytes(intervals: u64, cells: u64) -> u64 {
    intervals.saturating_mul(APPEND_BYTES.saturating_add(cells.saturating_mul(CELL_BYTES))).saturating_add(1 << 20)
}

/// Takes `bytes` for the file and about as much for its log.
pub(crate) fn take(connection: &Connection, bytes: u64, path: &Path) -> Result<(), StoreError> {
    const ACTION: &str = "reserving space for the run";
    fill(connection, bytes).during(ACTION, path)?;
    checkpoint(connection, "RESTART", path)?;
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
    fn the_estimate_grows_with_intervals_and_cells_and_never_overflows() {
        assert!(estimate_bytes(60, 4) < estimate_bytes(60, 40));
        assert!(estimate_bytes(60, 4) < estimate_bytes(3600, 4));
        assert_eq!(estimate_bytes(0, 100), 1 << 20);
        let _ = estimate_bytes(1 << 40, 1 << 20);
    }
}
