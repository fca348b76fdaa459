//! Statistics and catalogue of a PostgreSQL.
//!
//! The one idea: a look is one pass over `pg_class` with the functions that count each relation, without the joins of the views, so
//! that a thousand tables cost a few milliseconds. No table is opened for it. Sizes are those of the last `VACUUM` or `ANALYZE`,
//! but of what was read they are looked up, which takes a reading lock for a moment and is given up when it does not come at once.

use super::{Standing, number, oid, text};
use crate::dialect::quoted;
use crate::{Failure, Session};
use advisor::{BLOCK, Counts, Described, Kind, Look};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use study::Engine;

pub(super) const LIMITS: &str = "SET default_transaction_read_only = on; SET statement_timeout = '5s'; \
    SET lock_timeout = '100ms'; SET jit = off; SET application_name = 'prony tier'";

/// The first number of an object that is not the server's own.
const FIRST: u32 = 16384;

const LOOK: &str = include_str!("postgres_look.sql");

const DESCRIBED: &str = include_str!("postgres_described.sql");

/// The ids of what is no relation.
const LOG: &str = "log";
const TEMPORARY: &str = "temporary";

/// The leading number of the version: 15.
pub(crate) fn major(session: &mut dyn Session) -> Result<u32, Failure> {
    let version = session.number("SELECT current_setting('server_version_num')::int8 / 10000")?;
    Ok(version.unwrap_or(0.0) as u32)
}

pub(super) fn standing(session: &mut dyn Session, fast: &str) -> Result<Standing, Failure> {
    let row = session.row(include_str!("postgres_standing.sql"))?;
    let spaces = session.query("SELECT spcname::text, oid::int8 FROM pg_tablespace")?;
    let found = spaces.iter().find(|space| text(space, 0) == fast).map(|space| oid(space, 1).to_string());
    let mut lacking = Vec::new();
    if text(&row, 2) != "on" {
        lacking.push("times of reads: SET track_io_timing = on (ALTER SYSTEM, then pg_reload_conf())".to_owned());
    }
    // Before PostgreSQL 14 there is nothing to switch on.
    if text(&row, 7) == "off" {
        lacking.push(
            "times of flushes, without which the wait for the log is a guess from the times of the tier: \
             ALTER SYSTEM SET track_wal_io_timing = on, then pg_reload_conf()"
                .to_owned(),
        );
    }
    if number(&row, 6) == 1.0 {
        lacking.push("moves: this server is a standby; give the plan to `prony tier move` on its primary".to_owned());
    }
    if found.is_none() {
        lacking.push(format!(
            "a tablespace {fast}: CREATE TABLESPACE {} LOCATION 'FOLDER', or name another with --fast",
            quoted(Engine::Postgres, fast)
        ));
    }
    let slow = (text(&row, 3), oid(&row, 4).to_string());
    let buffer = number(&row, 5) as u64;
    Ok(Standing { system: text(&row, 0), database: text(&row, 1), fast: found, slow, buffer, lacking })
}

pub(super) fn look(session: &mut dyn Session) -> Result<Look, Failure> {
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for row in session.query(LOOK)? {
        let (fetched, hits) = (number(&row, 2), number(&row, 3));
        let index = text(&row, 1) == "i";
        let one = Counts {
            reads: (fetched - hits).max(0.0),
            hits,
            // What an index returns is its own entries, which it does not read in order.
            rows_in_order: if index { 0.0 } else { number(&row, 4) },
            rows_by_key: number(&row, 5),
            ..Counts::default()
        };
        counts.insert(oid(&row, 0).to_string(), one);
    }
    let major = major(session)?;
    let (flushes, flush_s) = flushes(session, major)?;
    counts.insert(LOG.to_owned(), Counts { flushes, flush_s, ..Counts::default() });
    let sql =
        "SELECT temp_bytes::float8, blk_read_time / 1000 FROM pg_stat_database WHERE datname = current_database()";
    let row = session.row(sql)?;
    let blocks = number(&row, 0) / BLOCK;
    // What is written so is read once, from its beginning to its end.
    let files = Counts { reads: blocks, writes: blocks, rows_in_order: blocks, ..Counts::default() };
    counts.insert(TEMPORARY.to_owned(), files);
    Ok(Look { counts, read_s: Some(number(&row, 1)), ..Look::default() })
}

