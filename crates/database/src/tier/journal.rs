//! Where objects lay before they were moved: a table in the database itself, in a schema that carries our mark.
//!
//! The one idea: it is written before the move and says nothing of its outcome. Whether a move was made is read from the catalogue,
//! so that nothing is wrong when the one who moves is killed between the two. Where an object is found that we never put anywhere, somebody
//! else has moved it, and it stays.

use super::text;
use crate::database::origin;
use crate::dialect::literal;
use crate::{Failure, Session};
use study::Engine;
use workload::transaction::Value;

/// The mark of the schema.
const MARK: &str = "Prony: where tables and indexes lay before prony tier moved them";

/// An object that was moved, or was about to be. An index is known by its number, and by its table and name: one that is built anew
/// has another number, and anybody may rename it. So it is with a table of MariaDB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The number of the table; with MariaDB its database and name, as files are called after them.
    pub table: String,
    /// The index; empty for the table itself.
    pub index: String,
    /// Its name when it was moved.
    pub name: String,
    /// The number of the index, or of the table of a MariaDB, since it was moved; empty where nothing noted it.
    pub relation: String,
    /// The number of the tablespace in which it lay; with MariaDB its folder, empty for that of the data.
    pub home: String,
    /// Where we put it, and while a move is under way where it lay before that, a line each; none in a journal of an earlier version.
    pub(super) put: Option<String>,
}

impl Kept {
    /// Whether it was we who put it into a tablespace or folder, or it lay there before.
    pub(super) fn knows(&self, space: &str) -> bool {
        space == self.home || self.put.as_ref().is_none_or(|put| put.split('\n').any(|one| one == space))
    }

    /// Where we put it last; none in a journal of an earlier version.
    pub fn place(&self) -> Option<&str> {
        self.put.as_ref().and_then(|put| put.split('\n').next_back())
    }
}

/// What is in the place of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Nothing,
    Ours,
    /// What is not ours, in words.
    Strange(String),
    /// Nothing is strange but who made it: that role, and the connected one, as statements name them.
    Others([String; 2]),
}

/// A text as the engine reads it.
pub(super) fn quoted(engine: Engine, text: &str) -> String {
    let mut sql = String::new();
    literal(engine, &Value::Text(text.into()), &mut sql);
    sql
}

pub(super) fn place(session: &mut dyn Session, engine: Engine) -> Result<Place, Failure> {
    let sql = match engine {
        // One who was killed before he made the table has kept nothing yet.
        Engine::Mariadb => format!(
            "SELECT schema_comment FROM information_schema.schemata WHERE schema_name = 'prony_tier' AND (schema_comment <> '{MARK}' \
             OR EXISTS (SELECT 1 FROM information_schema.tables WHERE table_schema = 'prony_tier'))"
        ),
        _ => "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = 'prony_tier'"
            .to_owned(),
    };
    Ok(match session.text(&sql)? {
        None => Place::Nothing,
        Some(mark) if mark != MARK => Place::Strange("the schema prony_tier".to_owned()),
        // Anybody may write a comment like ours.
        Some(_) => {
            let [more, others, itself] = origin::told(session, engine, "prony_tier")?;
            match (more.into_iter().next(), others.into_iter().next()) {
                (Some(what), _) => Place::Strange(what),
                (None, _) if !itself.is_empty() => Place::Others(owners(session)?),
                (None, Some(what)) => Place::Strange(what),
                (None, None) => Place::Ours,
            }
        }
    })
}

/// The role to which the journal of a PostgreSQL belongs, and the connected one.
fn owners(session: &mut dyn Session) -> Result<[String; 2], Failure> {
    let row = session.row(
        "SELECT quote_ident(pg_get_userbyid(nspowner)), quote_ident(current_user) FROM pg_namespace WHERE nspname = 'prony_tier'",
    )?;
    Ok([0, 1].map(|at| text(&row, at)))
}

