//! Costs of statements on real databases: what was executed is found again, and writes are told from reads by their log.

use crate::cost::Pages;
use crate::{Database, DatabaseError, OpenOptions, Profiling, StatementCost, Texts, fingerprint, open, server};
use observation::{COMMIT, OfStatement};
use std::sync::Arc;
use study::{At, DatabaseSpec, Engine, Protocol, Sessions};
use tempfile::TempDir;
use workload::transaction::{Answers, Batch, Statement, Value};

const READ: &str = "SELECT v FROM t WHERE id = $1 AND v > -1";
const WRITE: &str = "UPDATE t SET v = v + $1 WHERE id = $2";

pub(super) struct Place(pub(super) TempDir, pub(super) Engine);

impl Drop for Place {
    fn drop(&mut self) {
        let _ = server::down(self.1, self.0.path(), &Arc::default(), true);
    }
}

/// A database with a table of 100 rows; none where the server is not installed.
pub(super) fn opened(place: &Place, profiling: Profiling, settings: &[(&str, &str)]) -> Option<Box<dyn Database>> {
    let cache_dir = place.0.path().to_owned();
    let at = match place.1 {
        Engine::Sqlite => At::File(cache_dir.join("file.sqlite").display().to_string()),
        _ => At::Local,
    };
    let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let options = OpenOptions { cache_dir, dataset: None, settings, profiling, stop: Arc::default() };
    match open(&DatabaseSpec::new(place.1, at), &options) {
        Ok(database) => Some(database),
        Err(missing @ DatabaseError::MissingPackage { .. }) => {
            crate::tests::skip::skipped(&format!("statements on a private {}: {missing}", place.1.word()));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn texts(engine: Engine) -> Texts {
    let of = |(name, sql, rows): (&str, &str, bool)| Statement { name: name.into(), sql: sql.into(), rows };
    Texts::of(engine, &[("read", READ, true), ("write", WRITE, false)].map(of))
}

/// 40 reads and 20 writes, each write with a commit of its own.
fn work(database: &dyn Database, protocol: Protocol) {
    let sessions = Sessions { protocol, ..Sessions::default() };
    let mut session = database.session(&texts(database.engine()), &sessions).unwrap();
    let mut answers = Answers::default();
    for n in 0..20 {
        let mut batch = Batch::default();
        batch.begin(true);
        batch.call(0, [Value::Int(n)]);
        batch.call(0, [Value::Int(n + 1)]);
        batch.call(1, [Value::Int(-n), Value::Int(n)]);
        batch.commit();
        answers.clear();
        session.run(&batch, &mut answers).unwrap();
    }
}

fn of(costs: &[StatementCost], engine: Engine, sql: &str, amount: OfStatement) -> f64 {
    let key = if sql == COMMIT { COMMIT.to_owned() } else { fingerprint(engine, sql) };
    let own = costs.iter().filter(|cost| cost.key == key).flat_map(|cost| &cost.amounts);
    own.filter(|(known, _)| *known == amount).map(|(_, value)| value).sum()
}

fn make(database: &dyn Database, sql: &str) {
    database.outside().unwrap().script(sql).unwrap();
}

#[test]
fn postgres_counts_what_we_executed_by_any_protocol_and_only_writes_have_log() {
    let engine = Engine::Postgres;
    let place = Place(tempfile::tempdir().unwrap(), engine);
    let Some(database) = opened(&place, Profiling { on: true, pages: None }, &[]) else { return };
    make(
        &*database,
        "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT g, g FROM generate_series(0, 99) g",
    );
    make(&*database, "VACUUM t");
    let mut before = database.statement_costs().unwrap();
    for protocol in [Protocol::Prepared, Protocol::Extended, Protocol::Simple] {
        work(&*database, protocol);
        let after = database.statement_costs().unwrap();
        let grown = |sql: &str, what: OfStatement| of(&after, engine, sql, what) - of(&before, engine, sql, what);
        assert_eq!(grown(READ, OfStatement::ServerExecutions), 40.0, "{protocol:?}: {after:?}");
        assert_eq!(grown(WRITE, OfStatement::ServerExecutions), 20.0, "{protocol:?}");
        assert!(grown(WRITE, OfStatement::LogBytes) > 20.0 * 30.0, "{protocol:?}");
        assert!(
            grown(WRITE, OfStatement::Lookups) >= 20.0 && grown(READ, OfStatement::Lookups) >= 40.0,
            "{protocol:?}"
        );
        assert!(grown(READ, OfStatement::ExecutionSeconds) > 0.0, "{protocol:?}");
        // A read may prune a page, which is logged; it never logs as much as the writes.
        assert!(grown(READ, OfStatement::LogBytes) < grown(WRITE, OfStatement::LogBytes) / 2.0, "{protocol:?}");
        before = after;
    }
}

#[test]
fn a_postgres_without_the_extension_says_how_to_get_it_and_nothing_is_made_in_it() {
    let place = Place(tempfile::tempdir().unwrap(), Engine::Postgres);
    let Some(private) = opened(&place, Profiling::default(), &[]) else { return };
    let socket = private.private().unwrap().socket_folder();
    let url = format!("postgres://prony@/postgres?host={}", socket.display());
    let spec = DatabaseSpec::new(Engine::Postgres, At::Url(url));
    let options = OpenOptions {
        cache_dir: place.0.path().to_owned(),
        dataset: None,
        settings: Vec::new(),
        profiling: Profiling { on: true, pages: None },
        stop: Arc::default(),
    };
    let database = open(&spec, &options).unwrap();
    let missing = database.statement_costs().unwrap_err();
    assert!(missing.contains("CREATE EXTENSION pg_stat_statements"), "{missing}");
    let extensions = "SELECT count(*) FROM pg_extension WHERE extname = 'pg_stat_statements'";
    assert_eq!(database.outside().unwrap().query(extensions).unwrap(), [[Value::Int(0)]]);
}

#[test]
fn sqlite_is_sampled_and_its_pages_belong_to_the_commit() {
    let engine = Engine::Sqlite;
    let place = Place(tempfile::tempdir().unwrap(), engine);
    let pages = |_: &rusqlite::Connection| Pages { hits: 3, misses: 1, writes: 0 };
    let profiling = Profiling { on: true, pages: Some(pages) };
    std::fs::File::create(place.0.path().join("file.sqlite")).unwrap();
    let Some(database) = opened(&place, profiling, &[]) else { return };
    make(
        &*database,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER); \
                      WITH RECURSIVE g(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM g WHERE n < 99) \
                      INSERT INTO t SELECT n, n FROM g",
    );
    work(&*database, Protocol::Prepared);
    let costs = database.statement_costs().unwrap();
    for (sql, executions) in [(READ, 40.0), (WRITE, 20.0), (COMMIT, 20.0)] {
        let sql = texts(engine)
            .iter()
            .find(|text| text.sql == sql.replace('$', "?"))
            .map_or(sql.to_owned(), |t| t.sql.clone());
        assert_eq!(of(&costs, engine, &sql, OfStatement::ServerExecutions), executions, "{costs:?}");
        assert!(of(&costs, engine, &sql, OfStatement::CpuSeconds) > 0.0, "{costs:?}");
        assert_eq!(of(&costs, engine, &sql, OfStatement::Lookups), 0.0, "these counters stand still");
    }
    let quiet = opened(&place, Profiling::default(), &[]).unwrap();
    work(&*quiet, Protocol::Prepared);
    assert_eq!(quiet.statement_costs().unwrap(), [], "who is not asked to count does not");
}

/// The same private MariaDB by its URL, within a database of its own that has the table of 100 rows.
fn by_url(private: &dyn Database, place: &Place, profiling: Profiling) -> Box<dyn Database> {
    make(private, "CREATE DATABASE own; CREATE TABLE own.t (id int PRIMARY KEY, v int)");
    make(private, "INSERT INTO own.t SELECT seq, seq FROM mysql.seq_0_to_99");
    let url =
        format!("mariadb://root@/own?socket={}", private.private().unwrap().socket_folder().join("socket").display());
    let spec = DatabaseSpec::new(Engine::Mariadb, At::Url(url));
    let (cache_dir, stop) = (place.0.path().to_owned(), Arc::default());
    open(&spec, &OpenOptions { cache_dir, dataset: None, settings: Vec::new(), profiling, stop }).unwrap()
}

#[test]
fn mariadb_counts_what_we_executed_prepared_or_as_text_with_the_rows_that_were_looked_at() {
    let engine = Engine::Mariadb;
    let place = Place(tempfile::tempdir().unwrap(), engine);
    let on = Profiling { on: true, pages: None };
    let Some(private) = opened(&place, on, &[("performance_schema", "ON")]) else { return };
    let database = by_url(&*private, &place, on);
    let mut before = database.statement_costs().unwrap();
    for protocol in [Protocol::Prepared, Protocol::Simple, Protocol::Prepared] {
        work(&*database, protocol);
        let after = database.statement_costs().unwrap();
        let grown = |sql: &str, what: OfStatement| of(&after, engine, sql, what) - of(&before, engine, sql, what);
        assert_eq!(grown(READ, OfStatement::ServerExecutions), 40.0, "{protocol:?}: {after:?}");
        assert_eq!(grown(WRITE, OfStatement::ServerExecutions), 20.0, "{protocol:?}");
        assert_eq!(grown(WRITE, OfStatement::RowsExamined), 20.0, "{protocol:?}");
        assert!(grown(READ, OfStatement::ExecutionSeconds) > 0.0, "{protocol:?}");
        assert_eq!(grown(READ, OfStatement::LogBytes), 0.0, "{protocol:?}: it is not known by statement");
        before = after;
    }
}

#[test]
fn a_private_mariadb_counts_where_the_study_asks_for_it_and_says_elsewhere_what_is_missing() {
    let engine = Engine::Mariadb;
    let place = Place(tempfile::tempdir().unwrap(), engine);
    let on = Profiling { on: true, pages: None };
    let Some(quiet) = opened(&place, on, &[]) else { return };
    assert!(quiet.statement_costs().unwrap_err().contains("performance_schema=ON"));
    drop(quiet);
    let counts = opened(&place, on, &[("performance-schema", "on")]).unwrap();
    assert!(counts.statement_costs().is_ok());
}
