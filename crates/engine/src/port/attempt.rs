//! One transaction on one session, from its first attempt to its end.
//!
//! The one idea: what is sent next, what is tried again, what is undone and what became of it are the same over a blocking
//! session, over one connection of many, and in virtual time; only the sending differs, and is a port's.
//!
//! What it does not do: it reads no clock.

use crate::port::reconnect::Unopened;
use crate::worker::transactions::Transactions;
use database::{Failure, FailureKind, Session};
use system::Outcome;
use units::Nanos;
use workload::transaction::{Answers, Batch, Call, Ending, Step};

/// Why a transaction that its steps take for done is none: as in pgbench, this ends the trial, since every one would fail so.
const UNFINISHED: &str =
    "the script ended inside of a transaction, which was rolled back: end it with COMMIT or ROLLBACK";

/// A transaction under way on a session.
#[derive(Default)]
pub(crate) struct Attempt {
    /// What is to be sent, or was sent last.
    pub(crate) batch: Batch,
    /// The answers to it.
    pub(crate) answers: Answers,
    /// Whether a transaction is open behind the last batch that was answered.
    open: bool,
    /// Attempts beyond the first.
    retried: u32,
    /// How it fails, once what it began is undone; none while it goes on.
    undoing: Option<i32>,
    complaint: Option<String>,
}

/// What a port has to do next.
pub(crate) enum Turn {
    /// Send the batch and hand in its answers.
    Send,
    /// Step on after a pause.
    Sleep(Nanos),
    /// Take the next transaction.
    Over(Over),
    /// Open another session.
    Lost(Lost),
}

/// Where a transaction stops on its way over a blocking session.
pub(crate) enum Stop {
    /// Step on after a pause.
    Pause(Nanos),
    /// It is over.
    Over(Over),
}

/// How a transaction ended.
pub(crate) struct Over {
    pub(crate) outcome: Outcome,
    pub(crate) ending: Ending,
    /// Why it failed, when more is known than an errno says.
    pub(crate) complaint: Option<String>,
}

/// How words on a lost session end that is there again.
const AGAIN: &str = "its session was opened again";

/// Below this nobody waited for a server.
const AWAY: Nanos = Nanos::from_millis(100);

impl Over {
    /// The same of a session that was waited for.
    pub(crate) fn after(mut self, waited: Nanos) -> Over {
        if let Some(words) = self.complaint.as_mut().filter(|words| waited >= AWAY && words.ends_with(AGAIN)) {
            words.push_str(&format!(" after {}", units::duration(waited)));
        }
        self
    }
}

/// A transaction whose session was lost.
pub(crate) struct Lost {
    /// What was said of it.
    pub(crate) text: String,
    /// Whether the server may have kept it.
    pub(crate) unknown: bool,
}

impl Lost {
    /// How it ends when another session could be opened; else why there is none. Without any no further transaction can
    /// succeed, unless none is wanted: then it ends unfinished.
    pub(crate) fn over(self, opened: Result<(), Unopened>) -> Over {
        let Lost { text, unknown } = self;
        let (errno, complaint) = match opened {
            Ok(()) => (libc::ECONNRESET, format!("connection lost: {text}; {AGAIN}")),
            Err(Unopened::Stopped) => (libc::ECANCELED, text),
            Err(Unopened::Refused(why)) if why.is_empty() => (libc::ENOTCONN, text),
            Err(Unopened::Refused(why)) => (libc::ENOTCONN, format!("connection lost: {text}; no new one: {why}")),
        };
        let ending = if unknown { Ending::Unknown } else { Ending::Failed };
        Over { outcome: Outcome::Failed { errno }, ending, complaint: Some(complaint) }
    }
}

impl Attempt {
    /// Begins the transaction of a slot.
    pub(crate) fn start(&mut self, slot: u32, transactions: &mut Transactions) -> Turn {
        (self.retried, self.undoing, self.complaint) = (0, None, None);
        self.anew(slot, transactions)
    }

