//! What is dropped on a server that others use, too: a data set that says by its mark that it is one, and nothing beside it.

use super::across::Cache;
use crate::dataset::{Filled, State, fill};
use crate::{Database, DatabaseError, Found, OpenOptions, Profiling, Texts, mark, open};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{At, DatabaseSpec, Engine, Sessions};
use workload::brokerage::data_set::seeded;
use workload::brokerage::{Preset, Scale};
use workload::dataset::DataSet;
use workload::transaction::Value;

fn desk(seed: u64) -> DataSet {
    seeded(Scale { preset: Preset::Desk, customers: 20, days: 1 }, seed)
}

fn opened(cache: &Cache, engine: Engine, at: At, dataset: Option<DataSet>) -> Result<Box<dyn Database>, DatabaseError> {
    let (cache_dir, settings, stop) = (cache.folder(), Vec::new(), Arc::default());
    open(
        &DatabaseSpec::new(engine, at),
        &OpenOptions { cache_dir, dataset, settings, profiling: Profiling::default(), stop },
    )
}

/// A server with nothing in it, as its users reach it; none where it is not installed.
fn by_url(cache: &Cache, engine: Engine) -> Option<Box<dyn Database>> {
    let private = match opened(cache, engine, At::Local, None) {
        Err(missing @ DatabaseError::MissingPackage { .. }) => {
            crate::tests::skip::skipped(&format!("data of others on {}: {missing}", engine.word()));
            return None;
        }
        private => private.unwrap(),
    };
    let socket = private.private().unwrap().socket_folder();
    let url = match engine {
        Engine::Mariadb => format!("mysql://root@/?socket={}", socket.join("socket").display()),
        _ => format!("postgres://prony@/postgres?host={}", socket.display()),
    };
    Some(opened(cache, engine, At::Url(url), Some(desk(1))).unwrap())
}

fn filled(database: &dyn Database, set: &DataSet) -> Result<Filled, DatabaseError> {
    fill(database, set, false, &|_| {}, &AtomicBool::new(false))
}

/// Makes the place of a data set with these tables in it.
fn made(database: &dyn Database, set: &DataSet, tables: &str) {
    let schema = set.schema();
    let script = match database.engine() {
        Engine::Mariadb => {
            format!("DROP DATABASE IF EXISTS {schema}; CREATE DATABASE {schema}; USE {schema}; {tables}")
        }
        _ => format!(
            "DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}; SET search_path TO {schema}; {tables}"
        ),
    };
    let mut session = database.outside().unwrap();
    session.script(&script).unwrap_or_else(|failure| panic!("{failure}: {script}"));
}

/// Rows of somebody else's table beside the data set.
fn payroll(database: &dyn Database, set: &DataSet) -> i64 {
    let sql = format!("SELECT count(*) FROM {}.payroll", set.schema());
    database.outside().unwrap().one(&sql).unwrap().and_then(|value| value.int()).unwrap()
}

const PAYROLL: &str = "CREATE TABLE payroll (x int); INSERT INTO payroll VALUES (7);";

/// The table of a mark with these rows.
fn marked(rows: &str) -> String {
    let table = "CREATE TABLE prony_dataset (fact varchar(40), value varchar(200));";
    if rows.is_empty() { table.to_owned() } else { format!("{table} INSERT INTO prony_dataset VALUES {rows};") }
}

/// The rows of the mark that a fill of this data set writes, with another word in the place of one of them.
fn rows_of(set: &DataSet, state: State, format: &str) -> String {
    let facts = [("format", format.to_owned()), ("state", state.word().to_owned())].into_iter().chain(set.facts());
    facts.map(|(fact, value)| format!("('{fact}', '{value}')")).collect::<Vec<_>>().join(", ")
}

