//! Sessions on a real private server.

use super::load::{self, Road};
use super::{MariadbSession, Place, counters};
use crate::server::mariadb::Server;
use crate::{DatabaseError, FailureKind, OpenOptions, Rows, Session, Texts};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{At, DatabaseSpec, Engine, Protocol, Sessions};
use tempfile::TempDir;
use workload::transaction::{Answers, Batch, Statement, Value};

/// A server of one test; it ends with the test, and its folder goes.
struct Own {
    server: Server,
    cache: TempDir,
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.server.kill();
    }
}

impl Own {
    fn place(&self) -> Place {
        self.server.place().with_database("test")
    }

    fn session(&self, protocol: Protocol, statements: &[&str]) -> MariadbSession {
        let statement = |sql: &&str| Statement { name: (*sql).to_owned(), sql: (*sql).to_owned(), rows: true };
        let texts = Texts::of(Engine::Mariadb, &statements.iter().map(statement).collect::<Vec<_>>())
            .naming(|place| place == 1);
        MariadbSession::open(&self.place(), &texts, &Sessions { protocol, ..Sessions::default() }).unwrap()
    }

    fn options(&self) -> OpenOptions {
        OpenOptions {
            cache_dir: self.cache.path().to_owned(),
            dataset: None,
            settings: Vec::new(),
            stop: Arc::new(AtomicBool::new(false)),
        }
    }
}