/// Flushes of the log and their time, where the server times them.
pub(crate) fn flushes(session: &mut dyn Session, major: u32) -> Result<(f64, Option<f64>), Failure> {
    let sql = match major {
        // Commits stand for flushes, which are not counted yet: several may share one.
        0..=13 => "SELECT xact_commit::float8, 0, 'off' FROM pg_stat_database WHERE datname = current_database()",
        14..=17 => {
            "SELECT wal_sync::float8, wal_sync_time / 1000, current_setting('track_wal_io_timing', true) FROM pg_stat_wal"
        }
        _ => {
            "SELECT sum(fsyncs)::float8, sum(fsync_time) / 1000, current_setting('track_wal_io_timing', true) \
             FROM pg_stat_io WHERE object = 'wal'"
        }
    };
    let row = session.row(sql)?;
    // What was timed once stands still in the counter when nothing is timed any more.
    Ok((number(&row, 0), Some(number(&row, 1)).filter(|_| text(&row, 2) == "on")))
}

pub(super) fn described(
    session: &mut dyn Session,
    fast: &str,
    read: &BTreeSet<String>,
) -> Result<Vec<Described>, Failure> {
    let rows = session.query(DESCRIBED)?;
    let of_kind = |kind: &'static str| rows.iter().filter(move |row| text(row, 1) == kind);
    // TOAST and its index go wherever their table goes.
    let owner: BTreeMap<u32, u32> = of_kind("t").map(|row| (oid(row, 0), oid(row, 5))).collect();
    let name: BTreeMap<u32, String> = rows.iter().map(|row| (oid(row, 0), text(row, 2))).collect();
    let mut found: Vec<Described> = Vec::with_capacity(rows.len() + 2);
    for row in &rows {
        let id = oid(row, 0);
        let table = oid(row, 5);
        let toast_of = owner.get(&id).or_else(|| owner.get(&table));
        let kind = match (toast_of, text(row, 1).as_str()) {
            (Some(_), _) => Kind::Toast,
            (None, "i") => Kind::Index,
            _ => Kind::Table,
        };
        let table = toast_of.copied().unwrap_or(table);
        let what = if text(row, 1) == "i" { "TOAST index" } else { "TOAST" };
        let shown = toast_of.and_then(|table| name.get(table)).map(|table| format!("{what} of {table}"));
        found.push(Described {
            id: id.to_string(),
            kind,
            name: shown.unwrap_or_else(|| text(row, 2)),
            bytes: number(row, 3) * BLOCK,
            table: (table >= FIRST).then(|| table.to_string()),
            rows_per_block: number(row, 4).max(1.0),
            fast: text(row, 6) == fast,
            place: text(row, 6),
            logged: number(row, 7) != 0.0,
            held: number(row, 8) != 0.0,
            stays: String::new(),
        });
    }
    for object in found.iter_mut().filter(|object| read.contains(&object.id)) {
        // Somebody who alters it holds it; what the catalogue says will do.
        if let Ok(Some(bytes)) = session.number(&format!("SELECT pg_relation_size({})", object.id)) {
            object.bytes = bytes;
        }
    }
    found.extend(others(session)?);
    Ok(found)
}

/// The log and temporary files.
fn others(session: &mut dyn Session) -> Result<[Described; 2], Failure> {
    let most = session.number("SELECT pg_size_bytes(current_setting('max_wal_size'))")?;
    let of = |id: &str, kind, name: &str, bytes| Described {
        id: id.to_owned(),
        kind,
        name: name.to_owned(),
        bytes,
        table: None,
        rows_per_block: 1.0,
        fast: false,
        place: String::new(),
        logged: false,
        held: false,
        stays: String::new(),
    };
    Ok([of(LOG, Kind::Log, "log (WAL)", most.unwrap_or(0.0)), of(TEMPORARY, Kind::Temporary, "temporary files", 0.0)])
}

/// The folder of the data and those of the tablespaces; none for a user who is not shown them.
pub(super) fn folders(session: &mut dyn Session) -> Result<Vec<PathBuf>, Failure> {
    let sql = "SELECT current_setting('data_directory') UNION SELECT pg_tablespace_location(oid) FROM pg_tablespace";
    // Those inside the data's folder are told by a path within it, or none.
    let paths = session.query(sql)?.into_iter().map(|row| PathBuf::from(text(&row, 0)));
    Ok(paths.filter(|path| path.is_absolute()).collect())
}
