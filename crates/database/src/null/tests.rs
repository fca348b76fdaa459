//! The null database as a session: the same answers here and over a socket, and a whole house of transactions on them.

use super::replies::Replies;
use super::session::Answering;
use super::socket::Socket;
use crate::{Session, Texts};
use std::sync::atomic::AtomicBool;
use study::Sessions;
use units::Nanos;
use workload::Demand;
use workload::bank::{self, day};
use workload::brokerage::data_set::seeded;
use workload::brokerage::{Brokerage, MEAN, Market, Preset, Scale, Spec, samples, statements};
use workload::dataset::Indexes;
use workload::kind::{Around, Share, Transactions};
use workload::order_entry;
use workload::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Sample, Statement, Step, Value};

fn both(samples: &[Option<Sample>]) -> [Answering; 2] {
    [Answering::Here(Replies::new(samples)), Answering::There(Socket::open(samples).unwrap())]
}

#[test]
fn a_batch_has_as_many_answers_as_calls_and_a_statement_without_a_sample_no_rows() {
    for mut session in both(&[]) {
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        for round in 1..=3_usize {
            batch.clear();
            answers.clear();
            batch.begin(false);
            (0..round).for_each(|n| batch.call(n as u16, ["x".into(), Value::Int(7), Value::Null, Value::Float(0.5)]));
            batch.commit();
            session.run(&batch, &mut answers).unwrap();
            assert_eq!((answers.len(), answers.get(1).row_count()), (round + 2, 0));
        }
    }
}

#[test]
fn rows_and_names_come_through_the_socket_as_they_are() {
    let row = vec![Value::Null, Value::Int(-7), Value::Float(0.5), "gr\u{fc}n".into()];
    let names: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
    let samples = [None, Some(Sample::new(2.0, vec![row.clone()]).named(names.clone().into()))];
    for mut session in both(&samples) {
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        batch.call(0, []);
        batch.call(1, [Value::Int(1)]);
        session.run(&batch, &mut answers).unwrap();
        assert_eq!(answers.get(1).rows().collect::<Vec<_>>(), [&row[..], &row[..]]);
        assert_eq!(answers.names(1).map(|found| found.to_vec()), Some(names.clone()));
    }
}

/// Carries out a transaction to its end and answers with how many of its class ended.
fn carry_out(session: &mut dyn Session, house: &mut dyn Business, begun: Begun, ended: &mut [u32]) -> Vec<Caused> {
    let (mut batch, mut answers, mut caused) = (Batch::default(), Answers::default(), Vec::new());
    let class = house.class(begun.n, begun.payload);
    house.begin(0, begun);
    loop {
        batch.clear();
        match house.step(0, &answers, &mut batch) {
            Step::Send => {
                answers.clear();
                session.run(&batch, &mut answers).unwrap();
            }
            Step::Done { .. } => break,
            other => panic!("{other:?}: {:?}", house.complaint(0)),
        }
    }
    ended[usize::from(class)] += 1;
    house.ended(0, Ending::Done, begun.at, &mut caused);
    caused
}

/// Carries out so many arrivals with all that they cause.
fn trade(session: &mut dyn Session, house: &mut Brokerage, arrivals: u64, ended: &mut [u32]) {
    let mut extra = 1 << 63;
    for n in 0..arrivals {
        let at = Nanos(n);
        let mut due = carry_out(session, house, Begun { n, payload: 0, at }, ended);
        while let Some(Caused { payload, .. }) = due.pop() {
            extra += 1;
            due.extend(carry_out(session, house, Begun { n: extra, payload, at }, ended));
        }
    }
}

#[test]
fn every_transaction_of_both_presets_goes_to_its_end_and_orders_are_filled_and_fired() {
    for preset in [Preset::Desk, Preset::House] {
        let classes = workload::brokerage::classes(preset).len();
        for mut session in both(&samples(preset)) {
            let spec = Spec {
                preset,
                customers: 1000,
                days: 5,
                market: Market::ByCount,
                maintenance: true,
                procedures: false,
            };
            let mut house = Brokerage::new(spec, 3, 0, 1, 1, 0);
            let mut ended = vec![0; classes];
            trade(&mut session, &mut house, 2_000, &mut ended);
            assert!(ended.iter().all(|count| *count > 0), "{preset:?}: {ended:?}");
        }
    }
}

/// Counts what transactions ask a database for.
struct Counted {
    session: Answering,
    inserts: Vec<bool>,
    asked: Demand,
}

