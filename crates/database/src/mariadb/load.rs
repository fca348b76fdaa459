//! Bulk loads.
//!
//! The one idea: rows are encoded here while the server reads the ones before, as one file that never exists; where the
//! server does not take files from its clients, as inserts of many rows. Either way all rows are kept or none.
//!
//! What it does not do: it makes no table and no index.

use super::value::field;
use crate::Rows;
use crate::dialect::{literal, quoted};
use mysql::prelude::Queryable;
use mysql::{Conn, Error, LocalInfileHandler};
use std::io::Write;
use std::sync::mpsc::{SyncSender, sync_channel};
use study::Engine;
use workload::transaction::Value;

/// Bytes that are handed over at once.
const CHUNK: usize = 256 << 10;

/// Bytes of one insert.
const INSERT: usize = 1 << 20;

/// How rows travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Road {
    /// As a file that the client sends.
    File,
    /// As inserts of many rows, each of at most so many bytes.
    Inserts(usize),
}

/// Where rows go.
pub(super) struct Into<'a> {
    pub(super) table: &'a str,
    pub(super) columns: &'a [&'a str],
}

/// Why rows were not loaded.
pub(super) enum Why {
    /// The server or the connection failed.
    Server(Error),
    /// The server took fewer rows than it was sent, or changed some.
    Left(String),
}

impl From<Error> for Why {
    fn from(error: Error) -> Why {
        Why::Server(error)
    }
}

/// The fastest road that the server allows.
pub(super) fn road(connection: &mut Conn) -> Result<Road, Error> {
    let allowed: Option<(i64, usize)> = connection.query_first("SELECT @@local_infile, @@max_allowed_packet")?;
    Ok(match allowed {
        Some((0, packet)) => Road::Inserts(INSERT.min(packet / 2)),
        _ => Road::File,
    })
}

/// Loads all rows, or none; answers how many. After an error the transaction is still open.
pub(super) fn load(connection: &mut Conn, road: Road, into: &Into<'_>, rows: &mut dyn Rows) -> Result<u64, Why> {
    connection.query_drop("START TRANSACTION")?;
    let sent = match road {
        Road::File => file(connection, into, rows)?,
        Road::Inserts(most) => inserts(connection, into, rows, most)?,
    };
    connection.query_drop("COMMIT")?;
    Ok(sent)
}

impl Into<'_> {
    fn table(&self) -> String {
        quoted(Engine::Mariadb, self.table)
    }

    fn columns(&self) -> String {
        self.columns.iter().map(|name| quoted(Engine::Mariadb, name)).collect::<Vec<_>>().join(", ")
    }
}

/// The session waits in a thread of its own while rows are encoded in this one.
fn file(connection: &mut Conn, into: &Into<'_>, rows: &mut dyn Rows) -> Result<u64, Why> {
    let (table, columns) = (into.table(), into.columns());
    // Separators as numbers: whether a backslash is an escape in the statement depends on the session.
    let sql = format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY X'09' ESCAPED BY X'5C' LINES TERMINATED BY X'0A' ({columns})"
    );
    let (sender, receiver) = sync_channel::<Vec<u8>>(4);
    connection.set_local_infile_handler(Some(LocalInfileHandler::new(move |_, stream| {
        receiver.iter().try_for_each(|chunk| stream.write_all(&chunk))
    })));
    let (sent, taken) = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let taken = connection.query_iter(sql).map(|result| (result.affected_rows(), result.warnings()));
            // Without its handler nobody receives, so that the one who encodes stops too.
            connection.set_local_infile_handler(None);
            taken
        });
        let sent = encode(rows, sender);
        (sent, waiting.join())
    });
    let (kept, warnings) = match taken {
        Ok(taken) => taken?,
        Err(_) => return Err(Why::Left("the thread that sends rows ended by a panic".to_owned())),
    };
    // The server keeps what it can of a client's file; a load that is not whole is none.
    if kept != sent || warnings > 0 {
        return Err(Why::Left(left(connection, &table, kept, sent)?));
    }
    Ok(sent)
}

/// Encodes rows until there are no more, or until nobody receives; answers how many.
fn encode(rows: &mut dyn Rows, sender: SyncSender<Vec<u8>>) -> u64 {
    let (mut sent, mut row, mut chunk) = (0, Vec::new(), Vec::with_capacity(CHUNK + CHUNK / 4));
    while rows.next(&mut row) {
        for (place, value) in row.iter().enumerate() {
            if place > 0 {
                chunk.push(b'\t');
            }
            field(&mut chunk, value);
        }
        chunk.push(b'\n');
        sent += 1;
        if chunk.len() >= CHUNK {
            let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK + CHUNK / 4));
            if sender.send(full).is_err() {
                return sent;
            }
        }
    }
    // When nobody receives, the answer of the server says why.
    let _ = sender.send(chunk);
    sent
}

/// What was not taken, in words, with the server's first reasons.
fn left(connection: &mut Conn, table: &str, kept: u64, sent: u64) -> Result<String, Error> {
    let reasons: Vec<(String, u64, String)> = connection.query("SHOW WARNINGS LIMIT 3")?;
    let reasons: Vec<String> = reasons.into_iter().map(|(_, code, text)| format!("error {code}: {text}")).collect();
    Ok(format!("{table} took {kept} of {sent} rows as they were sent, so none is kept; {}", reasons.join("; ")))
}

fn inserts(connection: &mut Conn, into: &Into<'_>, rows: &mut dyn Rows, most: usize) -> Result<u64, Why> {
    let head = format!("INSERT INTO {} ({}) VALUES ", into.table(), into.columns());
    let (mut sent, mut row, mut sql) = (0, Vec::new(), head.clone());
    while rows.next(&mut row) {
        if sql.len() > head.len() {
            sql.push(',');
        }
        tuple(&mut sql, &row);
        sent += 1;
        if sql.len() >= most {
            connection.query_drop(&sql)?;
            sql.truncate(head.len());
        }
    }
    if sql.len() > head.len() {
        connection.query_drop(&sql)?;
    }
    Ok(sent)
}

fn tuple(sql: &mut String, row: &[Value]) {
    sql.push('(');
    for (place, value) in row.iter().enumerate() {
        if place > 0 {
            sql.push(',');
        }
        literal(Engine::Mariadb, value, sql);
    }
    sql.push(')');
}
