//! Cells, to and from their table.

use crate::blob;
use crate::columns::{Saved as _, count, read as read_rows};
use observation::{Cell, CellKey, Histogram, Tally};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, Row, params};

/// Bytes of one cell may exceed the most of its operations by this many doublings: 1 PiB an interval.
const BYTES_SHIFT: u32 = 10;

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
            tally.done.save()?,
            tally.failed.save()?,
            tally.retried.save()?,
            tally.rolled_back.save()?,
            tally.bytes.save()?,
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

/// Shows all cells of a trial, ascending by interval, one in memory at a time. Only their places are sorted here: a query
/// that sorts would hold every histogram while it does.
pub(crate) fn each(connection: &Connection, trial: i64, visit: &mut dyn FnMut(&Cell)) -> Result<(), Error> {
    let mut one = connection.prepare_cached(
        "SELECT interval, stream, class, endpoint, generator, done, failed, retried, rolled_back, bytes, response,
         service, lateness, censored FROM cell WHERE id = ?1",
    )?;
    for (_, place) in places(connection, trial)? {
        visit(&one.query_row([row_id(trial, place)], read_one)?);
    }
    Ok(())
}

/// Interval and place of every cell of a trial, sorted.
fn places(connection: &Connection, trial: i64) -> Result<Vec<(u32, u32)>, Error> {
    let sql = "SELECT interval, id FROM cell WHERE id BETWEEN ?1 AND ?2";
    let first = row_id(trial, 0);
    let place = |row: &Row<'_>| Ok((row.get(0)?, (row.get::<_, i64>(1)? - first) as u32));
    let mut places = read_rows(connection, sql, row_range(trial), place)?;
    places.sort_unstable();
    Ok(places)
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
