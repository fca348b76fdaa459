//! Workloads on real servers beside the same on SQLite: the same rows, the same answers, the same end.
//!
//! The one idea: one session carries out arrivals and all that they cause in the order in which they are due, so that nothing
//! depends on time.

use super::across::{Cache, filled_with, holds};
use crate::dataset::{Asking, checksums};
use crate::{Database, Texts};
use std::collections::BTreeMap;
use study::{Engine, Protocol, Sessions};
use units::Nanos;
use workload::bank::{Scale, day, night};
use workload::dataset::DataSet;
use workload::kind::{Around, Share, Transactions};
use workload::transaction::{Answers, Batch, Begun, Business, Ending, Step, Value};
use workload::warehouse;
use workload::warehouse::spec::{Indexes, LoadRate, Users, Variables};

/// Time of the clock that passes with each transaction.
const PACE: u64 = 1_000_000;

/// The rows of each answer to a batch. How many rows an insert changed that adds to some is not the same everywhere.
type Heard = Vec<Vec<Vec<Value>>>;

fn heard(answers: &Answers) -> Heard {
    (0..answers.len()).map(|place| answers.get(place).rows().map(<[Value]>::to_vec).collect()).collect()
}

/// Carries out so many transactions, and holds the end against invariants and ledger. What was heard comes back batch by batch.
fn carried(
    database: &dyn Database,
    dataset: &DataSet,
    asked: &dyn Transactions,
    how: &Sessions,
    count: u64,
) -> Vec<Heard> {
    let ready = asked.ready(&Around { textual: false, sessions: 1, file: &|_| Ok(String::new()) }).unwrap();
    let texts = Texts::of(database.engine(), &ready.statements(None));
    let found = Asking::on(database, |queries| asked.begin(queries, 1, true)).unwrap();
    let share = Share { worker: 0, workers: 1, first: 0, slots: 1, seed: 3, epoch: found.epoch, half: None };
    let mut business = ready.business(&share);
    let mut session = database.session(&texts, how).unwrap();
    let (mut all, mut due, mut caused) = (Vec::new(), BTreeMap::new(), Vec::new());
    let mut clock = asked.clock();
    for n in 0..count {
        let at = Nanos(n * PACE);
        for (clocked, place) in
            clock.iter_mut().zip(0_usize..).filter(|(clocked, _)| at.0.is_multiple_of(clocked.every.0))
        {
            due.insert((at, n, place), clocked.payload);
            clocked.payload += clocked.transactions;
        }
        let payload = due.pop_first().filter(|_| n % 3 > 0).map_or(0, |(_, payload)| payload);
        business.class(n, payload);
        business.begin(0, Begun { n, payload, at });
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        loop {
            batch.clear();
            match business.step(0, &answers, &mut batch) {
                Step::Send => {
                    answers.clear();
                    session.run(&batch, &mut answers).unwrap_or_else(|failure| panic!("{failure} in {batch:?}"));
                    all.push(heard(&answers));
                }
                Step::Done { .. } => break,
                other => panic!("{other:?}: {:?}", business.complaint(0)),
            }
        }
        business.ended(0, Ending::Done, at, &mut caused);
        due.extend(caused.drain(..).zip(clock.len()..).map(|(caused, place)| ((caused.due, n, place), caused.payload)));
    }
    holds(&mut *session, database.engine(), dataset);
    let ledger = asked.ledger(1, &found, &[&*business as &dyn Business]).unwrap();
    let verdicts = Asking::on(database, |queries| asked.hold(queries, &ledger)).unwrap();
    assert!(verdicts.iter().all(|verdict| !verdict.damaged), "{verdicts:?}");
    all
}

/// Fills the data set on this engine and on SQLite, and asks both for the same by all protocols.
fn the_same_as_sqlite(engine: Engine, asked: &dyn Transactions, count: u64) {
    let (cache, dataset) = (Cache::new(engine), asked.data_set(false).unwrap());
    let Some(theirs) = filled_with(&cache, engine, &dataset) else { return };
    let ours = filled_with(&cache, Engine::Sqlite, &dataset).unwrap();
    let sums = |database: &dyn Database| {
        let mut session = database.session(&Texts::none(database.engine()), &Sessions::default()).unwrap();
        checksums(&mut *session, &dataset).unwrap()
    };
    assert_eq!(sums(&*theirs), sums(&*ours), "after the fill");
    for protocol in [Protocol::Prepared, Protocol::Simple, Protocol::Extended] {
        let how = Sessions { protocol, ..Sessions::default() };
        let left = carried(&*theirs, &dataset, asked, &how, count);
        let right = carried(&*ours, &dataset, asked, &Sessions::default(), count);
        for (place, (left, right)) in left.iter().zip(&right).enumerate() {
            assert_eq!(left, right, "answer {place} by {protocol:?}");
        }
        assert_eq!(sums(&*theirs), sums(&*ours), "by {protocol:?}");
    }
}

const WAREHOUSE: warehouse::Spec = warehouse::Spec {
    rows: 10_000,
    aggregates: 3,
    indexes: Indexes::More,
    users: Users::Free,
    variables: Variables::Differ,
    load_rate: LoadRate::Full,
    delta: 50,
};

#[test]
fn the_warehouse_is_the_same_on_postgres_as_on_sqlite() {
    the_same_as_sqlite(Engine::Postgres, &WAREHOUSE, 300);
}

#[test]
fn the_warehouse_is_the_same_on_mariadb_as_on_sqlite() {
    the_same_as_sqlite(Engine::Mariadb, &WAREHOUSE, 300);
}

const BANK: Scale = Scale { accounts: 1_000, days: 20, indexes: Indexes::More };

const DAY: day::Spec =
    day::Spec { scale: BANK, payments: 1, reads: 1, hot: 60, run_every: Nanos(200 * PACE), run_orders: 100 };

const NIGHT: night::Spec = night::Spec { scale: BANK, commit_every: 130 };

#[test]
fn a_banks_day_is_the_same_on_postgres_as_on_sqlite() {
    the_same_as_sqlite(Engine::Postgres, &DAY, 300);
}

#[test]
fn a_banks_day_is_the_same_on_mariadb_as_on_sqlite() {
    the_same_as_sqlite(Engine::Mariadb, &DAY, 300);
}

#[test]
fn a_banks_night_is_the_same_on_postgres_as_on_sqlite() {
    the_same_as_sqlite(Engine::Postgres, &NIGHT, NIGHT.work().unwrap());
}

#[test]
fn a_banks_night_is_the_same_on_mariadb_as_on_sqlite() {
    the_same_as_sqlite(Engine::Mariadb, &NIGHT, NIGHT.work().unwrap());
}