    /// Carries a transaction out over a blocking session, which is opened again when it was lost.
    pub(crate) fn carry_out(
        &mut self,
        slot: u32,
        transactions: &mut Transactions,
        session: &mut Box<dyn Session>,
        pause: impl Fn(Nanos),
        mut reopen: impl FnMut() -> Result<Box<dyn Session>, Unopened>,
    ) -> Over {
        let mut turn = self.start(slot, transactions);
        loop {
            match self.carry_on(turn, slot, transactions, session, &mut reopen) {
                Stop::Over(over) => return over,
                Stop::Pause(time) => pause(time),
            }
            turn = self.step(slot, transactions);
        }
    }

    /// Goes on with a transaction over a blocking session, until it is over or pauses.
    pub(crate) fn carry_on(
        &mut self,
        mut turn: Turn,
        slot: u32,
        transactions: &mut Transactions,
        session: &mut Box<dyn Session>,
        reopen: impl FnOnce() -> Result<Box<dyn Session>, Unopened>,
    ) -> Stop {
        loop {
            turn = match turn {
                Turn::Send => match session.run(&self.batch, &mut self.answers) {
                    Ok(()) => self.answered(slot, session.in_transaction(), transactions),
                    Err(failure) => self.refused(slot, failure, transactions),
                },
                Turn::Sleep(time) => return Stop::Pause(time),
                Turn::Over(over) => return Stop::Over(over),
                Turn::Lost(lost) => return Stop::Over(lost.over(reopen().map(|opened| *session = opened))),
            };
        }
    }

    fn anew(&mut self, slot: u32, transactions: &mut Transactions) -> Turn {
        self.open = false;
        self.answers.clear();
        self.step(slot, transactions)
    }

    /// Goes on with the answers that there are.
    pub(crate) fn step(&mut self, slot: u32, transactions: &mut Transactions) -> Turn {
        self.batch.clear();
        let step = transactions.business.step(slot, &self.answers, &mut self.batch);
        self.answers.clear();
        match step {
            Step::Send => Turn::Send,
            Step::Sleep(time) => Turn::Sleep(time),
            Step::Done { .. } if self.open => {
                self.complaint = Some(UNFINISHED.to_owned());
                self.undo(libc::ENOTRECOVERABLE)
            }
            Step::Done { rolled_back } => {
                let outcome = Outcome::Transacted { retried: self.retried, rolled_back };
                Turn::Over(Over { outcome, ending: Ending::Done, complaint: None })
            }
            Step::Fail => {
                self.complaint = transactions.business.complaint(slot);
                let errno = if transactions.stops { libc::ENOTRECOVERABLE } else { libc::EDOM };
                if self.open { self.undo(errno) } else { self.failed(errno) }
            }
        }
    }

    /// Undoes what was begun, and fails then.
    fn undo(&mut self, errno: i32) -> Turn {
        self.undoing = Some(errno);
        self.batch.clear();
        self.batch.rollback();
        Turn::Send
    }

    /// The batch was answered. `open` says whether that left a transaction open, where the server told.
    pub(crate) fn answered(&mut self, slot: u32, open: Option<bool>, transactions: &mut Transactions) -> Turn {
        if let Some(errno) = self.undoing {
            return self.failed(errno);
        }
        transactions.profile.add(&self.batch, &self.answers);
        self.open = open.unwrap_or_else(|| open_after(&self.batch, self.open));
        self.step(slot, transactions)
    }

    /// The batch failed.
    pub(crate) fn refused(&mut self, slot: u32, failure: Failure, transactions: &mut Transactions) -> Turn {
        let errno = match failure.kind {
            // Pages that cannot be read do not come back by asking again: the session is opened anew, and the run ends where that fails.
            FailureKind::Lost | FailureKind::Unreadable => {
                let unknown = may_have_committed(&self.batch, self.open);
                return Turn::Lost(Lost { text: failure.text, unknown });
            }
            FailureKind::Full => libc::ENOSPC,
            FailureKind::Serialization | FailureKind::Deadlock => libc::EAGAIN,
            FailureKind::Refused | FailureKind::Privilege => libc::EPROTO,
            FailureKind::Stopped => libc::ECANCELED,
        };
        if let Some(undoing) = self.undoing {
            return self.failed(if undoing == libc::ENOTRECOVERABLE { undoing } else { errno });
        }
        if failure.retryable() && self.retried + 1 < transactions.tries {
            self.retried += 1;
            transactions.business.restart(slot);
            return self.anew(slot, transactions);
        }
        let stops = transactions.stops && errno == libc::EPROTO;
        self.complaint = Some(transactions.business.answered(failure.text));
        self.failed(if stops { libc::ENOTRECOVERABLE } else { errno })
    }