impl Session for Counted {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), crate::Failure> {
        self.session.run(batch, answers)?;
        for (place, call) in batch.calls().enumerate() {
            let (Some(statement), answer) = (super::replies::asked(call), answers.get(place)) else { continue };
            let found = if self.inserts[usize::from(statement)] { 0 } else { answer.changed };
            self.asked.statements += 1.0;
            self.asked.lookups += (answer.row_count() as u64 + found) as f64;
            self.asked.changes += answer.changed as f64;
        }
        Ok(())
    }

    fn script(&mut self, sql: &str) -> Result<(), crate::Failure> {
        self.session.script(sql)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, crate::Failure> {
        self.session.query(sql)
    }

    fn load(&mut self, table: &str, columns: &[&str], rows: &mut dyn crate::Rows) -> Result<u64, crate::Failure> {
        self.session.load(table, columns, rows)
    }
}

/// How many of each class ended, and what all of them asked for, over so many arrivals that come every 20 ms.
fn asked_by_class(asked: &dyn Transactions, arrivals: u64) -> Vec<(f64, Demand)> {
    let around = Around { textual: false, sessions: 1, file: &|_| Ok(String::new()) };
    let ready = asked.ready(&around).unwrap();
    let insert = |statement: &Statement| statement.sql.trim_start().starts_with("insert");
    let inserts = ready.statements(None).iter().map(insert).collect();
    let session = Answering::Here(Replies::new(&ready.samples()));
    let mut counted = Counted { session, inserts, asked: Demand::default() };
    let share = Share { worker: 0, workers: 1, first: 0, slots: 1, seed: 3, epoch: 1, half: None };
    let mut business = ready.business(&share);
    let mut found = vec![(0.0, Demand::default()); asked.classes().len()];
    let (mut extra, mut clock) = (1 << 63, asked.clock());
    for n in 0..arrivals {
        let at = Nanos::from_millis(20 * n);
        let mut due = vec![Begun { n, payload: 0, at }];
        for clocked in clock.iter_mut().filter(|clocked| at.0.is_multiple_of(clocked.every.0)) {
            extra += 1;
            due.push(Begun { n: extra, payload: clocked.payload, at });
            clocked.payload += clocked.transactions;
        }
        while let Some(begun) = due.pop() {
            let mut ended = vec![0; found.len()];
            counted.asked = Demand::default();
            let caused = carry_out(&mut counted, business.as_mut(), begun, &mut ended);
            extra += caused.len() as u64;
            let next = caused.into_iter().zip(extra..);
            due.extend(next.map(|(caused, n)| Begun { n, payload: caused.payload, ..begun }));
            let class = ended.iter().position(|count| *count > 0).expect("one ended");
            let (count, sum) = &mut found[class];
            *count += 1.0;
            sum.statements += counted.asked.statements;
            sum.lookups += counted.asked.lookups;
            sum.changes += counted.asked.changes;
        }
    }
    found
}

/// Whether what was counted is what is said of one, within a fiftieth.
fn is_said((count, counted): (f64, Demand), said: Demand, what: &str) {
    let parts =
        [(counted.statements, said.statements), (counted.lookups, said.lookups), (counted.changes, said.changes)];
    for (counted, said) in parts {
        assert!((counted / count - said).abs() <= 0.02 * said, "{what}: {} of {said}", counted / count);
    }
}

#[test]
fn the_mean_transaction_of_the_brokerage_is_the_one_that_models_describe() {
    let (preset, market) = (Preset::House, Market::ByCount);
    let spec = Spec { preset, customers: 1000, days: 5, market, maintenance: false, procedures: false };
    let all = asked_by_class(&spec, 20_000).into_iter().fold((0.0, Demand::default()), |(count, sum), (more, one)| {
        let Demand { statements, lookups, changes } = one;
        let sum = Demand {
            statements: sum.statements + statements,
            lookups: sum.lookups + lookups,
            changes: sum.changes + changes,
        };
        (count + more, sum)
    });
    is_said(all, MEAN, "the house");
}

#[test]
fn the_classes_of_a_banks_day_ask_for_what_they_say() {
    let scale = bank::Scale { accounts: 10_000, days: 20, indexes: Indexes::Usual };
    let spec = day::Spec { scale, payments: 1, reads: 1, hot: 60, run_every: Nanos::from_secs(10), run_orders: 500 };
    for (class, counted) in spec.classes().into_iter().zip(asked_by_class(&spec, 20_000)) {
        let said = class.demand.expect("what it asks for");
        is_said(counted, said, &class.name);
    }
}

