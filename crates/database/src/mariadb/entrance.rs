//! The way in without I/O: the greeting, whether TLS begins, who we are, and the proof of the password.
//!
//! The one idea: a server that lies says little before it is understood or refused: bytes and packets are few, each is looked at
//! once, and nothing of the password leaves where nobody verified who hears it.
//!
//! What it does not do: it waits for nobody, and it encrypts nothing itself.

use super::authentication::Plugin;
use super::failure::{Said, refusal};
use super::packet::{self, Front, front};
use super::place::{Place, Tls};
use super::wire::MariadbWire;
use crate::conversation::Fields;
use crate::{DatabaseError, Texts};
use std::sync::Arc;
use study::Sessions;

/// Bytes that a server may say before it lets us in.
const HEARD_MAX: usize = 64 << 10;

/// Packets that it may: a greeting, another plugin, what the plugin wants to say, and that we are in.
const PACKETS_MAX: u8 = 5;

/// Text is UTF-8 of up to four bytes (`utf8mb4_general_ci`).
const UTF8: u8 = 45;

/// The longest packet that we would take before rows come in several.
const PACKET: u32 = 16 << 20;

/// What either end can do. A MariaDB leaves the first away when it has capabilities of its own, in other bytes.
const MYSQL: u32 = 1;
const WITH_DATABASE: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const TLS: u32 = 1 << 11;

/// What a MariaDB alone can do: columns that were told when a statement was prepared are not told again.
const KEPT_COLUMNS: u32 = 1 << 4;

/// What we want of every server: that updates count the rows that they meet, as on the other engines, and not those that they make
/// different (bit 1), long flags of columns (2), loads of files of ours (7), the protocol of today (9, 13, 15), several statements in
/// a text (16) with several answers (17, 18), and proofs by plugins (19).
const WANTED: u32 = 0x000f_a286;

const UNPROTECTED: &str = "the server wants the password itself, and nothing verified protects it on its way; ask for \
    ssl-mode=verify-identity, or name its Unix socket with socket=PATH";

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Read more.
    More,
    /// Send [`Entrance::outgoing`], then read more.
    Send,
    /// Send it, agree on TLS, and say so by [`Entrance::secured`].
    Secure,
    /// We are in.
    In,
}

/// A conversation that is being opened.
pub struct Entrance<'a> {
    place: &'a Place,
    /// What the server said of itself; none before its greeting.
    greeting: Option<Greeting>,
    secured: bool,
    switched: bool,
    out: Vec<u8>,
    unread: Vec<u8>,
    heard: usize,
    packets: u8,
}

struct Greeting {
    number: u32,
    able: u32,
    /// What a MariaDB can do beside that.
    more: u32,
    plugin: Plugin,
    salt: Vec<u8>,
}

impl Greeting {
    fn of(body: &[u8]) -> Option<Greeting> {
        let mut fields = Fields(body);
        fields.u8().filter(|version| *version == 10)?;
        fields.text()?;
        let number = fields.little(4)? as u32;
        let mut salt = fields.take(8)?.to_vec();
        fields.take(1)?;
        let low = fields.little(2)? as u32;
        fields.take(3)?;
        let able = low | (fields.little(2)? as u32) << 16;
        let drawn = usize::from(fields.u8()?).saturating_sub(8).max(13);
        fields.take(6)?;
        let more = fields.little(4)? as u32;
        salt.extend(fields.take(drawn)?.strip_suffix(b"\0")?);
        let name = fields.0.strip_suffix(b"\0").unwrap_or(fields.0);
        // With another one the server says later which it wants of this user.
        let plugin = Plugin::named(name).unwrap_or(Plugin::Native);
        let more = if able & MYSQL == 0 { more } else { 0 };
        (able & PROTOCOL_41 != 0).then_some(Greeting { number, able, more, plugin, salt })
    }
}

impl<'a> Entrance<'a> {
    /// The way in to a place.
    pub fn new(place: &'a Place) -> Entrance<'a> {
        let (out, unread) = (Vec::new(), Vec::new());
        Entrance { place, greeting: None, secured: false, switched: false, out, unread, heard: 0, packets: 0 }
    }

    /// The bytes that are to be sent now.
    pub fn outgoing(&self) -> &[u8] {
        &self.out
    }

    /// Takes bytes that came in.
    ///
    /// # Errors
    /// Why there is no way in.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Next, DatabaseError> {
        self.heard += bytes.len();
        self.unread.extend_from_slice(bytes);
        loop {
            let (body, number, length) = match front(&self.unread) {
                Front::Packet(body, number, length) => (body.into_owned(), number, length),
                _ if self.heard > HEARD_MAX => return Err(self.broke("it says too much")),
                _ => return Ok(Next::More),
            };
            self.unread.drain(..length);
            self.packets += 1;
            if self.heard > HEARD_MAX || self.packets > PACKETS_MAX {
                return Err(self.broke("it says too much"));
            }
            let next = match self.greeting.is_some() {
                _ if body.first() == Some(&0xff) => Err(refusal(&self.place.shown(), &Said::of(&body))),
                false => self.greeted(&body, number),
                true => self.answered(&body, number),
            };
            match next.map_err(|error| error.hiding(self.place.password.as_deref()))? {
                Next::More => {}
                next => return Ok(next),
            }
        }
    }

