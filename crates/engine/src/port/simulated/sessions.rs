//! Transactions on a machine in virtual time.
//!
//! The one idea: the machine decides how long a transaction takes, the workload decides which one comes, whether it rolls back
//! and what it causes. So each transaction is stepped to its end beforehand, with the answers of a database that makes them
//! up, and then spends its time on the machine. One that pauses holds its session meanwhile, and is stepped on afterwards.
//!
//! Each stream has classes of its own, and the machine has them all: those of a stream follow those of the streams before.
//!
//! What it does not do: what a class asks the machine for is not seen here, but said when the machine is built.

use crate::port::attempt::{Attempt, Stop, Turn};
use crate::port::reconnect::Unopened;
use crate::worker::transactions::Transactions;
use database::Session;
use model::machine::TRANSACTION;
use system::Outcome;
use units::Nanos;
use workload::Operation;
use workload::transaction::{Begun, Caused, Ending};

/// One stream of transactions that no server carries out.
pub(crate) struct Imagined {
    pub(crate) transactions: Transactions,
    /// Answers in the place of a server.
    pub(crate) session: Box<dyn Session>,
    /// How many may be on the machine at once.
    pub(crate) sessions: u32,
    /// What each of its classes gives on the mean, as answers that are made up say nothing of it.
    pub(crate) gives: Vec<f64>,
}

/// How far a transaction was stepped.
pub(crate) enum Stepped {
    /// To its end; what becomes of it when the machine is done with it.
    Through(Outcome),
    /// To a pause of so long.
    Pauses(Nanos),
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
    first_class: u16,
    /// The class that was drawn last, for the transaction that begins next.
    drawn: u16,
    /// What each class still owes of its mean: it gives whole pieces.
    owes: Vec<f64>,
    /// That of the transaction in each slot.
    classes: Vec<u16>,
    attempt: Attempt,
    /// Transactions that pause, by their slots.
    asleep: Vec<(u32, Attempt)>,
    /// When the last transaction of each slot ended, and whether all went well.
    ended: Vec<(Nanos, Ending)>,
}

impl Streams {
    /// Adds a stream, whose slots follow those before.
    pub(crate) fn add(&mut self, imagined: Imagined) {
        self.all.push(Pool {
            first_slot: self.all.iter().map(|pool| pool.imagined.sessions).sum(),
            first_class: self.all.iter().map(|pool| pool.imagined.gives.len() as u16).sum(),
            drawn: 0,
            owes: vec![0.0; imagined.gives.len()],
            classes: vec![0; imagined.sessions as usize],
            attempt: Attempt::default(),
            asleep: Vec::new(),
            ended: vec![(Nanos::ZERO, Ending::Done); imagined.sessions as usize],
            imagined,
        });
    }

    /// Whether the machine carries no transactions.
    pub(crate) fn none(&self) -> bool {
        self.all.is_empty()
    }

    fn of(&mut self, slot: u32) -> &mut Pool {
        let holds = |pool: &Pool| slot.wrapping_sub(pool.first_slot) < pool.imagined.sessions;
        self.all.iter_mut().find(|pool| holds(pool)).expect("a transaction is of a stream of transactions")
    }

    pub(crate) fn class(&mut self, slot: u32, n: u64, payload: u64) -> u16 {
        let pool = self.of(slot);
        pool.drawn = pool.imagined.transactions.business.class(n, payload);
        pool.drawn
    }

    /// What the machine is handed for the transaction in a slot.
    pub(crate) fn operation(&mut self, slot: u32) -> Operation {
        let pool = self.of(slot);
        Operation { class: pool.first_class + pool.classes[(slot - pool.first_slot) as usize], ..TRANSACTION }
    }

    /// Steps a transaction to its first pause or its end.
    pub(crate) fn begin(&mut self, slot: u32, begun: Begun) -> Stepped {
        let pool = self.of(slot);
        let slot = slot - pool.first_slot;
        pool.classes[slot as usize] = pool.drawn;
        let transactions = &mut pool.imagined.transactions;
        transactions.business.begin(slot, begun);
        let turn = pool.attempt.start(slot, transactions);
        pool.carry_on(slot, turn)
    }

    /// Steps a transaction on whose pause is over.
    pub(crate) fn wake(&mut self, slot: u32) -> Stepped {
        let pool = self.of(slot);
        let slot = slot - pool.first_slot;
        let place = pool.asleep.iter().position(|(asleep, _)| *asleep == slot).expect("who is woken slept");
        pool.attempt = pool.asleep.swap_remove(place).1;
        let turn = pool.attempt.step(slot, &mut pool.imagined.transactions);
        pool.carry_on(slot, turn)
    }

