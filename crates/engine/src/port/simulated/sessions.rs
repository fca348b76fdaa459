//! Transactions on a machine in virtual time.
//!
//! The one idea: the machine decides how long a transaction takes, the workload decides which one comes, whether it rolls back
//! and what it causes. So each transaction is stepped to its end beforehand, with the answers of a database that makes them
//! up, and then spends its time on the machine. Users beyond the sessions wait in order for one.
//!
//! What it does not do: a model has one transaction, the mean one, so that all classes ask the machine for the same.

use crate::port::attempt::Attempt;
use crate::worker::transactions::Transactions;
use database::Session;
use std::collections::VecDeque;
use system::Outcome;
use units::Nanos;
use workload::transaction::{Begun, Caused, Ending};

/// One stream of transactions that no server carries out.
pub(crate) struct Imagined {
    pub(crate) transactions: Transactions,
    /// Answers in the place of a server.
    pub(crate) session: Box<dyn Session>,
    /// How many may be on the machine at once.
    pub(crate) sessions: u32,
    /// How many may be asked for at once: sessions, or the users who share them.
    pub(crate) slots: u32,
}

/// The streams of transactions on one machine; none of a machine for storage.
#[derive(Default)]
pub(crate) struct Streams {
    all: Vec<Pool>,
}

/// One stream with its sessions.
struct Pool {
    imagined: Imagined,
    first_slot: u32,
    /// Sessions that nobody has.
    free: u32,
    waiting: VecDeque<u32>,
    attempt: Attempt,
    /// When the last transaction of each slot ended, and whether all went well.
    ended: Vec<(Nanos, Ending)>,
}

impl Streams {
    /// Adds a stream, whose slots follow those before.
    pub(crate) fn add(&mut self, imagined: Imagined) {
        self.all.push(Pool {
            first_slot: self.all.iter().map(|pool| pool.imagined.slots).sum(),
            free: imagined.sessions,
            waiting: VecDeque::new(),
            attempt: Attempt::default(),
            ended: vec![(Nanos::ZERO, Ending::Done); imagined.slots as usize],
            imagined,
        });
    }

    /// Whether the machine carries no transactions.
    pub(crate) fn none(&self) -> bool {
        self.all.is_empty()
    }

    fn of(&mut self, slot: u32) -> &mut Pool {
        let holds = |pool: &Pool| slot.wrapping_sub(pool.first_slot) < pool.imagined.slots;
        self.all.iter_mut().find(|pool| holds(pool)).expect("a transaction is of a stream of transactions")
    }

    pub(crate) fn class(&mut self, slot: u32, n: u64, payload: u64) -> u16 {
        self.of(slot).imagined.transactions.business.class(n, payload)
    }

    /// Steps a transaction to its end; the answer is what becomes of it when the machine is done with it.
    pub(crate) fn begin(&mut self, slot: u32, begun: Begun) -> Outcome {
        let pool = self.of(slot);
        let slot = slot - pool.first_slot;
        let Imagined { transactions, session, .. } = &mut pool.imagined;
        transactions.business.begin(slot, begun);
        let over = pool.attempt.carry_out(slot, transactions, session, |_| {}, || Err(String::new()));
        pool.ended[slot as usize].1 = over.ending;
        over.outcome
    }

    /// Whether a session is free for the slot; if none is, it waits.
    pub(crate) fn takes(&mut self, slot: u32) -> bool {
        let pool = self.of(slot);
        if pool.free > 0 {
            pool.free -= 1;
            return true;
        }
        pool.waiting.push_back(slot);
        false
    }

    /// A slot gives its session back; who waited longest has it next.
    pub(crate) fn gives(&mut self, slot: u32, at: Nanos, failed: bool) -> Option<u32> {
        let pool = self.of(slot);
        let place = (slot - pool.first_slot) as usize;
        let ending = &mut pool.ended[place];
        *ending = (at, if failed { Ending::Failed } else { ending.1 });
        let next = pool.waiting.pop_front();
        pool.free += u32::from(next.is_none());
        next
    }

    pub(crate) fn caused(&mut self, slot: u32, into: &mut Vec<Caused>) {
        let pool = self.of(slot);
        let slot = slot - pool.first_slot;
        let (at, ending) = pool.ended[slot as usize];
        pool.imagined.transactions.business.ended(slot, ending, at, into);
    }
}
