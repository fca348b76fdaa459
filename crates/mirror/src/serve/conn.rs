//! One end of a conversation of PostgreSQL's protocol, as messages.
//!
//! The one idea: a message is looked at where it was received, and passed on as the bytes that it is.

use crate::nodes::Rows;
use database::{Failure, FailureKind};
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// What is read at once.
const READ: usize = 64 << 10;

/// The longest message that is taken in.
const LONGEST: usize = 256 << 20;

/// The longest first message: as PostgreSQL's own.
const FIRST: usize = 10_000;

/// The version of the protocol.
const VERSION: i32 = 196_608;

/// One end.
pub(super) struct Conn {
    stream: UnixStream,
    /// Room for what is read, of which so much is filled: it is not made empty for each read.
    input: Vec<u8>,
    filled: usize,
    /// The message that was read last.
    last: Range<usize>,
    /// What is to be sent.
    pub(super) out: Vec<u8>,
    /// Of the last point of readiness: idle (I), in a transaction (T), in a failed one (E).
    pub(super) status: u8,
    /// Whether a step of the extended protocol was said since then.
    pub(super) stepped: bool,
    /// Whether the other end said nothing for as long as it was waited for.
    pub(super) slow: bool,
}

/// A field of a message that ends with a zero byte, and what stands behind it.
pub(super) fn text(bytes: &[u8]) -> (&str, &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    (std::str::from_utf8(&bytes[..end]).unwrap_or(""), bytes.get(end + 1..).unwrap_or(&[]))
}

