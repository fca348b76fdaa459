//! A bench that carries a workload out on a real SQLite in memory, one transaction after the other, and minds its manners:
//! transactions are begun and ended in turn, and every call has the parameters that its text asks for.

use super::super::fill::TableRows;
use super::super::numbers::Errand;
use super::super::schema::{self, Table, Type};
use super::super::{Brokerage, Scale, Spec, classes, statements};
use crate::transaction::{Answers, Batch, Begun, Business, Call, Caused, Ending, Statement, Step, Value};
use rusqlite::{Connection, types::ValueRef};
use std::collections::{BTreeMap, VecDeque};
use units::Nanos;

pub const DATA_SEED: u64 = 11;

pub struct Bench {
    pub db: Connection,
    pub spec: Spec,
    pub statements: Vec<Statement>,
    pub counts: BTreeMap<String, u64>,
    /// Rows that each statement gave back or changed.
    pub touched: Vec<u64>,
    /// Nanoseconds of the clock between two transactions.
    pub pace: u64,
    pub failures: Vec<String>,
    clock: u64,
    in_transaction: bool,
    caused_so_far: u64,
}

fn ddl(preset: super::super::Preset, table: &Table) -> String {
    let column = |column: &schema::Column| {
        let kind = if column.kind == Type::Int { "integer" } else { "text" };
        format!("{} {kind}{}", column.name, if column.null { "" } else { " not null" })
    };
    let mut parts: Vec<String> = table.columns.iter().map(column).collect();
    parts.push(format!("primary key ({})", table.key.join(", ")));
    for reference in table.references {
        if schema::tables(preset).any(|other| other.name == reference.table) {
            parts.push(format!("foreign key ({}) references {}", reference.columns.join(", "), reference.table));
        }
    }
    format!("create table {} ({})", table.name, parts.join(", "))
}

/// The engine's own form of a portable text.
fn sqlite(sql: &str) -> String {
    sql.strip_suffix(" for update").unwrap_or(sql).replace('$', "?")
}

fn parameter(value: &Value) -> rusqlite::types::Value {
    match value {
        Value::Null => rusqlite::types::Value::Null,
        Value::Int(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) => text.clone().into(),
    }
}

impl Bench {
    pub fn filled(spec: Spec) -> Bench {
        let bench = Bench::empty(spec);
        let scale = Scale::of(&spec);
        bench.db.execute_batch("pragma foreign_keys = off; begin").unwrap();
        for table in schema::tables(spec.preset) {
            let marks = vec!["?"; table.columns.len()].join(", ");
            let mut insert = bench.db.prepare(&format!("insert into {} values ({marks})", table.name)).unwrap();
            let (mut rows, mut row) = (TableRows::new(scale, DATA_SEED, table, 0, 1), Vec::new());
            while rows.next(&mut row) {
                insert.execute(rusqlite::params_from_iter(row.iter().map(parameter))).unwrap();
            }
        }
        for table in schema::tables(spec.preset) {
            for (place, index) in table.indexes.iter().enumerate() {
                let sql = format!("create index {0}_{place} on {0} ({1})", table.name, index.join(", "));
                bench.db.execute_batch(&sql).unwrap();
            }
        }
        bench.db.execute_batch("commit; pragma foreign_keys = on").unwrap();
        bench
    }

    pub fn empty(spec: Spec) -> Bench {
        let db = Connection::open_in_memory().unwrap();
        schema::tables(spec.preset).for_each(|table| db.execute_batch(&ddl(spec.preset, table)).unwrap());
        db.set_prepared_statement_cache_capacity(200);
        let statements = statements(spec.preset);
        Bench {
            db,
            spec,
            touched: vec![0; statements.len()],
            statements,
            counts: BTreeMap::new(),
            pace: 1_000_000,
            failures: Vec::new(),
            clock: 0,
            in_transaction: false,
            caused_so_far: 0,
        }
    }

