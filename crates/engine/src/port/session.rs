//! The port of transactions over one blocking session: a thread of its own carries out one after the other.
//!
//! The one idea: to the loop a transaction is an operation like any other; this port begins it, steps it with the answers of
//! the database, tries it again when the engine asks for that, and reports its end. Users who are more than sessions wait in
//! the load for the first that is free. What was begun all the same waits here in order, and that wait is part of its response.

use crate::TrialError;
use crate::hot::transactions::TransactionWork;
use crate::port::attempt::Attempt;
use crate::port::blocking::{NAP, idle};
use crate::port::reconnect::Reconnect;
use crate::worker::assign::Share;
use crate::worker::calls::Calls;
use crate::worker::run::{Return, Start};
use crate::worker::transactions::Transactions;
use database::Session;
use recorder::Clock;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use system::{Completion, Outcome, Port, PortError, TransactionPort, Wait};
use units::Nanos;
use workload::transaction::{Begun, Caused};

/// Drives a worker's transactions over one blocking session.
pub(crate) fn drive(
    session: Box<dyn Session>,
    reconnect: Reconnect,
    transactions: Transactions,
    work: TransactionWork,
    share: Share,
    start: &Start,
) -> Result<Return, TrialError> {
    start.calls.are_cut_by(share.number, session.cut());
    let mut port = SessionPort {
        session,
        reconnect,
        transactions,
        clock: start.ready()?,
        halt: start.halt.clone(),
        calls: start.calls.clone(),
        worker: share.number,
        waiting: VecDeque::with_capacity(share.slots() as usize),
        attempt: Attempt::default(),
        caused: Vec::new(),
        ages: Vec::new(),
        complaint: None,
    };
    let home = share.drive(&mut port, work, &start.halt)?;
    Ok(Return { transactions: Some(port.transactions), ..home })
}

/// The port over one session.
pub(crate) struct SessionPort<C> {
    session: Box<dyn Session>,
    reconnect: Reconnect,
    transactions: Transactions,
    clock: C,
    /// Ends pauses, and waits for another session.
    halt: Arc<AtomicBool>,
    /// Where the way to cut another session is left.
    calls: Calls,
    worker: u32,
    waiting: VecDeque<u32>,
    attempt: Attempt,
    caused: Vec<Caused>,
    /// How old the data was that transactions saw which ended.
    ages: Vec<Nanos>,
    complaint: Option<String>,
}

impl<C: Clock> SessionPort<C> {
    /// Carries a transaction out to its end.
    fn carry_out(&mut self, slot: u32) -> Outcome {
        let SessionPort { session, reconnect, transactions, clock, halt, calls, worker, attempt, .. } = self;
        let pause = |time| {
            let until = clock.now() + time;
            // In naps, so that a stop is seen.
            while clock.now() < until && !halt.load(Ordering::Relaxed) {
                clock.pass(until.min(clock.now() + NAP));
            }
        };
        let mut waited = Nanos::ZERO;
        let reopen = || {
            let lost = clock.now();
            let opened = reconnect.session(halt).inspect(|opened| calls.are_cut_by(*worker, opened.cut()));
            waited = clock.now().saturating_sub(lost);
            opened
        };
        let over = attempt.carry_out(slot, transactions, session, pause, reopen).after(waited);
        transactions.ended(slot, over.ending, clock.now(), &mut self.caused);
        self.ages.extend(transactions.business.age(slot));
        self.complaint = over.complaint;
        over.outcome
    }
}

impl<C: Clock> TransactionPort for SessionPort<C> {
    fn class(&mut self, _slot: u32, n: u64, payload: u64) -> u16 {
        self.transactions.business.class(n, payload)
    }

    fn due(&mut self, slot: u32) -> Option<Nanos> {
        self.transactions.business.due(slot)
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        self.transactions.business.begin(slot, begun);
        self.waiting.push_back(slot);
    }

