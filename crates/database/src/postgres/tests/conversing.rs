//! Answers and failures, by every protocol, with and without pipelining.

use super::{how, plain, private, run, texts, ways};
use crate::postgres::{PostgresSession, counters};
use crate::{Failure, FailureKind, Session, Texts, Wire as _};
use observation::{Counted, Counter};
use std::sync::Arc;
use study::{Isolation, Protocol, Sessions};
use workload::transaction::{Answers, Batch, Value};

const LIST: &[&str] = &[
    "SELECT id, name, price, part, real, maybe FROM things WHERE id >= $1 ORDER BY id",
    "INSERT INTO things VALUES ($1, $2, $3, $4, $5, $6)",
    "UPDATE things SET name = $2 WHERE id < $1",
    "SELECT 1 / $1::int",
    "SELECT sum(id)::numeric(20,2), count(*), $1::text || 'x' FROM things -- to the end",
];

const TABLE: &str = "DROP TABLE IF EXISTS things; \
    CREATE TABLE things (id bigint PRIMARY KEY, name text, price numeric, part smallint, real float8, maybe bool)";

fn row(id: i64, name: &str) -> [Value; 6] {
    [id.into(), name.into(), Value::Text("1.50".into()), Value::Int(-3), Value::Float(0.25), Value::Null]
}

fn carried_out(session: &mut PostgresSession, fill: impl Fn(&mut Batch)) -> Result<Answers, Failure> {
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    fill(&mut batch);
    session.run(&batch, &mut answers).map(|()| answers)
}

#[test]
fn all_protocols_give_the_same_answers_with_and_without_pipelining() {
    let Some(private) = private("same") else { return };
    let mut seen: Vec<Vec<Answers>> = Vec::new();
    for how in ways() {
        run(&private.server.connect(), TABLE);
        let mut session = private.server.connect().open(Arc::new(texts(LIST)), &how).unwrap();
        let mut all = Vec::new();
        // Twice, so that prepared statements are used again.
        for round in 0..2i64 {
            let answers = carried_out(&mut session, |batch| {
                batch.begin(true);
                batch.call(1, row(round * 10, "o'dd \\ \u{1F980}\n"));
                batch.call(1, row(round * 10 + 1, ""));
                batch.call(2, [Value::Int(round * 10 + 1), "renamed".into()]);
                batch.call(0, [Value::Int(0)]);
                batch.commit();
                batch.call(4, ["'; DROP TABLE things; --".into()]);
                batch.call(0, [Value::Int(99)]);
            });
            all.push(answers.unwrap());
        }
        assert!(!session.wire.in_transaction());
        seen.push(all);
    }
    let first = &seen[0][1];
    assert_eq!((first.len(), first.get(4).row_count(), first.get(3).changed), (8, 4, 3));
    assert_eq!(first.get(4).field(0, 2), &Value::Text("1.50".into()));
    assert_eq!((first.get(4).int(1, 3), first.get(4).field(1, 4)), (-3, &Value::Float(0.25)));
    assert_eq!((first.get(4).field(3, 5), first.get(4).text(3, 1)), (&Value::Null, ""));
    assert_eq!((first.get(6).text(0, 0), first.get(6).int(0, 1)), ("22.00", 4));
    assert_eq!(first.get(7).row_count(), 0);
    for other in &seen[1..] {
        assert_eq!(other, &seen[0]);
    }
}

#[test]
fn a_failure_rolls_back_and_leaves_the_session_ready() {
    let Some(private) = private("fail") else { return };
    for how in ways() {
        run(&private.server.connect(), TABLE);
        let mut session = private.server.connect().open(Arc::new(texts(LIST)), &how).unwrap();
        let failure = carried_out(&mut session, |batch| {
            batch.begin(true);
            batch.call(1, row(1, "a"));
            batch.call(3, [Value::Int(0)]);
            batch.call(1, row(2, "b"));
            batch.commit();
        });
        let failure = failure.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Refused);
        assert!(failure.text.starts_with("test: SELECT 1 / $1::int: division by zero"), "{}", failure.text);
        // What comes behind a failure outside of a transaction is not carried out either.
        let failure = carried_out(&mut session, |batch| {
            batch.call(3, [Value::Int(0)]);
            batch.call(1, row(3, "c"));
        });
        assert!(failure.is_err());
        let zero = carried_out(&mut session, |batch| batch.call(1, row(4, "zero \0 byte"))).unwrap_err();
        assert_eq!(zero.kind, FailureKind::Refused);
        let answers = carried_out(&mut session, |batch| {
            batch.call(3, [Value::Int(1)]);
            batch.call(0, [Value::Int(0)]);
        });
        let answers = answers.unwrap();
        assert_eq!((answers.get(0).int(0, 0), answers.get(1).row_count()), (1, 0), "{how:?}");
    }
}

