//! The port of transactions over one blocking session: a thread of its own carries out one after the other.
//!
//! The one idea: to the loop a transaction is an operation like any other; this port begins it, steps it with the answers of
//! the database, tries it again when the engine asks for that, and reports its end. With more slots than one, the slots
//! are users who share the session: a transaction that was begun waits in order, and that wait is part of its response.

use crate::TrialError;
use crate::hot::transactions::TransactionWork;
use crate::port::blocking::idle;
use crate::port::reconnect::{Reconnect, words};
use crate::worker::assign::Share;
use crate::worker::run::{Driver, Return, Start};
use crate::worker::transactions::Transactions;
use database::{Failure, FailureKind, Session};
use recorder::Clock;
use std::collections::VecDeque;
use system::{Completion, Outcome, Port, PortError, TransactionPort, Wait};
use units::Nanos;
use workload::transaction::{Answers, Batch, Begun, Call, Caused, Ending, Step};

/// A worker's transactions over one blocking session.
pub(crate) struct SessionDriver {
    pub(crate) session: Box<dyn Session>,
    pub(crate) reconnect: Reconnect,
    pub(crate) transactions: Transactions,
    pub(crate) work: TransactionWork,
}

impl Driver for SessionDriver {
    fn run(self: Box<Self>, share: Share, start: &Start<'_>) -> Result<Return, TrialError> {
        let SessionDriver { session, reconnect, transactions, work } = *self;
        let clock = start.ready()?;
        let mut port = SessionPort::new(session, reconnect, transactions, clock, share.slots());
        let home = share.drive(&mut port, work, start.halt)?;
        Ok(Return { transactions: Some(port.transactions), ..home })
    }
}

/// The port over one session.
pub(crate) struct SessionPort<C> {
    session: Box<dyn Session>,
    reconnect: Reconnect,
    transactions: Transactions,
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
    fn new(
        session: Box<dyn Session>,
        reconnect: Reconnect,
        transactions: Transactions,
        clock: C,
        slots: u32,
    ) -> SessionPort<C> {
        SessionPort {
            session,
            reconnect,
            transactions,
            clock,
            waiting: VecDeque::with_capacity(slots as usize),
            batch: Batch::default(),
            answers: Answers::default(),
            caused: Vec::new(),
            complaint: None,
            open: false,
        }
    }

    /// Carries a transaction out to its end.
    fn carry_out(&mut self, slot: u32) -> Outcome {
        let mut retried = 0;
        loop {
            match self.attempt(slot) {
                Ok(Some(rolled_back)) => {
                    self.end(slot, Ending::Done);
                    return Outcome::Transacted { retried, rolled_back };
                }
                Ok(None) => {
                    self.complaint = self.transactions.business.complaint(slot);
                    return Outcome::Failed { errno: self.undo(slot) };
                }
                Err(failure) if failure.retryable() && retried + 1 < self.transactions.tries => {
                    retried += 1;
                    self.transactions.business.restart(slot);
                }
                Err(failure) => return Outcome::Failed { errno: self.give_up(slot, failure) },
            }
        }
    }

    /// One attempt; nothing when the workload itself could not go on.
    fn attempt(&mut self, slot: u32) -> Result<Option<bool>, Failure> {
        self.answers.clear();
        self.open = false;
        loop {
            self.batch.clear();
            match self.transactions.business.step(slot, &self.answers, &mut self.batch) {
                Step::Send => {
                    self.answers.clear();
                    self.session.run(&self.batch, &mut self.answers)?;
                    self.transactions.profile.add(&self.batch, &self.answers);
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

    /// The workload could not go on: what it began is undone. The answer is the errno.
    fn undo(&mut self, slot: u32) -> i32 {
        self.batch.clear();
        self.batch.rollback();
        self.answers.clear();
        let undone = if self.open { self.session.run(&self.batch, &mut self.answers) } else { Ok(()) };
        self.end(slot, Ending::Failed);
        undone.map_or_else(|failure| errno(failure.kind), |()| libc::EINVAL)
    }

    fn give_up(&mut self, slot: u32, failure: Failure) -> i32 {
        let lost = failure.kind == FailureKind::Lost;
        let unknown = lost && may_have_committed(&self.batch, self.open);
        self.end(slot, if unknown { Ending::Unknown } else { Ending::Failed });
        if !lost {
            self.complaint = Some(failure.text);
            return errno(failure.kind);
        }
        let opened = self.reconnect.session().map(|session| self.session = session);
        let errno = if opened.is_ok() { libc::ECONNRESET } else { errno(failure.kind) };
        self.complaint = Some(words(&failure.text, opened));
        errno
    }

    fn end(&mut self, slot: u32, ending: Ending) {
        if ending == Ending::Done {
            self.transactions.profile.done();
        }
        let at = self.clock.now();
        self.transactions.business.ended(slot, ending, at, &mut self.caused);
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

impl<C: Clock> TransactionPort for SessionPort<C> {
    fn class(&mut self, _slot: u32, n: u64, payload: u64) -> u16 {
        self.transactions.business.class(n, payload)
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        self.transactions.business.begin(slot, begun);
        self.waiting.push_back(slot);
    }

    fn caused(&mut self, _slot: u32, into: &mut Vec<Caused>) {
        into.append(&mut self.caused);
    }

    fn outside(&self, _slot: u32) -> Nanos {
        Nanos::ZERO
    }

    fn complaint(&mut self, _slot: u32) -> Option<String> {
        self.complaint.take()
    }
}

impl<C: Clock> Port for SessionPort<C> {
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn submit(&mut self, _more: bool) -> Result<(), PortError> {
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        match self.waiting.pop_front() {
            Some(slot) => {
                let outcome = self.carry_out(slot);
                into.push(Completion { slot, outcome, at: self.clock.now() });
            }
            None => idle(&self.clock, wait),
        }
        Ok(())
    }
}