fn only_what_is_ours_is_dropped(database: &dyn Database) {
    let set = desk(1);
    let foreign = [
        marked(""),
        marked("('note', 'hello')"),
        marked("('state', 'ready')"),
        marked("('state', 'filling')"),
        marked("('format', '1'), ('state', 'filling'), ('kind', 'warehouse')"),
        marked("('format', '1'), ('state', 'emptying'), ('kind', 'brokerage')"),
        "CREATE TABLE prony_dataset (who int);".to_owned(),
    ];
    for mark in foreign {
        made(database, &set, &format!("{PAYROLL} {mark}"));
        for refused in [filled(database, &set).map(drop), database.clear(&set)] {
            assert!(matches!(refused, Err(DatabaseError::NotOurs { .. })), "{mark}: {refused:?}");
        }
        assert_eq!(payroll(database, &set), 1, "{mark}");
        assert!(database.datasets().unwrap().is_empty(), "{mark}");
    }
    // A whole mark that names the data set, beside somebody else's table.
    for state in [State::Filling, State::Used] {
        made(database, &set, &format!("{PAYROLL} {}", marked(&rows_of(&set, state, mark::FORMAT))));
        let told = database.clear(&set).unwrap_err().to_string();
        assert!(told.ends_with("holds `payroll`, which was not made by Prony; it was left untouched"), "{told}");
        assert_eq!(payroll(database, &set), 1);
    }
    made(database, &set, &format!("{PAYROLL} {}", marked(&rows_of(&set, State::Filling, mark::FORMAT))));
    assert!(matches!(filled(database, &set), Err(DatabaseError::Foreign { .. })));
    made(database, &set, &marked(&rows_of(&desk(2), State::Filling, mark::FORMAT)));
    assert!(matches!(filled(database, &set), Err(DatabaseError::OtherDataSet { .. })));
    assert!(matches!(database.clear(&set), Err(DatabaseError::NotOurs { .. })));
    // Another version's, in whichever state.
    for state in [State::Filling, State::Ready] {
        made(database, &set, &format!("{PAYROLL} {}", marked(&rows_of(&set, state, "2"))));
        let refused = filled(database, &set).unwrap_err();
        let (told, hint) = (refused.to_string(), refused.hint().unwrap());
        assert!(told.contains("holds a data set of format 2, and this version of Prony reads format 1"), "{told}");
        assert!(hint.contains(&format!("remove {} yourself", set.schema())), "{hint}");
        assert!(matches!(database.clear(&set), Err(DatabaseError::OtherFormat { .. })));
        assert_eq!(payroll(database, &set), 1);
    }
}

/// Fills of ours that were cut off anywhere are begun anew, and a table of the user's that came later keeps a data set from going,
/// not from being used.
fn what_is_ours_is_filled_anew(database: &dyn Database) {
    let set = desk(1);
    for tables in [String::new(), marked(""), marked(&rows_of(&set, State::Filling, mark::FORMAT))] {
        made(database, &set, &tables);
        assert!(matches!(filled(database, &set).unwrap(), Filled::Anew { .. }), "{tables}");
    }
    let mut session = database.session(&Texts::none(database.engine()), &Sessions::default()).unwrap();
    session.script(PAYROLL).unwrap();
    assert_eq!(filled(database, &set).unwrap(), Filled::Reused { state: State::Ready });
    assert!(matches!(database.clear(&set), Err(DatabaseError::Foreign { .. })));
    session.script("DROP TABLE payroll").unwrap();
    drop(session);
    database.clear(&set).unwrap();
    assert_eq!(database.find(&set).unwrap(), Found::Nothing);
}

