//! One conversation with a database.

use workload::dataset::Rows;
use workload::transaction::{Answers, Batch, Value};

/// What a failure means for the one who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The engine aborted the transaction for a conflict with another (serialisation failure): it may be tried again.
    Serialization,
    /// The engine aborted the transaction to end a deadlock, or a lock was waited for too long: it may be tried again.
    Deadlock,
    /// The connection is gone. Whether a commit that had left was carried out is not known.
    Lost,
    /// No room is left on the server's disk.
    Full,
    /// Pages of the database are damaged, or its disk fails.
    Unreadable,
    /// The user may not do it.
    Privilege,
    /// The server refused it: a constraint, a statement that it does not know.
    Refused,
    /// The run was stopped before it was carried out.
    Stopped,
}

/// More bytes than this in one answer are no answer: they are read into memory, and a server that lies could fill it.
pub(crate) const ANSWER_MAX: usize = 256 << 20;

/// What is said of one that is longer.
pub(crate) const TOO_LONG: &str = "it answered with more than 256 MiB at once; ask for fewer rows";

/// Bytes of a server's words that are told; what lies may go on for megabytes.
const WORDS_MAX: usize = 1_000;

/// The beginning of what a server said, or all of it where it is short.
pub(crate) fn told(words: &str) -> String {
    let begin = units::first_bytes(words, WORDS_MAX);
    if begin.len() < words.len() { format!("{begin} ..") } else { begin.to_owned() }
}

/// Why a batch was not carried out to its end. Nothing of its transaction is kept, unless the connection was lost while a
/// commit was under way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// What it means.
    pub kind: FailureKind,
    /// What the server said, with its code; never with a password.
    pub text: String,
}

impl Failure {
    /// A failure of that kind.
    pub fn new(kind: FailureKind, text: impl Into<String>) -> Failure {
        Failure { kind, text: text.into() }
    }

    /// A statement that was refused, for that reason.
    pub fn refused(text: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Refused, text)
    }

    /// Whether the transaction may be tried again.
    pub fn retryable(&self) -> bool {
        matches!(self.kind, FailureKind::Serialization | FailureKind::Deadlock)
    }
}

/// Ends the call of a session that is under way, from another thread: with it the call fails, and where the engine knows no other
/// way, its connection is lost.
pub type Cut = Box<dyn Fn() + Send>;

/// One conversation with a database. Statements of a workload were made known when it was opened.
pub trait Session: Send {
    /// Carries out the calls in order and adds one answer for each. After a failure the transaction is rolled back and the
    /// session ready for the next, unless the connection was lost.
    ///
    /// # Errors
    /// The first failure; the calls behind it were not carried out.
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure>;

    /// Carries out statements that are separated by semicolons and answers with nothing: definitions, settings.
    ///
    /// # Errors
    /// The first failure.
    fn script(&mut self, sql: &str) -> Result<(), Failure>;

    /// One statement in the engine's own SQL, with the rows that it gives back as texts and numbers.
    ///
    /// # Errors
    /// The failure.
    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Failure>;

    /// The first field that a statement gives back, as [`Session::query`]; none when it gives back nothing.
    ///
    /// # Errors
    /// The failure.
    fn one(&mut self, sql: &str) -> Result<Option<Value>, Failure> {
        Ok(self.row(sql)?.into_iter().next())
    }

    /// The first row that a statement gives back, as [`Session::query`]; empty when it gives back none.
    ///
    /// # Errors
    /// The failure.
    fn row(&mut self, sql: &str) -> Result<Vec<Value>, Failure> {
        Ok(self.query(sql)?.into_iter().next().unwrap_or_default())
    }

    /// The first field that a statement gives back, where it is a text.
    ///
    /// # Errors
    /// The failure.
    fn text(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        Ok(self.one(sql)?.and_then(|value| value.text().map(str::to_owned)))
    }

    /// The first field that a statement gives back, where it is a number.
    ///
    /// # Errors
    /// The failure.
    fn number(&mut self, sql: &str) -> Result<Option<f64>, Failure> {
        Ok(self.one(sql)?.and_then(|value| value.number()))
    }

    /// Loads rows into a table by the engine's fastest road and answers how many there were.
    ///
    /// # Errors
    /// The failure; none of the rows is kept then.
    fn load(&mut self, table: &str, columns: &[&str], rows: &mut dyn Rows) -> Result<u64, Failure>;

    /// Whether a transaction is open now; none where that is not known, so that it follows from what was called.
    fn in_transaction(&self) -> Option<bool> {
        None
    }

    /// How a call is cut that does not end; none where every call ends by itself.
    fn cut(&self) -> Option<Cut> {
        None
    }
}