    /// TLS has begun.
    pub fn secured(&mut self) {
        self.secured = true;
        self.log_in(2);
    }

    /// The conversation that was opened. What came behind the way in is the beginning of what it hears.
    pub fn wire(self, texts: Arc<Texts>, sessions: &Sessions) -> MariadbWire {
        let keeps_columns = self.greeting.is_some_and(|greeting| greeting.more & KEPT_COLUMNS != 0);
        MariadbWire::new(texts, sessions, keeps_columns, self.unread)
    }

    /// The server's number for the session.
    pub(super) fn number(&self) -> u32 {
        self.greeting.as_ref().map_or(0, |greeting| greeting.number)
    }

    fn greeted(&mut self, body: &[u8], number: u8) -> Result<Next, DatabaseError> {
        let greeting = Greeting::of(body).ok_or_else(|| self.broke("it greets in no way that is known"))?;
        let offers = greeting.able & TLS != 0;
        self.greeting = Some(greeting);
        if !self.wants_tls() {
            self.log_in(number.wrapping_add(1));
            return Ok(Next::Send);
        }
        let insecure = |text: &str| DatabaseError::Secure { place: self.place.shown(), text: text.to_owned() };
        if !offers {
            return Err(insecure("the server offers no TLS"));
        }
        if !self.unread.is_empty() {
            return Err(insecure("the server, or who sits between, says more before TLS begins than a server does"));
        }
        let who = self.who();
        self.out = packet::packet(number.wrapping_add(1), &who);
        Ok(Next::Secure)
    }

    fn wants_tls(&self) -> bool {
        self.place.tls != Tls::Off && self.place.socket.is_none()
    }

    /// What we can do. All that travels before TLS begins.
    fn who(&self) -> Vec<u8> {
        let Some(greeting) = &self.greeting else { return Vec::new() };
        let when = |wanted: bool, able: u32| if wanted { able } else { 0 };
        let able = WANTED | greeting.able & MYSQL | when(self.place.database.is_some(), WITH_DATABASE);
        let able = able | when(self.wants_tls(), TLS);
        let mut who = [able.to_le_bytes(), PACKET.to_le_bytes()].concat();
        who.push(UTF8);
        who.extend([0; 19]);
        who.extend((greeting.more & KEPT_COLUMNS).to_le_bytes());
        who
    }

    fn log_in(&mut self, number: u8) {
        let Some(greeting) = &self.greeting else { return };
        let proof = greeting.plugin.proof(self.password(), &greeting.salt);
        let mut said = self.who();
        said.extend(self.place.user.bytes().chain([0, proof.len() as u8]));
        said.extend(proof);
        said.extend(self.place.database.iter().flat_map(|name| name.bytes().chain([0])));
        said.extend(greeting.plugin.word().bytes().chain([0]));
        self.out = packet::packet(number, &said);
    }

    fn password(&self) -> &str {
        self.place.password.as_deref().unwrap_or_default()
    }

    fn answered(&mut self, body: &[u8], number: u8) -> Result<Next, DatabaseError> {
        let caching = self.greeting.as_ref().is_some_and(|greeting| greeting.plugin == Plugin::Caching);
        let said = match body {
            [0, ..] => return Ok(Next::In),
            // It remembers the password, and says next that we are in.
            [1, 3] if caching => return Ok(Next::More),
            [1, 4] if caching => {
                if !self.secured && self.place.socket.is_none() {
                    let text = UNPROTECTED.to_owned();
                    return Err(DatabaseError::Secure { place: self.place.shown(), text });
                }
                [self.password().as_bytes(), b"\0"].concat()
            }
            [0xfe, switch @ ..] if !self.switched => self.switch(switch)?,
            _ => return Err(self.broke("it answers in no way that is known")),
        };
        self.out = packet::packet(number.wrapping_add(1), &said);
        Ok(Next::Send)
    }

    /// The server wants another plugin of this user.
    fn switch(&mut self, body: &[u8]) -> Result<Vec<u8>, DatabaseError> {
        let mut fields = Fields(body);
        let name = if body.is_empty() { b"mysql_old_password" } else { fields.text().unwrap_or(body) };
        let Some(plugin) = Plugin::named(name) else {
            let (name, known) = (String::from_utf8_lossy(name), Plugin::NAMES);
            let text = format!("it authenticates by {name}; Prony knows {known}: give the user one of them");
            return Err(DatabaseError::Password { place: self.place.shown(), text });
        };
        let salt = fields.0.strip_suffix(b"\0").unwrap_or(fields.0).to_vec();
        let proof = plugin.proof(self.password(), &salt);
        self.switched = true;
        self.greeting.iter_mut().for_each(|greeting| greeting.plugin = plugin);
        Ok(proof)
    }

    fn broke(&self, why: &str) -> DatabaseError {
        let text =
            format!("the conversation broke while it began ({why}); what answers there may be no MariaDB or MySQL");
        DatabaseError::Refused { place: self.place.shown(), text }
    }
}
