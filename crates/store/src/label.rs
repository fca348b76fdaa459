//! What a trial was, to and from its tables.

use crate::number::{float, signed, unsigned, word};
use observation::{Asks, ClassKind, Factor, Level, Searched, StatePolicy, StreamLabel, TrialLabel};
use rusqlite::{Connection, Error, params};
use units::{Nanos, PerSecond};

/// Writes factors, streams and classes of the trial with row `id`.
pub(crate) fn write(connection: &Connection, id: i64, label: &TrialLabel) -> Result<(), Error> {
    for (position, factor) in label.factors.iter().enumerate() {
        let (form, value) = match &factor.level {
            Level::Number { value, .. } => ("number", Some(*value)),
            Level::Word(_) => ("word", None),
        };
        connection.execute(
            "INSERT INTO factor (trial, position, name, form, value, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![id, position as i64, factor.name, form, value, factor.level.text()],
        )?;
    }
    for (position, stream) in label.streams.iter().enumerate() {
        write_stream(connection, id, position as i64, stream)?;
    }
    Ok(())
}

fn write_stream(connection: &Connection, id: i64, position: i64, stream: &StreamLabel) -> Result<(), Error> {
    connection.execute(
        "INSERT INTO stream (trial, stream, name, workload, load, slots, think_mean_ns, offered_per_s)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            id,
            position,
            stream.name,
            stream.workload,
            stream.load,
            stream.slots,
            signed(stream.think_mean.0),
            stream.offered.map(|rate| rate.0),
        ],
    )?;
    for (class, (name, kind)) in stream.classes.iter().enumerate() {
        connection.execute(
            "INSERT INTO class (trial, stream, class, name, kind) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![id, position, class as i64, name, kind.word()],
        )?;
    }
    Ok(())
}

/// Reads the label of the trial with row `id`.
pub(crate) fn read(connection: &Connection, id: i64) -> Result<TrialLabel, Error> {
    let label = connection.query_row(
        "SELECT number, experiment, system, replicate, block, state_policy, search FROM trial WHERE id = ?1",
        [id],
        |row| {
            Ok(TrialLabel {
                index: row.get(0)?,
                experiment: row.get(1)?,
                system: row.get(2)?,
                replicate: row.get(3)?,
                block: row.get(4)?,
                factors: Vec::new(),
                streams: Vec::new(),
                state: StatePolicy::read(&row.get::<_, String>(5)?),
                search: row.get::<_, Option<String>>(6)?.map(Searched::read),
            })
        },
    )?;
    Ok(TrialLabel { factors: read_factors(connection, id)?, streams: read_streams(connection, id)?, ..label })
}

fn read_factors(connection: &Connection, id: i64) -> Result<Vec<Factor>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT name, form, value, text FROM factor WHERE trial = ?1 ORDER BY position")?;
    let rows = statement.query_map([id], |row| {
        let numeric = word(row, 1, |text| match text {
            "number" => Some(true),
            "word" => Some(false),
            _ => None,
        })?;
        let text = row.get(3)?;
        let level = if numeric { Level::Number { value: float(row, 2)?, text } } else { Level::Word(text) };
        Ok(Factor { name: row.get(0)?, level })
    })?;
    rows.collect()
}

fn read_streams(connection: &Connection, id: i64) -> Result<Vec<StreamLabel>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT name, workload, load, slots, think_mean_ns, offered_per_s, stream FROM stream WHERE trial = ?1
         ORDER BY stream",
    )?;
    let rows = statement.query_map([id], |row| {
        let load: String = row.get(2)?;
        Ok(StreamLabel {
            name: row.get(0)?,
            workload: row.get(1)?,
            asks: Asks::of_load(&load),
            load,
            slots: row.get(3)?,
            think_mean: Nanos(unsigned(row, 4)?),
            offered: row.get::<_, Option<f64>>(5)?.map(PerSecond),
            classes: read_classes(connection, id, row.get(6)?)?,
        })
    })?;
    rows.collect()
}

fn read_classes(connection: &Connection, id: i64, stream: i64) -> Result<Vec<(String, ClassKind)>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT name, kind FROM class WHERE trial = ?1 AND stream = ?2 ORDER BY class")?;
    let rows = statement.query_map([id, stream], |row| Ok((row.get(0)?, word(row, 1, ClassKind::of_word)?)))?;
    rows.collect()
}
