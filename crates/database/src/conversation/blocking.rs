//! A session over a blocking stream, whatever its protocol.

use super::stream::{RawStream, Stream, wait_at_most};
use super::wire::{Progress, Wire};
use crate::{Cut, DatabaseError, Failure, FailureKind};
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use workload::transaction::{Answers, Batch, Value};

/// Bytes that one read takes at most.
const READ: usize = 16 << 10;

/// How long a read or a write waits before it looks whether it shall stop.
const LOOK: Duration = Duration::from_millis(500);

/// A conversation and the stream below it.
#[derive(Debug)]
pub struct Blocking<W> {
    pub(crate) stream: Stream,
    pub(crate) wire: W,
    /// The server's version in its own words, such as `15.14 (Debian 15.14-0+deb12u1)`.
    pub(crate) version: String,
    /// The server's own number for this session: of its process (PostgreSQL) or connection (MariaDB).
    pub(crate) number: u32,
    buffer: Vec<u8>,
    stop: Option<Arc<AtomicBool>>,
}

impl<W: Wire> Blocking<W> {
    pub(crate) fn new(stream: Stream, wire: W, version: String, number: u32) -> Blocking<W> {
        Blocking { stream, wire, version, number, buffer: vec![0; READ], stop: None }
    }

    /// Ends every wait when `stop` becomes true: the batch fails as if the connection were lost.
    pub(crate) fn stop_by(&mut self, stop: Arc<AtomicBool>) {
        // Where it cannot be set, a wait ends when the server answers.
        let _ = wait_at_most(self.stream.raw(), Some(LOOK));
        self.stop = Some(stop);
    }

    /// Waits as long as it takes from now on: it was let in.
    pub(crate) fn unlimited(self, place: &str) -> Result<Blocking<W>, DatabaseError> {
        let refused = |source: io::Error| DatabaseError::Refused { place: place.to_owned(), text: source.to_string() };
        wait_at_most(self.stream.raw(), None).map(|()| self).map_err(refused)
    }

    /// The stream and the conversation apart, for one who serves many sessions by readiness or completion.
    ///
    /// # Errors
    /// The session itself, when it is inside TLS, which only it can read.
    pub(crate) fn into_parts(self) -> Result<(RawStream, W), Box<Blocking<W>>> {
        match self.stream {
            Stream::Raw(stream) => {
                let _ = wait_at_most(&stream, None);
                Ok((stream, self.wire))
            }
            stream => Err(Box::new(Blocking { stream, ..self })),
        }
    }

    /// Carries out a batch.
    pub(crate) fn carry_out(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        if batch.is_empty() {
            return Ok(());
        }
        self.wire.stage(batch);
        self.converse(answers)
    }

    /// Carries out a text of any number of statements, with the rows of one of them as the last answer.
    pub(crate) fn ask(&mut self, sql: &str) -> Result<Answers, Failure> {
        let mut answers = Answers::default();
        self.wire.stage_script(sql);
        self.converse(&mut answers).map_err(|failure| self.unless_stopped(failure))?;
        Ok(answers)
    }

    /// Nothing of a work is at stake here, so a connection that was given up for a stop is told as the stop that it is.
    fn unless_stopped(&self, failure: Failure) -> Failure {
        let stopped = self.stop.as_deref().is_some_and(|stop| stop.load(Ordering::Relaxed));
        match failure.kind {
            FailureKind::Lost if stopped => Failure { kind: FailureKind::Stopped, ..failure },
            _ => failure,
        }
    }

    /// The same with the rows alone.
    pub(crate) fn rows(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        Ok(self.ask(sql)?.last().rows().map(<[Value]>::to_vec).collect())
    }

    /// Sends what was staged and reads until it is answered.
    fn converse(&mut self, answers: &mut Answers) -> Result<(), Failure> {
        loop {
            let outgoing = self.wire.outgoing();
            let count = outgoing.len();
            let sent = send(&mut self.stream, outgoing, self.stop.as_deref());
            self.wire.advance(count);
            // What the server said before it closed says more than that it closed.
            if let Err(failure) = sent {
                let heard = self.listen(answers).err().filter(|failure| failure.kind == FailureKind::Lost);
                return Err(heard.unwrap_or(failure));
            }
            if self.listen(answers)? {
                return Ok(());
            }
        }
    }

    /// Reads until all is answered (true) or more is to be sent (false).
    fn listen(&mut self, answers: &mut Answers) -> Result<bool, Failure> {
        loop {
            let count = self.read()?;
            match self.wire.feed(&self.buffer[..count], answers) {
                Progress::More => {}
                Progress::SendMore => return Ok(false),
                Progress::Complete => return Ok(true),
                Progress::Failed(failure) => return Err(failure),
            }
        }
    }

    fn read(&mut self) -> Result<usize, Failure> {
        waited(self.stop.as_deref(), || match self.stream.read(&mut self.buffer)? {
            0 => Err(io::Error::other("the server closed the connection")),
            count => Ok(count),
        })
    }

    /// Reads some bytes to those that are not understood yet.
    pub(crate) fn read_more(&mut self) -> Result<(), Failure> {
        let count = self.read()?;
        self.wire.unread().extend_from_slice(&self.buffer[..count]);
        Ok(())
    }

    /// Sends bytes that are not the conversation's own, as of a bulk load.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        send(&mut self.stream, bytes, self.stop.as_deref())
    }

    /// How a call is cut from outside.
    pub(crate) fn cutter(&self) -> Option<Cut> {
        let socket = self.stream.raw().try_clone().ok()?;
        Some(Box::new(move || {
            // One that is gone already needs no end.
            let _ = socket.shutdown(Shutdown::Both);
        }))
    }

    /// Says good-bye to a server that wants to hear it, without waiting for anything.
    pub(crate) fn leave(&mut self) {
        let _ = self.stream.raw().set_nonblocking(true);
        let _ = self.stream.send(self.wire.farewell());
    }
}

fn send(stream: &mut Stream, mut bytes: &[u8], stop: Option<&AtomicBool>) -> Result<(), Failure> {
    while !bytes.is_empty() {
        let count = waited(stop, || stream.write(bytes))?;
        if count == 0 {
            return Err(lost("nothing more can be sent"));
        }
        bytes = &bytes[count..];
    }
    waited(stop, || stream.flush())
}

/// Tries until it is done, or nobody wants to wait any more.
fn waited<T>(stop: Option<&AtomicBool>, mut attempt: impl FnMut() -> io::Result<T>) -> Result<T, Failure> {
    loop {
        let source = match attempt() {
            Ok(done) => return Ok(done),
            Err(source) => source,
        };
        match (source.kind(), stop) {
            (io::ErrorKind::Interrupted, _) => {}
            (io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut, Some(stop)) => {
                if stop.load(Ordering::Relaxed) {
                    return Err(lost("stopped while the server was still busy"));
                }
            }
            _ => return Err(lost(&source.to_string())),
        }
    }
}

/// A failure for which the connection is of no use any more.
pub(crate) fn lost(what: &str) -> Failure {
    Failure::new(FailureKind::Lost, format!("the connection to the server is lost: {what}"))
}
