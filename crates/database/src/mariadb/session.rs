//! One session on MariaDB or MySQL.
//!
//! The one idea: a call is one exchange with the server; statements are prepared when they are first called, so that a
//! session that never calls one never pays for it.
//!
//! What it does not do: the protocol has no pipelining here, so that calls of a batch travel one after the other.

use super::failure::{OLDEST, failure, open_error, too_old};
use super::line::Line;
use super::place::Place;
use super::{costs, load, value};
use crate::dialect::{self, BEGIN, COMMIT, ROLLBACK};
use crate::opening::within;
use crate::session::{ANSWER_MAX, TOO_LONG};
use crate::{Cut, DatabaseError, Failure, FailureKind, Rows, Session, Text, Texts};
use mysql::prelude::{Protocol as Form, Queryable};
use mysql::{Conn, Error, QueryResult};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Engine, Protocol, Sessions};
use workload::transaction::{Answers, Batch, Call, Names, Value};

/// The server's number for a text that holds no statement.
const EMPTY_QUERY: u16 = 1065;

/// Backslashes in texts are escapes, whatever the server's own mode says: the dialect writes them so.
const MODE: &str = "SET SESSION sql_mode = REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')";

/// One session.
pub struct MariadbSession {
    connection: Conn,
    /// How it is cut from outside, where that can be done.
    line: Option<Arc<Line>>,
    protocol: Protocol,
    statements: Vec<Known>,
    /// Whether all sets of rows that a call gives back are kept.
    gathers: bool,
    /// The text of a call, when the protocol sends no values apart; kept for its memory.
    written: String,
    /// Where the costs of its statements are left when it ends, where they are counted.
    total: Option<costs::Total>,
}

/// A statement of the workload, and what the server knows of it.
struct Known {
    text: Text,
    prepared: Option<mysql::Statement>,
    /// What its columns are called, once it was carried out.
    names: Option<Names>,
    /// Whether the workload wants to know.
    named: bool,
    /// Its text with `$n`, when values are put into it as they are.
    spliced: Option<String>,
}

impl MariadbSession {
    /// Opens a session whose calls name `texts` by their places.
    ///
    /// # Errors
    /// Why there is no session: an address, a user, a database, a version.
    pub fn open(place: &Place, texts: &Texts, sessions: &Sessions) -> Result<MariadbSession, DatabaseError> {
        MariadbSession::open_until(place, texts, sessions, &AtomicBool::new(false))
    }

    /// The same, given up when `stop` becomes true.
    pub(super) fn open_until(
        place: &Place,
        texts: &Texts,
        sessions: &Sessions,
        stop: &AtomicBool,
    ) -> Result<MariadbSession, DatabaseError> {
        let (inside, texts, sessions) = (place.clone(), texts.clone(), *sessions);
        within(&place.shown(), place.patience(), stop, move || MariadbSession::begin(&inside, &texts, &sessions))
    }

    /// Opens a session, for as long as that takes.
    pub(super) fn begin(place: &Place, texts: &Texts, sessions: &Sessions) -> Result<MariadbSession, DatabaseError> {
        // Several providers of cryptography may be linked in; the library would not know which to take. That one is set
        // already is no error.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let refused = |error| open_error(&place.shown(), error).hiding(place.password.as_deref());
        place.authorities_are_there()?;
        place.key_is_there()?;
        let mut connection = Conn::new(place.options()).map_err(refused)?;
        let version: Option<String> = connection.query_first("SELECT VERSION()").map_err(refused)?;
        if let Some(found) = too_old(&version.unwrap_or_default()) {
            return Err(DatabaseError::Version { place: place.shown(), needed: OLDEST.to_owned(), found });
        }
        connection.query_drop(MODE).map_err(refused)?;
        if let Some(words) = dialect::isolation(Engine::Mariadb, sessions.isolation) {
            connection.query_drop(words).map_err(refused)?;
        }
        let known = |(place, text): (usize, &Text)| Known {
            text: text.clone(),
            prepared: None,
            names: None,
            named: texts.names_columns(place as u16),
            spliced: texts.spliced.then(|| text.numbered()),
        };
        let statements = texts.iter().enumerate().map(known).collect();
        let (protocol, gathers) = (sessions.protocol, texts.gathering);
        let line = Line::of(&connection);
        Ok(MariadbSession { connection, line, protocol, statements, gathers, written: String::new(), total: None })
    }

