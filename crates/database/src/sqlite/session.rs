//! One SQLite connection as a session.

use super::costs::Samples;
use super::enter::enter;
use super::lock;
use super::queue::{Queue, Turn};
use crate::dialect::{self, COMMIT, ROLLBACK, quoted};
use crate::session::{ANSWER_MAX, TOO_LONG};
use crate::{Cut, Failure, FailureKind, Rows, Session, Text, Texts};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, Error, ErrorCode, Statement, ToSql, ffi};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use study::{Engine, Protocol, Sessions};
use workload::transaction::{Answers, Batch, Call, Value};

/// What a value costs beside its text.
const ROW: usize = size_of::<Value>();

/// A connection.
#[derive(Debug)]
pub(super) struct Connected {
    connection: Connection,
    texts: Texts,
    protocol: Protocol,
    queue: Arc<Queue>,
    stop: Arc<AtomicBool>,
    /// Set when this session alone shall end.
    cut: Arc<AtomicBool>,
    /// The turn to write, while this session has it.
    turn: Option<Turn>,
    /// Measures some executions, when costs are counted.
    samples: Option<Samples>,
}

impl Connected {
    /// Opens a connection to a file that is there, or to a `new` one, and prepares the statements.
    pub(super) fn open(
        path: &Path,
        new: bool,
        texts: &Texts,
        sessions: &Sessions,
        queue: Arc<Queue>,
        stop: Arc<AtomicBool>,
    ) -> Result<Connected, Failure> {
        // Sessions of this process wait in the queue.
        let connection = enter(path, new, &stop)?;
        // Room for all, and for begin, commit and rollback.
        connection.set_prepared_statement_cache_capacity(texts.len() + 8);
        let session = Connected {
            connection,
            texts: texts.clone(),
            protocol: sessions.protocol,
            queue,
            stop,
            cut: Arc::default(),
            turn: None,
            samples: None,
        };
        if session.protocol == Protocol::Prepared {
            session.prepare().map_err(|error| failure(&error))?;
        }
        Ok(session)
    }

    /// Has executions measured from here on.
    pub(super) fn measured(&mut self, by: impl FnOnce(&Connection) -> Option<Samples>) {
        self.samples = by(&self.connection);
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.texts.iter().try_for_each(|text| self.connection.prepare_cached(&text.sql).map(drop))
    }

    fn call(&mut self, call: Call<'_>, answers: &mut Answers) -> Result<(), Failure> {
        match call {
            Call::Begin { write } => {
                if write {
                    self.queue_up()?;
                }
                self.control(dialect::begin(Engine::Sqlite, write), answers)
            }
            Call::Commit => self.commit(answers),
            Call::Rollback => self.finish(ROLLBACK, answers),
            Call::Statement { statement, parameters } => {
                let at = usize::from(statement);
                let begun = self.samples.as_mut().and_then(|samples| samples.begin(at, &self.connection));
                let done = self.statement(statement, parameters, answers);
                if let Some(samples) = &mut self.samples {
                    samples.end(begun, &self.connection);
                }
                done
            }
        }
    }

    fn control(&self, sql: &str, answers: &mut Answers) -> Result<(), Failure> {
        answers.begin(0);
        let done = self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        done.map_err(|error| failure(&error))?;
        answers.end(0);
        Ok(())
    }

    fn finish(&mut self, sql: &str, answers: &mut Answers) -> Result<(), Failure> {
        self.control(sql, answers)?;
        self.turn = None;
        Ok(())
    }

    fn commit(&mut self, answers: &mut Answers) -> Result<(), Failure> {
        let begun = self.samples.as_mut().and_then(|samples| samples.begin(samples.commit(), &self.connection));
        let finished = self.finish(COMMIT, answers);
        if let Some(samples) = &mut self.samples {
            samples.end(begun, &self.connection);
        }
        finished
    }