#[test]
fn a_transaction_may_span_batches_and_a_failure_still_undoes_all_of_it() {
    let Some(private) = private("span") else { return };
    for how in ways() {
        run(&private.server.connect(), TABLE);
        let mut session = private.server.connect().open(Arc::new(texts(LIST)), &how).unwrap();
        carried_out(&mut session, |batch| batch.begin(true)).unwrap();
        carried_out(&mut session, |batch| batch.call(1, row(1, "a"))).unwrap();
        assert!(session.wire.in_transaction());
        assert!(carried_out(&mut session, |batch| batch.call(1, row(1, "again"))).is_err());
        assert!(!session.wire.in_transaction());
        let answers = carried_out(&mut session, |batch| batch.call(0, [Value::Int(0)])).unwrap();
        assert_eq!(answers.get(0).row_count(), 0);
    }
}

#[test]
fn conflicts_and_deadlocks_may_be_tried_again_and_a_lost_connection_is_lost() {
    let Some(private) = private("kinds") else { return };
    run(&private.server.connect(), TABLE);
    let quick = "ALTER SYSTEM SET deadlock_timeout = '20ms'";
    for sql in ["INSERT INTO things (id) VALUES (1), (2)", quick, "SELECT pg_reload_conf()"] {
        run(&private.server.connect(), sql);
    }
    let list = texts(&["UPDATE things SET part = 1 WHERE id = $1", "SELECT count(*) FROM things WHERE id > $1"]);
    let open = |isolation| {
        let how = Sessions { isolation, ..Sessions::default() };
        private.server.connect().open(Arc::new(list.clone()), &how).unwrap()
    };
    let (mut a, mut b) = (open(Isolation::RepeatableRead), open(Isolation::Default));
    carried_out(&mut a, |batch| (batch.begin(true), batch.call(1, [Value::Int(0)])).0).unwrap();
    carried_out(&mut b, |batch| batch.call(0, [Value::Int(1)])).unwrap();
    let conflict = carried_out(&mut a, |batch| batch.call(0, [Value::Int(1)])).unwrap_err();
    assert_eq!(conflict.kind, FailureKind::Serialization, "{conflict}");

    let mut c = open(Isolation::Default);
    for (session, id) in [(&mut b, 1), (&mut c, 2)] {
        carried_out(session, |batch| (batch.begin(true), batch.call(0, [Value::Int(id)])).0).unwrap();
    }
    let ends = std::thread::scope(|scope| {
        let b = scope.spawn(|| carried_out(&mut b, |batch| (batch.call(0, [Value::Int(2)]), batch.commit()).0));
        let c = carried_out(&mut c, |batch| (batch.call(0, [Value::Int(1)]), batch.commit()).0);
        [b.join().unwrap(), c]
    });
    let failures: Vec<FailureKind> = ends.into_iter().filter_map(Result::err).map(|failure| failure.kind).collect();
    assert_eq!(failures, [FailureKind::Deadlock]);

    let mut ending = plain(&private.server.connect());
    ending.script(&format!("SELECT pg_terminate_backend({})", c.number)).unwrap();
    let lost = carried_out(&mut c, |batch| batch.call(0, [Value::Int(1)])).unwrap_err();
    assert_eq!(lost.kind, FailureKind::Lost);
    assert!(lost.text.contains("57P01"), "{lost}");
}

#[test]
fn answers_name_their_columns_when_asked() {
    let Some(private) = private("names") else { return };
    for how in ways() {
        let list =
            texts(&["SELECT 1 AS one, 'x'::text AS two", "SELECT 2 AS three"]).naming(|statement| statement == 0);
        let mut session = private.server.connect().open(Arc::new(list), &how).unwrap();
        for _ in 0..2 {
            let answers = carried_out(&mut session, |batch| (batch.call(0, []), batch.call(1, [])).0).unwrap();
            assert_eq!(answers.names(0).map(|names| names.to_vec()), Some(vec!["one".to_owned(), "two".to_owned()]));
            assert_eq!(answers.names(1), None);
        }
    }
}

