//! What somebody else's statements may do on a private server: everything with what they make, nothing with the server.

use super::cost::{Place, opened};
use crate::{Database, FailureKind, OpenOptions, Profiling, Session, Texts, open};
use std::sync::Arc;
use study::{At, DatabaseSpec, Engine, Sessions};
use workload::sql;
use workload::transaction::{Statement, Value};

/// A session as one of a script has it.
fn foreign(database: &dyn Database) -> Box<dyn Session> {
    let one = Statement { name: "one".into(), sql: "SELECT 1".into(), rows: true };
    let mut texts = Texts::of(database.engine(), &[one]);
    texts.foreign = true;
    database.session(&texts, &Sessions::default()).unwrap()
}

fn private(engine: Engine) -> Option<(Place, Box<dyn Database>)> {
    let place = Place(tempfile::tempdir().unwrap(), engine);
    let database = opened(&place, Profiling { on: true, pages: None }, &[])?;
    database.admit_scripts().unwrap();
    Some((place, database))
}

fn refused(session: &mut dyn Session, statements: &[&str]) {
    for sql in statements {
        let told = session.script(sql).expect_err(sql);
        assert_eq!(told.kind, FailureKind::Privilege, "{sql}: {told}");
    }
}

#[test]
fn a_script_on_a_private_postgres_runs_no_commands_and_reaches_no_files() {
    let Some((place, database)) = private(Engine::Postgres) else { return };
    let (made, mut script) = (place.0.path().join("made"), foreign(&*database));
    script.script("CREATE TABLE own (line text)").unwrap();
    let program = format!("COPY own TO PROGRAM 'touch {}'", made.display());
    let file = format!("COPY own TO '{}'", made.display());
    refused(
        &mut *script,
        &[
            &program,
            &file,
            "COPY own FROM PROGRAM 'id'",
            "COPY own FROM '/etc/hostname'",
            "SELECT pg_read_file('/etc/hostname')",
            "SELECT pg_ls_dir('/')",
            "SELECT lo_import('/etc/hostname')",
            "ALTER SYSTEM SET archive_command = 'id'",
            "CREATE FUNCTION f() RETURNS int AS 'libc.so.6', 'system' LANGUAGE c",
            "CREATE EXTENSION file_fdw",
            "SET ROLE prony",
            "SET SESSION AUTHORIZATION prony",
            "ALTER ROLE prony_script SUPERUSER",
            "GRANT prony TO prony_script",
            "CREATE TABLE public.planted (a int)",
            "ALTER DATABASE postgres SET search_path = prony_script",
            "ALTER ROLE prony SET search_path = prony_script",
        ],
    );
    assert!(!made.exists());
}

#[test]
fn a_script_on_a_private_mariadb_reads_and_writes_no_files_and_is_no_administrator() {
    let Some((place, database)) = private(Engine::Mariadb) else { return };
    let (made, mut script) = (place.0.path().join("made"), foreign(&*database));
    script.script("CREATE TABLE own (line text)").unwrap();
    let file = format!("SELECT 1 INTO OUTFILE '{}'", made.display());
    refused(
        &mut *script,
        &[
            &file,
            "LOAD DATA INFILE '/etc/hostname' INTO TABLE own",
            "SET GLOBAL general_log = ON",
            "SELECT * FROM mysql.global_priv",
            "INSTALL SONAME 'ha_federatedx'",
            "CREATE DATABASE planted",
            "GRANT FILE ON *.* TO prony_script@localhost",
            "CREATE USER planted@localhost",
            "CREATE DEFINER = root@localhost PROCEDURE p() SELECT LOAD_FILE('/etc/hostname')",
        ],
    );
    assert_eq!(script.one("SELECT LOAD_FILE('/etc/hostname')").unwrap(), Some(Value::Null));
    assert!(database.outside().unwrap().one("SELECT LOAD_FILE('/etc/hostname')").unwrap() != Some(Value::Null));
    assert!(!made.exists());
}

/// What a superuser of ours calls is looked for where scripts may make nothing, whatever they make elsewhere.
#[test]
fn what_a_script_makes_is_never_called_by_sessions_of_the_superuser() {
    let Some((_place, database)) = private(Engine::Postgres) else { return };
    let counted = database.counters();
    let mut script = foreign(&*database);
    let traps = "CREATE TABLE called (who text); GRANT INSERT ON called TO PUBLIC; CREATE SCHEMA prony; \
        CREATE FUNCTION prony.pg_wal_lsn_diff(pg_lsn, text) RETURNS numeric LANGUAGE sql AS \
        $$ INSERT INTO prony_script.called VALUES (current_user) RETURNING 1::numeric $$; \
        CREATE FUNCTION prony.pg_size_bytes(varchar) RETURNS bigint LANGUAGE sql AS \
        $$ INSERT INTO prony_script.called VALUES (current_user) RETURNING 1::bigint $$; \
        CREATE VIEW prony.pg_buffercache AS SELECT prony.pg_size_bytes('1') AS reldatabase, 1 AS relfilenode; \
        CREATE VIEW prony.pg_stat_statements AS SELECT prony.pg_size_bytes('1') AS calls";
    script.script(traps).unwrap();
    let again = database.counters();
    assert_eq!(counted.len(), again.len());
    assert!(!database.standing().is_empty());
    database.statement_costs().unwrap();
    database.checkpoint().unwrap();
    assert_eq!(script.one("SELECT count(*) FROM called").unwrap(), Some(Value::Int(0)));
    script.script("SET search_path = prony; SELECT pg_wal_lsn_diff('0/0'::pg_lsn, 'x'::text)").unwrap();
    assert_eq!(script.one("SELECT count(*) FROM prony_script.called").unwrap(), Some(Value::Int(1)), "the trap works");
}

