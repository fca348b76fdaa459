//! Opens a conversation: reaches the server, agrees on TLS, starts up, authenticates, and checks the version.

use super::address::{Connect, Host, Tls, Wanted};
use super::authentication::authenticate;
use super::session::PostgresSession;
use super::wire::{Front, PostgresWire, Said, front};
use crate::conversation::tls::{self, Trust};
use crate::conversation::{RawStream, Stream, reach};
use crate::opening::within;
use crate::{DatabaseError, Failure, Session, Texts, dialect};
use bytes::BytesMut;
use postgres_protocol::message::frontend;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Engine, Secret, Sessions};

/// The oldest version whose protocol, catalogues and counters Prony knows.
const OLDEST: u32 = 12;

/// What a server may say before it lets us in.
const HEARD_MAX: usize = 256 << 10;

impl Connect {
    /// Opens a conversation whose statements are those.
    ///
    /// # Errors
    /// Nobody answers, a wrong password, no such database, a server older than 12, TLS that cannot be had as asked.
    pub fn open(&self, texts: Arc<Texts>, sessions: &Sessions) -> Result<PostgresSession, DatabaseError> {
        self.open_until(texts, sessions, None, &AtomicBool::new(false))
    }

    /// The same inside a schema, given up when `stop` becomes true.
    pub(crate) fn open_until(
        &self,
        texts: Arc<Texts>,
        sessions: &Sessions,
        schema: Option<String>,
        stop: &AtomicBool,
    ) -> Result<PostgresSession, DatabaseError> {
        let (connect, sessions) = (self.clone(), *sessions);
        let begin = move || connect.begin(texts, &sessions, schema.as_deref());
        within(&self.place(), self.patience, stop, begin)
    }

    /// Opens a conversation, for as long as that takes: with the first server that lets us in and is meant.
    pub(super) fn begin(
        &self,
        texts: Arc<Texts>,
        sessions: &Sessions,
        schema: Option<&str>,
    ) -> Result<PostgresSession, DatabaseError> {
        let mut said = Vec::new();
        for one in self.each() {
            match one.begin_there(texts.clone(), sessions, schema).and_then(|session| one.meant(session)) {
                // One that may be down, or not be meant now.
                Err(DatabaseError::Refused { place, text }) if !self.others.is_empty() => {
                    said.push(format!("{place}: {text}"));
                }
                opened => return opened,
            }
        }
        Err(DatabaseError::Refused { place: self.place(), text: said.join("; ") })
    }

    /// The same session, where its server is one that is meant.
    fn meant(&self, mut session: PostgresSession) -> Result<PostgresSession, DatabaseError> {
        let (word, holds) = self.wanted.told();
        if self.wanted == Wanted::Any {
            return Ok(session);
        }
        let found = session.number(&format!("SELECT ({holds})::int"));
        match found.map_err(|failure| DatabaseError::statement(&self.place(), "ask what it is", failure))? {
            Some(1.0) => Ok(session),
            _ => Err(DatabaseError::Refused { place: self.place(), text: format!("it is not {word}") }),
        }
    }

    fn begin_there(
        &self,
        texts: Arc<Texts>,
        sessions: &Sessions,
        schema: Option<&str>,
    ) -> Result<PostgresSession, DatabaseError> {
        let host = if let Host::Name(name) = &self.host { name } else { "" };
        let reached = reach(self.socket().as_deref(), host, self.port, self.patience);
        let stream = reached
            .map_err(|source| DatabaseError::Refused { place: self.place(), text: source.to_string() })
            .and_then(|stream| self.secured(stream, host))?;
        let mut opening = Opening { connect: self, stream, unread: Vec::new(), heard: 0, out: BytesMut::new() };
        opening.say(|out| {
            let who = [("user", self.user.as_str()), ("database", self.database.as_str())];
            let how = [("client_encoding", "UTF8"), ("application_name", "prony")];
            frontend::startup_message(who.into_iter().chain(how), out)
        })?;
        authenticate(&mut opening)?;
        let (version, process) = opening.settled()?;
        let mut session = PostgresSession::new(opening.stream, PostgresWire::new(texts, sessions), version, process);
        if session.major() < OLDEST {
            let (needed, found) = (format!("PostgreSQL {OLDEST} or newer"), session.version);
            return Err(DatabaseError::Version { place: self.place(), needed, found });
        }
        let isolation = dialect::isolation(Engine::Postgres, sessions.isolation);
        let isolation = isolation.map(|sql| ("choose the isolation level", sql));
        let schema = schema.map(|schema| ("enter the data set's schema", format!("SET search_path TO {schema}")));
        for (action, sql) in isolation.into_iter().chain(schema) {
            let failed = |failure: Failure| DatabaseError::statement(&self.place(), action, failure);
            session.script(&sql).map_err(failed)?;
        }
        session.unlimited(&self.place())
    }

