//! One worker's share of the brokerage house: draws its transactions, steps them, and hears how they ended.
//!
//! The one idea: a slot holds what its transaction was made from, so that a second try is the same transaction; only what
//! was acknowledged reaches the exchange and the ledger.
//!
//! What it does not do: it carries no statement out, and reads no clock.

use super::data_set::seeded;
use super::draws::{Draws, Purpose};
use super::exchange::{Exchange, Tick};
use super::ledger::{Known, Ledger};
use super::mix::Class;
use super::numbers::Errand;
use super::scale::NOW_US;
use super::steps::{DONE, Inputs, Machine, Report, machine};
use super::{Market, Preset, Scale, Spec};
use crate::dataset::SEED;
use crate::kind::numbers::Numbers;
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step};
use units::Nanos;

/// Microseconds of a day of the calendar: a later epoch begins that much later.
const EPOCH_US: i64 = 86_400_000_000;
/// Between two rounds of maintenance, by time.
const MAINTENANCE: Nanos = Nanos::from_secs(60);
/// Between two rounds of maintenance, by count: endings of the worker.
const MAINTENANCE_ENDINGS: u64 = 1_000;

/// What one slot carries.
#[derive(Debug, Default)]
struct Slot {
    errand: Option<Errand>,
    class: Option<Class>,
    n: u64,
    now: i64,
    number: u64,
    ticks: Vec<Tick>,
    machine: Option<Box<dyn Machine>>,
}

/// A worker of the brokerage workload.
#[derive(Debug)]
pub struct Brokerage {
    spec: Spec,
    scale: Scale,
    seed: u64,
    epoch: u64,
    worker: u32,
    half: Option<u32>,
    slots: Vec<Slot>,
    numbers: Numbers,
    pub(super) exchange: Exchange,
    ledger: Ledger,
    /// Rounds of maintenance so far, and when or at which ending the next is due.
    rounds: u64,
    next_round: u64,
}

impl Brokerage {
    /// A worker (from 0, below [`WORKERS_MAX`](crate::kind::WORKERS_MAX)) of `workers` with so many slots. `epoch` tells trials on the same data apart, so that
    /// their trades have different numbers; it repeats after 2^14.
    pub fn new(spec: Spec, seed: u64, worker: u32, workers: u32, slots: u32, epoch: u64) -> Brokerage {
        debug_assert!(worker < workers && workers <= crate::kind::WORKERS_MAX, "worker {worker} of {workers}");
        let scale = Scale::of(&spec);
        let next_round = match spec.market {
            Market::ByTime => MAINTENANCE.0,
            Market::ByCount => MAINTENANCE_ENDINGS,
        };
        Brokerage {
            spec,
            scale,
            seed,
            epoch,
            worker,
            half: None,
            slots: (0..slots).map(|_| Slot::default()).collect(),
            numbers: Numbers::new(scale.first_new_trade(), epoch, worker),
            exchange: Exchange::new(spec.market, seed, scale, worker),
            ledger: Ledger::default(),
            rounds: 0,
            next_round,
        }
    }

    /// The same worker on one half of the customers and of the securities. Brokers are both halves', and so is what was bought before.
    pub fn on(self, half: Option<u32>) -> Brokerage {
        Brokerage { half, exchange: self.exchange.on(half), ..self }
    }