    fn queue_up(&mut self) -> Result<(), Failure> {
        if self.turn.is_none() {
            let text = "the run was stopped while this session waited for its turn to write";
            let turn = self.queue.turn(&[&self.stop, &self.cut]);
            self.turn = Some(turn.ok_or_else(|| Failure::new(FailureKind::Stopped, text))?);
        }
        Ok(())
    }

    fn statement(&mut self, statement: u16, parameters: &[Value], answers: &mut Answers) -> Result<(), Failure> {
        let Some(text) = self.texts.get(statement) else {
            return Err(Failure::refused(format!("statement {statement} was not made known")));
        };
        let carried = carry(&self.connection, text, self.protocol, parameters, answers, self.turn.is_some());
        let carried = match carried {
            Ok(Carried::NeedsTurn) => {
                self.queue_up()?;
                let text = self.texts.get(statement).into_iter();
                let mut again =
                    text.map(|text| carry(&self.connection, text, self.protocol, parameters, answers, true));
                again.next().unwrap_or(Ok(Carried::Done))
            }
            other => other,
        };
        if self.connection.is_autocommit() {
            self.turn = None;
        }
        carried.map(drop).map_err(|error| failure(&error))
    }

    /// Brings the session back to where a transaction can begin.
    fn clean_up(&mut self) {
        if !self.connection.is_autocommit() {
            // Whatever this says, the failure that led here is the one to report.
            let _ = self.connection.execute_batch(ROLLBACK);
        }
        self.turn = None;
    }

    fn insert(&self, sql: &str, columns: usize, rows: &mut dyn Rows) -> rusqlite::Result<u64> {
        let mut statement = self.connection.prepare(sql)?;
        let (mut row, mut count) = (Vec::with_capacity(columns), 0);
        while rows.next(&mut row) {
            bind(&mut statement, &row)?;
            statement.raw_execute()?;
            count += 1;
        }
        Ok(count)
    }
}

/// What became of a statement.
enum Carried {
    Done,
    /// It writes, and the session has not been given its turn.
    NeedsTurn,
}

fn carry(
    connection: &Connection,
    text: &Text,
    protocol: Protocol,
    parameters: &[Value],
    answers: &mut Answers,
    may_write: bool,
) -> rusqlite::Result<Carried> {
    match protocol {
        Protocol::Prepared => {
            let mut statement: CachedStatement<'_> = connection.prepare_cached(&text.sql)?;
            step(connection, &mut statement, parameters, answers, may_write)
        }
        Protocol::Extended => step(connection, &mut connection.prepare(&text.sql)?, parameters, answers, may_write),
        Protocol::Simple => {
            let mut sql = String::new();
            text.inline(parameters, &mut sql);
            step(connection, &mut connection.prepare(&sql)?, &[], answers, may_write)
        }
    }
}

fn step(
    connection: &Connection,
    statement: &mut Statement<'_>,
    parameters: &[Value],
    answers: &mut Answers,
    may_write: bool,
) -> rusqlite::Result<Carried> {
    let reads = statement.readonly();
    if !reads && !may_write {
        return Ok(Carried::NeedsTurn);
    }
    bind(statement, parameters)?;
    let columns = statement.column_count();
    answers.begin(columns);
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            answers.push(value(row.get_ref(column)?));
        }
    }
    drop(rows);
    answers.end(if reads { 0 } else { connection.changes() });
    Ok(Carried::Done)
}

fn bind(statement: &mut Statement<'_>, parameters: &[Value]) -> rusqlite::Result<()> {
    let wanted = statement.parameter_count();
    if parameters.len() < wanted {
        return Err(Error::InvalidParameterCount(parameters.len(), wanted));
    }
    // A workload may hand over a value that this engine's text does not use.
    for (at, parameter) in parameters.iter().take(wanted).enumerate() {
        statement.raw_bind_parameter(at + 1, Bound(parameter))?;
    }
    Ok(())
}