    /// Asks for TLS, when it is wanted, and agrees on it.
    fn secured(&self, mut stream: RawStream, host: &str) -> Result<Stream, DatabaseError> {
        if self.tls == Tls::Disable || matches!(self.host, Host::Socket(_)) {
            return Ok(Stream::Raw(stream));
        }
        let trust = match self.tls {
            Tls::Disable | Tls::Prefer => Trust::Anybody,
            Tls::VerifyCa => Trust::Authority,
            Tls::Require | Tls::VerifyFull => Trust::Host,
        };
        let insecure = |text: String| DatabaseError::Secure { place: self.place(), text };
        let mut request = BytesMut::new();
        frontend::ssl_request(&mut request);
        let mut answer = [0];
        let asked = stream.write_all(&request).and_then(|()| stream.read_exact(&mut answer));
        asked.map_err(|source| insecure(source.to_string()))?;
        match answer[0] {
            b'S' => {
                let wrapped = tls::wrap(stream, host, trust, self.root.as_deref());
                wrapped.map_err(|problem| insecure(problem.to_string()))
            }
            b'N' if self.tls == Tls::Prefer => Ok(Stream::Raw(stream)),
            b'N' => Err(insecure("the server offers none".to_owned())),
            _ => Err(insecure("what answers there is no PostgreSQL".to_owned())),
        }
    }

    /// What the server said, as the reason why it does not let us in.
    fn refusal(&self, said: &Said) -> DatabaseError {
        let (place, text) = (self.place(), said.text());
        let error = match said.code.as_str() {
            // `pg_hba.conf` lets this user in over TLS, or not at all.
            "28000" if text.contains("no encryption") || text.contains("SSL off") => {
                DatabaseError::NotSecure { place, text }
            }
            "28P01" | "28000" => DatabaseError::Password { place, text },
            "3D000" => {
                DatabaseError::Refused { place, text: format!("there is no database {}: {text}", self.database) }
            }
            "53300" => DatabaseError::ServerFull { place, text },
            _ => DatabaseError::Refused { place, text },
        };
        error.hiding(self.password.as_ref().map(|Secret(password)| password.as_str()))
    }
}

/// A conversation that is being opened.
pub(super) struct Opening<'a> {
    pub(super) connect: &'a Connect,
    stream: Stream,
    unread: Vec<u8>,
    /// Bytes that came so far.
    heard: usize,
    out: BytesMut,
}

impl Opening<'_> {
    /// Sends one message.
    pub(super) fn say(&mut self, write: impl FnOnce(&mut BytesMut) -> io::Result<()>) -> Result<(), DatabaseError> {
        self.out.clear();
        let sent = write(&mut self.out).and_then(|()| self.stream.send(&self.out));
        // A server that refuses us may close before it has read everything; what it said is read next.
        match sent {
            Err(source) if source.kind() != io::ErrorKind::BrokenPipe => Err(self.broke(source)),
            _ => Ok(()),
        }
    }

    /// The body of the next message, which must be of that kind.
    pub(super) fn expect(&mut self, tag: u8) -> Result<Vec<u8>, DatabaseError> {
        match self.hear()? {
            (heard, body) if heard == tag => Ok(body),
            _ => Err(self.broke(io::Error::new(io::ErrorKind::InvalidData, "an unexpected message"))),
        }
    }

    /// Whether the password itself may be told: where TLS is verified, on a socket of this machine, or as the address says.
    pub(super) fn protects(&self) -> bool {
        let verified = matches!(self.stream, Stream::Tls(_)) && self.connect.tls != Tls::Prefer;
        verified || self.connect.cleartext || matches!(self.connect.host, Host::Socket(_))
    }

    pub(super) fn broke(&self, source: io::Error) -> DatabaseError {
        let text = format!("the conversation broke while it began ({source}); what answers there may be no PostgreSQL");
        DatabaseError::Refused { place: self.connect.place(), text }
    }

    /// The next message that is no notice. An error message becomes the error.
    fn hear(&mut self) -> Result<(u8, Vec<u8>), DatabaseError> {
        loop {
            match front(&self.unread) {
                Front::Message(message, length) => {
                    let (tag, body) = (message.tag, message.body.to_vec());
                    self.unread.drain(..length);
                    match tag {
                        b'E' => return Err(self.connect.refusal(&Said::of(&body))),
                        b'N' => {}
                        _ => return Ok((tag, body)),
                    }
                }
                Front::Garbage => return Err(self.broke(io::ErrorKind::InvalidData.into())),
                Front::Part if self.heard > HEARD_MAX => {
                    let text = format!("more than {HEARD_MAX} bytes before it let us in");
                    return Err(self.broke(io::Error::other(text)));
                }
                Front::Part => {
                    let mut buffer = [0; 4096];
                    match self.stream.read(&mut buffer) {
                        Ok(0) => return Err(self.broke(io::ErrorKind::UnexpectedEof.into())),
                        Ok(count) => {
                            self.heard += count;
                            self.unread.extend_from_slice(&buffer[..count]);
                        }
                        Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                        Err(source) => return Err(self.broke(source)),
                    }
                }
            }
        }
    }

    /// Reads up to the first readiness: the server's version, and the process that serves us.
    fn settled(&mut self) -> Result<(String, u32), DatabaseError> {
        let (mut version, mut process) = (String::new(), 0);
        loop {
            let (tag, body) = self.hear()?;
            match tag {
                b'S' => {
                    let mut texts = body.split(|byte| *byte == 0).map(String::from_utf8_lossy);
                    if texts.next().as_deref() == Some("server_version") {
                        version = texts.next().unwrap_or_default().into_owned();
                    }
                }
                b'K' => process = body.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes)),
                b'Z' => return Ok((version, process)),
                _ => {}
            }
        }
    }
}