    /// What this worker knows of the orders that it placed and filled.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn class_of(&self, n: u64, errand: Errand) -> Class {
        match errand {
            Errand::Scheduled => Class::drawn(self.spec.preset, self.seed, n),
            Errand::Fill { .. } => Class::Result,
            Errand::Feed(_) => Class::Feed,
            Errand::Maintenance(_) => Class::Maintenance,
        }
    }

    /// The moment on the calendar of the data.
    fn now(&self, at: Nanos) -> i64 {
        let since = match self.spec.market {
            Market::ByTime => at.0 / 1_000,
            Market::ByCount => self.exchange.endings * 1_000,
        };
        NOW_US + (self.epoch % (1 << 14)) as i64 * EPOCH_US + since as i64
    }

    fn load(&mut self, slot: u32) {
        let held = &mut self.slots[slot as usize];
        let draws = match held.errand {
            Some(Errand::Feed(number)) => Draws::new(self.seed, Purpose::Quotes, !number),
            Some(Errand::Maintenance(number)) => Draws::new(self.seed, Purpose::Maintenance, number),
            _ => Draws::new(self.seed, Purpose::Inputs, held.n),
        };
        let draws = draws.on(self.half);
        let Slot { class: Some(class), now, number, .. } = *held else { return };
        let (scale, ticks, procedures) = (&self.scale, &held.ticks[..], self.spec.procedures);
        held.machine = Some(machine(Inputs { scale, class, draws, now, number, ticks, procedures }));
    }

    /// What a committed transaction means to the market and the ledger.
    fn committed(&mut self, number: u64, report: Report, at: Nanos, caused: &mut Vec<Caused>) {
        match report {
            Report::Nothing => {}
            Report::RolledBack => self.ledger.record(number, Known::RolledBack),
            Report::Placed { symbol, waits } => {
                self.ledger.record(number, Known::Placed);
                if waits { self.exchange.wait_for(&symbol) } else { self.exchange.submit(number, at, caused) }
            }
            Report::Filled { symbol, quantity } => {
                self.ledger.record(number, Known::Filled);
                self.exchange.filled(symbol, quantity, at, caused);
            }
            Report::Fired(trades) => {
                for (trade, symbol) in trades {
                    self.exchange.fired(&symbol);
                    self.exchange.submit(trade, at, caused);
                }
            }
        }
    }

    /// What a transaction means that was not committed, or not known to be.
    fn lost(&mut self, errand: Errand, class: Class, number: u64, ending: Ending, at: Nanos, caused: &mut Vec<Caused>) {
        let unknown = ending == Ending::Unknown;
        match class {
            Class::Order => {
                self.ledger.record(number, if unknown { Known::PlacedUnknown } else { Known::RolledBack });
            }
            Class::Result => {
                if unknown {
                    self.ledger.record(number, Known::FillUnknown);
                }
                self.exchange.give_back(errand, at, caused);
            }
            Class::Feed => self.exchange.give_back(errand, at, caused),
            _ => {}
        }
    }

    /// Once a minute the first worker of the house goes round.
    fn maintain(&mut self, at: Nanos, caused: &mut Vec<Caused>) {
        let (reached, step) = match self.spec.market {
            Market::ByTime => (at.0, MAINTENANCE.0),
            Market::ByCount => (self.exchange.endings, MAINTENANCE_ENDINGS),
        };
        let wanted = self.spec.maintenance && self.worker == 0 && self.spec.preset == Preset::House;
        if !wanted || reached < self.next_round {
            return;
        }
        caused.push(Caused { due: at, payload: Errand::Maintenance(self.rounds).payload() });
        self.rounds += 1;
        self.next_round = reached + step;
    }
}

impl Business for Brokerage {
    fn class(&mut self, n: u64, payload: u64) -> u16 {
        self.class_of(n, Errand::of(payload)).place(self.spec.preset)
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        let errand = Errand::of(begun.payload);
        let class = self.class_of(begun.n, errand);
        let number = match errand {
            Errand::Fill { trade, .. } => trade,
            Errand::Maintenance(round) => round,
            Errand::Feed(feed) => feed,
            Errand::Scheduled if class == Class::Order => self.numbers.take(),
            Errand::Scheduled => 0,
        };
        let ticks = match errand {
            Errand::Feed(feed) => self.exchange.take_feed(feed),
            _ => Vec::new(),
        };
        let now = self.now(begun.at);
        self.slots[slot as usize] =
            Slot { errand: Some(errand), class: Some(class), n: begun.n, now, number, ticks, machine: None };
        self.load(slot);
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        self.slots[slot as usize].machine.as_mut().map_or(DONE, |machine| machine.step(answers, batch))
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        let complaint = self.slots[slot as usize].machine.as_ref()?.complaint()?;
        let schema = seeded(Scale::of(&self.spec), SEED).schema();
        // A fill leaves alone what is there, so that only who removes it gets it anew.
        Some(format!(
            "{complaint}; the data was altered since its fill: `prony db check` says where; to have it anew, drop the schema \
             {schema} (of SQLite: remove the file), then `prony db fill`"
        ))
    }

    fn restart(&mut self, slot: u32) {
        self.load(slot);
    }

    fn ended(&mut self, slot: u32, ending: Ending, at: Nanos, caused: &mut Vec<Caused>) {
        let Slot { errand, class, number, mut machine, .. } = std::mem::take(&mut self.slots[slot as usize]);
        let (Some(errand), Some(class)) = (errand, class) else { return };
        match ending {
            Ending::Done => {
                let report = machine.as_mut().map_or(Report::Nothing, |machine| machine.report());
                self.committed(number, report, at, caused);
            }
            Ending::Failed | Ending::Unknown => self.lost(errand, class, number, ending, at, caused),
        }
        self.exchange.count_ending(at, caused);
        self.maintain(at, caused);
    }
}
