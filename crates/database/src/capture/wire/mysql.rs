//! What MariaDB's protocol says of statements that are sent as texts.

use super::line::{Heard, Line, Unread};
use crate::capture::Words;

/// What a client can do: compress, and seal.
const COMPRESS: u32 = 0x20;
const SSL: u32 = 0x800;
/// That a database follows who it is; that the length of what proves it comes first, of any length or as a byte.
const WITH_DATABASE: u32 = 8;
const LENGTH: u32 = 0x20_8000;
/// Commands: another database; a text; a statement to be prepared; its execution.
const ENTER: u8 = 2;
const QUERY: u8 = 3;
const EXECUTE: u8 = 23;
/// How the server refuses a statement; the number of a deadlock, for which it rolls the whole transaction back.
const REFUSED: u8 = 0xff;
const DEADLOCK: [u8; 2] = 1213_u16.to_le_bytes();
/// A packet of so many bytes goes on in the next one.
const LONGEST: usize = 0xff_ffff;

const SEALED: &str = "under TLS, which nobody reads on its way: let clients connect with --skip-ssl";
const COMPRESSED: &str = "compressed, which is not read: let clients connect without compression";
const PREPARED: &str = "it was prepared, and its values are in a form that is not read (MariaDB)";

#[derive(Default)]
pub(super) struct Talk {
    session: String,
    database: String,
    client: Unread,
    server: Unread,
    /// Whether the server has said which version it is.
    greeted: bool,
    /// Whether the next packet of the server goes on with the last.
    goes_on: bool,
    begun: bool,
    waiting: Option<Words>,
    answered_us: i64,
}

impl Talk {
    pub(super) fn new(connection: u64) -> Talk {
        Talk { session: connection.to_string(), ..Talk::default() }
    }

    /// The next packet: its number and body.
    fn packet(unread: &mut Unread) -> Option<(u8, Vec<u8>)> {
        let (&[a, b, c, number], _) = unread.0.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        unread.take(4 + length).map(|mut all| (number, all.split_off(4)))
    }

    fn said(&mut self, heard: &mut Heard, number: u8, body: &[u8], at_us: i64) -> Result<(), &'static str> {
        if !self.begun {
            self.begun = true;
            let able = body.first_chunk::<4>().map_or(0, |able| u32::from_le_bytes(*able));
            self.database = enters(able, body).unwrap_or_default();
            let sealed = able & SSL != 0 && body.len() <= 32;
            return match able & COMPRESS {
                _ if sealed => Err(SEALED),
                0 => Ok(()),
                _ => Err(COMPRESSED),
            };
        }
        // Packets that go on with something, such as passwords and files, have other numbers.
        if number != 0 {
            return Ok(());
        }
        self.end(heard);
        match body.split_first() {
            Some((&ENTER, name)) => self.database = String::from_utf8_lossy(name).into_owned(),
            Some((&QUERY, text)) => {
                let sql = String::from_utf8_lossy(text).into_owned();
                let other = sql.trim().strip_prefix("USE ").or_else(|| sql.trim().strip_prefix("use "));
                if let Some(name) = other {
                    self.database = name.trim().trim_end_matches(';').trim_matches('`').to_owned();
                }
                let (session, database) = (self.session.clone(), Some(self.database.clone()));
                self.waiting = Some(Words { at_us, session, database, sql, ..Words::default() });
            }
            Some((&EXECUTE, _)) => *heard.left_out.entry(PREPARED).or_default() += 1,
            _ => {}
        }
        Ok(())
    }

    fn answered(&mut self, heard: &mut Heard, body: &[u8]) {
        let begins = !std::mem::replace(&mut self.goes_on, body.len() == LONGEST);
        if !std::mem::replace(&mut self.greeted, true) {
            let version = body.get(1..).unwrap_or_default().split(|byte| *byte == 0).next().unwrap_or_default();
            let version = String::from_utf8_lossy(version);
            // What stands before its own version is for replicas of an older one.
            heard.server = format!("MariaDB {}", version.strip_prefix("5.5.5-").unwrap_or(&version));
        } else if let (true, [REFUSED, why @ ..], Some(words)) = (begins, body, &mut self.waiting) {
            match why.starts_with(&DEADLOCK) {
                true => "ROLLBACK".clone_into(&mut words.sql),
                false => words.failed = true,
            }
        }
    }
}

/// The database in a client's answer to the greeting.
fn enters(able: u32, body: &[u8]) -> Option<String> {
    let text = |bytes: &[u8]| bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
    let user = body.get(32..)?;
    let proof = user.get(text(user).len() + 1..)?;
    let length = if able & LENGTH == 0 { text(proof).len() } else { usize::from(*proof.first()?) };
    let name = proof.get(length + 1..).filter(|_| able & WITH_DATABASE != 0)?;
    Some(String::from_utf8_lossy(&text(name)).into_owned())
}

impl Line for Talk {
    fn hear(&mut self, heard: &mut Heard, from_client: bool, at_us: i64, bytes: &[u8]) -> Result<(), &'static str> {
        if !from_client {
            self.answered_us = at_us;
            self.server.add(bytes);
            while let Some((_, body)) = Talk::packet(&mut self.server) {
                self.answered(heard, &body);
            }
            return Ok(());
        }
        self.client.add(bytes);
        while let Some((number, body)) = Talk::packet(&mut self.client) {
            self.said(heard, number, &body, at_us)?;
        }
        Ok(())
    }

    fn end(&mut self, heard: &mut Heard) {
        let Some(words) = self.waiting.take() else { return };
        let took_us = u64::try_from(self.answered_us - words.at_us).ok();
        heard.words.push(Words { took_us, ..words });
    }
}
