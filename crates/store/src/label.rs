//! What a trial was, to and from its tables.

use crate::columns::{Saved, Stored as _, insert, read as read_rows, stored, word};
use observation::{Asks, ClassKind, Factor, Gives, Level, StreamLabel, TrialLabel};
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
                params![id, position, class as i64, name, class_word(*kind, stream, class)],
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
        let (classes, gives): (Vec<_>, Vec<_>) = read_classes(connection, id, row.get("stream")?)?.into_iter().unzip();
        Ok(StreamLabel {
            asks: Asks::of_load(&label.load),
            classes,
            gives: gives.into_iter().flatten().collect(),
            ..label
        })
    })
}

/// A class as it is kept: its name and kind, and what it gives.
type Class = ((String, ClassKind), Option<Gives>);

fn read_classes(connection: &Connection, id: i64, stream: i64) -> Result<Vec<Class>, Error> {
    let sql = "SELECT name, kind, class FROM class WHERE trial = ?1 AND stream = ?2 ORDER BY class";
    read_rows(connection, sql, [id, stream], |row| {
        let class: u16 = row.get(2)?;
        let (kind, gives) = word(row, 1, read_class_word)?;
        Ok(((row.get(0)?, kind), gives.map(|gives| Gives { class, ..gives })))
    })
}

/// `work`, or `work: 30 postings` for a class that gives something, or `upkeep: 500 rows loaded, 1000` where so many are offered a
/// second.
fn class_word(kind: ClassKind, stream: &StreamLabel, class: usize) -> String {
    let Some(Gives { amount, what, offered_per_s, .. }) =
        stream.gives.iter().find(|gives| usize::from(gives.class) == class)
    else {
        return kind.word().to_owned();
    };
    let offered = offered_per_s.map(|offered| format!(", {offered}")).unwrap_or_default();
    format!("{}: {amount} {what}{offered}", kind.word())
}

/// What was written so; none for what no run can hold.
fn read_class_word(text: &str) -> Option<(ClassKind, Option<Gives>)> {
    let Some((kind, gives)) = text.split_once(": ") else { return Some((ClassKind::of_word(text)?, None)) };
    let (amount, what) = gives.split_once(' ')?;
    let (what, offered) = what.split_once(", ").map_or((what, None), |(what, offered)| (what, Some(offered)));
    let amount = read_amount(amount)?;
    let offered_per_s = match offered {
        Some(offered) => Some(read_amount(offered)?),
        None => None,
    };
    let plain = (1..=GIVES_MAX).contains(&what.len()) && what.bytes().all(|b| b == b' ' || b.is_ascii_lowercase());
    let gives = Gives { class: 0, amount, what: what.to_owned(), offered_per_s };
    Some((ClassKind::of_word(kind)?, Some(gives))).filter(|_| plain)
}

fn read_amount(text: &str) -> Option<f64> {
    text.parse().ok().filter(|amount| (0.0..=AMOUNT_MAX).contains(amount))
}

/// Letters of what a class gives.
const GIVES_MAX: usize = 40;

/// How many of it one transaction gives at most.
const AMOUNT_MAX: f64 = 1e12;
