//! Where objects lay before they were moved: a table in the database itself, in a schema that carries our mark.
//!
//! The one idea: it is written before the move and says nothing of its outcome. Whether a move was made is read from the catalogue,
//! so that nothing is wrong when the one who moves is killed between the two.

use super::{number, oid, text};
use crate::database::origin;
use crate::{Failure, Session};
use study::Engine;

/// The mark of the schema.
const MARK: &str = "Prony: where tables and indexes lay before prony tier moved them";

/// An object that was moved, or was about to be. An index is known by its table and name, because one that is built anew has
/// another number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The number of the table.
    pub table: u32,
    /// The index; empty for the table itself.
    pub index: String,
    /// Its name when it was moved.
    pub name: String,
    /// The number of the tablespace in which it lay.
    pub home: u32,
}

/// What is in the place of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nothing,
    Ours,
    /// What is not ours, in words.
    Strange(String),
}

pub(super) fn place(session: &mut dyn Session) -> Result<Place, Failure> {
    let sql =
        "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = 'prony_tier'";
    Ok(match session.one(sql)? {
        None => Place::Nothing,
        Some(value) if value.text() != Some(MARK) => Place::Strange("the schema prony_tier".to_owned()),
        // Anybody may write a comment like ours.
        Some(_) => match origin::strange(session, Engine::Postgres, "prony_tier")?.into_iter().next() {
            None => Place::Ours,
            Some(what) => Place::Strange(what),
        },
    })
}

/// Makes it, all of it or nothing.
pub(super) fn make(session: &mut dyn Session) -> Result<(), Failure> {
    session.script(&format!(
        "BEGIN; CREATE SCHEMA prony_tier; COMMENT ON SCHEMA prony_tier IS '{MARK}'; \
         CREATE TABLE prony_tier.moved (in_table int8, index_name text, name text NOT NULL, home int8 NOT NULL, \
         at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (in_table, index_name)); COMMIT"
    ))
}

pub(super) fn drop(session: &mut dyn Session) -> Result<(), Failure> {
    session.script("DROP SCHEMA prony_tier CASCADE")
}

/// In the order in which they were moved.
pub(super) fn read(session: &mut dyn Session) -> Result<Vec<Kept>, Failure> {
    let rows = session.query("SELECT in_table, index_name, name, home FROM prony_tier.moved ORDER BY at, name")?;
    let kept = |row: &Vec<_>| Kept { table: oid(row, 0), index: text(row, 1), name: text(row, 2), home: oid(row, 3) };
    Ok(rows.iter().map(kept).collect())
}

/// Keeps where an object lay; the first place is kept when it is moved again.
pub(super) fn keep(session: &mut dyn Session, kept: &Kept) -> Result<(), Failure> {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    session.script(&format!(
        "INSERT INTO prony_tier.moved (in_table, index_name, name, home) VALUES ({}, {}, {}, {}) ON CONFLICT DO NOTHING",
        kept.table,
        quoted(&kept.index),
        quoted(&kept.name),
        kept.home
    ))
}

pub(super) fn forget(session: &mut dyn Session, kept: &Kept) -> Result<(), Failure> {
    let index = kept.index.replace('\'', "''");
    session.script(&format!("DELETE FROM prony_tier.moved WHERE in_table = {} AND index_name = '{index}'", kept.table))
}

/// Indexes that a rebuild of ours left unfinished and that nobody is building, by their quoted names.
pub(super) fn unfinished(session: &mut dyn Session) -> Result<Vec<String>, Failure> {
    let rows = session.query(
        "SELECT DISTINCT format('%I.%I', n.nspname, c.relname) FROM prony_tier.moved m \
         JOIN pg_index i ON i.indrelid::int8 = m.in_table AND NOT i.indisvalid JOIN pg_class c ON c.oid = i.indexrelid \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE m.index_name <> '' AND c.relname ~ '_cc(new|old)[0-9]*$' \
         AND starts_with(m.index_name, regexp_replace(c.relname, '_cc(new|old)[0-9]*$', '')) \
         AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.relid::int8 = m.in_table)",
    )?;
    Ok(rows.iter().map(|row| text(row, 0)).collect())
}

/// Whether a lock of ours is free, and taken then; otherwise the process that holds it.
pub(super) fn claimed(session: &mut dyn Session) -> Result<Option<u32>, Failure> {
    let taken = session.one(&format!("SELECT pg_try_advisory_lock({LOCK})"))?;
    if taken.and_then(|value| value.number()) == Some(1.0) {
        return Ok(None);
    }
    let rows = session.query(&format!(
        "SELECT pid::int8 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = {} AND objid = {} \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        LOCK >> 32,
        LOCK & 0xffff_ffff
    ))?;
    Ok(Some(rows.first().map_or(0, |row| number(row, 0) as u32)))
}

/// Of this number no other program has an advisory lock, but by chance.
const LOCK: i64 = 0x7072_6f6e_7469_6572;
