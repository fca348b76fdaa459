//! Batch jobs on a real database in memory.

use super::*;
use crate::dataset::{Contents, Language, Type};
use crate::kind::Told;
use crate::transaction::{Answers, Batch, Begun, Business, Call, Ending, Step, Value};
use rusqlite::Connection;
use units::Nanos;

fn spec(mode: Mode) -> Spec {
    Spec { jobs: 2, rows_per_job: 1_000, row_bytes: 64, commit_every: 1, total: None, mode }
}

fn update(how: Update) -> Mode {
    Mode::Update(how)
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
                    let sql_value = |value: &Value| match value {
                        Value::Int(number) => rusqlite::types::Value::Integer(*number),
                        other => rusqlite::types::Value::Text(other.text().unwrap().to_owned()),
                    };
                    let parameters = rusqlite::params_from_iter(parameters.iter().map(sql_value));
                    if text.rows {
                        let counters = prepared.query_map(parameters, |row| row.get(0)).unwrap();
                        counters.for_each(|counter| {
                            answers.push(Value::Int(counter.unwrap()));
                            answers.push(Value::Null);
                        });
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
        let spec = Spec { commit_every, ..spec(update(Update { read_first, ..Update::default() })) };
        let db = filled(&spec);
        let mut rows = Rows::new(spec, 0, 2);
        for n in 0..1_500 {
            let steps = arrival(&db, &spec, &mut rows, 1, n % 100 == 0);
            assert_eq!(steps as u32, commit_every + 1);
        }
        let (job, told) = rows.tallies()[1];
        assert_eq!((job, told.done), (1, 1_485 * u64::from(commit_every)));
        assert!(told.allows(number(&db, &tally_statement(&spec, 1))));
        assert!(!told.allows(number(&db, &tally_statement(&spec, 1)) - 1), "one update less is seen");
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
    assert_eq!(rows.tallies()[0].1.done, 1_000 + 4 * 128);
    assert!(rows.tallies()[0].1.allows(number(&db, &tally_statement(&spec, 0))));
    assert_eq!(number(&db, "select count(distinct id) from batch_copy_0 where round = 0"), 1_000);
    assert_eq!(number(&db, "select count(*) from batch_copy_0 c join batch_0 s using (id, filler)"), 1_512);
}

#[test]
fn what_is_in_doubt_is_right_either_way_and_nothing_else() {
    let told = Told { done: 10, unknown: 2 };
    assert!((10..=12).all(|grown| told.allows(grown)));
    assert!(!told.allows(9) && !told.allows(13));
}

#[test]
fn of_an_arrival_that_is_under_way_nothing_is_known() {
    let mut rows = Rows::new(Spec { commit_every: 5, ..spec(update(Update::default())) }, 0, 1);
    rows.begin(0, Begun { n: 0, payload: 0, at: Nanos(0) });
    assert_eq!(rows.tallies(), [(0, Told { done: 0, unknown: 5 })]);
    rows.ended(0, Ending::Done, Nanos(0), &mut Vec::new());
    assert_eq!(rows.tallies(), [(0, Told { done: 5, unknown: 0 })]);
}

#[test]
fn a_second_try_asks_for_the_same_rows() {
    let spec = spec(update(Update { read_first: true, ..Update::default() }));
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
    assert!(matches!(asked[0].get(2), Call::Statement { statement: 4, parameters: [Value::Int(1)] }), "{asked:?}");
}

#[test]
fn whatever_the_access_the_same_share_of_rows_is_updated_and_counted() {
    for access in [Access::Row, Access::Set] {
        for (share, locks) in [(0, true), (37, true), (37, false), (100, false)] {
            let how = Update { access, share, locks, ..Update::default() };
            let spec = Spec { commit_every: 30, ..spec(update(how)) };
            let db = filled(&spec);
            let mut rows = Rows::new(spec, 0, 1);
            // 33 arrivals of 30 rows and one of 10 are a round; row by row they go on with the next.
            let arrivals = if access == Access::Set { 34 } else { 100 };
            for _ in 0..arrivals {
                arrival(&db, &spec, &mut rows, 0, false);
            }
            let rounds = if access == Access::Set { 1 } else { 3 };
            let (_, told) = rows.tallies()[0];
            assert_eq!(told.done, rounds * 10 * u64::from(share), "{how:?}");
            assert!(told.allows(number(&db, &tally_statement(&spec, 0))), "{how:?}");
            let updated = format!("select count(*) from batch_0 where counter = {rounds}");
            assert_eq!(number(&db, &updated), 10 * i64::from(share), "each of them once a round: {how:?}");
        }
    }
}

#[test]
fn what_changes_nothing_and_locks_nothing_is_no_transaction_that_writes() {
    for (share, locks, writes) in [(0, false, false), (0, true, true), (1, false, true)] {
        for access in [Access::Row, Access::Set] {
            let spec = Spec { commit_every: 100, ..spec(update(Update { access, share, locks, ..Update::default() })) };
            let mut rows = Rows::new(spec, 0, 1);
            rows.begin(0, Begun { n: 0, payload: 0, at: Nanos(0) });
            let mut batch = Batch::default();
            rows.step(0, &Answers::default(), &mut batch);
            assert!(matches!(batch.get(0), Call::Begin { write } if write == writes), "{batch:?}");
        }
    }
}

#[test]
fn one_call_of_a_procedure_is_a_transaction_and_every_job_has_one() {
    let spec = Spec {
        commit_every: 300,
        ..spec(update(Update { access: Access::Procedure, share: 40, ..Update::default() }))
    };
    let mut rows = Rows::new(spec, 1, 1);
    for (first, end) in [(1, 301), (301, 601), (601, 901), (901, 1001), (1, 301)] {
        rows.begin(0, Begun { n: 0, payload: 0, at: Nanos(0) });
        let mut batch = Batch::default();
        assert_eq!(rows.step(0, &Answers::default(), &mut batch), Step::Send);
        let [Value::Int(from), Value::Int(to), Value::Int(40), Value::Int(1)] = batch_parameters(&batch)[..] else {
            panic!("{batch:?}")
        };
        assert_eq!((from, to), (first, end));
        assert!(matches!(rows.step(0, &Answers::default(), &mut Batch::default()), Step::Done { .. }));
        rows.ended(0, Ending::Done, Nanos(0), &mut Vec::new());
    }
    assert_eq!(rows.tallies()[0].1.done, 520);
    assert_eq!(statements(&spec)[1].sql, "call batch_work_1($1, $2, $3, $4)");
    for language in [Language::Postgres, Language::Mariadb] {
        let made = Contents::procedures(&spec, language).unwrap().definitions;
        assert_eq!(made.len(), 2);
        assert!(made[1].create.contains("v_row * p_share % 100 >= 100 - p_share"), "{}", made[1].create);
    }
}

fn batch_parameters(batch: &Batch) -> Vec<Value> {
    match batch.get(1) {
        Call::Statement { parameters, .. } => parameters.to_vec(),
        call => panic!("{call:?}"),
    }
}

#[test]
fn inserts_come_by_blocks_and_rounds_and_deletes_get_their_rows_back() {
    let cases = [
        (Mode::Insert { block: 1 }, 1, 2_600),
        (Mode::Insert { block: 7 }, 20, 120),
        (Mode::Delete, 1, 2_600),
        (Mode::Delete, 30, 90),
    ];
    for (mode, commit_every, arrivals) in cases {
        let spec = Spec { commit_every, ..spec(mode) };
        let db = filled(&spec);
        let mut rows = Rows::new(spec, 0, 1);
        let before = number(&db, &tally_statement(&spec, 0));
        for n in 0..arrivals {
            let steps = arrival(&db, &spec, &mut rows, 0, n % 50 == 17 || n == 0);
            assert!(steps as u64 <= spec.rows_per_arrival(), "a statement a step: {mode:?}");
        }
        let (_, told) = rows.tallies()[0];
        let grown = number(&db, &tally_statement(&spec, 0)) - before;
        assert!(told.done > 2_000 && told.allows(grown), "{mode:?}: {told:?}, grown by {grown}");
        assert!(!told.allows(grown - 1), "one row that is missing is seen: {mode:?}");
        let there = number(&db, "select count(*) from batch_copy_0");
        // What failed in a round of deletes stays behind it.
        assert!((1..=1_200).contains(&there), "a long trial neither runs empty nor grows: {mode:?}, {there}");
        let alike = "select count(*) from batch_copy_0 c join batch_0 s using (id, filler)";
        assert!(number(&db, alike) + 20 >= there, "rows are those of the fill: {mode:?}");
    }
}

#[test]
fn a_batch_that_ends_is_so_many_rows_whatever_the_rows_of_a_commit() {
    use crate::kind::Transactions;
    let whole = |commit_every, total| Spec { commit_every, total, ..spec(update(Update::default())) }.work();
    assert_eq!([whole(1, None), whole(1, Some(1_000)), whole(30, Some(1_000))], [None, Some(1_000), Some(34)]);
}
