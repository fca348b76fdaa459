//! What PostgreSQL's protocol, version 3, says of statements, simple and extended.

use super::line::{Heard, Line, Unread};
use crate::capture::Words;
use crate::conversation::Fields;
use std::collections::{HashMap, VecDeque};

/// What a client asks for before it says who it is: TLS, GSSAPI, and the end of another session's statement.
const SSL: u32 = 80_877_103;
const GSS: u32 = 80_877_104;
const CANCEL: u32 = 80_877_102;

const SEALED: &str =
    "sealed, and nobody reads that on its way: let clients connect with sslmode=disable and gssencmode=disable";
const STRANGE: &str = "it does not speak PostgreSQL's protocol";

/// A statement under way; it is over when so many answers are complete, at the latest.
struct Waiting {
    words: Words,
    answer: u64,
    simple: bool,
}

/// A prepared statement: its text and the types of its values, as far as they were told.
#[derive(Clone, Default)]
struct Prepared {
    sql: String,
    types: Vec<i32>,
}

#[derive(Default)]
pub(super) struct Talk {
    session: String,
    database: Option<String>,
    client: Unread,
    server: Unread,
    begun: bool,
    /// Whether the server has to answer with one letter whether it seals.
    asked_to_seal: bool,
    prepared: HashMap<Vec<u8>, Prepared>,
    portals: HashMap<Vec<u8>, Words>,
    described: VecDeque<Vec<u8>>,
    waiting: VecDeque<Waiting>,
    asked: u64,
    answered: u64,
}

impl Talk {
    pub(super) fn new(connection: u64) -> Talk {
        Talk { session: connection.to_string(), ..Talk::default() }
    }

    /// The next message of a client or the server: its letter and body.
    fn message(unread: &mut Unread) -> Result<Option<(u8, Vec<u8>)>, &'static str> {
        let Some((&[letter, a, b, c, d], _)) = unread.0.split_first_chunk::<5>() else { return Ok(None) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length < 4 {
            return Err(STRANGE);
        }
        Ok(unread.take(1 + length).map(|mut all| (letter, all.split_off(5))))
    }

    fn begins(&mut self) -> Result<bool, &'static str> {
        let Some((&[a, b, c, d, e, f, g, h], _)) = self.client.0.split_first_chunk::<8>() else { return Ok(false) };
        let (length, code) = (u32::from_be_bytes([a, b, c, d]) as usize, u32::from_be_bytes([e, f, g, h]));
        // The longest that a server takes here.
        if !(8..=10_000).contains(&length) {
            return Err(STRANGE);
        }
        let Some(message) = self.client.take(length) else { return Ok(false) };
        match code {
            SSL | GSS => self.asked_to_seal = true,
            CANCEL => {}
            _ => {
                self.begun = true;
                self.asked += 1;
                self.database = enters(Fields(&message[8..]));
            }
        }
        Ok(true)
    }

    /// Takes what a client says; nothing where the message is cut off.
    fn said(&mut self, letter: u8, body: &[u8], at_us: i64) -> Option<()> {
        let mut body = Fields(body);
        match letter {
            b'Q' => {
                self.asked += 1;
                let words = Words { sql: text(&mut body)?, ..Words::default() };
                self.waits(words, at_us, self.asked, true);
            }
            b'P' => {
                let name = body.text()?.to_vec();
                let sql = text(&mut body)?;
                let types = types(&mut body)?;
                self.prepared.insert(name, Prepared { sql, types });
            }
            b'B' => {
                let portal = body.text()?.to_vec();
                let prepared = self.prepared.get(body.text()?).cloned().unwrap_or_default();
                let parameters = values(&mut body, &prepared.types);
                self.portals.insert(portal, Words { sql: prepared.sql, parameters, ..Words::default() });
            }
            b'E' => {
                let words = self.portals.get(body.text()?).cloned().unwrap_or_default();
                self.waits(words, at_us, self.asked + 1, false);
            }
            b'D' if body.u8()? == b'S' => self.described.push_back(body.text()?.to_vec()),
            b'S' | b'F' => self.asked += 1,
            // Passwords, rows of COPY, and what ends or flushes say nothing of statements.
            _ => {}
        }
        Some(())
    }

    fn waits(&mut self, words: Words, at_us: i64, answer: u64, simple: bool) {
        let words = Words { at_us, session: self.session.clone(), database: self.database.clone(), ..words };
        self.waiting.push_back(Waiting { words, answer, simple });
    }

    /// Takes what the server says; nothing where the message is cut off.
    fn answered(&mut self, heard: &mut Heard, letter: u8, body: &[u8], at_us: i64) -> Option<()> {
        let mut body = Fields(body);
        match letter {
            b'C' | b'I' | b's' if self.waiting.front().is_some_and(|one| !one.simple) => self.over(heard, at_us),
            // All that was asked for up to the next end of a group fails with it.
            b'E' => {
                let group = self.answered + 1;
                let asked = self.waiting.iter_mut().filter(|one| one.answer == group);
                asked.for_each(|one| one.words.failed = true);
            }
            b'Z' => {
                self.answered += 1;
                while self.waiting.front().is_some_and(|one| one.answer <= self.answered) {
                    self.over(heard, at_us);
                }
                self.described.clear();
            }
            b't' => {
                let described = self.described.pop_front()?;
                self.prepared.get_mut(&described)?.types = types(&mut body)?;
            }
            b'S' if body.text()? == b"server_version" => heard.server = format!("PostgreSQL {}", text(&mut body)?),
            _ => {}
        }
        Some(())
    }

    fn over(&mut self, heard: &mut Heard, at_us: i64) {
        let Some(Waiting { words, .. }) = self.waiting.pop_front() else { return };
        heard.words.push(Words { took_us: u64::try_from(at_us - words.at_us).ok(), ..words });
    }
}

