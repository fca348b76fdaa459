//! The other node, as one client's transaction sees it: what it changed on the primary, on its way.
//!
//! The one idea: what is shipped is gathered and sent late, since nobody else writes there: a transaction that is undone early costs
//! the other node nothing, and rows are locked on the primary first.

use super::conn::{self, Conn, is_slow, lost, message, put, query};
use crate::nodes::Rows;
use crate::rows::{self, Asks};
use database::{Failure, FailureKind};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// As much is gathered before it is sent.
const GATHERED: usize = 1 << 20;

/// As many answers wait unread.
const UNREAD: usize = 200;

pub(super) struct Far {
    socket: PathBuf,
    database: String,
    /// By which it is known whose session this is.
    name: String,
    /// How long it may say nothing. After a half of that it is looked whether it lets anybody in, for the other half.
    patience: Duration,
    /// Whether it said nothing for so long.
    pub(super) silent: bool,
    conn: Option<Conn>,
    /// What is to be sent.
    out: Vec<u8>,
    /// Statements that it knows, or will when `out` is sent, by their texts.
    known: HashMap<String, String>,
    /// Those that it does not know before.
    fresh: Vec<String>,
    named: u64,
    /// Answers to what is not sent yet, and to what is: they are read when they must be. And whether anything was sent of this transaction.
    queued: usize,
    unread: usize,
    sent: bool,
    begun: bool,
    /// Whether there is anything to commit.
    pub(super) dirty: bool,
    refused: Option<Failure>,
}

impl Far {
    pub(super) fn new(socket: PathBuf, database: &str, name: String, patience: Duration) -> Far {
        Far {
            socket,
            database: database.to_owned(),
            name,
            patience,
            silent: false,
            conn: None,
            out: Vec::new(),
            known: HashMap::new(),
            fresh: Vec::new(),
            named: 0,
            queued: 0,
            unread: 0,
            sent: false,
            begun: false,
            dirty: false,
            refused: None,
        }
    }

    fn begin(&mut self) {
        if !self.begun {
            self.begun = true;
            self.says("BEGIN");
        }
    }

    fn says(&mut self, sql: &str) {
        query(&mut self.out, sql);
        self.queued += 1;
    }

    /// A text in its place of the transaction, which changes nothing by itself.
    pub(super) fn text(&mut self, sql: &str) {
        self.begin();
        self.says(sql);
    }

    /// A statement with its rows, or with none.
    pub(super) fn put(&mut self, sql: &str, rows: &str) {
        self.begin();
        self.dirty = true;
        if !self.known.contains_key(sql) {
            self.named += 1;
            let name = format!("p{}", self.named);
            message(&mut self.out, b'P', |out| {
                put(out, &name);
                put(out, sql);
                out.extend([0; 2]);
            });
            self.known.insert(sql.to_owned(), name);
            self.fresh.push(sql.to_owned());
        }
        let name = &self.known[sql];
        message(&mut self.out, b'B', |out| {
            put(out, "");
            put(out, name);
            out.extend([0; 2]);
            out.extend(u16::from(!rows.is_empty()).to_be_bytes());
            if !rows.is_empty() {
                out.extend((rows.len() as u32).to_be_bytes());
                out.extend_from_slice(rows.as_bytes());
            }
            out.extend([0; 2]);
        });
        message(&mut self.out, b'E', |out| out.extend([0; 5]));
        message(&mut self.out, b'S', |_| {});
        self.queued += 1;
        if self.out.len() > GATHERED || self.queued + self.unread > UNREAD {
            // What goes wrong is told when it is to be prepared.
            let _ = self.drain();
        }
    }

    /// Opens the conversation where there is none.
    fn opened(&mut self) -> Result<&mut Conn, Failure> {
        if self.conn.is_none() {
            let conn = self.reached(&self.database, self.patience);
            self.silent = matches!(&conn, Err((_, true)));
            let conn = conn.map_err(|(failure, _)| failure)?;
            let _ = conn.patient(Some(self.patience / 2));
            self.conn = Some(conn);
        }
        self.conn.as_mut().ok_or_else(|| lost(&io::ErrorKind::NotConnected.into()))
    }

