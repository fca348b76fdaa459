//! The private server, its counters and checkpoints.

use super::super::counters;
use super::own;
use crate::server::Private;
use crate::server::mariadb::Server;
use crate::{DatabaseError, FailureKind, Session};
use observation::Counter;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{At, DatabaseSpec, Engine, Protocol};
use workload::transaction::{Answers, Batch, Value};

#[test]
fn counters_count_what_was_done() {
    let Some(own) = own("counters") else { return };
    let spec = DatabaseSpec::new(Engine::Mariadb, At::Local);
    let database = crate::open(&spec, &own.options()).unwrap();
    let count = |wanted: Counter| {
        let found = database.counters().into_iter().find(|(counter, _)| *counter == wanted);
        found.unwrap_or_else(|| panic!("no counter {wanted:?}")).1
    };
    let four = [Counter::Commits, Counter::Rollbacks, Counter::LogBytes, Counter::BufferRequests];
    let before = four.map(count);
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
    let after = four.map(count);
    assert_eq!((after[0] - before[0], after[1] - before[1]), (15.0, 5.0));
    assert!(after[2] > before[2] && after[3] > before[3], "{before:?} {after:?}");
    assert!(counters(&mut session, None).unwrap().iter().all(|(_, value)| *value >= 0.0));
    database.checkpoint().unwrap();
    assert_eq!(count(Counter::PagesDirty), 0.0);
    assert!(
        database.facts().settings.iter().any(|(name, value)| name == "innodb_buffer_pool_size" && value == "134217728")
    );
}

#[test]
fn waits_for_rows_of_other_databases_on_a_shared_server_are_not_counted_as_ours() {
    let Some(own) = own("shared waits") else { return };
    let mut asks = own.session(Protocol::Prepared, &[]);
    asks.script(
        "CREATE TABLE held (a INT); INSERT INTO held VALUES (1); CREATE USER blind@localhost; \
         GRANT ALL ON test.* TO blind@localhost",
    )
    .unwrap();
    let mut holds = own.session(Protocol::Prepared, &[]);
    holds.script("BEGIN; UPDATE held SET a = a + 1").unwrap();
    let mut waits = own.session(Protocol::Prepared, &[]);
    let waiting = std::thread::spawn(move || waits.script("UPDATE held SET a = a + 1").unwrap());
    // The table of transactions is made anew only for who has not read it for a tenth of a second.
    while counters(&mut asks, Some("test")).unwrap().last() != Some(&(Counter::LockWaits, 1.0)) {
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    let of = |session: &mut dyn Session, schema| {
        let counted = counters(session, schema).unwrap();
        [Counter::LockWaits, Counter::RowLockSeconds]
            .map(|wanted| counted.iter().find(|(found, _)| *found == wanted).map(|(_, value)| *value))
    };
    assert_eq!(of(&mut asks, Some("elsewhere")), [Some(0.0), None]);
    assert!(matches!(of(&mut asks, None), [None, Some(_)]), "on a server of our own its counter is exact");
    let place = crate::mariadb::Place { user: "blind".to_owned(), ..own.place() };
    let mut blind =
        super::MariadbSession::open(&place, &crate::Texts::none(Engine::Mariadb), &study::Sessions::default()).unwrap();
    assert_eq!(of(&mut blind, Some("test")), [None, None], "who may not see waits knows of none");
    holds.script("COMMIT").unwrap();
    waiting.join().unwrap();
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
    assert!(matches!(own.server.restore("filled"), Err(DatabaseError::NoRestore { .. })));
    own.server.keep_copy("filled").unwrap();
    own.session(Protocol::Prepared, &[])
        .script("DELETE FROM t WHERE id = 1; DROP TABLE IF EXISTS u; CREATE TABLE u (id INT)")
        .unwrap();
    own.server.restore("filled").unwrap();
    let tables = own
        .session(Protocol::Prepared, &[])
        .query("SELECT COUNT(*), (SELECT COUNT(*) FROM t) FROM information_schema.tables WHERE table_schema = 'test'");
    assert_eq!(tables.unwrap(), [[Value::Int(1), Value::Int(2)]]);
    for (key, value) in [
        ("datadir", "/tmp"),
        ("no_such_setting", "1"),
        ("innodb bad", "1"),
        ("innodb_io_capacity", "1\n[client]"),
        ("innodb_io_capacity", "abc"),
    ] {
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
