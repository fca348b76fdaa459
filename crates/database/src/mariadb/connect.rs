//! Opens a session: reaches the server, agrees on TLS, is let in, and checks the version.

use super::entrance::{Entrance, Next};
use super::failure::{OLDEST, alone, too_old};
use super::place::{Place, Tls};
use super::wire::MariadbWire;
use crate::conversation::tls::{self, Trust};
use crate::conversation::{Blocking, Stream, reach};
use crate::dialect;
use crate::opening::within;
use crate::{DatabaseError, Failure, Texts};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use study::{Engine, Sessions};

/// Backslashes in texts are escapes, whatever the server's own mode says: the dialect writes them so.
const MODE: &str = "SET SESSION sql_mode = REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')";

/// Between two tries to enter a node of a pair.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);
const TRIES_A_SECOND: u64 = 10;

impl Place {
    /// Opens a conversation, given up when `stop` becomes true.
    ///
    /// # Errors
    /// Why there is none: an address, a user, a database, a version.
    pub(super) fn enter_until(
        &self,
        texts: &Texts,
        sessions: &Sessions,
        stop: &AtomicBool,
    ) -> Result<Blocking<MariadbWire>, DatabaseError> {
        let (inside, texts, sessions) = (self.clone(), texts.clone(), *sessions);
        within(&self.shown(), self.patience(), stop, move || inside.enter(&texts, &sessions))
    }

    /// Opens a conversation, for as long as that takes; a node of a pair that does not know yet whether it may go on is waited for.
    pub(super) fn enter(&self, texts: &Texts, sessions: &Sessions) -> Result<Blocking<MariadbWire>, DatabaseError> {
        for _ in 0..self.patience() * TRIES_A_SECOND {
            match self.enter_now(texts, sessions) {
                Err(DatabaseError::Refused { text, .. }) if alone(&text) => std::thread::sleep(BETWEEN_TRIES),
                entered => return entered,
            }
        }
        self.enter_now(texts, sessions)
    }

    fn enter_now(&self, texts: &Texts, sessions: &Sessions) -> Result<Blocking<MariadbWire>, DatabaseError> {
        let (entrance, stream) = self.let_in()?;
        let number = entrance.number();
        let wire = entrance.wire(Arc::new(texts.clone()), sessions);
        let mut inside = Blocking::new(stream, wire, String::new(), number);
        let one = |inside: &mut Blocking<MariadbWire>, sql: &str| {
            let said = inside.ask(sql).map(|answers| answers.last().field(0, 0).clone());
            said.map_err(|Failure { text, .. }| {
                DatabaseError::Refused { place: self.shown(), text }.hiding(self.password.as_deref())
            })
        };
        inside.version = one(&mut inside, "SELECT VERSION()")?.text().unwrap_or_default().to_owned();
        if let Some(found) = too_old(&inside.version) {
            return Err(DatabaseError::Version { place: self.shown(), needed: OLDEST.to_owned(), found });
        }
        let most = one(&mut inside, "SELECT @@max_allowed_packet")?.int();
        inside.wire.packet_max = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        one(&mut inside, MODE)?;
        if let Some(words) = dialect::isolation(Engine::Mariadb, sessions.isolation) {
            one(&mut inside, &words)?;
        }
        inside.unlimited(&self.shown())
    }

    fn let_in(&self) -> Result<(Entrance<'_>, Stream), DatabaseError> {
        let refused = |source: io::Error| DatabaseError::Refused { place: self.shown(), text: source.to_string() };
        let socket = self.socket.as_deref().map(Path::new);
        let mut stream = Stream::Raw(reach(socket, &self.host, self.port, self.patience()).map_err(refused)?);
        let (mut entrance, mut buffer) = (Entrance::new(self), [0; 4096]);
        loop {
            let count = match stream.read(&mut buffer) {
                Err(source) if source.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(refused)?,
            };
            if count == 0 {
                return Err(refused(io::Error::other("the server closed the connection while it began")));
            }
            let next = entrance.feed(&buffer[..count])?;
            if next == Next::In {
                return Ok((entrance, stream));
            }
            if next == Next::More {
                continue;
            }
            // A server that refuses us may close before it has read everything; what it said is read next.
            let _ = stream.send(entrance.outgoing());
            if next == Next::Secure {
                stream = self.secured(stream)?;
                entrance.secured();
                let _ = stream.send(entrance.outgoing());
            }
        }
    }

    fn secured(&self, stream: Stream) -> Result<Stream, DatabaseError> {
        let trust = if self.tls == Tls::Authority { Trust::Authority } else { Trust::Host };
        let wrapped = match stream {
            Stream::Raw(stream) => tls::wrap(stream, &self.host, trust, self.authorities.as_deref()),
            already => Ok(already),
        };
        wrapped.map_err(|problem| DatabaseError::Secure { place: self.shown(), text: problem.to_string() })
    }
}
