//! Batch jobs on a real database in memory.

use super::*;
use crate::dataset::{Contents, Type};
use crate::transaction::{Answers, Batch, Begun, Business, Call, Ending, Step, Value};
use rusqlite::Connection;
use units::Nanos;

fn spec(mode: Mode) -> Spec {
    Spec { jobs: 2, rows_per_job: 1_000, row_bytes: 64, commit_every: 1, mode }
}

fn filled(spec: &Spec) -> Connection {
    let db = Connection::open_in_memory().unwrap();
    for table in Contents::tables(spec) {
        let kind = |kind| if kind == Type::Int { "integer" } else { "text" };
        let columns: Vec<String> =
            table.columns.iter().map(|column| format!("{} {} not null", column.name, kind(column.kind))).collect();
        let (name, columns, key) = (&table.name, columns.join(", "), table.key.join(", "));
        db.execute_batch(&format!("create table {name} ({columns}, primary key ({key}))")).unwrap();
        for part in 0..3 {
            let (mut rows, mut row) = (spec.part(&table.name, part, 3), Vec::new());
            while rows.next(&mut row) {
                let Value::Text(filler) = &row[2] else { panic!("{row:?}") };
                assert_eq!(filler.len(), 48);
                let values = (row[0].int(), row[1].int(), filler);
                db.execute(&format!("insert into {name} values (?, ?, ?)"), values).unwrap();
            }
        }
    }
    db
}

/// One arrival; `fails` ends it with a rollback before its commit.
fn arrival(db: &Connection, spec: &Spec, rows: &mut Rows, slot: u32, fails: bool) -> usize {
    let texts = statements(spec);
    rows.begin(slot, Begun { n: 0, payload: 0, at: Nanos(0) });
    let (mut answers, mut batch, mut steps) = (Answers::default(), Batch::default(), 0);
    while rows.step(slot, &answers, &mut batch) == Step::Send {
        steps += 1;
        answers.clear();
        for call in batch.calls() {
            answers.begin(2);
            match call {
                Call::Begin { .. } => db.execute_batch("begin").unwrap(),
                Call::Commit if fails => db.execute_batch("rollback").unwrap(),
                Call::Commit => db.execute_batch("commit").unwrap(),
                Call::Rollback => panic!("batch jobs never roll back"),
                Call::Statement { statement, parameters } => {
                    let text = &texts[usize::from(statement)];
                    let sql = text.sql.strip_suffix(" for update").unwrap_or(&text.sql).replace('$', "?");
                    let mut prepared = db.prepare_cached(&sql).unwrap();
                    let parameters = rusqlite::params_from_iter(parameters.iter().map(|value| value.int().unwrap()));
                    if text.rows {
                        let counter: i64 = prepared.query_row(parameters, |row| row.get(0)).unwrap();
                        answers.push(Value::Int(counter));
                        answers.push(Value::Null);
                    } else {
                        prepared.execute(parameters).unwrap();
                    }
                }
            }
            answers.end(0);
        }
        batch.clear();
    }
    let ending = if fails { Ending::Failed } else { Ending::Done };
    rows.ended(slot, ending, Nanos(0), &mut Vec::new());
    steps
}

fn number(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn updates_go_round_and_round_and_the_counters_add_up_to_what_was_committed() {
    for (read_first, commit_every) in [(false, 1), (true, 1), (true, 7)] {
        let spec = Spec { commit_every, ..spec(Mode::Update { read_first }) };
        let db = filled(&spec);
        let mut rows = Rows::new(spec, 0, 2);
        for n in 0..1_500 {
            let steps = arrival(&db, &spec, &mut rows, 1, n % 100 == 0);
            assert_eq!(steps as u32, commit_every + 1);
        }
        let tally = rows.tallies()[1];
        assert_eq!((tally.job, tally.done), (1, 1_485 * u64::from(commit_every)));
        assert!(tally.agrees(0, number(&db, &tally_statement(&spec, 1))));
        assert!(!tally.agrees(1, number(&db, &tally_statement(&spec, 1))), "one update less is seen");
        assert_eq!(number(&db, "select sum(counter) from batch_0"), 0);
        let span = "select max(counter) - min(counter) from batch_1";
        assert!(number(&db, span) <= 2 * i64::from(commit_every));
    }
}

#[test]
fn copies_hold_each_row_once_a_round_and_blocks_end_with_the_table() {
    let spec = spec(Mode::Copy { block_bytes: 8 * 1024 });
    assert_eq!((spec.rows_per_arrival(), classes(&spec)), (128, vec!["copy"]));
    let db = filled(&spec);
    let mut rows = Rows::new(spec, 0, 1);
    (0..12).for_each(|_| assert_eq!(arrival(&db, &spec, &mut rows, 0, false), 1));
    // Eight blocks make the first round, the last of them with 104 rows.
    assert_eq!(rows.tallies()[0].done, 1_000 + 4 * 128);
    assert!(rows.tallies()[0].agrees(0, number(&db, &tally_statement(&spec, 0))));
    assert_eq!(number(&db, "select count(distinct id) from batch_copy_0 where round = 0"), 1_000);
    assert_eq!(number(&db, "select count(*) from batch_copy_0 c join batch_0 s using (id, filler)"), 1_512);
}

#[test]
fn what_is_in_doubt_is_right_either_way_and_nothing_else() {
    let tally = Tally { job: 0, done: 10, unknown: 2 };
    assert!((110..=112).all(|after| tally.agrees(100, after)));
    assert!(!tally.agrees(100, 109) && !tally.agrees(100, 113));
}

#[test]
fn of_an_arrival_that_is_under_way_nothing_is_known() {
    let mut rows = Rows::new(Spec { commit_every: 5, ..spec(Mode::Update { read_first: false }) }, 0, 1);
    rows.begin(0, Begun { n: 0, payload: 0, at: Nanos(0) });
    assert_eq!(rows.tallies(), [Tally { job: 0, done: 0, unknown: 5 }]);
    rows.ended(0, Ending::Done, Nanos(0), &mut Vec::new());
    assert_eq!(rows.tallies(), [Tally { job: 0, done: 5, unknown: 0 }]);
}

#[test]
fn a_second_try_asks_for_the_same_rows() {
    let spec = spec(Mode::Update { read_first: true });
    let mut rows = Rows::new(spec, 1, 1);
    let mut asked = Vec::new();
    rows.begin(0, Begun { n: 0, payload: 0, at: Nanos(0) });
    for _ in 0..2 {
        let mut batch = Batch::default();
        assert_eq!(rows.step(0, &Answers::default(), &mut batch), Step::Send);
        asked.push(batch);
        rows.restart(0);
    }
    assert_eq!(asked[0], asked[1]);
    assert!(matches!(asked[0].get(2), Call::Statement { statement: 5, parameters: [Value::Int(1)] }), "{asked:?}");
}