/// Makes it, all of it or nothing that counts.
pub(super) fn make(session: &mut dyn Session, engine: Engine) -> Result<(), Failure> {
    session.script(&match engine {
        Engine::Mariadb => format!(
            "CREATE DATABASE IF NOT EXISTS prony_tier COMMENT '{MARK}'; \
             CREATE TABLE prony_tier.moved (in_table varchar(600) CHARACTER SET ascii, index_name varchar(64), name text NOT NULL, \
             home text NOT NULL, relation bigint unsigned, put_into text, at timestamp(6) NOT NULL DEFAULT current_timestamp(6), \
             at_work bool NOT NULL DEFAULT false, beside varchar(600) CHARACTER SET ascii, copied_as bigint unsigned, PRIMARY KEY (in_table, index_name)) ENGINE=InnoDB CHARACTER SET utf8mb4"
        ),
        _ => format!(
            "BEGIN; CREATE SCHEMA prony_tier; COMMENT ON SCHEMA prony_tier IS '{MARK}'; \
             CREATE TABLE prony_tier.moved (in_table int8, index_name text, name text NOT NULL, home int8 NOT NULL, relation int8, put_into text, \
             rebuilds text, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (in_table, index_name)); COMMIT"
        ),
    })
}

pub(super) fn drop(session: &mut dyn Session, engine: Engine) -> Result<(), Failure> {
    let cascade = if engine == Engine::Mariadb { "" } else { " CASCADE" };
    session.script(&format!("DROP SCHEMA prony_tier{cascade}"))
}

/// In the order in which they were moved.
pub(super) fn read(session: &mut dyn Session, engine: Engine) -> Result<Vec<Kept>, Failure> {
    // A journal of an earlier version has no numbers, and does not say where an object was put.
    let (kind, relation, put) = match engine {
        Engine::Mariadb => {
            let sql = "SELECT group_concat(column_name) FROM information_schema.columns WHERE table_schema = 'prony_tier' AND table_name = 'moved'";
            let columns = session.text(sql)?.unwrap_or_default();
            let has = |name: &str| columns.split(',').any(|one| one == name);
            let or = |name: &str, sql: &'static str, or: &'static str| if has(name) { sql } else { or };
            ("char", or("relation", "coalesce(CAST(relation AS char), '')", "''"), or("put_into", "put_into", "NULL"))
        }
        _ => ("text", "coalesce(to_jsonb(m)->>'relation', '')", "to_jsonb(m)->>'put_into'"),
    };
    let rows = session.query(&format!(
        "SELECT CAST(in_table AS {kind}), index_name, name, CAST(home AS {kind}), {relation}, {put} FROM prony_tier.moved m ORDER BY at, name"
    ))?;
    let kept = |row: &Vec<_>| {
        let [table, index, name, home, relation] = [0, 1, 2, 3, 4].map(|at| text(row, at));
        let put = row.get(5).and_then(Value::text).map(str::to_owned);
        Kept { table, index, name, home, relation, put }
    };
    Ok(rows.iter().map(kept).collect())
}

/// Keeps where an object lay; the first place is kept when it is moved again.
pub(super) fn keep(session: &mut dyn Session, engine: Engine, kept: &Kept) -> Result<(), Failure> {
    let maria = engine == Engine::Mariadb;
    let (ignore, nothing) = if maria { (" IGNORE", "") } else { ("", " ON CONFLICT DO NOTHING") };
    let (column, number) = match kept.relation.as_str() {
        "" => ("", String::new()),
        number => (", relation", format!(", {number}")),
    };
    let [table, index, name, home] =
        [&kept.table, &kept.index, &kept.name, &kept.home].map(|text| quoted(engine, text));
    session.script(&format!(
        "INSERT{ignore} INTO prony_tier.moved (in_table, index_name, name, home{column}) VALUES ({table}, {index}, {name}, {home}{number}){nothing}"
    ))
}

/// Notes where an object lay that somebody has moved since, the number that it has now, and where it is put: the place that it leaves and the
/// one to which it goes, until it is there.
pub(super) fn put(
    session: &mut dyn Session,
    engine: Engine,
    kept: &Kept,
    now: &Kept,
    home: &str,
    put: &[&str],
) -> Result<(), Failure> {
    let [table, index, home, put] = [&kept.table, &kept.index, home, &put.join("\n")].map(|text| quoted(engine, text));
    let number = if now.relation.is_empty() { String::new() } else { format!(", relation = {}", now.relation) };
    session.script(&format!(
        "UPDATE prony_tier.moved SET home = {home}, put_into = {put}{number} WHERE in_table = {table} AND index_name = {index}"
    ))
}

