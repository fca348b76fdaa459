//! The workload on a real database in memory.

mod lists;

use super::business::Acknowledged;
use super::data_set::{TABLE, data_set};
use super::statements::{samples, statements};
use super::*;
use crate::kind::{Ready, Share, Told, Transactions};
use crate::transaction::{Answers, Batch, Begun, Business, Call, Ending, Step, Value};
use rusqlite::Connection;
use rusqlite::types::Value as Field;
use units::Nanos;

const MIXES: [Mix; 7] = [Mix::A, Mix::B, Mix::C, Mix::D, Mix::E, Mix::F, Mix::Counters];

fn spec(mix: Mix) -> Spec {
    Spec { mix, keys: mix.distribution(), rows: 500, fields: 3, field_bytes: 20, scan: 10 }
}

fn share(slots: u32) -> Share {
    Share { worker: 0, workers: 1, first: 0, slots, seed: 5, epoch: 500, half: None }
}

fn field(value: &Value) -> Field {
    match value {
        Value::Null => Field::Null,
        Value::Int(number) => Field::Integer(*number),
        Value::Float(number) => Field::Real(*number),
        Value::Text(text) => Field::Text(text.clone()),
    }
}

fn filled(spec: &Spec) -> Connection {
    let db = Connection::open_in_memory().unwrap();
    let set = data_set(spec);
    for table in set.tables() {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        db.execute_batch(&format!("create table {} ({}, primary key (id))", table.name, columns.join(", "))).unwrap();
        let insert = format!("insert into {} values ({})", table.name, vec!["?"; columns.len()].join(", "));
        for part in 0..3 {
            let (mut rows, mut row) = (set.part(&table, part, 3), Vec::new());
            while rows.next(&mut row) {
                db.execute(&insert, rusqlite::params_from_iter(row.iter().map(field))).unwrap();
            }
        }
    }
    db
}

