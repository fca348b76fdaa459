//! Transactions, sessions and databases that do what a test has written down.

#[cfg(miri)]
pub(crate) mod kernel;
#[cfg(miri)]
mod memory;

use crate::port::reconnect::Reconnect;
use crate::worker::profile::Profile;
use crate::worker::transactions::Transactions;
use database::postgres::PostgresWire;
use database::{Conversation, Database, DatabaseError, Facts, Failure, FailureKind, Session, Texts, Wire};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use study::{Engine, Protocol, Sessions};
use units::Nanos;
use workload::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step, Value};

/// What happened, in order.
pub(crate) type Log = Arc<Mutex<Vec<String>>>;

pub(crate) fn told(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock().unwrap())
}

/// What a transaction does, one for each step.
#[derive(Clone, Copy)]
pub(crate) enum Do {
    /// Sends a begin.
    Begin,
    /// Sends a commit.
    Commit,
    Sleep(Nanos),
    Fail,
    Done,
}

/// Every transaction goes through the same steps, and those that end well cause another.
struct Scripted {
    steps: Vec<Do>,
    at: usize,
    log: Log,
}

/// Transactions that go through these steps, and may be tried so often.
pub(crate) fn transactions(steps: &[Do], tries: u32, log: &Log) -> Transactions {
    let business = Box::new(Scripted { steps: steps.to_vec(), at: 0, log: log.clone() });
    Transactions { business, tries, stops: false, profile: Profile::default() }
}

impl Business for Scripted {
    fn class(&mut self, n: u64, _payload: u64) -> u16 {
        n as u16
    }

    fn begin(&mut self, slot: u32, _begun: Begun) {
        self.log.lock().unwrap().push(format!("begin {slot}"));
    }

    fn step(&mut self, _slot: u32, _answers: &Answers, batch: &mut Batch) -> Step {
        let step = self.steps[self.at % self.steps.len()];
        self.at += 1;
        match step {
            Do::Begin => batch.begin(true),
            Do::Commit => batch.commit(),
            Do::Sleep(time) => return Step::Sleep(time),
            Do::Fail => return Step::Fail,
            Do::Done => return Step::Done { rolled_back: false },
        }
        Step::Send
    }

    fn complaint(&mut self, _slot: u32) -> Option<String> {
        Some("a division by zero".to_owned())
    }

    fn restart(&mut self, slot: u32) {
        self.at = 0;
        self.log.lock().unwrap().push(format!("restart {slot}"));
    }

    fn ended(&mut self, slot: u32, ending: Ending, at: Nanos, caused: &mut Vec<Caused>) {
        self.at = 0;
        self.log.lock().unwrap().push(format!("{ending:?} {slot}"));
        if ending == Ending::Done {
            caused.push(Caused { due: at, payload: u64::from(slot) });
        }
    }
}

/// A session whose batches end as written down, and well when nothing more is.
pub(crate) struct ScriptedSession(VecDeque<Option<FailureKind>>, Log);

pub(crate) fn session(ends: &[Option<FailureKind>], log: &Log) -> Box<dyn Session> {
    Box::new(ScriptedSession(ends.iter().copied().collect(), log.clone()))
}

impl Session for ScriptedSession {
    fn run(&mut self, batch: &Batch, _answers: &mut Answers) -> Result<(), Failure> {
        self.1.lock().unwrap().extend(batch.calls().map(|call| format!("{call:?}").to_lowercase()));
        match self.0.pop_front().flatten() {
            Some(kind) => Err(Failure::new(kind, format!("{kind:?}"))),
            None => Ok(()),
        }
    }

    fn script(&mut self, _sql: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        Ok(Vec::new())
    }

    fn load(&mut self, _: &str, _: &[&str], _: &mut dyn database::Rows) -> Result<u64, Failure> {
        Ok(0)
    }
}

/// A database that hands out what it was given, and refuses everybody afterwards.
#[derive(Default)]
pub(crate) struct ScriptedDatabase {
    pub(crate) sessions: Mutex<Vec<Box<dyn Session>>>,
    pub(crate) conversations: Mutex<Vec<Option<UnixStream>>>,
    /// Says nothing to anybody who comes as long as this is held, though for no longer than its patience.
    pub(crate) silent: Arc<Mutex<()>>,
}

/// How long a scripted database says nothing at most.
const PATIENCE: Duration = Duration::from_secs(5);

impl ScriptedDatabase {
    pub(crate) fn reconnect(self) -> Reconnect {
        Reconnect {
            database: Some(Arc::new(self)),
            served: Arc::new(true.into()),
            texts: Texts::none(Engine::Postgres),
            how: how(),
            patience: Duration::ZERO,
        }
    }
}

/// Waits until nobody holds a lock, but not for longer than the patience.
fn wait_for(silent: &Mutex<()>) {
    let look = Duration::from_millis(1);
    for _ in 0..PATIENCE.as_millis() / look.as_millis() {
        if silent.try_lock().is_ok() {
            return;
        }
        std::thread::sleep(look);
    }
}

fn refused() -> DatabaseError {
    DatabaseError::Refused { place: "nowhere".to_owned(), text: "full".to_owned() }
}

impl Database for ScriptedDatabase {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn session(&self, _texts: &Texts, _how: &Sessions) -> Result<Box<dyn Session>, DatabaseError> {
        wait_for(&self.silent);
        self.sessions.lock().unwrap().pop().ok_or_else(refused)
    }

    fn conversation(&self, _texts: &Texts, _how: &Sessions) -> Result<Option<Conversation>, DatabaseError> {
        wait_for(&self.silent);
        let socket = self.conversations.lock().unwrap().pop().ok_or_else(refused)?;
        Ok(socket.map(|socket| (OwnedFd::from(socket), wire())))
    }

    fn facts(&self) -> Facts {
        let (version, place) = (String::new(), "nowhere".to_owned());
        Facts { engine: Engine::Postgres, version, place, settings: Vec::new() }
    }
}

fn how() -> Sessions {
    Sessions { protocol: Protocol::Simple, ..Sessions::default() }
}

/// A conversation without statements.
pub(crate) fn wire() -> Box<dyn Wire> {
    Box::new(PostgresWire::new(Arc::new(Texts::none(Engine::Postgres)), &how()))
}