    /// The same session, which leaves the costs of its prepared statements there when it ends.
    pub(super) fn leaving(mut self, total: &costs::Total) -> MariadbSession {
        self.total = Some(total.clone());
        self
    }

    /// The version of the server in its own words, such as `10.11.19-MariaDB`.
    ///
    /// # Errors
    /// The failure.
    pub fn version(&mut self) -> Result<String, Failure> {
        Ok(self.one("SELECT VERSION()")?.as_ref().and_then(Value::text).unwrap_or_default().to_owned())
    }

    /// The server's number for this session.
    pub fn number(&self) -> u32 {
        self.connection.connection_id()
    }

    /// How it is cut from outside.
    pub(super) fn line(&self) -> Option<&Arc<Line>> {
        self.line.as_ref()
    }

    /// One call of the library. What makes it panic is an answer that it does not understand.
    fn call<T>(&mut self, call: impl FnOnce(&mut MariadbSession) -> Result<T, Error>) -> Result<T, Error> {
        let turn = |line: &Option<Arc<Line>>| line.iter().for_each(|line| line.turn());
        turn(&self.line);
        let called = catch_unwind(AssertUnwindSafe(|| call(self)));
        turn(&self.line);
        called.unwrap_or_else(|_| Err(Error::IoError(io::Error::other("the server said what is not understood"))))
    }

    fn carry_out(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Error> {
        for call in batch.calls() {
            match call {
                Call::Begin { .. } => self.word(BEGIN, answers)?,
                Call::Commit => self.word(COMMIT, answers)?,
                Call::Rollback => self.word(ROLLBACK, answers)?,
                Call::Statement { statement, parameters } => self.statement(statement, parameters, answers)?,
            }
        }
        Ok(())
    }

    fn word(&mut self, word: &str, answers: &mut Answers) -> Result<(), Error> {
        self.connection.query_drop(word)?;
        answers.begin(0);
        answers.end(0);
        Ok(())
    }

    fn statement(&mut self, index: u16, parameters: &[Value], answers: &mut Answers) -> Result<(), Error> {
        let known = &mut self.statements[usize::from(index)];
        if self.protocol == Protocol::Simple {
            self.written.clear();
            match &known.spliced {
                Some(numbered) => workload::sql::splice(numbered, parameters, &mut self.written),
                None => known.text.inline(parameters, &mut self.written),
            }
            let result = self.connection.query_iter(&self.written)?;
            let names = known.named.then_some(&mut known.names);
            return answer(result, answers, names, self.gathers, self.line.as_deref());
        }
        let prepared = match known.prepared.take() {
            Some(prepared) => prepared,
            None => self.connection.prep(&known.text.sql)?,
        };
        let prepared = &*known.prepared.insert(prepared);
        let null = Value::Null;
        let at = |place: &u16| value::out(parameters.get(usize::from(*place)).unwrap_or(&null));
        let values: Vec<mysql::Value> = known.text.order.iter().map(at).collect();
        let outcome = match self.connection.exec_iter(prepared, values) {
            Ok(result) => {
                let names = known.named.then_some(&mut known.names);
                answer(result, answers, names, self.gathers, self.line.as_deref())
            }
            Err(error) => Err(error),
        };
        if self.protocol == Protocol::Extended
            && let Some(prepared) = known.prepared.take()
        {
            // The server answers nothing to this one.
            self.connection.close(prepared)?;
        }
        outcome
    }

    /// Loads rows by this road.
    pub(super) fn load_by(
        &mut self,
        road: load::Road,
        table: &str,
        columns: &[&str],
        rows: &mut dyn Rows,
    ) -> Result<u64, Failure> {
        let into = load::Into { table, columns };
        let loaded = self.call(|session| Ok(load::load(&mut session.connection, road, &into, rows)));
        loaded.unwrap_or_else(|error| Err(load::Why::Server(error))).map_err(|why| match why {
            load::Why::Server(error) => self.recover(error),
            load::Why::Left(text) => {
                let undone = self.call(|session| session.connection.query_drop(ROLLBACK));
                let kind = if undone.is_ok() { FailureKind::Refused } else { FailureKind::Lost };
                Failure::new(kind, text)
            }
        })
    }

    #[cfg(test)]
    pub(super) fn connection(&mut self) -> &mut Conn {
        &mut self.connection
    }

    /// Undoes what a failed batch began, and says what the failure means.
    fn recover(&mut self, error: Error) -> Failure {
        let failure = failure(error);
        if failure.kind == FailureKind::Lost {
            return failure;
        }
        // The server ends the transaction only after a deadlock; after any other failure it would stand open.
        match self.call(|session| session.connection.query_drop(ROLLBACK)) {
            Ok(()) => failure,
            Err(_) => Failure::new(FailureKind::Lost, format!("{}; and the connection is gone", failure.text)),
        }
    }
}

impl Drop for MariadbSession {
    fn drop(&mut self) {
        let Some(total) = self.total.take() else { return };
        let prepared = self.statements.iter().filter_map(|known| {
            let number = known.prepared.as_ref()?.id();
            Some((number, known.text.sql.as_str()))
        });
        // A session that is lost adds nothing, and neither does a server that is not understood.
        let _ = catch_unwind(AssertUnwindSafe(|| costs::leave(&mut self.connection, prepared, &total)));
    }
}

impl Session for MariadbSession {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        self.call(|session| session.carry_out(batch, answers)).map_err(|error| self.recover(error))
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        // The server cuts the text itself, so that bodies of procedures stay whole.
        match self.call(|session| session.connection.query_iter(sql).and_then(|mut result| drain(&mut result))) {
            Err(Error::MySqlError(said)) if said.code == EMPTY_QUERY => Ok(()),
            Err(error) => Err(self.recover(error)),
            Ok(()) => Ok(()),
        }
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        let mut answers = Answers::default();
        let asked = self.call(|session| {
            let result = session.connection.query_iter(sql)?;
            answer(result, &mut answers, None, false, session.line.as_deref())
        });
        match asked {
            Ok(()) => Ok(answers.get(0).rows().map(<[Value]>::to_vec).collect()),
            Err(error) => Err(self.recover(error)),
        }
    }

