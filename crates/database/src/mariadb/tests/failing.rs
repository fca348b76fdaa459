//! What goes wrong in a session, and what keeps one from opening.

use super::super::{MariadbSession, Place};
use super::{ask, own};
use crate::{DatabaseError, FailureKind, Session, Texts};
use study::{Engine, Protocol, Sessions};
use workload::transaction::{Answers, Batch, Value};

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
fn a_row_that_changed_under_a_snapshot_is_a_conflict_that_may_be_tried_again() {
    let Some(own) = own("a row that changed under a snapshot") else { return };
    let session = || own.session(Protocol::Prepared, &["UPDATE t SET v = v + 1 WHERE id = $1"]);
    let (mut reader, mut writer) = (session(), session());
    // Servers before 10.6.18 and 10.11.8 do not know it, nor does MySQL.
    if reader.script("SET innodb_snapshot_isolation = ON").is_err() {
        return crate::tests::skip::skipped("this server knows no innodb_snapshot_isolation");
    }
    writer.script("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 0)").unwrap();
    reader.script("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN").unwrap();
    reader.query("SELECT v FROM t").unwrap();
    writer.script("UPDATE t SET v = 7").unwrap();
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    batch.call(0, [Value::Int(1)]);
    batch.commit();
    let failure = reader.run(&batch, &mut answers).unwrap_err();
    assert!(failure.text.contains("1020"), "{failure}");
    assert_eq!((failure.kind, failure.retryable()), (FailureKind::Serialization, true));
    // Nothing of it is left open: the second attempt sees what the other wrote.
    answers.clear();
    batch.clear();
    batch.begin(true);
    batch.call(0, [Value::Int(1)]);
    batch.commit();
    reader.run(&batch, &mut answers).unwrap();
    assert_eq!(writer.query("SELECT v FROM t").unwrap(), [[Value::Int(8)]]);
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
    other.script(&format!("KILL {}", session.inside.number)).unwrap();
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