    /// The machine is done with a transaction.
    pub(crate) fn ended(&mut self, slot: u32, at: Nanos, failed: bool) {
        let pool = self.of(slot);
        let ending = &mut pool.ended[(slot - pool.first_slot) as usize];
        *ending = (at, if failed { Ending::Failed } else { ending.1 });
    }

    /// The mean of the class of the transaction in a slot, and what was left of those before.
    pub(crate) fn gave(&mut self, slot: u32) -> u64 {
        let pool = self.of(slot);
        let class = usize::from(pool.classes[(slot - pool.first_slot) as usize]);
        let owed = pool.owes[class] + pool.imagined.gives[class];
        pool.owes[class] = owed.fract();
        owed as u64
    }

    pub(crate) fn caused(&mut self, slot: u32, into: &mut Vec<Caused>) {
        let pool = self.of(slot);
        let slot = slot - pool.first_slot;
        let (at, ending) = pool.ended[slot as usize];
        pool.imagined.transactions.business.ended(slot, ending, at, into);
    }
}

impl Pool {
    fn carry_on(&mut self, slot: u32, turn: Turn) -> Stepped {
        let Imagined { transactions, session, .. } = &mut self.imagined;
        let nowhere = || Err(Unopened::Refused(String::new()));
        match self.attempt.carry_on(turn, slot, transactions, session, nowhere) {
            Stop::Pause(time) => {
                self.asleep.push((slot, std::mem::take(&mut self.attempt)));
                Stepped::Pauses(time)
            }
            Stop::Over(over) => {
                self.ended[slot as usize].1 = over.ending;
                Stepped::Through(over.outcome)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::transactions::TransactionWork;
    use crate::port::simulated::machine::ModelPort;
    use crate::port::tests::{Do, Log, session, transactions};
    use crate::sample;
    use crate::worker::assign::{Carriers, assign, window};
    use crate::worker::profile::Profile;
    use load::{Arrivals, Spec};
    use model::machine::{Cores, Ended, Machine, Outside, Stand, StationReport};
    use observation::Histogram;
    use random::Draws;
    use recorder::Collector;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    use std::sync::atomic::AtomicBool;
    use units::PerSecond;
    use workload::happening::Happening;
    use workload::transaction::{Answers, Batch, Business, Step};

    /// A machine on which everybody is alone, for a millisecond in the mean, exponentially.
    struct Alone {
        times: Draws,
        ends: BinaryHeap<Reverse<(u64, u32)>>,
    }

    impl Machine for Alone {
        fn submit(&mut self, at: Nanos, slot: u32, _operation: &Operation) {
            let time = (self.times.exponential() * 1e6) as u64 + 1;
            self.ends.push(Reverse((at.0 + time, slot)));
        }

        fn advance(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Nanos {
            let Some(Reverse((at, slot))) = self.ends.peek().copied().filter(|Reverse((at, _))| *at <= until.0) else {
                return until;
            };
            self.ends.pop();
            ended.push(Ended { slot, at: Nanos(at), failed: false });
            Nanos(at)
        }

        fn next(&mut self) -> Option<Nanos> {
            self.ends.peek().map(|Reverse((at, _))| Nanos(*at))
        }

        fn happen(&mut self, _at: Nanos, _what: Happening) -> bool {
            false
        }

        fn course(&mut self) -> Vec<Stand> {
            Vec::new()
        }

        fn outside(&self, _slot: u32) -> Nanos {
            Nanos::ZERO
        }

        fn outside_is(&self) -> Option<Outside> {
            None
        }

        fn clear(&mut self) {}

        fn reports(&mut self) -> Vec<StationReport> {
            Vec::new()
        }

        fn cores(&mut self) -> Option<Cores> {
            None
        }

        fn events(&mut self) -> u64 {
            0
        }
    }

    /// A transaction that asks a database for nothing.
    struct Nothing;

    impl Business for Nothing {
        fn class(&mut self, _n: u64, _payload: u64) -> u16 {
            0
        }

        fn begin(&mut self, _slot: u32, _begun: Begun) {}

        fn step(&mut self, _slot: u32, _answers: &Answers, _batch: &mut Batch) -> Step {
            Step::Done { rolled_back: false }
        }

        fn restart(&mut self, _slot: u32) {}

        fn ended(&mut self, _slot: u32, _ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {}
    }

    #[test]
    fn transactions_that_pause_are_stepped_on_each_by_itself() {
        let log = Log::default();
        let steps = [Do::Sleep(Nanos(5)), Do::Sleep(Nanos(7)), Do::Done, Do::Done];
        let (transactions, session) = (transactions(&steps, 1, &log), session(&[], &log));
        let mut streams = Streams::default();
        streams.add(Imagined { transactions, session, sessions: 2, gives: vec![0.0] });
        let begun = |n| Begun { n, payload: 0, at: Nanos::ZERO };
        let pauses = |stepped| if let Stepped::Pauses(time) = stepped { time } else { Nanos::ZERO };
        assert_eq!([0, 1].map(|slot| pauses(streams.begin(slot, begun(slot.into())))), [Nanos(5), Nanos(7)]);
        for slot in [1, 0] {
            assert!(matches!(streams.wake(slot), Stepped::Through(Outcome::Transacted { .. })), "{slot}");
        }
    }

    #[test]
    fn what_a_class_gives_on_the_mean_adds_up_in_whole_pieces() {
        let log = Log::default();
        let (transactions, session) = (transactions(&[Do::Done], 1, &log), session(&[], &log));
        let mut streams = Streams::default();
        let gives = vec![0.0, 0.891, 30.0, 5.0 / 3.0];
        streams.add(Imagined { transactions, session, sessions: 1, gives: gives.clone() });
        for (class, mean) in gives.into_iter().enumerate() {
            streams.all[0].classes[0] = class as u16;
            let given: Vec<u64> = (0..30_000).map(|_| streams.gave(0)).collect();
            let sum = given.iter().sum::<u64>() as f64;
            assert!((sum - mean * 30_000.0).abs() <= 1.0, "{mean}: {sum}");
            assert!(given.iter().all(|one| (*one as f64 - mean).abs() <= 1.0), "{mean}");
        }
    }

    /// Mean and 99th percentile of 16 sessions with one queue, so busy, in milliseconds.
    const THEORY: [(f64, f64, f64); 3] = [(0.5, 1.0011, 4.6065), (0.8, 1.0953, 4.7350), (0.95, 1.9752, 7.2166)];

    #[test]
    fn users_who_wait_for_a_session_wait_as_in_one_queue() {
        for (busy, mean_ms, tail_ms) in THEORY {
            let sessions = 16;
            let load = Spec::Open { rate: PerSecond(busy * 16e3), arrivals: Arrivals::Poisson, slots: sessions };
            let mut trial = sample::trial(load, Nanos::from_secs(if busy > 0.9 { 150 } else { 20 }));
            trial.phases.warm_up = Nanos::from_secs(1);
            trial.streams[0].threads.pacing = load::Pacing::Sleep;
            let mut collector = Collector::default();
            let (share, _) = assign(&trial, &mut collector, |_| Ok(Carriers::new(1, Ok))).unwrap().remove(0);
            let transactions =
                Transactions { business: Box::new(Nothing), tries: 1, stops: false, profile: Profile::default() };
            let session = session(&[], &Log::default());
            let mut streams = Streams::default();
            streams.add(Imagined { transactions, session, sessions, gives: vec![0.0] });
            let machine = Alone { times: Draws::from_state(7), ends: BinaryHeap::new() };
            let mut port = ModelPort::new(Box::new(machine), streams, window(&trial), sessions);
            let home = share.drive(&mut port, TransactionWork::default(), &AtomicBool::new(false)).unwrap();
            assert!(home.account.unwrap().closes());
            let (mut cells, mut response) = (Vec::new(), Histogram::default());
            collector.collect(&mut cells);
            let settled = cells
                .iter()
                .filter(|cell| u64::from(cell.key.interval) * trial.phases.interval.0 >= trial.phases.warm_up.0);
            settled.for_each(|cell| response.merge(&cell.response));
            let (mean, tail) = (response.mean_ns().unwrap() / 1e6, response.quantile_ns(0.99).unwrap() as f64 / 1e6);
            let words = format!("{busy}: mean {mean} of {mean_ms}, p99 {tail} of {tail_ms}");
            assert!((mean / mean_ms - 1.0).abs() < 0.03 && (tail / tail_ms - 1.0).abs() < 0.03, "{words}");
        }
    }
}