#[test]
fn the_classes_of_order_entry_ask_for_what_they_say_but_for_rows_that_are_only_counted() {
    let house = order_entry::House { depots: 10 };
    for (class, counted) in house.classes().into_iter().zip(asked_by_class(&house, 20_000)) {
        let said = class.demand.expect("what it asks for");
        match class.name.as_str() {
            "stock-level" => assert!(said.statements > counted.1.statements / counted.0 && said.changes == 0.0),
            name => is_said(counted, said, name),
        }
    }
}

/// The house on SQLite, filled.
fn filled(folder: &std::path::Path, spec: &Spec) -> Box<dyn crate::Database> {
    let dataset = seeded(Scale::of(spec), 5);
    let options = crate::OpenOptions {
        cache_dir: folder.to_owned(),
        dataset: Some(dataset.clone()),
        settings: Vec::new(),
        profiling: Default::default(),
        stop: std::sync::Arc::default(),
    };
    let at = study::DatabaseSpec::new(study::Engine::Sqlite, study::At::Cache);
    let database = crate::open(&at, &options).unwrap();
    crate::dataset::fill(&*database, &dataset, false, &|_| {}, &AtomicBool::new(false)).unwrap();
    database
}

/// Holds each real answer against the sample of its statement; counts calls and rows by statement.
struct Compared {
    session: Box<dyn Session>,
    samples: Vec<Option<Sample>>,
    seen: Vec<[u64; 2]>,
}

impl Compared {
    fn answer(&mut self, place: usize, answer: &workload::transaction::Answer) {
        self.seen[place][0] += 1;
        self.seen[place][1] += answer.row_count() as u64;
        for row in answer.rows() {
            let sample = self.samples[place].as_ref().unwrap_or_else(|| panic!("statement {place} gives rows"));
            for like in sample.rows() {
                assert_eq!(like.len(), row.len(), "columns of statement {place}");
                let same = |(one, other): (&Value, &Value)| {
                    *one == Value::Null || std::mem::discriminant(one) == std::mem::discriminant(other)
                };
                assert!(row.iter().zip(like).all(same), "statement {place}: {row:?} beside {like:?}");
            }
        }
    }
}

impl Session for Compared {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), crate::Failure> {
        self.session.run(batch, answers)?;
        for (place, call) in batch.calls().enumerate() {
            if let Some(statement) = super::replies::asked(call) {
                self.answer(usize::from(statement), &answers.get(place));
            }
        }
        Ok(())
    }

    fn script(&mut self, sql: &str) -> Result<(), crate::Failure> {
        self.session.script(sql)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, crate::Failure> {
        self.session.query(sql)
    }

    fn load(&mut self, table: &str, columns: &[&str], rows: &mut dyn crate::Rows) -> Result<u64, crate::Failure> {
        self.session.load(table, columns, rows)
    }
}

#[test]
fn samples_have_the_columns_and_types_of_real_rows_and_their_number_within_a_factor() {
    let folder = tempfile::tempdir().unwrap();
    for preset in [Preset::Desk, Preset::House] {
        let spec =
            Spec { preset, customers: 200, days: 5, market: Market::ByCount, maintenance: true, procedures: false };
        let database = filled(folder.path(), &spec);
        let list = statements(preset);
        let session = database.session(&Texts::of(study::Engine::Sqlite, &list), &Sessions::default()).unwrap();
        let mut compared = Compared { session, samples: samples(preset), seen: vec![[0; 2]; list.len()] };
        let mut house = Brokerage::new(spec, 3, 0, 1, 1, 0);
        trade(&mut compared, &mut house, 4_000, &mut vec![0; workload::brokerage::classes(preset).len()]);
        let mut off = Vec::new();
        for ((statement, sample), [calls, rows]) in list.iter().zip(&compared.samples).zip(&compared.seen) {
            let Some(sample) = sample.as_ref().filter(|_| *calls >= 20) else { continue };
            let (real, said) = (*rows as f64 / *calls as f64, sample.rows_per_call());
            if !(0.3..=3.0).contains(&(real / said)) {
                off.push(format!("{}: {real:.2} rows a call, the sample says {said}", statement.name));
            }
        }
        assert!(off.is_empty(), "{preset:?}: {off:#?}");
    }
}