    fn load(&mut self, table: &str, columns: &[&str], rows: &mut dyn Rows) -> Result<u64, Failure> {
        let road = self.call(|session| load::road(&mut session.connection)).map_err(failure)?;
        self.load_by(road, table, columns, rows)
    }

    fn cut(&self) -> Option<Cut> {
        let line = self.line.clone()?;
        Some(Box::new(move || line.cut()))
    }
}

/// Adds the answer: the first rows that came, or the number of rows that were changed. A procedure answers several times;
/// what it says behind its first rows is read and dropped, unless all are gathered, which have one column each.
fn answer<F: Form>(
    mut result: QueryResult<'_, '_, '_, F>,
    answers: &mut Answers,
    names: Option<&mut Option<Names>>,
    gathers: bool,
    line: Option<&Line>,
) -> Result<(), Error> {
    let mut changed = result.affected_rows();
    let columns = result.columns().as_ref().to_vec();
    answers.begin(columns.len());
    if let Some(names) = names.filter(|_| !columns.is_empty()) {
        let list = || columns.iter().map(|column| column.name_str().into_owned()).collect();
        answers.named(names.get_or_insert_with(list).clone());
    }
    let mut first = !columns.is_empty();
    let mut taken = 0;
    while let Some(set) = result.iter() {
        changed = changed.max(set.affected_rows());
        for row in set {
            let row = row?.unwrap_raw();
            taken += row.iter().flatten().map(size).sum::<usize>() + ROW;
            if taken > ANSWER_MAX {
                // The library would read the rest to its end.
                line.into_iter().for_each(Line::cut);
                return Err(Error::IoError(io::Error::other(TOO_LONG)));
            }
            if first {
                for (value, column) in row.into_iter().zip(&columns) {
                    answers.push(value::back(value.unwrap_or(mysql::Value::NULL), column));
                }
            }
        }
        first = gathers;
    }
    answers.end(changed);
    Ok(())
}

/// What a row without any value takes.
const ROW: usize = 32;

fn size(value: &mysql::Value) -> usize {
    if let mysql::Value::Bytes(bytes) = value { bytes.len() } else { 8 }
}

/// Reads everything that is left, so that a failure of a later statement is seen.
fn drain<F: Form>(result: &mut QueryResult<'_, '_, '_, F>) -> Result<(), Error> {
    while let Some(set) = result.iter() {
        for row in set {
            row?;
        }
    }
    Ok(())
}