/// A value as SQLite binds it, without a copy.
struct Bound<'a>(&'a Value);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Float(number) => ValueRef::Real(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

fn value(field: ValueRef<'_>) -> Value {
    match field {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Float(number),
        ValueRef::Text(text) | ValueRef::Blob(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

/// What SQLite's error means.
pub(super) fn failure(error: &Error) -> Failure {
    let extended = error.sqlite_error().map(|code| code.extended_code);
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) if lock::stopped() => FailureKind::Stopped,
        // Another process wrote, or this transaction read before it wrote and somebody was faster.
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => FailureKind::Serialization,
        Some(ErrorCode::OperationInterrupted) => FailureKind::Stopped,
        Some(ErrorCode::DiskFull) => FailureKind::Full,
        // The index of a write-ahead log could not be made longer.
        Some(ErrorCode::SystemIoFailure) if extended == Some(ffi::SQLITE_IOERR_SHMSIZE) => FailureKind::Full,
        // Its disk is gone: nothing can be asked until it is back.
        Some(ErrorCode::SystemIoFailure) => FailureKind::Lost,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => FailureKind::Unreadable,
        _ => FailureKind::Refused,
    };
    let holder = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) => ": another connection holds its lock",
        _ => "",
    };
    match extended {
        Some(code) => Failure::new(kind, format!("{error}{holder} (SQLite code {code})")),
        None => Failure::new(kind, error.to_string()),
    }
}

impl Session for Connected {
    fn in_transaction(&self) -> Option<bool> {
        Some(!self.connection.is_autocommit())
    }

    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        let done = batch.calls().try_for_each(|call| self.call(call, answers));
        if done.is_err() {
            self.clean_up();
        }
        done
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        let done = self.connection.execute_batch(sql).map_err(|error| failure(&error));
        if done.is_err() {
            self.clean_up();
        }
        done
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        let mut taken = 0;
        let mut read = || {
            let mut statement = self.connection.prepare(sql)?;
            let columns = statement.column_count();
            let (mut rows, mut all) = (statement.query([])?, Vec::new());
            while let Some(row) = rows.next()? {
                let row: Vec<Value> =
                    (0..columns).map(|at| Ok(value(row.get_ref(at)?))).collect::<Result<_, Error>>()?;
                taken += row.iter().map(|value| value.text().map_or(ROW, str::len) + ROW).sum::<usize>();
                if taken > ANSWER_MAX {
                    break;
                }
                all.push(row);
            }
            Ok(all)
        };
        let all = read().map_err(|error| failure(&error))?;
        if taken > ANSWER_MAX { Err(Failure::refused(TOO_LONG)) } else { Ok(all) }
    }

    fn load(&mut self, table: &str, columns: &[&str], rows: &mut dyn Rows) -> Result<u64, Failure> {
        let engine = Engine::Sqlite;
        let names: Vec<String> = columns.iter().map(|name| quoted(engine, name)).collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", quoted(engine, table), names.join(", "));
        self.queue_up()?;
        // Inside a transaction of the caller's it is part of that one.
        let own = self.connection.is_autocommit();
        let mut load = || {
            self.connection.execute_batch(if own { "SAVEPOINT load" } else { "SAVEPOINT part" })?;
            let count = self.insert(&sql, columns.len(), rows)?;
            self.connection.execute_batch(if own { "RELEASE load" } else { "RELEASE part" })?;
            Ok(count)
        };
        let loaded = load().map_err(|error: Error| failure(&error));
        if loaded.is_err() || own {
            self.clean_up();
        }
        loaded
    }

    /// A statement is interrupted, and whoever waits for a turn to write leaves the line.
    fn cut(&self) -> Option<Cut> {
        let (cut, statement) = (self.cut.clone(), self.connection.get_interrupt_handle());
        Some(Box::new(move || {
            cut.store(true, Ordering::Relaxed);
            statement.interrupt();
        }))
    }
}