fn number(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Carries an operation out; rows that came back, and how it ended.
fn one(db: &Connection, spec: &Spec, business: &mut KeyValue, n: u64) -> (usize, Step) {
    let texts = statements(spec);
    business.begin(0, Begun { n, payload: 0, at: Nanos(0) });
    let (mut answers, mut batch, mut rows) = (Answers::default(), Batch::default(), 0);
    let last = loop {
        let step = business.step(0, &answers, &mut batch);
        if step != Step::Send {
            break step;
        }
        answers.clear();
        for call in batch.calls() {
            answers.begin(1);
            match call {
                Call::Begin { .. } => db.execute_batch("begin").unwrap(),
                Call::Commit => db.execute_batch("commit").unwrap(),
                Call::Rollback => panic!("nothing is rolled back"),
                Call::Statement { statement, parameters } => {
                    let text = &texts[usize::from(statement)];
                    let sql = text.sql.strip_suffix(" for update").unwrap_or(&text.sql).replace('$', "?");
                    let mut prepared = db.prepare_cached(&sql).unwrap();
                    let mut found = prepared.query(rusqlite::params_from_iter(parameters.iter().map(field))).unwrap();
                    while let Some(row) = found.next().unwrap() {
                        assert!(text.rows, "{}", text.name);
                        // The number of changes, where that was asked for.
                        answers.push(Value::Int(row.get(0).unwrap_or(1)));
                        rows += 1;
                    }
                }
            }
            answers.end(db.changes());
        }
        batch.clear();
    };
    let ending = if last == Step::Fail { Ending::Failed } else { Ending::Done };
    business.ended(0, ending, Nanos(0), &mut Vec::new());
    (rows, last)
}

#[test]
fn each_mix_does_what_its_letter_says_and_what_was_acknowledged_is_there() {
    for mix in MIXES {
        let spec = spec(mix);
        let (db, mut business) = (filled(&spec), KeyValue::new(spec, &share(1)));
        assert_eq!(number(&db, &format!("select count(*) from {TABLE}")), 500);
        let mut counts = vec![0u32; mix.parts().len()];
        for n in 0..2_000 {
            let class = usize::from(business.class(n, 0));
            counts[class] += 1;
            let (rows, last) = one(&db, &spec, &mut business, n);
            assert_eq!(last, Step::Done { rolled_back: false });
            match mix.parts()[class].0.word() {
                "scan" => assert!((1..=10).contains(&rows), "{rows}"),
                "read" | "read-modify-write" | "read-and-count" => assert_eq!(rows, 1),
                _ => assert_eq!(rows, 0),
            }
        }
        for ((class, percent), count) in mix.parts().iter().zip(&counts) {
            let planned = *percent as f64 * 20.0;
            assert!((f64::from(*count) - planned).abs() <= 5.0 * planned.sqrt(), "{mix:?} {class:?}: {counts:?}");
        }
        let told = business.acknowledged();
        assert_eq!(number(&db, &format!("select sum(changes) from {TABLE}")), told.changes.done as i64);
        assert_eq!(number(&db, &format!("select count(*) from {TABLE} where id > 500")), told.inserts.done as i64);
    }
}

#[test]
fn an_operation_on_a_record_that_is_gone_fails_and_says_which() {
    for mix in [Mix::A, Mix::C, Mix::E, Mix::F, Mix::Counters] {
        let spec = spec(mix);
        let (db, mut business) = (filled(&spec), KeyValue::new(spec, &share(1)));
        db.execute_batch(&format!("delete from {TABLE}")).unwrap();
        let n = (0..100).find(|n| mix.parts()[usize::from(business.class(*n, 0))].0.word() != "insert").unwrap();
        assert_eq!(one(&db, &spec, &mut business, n), (0, Step::Fail), "{mix:?}");
        assert!(business.complaint(0).unwrap().ends_with(" is not there"));
        assert_eq!(business.acknowledged(), Acknowledged::default());
    }
}

#[test]
fn a_count_that_two_read_before_either_wrote_is_lost_and_the_tally_finds_it() {
    let spec = Spec { rows: 1, ..spec(Mix::Counters) };
    let (db, texts) = (filled(&spec), statements(&spec));
    let mut both = [0, 1].map(|worker| KeyValue::new(spec, &Share { worker, workers: 2, ..share(1) }));
    let n = (0..100).find(|n| both[0].class(*n, 0) == 2).expect("a count");
    let mut answers = Answers::default();
    for reads in [true, false] {
        for business in &mut both {
            let mut batch = Batch::default();
            if reads {
                business.begin(0, Begun { n, payload: 0, at: Nanos(0) });
            }
            assert_eq!(business.step(0, &answers, &mut batch), Step::Send);
            let calls = batch.calls().filter_map(|call| match call {
                Call::Statement { statement, parameters } => Some((statement, parameters.to_vec())),
                _ => None,
            });
            for (statement, parameters) in calls.collect::<Vec<_>>() {
                let sql = texts[usize::from(statement)].sql.replace(" for update", "").replace('$', "?");
                if !reads {
                    db.execute(&sql, rusqlite::params_from_iter(parameters.iter().map(field))).unwrap();
                    business.ended(0, Ending::Done, Nanos(0), &mut Vec::new());
                }
            }
        }
        answers.begin(1);
        answers.push(Value::Int(0));
        answers.end(0);
    }
    let told: u64 = both.iter().map(|business| business.acknowledged().changes.done).sum();
    assert_eq!((told, number(&db, "select sum(changes) from record")), (2, 1));
    let [told, kept] =
        [2, 1].map(|done| Acknowledged { changes: Told { done, unknown: 0 }, ..Acknowledged::default() });
    assert!(workload::verdict(&told, 1, 0).damaged && !workload::verdict(&kept, 1, 0).damaged);
}

#[test]
fn sessions_of_either_server_draw_keys_that_those_of_the_other_never_draw() {
    for rows in [2, 5, 500] {
        let spec = Spec { rows, ..spec(Mix::A) };
        let drawn = |half| -> std::collections::BTreeSet<i64> {
            let mut business = KeyValue::new(spec, &Share { half, ..share(1) });
            let mut key = |n| {
                business.begin(0, Begun { n, payload: 0, at: Nanos(0) });
                let mut batch = Batch::default();
                business.step(0, &Answers::default(), &mut batch);
                match batch.get(0) {
                    Call::Statement { parameters, .. } => parameters.last().and_then(Value::int).expect("a key"),
                    call => panic!("{call:?}"),
                }
            };
            (0..2_000).map(&mut key).collect()
        };
        let [all, even, odd] = [None, Some(0), Some(1)].map(drawn);
        assert!(even.is_disjoint(&odd) && even.iter().all(|key| key % 2 == 0), "{even:?} {odd:?}");
        for keys in [&all, &even, &odd] {
            assert!(keys.iter().all(|key| (1..=rows as i64).contains(key)), "{keys:?}");
        }
        assert!(even.len() + odd.len() > all.len() / 2, "{even:?} {odd:?}");
    }
}

#[test]
fn the_records_of_a_fill_hold_what_is_said_of_them_and_tampered_ones_do_not() {
    let spec = spec(Mix::A);
    let broken = |tampering: &str| {
        let db = filled(&spec);
        db.execute_batch(tampering).unwrap();
        let names = data_set(&spec).invariants().into_iter();
        let broken = names.filter(|invariant| db.prepare(&invariant.sql).unwrap().exists([]).unwrap());
        broken.map(|invariant| invariant.name).collect::<Vec<_>>()
    };
    assert_eq!(broken(""), [""; 0]);
    assert_eq!(broken("insert into record select id + 1000, changes, field0, field1, field2 from record"), [""; 0]);
    assert_eq!(broken("delete from record where id = 7"), ["records"]);
    assert_eq!(broken("update record set changes = -5 where id = 7"), ["changes"]);
    assert_eq!(broken("update record set field1 = 'x' where id = 500"), ["fields"]);
}

#[test]
fn an_operation_that_is_tried_again_says_the_same_and_counts_once() {
    let spec = spec(Mix::F);
    let mut business = KeyValue::new(spec, &share(1));
    let n = (0..100).find(|n| business.class(*n, 0) == 1).unwrap();
    business.begin(0, Begun { n, payload: 0, at: Nanos(0) });
    let (answers, mut first, mut second) = (Answers::default(), Batch::default(), Batch::default());
    business.step(0, &answers, &mut first);
    business.restart(0);
    business.step(0, &answers, &mut second);
    assert_eq!(first, second);
    assert_eq!(business.acknowledged().changes.unknown, 1, "it is under way");
    business.ended(0, Ending::Failed, Nanos(0), &mut Vec::new());
    assert_eq!(business.acknowledged(), Acknowledged::default());
}

#[test]
fn classes_are_planned_and_every_statement_has_its_sample() {
    for mix in MIXES {
        let spec = spec(mix);
        let total: f64 = spec.classes().iter().filter_map(|class| class.share).sum();
        assert!((total - 1.0).abs() < 1e-9);
        let list = Ready::statements(&spec, None);
        assert_eq!(list.len(), samples(&spec).len());
        assert!(list.iter().zip(samples(&spec)).all(|(statement, sample)| statement.rows == sample.is_some()));
    }
}