#[test]
fn on_a_postgres_of_others_only_what_is_ours_is_dropped_and_begun_anew() {
    let cache = Cache::new(Engine::Postgres);
    let Some(database) = by_url(&cache, Engine::Postgres) else { return };
    only_what_is_ours_is_dropped(&*database);
    what_is_ours_is_filled_anew(&*database);
    // What depends on it elsewhere keeps a data set from going.
    let set = desk(1);
    filled(&*database, &set).unwrap();
    let mut session = database.outside().unwrap();
    session.script(&format!("CREATE VIEW public.mine AS SELECT id FROM {}.account", set.schema())).unwrap();
    let refused = database.clear(&set).unwrap_err();
    let told = format!("{refused}: {:?}", std::error::Error::source(&refused));
    assert!(told.contains("mine depends on"), "{told}");
    assert!(session.one("SELECT count(*) FROM public.mine").unwrap().and_then(|value| value.int()) > Some(0));
    session.script("DROP VIEW public.mine").unwrap();
    database.clear(&set).unwrap();
}

#[test]
fn on_a_mariadb_of_others_only_what_is_ours_is_dropped_and_begun_anew() {
    let cache = Cache::new(Engine::Mariadb);
    let Some(database) = by_url(&cache, Engine::Mariadb) else { return };
    only_what_is_ours_is_dropped(&*database);
    what_is_ours_is_filled_anew(&*database);
}

#[test]
fn private_servers_and_the_cache_are_filled_anew_whatever_version_was_there() {
    for engine in [Engine::Sqlite, Engine::Postgres, Engine::Mariadb] {
        let cache = Cache::new(engine);
        let at = if engine == Engine::Sqlite { At::Cache } else { At::Local };
        let set = desk(1);
        let database = match opened(&cache, engine, at, Some(set.clone())) {
            Err(DatabaseError::MissingPackage { .. }) => continue,
            database => database.unwrap(),
        };
        filled(&*database, &set).unwrap();
        let mut session = database.session(&Texts::none(engine), &Sessions::default()).unwrap();
        session.script(&format!("{PAYROLL} UPDATE prony_dataset SET value = '0' WHERE fact = 'format'")).unwrap();
        drop(session);
        assert_eq!(database.find(&set).unwrap(), Found::OtherFormat("0".to_owned()));
        assert!(matches!(filled(&*database, &set).unwrap(), Filled::Anew { .. }), "{engine:?}");
    }
}

#[test]
fn a_users_file_with_another_format_or_with_a_table_of_his_own_stays_as_it_is() {
    let (cache, set) = (Cache::new(Engine::Sqlite), desk(1));
    let at = At::File(cache.folder().join("own.db").display().to_string());
    let database = opened(&cache, Engine::Sqlite, at, Some(set.clone())).unwrap();
    fill(&*database, &set, true, &|_| {}, &AtomicBool::new(false)).unwrap();
    let script = |sql: &str| {
        database.session(&Texts::none(Engine::Sqlite), &Sessions::default()).unwrap().script(sql).unwrap();
    };
    let mark = |fact: &str, value: &str| {
        script(&format!("UPDATE prony_dataset SET value = '{value}' WHERE fact = '{fact}'"));
    };
    script(PAYROLL);
    mark("state", "used");
    let foreign = |refused: DatabaseError| assert!(matches!(refused, DatabaseError::Foreign { .. }), "{refused}");
    foreign(database.restore(&set).unwrap_err());
    foreign(database.clear(&set).unwrap_err());
    mark("state", "filling");
    foreign(filled(&*database, &set).unwrap_err());
    mark("format", "2");
    for refused in [filled(&*database, &set).map(drop), database.clear(&set)] {
        assert!(matches!(refused, Err(DatabaseError::OtherFormat { .. })), "{refused:?}");
    }
    mark("format", "one");
    assert_eq!(database.find(&set).unwrap(), Found::NotOurs);
    script("DROP TABLE prony_dataset; CREATE TABLE prony_dataset (who int)");
    assert_eq!(database.find(&set).unwrap(), Found::NotOurs);
    let mut session = database.session(&Texts::none(Engine::Sqlite), &Sessions::default()).unwrap();
    assert_eq!(session.one("SELECT count(*) FROM payroll").unwrap(), Some(Value::Int(1)));
}