    pub fn number(&self, sql: &str) -> i64 {
        self.db.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub fn prepare(&self, statement: &Statement) -> (usize, usize) {
        let prepared = self.db.prepare(&sqlite(&statement.sql)).unwrap_or_else(|e| panic!("{}: {e}", statement.name));
        (prepared.column_count(), prepared.parameter_count())
    }

    fn call(&mut self, place: u16, parameters: &[Value], answers: &mut Answers) {
        let text = &self.statements[usize::from(place)];
        let mut prepared = self.db.prepare_cached(&sqlite(&text.sql)).unwrap();
        assert_eq!(prepared.parameter_count(), parameters.len(), "{}", text.name);
        let parameters = rusqlite::params_from_iter(parameters.iter().map(parameter));
        if !text.rows {
            answers.begin(0);
            let changed = prepared.execute(parameters).unwrap_or_else(|error| panic!("{}: {error}", text.name));
            self.touched[usize::from(place)] += changed as u64;
            return answers.end(changed as u64);
        }
        let columns = prepared.column_count();
        answers.begin(columns);
        let mut rows = prepared.query(parameters).unwrap();
        while let Some(row) = rows.next().unwrap_or_else(|error| panic!("{}: {error}", text.name)) {
            self.touched[usize::from(place)] += 1;
            (0..columns).for_each(|column| {
                answers.push(match row.get_ref(column).unwrap() {
                    ValueRef::Integer(number) => Value::Int(number),
                    ValueRef::Text(text) => Value::Text(String::from_utf8(text.to_vec()).unwrap()),
                    ValueRef::Null => Value::Null,
                    other => panic!("a value of type {}", other.data_type()),
                });
            });
        }
        answers.end(0);
    }

    fn carry_out(&mut self, batch: &Batch, answers: &mut Answers) {
        assert!(!batch.is_empty(), "nothing to carry out");
        answers.clear();
        for call in batch.calls() {
            let (word, before, after) = match call {
                Call::Begin { .. } => ("begin", false, true),
                Call::Commit => ("commit", true, false),
                Call::Rollback => ("rollback", true, false),
                Call::Statement { statement, parameters } => {
                    self.call(statement, parameters, answers);
                    continue;
                }
            };
            assert_eq!(self.in_transaction, before, "{word} at the wrong time");
            self.db.execute_batch(word).unwrap();
            self.in_transaction = after;
            answers.begin(0);
            answers.end(0);
        }
    }

    /// One transaction from its beginning to its end.
    pub fn one(&mut self, house: &mut Brokerage, begun: Begun, caused: &mut Vec<Caused>) {
        let class = classes(self.spec.preset)[usize::from(house.class(begun.n, begun.payload))].name.clone();
        *self.counts.entry(class.clone()).or_default() += 1;
        house.begin(0, begun);
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        let ending = loop {
            batch.clear();
            match house.step(0, &answers, &mut batch) {
                Step::Send => self.carry_out(&batch, &mut answers),
                Step::Done { .. } => break Ending::Done,
                Step::Fail => {
                    self.failures.extend(house.complaint(0));
                    self.db.execute_batch("rollback").unwrap();
                    self.in_transaction = false;
                    break Ending::Failed;
                }
                Step::Sleep(_) => panic!("nobody sleeps here"),
            }
        };
        assert!(!self.in_transaction, "{class} left its transaction open");
        house.ended(0, ending, Nanos(self.clock), caused);
    }

    /// One transaction that others are made to have caused.
    pub fn caused(&mut self, house: &mut Brokerage, errand: Errand) {
        self.clock += self.pace;
        let n = (1 << 63) + self.caused_so_far;
        self.caused_so_far += 1;
        self.one(house, Begun { n, payload: errand.payload(), at: Nanos(self.clock) }, &mut Vec::new());
    }

    /// So many arrivals of the schedule, and all that they cause.
    pub fn run(&mut self, house: &mut Brokerage, arrivals: std::ops::Range<u64>) {
        let mut queue: VecDeque<Caused> = VecDeque::new();
        for n in arrivals {
            self.clock += self.pace;
            let mut caused = Vec::new();
            self.one(house, Begun { n, payload: 0, at: Nanos(self.clock) }, &mut caused);
            queue.extend(caused.drain(..));
            while let Some(next) = queue.pop_front() {
                self.clock = self.clock.max(next.due.0) + self.pace;
                let n = (1 << 63) + self.caused_so_far;
                self.caused_so_far += 1;
                self.one(house, Begun { n, payload: next.payload, at: Nanos(self.clock) }, &mut caused);
                queue.extend(caused.drain(..));
            }
        }
    }

    /// All rows of a table as one text.
    pub fn dump(&self, table: &str) -> String {
        let mut prepared = self.db.prepare(&format!("select * from {table} order by 1, 2")).unwrap();
        let columns = prepared.column_count();
        let mut rows = prepared.query([]).unwrap();
        let mut text = String::new();
        while let Some(row) = rows.next().unwrap() {
            (0..columns).for_each(|column| text.push_str(&format!("{:?};", row.get_ref(column).unwrap())));
        }
        text
    }
}
