//! A warehouse on a real SQLite in memory, one transaction after the other, any of which may be cut off.

use crate::bench::Bench as Inner;
use crate::dataset::DataSet;
use crate::kind::{Around, Ready, Share, Transactions};
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step, Value};
use crate::warehouse::data_set::seeded;
use crate::warehouse::spec::{Indexes, LoadRate, Users, Variables};
use crate::warehouse::{Scale, Spec};
use rusqlite::types::Value as Field;
use std::sync::Arc;
use units::Nanos;

pub(in crate::warehouse) const SPEC: Spec = Spec {
    rows: 10_000,
    aggregates: 3,
    indexes: Indexes::Usual,
    users: Users::Free,
    variables: Variables::Differ,
    load_rate: LoadRate::Full,
    delta: 20,
};

/// Where a transaction is cut off.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::warehouse) enum Cut {
    /// Nowhere.
    Never,
    /// Before this batch (from 0) reaches the database.
    Before(u32),
}

pub(in crate::warehouse) struct Bench {
    pub(in crate::warehouse) dataset: DataSet,
    pub(in crate::warehouse) complaints: Vec<String>,
    pub(in crate::warehouse) clock: u64,
    inner: Inner,
    spec: Spec,
}

fn value(field: Field) -> Value {
    match field {
        Field::Integer(number) => Value::Int(number),
        Field::Real(number) => Value::Float(number),
        Field::Text(text) => Value::Text(text),
        _ => Value::Null,
    }
}

/// What the workers of a trial share.
pub(in crate::warehouse) fn ready(spec: &Spec) -> Arc<dyn Ready> {
    let around = Around { textual: false, sessions: 4, file: &|_| Ok(String::new()) };
    Transactions::ready(spec, &around).unwrap()
}

impl Bench {
    pub(in crate::warehouse) fn filled(spec: Spec) -> Bench {
        let dataset = seeded(Scale::of(&spec), 3);
        let inner = Inner::filled(&dataset, ready(&spec).statements(None));
        Bench { dataset, complaints: Vec::new(), clock: 0, inner, spec }
    }

    /// A worker of a new trial.
    pub(in crate::warehouse) fn worker(&self) -> Box<dyn Business> {
        let epoch = self.number("select coalesce(max(id), 0) from delta") as u64;
        ready(&self.spec).business(&Share { worker: 0, workers: 1, first: 0, slots: 2, seed: 9, epoch, half: None })
    }

    pub(in crate::warehouse) fn number(&self, sql: &str) -> i64 {
        self.inner.number(sql)
    }

    pub(in crate::warehouse) fn script(&self, sql: &str) {
        self.inner.db.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    pub(in crate::warehouse) fn rows(&self, sql: &str) -> Vec<Vec<Value>> {
        let mut prepared = self.inner.db.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let columns = prepared.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get::<_, Field>(column).map(value)).collect();
        prepared.query_map([], row).unwrap().map(Result::unwrap).collect()
    }

    /// Names of the invariants that do not hold.
    pub(in crate::warehouse) fn broken(&self) -> Vec<&'static str> {
        self.inner.broken(&self.dataset)
    }

    /// One transaction to its end, with the answers to its last batch; it takes a microsecond.
    pub(in crate::warehouse) fn one(
        &mut self,
        worker: &mut dyn Business,
        (n, payload): (u64, u64),
        cut: Cut,
        caused: &mut Vec<Caused>,
    ) -> (Ending, Answers) {
        worker.class(n, payload);
        worker.begin(0, Begun { n, payload, at: Nanos(self.clock) });
        let (mut batch, mut answers, mut sent) = (Batch::default(), Answers::default(), 0);
        let ending = loop {
            batch.clear();
            match worker.step(0, &answers, &mut batch) {
                Step::Send if cut == Cut::Before(sent) => break Ending::Unknown,
                Step::Send => self.inner.carry_out(&batch, &mut answers),
                Step::Done { .. } => break Ending::Done,
                _ => {
                    self.complaints.extend(worker.complaint(0));
                    break Ending::Failed;
                }
            }
            sent += 1;
        };
        assert!(ending != Ending::Done || self.inner.db.is_autocommit(), "a transaction was left open");
        self.inner.undo();
        self.clock += 1_000;
        worker.ended(0, ending, Nanos(self.clock), caused);
        (ending, answers)
    }

    /// So many transactions: what was caused comes first, and every tenth one is a step of a user.
    pub(in crate::warehouse) fn run(&mut self, worker: &mut dyn Business, count: u64) {
        let mut due: Vec<Caused> = Vec::new();
        for n in 0..count {
            let payload = if n % 10 == 0 || due.is_empty() { 0 } else { due.remove(0).payload };
            self.one(worker, (n, payload), Cut::Never, &mut due);
        }
    }
}
