//! Bulk loads by `COPY ... FROM STDIN`: in the binary form where all columns have types that we write so, else as text.
//!
//! The one idea: rows are written straight into one buffer of messages that is sent whenever it is full, so that a row costs
//! its bytes and nothing else.

use super::session::PostgresSession;
use super::wire::{Front, Kind, Said, front};
use crate::conversation::Wire as _;
use crate::{Failure, FailureKind, Rows, Session};
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use std::fmt::Write;
use workload::transaction::Value;

/// Bytes of rows that travel in one message and one write.
const CHUNK: usize = 256 << 10;

/// Loads rows. Table and columns stand as they do in SQL.
pub(super) fn load(
    session: &mut PostgresSession,
    table: &str,
    columns: &[&str],
    rows: &mut dyn Rows,
) -> Result<u64, Failure> {
    let list = columns.join(", ");
    session.script(&format!("SELECT {list} FROM {table} LIMIT 0"))?;
    let kinds = session.wire.columns().to_vec();
    let binary = kinds.iter().all(|kind| !matches!(kind, Kind::Numeric | Kind::Other));
    let form = if binary { "binary" } else { "text" };
    begin(session, &format!("COPY {table} ({list}) FROM STDIN (FORMAT {form})"))?;
    let mut chunk = Chunk::new();
    if binary {
        chunk.0.extend_from_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
    }
    match stream(session, &mut chunk, table, columns, binary.then_some(&kinds[..]), rows) {
        Ok(()) => finish(session, chunk),
        Err(failure) if failure.kind == FailureKind::Lost => Err(failure),
        Err(failure) => {
            give_up(session);
            Err(failure)
        }
    }
}

/// Writes all rows, and stops early when the server refused one.
fn stream(
    session: &mut PostgresSession,
    chunk: &mut Chunk,
    table: &str,
    columns: &[&str],
    kinds: Option<&[Kind]>,
    rows: &mut dyn Rows,
) -> Result<(), Failure> {
    let mut row = Vec::with_capacity(columns.len());
    // The row goes back as it is, so that its texts keep their memory.
    while rows.next(&mut row) {
        if row.len() != columns.len() {
            let text = format!("{table} takes {} columns, got a row of {}", columns.len(), row.len());
            return Err(Failure::refused(text));
        }
        match kinds {
            Some(kinds) => binary_row(&mut chunk.0, &row, kinds).map_err(|at| unfit(table, columns[at], &row[at]))?,
            None => text_row(&mut chunk.0, &row),
        }
        if chunk.0.len() >= CHUNK {
            chunk.send(session)?;
            if session.stream.readable() && answered(session)? {
                return Ok(());
            }
        }
    }
    if kinds.is_some() {
        chunk.0.extend_from_slice(&(-1i16).to_be_bytes());
    }
    Ok(())
}

fn unfit(table: &str, column: &str, value: &Value) -> Failure {
    let kind = match value {
        Value::Null => "no value",
        Value::Int(_) => "a whole number",
        Value::Float(_) => "a fraction",
        Value::Text(_) => "a text",
    };
    Failure::refused(format!("{table}.{column} cannot hold {kind} such as the one given"))
}

/// Asks for the copy and waits until the server wants rows.
fn begin(session: &mut PostgresSession, sql: &str) -> Result<(), Failure> {
    let mut out = BytesMut::new();
    let written = frontend::query(sql, &mut out);
    written.map_err(|source| Failure::refused(source.to_string()))?;
    session.send(&out)?;
    match until(session, b"GZ")? {
        (b'G', _, _) => Ok(()),
        (_, failure, _) => Err(failed(session, failure)),
    }
}

fn finish(session: &mut PostgresSession, mut chunk: Chunk) -> Result<u64, Failure> {
    chunk.send(session)?;
    let mut out = BytesMut::new();
    frontend::copy_done(&mut out);
    session.send(&out)?;
    match until(session, b"Z")? {
        (_, None, count) => Ok(count),
        (_, failure, _) => Err(failed(session, failure)),
    }
}

/// Tells the server to forget the rows, for a reason of ours.
fn give_up(session: &mut PostgresSession) {
    let mut out = BytesMut::new();
    let told = frontend::copy_fail("given up", &mut out).is_ok() && session.send(&out).is_ok();
    if told && until(session, b"Z").is_ok() {
        let _ = failed(session, None);
    }
}

/// A transaction around the copy is undone, as after any other failure.
fn failed(session: &mut PostgresSession, failure: Option<Failure>) -> Failure {
    let failure = failure.unwrap_or_else(|| Failure::refused("the server takes no rows here"));
    match session.script("ROLLBACK") {
        Err(lost) if lost.kind == FailureKind::Lost => lost,
        _ => failure,
    }
}

