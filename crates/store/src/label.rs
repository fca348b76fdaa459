//! What a trial was, to and from its tables.

use crate::columns::{Saved, Stored as _, insert, read as read_rows, stored, word};
use observation::{Asks, ClassKind, Factor, Level, StreamLabel, TrialLabel};
use rusqlite::{Connection, Error, params};

stored! {
    TrialLabel { number = index, experiment, system, replicate, block, state_policy = state, search }

    StreamLabel { name, workload, load, slots, think_mean_ns = think_mean, offered_per_s = offered }
}

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
    for (position, stream) in (0i64..).zip(&label.streams) {
        let keys = [("trial", id.into()), ("stream", position.into())];
        insert(connection, "stream", keys.into_iter().chain(stream.save()?))?;
        for (class, (name, kind)) in stream.classes.iter().enumerate() {
            connection.execute(
                "INSERT INTO class (trial, stream, class, name, kind) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![id, position, class as i64, name, kind.word()],
            )?;
        }
    }
    Ok(())
}

/// Reads the label of the trial with row `id`.
pub(crate) fn read(connection: &Connection, id: i64) -> Result<TrialLabel, Error> {
    let sql = format!("SELECT {} FROM trial WHERE id = ?1", TrialLabel::NAMES.join(", "));
    let label = connection.query_row(&sql, [id], TrialLabel::load)?;
    Ok(TrialLabel { factors: read_factors(connection, id)?, streams: read_streams(connection, id)?, ..label })
}

fn read_factors(connection: &Connection, id: i64) -> Result<Vec<Factor>, Error> {
    let sql = "SELECT name, form, value, text FROM factor WHERE trial = ?1 ORDER BY position";
    read_rows(connection, sql, [id], |row| {
        let numeric = word(row, 1, |text| match text {
            "number" => Some(true),
            "word" => Some(false),
            _ => None,
        })?;
        let text = row.get(3)?;
        let level = if numeric { Level::Number { value: Saved::load(row, 2)?, text } } else { Level::Word(text) };
        Ok(Factor { name: row.get(0)?, level })
    })
}

fn read_streams(connection: &Connection, id: i64) -> Result<Vec<StreamLabel>, Error> {
    let sql = format!("SELECT {}, stream FROM stream WHERE trial = ?1 ORDER BY stream", StreamLabel::NAMES.join(", "));
    read_rows(connection, &sql, [id], |row| {
        let label = StreamLabel::load(row)?;
        let classes = read_classes(connection, id, row.get("stream")?)?;
        Ok(StreamLabel { asks: Asks::of_load(&label.load), classes, ..label })
    })
}

fn read_classes(connection: &Connection, id: i64, stream: i64) -> Result<Vec<(String, ClassKind)>, Error> {
    let sql = "SELECT name, kind FROM class WHERE trial = ?1 AND stream = ?2 ORDER BY class";
    read_rows(connection, sql, [id, stream], |row| Ok((row.get(0)?, word(row, 1, ClassKind::of_word)?)))
}
