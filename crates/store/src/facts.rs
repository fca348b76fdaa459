//! The facts of a run, to and from their tables.

use crate::columns::{Stored as _, insert, read as read_rows, select, stored};
use observation::{Ceiling, Fact, RunFacts, SystemFacts};
use rusqlite::{Connection, Error, params};
use std::collections::HashMap;

stored! {
    RunFacts {
        id, study, title, question, started_unix_ns, seed, prony_version = version, prony_commit = commit, study_text,
        note, finished,
    }

    Ceiling { null_operation_ns, clock_read_ns, lateness_p99_ns, open_rate_error_pct }

    SystemFacts {
        name, kind, place, modules, driver, drives = footprint.drives, watts = footprint.watts,
        rack_units = footprint.rack_units, price = footprint.price,
    }

    Fact { key, value, private }
}

/// Replaces all facts of the run.
pub(crate) fn write(connection: &Connection, facts: &RunFacts) -> Result<(), Error> {
    connection.execute_batch("DELETE FROM run; DELETE FROM ceiling; DELETE FROM system; DELETE FROM system_fact;")?;
    insert(connection, "run", facts.save()?)?;
    write_words(connection, "target", &facts.targets)?;
    write_words(connection, "setting", &facts.settings)?;
    write_words(connection, "only", &facts.only)?;
    write_words(connection, "tag", &facts.tags)?;
    if let Some(ceiling) = &facts.ceiling {
        insert(connection, "ceiling", ceiling.save()?)?;
    }
    for (position, system) in (0i64..).zip(&facts.systems) {
        insert(connection, "system", [("position", position.into())].into_iter().chain(system.save()?))?;
        for fact in system.fingerprint.iter().chain(&floor(system)) {
            insert(connection, "system_fact", [("system", position.into())].into_iter().chain(fact.save()?))?;
        }
    }
    Ok(())
}

/// Floor space, which came to footprints when their table was fixed, as a fact of the system.
const FLOOR: &str = "footprint.floor";

fn floor(system: &SystemFacts) -> Option<Fact> {
    let value = system.footprint.floor?.to_string();
    Some(Fact { key: FLOOR.to_owned(), value, private: false })
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

/// Reads all facts of the run.
pub(crate) fn read(connection: &Connection) -> Result<RunFacts, Error> {
    let facts = connection.query_row(&format!("SELECT {} FROM run", RunFacts::NAMES.join(", ")), (), RunFacts::load)?;
    let words = |list: &str| {
        let sql = "SELECT word FROM run_word WHERE list = ?1 ORDER BY position";
        read_rows(connection, sql, [list], |row| row.get(0))
    };
    Ok(RunFacts {
        targets: words("target")?,
        settings: words("setting")?,
        only: words("only")?,
        tags: words("tag")?,
        ceiling: select(connection, "ceiling LIMIT 1", ())?.pop(),
        systems: read_systems(connection)?,
        ..facts
    })
}

fn read_systems(connection: &Connection) -> Result<Vec<SystemFacts>, Error> {
    // All facts in one go: a question for each system would walk all of them each time.
    let mut known: HashMap<i64, Vec<Fact>> = HashMap::new();
    let sql = format!("SELECT {}, system FROM system_fact ORDER BY rowid", Fact::NAMES.join(", "));
    for (system, fact) in read_rows(connection, &sql, (), |row| Ok((row.get::<_, i64>("system")?, Fact::load(row)?)))? {
        known.entry(system).or_default().push(fact);
    }
    let sql = format!("SELECT {}, position FROM system ORDER BY position", SystemFacts::NAMES.join(", "));
    read_rows(connection, &sql, (), |row| {
        let mut fingerprint = known.remove(&row.get("position")?).unwrap_or_default();
        let mut system = SystemFacts::load(row)?;
        let stated = fingerprint.iter().position(|fact| fact.key == FLOOR).map(|at| fingerprint.remove(at));
        system.footprint.floor = stated.and_then(|fact| fact.value.parse().ok());
        Ok(SystemFacts { fingerprint, ..system })
    })
}
