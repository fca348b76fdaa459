//! Bulk loads.
//!
//! The one idea: rows are encoded while the server reads the ones before, as one file that never exists; where the
//! server does not take files from its clients, as inserts of many rows. Either way all rows are kept or none.
//!
//! What it does not do: it makes no table and no index.

use super::failure::Said;
use super::packet::{self, Front, HEAD, front};
use super::wire::MariadbWire;
use crate::conversation::{Blocking, Fields, Wire as _, lost};
use crate::dialect::{COMMIT, ROLLBACK, literal, quoted};
use crate::session::TOO_LONG;
use crate::{Failure, FailureKind, Rows};
use study::Engine;
use workload::transaction::Value;

/// A session that loads.
type Inside = Blocking<MariadbWire>;

/// Bytes of rows that travel in one packet and one write.
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

/// The fastest road that the server allows.
pub(super) fn road(inside: &mut Inside) -> Result<Road, Failure> {
    let allowed = inside.ask("SELECT @@local_infile, @@max_allowed_packet")?;
    Ok(match allowed.last().field(0, 0) {
        Value::Int(0) => Road::Inserts(INSERT.min(usize::try_from(allowed.last().int(0, 1)).unwrap_or(0) / 2)),
        _ => Road::File,
    })
}

/// Loads all rows, or none; answers how many.
pub(super) fn load(inside: &mut Inside, road: Road, into: &Into<'_>, rows: &mut dyn Rows) -> Result<u64, Failure> {
    inside.ask("START TRANSACTION")?;
    let sent = match road {
        Road::File => file(inside, into, rows),
        Road::Inserts(most) => inserts(inside, into, rows, most),
    };
    match sent {
        Ok(_) => inside.ask(COMMIT).and(sent),
        Err(failure) if failure.kind == FailureKind::Lost => Err(failure),
        Err(failure) => inside.ask(ROLLBACK).and(Err(failure)),
    }
}

impl Into<'_> {
    fn table(&self) -> String {
        quoted(Engine::Mariadb, self.table)
    }

    fn columns(&self) -> String {
        self.columns.iter().map(|name| quoted(Engine::Mariadb, name)).collect::<Vec<_>>().join(", ")
    }
}

fn file(inside: &mut Inside, into: &Into<'_>, rows: &mut dyn Rows) -> Result<u64, Failure> {
    let (table, columns) = (into.table(), into.columns());
    // Separators as numbers: whether a backslash is an escape in the statement depends on the session.
    let sql = format!(
        "\x03LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET utf8mb4 \
         FIELDS TERMINATED BY X'09' ESCAPED BY X'5C' LINES TERMINATED BY X'0A' ({columns})"
    );
    inside.send(&packet::packet(0, sql.as_bytes()))?;
    let (asked, number) = heard(inside)?;
    if asked.first() != Some(&0xfb) {
        return Err(lost("the server does not ask for the rows that it was told of"));
    }
    let (sent, number) = send(inside, rows, number.wrapping_add(1))?;
    inside.send(&packet::packet(number, b""))?;
    let (ended, _) = heard(inside)?;
    let mut fields = Fields(ended.get(1..).unwrap_or_default());
    let (kept, _, _, warnings) = (fields.count(), fields.count(), fields.little(2), fields.little(2));
    // The server keeps what it can of a client's file; a load that is not whole is none.
    match (kept, warnings) {
        (Some(kept), Some(0)) if kept == sent => Ok(sent),
        (kept, _) => Err(left(inside, &table, kept.unwrap_or(0), sent)?),
    }
}

/// The next packet with its number. An error packet becomes the failure.
fn heard(inside: &mut Inside) -> Result<(Vec<u8>, u8), Failure> {
    loop {
        let found = match front(inside.wire.unread()) {
            Front::Packet(body, number, length) => Some((body.into_owned(), number, length)),
            Front::Part => None,
            Front::TooLong => return Err(lost(TOO_LONG)),
        };
        let Some((body, number, length)) = found else {
            inside.read_more()?;
            continue;
        };
        inside.wire.unread().drain(..length);
        return if body.first() == Some(&0xff) { Err(Said::of(&body).failure()) } else { Ok((body, number)) };
    }
}

/// Sends all rows in packets from this number on; how many there were, and the number that is next.
fn send(inside: &mut Inside, rows: &mut dyn Rows, mut number: u8) -> Result<(u64, u8), Failure> {
    let (mut sent, mut row, mut chunk) = (0, Vec::new(), Vec::with_capacity(CHUNK + CHUNK / 4));
    let at = packet::begin(&mut chunk);
    loop {
        let more = rows.next(&mut row);
        if more {
            line(&mut chunk, &row);
            sent += 1;
        }
        // An empty packet would end the file.
        if chunk.len() >= CHUNK || (!more && chunk.len() > HEAD) {
            number = packet::end(&mut chunk, at, number);
            inside.send(&chunk)?;
            chunk.truncate(HEAD);
        }
        if !more {
            return Ok((sent, number));
        }
    }
}

fn line(out: &mut Vec<u8>, row: &[Value]) {
    for (place, value) in row.iter().enumerate() {
        if place > 0 {
            out.push(b'\t');
        }
        field(out, value);
    }
    out.push(b'\n');
}

/// Adds a value as a field of a tab-separated file.
fn field(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"\\N"),
        Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Float(number) => out.extend_from_slice(format!("{number:e}").as_bytes()),
        Value::Text(text) => {
            for byte in text.bytes() {
                match byte {
                    b'\\' => out.extend_from_slice(b"\\\\"),
                    b'\t' => out.extend_from_slice(b"\\t"),
                    b'\n' => out.extend_from_slice(b"\\n"),
                    0 => out.extend_from_slice(b"\\0"),
                    byte => out.push(byte),
                }
            }
        }
    }
}

/// What was not taken, with the server's first reasons.
fn left(inside: &mut Inside, table: &str, kept: u64, sent: u64) -> Result<Failure, Failure> {
    let reasons = inside.rows("SHOW WARNINGS LIMIT 3")?;
    let word = |row: &[Value], at: usize| match row.get(at) {
        Some(Value::Int(number)) => number.to_string(),
        other => other.and_then(Value::text).unwrap_or_default().to_owned(),
    };
    let reasons: Vec<String> = reasons.iter().map(|row| format!("error {}: {}", word(row, 1), word(row, 2))).collect();
    let text = format!("{table} took {kept} of {sent} rows as they were sent, so none is kept; {}", reasons.join("; "));
    Ok(Failure::refused(text))
}

fn inserts(inside: &mut Inside, into: &Into<'_>, rows: &mut dyn Rows, most: usize) -> Result<u64, Failure> {
    let head = format!("INSERT INTO {} ({}) VALUES ", into.table(), into.columns());
    let (mut sent, mut row, mut sql) = (0, Vec::new(), head.clone());
    while rows.next(&mut row) {
        if sql.len() > head.len() {
            sql.push(',');
        }
        tuple(&mut sql, &row);
        sent += 1;
        if sql.len() >= most {
            inside.ask(&sql)?;
            sql.truncate(head.len());
        }
    }
    if sql.len() > head.len() {
        inside.ask(&sql)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_file_holds_no_separator() {
        let mut out = Vec::new();
        field(&mut out, &Value::from("a\tb\nc\\N\0é"));
        assert_eq!(out, "a\\tb\\nc\\\\N\\0é".as_bytes());
    }
}
