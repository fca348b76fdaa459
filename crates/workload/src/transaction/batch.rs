//! What a transaction asks for next: calls that may travel together.

use super::texts::Place;
use super::{Step, Value};

/// A statement that a workload may call, by its place in the workload's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What profiles and reports call it, such as `trade-order: insert trade`.
    pub name: String,
    /// Portable SQL; `$1` is the first parameter.
    pub sql: String,
    /// Whether it gives rows back.
    pub rows: bool,
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call<'a> {
    /// Begins a transaction; `write` says that it will change something, so that an engine with a single writer can
    /// queue it before it reads.
    Begin {
        /// Whether anything will be changed.
        write: bool,
    },
    /// Ends the transaction and keeps what it did.
    Commit,
    /// Ends the transaction and undoes what it did.
    Rollback,
    /// A statement with its parameters.
    Statement {
        /// Place in the workload's list.
        statement: u16,
        /// `$1`, `$2`, ...
        parameters: &'a [Value],
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    Begin { write: bool },
    Commit,
    Rollback,
    Statement { statement: u16, from: u32, to: u32 },
}

/// Calls in order. A session may send them together; each has one answer. One batch is filled again and again, so that
/// its memory is reused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    entries: Vec<Entry>,
    values: Vec<Value>,
}

impl Batch {
    /// Forgets all calls and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.values.clear();
    }

    /// Adds the beginning of a transaction.
    pub fn begin(&mut self, write: bool) {
        self.entries.push(Entry::Begin { write });
    }

    /// Adds a commit.
    pub fn commit(&mut self) {
        self.entries.push(Entry::Commit);
    }

    /// Adds a rollback.
    pub fn rollback(&mut self) {
        self.entries.push(Entry::Rollback);
    }

    /// Adds a statement.
    pub fn call(&mut self, statement: u16, parameters: impl IntoIterator<Item = Value>) {
        let from = self.values.len() as u32;
        self.values.extend(parameters);
        self.entries.push(Entry::Statement { statement, from, to: self.values.len() as u32 });
    }

    /// How many calls there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The calls in order.
    pub fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        (0..self.entries.len()).map(|index| self.get(index))
    }

    /// One call, counted from 0.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn get(&self, index: usize) -> Call<'_> {
        match self.entries[index] {
            Entry::Begin { write } => Call::Begin { write },
            Entry::Commit => Call::Commit,
            Entry::Rollback => Call::Rollback,
            Entry::Statement { statement, from, to } => {
                Call::Statement { statement, parameters: &self.values[from as usize..to as usize] }
            }
        }
    }
}

// A transaction that only reads, and knows all its questions beforehand.
//
// The one idea: all questions travel in one batch. One statement needs no transaction around it; several that must
// agree do.
//
// What it does not do: it does not look at the answers.

/// Questions, asked at once.
#[derive(Debug, Default)]
pub(crate) struct Ask {
    questions: Vec<(u16, Vec<Value>)>,
    asked: bool,
}

impl Ask {
    /// The same with one more question.
    pub(crate) fn with<const N: usize>(mut self, statement: impl Place, parameters: [Value; N]) -> Ask {
        self.questions.push((statement.place(), parameters.into()));
        self
    }

    /// What is asked: the places of the statements, with their parameters.
    pub(crate) fn questions(self) -> Vec<(u16, Vec<Value>)> {
        self.questions
    }

    /// The next step.
    pub(crate) fn step(&mut self, batch: &mut Batch) -> Step {
        if std::mem::replace(&mut self.asked, true) {
            return Step::Done { rolled_back: false };
        }
        let agree = self.questions.len() > 1;
        if agree {
            batch.begin(false);
        }
        for (statement, parameters) in self.questions.drain(..) {
            batch.call(statement, parameters);
        }
        if agree {
            batch.commit();
        }
        Step::Send
    }
}
