//! The road of transactions over one blocking session: a thread of its own carries out one after the other.
//!
//! The one idea: to the loop a transaction is an operation like any other; this port begins it, steps it with the answers of
//! the database, tries it again when the engine asks for that, and reports its end. With more slots than one, the slots
//! are users who share the session: a transaction that was begun waits in order, and that wait is part of its response.

use crate::again::{self, Again};
use crate::profile::Profile;
use database::{Failure, FailureKind, Session};
use recorder::Clock;
use std::collections::VecDeque;
use system::{Completion, Port, PortError, Wait};
use units::Nanos;
use workload::Operation;
use workload::transaction::{Answers, Batch, Begun, Business, Call, Caused, Ending, Step};

/// What a worker carries out, and how often it tries.
pub(crate) struct Work {
    pub(crate) business: Box<dyn Business>,
    /// How often a transaction is tried at most.
    pub(crate) tries: u32,
    /// What was asked, by statement.
    pub(crate) profile: Profile,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("tries", &self.tries).finish_non_exhaustive()
    }
}

/// The port over one session.
pub(crate) struct SessionPort<C> {
    session: Box<dyn Session>,
    again: Again,
    work: Work,
    clock: C,
    waiting: VecDeque<u32>,
    batch: Batch,
    answers: Answers,
    caused: Vec<Caused>,
    complaint: Option<String>,
    /// Whether a transaction is open on the session.
    open: bool,
}

impl<C: Clock> SessionPort<C> {
    pub(crate) fn new((session, again): (Box<dyn Session>, Again), work: Work, clock: C, slots: u32) -> SessionPort<C> {
        SessionPort {
            session,
            again,
            work,
            clock,
            waiting: VecDeque::with_capacity(slots as usize),
            batch: Batch::default(),
            answers: Answers::default(),
            caused: Vec::new(),
            complaint: None,
            open: false,
        }
    }

    /// Hands back what was worked with.
    pub(crate) fn dismantle(self) -> Work {
        self.work
    }

    /// Carries a transaction out to its end, and answers as [`Completion::result`] is written.
    fn carry_out(&mut self, slot: u32) -> i32 {
        let mut repeated = 0;
        loop {
            match self.attempt(slot) {
                Ok(Some(rolled_back)) => {
                    self.end(slot, Ending::Done);
                    return (repeated << 1 | u32::from(rolled_back)) as i32;
                }
                Ok(None) => {
                    self.complaint = self.work.business.complaint(slot);
                    return self.undo(slot);
                }
                Err(failure) if failure.retryable() && repeated + 1 < self.work.tries => {
                    repeated += 1;
                    self.work.business.restart(slot);
                }
                Err(failure) => return self.give_up(slot, failure),
            }
        }
    }

    /// One attempt; nothing when the workload itself could not go on.
    fn attempt(&mut self, slot: u32) -> Result<Option<bool>, Failure> {
        self.answers.clear();
        self.open = false;
        loop {
            self.batch.clear();
            match self.work.business.step(slot, &self.answers, &mut self.batch) {
                Step::Send => {
                    self.answers.clear();
                    self.session.run(&self.batch, &mut self.answers)?;
                    self.work.profile.add(&self.batch, &self.answers);
                    self.open = open_after(&self.batch, self.open);
                }
                Step::Sleep(time) => {
                    self.answers.clear();
                    self.clock.pass(self.clock.now() + time);
                }
                Step::Fail => return Ok(None),
                Step::Done { rolled_back } => return Ok(Some(rolled_back)),
            }
        }
    }

    /// The workload could not go on: what it began is undone.
    fn undo(&mut self, slot: u32) -> i32 {
        self.batch.clear();
        self.batch.rollback();
        self.answers.clear();
        let undone = if self.open { self.session.run(&self.batch, &mut self.answers) } else { Ok(()) };
        self.end(slot, Ending::Failed);
        undone.map_or_else(|failure| -errno(failure.kind), |()| -libc::EINVAL)
    }

    fn give_up(&mut self, slot: u32, failure: Failure) -> i32 {
        let lost = failure.kind == FailureKind::Lost;
        let unknown = lost && may_have_committed(&self.batch, self.open);
        self.end(slot, if unknown { Ending::Unknown } else { Ending::Failed });
        if !lost {
            self.complaint = Some(failure.text);
            return -errno(failure.kind);
        }
        let opened = self.again.session().map(|session| self.session = session);
        let errno = if opened.is_ok() { libc::ECONNRESET } else { errno(failure.kind) };
        self.complaint = Some(again::words(&failure.text, opened));
        -errno
    }

    fn end(&mut self, slot: u32, ending: Ending) {
        if ending == Ending::Done {
            self.work.profile.done();
        }
        let at = self.clock.now();
        self.work.business.ended(slot, ending, at, &mut self.caused);
    }
}

/// Whether a transaction is open behind the calls of a batch.
pub(crate) fn open_after(batch: &Batch, before: bool) -> bool {
    batch.calls().fold(before, |open, call| match call {
        Call::Begin { .. } => true,
        Call::Commit | Call::Rollback => false,
        Call::Statement { .. } => open,
    })
}

/// Whether the server may have kept something of a batch whose answer never came: it held a commit, or a statement
/// outside of any transaction.
pub(crate) fn may_have_committed(batch: &Batch, open: bool) -> bool {
    let mut open = open;
    for call in batch.calls() {
        match call {
            Call::Begin { .. } => open = true,
            Call::Commit => return true,
            Call::Rollback => open = false,
            Call::Statement { .. } if !open => return true,
            Call::Statement { .. } => {}
        }
    }
    false
}

/// The errno under which a failure travels to the loop, which knows those after which nothing can succeed.
pub(crate) fn errno(kind: FailureKind) -> i32 {
    match kind {
        FailureKind::Lost => libc::ENOTCONN,
        FailureKind::Full => libc::ENOSPC,
        FailureKind::Serialization | FailureKind::Deadlock => libc::EAGAIN,
        FailureKind::Refused | FailureKind::Privilege => libc::EPROTO,
    }
}

impl<C: Clock> Port for SessionPort<C> {
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }

    fn stage(&mut self, _slot: u32, _operation: &Operation, _durable: bool) {
        unreachable!("a session carries transactions only")
    }

    fn class(&mut self, _slot: u32, n: u64, payload: u64) -> u16 {
        self.work.business.class(n, payload)
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        self.work.business.begin(slot, begun);
        self.waiting.push_back(slot);
    }

    fn caused(&mut self, _slot: u32, into: &mut Vec<Caused>) {
        into.append(&mut self.caused);
    }

    fn complaint(&mut self, _slot: u32) -> Option<String> {
        self.complaint.take()
    }

    fn submit(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        match (self.waiting.pop_front(), wait) {
            (Some(slot), _) => {
                let result = self.carry_out(slot);
                into.push(Completion { slot, result, at: self.clock.now() });
            }
            (None, Wait::Until(at)) => {
                // In naps, so that a stop is seen.
                let nap = self.clock.now().saturating_add(Nanos::from_millis(100));
                self.clock.pass(at.min(nap));
            }
            (None, Wait::Poll | Wait::Completion) => {}
        }
        Ok(())
    }
}