    /// Says or hears something, and waits longer than the patience where the node lets somebody else in meanwhile: then it is only busy.
    fn patient<T>(
        &mut self,
        work: impl FnOnce(&mut Conn, &dyn Fn() -> bool) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.opened()?;
        let Some(mut conn) = self.conn.take() else { return Err(lost(&io::ErrorKind::NotConnected.into())) };
        let done = work(&mut conn, &|| self.answers());
        self.silent = done.is_err() && conn.slow;
        self.conn = Some(conn);
        done
    }

    /// A conversation with it; or why there is none, and whether it said nothing for so long.
    fn reached(&self, database: &str, patience: Duration) -> Result<Conn, (Failure, bool)> {
        let failed = |source: io::Error| (lost(&source), is_slow(&source));
        let mut conn = Conn::reach(&self.socket, patience).map_err(failed)?;
        let who = [("user", rows::USER), ("database", database), ("application_name", self.name.as_str())];
        conn.start(who.into_iter().chain(rows::SETTINGS)).map_err(failed)?;
        let answered = conn.answer();
        let slow = conn.slow;
        answered.map(|_| conn).map_err(|failure| (failure, slow))
    }

    /// Sends what was gathered, without waiting.
    pub(super) fn send(&mut self) -> Result<(), Failure> {
        if let Some(failure) = &self.refused {
            return Err(failure.clone());
        }
        let out = std::mem::take(&mut self.out);
        self.fresh.clear();
        self.unread += std::mem::take(&mut self.queued);
        let sent = self.patient(|conn, worth| {
            conn.out.extend_from_slice(&out);
            conn.flush_while(worth).map_err(|source| lost(&source))
        });
        self.sent = true;
        sent.inspect_err(|failure| self.refused = Some(failure.clone()))
    }

    /// Sends, and reads what is answered.
    fn drain(&mut self) -> Result<(), Failure> {
        self.send()?;
        while self.unread > 0 {
            let heard = self.patient(|conn, worth| {
                let tag = conn.next_while(worth).map_err(|source| lost(&source))?;
                Ok((tag, (tag == b'E').then(|| conn::failure(conn.body()))))
            });
            match heard {
                Ok((b'Z', _)) => self.unread -= 1,
                Ok((_, failure)) => self.refused = self.refused.take().or(failure),
                Err(failure) => {
                    self.refused = Some(failure);
                    break;
                }
            }
        }
        self.refused.clone().map_or(Ok(()), Err)
    }

    /// Whether what was said of earlier transactions is carried out.
    pub(super) fn settled(&mut self) -> Result<(), Failure> {
        if self.unread == 0 {
            return Ok(());
        }
        self.drain().inspect_err(|_| self.forget())
    }

    /// Whether the node lets somebody else in: then it only takes its time.
    pub(super) fn answers(&self) -> bool {
        let reached = self.reached("postgres", self.patience / 2);
        // One that has no session left for us says so.
        !matches!(reached, Err((failure, _)) if failure.kind == FailureKind::Lost)
    }

    /// Prepares what was shipped.
    pub(super) fn prepare(&mut self, gid: &str) -> Result<(), Failure> {
        self.says(&format!("PREPARE TRANSACTION '{gid}'"));
        self.drain()
    }

    /// Commits what was said, and waits until that stands.
    pub(super) fn commit(&mut self) -> Result<(), Failure> {
        self.says("COMMIT");
        self.drain().map(|()| self.forget())
    }

    /// Commits what is prepared, or undoes it. It is not waited for: what is prepared here and committed on the primary is as good as
    /// committed, and whoever comes next waits for it here.
    pub(super) fn end(&mut self, what: &str, gid: &str) -> Result<(), Failure> {
        self.says(&format!("{what} PREPARED '{gid}'"));
        let done = self.send();
        self.forget();
        done
    }

    /// Nothing of the transaction is kept.
    pub(super) fn undo(&mut self) {
        if self.sent && self.refused.is_none() {
            self.says("ROLLBACK");
            let _ = self.drain();
        }
        // What was to become known is not.
        self.fresh.drain(..).for_each(|sql| drop(self.known.remove(&sql)));
        self.forget();
    }

    /// Ends the conversation.
    pub(super) fn close(&mut self) {
        (self.conn, self.unread) = (None, 0);
        self.known.clear();
        self.fresh.clear();
    }