/// Whether the server refused the rows already. What it said stays unread.
fn answered(session: &mut PostgresSession) -> Result<bool, Failure> {
    session.read_more()?;
    let (mut at, unread) = (0, session.wire.unread());
    while let Front::Message(message, length) = front(&unread[at..]) {
        if message.tag == b'E' {
            return Ok(true);
        }
        at += length;
    }
    Ok(false)
}

/// Reads up to a message of one of these kinds: which it was, the failure on the way, and how many rows were copied.
fn until(session: &mut PostgresSession, tags: &[u8]) -> Result<(u8, Option<Failure>, u64), Failure> {
    let (mut failure, mut copied) = (None, 0);
    loop {
        let unread = session.wire.unread();
        let Front::Message(message, length) = front(unread) else {
            session.read_more()?;
            continue;
        };
        let tag = message.tag;
        match tag {
            b'E' => {
                let said = Said::of(message.body);
                if said.last() {
                    return Err(said.failure(None));
                }
                failure = Some(said.failure(None));
            }
            b'C' => copied = count(message.body),
            _ => {}
        }
        unread.drain(..length);
        if tags.contains(&tag) {
            return Ok((tag, failure, copied));
        }
    }
}

/// `COPY 5`.
fn count(body: &[u8]) -> u64 {
    let words = String::from_utf8_lossy(body.strip_suffix(b"\0").unwrap_or(body));
    words.strip_prefix("COPY ").and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// A message of rows in the making; its first five bytes are its letter and length.
struct Chunk(Vec<u8>);

impl Chunk {
    fn new() -> Chunk {
        let mut bytes = Vec::with_capacity(CHUNK + (CHUNK >> 2));
        bytes.extend_from_slice(b"d\0\0\0\0");
        Chunk(bytes)
    }

    fn send(&mut self, session: &mut PostgresSession) -> Result<(), Failure> {
        let length = u32::try_from(self.0.len() - 1).unwrap_or(u32::MAX);
        self.0[1..5].copy_from_slice(&length.to_be_bytes());
        session.send(&self.0)?;
        self.0.truncate(5);
        Ok(())
    }
}

/// Appends one row in the binary form; the place of the value that does not fit its column otherwise.
fn binary_row(out: &mut Vec<u8>, row: &[Value], kinds: &[Kind]) -> Result<(), usize> {
    out.extend_from_slice(&(row.len() as i16).to_be_bytes());
    for (at, (value, kind)) in row.iter().zip(kinds).enumerate() {
        binary_field(out, value, *kind).ok_or(at)?;
    }
    Ok(())
}

fn binary_field(out: &mut Vec<u8>, value: &Value, kind: Kind) -> Option<()> {
    match (value, kind) {
        (Value::Null, _) => out.extend_from_slice(&(-1i32).to_be_bytes()),
        (Value::Int(number), Kind::Int8) => field(out, &number.to_be_bytes()),
        (Value::Int(number), Kind::Int4) => field(out, &i32::try_from(*number).ok()?.to_be_bytes()),
        (Value::Int(number), Kind::Int2) => field(out, &i16::try_from(*number).ok()?.to_be_bytes()),
        (Value::Int(number @ (0 | 1)), Kind::Bool) => field(out, &[*number as u8]),
        (Value::Int(number), Kind::Float8) => field(out, &(*number as f64).to_be_bytes()),
        (Value::Int(number), Kind::Float4) => field(out, &(*number as f32).to_be_bytes()),
        (Value::Int(number), Kind::Text) => field(out, itoa::Buffer::new().format(*number).as_bytes()),
        (Value::Float(number), Kind::Float8) => field(out, &number.to_be_bytes()),
        (Value::Float(number), Kind::Float4) => field(out, &(*number as f32).to_be_bytes()),
        (Value::Float(number), Kind::Text) => field(out, number.to_string().as_bytes()),
        (Value::Text(text), Kind::Text) => field(out, text.as_bytes()),
        _ => return None,
    }
    Some(())
}

#[inline]
fn field(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Appends one row as text: fields between tabs, `\N` for no value.
fn text_row(out: &mut Vec<u8>, row: &[Value]) {
    for (at, value) in row.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        match value {
            Value::Null => out.extend_from_slice(b"\\N"),
            Value::Int(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
            Value::Float(number) => {
                let mut text = String::new();
                // Writing to a String cannot fail.
                let _ = write!(text, "{number}");
                out.extend_from_slice(text.as_bytes());
            }
            Value::Text(text) => escaped(out, text),
        }
    }
    out.push(b'\n');
}

fn escaped(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            other => out.push(other),
        }
    }
}