    fn failed(&mut self, errno: i32) -> Turn {
        let (outcome, ending) = (Outcome::Failed { errno }, Ending::Failed);
        Turn::Over(Over { outcome, ending, complaint: self.complaint.take() })
    }
}

/// Whether a transaction is open behind the calls of a batch.
fn open_after(batch: &Batch, before: bool) -> bool {
    batch.calls().fold(before, |open, call| open_behind(&call, open))
}

fn open_behind(call: &Call<'_>, before: bool) -> bool {
    match call {
        Call::Begin { .. } => true,
        Call::Commit | Call::Rollback => false,
        Call::Statement { .. } => before,
    }
}

/// Whether the server may have kept something of a batch whose answer never came: it held a commit, or a statement
/// outside of any transaction.
fn may_have_committed(batch: &Batch, mut open: bool) -> bool {
    batch.calls().any(|call| {
        let before = open;
        open = open_behind(&call, before);
        matches!(call, Call::Commit) || (!before && matches!(call, Call::Statement { .. }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::tests::{Do, Log, session, told, transactions};
    use FailureKind::{Deadlock, Lost as Gone, Refused, Serialization};
    use std::cell::RefCell;

    const COMMITTED: [Do; 3] = [Do::Begin, Do::Commit, Do::Done];
    const FAILING: [Do; 2] = [Do::Begin, Do::Fail];

    /// Carries one transaction out. `ends` says how its batches end; with `another` a lost session can be opened again.
    fn carried(steps: &[Do], ends: &[Option<FailureKind>], another: bool) -> (Over, Vec<String>) {
        let log = Log::default();
        let (mut transactions, mut first) = (transactions(steps, 3, &log), session(ends, &log));
        let reopen = || if another { Ok(session(&[], &log)) } else { Err(Unopened::Refused("full".to_owned())) };
        let over = Attempt::default().carry_out(7, &mut transactions, &mut first, |_| {}, reopen);
        (over, told(&log))
    }

    fn failed(over: &Over) -> (i32, Ending, &str) {
        let Outcome::Failed { errno } = over.outcome else { panic!("{:?}", over.outcome) };
        (errno, over.ending, over.complaint.as_deref().unwrap_or_default())
    }

    #[test]
    fn a_transaction_is_stepped_to_its_end() {
        let (over, log) = carried(&COMMITTED, &[], false);
        assert_eq!(over.outcome, Outcome::Transacted { retried: 0, rolled_back: false });
        assert_eq!((over.ending, over.complaint), (Ending::Done, None));
        assert_eq!(log.len(), 2, "a begin and a commit: {log:?}");
    }

    #[test]
    fn what_the_engine_aborted_is_tried_again_from_its_begin() {
        let (over, log) = carried(&COMMITTED, &[None, Some(Serialization), Some(Deadlock)], false);
        assert_eq!(over.outcome, Outcome::Transacted { retried: 2, rolled_back: false });
        assert_eq!(log.iter().filter(|line| *line == "restart 7").count(), 2);
    }

    #[test]
    fn a_transaction_that_is_aborted_every_time_fails_with_what_was_said_last() {
        let (over, log) = carried(&COMMITTED, &[Some(Deadlock), Some(Deadlock), Some(Serialization)], false);
        assert_eq!(failed(&over), (libc::EAGAIN, Ending::Failed, "Serialization"));
        assert_eq!(log.iter().filter(|line| *line == "restart 7").count(), 2, "three tries in all");
        let (over, log) = carried(&COMMITTED, &[Some(Refused)], false);
        assert_eq!(failed(&over), (libc::EPROTO, Ending::Failed, "Refused"));
        assert_eq!(log.len(), 1, "a refusal is not tried again: {log:?}");
    }

    #[test]
    fn what_a_transaction_began_is_undone_when_it_cannot_go_on() {
        let (over, log) = carried(&FAILING, &[], false);
        assert_eq!(failed(&over), (libc::EDOM, Ending::Failed, "a division by zero"));
        assert_eq!(log.last().map(String::as_str), Some("rollback"));
        let (over, log) = carried(&[Do::Fail], &[], false);
        assert_eq!(failed(&over), (libc::EDOM, Ending::Failed, "a division by zero"));
        assert_eq!(log, Vec::<String>::new(), "nothing was open");
    }

    #[test]
    fn a_script_that_ends_inside_of_a_transaction_is_rolled_back_and_ends_the_trial() {
        let (over, log) = carried(&[Do::Begin, Do::Done], &[], false);
        assert_eq!(failed(&over), (libc::ENOTRECOVERABLE, Ending::Failed, UNFINISHED));
        assert_eq!(log.last().map(String::as_str), Some("rollback"), "{log:?}");
        let (over, _) = carried(&[Do::Begin, Do::Done], &[None, Some(Refused)], false);
        assert_eq!(failed(&over), (libc::ENOTRECOVERABLE, Ending::Failed, UNFINISHED));
    }

    #[test]
    fn a_refused_statement_ends_the_trial_where_that_was_asked_for_and_a_conflict_never_does() {
        let stopped = |ends: &[Option<FailureKind>], steps: &[Do]| {
            let log = Log::default();
            let (mut transactions, mut first) = (transactions(steps, 1, &log), session(ends, &log));
            transactions.stops = true;
            let over =
                Attempt::default().carry_out(0, &mut transactions, &mut first, |_| {}, || Err(Unopened::Stopped));
            failed(&over).0
        };
        assert_eq!(stopped(&[Some(Refused)], &COMMITTED), libc::ENOTRECOVERABLE);
        assert_eq!(stopped(&[], &FAILING), libc::ENOTRECOVERABLE);
        assert_eq!(stopped(&[Some(Deadlock)], &COMMITTED), libc::EAGAIN);
    }

    #[test]
    fn a_commit_whose_answer_never_came_is_of_unknown_outcome() {
        let (over, _) = carried(&COMMITTED, &[None, Some(Gone)], true);
        let words = "connection lost: Lost; its session was opened again";
        assert_eq!(failed(&over), (libc::ECONNRESET, Ending::Unknown, words));
        let (over, _) = carried(&COMMITTED, &[Some(Gone)], true);
        assert_eq!(failed(&over), (libc::ECONNRESET, Ending::Failed, words), "nothing was committed yet");
    }

    #[test]
    fn without_another_session_nothing_can_succeed_any_more() {
        let (over, _) = carried(&COMMITTED, &[Some(Gone)], false);
        assert_eq!(failed(&over), (libc::ENOTCONN, Ending::Failed, "connection lost: Lost; no new one: full"));
        let lost = Lost { text: "gone".to_owned(), unknown: true };
        let over = lost.over(Err(Unopened::Refused(String::new())));
        assert_eq!(failed(&over), (libc::ENOTCONN, Ending::Unknown, "gone"), "an engine without connections");
    }

    /// It was taken for the end of the system, or left a dead connection to the next transaction.
    #[test]
    fn a_session_that_is_lost_while_a_transaction_is_undone_is_opened_again() {
        let (over, _) = carried(&FAILING, &[None, Some(Gone)], true);
        let words = "connection lost: Lost; its session was opened again";
        assert_eq!(failed(&over), (libc::ECONNRESET, Ending::Failed, words));
        let (over, _) = carried(&FAILING, &[None, Some(Refused)], true);
        assert_eq!(failed(&over), (libc::EPROTO, Ending::Failed, "a division by zero"));
    }

    #[test]
    fn a_pause_is_the_callers_to_make() {
        let log = Log::default();
        let (mut transactions, mut first) =
            (transactions(&[Do::Sleep(Nanos(5)), Do::Done], 1, &log), session(&[], &log));
        let paused = RefCell::new(Vec::new());
        let pause = |time| paused.borrow_mut().push(time);
        let over = Attempt::default().carry_out(0, &mut transactions, &mut first, pause, || Err(Unopened::Stopped));
        assert_eq!((over.ending, paused.into_inner()), (Ending::Done, vec![Nanos(5)]));
    }
}
