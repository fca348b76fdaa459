//! The commands of a script, as they are read.
//!
//! What it does not do: it runs nothing; `program` gives statements their places, and `run` carries commands out.

use super::expression::Expression;
use super::problem::ScriptPlace;
use super::substitute::Replaced;

/// A command and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Command {
    pub(super) place: ScriptPlace,
    pub(super) action: Action,
}

/// What a command does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Set {
        variable: u16,
        expression: Expression,
    },
    Sleep {
        amount: Amount,
        unit: Unit,
    },
    Sql {
        parts: Vec<Part>,
        keep: Option<Keep>,
        /// The place of its first statement, once it is compiled.
        first: u16,
    },
    If(Expression),
    Elif(Expression),
    Else,
    Endif,
    StartPipeline,
    SyncPipeline,
    EndPipeline,
}

/// How long to sleep, in units.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Amount {
    Fixed(i64),
    Variable(u16),
}

/// A unit of time: its word and its nanoseconds.
pub(super) type Unit = (&'static str, u64);

pub(super) const UNITS: [Unit; 3] = [("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) place: ScriptPlace,
    /// As the user wrote it.
    pub(super) written: String,
    /// As it is sent.
    pub(super) made: Replaced,
    pub(super) rows: bool,
    pub(super) bound: Option<Bound>,
}

/// A statement that is nothing but the beginning or the end of a transaction. The session knows it as such: it can queue
/// writers of an engine that has one at a time, and it knows when a commit is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Begin,
    Commit,
    Rollback,
}

/// Answers that become variables.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keep {
    /// Of every statement of a combined query, rather than of its last one alone.
    pub(super) all: bool,
    /// What the names of the variables begin with.
    pub(super) prefix: String,
    /// Its number among all that are kept, once it is compiled, so that a worker can remember what their columns mean.
    pub(super) number: u16,
}

impl Part {
    /// A short name: the first words.
    pub(super) fn gist(&self) -> String {
        self.written.split_whitespace().take(3).collect::<Vec<_>>().join(" ").chars().take(40).collect()
    }
}

/// Whether a statement of these words gives rows back, as far as its words tell.
pub(super) fn gives_rows(words: &[String]) -> bool {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    match words.first().map(String::as_str) {
        Some("with") => !has(&["insert", "update", "delete", "merge"]) || has(&["returning"]),
        Some(
            "select" | "values" | "table" | "show" | "explain" | "fetch" | "execute" | "call" | "pragma" | "describe"
            | "desc" | "check" | "analyze",
        ) => true,
        _ => has(&["returning"]),
    }
}

/// Whether the words are nothing but the beginning or the end of a transaction.
pub(super) fn bound(sql: &str, words: &[String]) -> Option<Bound> {
    // Anything besides words, such as a savepoint's name in quotes, makes it an ordinary statement.
    if sql.bytes().any(|byte| !byte.is_ascii_alphabetic() && !byte.is_ascii_whitespace()) {
        return None;
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["begin"] | ["begin" | "start", "transaction"] | ["begin", "work"] => Some(Bound::Begin),
        ["commit" | "end"] | ["commit" | "end", "transaction" | "work"] => Some(Bound::Commit),
        ["rollback" | "abort"] | ["rollback" | "abort", "transaction" | "work"] => Some(Bound::Rollback),
        _ => None,
    }
}