#[test]
fn a_users_own_script_may_hold_a_table_in_a_variable_by_the_simple_protocol() {
    let Some(private) = private("splice") else { return };
    let mut list = texts(&["SELECT count(*) FROM $1 WHERE relname <> '$2'"]);
    list.spliced = true;
    let mut session = private.server.connect().open(Arc::new(list), &how(Protocol::Simple, false)).unwrap();
    let answers = carried_out(&mut session, |batch| batch.call(0, ["pg_class".into(), "x".into()])).unwrap();
    assert!(answers.get(0).int(0, 0) > 100);
}

#[test]
fn a_copy_that_a_statement_asks_for_is_refused_and_not_waited_for() {
    let Some(private) = private("nocopy") else { return };
    run(&private.server.connect(), TABLE);
    for how in ways() {
        let list = texts(&["COPY things FROM STDIN", "SELECT 7"]);
        let mut session = private.server.connect().open(Arc::new(list), &how).unwrap();
        let refused = carried_out(&mut session, |batch| batch.call(0, [])).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Refused, "{refused}");
        assert_eq!(carried_out(&mut session, |batch| batch.call(1, [])).unwrap().get(0).int(0, 0), 7);
    }
}

#[test]
fn scripts_queries_counters_and_checkpoints_work() {
    let Some(private) = private("admin") else { return };
    let mut session = plain(&private.server.connect());
    session.script("CREATE TABLE a (b int); INSERT INTO a SELECT generate_series(1, 5); -- done").unwrap();
    assert_eq!(session.query("SELECT sum(b), max(b) FROM a").unwrap(), [[Value::Int(15), Value::Int(5)]]);
    assert_eq!(session.script("SELECT 1; SELEKT").unwrap_err().kind, FailureKind::Refused);
    let before = counters(&mut session).unwrap();
    session.script("CHECKPOINT").unwrap();
    let after = counters(&mut session).unwrap();
    let value = |list: &Counted, counter| list.iter().find(|(found, _)| *found == counter).unwrap().1;
    assert!(value(&after, Counter::LogBytes) > 0.0);
    assert!(value(&after, Counter::Commits) >= value(&before, Counter::Commits));
    assert_eq!(value(&after, Counter::LockWaits), 0.0);
    assert_eq!(session.query("SHOW track_wal_io_timing").unwrap(), [[Value::Text("on".into())]]);
    for counter in [Counter::LogRecords, Counter::CheckpointsRequested, Counter::LogSyncSeconds] {
        assert!(after.iter().any(|(found, _)| *found == counter), "{counter:?}");
    }
}

#[test]
fn who_waits_for_a_lock_is_counted_where_it_is_one_of_our_own_sessions() {
    let Some(private) = private("waits") else { return };
    let connect = private.server.connect();
    run(&connect, "CREATE TABLE held (a int); INSERT INTO held VALUES (1)");
    let update = "UPDATE held SET a = a + 1";
    let (mut holds, mut asks) = (plain(&connect), plain(&connect));
    let mut waiting = |who: &str| {
        holds.script(&format!("BEGIN; {update}")).unwrap();
        let (connect, who) = (connect.clone(), format!("SET application_name = '{who}'; {update}"));
        let waits = std::thread::spawn(move || plain(&connect).script(&who).unwrap());
        let locked = "SELECT count(*) FROM pg_locks WHERE NOT granted";
        while asks.query(locked).unwrap() != [[Value::Int(1)]] {
            std::thread::yield_now();
        }
        let counted = counters(&mut asks).unwrap();
        holds.script("COMMIT").unwrap();
        waits.join().unwrap();
        counted.into_iter().find(|(found, _)| *found == Counter::LockWaits).unwrap().1
    };
    assert_eq!((waiting("prony"), waiting("another")), (1.0, 0.0));
}

#[test]
fn a_long_batch_whose_answers_are_long_too_does_not_stand_still() {
    let Some(private) = private("long") else { return };
    for how in ways() {
        let list: Texts = texts(&["SELECT repeat($1, 20)"]);
        let mut session = private.server.connect().open(Arc::new(list), &how).unwrap();
        let text = "x".repeat(2000);
        let answers = carried_out(&mut session, |batch| {
            batch.begin(false);
            (0..300).for_each(|_| batch.call(0, [text.as_str().into()]));
            batch.commit();
        });
        let answers = answers.unwrap();
        assert_eq!((answers.len(), answers.get(300).text(0, 0).len()), (302, 40_000));
    }
}
