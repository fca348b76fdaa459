//! A bench that carries a workload out on a real SQLite in memory, one transaction after the other, and minds its manners:
//! transactions are begun and ended in turn, and every call has the parameters that its text asks for.

use crate::dataset::{Column, DataSet, Page, Table, Type};
use crate::kind::{Queries, Refused};
use crate::transaction::{Answers, Batch, Begun, Business, Call, Statement, Step, Value};
use rusqlite::{Connection, types::ValueRef};

pub struct Bench {
    pub db: Connection,
    pub statements: Vec<Statement>,
    /// Calls of statements that change something, and of those that read.
    pub called: [u64; 2],
    /// Rows that each statement gave back or changed.
    pub touched: Vec<u64>,
    in_transaction: bool,
}

fn ddl(tables: &[Table], table: &Table) -> String {
    let column = |column: &Column| {
        let kind = if column.kind == Type::Int { "integer" } else { "text" };
        format!("{} {kind}{}", column.name, if column.null { "" } else { " not null" })
    };
    let mut parts: Vec<String> = table.columns.iter().map(column).collect();
    parts.push(format!("primary key ({})", table.key.join(", ")));
    for reference in table.references {
        if tables.iter().any(|other| other.name == reference.table) {
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
    /// All rows of a data set, and the statements of a workload on it.
    pub fn filled(dataset: &DataSet, statements: Vec<Statement>) -> Bench {
        let bench = Bench::empty(&dataset.tables(), statements);
        bench.db.execute_batch("pragma foreign_keys = off; begin").unwrap();
        for table in dataset.tables() {
            let marks = vec!["?"; table.columns.len()].join(", ");
            let mut insert = bench.db.prepare(&format!("insert into {} values ({marks})", table.name)).unwrap();
            let (mut rows, mut row) = (dataset.part(&table, 0, 1), Vec::new());
            while rows.next(&mut row) {
                insert.execute(rusqlite::params_from_iter(row.iter().map(parameter))).unwrap();
            }
            for (place, index) in table.indexes.iter().enumerate() {
                let sql = format!("create index {0}_{place} on {0} ({1})", table.name, index.join(", "));
                bench.db.execute_batch(&sql).unwrap();
            }
        }
        bench.db.execute_batch("commit; pragma foreign_keys = on").unwrap();
        bench
    }

    /// The tables without their rows.
    pub fn empty(tables: &[Table], statements: Vec<Statement>) -> Bench {
        let db = Connection::open_in_memory().unwrap();
        tables.iter().for_each(|table| db.execute_batch(&ddl(tables, table)).unwrap());
        db.set_prepared_statement_cache_capacity(200);
        Bench { db, called: [0; 2], touched: vec![0; statements.len()], statements, in_transaction: false }
    }

    pub fn number(&self, sql: &str) -> i64 {
        self.db.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    pub fn prepare(&self, statement: &Statement) -> (usize, usize) {
        let prepared = self.db.prepare(&sqlite(&statement.sql)).unwrap_or_else(|e| panic!("{}: {e}", statement.name));
        (prepared.column_count(), prepared.parameter_count())
    }

    /// The invariants of a data set that do not hold.
    pub fn broken(&self, dataset: &DataSet) -> Vec<&'static str> {
        let holds = |sql: &str| !self.db.prepare(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).exists([]).unwrap();
        let all = dataset.invariants().into_iter();
        all.filter(|invariant| !holds(&invariant.sql)).map(|invariant| invariant.name).collect()
    }

    /// How rows of a page differ from what the fill made.
    pub fn differences(&mut self, page: &Page) -> Vec<String> {
        page.differences(&self.query("", &page.sql).unwrap())
    }

    /// Columns of which a change in one row is seen by no invariant, figure or page; `known` are rows in which one is not changed here.
    pub fn unseen(&mut self, data: &DataSet, known: &[(&str, &str, &str)]) -> Vec<String> {
        let (invariants, figures, pages) = (data.invariants(), data.figures(true), data.pages().collect::<Vec<_>>());
        let seen = |bench: &mut Bench| {
            let broken = |sql: &str| bench.db.prepare_cached(sql).unwrap().exists([]).unwrap();
            invariants.iter().any(|invariant| broken(&invariant.sql))
                || figures.iter().any(|figure| Bench::number(bench, &figure.sql) != figure.is)
                || pages.iter().any(|page| !bench.differences(page).is_empty())
        };
        let mut unseen = Vec::new();
        for table in data.tables() {
            for column in table.columns.iter() {
                let known = known.iter().find(|known| (known.0, known.1) == (&*table.name, column.name));
                let but = known.map_or("1 = 2", |known| known.2);
                let (name, column) = (&table.name, column.name);
                let rows = format!("from {name} where not ({but})");
                let count = Bench::number(self, &format!("select count(*) {rows}")) as u64;
                for place in (0..2).map(|nth| random::mix(nth + 7) % count) {
                    let row =
                        Bench::number(self, &format!("select rowid {rows} order by rowid limit 1 offset {place}"));
                    self.db.execute_batch("begin").unwrap();
                    let to = |more: &str| {
                        format!(
                            "update {name} set {column} = case when typeof({column}) = 'text' then {column} || 'x' \
                             else {column} + {more} end where rowid = {row}"
                        )
                    };
                    if self.db.execute_batch(&to("1")).is_err() {
                        self.db.execute_batch(&to("1000003")).unwrap();
                    }
                    if !seen(self) {
                        unseen.push(format!("{column} of row {row} of {name}"));
                    }
                    self.db.execute_batch("rollback").unwrap();
                }
            }
        }
        unseen
    }

    /// Holds each damage against the invariants that must see it; each of them all must be seen to break.
    pub fn sees(&self, data: &DataSet, damages: &[(&str, &[&str])]) {
        let invariants = data.invariants();
        let mut seen: Vec<&str> = Vec::new();
        for (damage, by) in damages {
            self.db.execute_batch("begin").unwrap();
            let changed = self.db.execute(damage, []).unwrap_or_else(|error| panic!("{damage}: {error}"));
            assert!(changed > 0, "{damage} changes nothing");
            let sees = |name: &&str| {
                let invariant = invariants.iter().find(|invariant| invariant.name == *name).expect("its name");
                self.db.prepare_cached(&invariant.sql).unwrap().exists([]).unwrap()
            };
            assert!(by.iter().all(sees), "{damage} is seen by {:?}", self.broken(data));
            seen.extend(*by);
            self.db.execute_batch("rollback").unwrap();
        }
        for invariant in invariants {
            assert!(seen.contains(&invariant.name), "nothing here breaks `{}`", invariant.name);
        }
    }

    /// One transaction in a slot from its beginning to the moment before its business hears how it ended; what it complains of
    /// when it cannot go on. Whoever sleeps is woken at once.
    pub fn carry(&mut self, business: &mut dyn Business, slot: u32, begun: Begun) -> Result<(), Option<String>> {
        business.begin(slot, begun);
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        loop {
            batch.clear();
            match business.step(slot, &answers, &mut batch) {
                Step::Send => self.carry_out(&batch, &mut answers),
                Step::Sleep(_) => answers.clear(),
                Step::Done { .. } => {
                    assert!(!self.in_transaction, "a transaction was left open");
                    return Ok(());
                }
                Step::Fail => {
                    let complaint = business.complaint(slot);
                    self.undo();
                    return Err(complaint);
                }
            }
        }
    }

    /// Rolls back what is under way.
    pub fn undo(&mut self) {
        if std::mem::take(&mut self.in_transaction) {
            self.db.execute_batch("rollback").unwrap();
        }
    }

    fn call(&mut self, place: u16, parameters: &[Value], answers: &mut Answers) {
        let text = self.statements[usize::from(place)].clone();
        self.called[usize::from(text.rows)] += 1;
        self.touched[usize::from(place)] += self.answer(&text, parameters, answers);
    }

    /// Adds the answer to one statement; the rows that it gave back or changed.
    fn answer(&self, text: &Statement, parameters: &[Value], answers: &mut Answers) -> u64 {
        let mut prepared = self.db.prepare_cached(&sqlite(&text.sql)).unwrap();
        assert_eq!(prepared.parameter_count(), parameters.len(), "{}", text.name);
        let parameters = rusqlite::params_from_iter(parameters.iter().map(parameter));
        if !text.rows {
            answers.begin(0);
            let changed = prepared.execute(parameters).unwrap_or_else(|error| panic!("{}: {error}", text.name));
            answers.end(changed as u64);
            return changed as u64;
        }
        let columns = prepared.column_count();
        answers.begin(columns);
        let (mut rows, mut count) = (prepared.query(parameters).unwrap(), 0);
        while let Some(row) = rows.next().unwrap_or_else(|error| panic!("{}: {error}", text.name)) {
            count += 1;
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
        count
    }

    /// Carries the calls of a batch out.
    pub fn carry_out(&mut self, batch: &Batch, answers: &mut Answers) {
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
}

impl Queries for Bench {
    fn query(&mut self, _what: &str, sql: &str) -> Result<Vec<Vec<Value>>, Refused> {
        let text = Statement { name: sql.to_owned(), sql: sql.to_owned(), rows: true };
        let mut answers = Answers::default();
        self.answer(&text, &[], &mut answers);
        Ok(answers.get(0).rows().map(<[Value]>::to_vec).collect())
    }

    fn transaction(&mut self, _what: &str, statements: Vec<String>) -> Result<(), Refused> {
        self.db.execute_batch(&format!("begin; {}; commit", statements.join("; "))).unwrap();
        Ok(())
    }

    fn empty(&mut self, _what: &str, table: &str) -> Result<(), Refused> {
        self.db.execute_batch(&format!("delete from {table}")).unwrap();
        Ok(())
    }
}