/// Makes room in a journal of an earlier version for the number of an index, where an object is put, and rebuilds that are at work.
pub(super) fn renew(session: &mut dyn Session, engine: Engine) -> Result<(), Failure> {
    let has = "SELECT 1 FROM information_schema.columns WHERE table_schema = 'prony_tier' AND table_name = 'moved' AND column_name = ";
    let (newest, columns) = match engine {
        Engine::Mariadb => (
            "'copied_as'",
            "ADD COLUMN IF NOT EXISTS relation bigint unsigned, ADD COLUMN IF NOT EXISTS copied_as bigint unsigned, \
             ADD COLUMN IF NOT EXISTS beside varchar(600) CHARACTER SET ascii, ",
        ),
        _ => ("'rebuilds'", "ADD COLUMN IF NOT EXISTS relation int8, ADD COLUMN IF NOT EXISTS rebuilds text, "),
    };
    if session.one(&format!("{has}{newest}"))?.is_some() {
        return Ok(());
    }
    session.script(&format!("ALTER TABLE prony_tier.moved {columns}ADD COLUMN IF NOT EXISTS put_into text"))
}

/// Statements on the journal of a MariaDB that change no row, and fail where the user may not change one.
pub(super) fn usable(session: &mut dyn Session) -> Result<(), Failure> {
    let columns = "in_table, index_name, name, home";
    session.script(&format!(
        "INSERT INTO prony_tier.moved ({columns}) SELECT {columns} FROM prony_tier.moved WHERE false; \
         UPDATE prony_tier.moved SET at_work = false, put_into = '' WHERE false; DELETE FROM prony_tier.moved WHERE false"
    ))
}

pub(super) fn forget(session: &mut dyn Session, engine: Engine, kept: &Kept) -> Result<(), Failure> {
    let [table, index] = [&kept.table, &kept.index].map(|text| quoted(engine, text));
    session.script(&format!("DELETE FROM prony_tier.moved WHERE in_table = {table} AND index_name = {index}"))
}

/// From now on tables of ours may lie beside a table of MariaDB, which is called so by now.
pub(super) fn begun(session: &mut dyn Session, kept: &Kept, key: &str) -> Result<(), Failure> {
    let [table, key] = [&kept.table, key].map(|text| quoted(Engine::Mariadb, text));
    session.script(&format!(
        "UPDATE prony_tier.moved SET at_work = true, beside = {key}, copied_as = NULL WHERE in_table = {table}"
    ))
}

/// The line of a table beside which tables of ours may lie.
fn at_work(key: &str) -> String {
    format!("WHERE at_work AND coalesce(beside, in_table) = {}", quoted(Engine::Mariadb, key))
}

/// Notes the number of the copy that is made of a table.
pub(super) fn copies(session: &mut dyn Session, key: &str, number: &str) -> Result<(), Failure> {
    session.script(&format!("UPDATE prony_tier.moved SET copied_as = {number} {}", at_work(key)))
}

/// The numbers of a table that is moved, as it was, and of its copy; empty where nothing noted them.
pub(super) fn numbers(session: &mut dyn Session, key: &str) -> Result<[String; 2], Failure> {
    let number = |name| format!("coalesce(CAST({name} AS char), '')");
    let (relation, copy) = (number("relation"), number("copied_as"));
    let row = session.row(&format!("SELECT {relation}, {copy} FROM prony_tier.moved {}", at_work(key)))?;
    Ok([0, 1].map(|at| text(&row, at)))
}

/// Nothing of ours lies beside a table any more; whether the copy has taken its place.
pub(super) fn ended(session: &mut dyn Session, key: &str, exchanged: bool) -> Result<(), Failure> {
    let number = if exchanged { "relation = copied_as, " } else { "" };
    session.script(&format!(
        "UPDATE prony_tier.moved SET {number}at_work = false, beside = NULL, copied_as = NULL {}",
        at_work(key)
    ))
}

/// Indexes that a rebuild of ours left unfinished and that nobody is building, by their quoted names.
/// Of a MariaDB, the tables beside which tables of ours may lie.
pub(super) fn unfinished(session: &mut dyn Session, engine: Engine) -> Result<Vec<String>, Failure> {
    if engine == Engine::Mariadb {
        let rows = session.query("SELECT coalesce(beside, in_table) FROM prony_tier.moved WHERE at_work")?;
        return Ok(rows.iter().map(|row| text(row, 0)).collect());
    }
    let rows = session.query(&format!(
        "SELECT DISTINCT format('%I.%I', n.nspname, c.relname) {OURS} \
         AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.relid::int8 = m.in_table)"
    ))?;
    Ok(rows.iter().map(|row| text(row, 0)).collect())
}