/// Starts a server, or notes why the test is skipped.
fn own(test: &str) -> Option<Own> {
    let cache = tempfile::tempdir().unwrap();
    // The server runs as another user when the test is root.
    std::fs::set_permissions(cache.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = match Server::find(cache.path(), "server", Arc::new(AtomicBool::new(false))) {
        Ok(server) => server,
        Err(missing @ DatabaseError::MissingPackage { .. }) => {
            crate::skip::skipped(&format!("{test}: {missing}"));
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    server.up(&[]).unwrap();
    let own = Own { server, cache };
    let texts = Texts::none(Engine::Mariadb);
    let mut outside = MariadbSession::open(&own.server.place(), &texts, &Sessions::default()).unwrap();
    outside.script("CREATE DATABASE test").unwrap();
    Some(own)
}

fn ask(session: &mut dyn Session, statement: u16, parameters: &[Value]) -> Answers {
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    batch.call(statement, parameters.iter().cloned());
    session.run(&batch, &mut answers).unwrap();
    answers
}

#[test]
fn values_come_back_as_they_were_sent_and_the_same_by_every_protocol() {
    let Some(own) = own("values come back") else { return };
    own.session(Protocol::Prepared, &[])
        .script(
            "CREATE TABLE odd (id BIGINT PRIMARY KEY, t TEXT, i BIGINT, f DOUBLE);
             CREATE TABLE kinds (a BIGINT UNSIGNED, b DECIMAL(20,2), c FLOAT, d DATE, e DATETIME(3), g TIME, h BIT(9), y YEAR, z VARCHAR(5));
             INSERT INTO kinds VALUES (18446744073709551615, 2.50, 0.1, '2026-01-02', '2026-01-02 03:04:05.6', '-25:00:01', 257, 2026, ''),
                                      (7, 2.00, 1234567, NULL, NULL, '00:00:00', 1, 1999, 'x')",
        )
        .unwrap();
    let texts = [
        "",
        "it's",
        "back\\slash \\N",
        "tab\tline\nreturn\r",
        "zero\0byte \u{1a}",
        "ünïcode 🦀",
        "$1 ? :a -- #",
        "NULL",
    ];
    let sql = [
        "INSERT INTO odd (id, t, i, f) VALUES ($1, $2, $3, $4)",
        "SELECT f, i, t, id FROM odd WHERE id = $1",
        "SELECT * FROM kinds ORDER BY a DESC",
        "UPDATE odd SET i = i WHERE id >= $1",
        "SELECT SUM(i), COUNT(*), $2, $1 FROM odd WHERE id < $1",
    ];
    let mut all = Vec::new();
    for (number, protocol) in [Protocol::Prepared, Protocol::Extended, Protocol::Simple].into_iter().enumerate() {
        let mut session = own.session(protocol, &sql);
        let mut seen = Vec::new();
        for (place, text) in texts.iter().enumerate() {
            let row = [
                Value::Int((number * 100 + place) as i64),
                Value::from(*text),
                if place == 0 { Value::Null } else { Value::Int(i64::MIN + place as i64) },
                Value::Float(0.1 * place as f64),
            ];
            assert_eq!(ask(&mut session, 0, &row).get(0).changed, 1);
            let back = ask(&mut session, 1, &row[..1]);
            assert_eq!(back.names(0).map(|names| names.join(",")), Some("f,i,t,id".to_owned()));
            let back: Vec<Value> = back.get(0).rows().next().unwrap().to_vec();
            assert_eq!(back, [row[3].clone(), row[2].clone(), row[1].clone(), row[0].clone()], "{protocol:?}");
            seen.push(back[..3].to_vec());
        }
        seen.extend(ask(&mut session, 2, &[]).get(0).rows().map(<[Value]>::to_vec));
        // Rows that an update met and left as they were are counted, as on the other engines.
        assert_eq!(ask(&mut session, 3, &[Value::Int(number as i64 * 100)]).get(0).changed, texts.len() as u64);
        seen.push(ask(&mut session, 4, &[Value::Int(2), Value::from("x")]).get(0).rows().next().unwrap().to_vec());
        all.push(seen);
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
    let kinds = &all[0][texts.len()];
    assert_eq!(kinds[0], Value::from("18446744073709551615"));
    assert_eq!((&kinds[1], &kinds[2], &kinds[6]), (&Value::from("2.50"), &Value::Float(0.1), &Value::Int(257)));
    assert_eq!((&kinds[3], &kinds[4]), (&Value::from("2026-01-02"), &Value::from("2026-01-02 03:04:05.600")));
    assert_eq!(kinds[5], Value::from("-25:00:01"));
    assert_eq!(all[0][texts.len() + 1][1], Value::Int(2));
}

/// Rows from a list.
struct Listed(std::vec::IntoIter<Vec<Value>>);

impl Rows for Listed {
    fn next(&mut self, row: &mut Vec<Value>) -> bool {
        self.0.next().map(|next| *row = next).is_some()
    }
}

fn listed(count: i64) -> Vec<Vec<Value>> {
    let odd = ["", "\\N", "a\tb", "c\nd\r\n", "\\", "e\\tf", "'\"`", "\0", "ü🦀", " \u{1a} "];
    let row = |id: i64| {
        let text = if id % 11 == 0 { Value::Null } else { Value::from(format!("{}{id}{0}", odd[id as usize % 10])) };
        vec![
            Value::Int(id),
            text,
            Value::Int(-id),
            if id % 7 == 0 { Value::Null } else { Value::Float(id as f64 / 3.0) },
        ]
    };
    (0..count).map(row).collect()
}

#[test]
fn rows_load_the_same_by_file_and_by_inserts_and_wholly_or_not_at_all() {
    let Some(own) = own("rows load") else { return };
    let mut session = own.session(Protocol::Prepared, &[]);
    let columns = ["id", "text", "order", "f"];
    for table in ["by_file", "by_insert", "by_itself"] {
        let keys = "`id` BIGINT PRIMARY KEY, `text` TEXT, `order` BIGINT NOT NULL, f DOUBLE";
        session.script(&format!("CREATE TABLE {table} ({keys}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")).unwrap();
    }
    let rows = listed(20_000);
    let mut load = |table: &str, road: Option<Road>, rows: &[Vec<Value>]| {
        let mut rows = Listed(rows.to_vec().into_iter());
        match road {
            Some(road) => session.load_by(road, table, &columns, &mut rows),
            None => session.load(table, &columns, &mut rows),
        }
    };
    assert_eq!(load("by_file", Some(Road::File), &rows), Ok(20_000));
    assert_eq!(load("by_insert", Some(Road::Inserts(100_000)), &rows), Ok(20_000));
    assert_eq!(load("by_itself", None, &[]), Ok(0));
    // A double key, a value that must be there, a table that is not there: nothing is kept, and the session goes on.
    for road in [Road::File, Road::Inserts(1000)] {
        let mut double = rows.clone();
        double[19_999][0] = Value::Int(5);
        let failure = load("by_itself", Some(road), &double).unwrap_err();
        assert!(failure.kind == FailureKind::Refused && failure.text.contains("1062"), "{failure}");
        let mut missing = rows.clone();
        missing[3][2] = Value::Null;
        let failure = load("by_itself", Some(road), &missing).unwrap_err();
        assert!(failure.kind == FailureKind::Refused && failure.text.contains("order"), "{failure}");
        let failure = load("no_such_table", Some(road), &rows).unwrap_err();
        assert!(failure.text.contains("1146"), "{failure}");
    }
    let count =
        |session: &mut MariadbSession, table: &str| session.query(&format!("SELECT COUNT(*) FROM {table}")).unwrap();
    assert_eq!(count(&mut session, "by_itself"), [[Value::Int(0)]]);
    let same = "SELECT COUNT(*) FROM by_file a JOIN by_insert b USING (id)
                WHERE a.text <=> b.text AND a.`order` = b.`order` AND a.f <=> b.f AND BINARY COALESCE(a.text, '') = BINARY COALESCE(b.text, '')";
    assert_eq!(session.query(same).unwrap(), [[Value::Int(20_000)]]);
    let back = session.query("SELECT id, text, `order`, f FROM by_file ORDER BY id LIMIT 100").unwrap();
    assert_eq!(back, rows[..100]);
    assert_eq!(load::road(session.connection()).unwrap(), Road::File);
    session.script("SET GLOBAL local_infile = 0").unwrap();
    assert_eq!(load::road(session.connection()).unwrap(), Road::Inserts(1 << 20));
}

#[test]
fn the_victim_of_a_deadlock_may_try_again_and_keeps_nothing() {
    let Some(own) = own("the victim of a deadlock") else { return };
    let update = "UPDATE t SET v = v + 1 WHERE id = $1";
    let session = || own.session(Protocol::Prepared, &[update]);
    session().script("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 0), (2, 0)").unwrap();
    let barrier = std::sync::Barrier::new(2);
    let work = |first: i64, second: i64| {
        let mut session = session();
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        batch.begin(true);
        batch.call(0, [Value::Int(first)]);
        session.run(&batch, &mut answers).unwrap();
        barrier.wait();
        batch.clear();
        batch.call(0, [Value::Int(second)]);
        batch.commit();
        let outcome = session.run(&batch, &mut answers).map_err(|failure| (failure.kind, failure.retryable()));
        // The session is ready for the next transaction either way.
        session.query("SELECT 1").unwrap();
        outcome
    };
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| work(1, 2));
        let other = scope.spawn(|| work(2, 1));
        (one.join().unwrap(), other.join().unwrap())
    });
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    assert_eq!(one.and(other), Err((FailureKind::Deadlock, true)));
    assert_eq!(session().query("SELECT SUM(v) FROM t").unwrap(), [[Value::Int(2)]]);
    // A lock that is waited for too long is one as well.
    let (mut holder, mut waiter) = (session(), session());
    holder.script("BEGIN; UPDATE t SET v = 9 WHERE id = 1").unwrap();
    waiter.script("SET innodb_lock_wait_timeout = 1").unwrap();
    assert_eq!(waiter.script("UPDATE t SET v = 8 WHERE id = 1").unwrap_err().kind, FailureKind::Deadlock);
}

#[test]
fn a_refused_statement_undoes_its_transaction_and_a_killed_session_is_lost() {
    let Some(own) = own("a killed session") else { return };
    let mut session = own.session(Protocol::Prepared, &["INSERT INTO t VALUES ($1)", "SELECT COUNT(*) FROM t"]);
    session.script("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    batch.begin(true);
    batch.call(0, [Value::Int(1)]);
    batch.call(0, [Value::Int(1)]);
    batch.commit();
    let failure = session.run(&batch, &mut answers).unwrap_err();
    assert_eq!((failure.kind, answers.len()), (FailureKind::Refused, 2));
    assert_eq!(ask(&mut session, 1, &[]).get(0).int(0, 0), 0);
    let mut other = own.session(Protocol::Prepared, &[]);
    other.script(&format!("KILL {}", session.number())).unwrap();
    answers.clear();
    assert_eq!(session.run(&batch, &mut answers).unwrap_err().kind, FailureKind::Lost);
    assert_eq!(session.query("SELECT 1").unwrap_err().kind, FailureKind::Lost);
}

#[test]
fn who_may_not_come_in_hears_why_and_no_password_is_repeated() {
    let Some(own) = own("who may not come in") else { return };
    own.session(Protocol::Prepared, &[])
        .script(
            "CREATE USER 'clerk'@'%' IDENTIFIED BY 's3cret'; GRANT SELECT ON test.* TO 'clerk'@'%';
             CREATE DATABASE other; CREATE TABLE t (id INT)",
        )
        .unwrap();
    let socket = own.place().socket.unwrap();
    let open = |who: &str, database: &str| {
        let place = Place::read(&format!("mariadb://{who}@/{database}?socket={socket}")).unwrap();
        MariadbSession::open(&place, &Texts::none(Engine::Mariadb), &Sessions::default())
    };
    let mut clerk = open("clerk:s3cret", "test").unwrap_or_else(|error| panic!("{error}"));
    assert!(clerk.script("INSERT INTO t VALUES (1)").unwrap_err().text.contains("denied"));
    let refused = |who: &str, database: &str| match open(who, database) {
        Ok(_) => panic!("{who} came in"),
        Err(error) => error,
    };
    let wrong = refused("clerk:wr0ng", "test");
    assert!(matches!(wrong, DatabaseError::Password { .. }), "{wrong}");
    assert!(!wrong.to_string().contains("wr0ng") && wrong.to_string().contains("clerk"), "{wrong}");
    assert!(matches!(refused("clerk:s3cret", "other"), DatabaseError::Privilege { .. }));
    let missing = refused("root", "nowhere").to_string();
    assert!(missing.contains("nowhere") && missing.contains("1049"), "{missing}");
    let nobody = Place::read("mysql://me:s3cret@127.0.0.1:1/d").unwrap();
    let nobody = MariadbSession::open(&nobody, &Texts::none(Engine::Mariadb), &Sessions::default()).err().unwrap();
    assert!(matches!(nobody, DatabaseError::Refused { .. }) && !nobody.to_string().contains("s3cret"), "{nobody}");
}

#[test]
fn counters_count_what_was_done() {
    let Some(own) = own("counters") else { return };
    let spec = DatabaseSpec { engine: Engine::Mariadb, at: At::Local };
    let database = super::open(&spec, &own.options()).unwrap();
    let count = |name: &str| {
        let found = database.counters().into_iter().find(|(counter, _)| counter == name);
        found.unwrap_or_else(|| panic!("no counter {name}")).1
    };
    let before = ["commits", "rollbacks", "log bytes", "buffer requests"].map(count);
    let mut session = own.session(Protocol::Prepared, &["INSERT INTO c VALUES ($1)"]);
    session.script("CREATE TABLE c (id INT PRIMARY KEY)").unwrap();
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    for id in 0..20 {
        batch.clear();
        batch.begin(true);
        batch.call(0, [Value::Int(id)]);
        if id % 4 == 0 {
            batch.rollback()
        } else {
            batch.commit()
        }
        session.run(&batch, &mut answers).unwrap();
    }
    let after = ["commits", "rollbacks", "log bytes", "buffer requests"].map(count);
    assert_eq!((after[0] - before[0], after[1] - before[1]), (15.0, 5.0));
    assert!(after[2] > before[2] && after[3] > before[3], "{before:?} {after:?}");
    assert!(counters(&mut session).unwrap().iter().all(|(_, value)| *value >= 0.0));
    database.checkpoint().unwrap();
    assert_eq!(count("pages dirty now"), 0.0);
    assert!(
        database.facts().settings.iter().any(|(name, value)| name == "innodb_buffer_pool_size" && value == "134217728")
    );
}

#[test]
fn a_server_survives_its_kill_takes_new_settings_and_gives_a_copy_back() {
    let Some(own) = own("a server survives") else { return };
    let mut session = own.session(Protocol::Prepared, &[]);
    session.script("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2)").unwrap();
    let first = own.server.pid().unwrap();
    own.server.up(&[]).unwrap();
    assert_eq!(own.server.pid(), Some(first), "the same settings leave it running");
    own.server.kill().unwrap();
    assert_eq!(own.server.pid(), None);
    assert_eq!(session.query("SELECT 1").unwrap_err().kind, FailureKind::Lost);
    // Started again after the crash, with another setting: acknowledged rows are there.
    let buffer = |bytes: &str| [("innodb_buffer_pool_size".to_owned(), bytes.to_owned())];
    own.server.up(&buffer("64M")).unwrap();
    let mut session = own.session(Protocol::Prepared, &[]);
    assert_eq!(
        session.query("SELECT @@innodb_buffer_pool_size, COUNT(*) FROM t").unwrap(),
        [[Value::Int(64 << 20), Value::Int(2)]]
    );
    drop(session);
    assert!(matches!(own.server.restore(), Err(DatabaseError::NoRestore { .. })));
    own.server.keep_copy().unwrap();
    own.session(Protocol::Prepared, &[])
        .script("DELETE FROM t WHERE id = 1; DROP TABLE IF EXISTS u; CREATE TABLE u (id INT)")
        .unwrap();
    own.server.restore().unwrap();
    let tables = own
        .session(Protocol::Prepared, &[])
        .query("SELECT COUNT(*), (SELECT COUNT(*) FROM t) FROM information_schema.tables WHERE table_schema = 'test'");
    assert_eq!(tables.unwrap(), [[Value::Int(1), Value::Int(2)]]);
    for (key, value) in
        [("datadir", "/tmp"), ("no_such_setting", "1"), ("innodb bad", "1"), ("innodb_io_capacity", "1\n[client]")]
    {
        let error = own.server.up(&[(key.to_owned(), value.to_owned())]).unwrap_err();
        assert!(matches!(error, DatabaseError::Setting { .. }), "{key}: {error}");
    }
    own.server.up(&buffer("64M")).unwrap();
    own.server.down().unwrap();
    assert_eq!(own.server.pid(), None);
    let known = Server::known(own.cache.path(), &Arc::new(AtomicBool::new(false))).unwrap();
    assert_eq!(known.len(), 1);
    known[0].remove().unwrap();
    assert!(!known[0].folder().exists());
}
