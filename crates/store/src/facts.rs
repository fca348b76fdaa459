//! The facts of a run, to and from their tables.

use crate::number::{float, signed, unsigned};
use observation::{Ceiling, Fact, Footprint, RunFacts, SystemFacts};
use rusqlite::{Connection, Error, OptionalExtension, params};

/// Replaces all facts of the run.
pub(crate) fn write(connection: &Connection, facts: &RunFacts) -> Result<(), Error> {
    connection.execute("DELETE FROM run", ())?;
    connection.execute(
        "INSERT INTO run (id, study, title, question, started_unix_ns, seed, prony_version, prony_commit, study_text,
         note, finished) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            facts.id,
            facts.study,
            facts.title,
            facts.question,
            facts.started_unix_ns,
            signed(facts.seed),
            facts.version,
            facts.commit,
            facts.study_text,
            facts.note,
            facts.finished,
        ],
    )?;
    write_words(connection, "target", &facts.targets)?;
    write_words(connection, "setting", &facts.settings)?;
    write_words(connection, "only", &facts.only)?;
    write_words(connection, "tag", &facts.tags)?;
    write_ceiling(connection, facts.ceiling.as_ref())?;
    write_systems(connection, &facts.systems)
}

/// Replaces one of the lists of words.
pub(crate) fn write_words(connection: &Connection, list: &str, words: &[String]) -> Result<(), Error> {
    connection.execute("DELETE FROM run_word WHERE list = ?1", [list])?;
    let mut insert = connection.prepare_cached("INSERT INTO run_word (list, position, word) VALUES (?1, ?2, ?3)")?;
    for (position, word) in words.iter().enumerate() {
        insert.execute(params![list, position as i64, word])?;
    }
    Ok(())
}

fn write_ceiling(connection: &Connection, ceiling: Option<&Ceiling>) -> Result<(), Error> {
    connection.execute("DELETE FROM ceiling", ())?;
    if let Some(ceiling) = ceiling {
        connection.execute(
            "INSERT INTO ceiling (null_operation_ns, clock_read_ns, lateness_p99_ns, open_rate_error_pct)
             VALUES (?1, ?2, ?3, ?4)",
            params![
                ceiling.null_operation_ns,
                ceiling.clock_read_ns,
                ceiling.lateness_p99_ns,
                ceiling.open_rate_error_pct
            ],
        )?;
    }
    Ok(())
}

fn write_systems(connection: &Connection, systems: &[SystemFacts]) -> Result<(), Error> {
    connection.execute("DELETE FROM system", ())?;
    connection.execute("DELETE FROM system_fact", ())?;
    for (position, system) in systems.iter().enumerate() {
        let footprint = system.footprint;
        connection.execute(
            "INSERT INTO system (position, name, kind, place, modules, driver, drives, watts, rack_units, price)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            params![
                position as i64,
                system.name,
                system.kind,
                system.place,
                system.modules,
                system.driver,
                footprint.drives,
                footprint.watts,
                footprint.rack_units,
                footprint.price,
            ],
        )?;
        for fact in &system.fingerprint {
            connection.execute(
                "INSERT INTO system_fact (system, key, value, private) VALUES (?1, ?2, ?3, ?4)",
                params![position as i64, fact.key, fact.value, fact.private],
            )?;
        }
    }
    Ok(())
}

/// Reads all facts of the run.
pub(crate) fn read(connection: &Connection) -> Result<RunFacts, Error> {
    let facts = connection.query_row(
        "SELECT id, study, title, question, started_unix_ns, seed, prony_version, prony_commit, study_text, note,
         finished FROM run",
        (),
        |row| {
            Ok(RunFacts {
                id: row.get(0)?,
                study: row.get(1)?,
                title: row.get(2)?,
                question: row.get(3)?,
                started_unix_ns: row.get(4)?,
                seed: unsigned(row, 5)?,
                version: row.get(6)?,
                commit: row.get(7)?,
                study_text: row.get(8)?,
                note: row.get(9)?,
                finished: row.get(10)?,
                ..RunFacts::default()
            })
        },
    )?;
    Ok(RunFacts {
        targets: words(connection, "target")?,
        settings: words(connection, "setting")?,
        only: words(connection, "only")?,
        tags: words(connection, "tag")?,
        ceiling: read_ceiling(connection)?,
        systems: read_systems(connection)?,
        ..facts
    })
}

fn words(connection: &Connection, list: &str) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare_cached("SELECT word FROM run_word WHERE list = ?1 ORDER BY position")?;
    statement.query_map([list], |row| row.get(0))?.collect()
}

fn read_ceiling(connection: &Connection) -> Result<Option<Ceiling>, Error> {
    connection
        .query_row(
            "SELECT null_operation_ns, clock_read_ns, lateness_p99_ns, open_rate_error_pct FROM ceiling",
            (),
            |row| {
                Ok(Ceiling {
                    null_operation_ns: float(row, 0)?,
                    clock_read_ns: float(row, 1)?,
                    lateness_p99_ns: float(row, 2)?,
                    open_rate_error_pct: float(row, 3)?,
                })
            },
        )
        .optional()
}

fn read_systems(connection: &Connection) -> Result<Vec<SystemFacts>, Error> {
    let mut statement = connection.prepare(
        "SELECT name, kind, place, modules, driver, drives, watts, rack_units, price, position FROM system
         ORDER BY position",
    )?;
    let rows = statement.query_map((), |row| {
        Ok(SystemFacts {
            name: row.get(0)?,
            kind: row.get(1)?,
            place: row.get(2)?,
            modules: row.get(3)?,
            driver: row.get(4)?,
            fingerprint: read_fingerprint(connection, row.get(9)?)?,
            footprint: Footprint {
                drives: row.get(5)?,
                watts: row.get(6)?,
                rack_units: row.get(7)?,
                price: row.get(8)?,
            },
        })
    })?;
    rows.collect()
}

fn read_fingerprint(connection: &Connection, system: i64) -> Result<Vec<Fact>, Error> {
    let mut statement =
        connection.prepare_cached("SELECT key, value, private FROM system_fact WHERE system = ?1 ORDER BY rowid")?;
    let rows =
        statement.query_map([system], |row| Ok(Fact { key: row.get(0)?, value: row.get(1)?, private: row.get(2)? }))?;
    rows.collect()
}
