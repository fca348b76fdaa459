//! The few operations that two servers must know to be a pair.

use crate::MirrorError;
use database::server::Behind;
use database::server::mariadb::Group;
use database::{DatabaseError, Failure, FailureKind, Session};
use pair::Node;
use units::Nanos;
use workload::transaction::Value;

/// Rows of texts; a value that is none is empty.
pub type Rows = Vec<Vec<String>>;

/// Settings of a server, by its own names.
pub type Settings = Vec<(String, String)>;

/// Two nodes, as whoever runs a pair needs them.
pub trait Nodes {
    /// The time now, since 1970.
    fn now(&self) -> Nanos;

    /// Lets a moment pass: between two looks.
    fn pass(&mut self, time: Nanos);

    /// Tells the user how far it is.
    fn say(&mut self, text: &str);

    /// A session in a database of a node; an error when it does not let us in within some seconds.
    ///
    /// # Errors
    /// Why not.
    fn session(&mut self, node: Node, database: &str) -> Result<Box<dyn Session>, MirrorError>;

    /// Whether a node has data.
    fn has_data(&self, node: Node) -> bool;

    /// Starts a node with these settings, as one that stands by for the other or as what it was. One that runs is told them.
    ///
    /// # Errors
    /// When it does not start.
    fn serve(&mut self, node: Node, settings: &Settings, stands_by: bool) -> Result<(), MirrorError>;

    /// Gives a node its settings for its next start, and has one that answers read them now.
    ///
    /// # Errors
    /// When it did not read them.
    fn told(&mut self, node: Node, settings: &Settings, answers: bool) -> Result<(), MirrorError>;

    /// Sees to it that nobody else started a server on a node's data.
    ///
    /// # Errors
    /// When somebody did: its process.
    fn unoccupied(&self, _node: Node) -> Result<(), MirrorError> {
        Ok(())
    }

    /// Ends a node in order; all of its log goes to who follows it first.
    ///
    /// # Errors
    /// When it does not end.
    fn end(&mut self, node: Node) -> Result<(), MirrorError>;

    /// Ends a node at once, and, where `stands_by` says so, marks its data so that it comes back only as one that stands by.
    ///
    /// # Errors
    /// When it does not end.
    fn bar(&mut self, node: Node, stands_by: bool) -> Result<(), MirrorError>;

    /// Puts a copy of the other node in the place of a node's data; the other keeps its log in this slot, where one is named.
    ///
    /// # Errors
    /// When there is no room, or the copy breaks off.
    fn copy(&mut self, node: Node, via: Option<&str>, slot: &str) -> Result<(), MirrorError>;

    /// A node takes back what it has and the other has not.
    ///
    /// # Errors
    /// When its log does not reach back so far.
    fn back(&mut self, node: Node) -> Result<(), MirrorError>;

    /// Where the log of a node ends that ended in order.
    ///
    /// # Errors
    /// When that cannot be read.
    fn closed_at(&mut self, node: Node) -> Result<Option<String>, MirrorError>;

    /// What the log of a node that does not run holds behind a place; none where that cannot be known.
    ///
    /// # Errors
    /// When somebody wants an end.
    fn log_behind(&mut self, _node: Node, _from: u64) -> Result<Option<Behind>, MirrorError> {
        Ok(None)
    }

    /// Ends a node at once, and removes all that it has.
    ///
    /// # Errors
    /// When it does not end, or a file stays.
    fn remove(&mut self, node: Node) -> Result<(), MirrorError>;

    /// How the other says where it finds this node.
    fn reached_by(&self, node: Node, via: Option<&str>, name: &str) -> String;

    /// Starts the third voter of a pair that Galera joins, or ends it where none is to be.
    ///
    /// # Errors
    /// When its package is not installed, or it does not start or end.
    fn voter(&mut self, _group: Option<&Group>) -> Result<(), MirrorError> {
        Ok(())
    }

    /// Asks a node, and answers with texts.
    ///
    /// # Errors
    /// When it does not answer, or refuses.
    fn ask(&mut self, node: Node, doing: &'static str, sql: &str) -> Result<Rows, MirrorError> {
        asked(&mut *self.session(node, "postgres")?, node, doing, sql)
    }
}

/// The rows of a statement as texts.
pub(crate) fn asked(
    session: &mut dyn Session,
    node: Node,
    doing: &'static str,
    sql: &str,
) -> Result<Rows, MirrorError> {
    session.query(sql).map(texts).map_err(|failure| failed(node, doing, failure))
}

/// Statements that answer with nothing.
pub(crate) fn said(session: &mut dyn Session, node: Node, doing: &'static str, sql: &str) -> Result<(), MirrorError> {
    session.script(sql).map_err(|failure| failed(node, doing, failure))
}

fn failed(node: Node, doing: &'static str, failure: Failure) -> MirrorError {
    match failure.kind {
        FailureKind::Stopped => DatabaseError::Stopped.into(),
        _ => MirrorError::Statement(node, doing, failure),
    }
}

/// Rows as texts.
pub(crate) fn texts(rows: Vec<Vec<Value>>) -> Rows {
    let text = |value: Value| match value {
        Value::Null => String::new(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => text,
    };
    rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}