    fn forget(&mut self) {
        if self.refused.is_some() {
            self.close();
        }
        self.out.clear();
        (self.queued, self.sent, self.begun, self.dirty, self.refused) = (0, false, false, false, None);
        self.silent = false;
    }

    /// A statement that stands in no transaction, in its own schemas.
    pub(super) fn alone(&mut self, path: &str, sql: &str) -> Result<(), Failure> {
        let patience = self.patience / 2;
        if let Err(failure) = self.drain() {
            self.forget();
            return Err(failure);
        }
        let conn = self.opened()?;
        // It takes as long as it takes.
        let _ = conn.patient(None);
        let done = conn.ask(&format!("SELECT set_config('search_path', {}, false)", rows::quoted(path)));
        let done = done.and_then(|_| conn.ask(sql)).map(drop);
        let back = conn.ask("SET search_path = pg_catalog").map(drop);
        let _ = conn.patient(Some(patience));
        done.and(back).inspect_err(|failure| {
            if failure.kind == FailureKind::Lost {
                self.close();
            }
        })
    }
}

impl Asks for Far {
    fn ask(&mut self, sql: &str) -> Result<Rows, Failure> {
        self.begin();
        self.dirty = true;
        self.drain()?;
        let asked = self.patient(|conn, worth| conn.ask_while(sql, worth));
        asked.inspect_err(|failure| self.refused = Some(failure.clone()))
    }
}

impl Asks for Conn {
    fn ask(&mut self, sql: &str) -> Result<Rows, Failure> {
        Conn::ask(self, sql)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::thread::{sleep, spawn};

    const PATIENCE: Duration = Duration::from_millis(200);

    /// Says that it is ready, once for each thing that it was asked, with a pause before it reads the first.
    fn answers(mut stream: UnixStream, busy: Duration) {
        let ready = [b'Z', 0, 0, 0, 5, b'I'];
        let (mut heard, mut bytes) = (Vec::new(), [0; 65_536]);
        if stream.read(&mut bytes).is_err() || stream.write_all(&ready).is_err() {
            return;
        }
        sleep(busy);
        while let Ok(count @ 1..) = stream.read(&mut bytes) {
            heard.extend_from_slice(&bytes[..count]);
            while let Some(length) =
                heard.get(1..5).map(|four| 1 + u32::from_be_bytes(four.try_into().unwrap()) as usize)
                && heard.len() >= length
            {
                let asked = matches!(heard[0], b'Q' | b'S');
                heard.drain(..length);
                if asked && stream.write_all(&ready).is_err() {
                    return;
                }
            }
        }
    }

    /// A node of which the first session takes several times the patience, and the next ones are let in or not.
    fn far(folder: &std::path::Path, lets_in: bool) -> Far {
        let socket = folder.join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        spawn(move || {
            let mut kept = Vec::new();
            for (at, stream) in listener.incoming().map_while(Result::ok).enumerate() {
                match at {
                    0 => drop(spawn(|| answers(stream, 4 * PATIENCE))),
                    _ if lets_in => drop(spawn(|| answers(stream, Duration::ZERO))),
                    _ => kept.push(stream),
                }
            }
        });
        Far::new(socket, "postgres", "test".to_owned(), PATIENCE)
    }

    #[test]
    fn a_node_that_is_busy_is_waited_for_as_long_as_it_lets_somebody_in_whether_it_is_asked_told_or_sent_rows() {
        let folder = tempfile::tempdir().unwrap();
        type Work = fn(&mut Far) -> Result<(), Failure>;
        let works: [Work; 3] = [
            |far| Asks::ask(far, "SELECT 1").map(drop),
            |far| far.prepare("x"),
            |far| {
                far.put("INSERT", &"x".repeat(4 << 20));
                far.prepare("x")
            },
        ];
        for (at, work) in works.into_iter().enumerate() {
            for lets_in in [true, false] {
                let there = folder.path().join(format!("{at}{lets_in}"));
                std::fs::create_dir(&there).unwrap();
                let mut far = far(&there, lets_in);
                let done = work(&mut far);
                assert_eq!((done.is_ok(), far.silent), (lets_in, !lets_in), "{at}: {done:?}");
            }
        }
    }
}