#[test]
fn a_script_does_what_it_likes_with_what_it_made_and_is_counted() {
    for engine in [Engine::Postgres, Engine::Mariadb] {
        let Some((_place, database)) = private(engine) else { continue };
        let mut script = foreign(&*database);
        script.script("CREATE TABLE own (id int PRIMARY KEY, v int); INSERT INTO own VALUES (1, 1)").unwrap();
        script.script("CREATE INDEX own_v ON own (v); ALTER TABLE own ADD COLUMN w int").unwrap();
        script.script("CREATE TEMPORARY TABLE x (a int); CREATE VIEW seen AS SELECT v FROM own").unwrap();
        let cleaned = match engine {
            Engine::Postgres => ["VACUUM ANALYZE own", "CREATE SCHEMA other"],
            _ => ["OPTIMIZE TABLE own", "CREATE PROCEDURE p() SELECT 1"],
        };
        cleaned.iter().for_each(|sql| script.script(sql).unwrap());
        script.script("TRUNCATE TABLE own; DROP VIEW seen; DROP TABLE own").unwrap();
        if engine == Engine::Postgres {
            let keys: Vec<String> = database.statement_costs().unwrap().into_iter().map(|cost| cost.key).collect();
            assert!(keys.iter().any(|key| key.contains("insert into own")), "{keys:?}");
        }
    }
}

#[test]
fn accounts_are_divided_among_partitions_and_none_is_missing() {
    for (engine, by_range) in [Engine::Postgres, Engine::Mariadb].into_iter().flat_map(|e| [(e, true), (e, false)]) {
        let cache = super::across::Cache::new(engine);
        let set = sql::partitioned(1, std::num::NonZeroU32::new(4).unwrap(), by_range);
        let Some(database) = super::across::filled_with(&cache, engine, &set) else { continue };
        let mut session = database.session(&Texts::none(engine), &Sessions::default()).unwrap();
        let counts: Vec<i64> = match engine {
            Engine::Postgres => {
                let sql = "SELECT count(*) FROM pgbench_accounts GROUP BY tableoid";
                session.query(sql).unwrap().iter().filter_map(|row| row[0].int()).collect()
            }
            _ => {
                let part = |number| match by_range {
                    true => format!("SELECT count(*) FROM pgbench_accounts PARTITION (p{number})"),
                    false => format!("SELECT count(*) FROM pgbench_accounts PARTITION (p{})", number - 1),
                };
                (1..=4).filter_map(|number| session.one(&part(number)).unwrap()?.int()).collect()
            }
        };
        assert_eq!((counts.len(), counts.iter().sum::<i64>()), (4, 100_000), "{engine:?}: {counts:?}");
        assert!(!by_range || counts.iter().all(|count| *count == 25_000), "{engine:?}: {counts:?}");
        assert!(counts.iter().all(|count| (20_000..30_000).contains(count)), "{engine:?}: {counts:?}");
    }
}

/// A stream of a script beside one of ours works on the rows of the data set.
#[test]
fn a_script_beside_a_data_set_reads_and_writes_its_rows_and_changes_nothing_else_of_it() {
    for engine in [Engine::Postgres, Engine::Mariadb] {
        let Some((place, first)) = private(engine) else { continue };
        let set = sql::branches(1);
        let options = OpenOptions {
            cache_dir: place.0.path().to_owned(),
            dataset: Some(set.clone()),
            settings: Vec::new(),
            profiling: Profiling::default(),
            stop: Arc::default(),
        };
        drop(first);
        let database = open(&DatabaseSpec::new(engine, At::Local), &options).unwrap();
        database.make(&set).unwrap();
        let mut ours = database.fill_session(&set).unwrap();
        ours.script("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)").unwrap();
        database.admit_scripts().unwrap();
        database.admit_scripts().unwrap();
        let mut script = foreign(&*database);
        script.script("UPDATE t SET v = 2 WHERE id = 1").unwrap();
        assert_eq!(script.one("SELECT v FROM t").unwrap(), Some(Value::Int(2)));
        for sql in ["DROP TABLE t", "ALTER TABLE t ADD COLUMN w int", "CREATE VIEW u AS SELECT 1"] {
            let allowed = engine == Engine::Postgres && sql.starts_with("CREATE VIEW");
            assert_eq!(script.script(sql).is_ok(), allowed, "{sql}");
        }
        let own = if engine == Engine::Postgres { "own" } else { "prony_script.own" };
        script.script(&format!("CREATE TABLE {own} (a int); DROP TABLE {own}")).unwrap();
    }
}
