//! Cells, to and from their table.

use crate::blob;
use crate::number::{count, signed};
use observation::{Cell, CellKey, Histogram, Tally};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, Row, params};

/// Bytes of one cell may exceed its operations by this many doublings: 16 MiB an operation.
const BYTES_SHIFT: u32 = 24;

/// The row of the `position`-th thing written for a trial: rows of a trial lie together, in the order of writing, without
/// an index to keep up on every append.
pub(crate) fn row_id(trial: i64, position: u32) -> i64 {
    (trial << 32) | i64::from(position)
}

/// All rows of a trial, as a range of ids.
pub(crate) fn row_range(trial: i64) -> [i64; 2] {
    [row_id(trial, 0), row_id(trial, u32::MAX)]
}

/// Writes `cells` from place `position` on.
pub(crate) fn write(connection: &Connection, trial: i64, position: u32, cells: &[Cell]) -> Result<(), Error> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO cell (id, trial, interval, stream, class, endpoint, generator, done, failed, retried, rolled_back,
         bytes, response_mean_ms, response_p99_ms, response_max_ms, response, service, lateness, censored)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?;
    for (place, cell) in (position..).zip(cells) {
        let (key, tally, response) = (cell.key, cell.tally, &cell.response);
        insert.execute(params![
            row_id(trial, place),
            trial,
            key.interval,
            key.stream,
            key.class,
            key.endpoint,
            key.generator,
            signed(tally.done),
            signed(tally.failed),
            signed(tally.retried),
            signed(tally.rolled_back),
            signed(tally.bytes),
            response.mean_ns().map(|ns| ns / 1e6),
            response.quantile_ns(0.99).map(|ns| ns as f64 / 1e6),
            (!response.is_empty()).then(|| response.max_ns() as f64 / 1e6),
            blob::encode(response),
            blob::encode(&cell.service),
            blob::encode(&cell.lateness),
            blob::encode(&cell.censored),
        ])?;
    }
    Ok(())
}

/// Reads all cells of a trial in the order in which they were written.
pub(crate) fn read(connection: &Connection, trial: i64) -> Result<Vec<Cell>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT interval, stream, class, endpoint, generator, done, failed, retried, rolled_back, bytes, response,
         service, lateness, censored FROM cell WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
    )?;
    statement.query_map(row_range(trial), read_one)?.collect()
}

fn read_one(row: &Row<'_>) -> Result<Cell, Error> {
    Ok(Cell {
        key: CellKey {
            interval: row.get(0)?,
            stream: row.get(1)?,
            class: row.get(2)?,
            endpoint: row.get(3)?,
            generator: row.get(4)?,
        },
        tally: Tally {
            done: count(row, 5, 0)?,
            failed: count(row, 6, 0)?,
            retried: count(row, 7, 0)?,
            rolled_back: count(row, 8, 0)?,
            bytes: count(row, 9, BYTES_SHIFT)?,
        },
        response: histogram(row, 10)?,
        service: histogram(row, 11)?,
        lateness: histogram(row, 12)?,
        censored: histogram(row, 13)?,
    })
}

fn histogram(row: &Row<'_>, column: usize) -> Result<Histogram, Error> {
    let bytes = row.get_ref(column)?.as_blob()?;
    blob::decode(bytes).map_err(|error| Error::FromSqlConversionFailure(column, Type::Blob, Box::new(error)))
}
