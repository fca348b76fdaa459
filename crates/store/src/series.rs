//! Readings of probes and events, to and from their tables.

use crate::cells::{row_id, row_range};
use crate::columns::{Saved, read as read_rows, word};
use observation::{Event, EventKind, Probe, Series};
use rusqlite::{Connection, Error, params};
use std::collections::HashMap;

/// Adds points to the series of a trial; a series that is new gets its row. Returns how many points were written.
pub(crate) fn write(connection: &Connection, trial: i64, position: u32, series: &[Series]) -> Result<u32, Error> {
    let mut place = position;
    let mut insert =
        connection.prepare_cached("INSERT INTO reading (id, series, at_ns, value) VALUES (?1, ?2, ?3, ?4)")?;
    for one in series {
        let id = series_id(connection, trial, one)?;
        for (at, value) in &one.points {
            insert.execute(params![row_id(trial, place), id, at.save()?, value])?;
            place += 1;
        }
    }
    Ok(place - position)
}

fn series_id(connection: &Connection, trial: i64, series: &Series) -> Result<i64, Error> {
    let (probe, unit) = (series.probe.to_string(), series.probe.unit());
    connection
        .prepare_cached("INSERT OR IGNORE INTO series (trial, probe, unit) VALUES (?1, ?2, ?3)")?
        .execute(params![trial, probe, unit])?;
    connection
        .prepare_cached("SELECT id FROM series WHERE trial = ?1 AND probe = ?2 AND unit = ?3")?
        .query_row(params![trial, probe, unit], |row| row.get(0))
}

/// Reads all series of a trial, in the order in which they first appeared.
pub(crate) fn read(connection: &Connection, trial: i64) -> Result<Vec<Series>, Error> {
    let mut series = Vec::new();
    let mut places = HashMap::new();
    let mut names = connection.prepare_cached("SELECT id, probe, unit FROM series WHERE trial = ?1 ORDER BY id")?;
    let mut rows = names.query([trial])?;
    while let Some(row) = rows.next()? {
        places.insert(row.get::<_, i64>(0)?, series.len());
        let probe = Probe::read(&row.get::<_, String>(1)?, &row.get::<_, String>(2)?);
        series.push(Series { probe, points: Vec::new() });
    }
    let mut readings =
        connection.prepare_cached("SELECT series, at_ns, value FROM reading WHERE id BETWEEN ?1 AND ?2 ORDER BY id")?;
    let mut rows = readings.query(row_range(trial))?;
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        let place = places.get(&id).ok_or(Error::IntegralValueOutOfRange(0, id))?;
        series[*place].points.push((Saved::load(row, 1)?, Saved::load(row, 2)?));
    }
    Ok(series)
}

/// Adds events to a trial.
pub(crate) fn write_events(connection: &Connection, trial: i64, position: u32, events: &[Event]) -> Result<(), Error> {
    let mut insert =
        connection.prepare_cached("INSERT INTO event (id, trial, at_ns, kind, text) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (place, event) in (position..).zip(events) {
        insert.execute(params![row_id(trial, place), trial, event.at.save()?, event.kind.word(), event.text])?;
    }
    Ok(())
}

/// Reads all events of a trial in the order in which they were written.
pub(crate) fn read_events(connection: &Connection, trial: i64) -> Result<Vec<Event>, Error> {
    let sql = "SELECT at_ns, kind, text FROM event WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    read_rows(connection, sql, row_range(trial), |row| {
        Ok(Event { at: Saved::load(row, 0)?, kind: word(row, 1, EventKind::of_word)?, text: row.get(2)? })
    })
}
