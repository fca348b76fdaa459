//! A session over a blocking stream.

use super::copy;
use super::stream::{RawStream, Stream};
use crate::conversation::{Progress, Wire};
use crate::{Cut, Failure, FailureKind, Rows, Session};
use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use workload::transaction::{Answers, Batch, Value};

/// Bytes that one read takes at most.
const READ: usize = 16 << 10;

/// How long a read waits before it looks whether it shall stop.
const LOOK: Duration = Duration::from_millis(500);

/// A session on a PostgreSQL.
#[derive(Debug)]
pub struct PostgresSession {
    pub(super) stream: Stream,
    pub(super) wire: Wire,
    buffer: Vec<u8>,
    version: String,
    process: u32,
    stop: Option<Arc<AtomicBool>>,
}

impl PostgresSession {
    pub(super) fn of(stream: Stream, wire: Wire, version: String, process: u32) -> PostgresSession {
        PostgresSession { stream, wire, buffer: vec![0; READ], version, process, stop: None }
    }

    /// The server's version in its own words, such as `15.14 (Debian 15.14-0+deb12u1)`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its leading number: 15.
    pub(super) fn major(&self) -> u32 {
        self.version.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0)
    }

    /// The process of the server that serves this session.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Ends every wait when `stop` becomes true: the batch fails as if the connection were lost.
    pub fn stop_by(&mut self, stop: Arc<AtomicBool>) {
        // Where it cannot be set, a wait ends when the server answers.
        let _ = self.stream.raw().set_read_timeout(Some(LOOK));
        self.stop = Some(stop);
    }

    /// The stream and the conversation apart, for one who serves many sessions by readiness or completion.
    ///
    /// # Errors
    /// The session itself, when it is inside TLS, which only it can read.
    pub fn into_parts(self) -> Result<(RawStream, Wire), Box<PostgresSession>> {
        match self.stream {
            Stream::Raw(stream) => {
                let _ = stream.set_read_timeout(None);
                Ok((stream, self.wire))
            }
            stream => Err(Box::new(PostgresSession { stream, ..self })),
        }
    }

    /// Sends what was staged and reads until it is answered.
    fn converse(&mut self, answers: &mut Answers) -> Result<(), Failure> {
        loop {
            let outgoing = self.wire.outgoing();
            let count = outgoing.len();
            let sent = self.stream.send(outgoing);
            self.wire.advance(count);
            // What the server said before it closed says more than that it closed.
            if let Err(source) = sent {
                let heard = self.listen(answers).err().filter(|failure| failure.kind == FailureKind::Lost);
                return Err(heard.unwrap_or_else(|| lost(&source.to_string())));
            }
            if self.listen(answers)? {
                return Ok(());
            }
        }
    }

    /// Reads until all is answered (true) or more is to be sent (false).
    fn listen(&mut self, answers: &mut Answers) -> Result<bool, Failure> {
        loop {
            let count = read(&mut self.stream, &mut self.buffer, self.stop.as_deref())?;
            match self.wire.feed(&self.buffer[..count], answers) {
                Progress::More => {}
                Progress::SendMore => return Ok(false),
                Progress::Complete => return Ok(true),
                Progress::Failed(failure) => return Err(failure),
            }
        }
    }

    pub(super) fn script_answers(&mut self, sql: &str) -> Result<Answers, Failure> {
        let mut answers = Answers::default();
        self.wire.stage_script(sql);
        self.converse(&mut answers)?;
        Ok(answers)
    }

    /// Reads some bytes to those that are not understood yet.
    pub(super) fn read_more(&mut self) -> Result<(), Failure> {
        let count = read(&mut self.stream, &mut self.buffer, self.stop.as_deref())?;
        self.wire.unread().extend_from_slice(&self.buffer[..count]);
        Ok(())
    }
}

impl Session for PostgresSession {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        if batch.is_empty() {
            return Ok(());
        }
        self.wire.stage(batch);
        self.converse(answers)
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        self.script_answers(sql).map(drop)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        let answers = self.script_answers(sql)?;
        Ok(answers.last().rows().map(<[Value]>::to_vec).collect())
    }

    fn load(&mut self, table: &str, columns: &[&str], rows: &mut dyn Rows) -> Result<u64, Failure> {
        copy::load(self, table, columns, rows)
    }

    fn cut(&self) -> Option<Cut> {
        let socket = self.stream.raw().try_clone().ok()?;
        Some(Box::new(move || {
            // One that is gone already needs no end.
            let _ = socket.shutdown(Shutdown::Both);
        }))
    }
}

fn read(stream: &mut Stream, buffer: &mut [u8], stop: Option<&AtomicBool>) -> Result<usize, Failure> {
    loop {
        match stream.read(buffer) {
            Ok(0) => return Err(lost("the server closed the connection")),
            Ok(count) => return Ok(count),
            Err(source) => match source.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                        return Err(lost("stopped while the server was still busy"));
                    }
                }
                _ => return Err(lost(&source.to_string())),
            },
        }
    }
}

fn lost(what: &str) -> Failure {
    Failure::new(FailureKind::Lost, format!("the connection to the server is lost: {what}"))
}
