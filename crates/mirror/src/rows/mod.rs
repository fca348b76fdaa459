//! Rows on their way from one node to the other, and what each node knows of that by itself.
//!
//! The one idea: a node tells which rows changed in texts that every node reads alike, and which statement takes them; so whoever carries
//! them needs to know nothing of tables.

pub(crate) mod send;

use crate::nodes::{Rows, texts};
use database::{Failure, Session};

/// The word for this kind.
pub(crate) const KIND: &str = "two-phase-pair";

/// The superuser of the servers.
pub(crate) const USER: &str = database::server::postgres::USER;

/// How prepared transactions of ours are called: the number of the session on the primary follows.
pub(crate) const PREPARED: &str = database::server::postgres::PREPARED;

/// How sessions on the other node are called: the same number follows.
pub(crate) const SERVES: &str = "prony pair ";

/// What every database of a node holds.
pub(crate) const SQL: &str = include_str!("pair.sql");

/// What a session must be for rows to be read as they were written, and for nobody's trigger to change them.
pub(crate) const SETTINGS: [(&str, &str); 10] = [
    ("client_encoding", "UTF8"),
    ("search_path", "pg_catalog"),
    ("datestyle", "ISO, YMD"),
    ("intervalstyle", "postgres"),
    ("timezone", "UTC"),
    ("lc_monetary", "C"),
    ("xmlbinary", "base64"),
    ("default_transaction_read_only", "off"),
    ("session_replication_role", "replica"),
    // Our own triggers fire all the same, and do nothing on a mirror.
    ("prony.applies", "on"),
];

/// Whoever answers to a statement with rows of texts.
pub(crate) trait Asks {
    /// Asks, and waits for the answer.
    fn ask(&mut self, sql: &str) -> Result<Rows, Failure>;
}

impl Asks for Box<dyn Session> {
    fn ask(&mut self, sql: &str) -> Result<Rows, Failure> {
        self.query(sql).map(texts)
    }
}

/// A text as a literal.
pub(crate) fn quoted(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if doubled.contains('\\') { format!(" E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") }
}

/// A definition on the other node, in the schemas and as whom it was said on the primary.
pub(crate) fn defining(sql: &str, path: &str, role: &str) -> [String; 6] {
    let set = |path: &str| format!("SELECT set_config('search_path', {}, true)", quoted(path));
    [
        format!("SET LOCAL ROLE \"{}\"", role.replace('"', "\"\"")),
        set(path),
        sql.to_owned(),
        "SET LOCAL ROLE NONE".to_owned(),
        set("pg_catalog"),
        "SELECT prony_pair.adopt()".to_owned(),
    ]
}