/// The database that a client asks for: that of its own name, where it says none.
fn enters(mut said: Fields<'_>) -> Option<String> {
    let (mut user, mut database) = (None, None);
    while let Some(name) = said.text().filter(|name| !name.is_empty()) {
        let value = text(&mut said);
        match name {
            b"user" => user = value,
            b"database" => database = value.filter(|name| !name.is_empty()),
            _ => {}
        }
    }
    database.or(user)
}

impl Line for Talk {
    fn hear(&mut self, heard: &mut Heard, from_client: bool, at_us: i64, bytes: &[u8]) -> Result<(), &'static str> {
        if from_client {
            self.client.add(bytes);
            while !self.begun && self.begins()? {}
            while self.begun
                && let Some((letter, body)) = Talk::message(&mut self.client)?
            {
                self.said(letter, &body, at_us);
            }
            return Ok(());
        }
        self.server.add(bytes);
        if self.asked_to_seal
            && let Some(answer) = self.server.take(1)
        {
            self.asked_to_seal = false;
            if answer != b"N" {
                return Err(SEALED);
            }
        }
        while let Some((letter, body)) = Talk::message(&mut self.server)? {
            self.answered(heard, letter, &body, at_us);
        }
        Ok(())
    }

    fn end(&mut self, heard: &mut Heard) {
        heard.words.extend(self.waiting.drain(..).map(|one| one.words));
    }
}

fn text(body: &mut Fields<'_>) -> Option<String> {
    body.text().map(|text| String::from_utf8_lossy(text).into_owned())
}

/// Types behind their count.
fn types(body: &mut Fields<'_>) -> Option<Vec<i32>> {
    (0..body.i16()? as u16).map(|_| body.i32()).collect()
}

/// The values of a bind message. One whose form is not known makes all of them useless.
fn values(body: &mut Fields<'_>, types: &[i32]) -> Option<Vec<Option<String>>> {
    let binary: Vec<bool> = (0..body.i16()? as u16).map(|_| Some(body.i16()? == 1)).collect::<Option<_>>()?;
    let count = usize::from(body.i16()? as u16);
    let value = |at: usize| {
        // One form holds for all values, none for text.
        let binary = binary.get(at).or(binary.first().filter(|_| binary.len() == 1)).copied().unwrap_or(false);
        let Ok(length) = usize::try_from(body.i32()?) else { return Some(None) };
        let bytes = body.take(length)?;
        match binary {
            true => of_binary(types.get(at).copied().unwrap_or(0), bytes).map(Some),
            false => std::str::from_utf8(bytes).ok().map(|text| Some(text.to_owned())),
        }
    };
    (0..count).map(value).collect()
}

/// A value in its binary form, by the number of its type in `pg_type`.
fn of_binary(of: i32, bytes: &[u8]) -> Option<String> {
    Some(match (of, bytes.len()) {
        (16, 1) => (bytes[0] != 0).to_string(),
        (21, 2) => i16::from_be_bytes(bytes.try_into().ok()?).to_string(),
        (23 | 26, 4) => i32::from_be_bytes(bytes.try_into().ok()?).to_string(),
        (20, 8) => i64::from_be_bytes(bytes.try_into().ok()?).to_string(),
        (700, 4) => f32::from_be_bytes(bytes.try_into().ok()?).to_string(),
        (701, 8) => f64::from_be_bytes(bytes.try_into().ok()?).to_string(),
        (18 | 19 | 25 | 114 | 1042 | 1043, _) => std::str::from_utf8(bytes).ok()?.to_owned(),
        _ => return None,
    })
}