    fn caused(&mut self, _slot: u32, into: &mut Vec<Caused>) {
        into.append(&mut self.caused);
    }

    fn ages(&mut self, into: &mut Vec<Nanos>) {
        into.append(&mut self.ages);
    }

    fn gave(&mut self, slot: u32) -> u64 {
        self.transactions.business.gave(slot)
    }

    fn complaint(&mut self, _slot: u32) -> Option<String> {
        self.complaint.take()
    }
}

impl<C: Clock> Port for SessionPort<C> {
    fn now(&mut self) -> Nanos {
        self.clock.now()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::tests::{Do, Log, ScriptedDatabase, session, told, transactions};
    use database::FailureKind;
    use recorder::SimulatedClock;

    fn port(ends: &[Option<FailureKind>], log: &Log) -> SessionPort<SimulatedClock> {
        let database = ScriptedDatabase::default();
        database.sessions.lock().unwrap().push(session(&[], log));
        SessionPort {
            session: session(ends, log),
            reconnect: database.reconnect(),
            transactions: transactions(&[Do::Begin, Do::Sleep(Nanos(10)), Do::Commit, Do::Done], 1, log),
            clock: SimulatedClock::default(),
            halt: Arc::default(),
            calls: Calls::default(),
            worker: 0,
            waiting: VecDeque::new(),
            attempt: Attempt::default(),
            caused: Vec::new(),
            ages: Vec::new(),
            complaint: None,
        }
    }

    fn begin(port: &mut SessionPort<SimulatedClock>, slot: u32) {
        port.begin(slot, Begun { n: 3, payload: 0, at: Nanos::ZERO });
    }

    #[test]
    fn users_who_share_a_session_have_it_in_the_order_in_which_they_came() {
        let log = Log::default();
        let mut port = port(&[], &log);
        [2, 0, 1].into_iter().for_each(|slot| begin(&mut port, slot));
        let mut ended = Vec::new();
        (0..3).for_each(|_| port.reap(Wait::Completion, &mut ended).unwrap());
        let seen: Vec<(u32, Nanos)> = ended.iter().map(|completion| (completion.slot, completion.at)).collect();
        assert_eq!(seen, [(2, Nanos(10)), (0, Nanos(20)), (1, Nanos(30))], "each pauses for 10 ns");
        let mut caused = Vec::new();
        port.caused(1, &mut caused);
        assert_eq!(caused.iter().map(|caused| caused.payload).collect::<Vec<_>>(), [2, 0, 1]);
        assert_eq!(port.class(0, 3, 0), 3);
    }

    #[test]
    fn a_lost_session_costs_its_transaction_and_the_next_one_has_another() {
        let log = Log::default();
        let mut port = port(&[Some(FailureKind::Lost)], &log);
        (0..2).for_each(|slot| begin(&mut port, slot));
        let mut ended = Vec::new();
        (0..2).for_each(|_| port.reap(Wait::Poll, &mut ended).unwrap());
        let done = Outcome::Transacted { retried: 0, rolled_back: false };
        let outcomes: Vec<Outcome> = ended.iter().map(|completion| completion.outcome).collect();
        assert_eq!(outcomes, [Outcome::Failed { errno: libc::ECONNRESET }, done]);
        assert_eq!(port.complaint(0), None, "that of the transaction which ended last");
        let log = told(&log);
        assert_eq!((log[0].as_str(), log.last().unwrap().as_str()), ("begin 0", "Done 1"));
    }

    #[test]
    fn with_nothing_to_carry_it_waits_in_naps() {
        let mut port = port(&[], &Log::default());
        let mut ended = Vec::new();
        port.reap(Wait::Until(Nanos::from_secs(5)), &mut ended).unwrap();
        assert_eq!((port.now(), ended.len()), (Nanos::from_millis(100), 0));
        port.reap(Wait::Completion, &mut ended).unwrap();
        assert_eq!(port.now(), Nanos::from_millis(100));
    }
}