/// Invalid indexes as a rebuild leaves them behind, of a table in the journal.
const INVALID: &str = "FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE NOT i.indisvalid AND c.relname ~ '_cc(new|old)[0-9]*$' AND i.indrelid::int8 = m.in_table";

/// Those of them that came since a rebuild of ours began, named and made like its index. A journal of an earlier version does not say
/// when one did.
const OURS: &str = "FROM prony_tier.moved m JOIN pg_index i ON i.indrelid::int8 = m.in_table AND NOT i.indisvalid \
    JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
    LEFT JOIN pg_index o ON o.indexrelid::text = to_jsonb(m)->>'relation' LEFT JOIN pg_class oc ON oc.oid = o.indexrelid \
    WHERE c.relname ~ '_cc(new|old)[0-9]*$' AND i.indexrelid::text <> ALL (string_to_array(to_jsonb(m)->>'rebuilds', ' ')) \
    AND (starts_with(m.index_name, regexp_replace(c.relname, '_cc(new|old)[0-9]*$', '')) \
    OR starts_with(oc.relname, regexp_replace(c.relname, '_cc(new|old)[0-9]*$', ''))) \
    AND coalesce(o.indkey::text = i.indkey::text AND o.indisunique = i.indisunique, true)";

/// Notes before an index is built anew which invalid ones lie beside it: those were there before; their names. Where a rebuild of ours
/// left something unfinished already, what lay there before that one counts.
pub(super) fn rebuilds(session: &mut dyn Session, kept: &Kept) -> Result<Vec<String>, Failure> {
    let [table, index] = [&kept.table, &kept.index].map(|text| quoted(Engine::Postgres, text));
    let line = format!("m.in_table = {table} AND m.index_name = {index}");
    session.script(&format!(
        "UPDATE prony_tier.moved m SET rebuilds = (SELECT coalesce(string_agg(i.indexrelid::text, ' '), '') {INVALID}) \
         WHERE {line} AND rebuilds IS NULL"
    ))?;
    let rows = session.query(&format!(
        "SELECT (SELECT string_agg(format('%I.%I', n.nspname, c.relname), ', ') {INVALID} \
         AND i.indexrelid::text = ANY (string_to_array(m.rebuilds, ' '))) FROM prony_tier.moved m WHERE {line}"
    ))?;
    Ok(rows.iter().map(|row| text(row, 0)).filter(|names| !names.is_empty()).collect())
}

/// Notes that no rebuild of ours is at work or has left anything, where that is so.
pub(super) fn rebuilt(session: &mut dyn Session) -> Result<(), Failure> {
    let open = session.one("SELECT 1 FROM prony_tier.moved m WHERE to_jsonb(m)->>'rebuilds' IS NOT NULL")?;
    if open.is_none() {
        return Ok(());
    }
    session.script(&format!("UPDATE prony_tier.moved SET rebuilds = NULL WHERE NOT EXISTS (SELECT {OURS})"))
}

/// Whether a lock of ours is free, and taken then; otherwise the process that holds it.
pub(super) fn claimed(session: &mut dyn Session, engine: Engine) -> Result<Option<u32>, Failure> {
    let taken = session.number(&match engine {
        Engine::Mariadb => "SELECT GET_LOCK('prony_tier', 0)".to_owned(),
        _ => format!("SELECT pg_try_advisory_lock({LOCK})"),
    })?;
    if taken == Some(1.0) {
        return Ok(None);
    }
    if engine == Engine::Mariadb {
        let holder = session.number("SELECT IS_USED_LOCK('prony_tier')")?;
        return Ok(Some(holder.unwrap_or(0.0) as u32));
    }
    let holder = session.number(&format!(
        "SELECT pid::int8 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = {} AND objid = {} \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        LOCK >> 32,
        LOCK & 0xffff_ffff
    ))?;
    Ok(Some(holder.unwrap_or(0.0) as u32))
}

/// Of this number no other program has an advisory lock, but by chance.
const LOCK: i64 = 0x7072_6f6e_7469_6572;