/// Adds a message.
pub(super) fn message(out: &mut Vec<u8>, tag: u8, body: impl FnOnce(&mut Vec<u8>)) {
    out.push(tag);
    let at = out.len();
    out.extend([0; 4]);
    body(out);
    let length = u32::try_from(out.len() - at).unwrap_or(u32::MAX);
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// Adds a text that ends with a zero byte.
pub(super) fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Adds a statement that is carried out as it stands.
pub(super) fn query(out: &mut Vec<u8>, sql: &str) {
    message(out, b'Q', |out| put(out, sql));
}

/// Adds an error.
pub(super) fn error(out: &mut Vec<u8>, severity: &str, code: &str, says: &str, hint: &str) {
    message(out, b'E', |out| {
        for (field, value) in [(b'S', severity), (b'V', severity), (b'C', code), (b'M', says), (b'H', hint)] {
            if !value.is_empty() {
                out.push(field);
                put(out, value);
            }
        }
        out.push(0);
    });
}

/// A field of an error or a notice.
pub(super) fn said(mut body: &[u8], field: u8) -> &str {
    while let Some((kind, rest)) = body.split_first().filter(|(kind, _)| **kind != 0) {
        let (value, more) = text(rest);
        if *kind == field {
            return value;
        }
        body = more;
    }
    ""
}

/// What an error means.
pub(super) fn failure(body: &[u8]) -> Failure {
    let code = said(body, b'C');
    let kind = match code {
        "40001" => FailureKind::Serialization,
        "40P01" => FailureKind::Deadlock,
        _ if code.starts_with("57P") => FailureKind::Lost,
        _ => FailureKind::Refused,
    };
    Failure::new(kind, format!("{}, SQLSTATE {code}", said(body, b'M')))
}

/// Whether nothing came for as long as it was waited for.
pub(super) fn is_slow(source: &io::Error) -> bool {
    matches!(source.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

pub(super) fn lost(source: &io::Error) -> Failure {
    Failure::new(FailureKind::Lost, format!("the connection to the server is lost: {source}"))
}

fn garbage(says: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, says)
}

impl Conn {
    fn of(stream: UnixStream) -> Conn {
        Conn {
            stream,
            input: vec![0; READ],
            filled: 0,
            last: 0..0,
            out: Vec::with_capacity(READ),
            status: b'I',
            stepped: false,
            slow: false,
        }
    }

    /// That of a client. To sockets that are connected, both kinds are the same.
    pub(super) fn client(stream: TcpStream) -> io::Result<Conn> {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(false)?;
        Ok(Conn::of(OwnedFd::from(stream).into()))
    }

    /// Reaches a server, which is waited for so long.
    pub(super) fn reach(socket: &Path, patience: Duration) -> io::Result<Conn> {
        let conn = Conn::of(UnixStream::connect(socket)?);
        conn.patient(Some(patience))?;
        Ok(conn)
    }

    /// How long a read or a write waits.
    pub(super) fn patient(&self, limit: Option<Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(limit).and_then(|()| self.stream.set_write_timeout(limit))
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.flush_while(&|| false)
    }

    /// The same to an end that takes its time, as long as that is worth waiting for.
    pub(super) fn flush_while(&mut self, worth: &dyn Fn() -> bool) -> io::Result<()> {
        let (mut at, mut sent) = (0, Ok(()));
        while at < self.out.len() && sent.is_ok() {
            match self.stream.write(&self.out[at..]) {
                Ok(0) => sent = Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => at += count,
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) if is_slow(&source) && worth() => {}
                Err(source) => {
                    self.slow = is_slow(&source);
                    sent = Err(source);
                }
            }
        }
        self.out.clear();
        // One large message does not keep its memory.
        self.out.shrink_to(LONGEST >> 6);
        sent
    }

    /// Reads at least so many bytes behind the last message.
    fn fill(&mut self, count: usize) -> io::Result<()> {
        if self.last.end > 0 && self.filled < self.last.end + count {
            self.input.copy_within(self.last.end..self.filled, 0);
            self.filled -= self.last.end;
            self.last = 0..0;
            self.input.truncate(self.filled.max(LONGEST >> 6));
            self.input.shrink_to(LONGEST >> 6);
        }
        while self.filled < self.last.end + count {
            let missing = self.last.end + count - self.filled;
            let room = self.filled + missing.clamp(READ, LONGEST >> 4);
            if self.input.len() < room {
                self.input.resize(room, 0);
            }
            match self.stream.read(&mut self.input[self.filled..room]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.filled += count,
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    self.slow = is_slow(&source);
                    return Err(source);
                }
            }
        }
        Ok(())
    }

    fn number(&self, at: usize) -> usize {
        self.input.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes) as usize
    }

    /// The next message: its letter.
    pub(super) fn next(&mut self) -> io::Result<u8> {
        self.fill(5)?;
        let length = self.number(self.last.end + 1);
        if !(4..=LONGEST).contains(&length) {
            return Err(garbage("a message of a length that none has"));
        }
        self.fill(length + 1)?;
        self.last = self.last.end..self.last.end + length + 1;
        if let [b'Z', .., status] = self.raw() {
            (self.status, self.stepped) = (*status, false);
        }
        Ok(self.input[self.last.start])
    }

    /// The same of an end that takes its time, as long as that is worth waiting for.
    pub(super) fn next_while(&mut self, worth: &dyn Fn() -> bool) -> io::Result<u8> {
        loop {
            match self.next() {
                Err(source) if is_slow(&source) && worth() => {}
                heard => return heard,
            }
        }
    }

    /// The first message of a client, which has no letter: its code.
    pub(super) fn first(&mut self) -> io::Result<i32> {
        self.fill(8)?;
        let length = self.number(self.last.end);
        if !(8..=FIRST).contains(&length) {
            return Err(garbage("what came first is no startup packet of PostgreSQL's protocol"));
        }
        self.fill(length)?;
        self.last = self.last.end..self.last.end + length;
        Ok(self.number(self.last.start + 4) as i32)
    }

    /// Puts messages back that are to be read again.
    pub(super) fn back(&mut self, messages: &[u8]) {
        self.input.splice(self.last.end..self.last.end, messages.iter().copied());
        self.filled += messages.len();
    }

    /// The whole of the message that was read last.
    pub(super) fn raw(&self) -> &[u8] {
        &self.input[self.last.clone()]
    }

    /// The same without letter and length; of a first message without length and code.
    pub(super) fn body(&self) -> &[u8] {
        &self.raw()[5..]
    }

    /// The same of a first message.
    pub(super) fn first_body(&self) -> &[u8] {
        &self.raw()[8..]
    }

    /// Begins a conversation with these parameters, without waiting for an answer.
    pub(super) fn start<'a>(&mut self, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> io::Result<()> {
        let at = self.out.len();
        self.out.extend([0; 4]);
        self.out.extend(VERSION.to_be_bytes());
        for (name, value) in parameters {
            put(&mut self.out, name);
            put(&mut self.out, value);
        }
        self.out.push(0);
        let length = (self.out.len() - at) as u32;
        self.out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        self.flush()
    }

    /// Reads up to the next readiness: rows as texts, and the first error.
    pub(super) fn answer(&mut self) -> Result<Rows, Failure> {
        self.answer_while(&|| false)
    }

    fn answer_while(&mut self, worth: &dyn Fn() -> bool) -> Result<Rows, Failure> {
        let (mut rows, mut failed) = (Vec::new(), None);
        loop {
            match self.next_while(worth).map_err(|source| lost(&source))? {
                b'D' => rows.push(row(self.body())),
                b'E' => {
                    failed.get_or_insert_with(|| failure(self.body()));
                }
                b'Z' => return failed.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }

    /// Asks, and waits for the answer.
    pub(super) fn ask(&mut self, sql: &str) -> Result<Rows, Failure> {
        self.ask_while(sql, &|| false)
    }

    /// The same of an end that takes its time, as long as that is worth waiting for.
    pub(super) fn ask_while(&mut self, sql: &str, worth: &dyn Fn() -> bool) -> Result<Rows, Failure> {
        query(&mut self.out, sql);
        self.flush_while(worth).map_err(|source| lost(&source))?;
        self.answer_while(worth)
    }
}

fn row(body: &[u8]) -> Vec<String> {
    let (mut values, mut rest) = (Vec::new(), body.get(2..).unwrap_or(&[]));
    while let Some((length, more)) = rest.split_first_chunk::<4>() {
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0).min(more.len());
        values.push(String::from_utf8_lossy(&more[..length]).into_owned());
        rest = &more[length..];
    }
    values
}
