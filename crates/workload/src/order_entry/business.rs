//! One worker's share: draws its transactions, steps them, and hears how they ended.
//!
//! The one idea: what a transaction is about is drawn once, so that a second try is the same transaction. Locks are taken in one order
//! (customer, district, depot; district, then stock by depot and article; queues by district), so that nothing waits in a circle.
//!
//! What it does not do: it carries no statement out, and reads no clock.

use super::house::{ARTICLES, CUSTOMERS, DISTRICTS, House, LINES, depot_of, last_name};
use super::mix::Class;
use super::statements::Said;
use crate::kind::numbers::{Numbers, on_half, skewed};
use crate::kind::orders::{Known, Ledger};
use crate::kind::{Share, Told};
use crate::transaction::texts::say;
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step, Value};
use random::{Draws, Lane};
use units::Nanos;

/// Percent of lines that another depot supplies, of payments at another district than the customer's own, and of orders that are called
/// off at the end.
const SUPPLIED: u64 = 1;
const ELSEWHERE: u64 = 15;
const CALLED_OFF: u64 = 1;

/// Orders of a district that a look at its stock goes through.
const LOOKED_AT: i64 = 20;

const CLASS: u64 = 1;
const INPUTS: u64 = 2;

/// What is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    depot: u64,
    article: u64,
    quantity: u64,
}

/// An order that is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    district: u64,
    number: i64,
    order: i64,
}

/// What a slot carries.
#[derive(Clone, Debug)]
struct Slot {
    class: Class,
    step: u8,
    /// Of a new order or a payment.
    number: u64,
    district: u64,
    customer: u64,
    cents: u64,
    wanted: Vec<Wanted>,
    called_off: bool,
    delivered: Vec<Found>,
}

/// A worker of the wholesaler.
#[derive(Debug)]
pub struct Entry {
    house: House,
    seed: u64,
    half: Option<u32>,
    slots: Vec<Option<Slot>>,
    numbers: Numbers,
    ledger: Ledger,
    payments: Told,
}

impl Entry {
    /// One worker's share; the epoch tells trials on the same data apart.
    pub fn new(house: House, share: &Share) -> Entry {
        Entry {
            house,
            seed: share.seed,
            half: share.half,
            slots: vec![None; share.slots as usize],
            numbers: Numbers::new(house.first_new(), share.epoch, share.worker),
            ledger: Ledger::default(),
            payments: Told::default(),
        }
    }

    /// What this worker knows of its orders.
    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Payments that were acknowledged; of those that are still under way nothing is known.
    pub(super) fn payments(&self) -> Told {
        let running = self.slots.iter().flatten().filter(|held| held.class == Class::Payment).count();
        self.payments.open(running as u64)
    }

    fn class_of(&self, n: u64) -> Class {
        Class::drawn(Lane::new(self.seed, 0, CLASS), n)
    }

    /// Any depot, or any of this half.
    fn depot(&self, draws: &mut Draws) -> u64 {
        on_half(1 + draws.below(self.house.depots), self.half, self.house.depots)
    }

    /// Lines in the order in which their stock is locked, each of another article. Half of all draws fall on an eighth of the articles.
    fn wanted(&self, depot: u64, draws: &mut Draws) -> Vec<Wanted> {
        let count = (LINES.0 + draws.below(LINES.1)) as usize;
        let mut all: Vec<Wanted> = Vec::with_capacity(count);
        while all.len() < count {
            let article = 1 + skewed(draws.bits(), ARTICLES);
            let from = if draws.below(100) < SUPPLIED { 1 + draws.below(self.house.depots) } else { depot };
            let quantity = 1 + draws.below(10);
            if all.iter().all(|other| other.article != article) {
                all.push(Wanted { depot: from, article, quantity });
            }
        }
        all.sort_unstable();
        all
    }
}

fn number(number: u64) -> Value {
    Value::Int(number as i64)
}

/// Whether each of so many answers from `first` on has a row.
fn found(answers: &Answers, first: usize, count: usize) -> bool {
    (first..first + count).all(|at| answers.get(at).row_count() > 0)
}

const DONE: Step = Step::Done { rolled_back: false };

impl Slot {
    fn depot(&self) -> u64 {
        depot_of(self.district)
    }

    fn enter(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        match self.step {
            1 => {
                batch.begin(true);
                say(batch, Said::LockDistrict, [number(self.district)]);
                say(batch, Said::Depot, [number(self.depot())]);
                say(batch, Said::Customer, [number(self.customer)]);
                say(batch, Said::OpenOrders, [number(self.customer)]);
                for wanted in &self.wanted {
                    say(batch, Said::Article, [number(wanted.article)]);
                    say(batch, Said::Price, [number(self.customer), number(wanted.article)]);
                    say(batch, Said::LockStock, [number(wanted.depot), number(wanted.article)]);
                }
            }
            2 if found(answers, 1, 3) && found(answers, 5, 3 * self.wanted.len()) => self.write(answers, batch),
            2 => return Step::Fail,
            _ => return Step::Done { rolled_back: self.called_off },
        }
        Step::Send
    }

    /// The order, its lines and what they leave in stock. What was read under a lock is written, and what counts is added.
    fn write(&self, answers: &Answers, batch: &mut Batch) {
        let (next, tax_bp) = (answers.get(1).int(0, 0), answers.get(1).int(0, 1) + answers.get(2).int(0, 1));
        let (order, mut sum) = (number(self.number), 0);
        for (at, wanted) in self.wanted.iter().enumerate() {
            let quantity = wanted.quantity as i64;
            let cents = quantity * answers.get(6 + 3 * at).int(0, 0);
            let left = answers.get(7 + 3 * at).int(0, 0) - quantity;
            let comes = i64::from(left < 10);
            let (depot, article) = (number(wanted.depot), number(wanted.article));
            let taken = [(left + 100 * comes).into(), comes.into(), quantity.into(), depot.clone(), article.clone()];
            say(batch, Said::TakeStock, taken);
            let line = [order.clone(), (at as i64 + 1).into(), article, depot, quantity.into(), cents.into()];
            say(batch, Said::InsertLine, line);
            sum += cents;
        }
        let tax = sum * tax_bp / 10_000;
        let (district, lines) = (number(self.district), Value::Int(self.wanted.len() as i64));
        let customer = number(self.customer);
        let head = [order.clone(), district.clone(), next.into(), customer, lines, tax.into(), (sum + tax).into()];
        say(batch, Said::InsertOrder, head);
        say(batch, Said::Queue, [district.clone(), next.into(), order]);
        say(batch, Said::NextNumber, [(next + 1).into(), district]);
        if self.called_off { batch.rollback() } else { batch.commit() }
    }

    fn pay(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        let (customer, district) = (number(self.customer), number(self.district));
        match self.step {
            1 => {
                batch.begin(true);
                say(batch, Said::LockCustomer, [customer.clone()]);
                say(batch, Said::District, [district]);
                say(batch, Said::Depot, [number(self.depot())]);
                say(batch, Said::OpenOrders, [customer.clone()]);
                say(batch, Said::LastPayments, [customer]);
            }
            2 if found(answers, 1, 3) => {
                let (cents, owed) = (number(self.cents), answers.get(1).int(0, 3) - self.cents as i64);
                say(batch, Said::PayCustomer, [owed.into(), cents.clone(), customer.clone()]);
                say(batch, Said::InsertPayment, [number(self.number), customer, district.clone(), cents.clone()]);
                say(batch, Said::PayDistrict, [cents.clone(), district]);
                say(batch, Said::PayDepot, [cents, number(self.depot())]);
                batch.commit();
            }
            2 => return Step::Fail,
            _ => return DONE,
        }
        Step::Send
    }

    fn look_up(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        match self.step {
            1 => {
                batch.begin(false);
                say(batch, Said::FindCustomer, [number(self.district), last_name(self.customer).into()]);
            }
            2 | 3 if answers.last().row_count() == 0 => return Step::Fail,
            2 => say(batch, Said::LastOrder, [answers.last().int(answers.last().row_count() / 2, 0).into()]),
            3 => {
                say(batch, Said::Lines, [answers.last().int(0, 0).into()]);
                batch.commit();
            }
            _ => return DONE,
        }
        Step::Send
    }

    /// The oldest open order of each district of a depot. A district whose queue is empty, or whose oldest somebody else has just
    /// delivered, is passed over.
    fn deliver(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        let first = (self.depot() - 1) * DISTRICTS + 1;
        match self.step {
            1 => {
                batch.begin(true);
                (first..first + DISTRICTS).for_each(|district| say(batch, Said::Oldest, [number(district)]));
            }
            2 => {
                self.delivered.clear();
                for (at, district) in (1..).zip(first..first + DISTRICTS) {
                    let oldest = answers.get(at);
                    if oldest.row_count() > 0 {
                        let (number, order) = (oldest.int(0, 0), oldest.int(0, 1));
                        self.delivered.push(Found { district, number, order });
                        say(batch, Said::Head, [order.into()]);
                        say(batch, Said::Lines, [order.into()]);
                    }
                }
                if self.delivered.is_empty() {
                    self.step = 3;
                    batch.commit();
                }
            }
            3 if !found(answers, 0, 2 * self.delivered.len()) => return Step::Fail,
            3 => {
                for (at, one) in self.delivered.iter().enumerate() {
                    let head = answers.get(2 * at);
                    say(batch, Said::Unqueue, [number(one.district), one.number.into()]);
                    say(batch, Said::Deliver, [one.order.into()]);
                    say(batch, Said::Charge, [head.int(0, 1).into(), head.int(0, 0).into()]);
                }
                batch.commit();
            }
            _ => return DONE,
        }
        Step::Send
    }

    fn count(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        match self.step {
            1 => {
                batch.begin(false);
                say(batch, Said::Last, [number(self.district)]);
            }
            2 => {
                let since = answers.last().int(0, 0) - LOOKED_AT;
                say(batch, Said::Scarce, [number(self.depot()), number(self.district), since.into()]);
                batch.commit();
            }
            _ => return DONE,
        }
        Step::Send
    }
}

impl Business for Entry {
    fn class(&mut self, n: u64, _payload: u64) -> u16 {
        self.class_of(n) as u16
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        let class = self.class_of(begun.n);
        let mut draws = Draws::named(self.seed, &[INPUTS, begun.n]);
        let home = (self.depot(&mut draws) - 1) * DISTRICTS + 1 + draws.below(DISTRICTS);
        let customer = (home - 1) * CUSTOMERS + 1 + draws.below(CUSTOMERS);
        let elsewhere = class == Class::Payment && draws.below(100) < ELSEWHERE;
        let district = if elsewhere { 1 + draws.below(self.house.districts()) } else { home };
        let (cents, called_off) = (100 + draws.below(50_000), draws.below(100) < CALLED_OFF);
        let orders = class == Class::NewOrder;
        let wanted = if orders { self.wanted(depot_of(home), &mut draws) } else { Vec::new() };
        let number = if orders || class == Class::Payment { self.numbers.take() } else { 0 };
        let (step, delivered) = (0, Vec::new());
        let drawn = Slot { class, step, number, district, customer, cents, wanted, called_off, delivered };
        self.slots[slot as usize] = Some(drawn);
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        let Some(held) = &mut self.slots[slot as usize] else { return DONE };
        held.step += 1;
        match held.class {
            Class::NewOrder => held.enter(answers, batch),
            Class::Payment => held.pay(answers, batch),
            Class::Status => held.look_up(answers, batch),
            Class::Delivery => held.deliver(answers, batch),
            Class::Stock => held.count(answers, batch),
        }
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        let Slot { customer, district, .. } = self.slots[slot as usize].as_ref()?;
        Some(format!("a row of customer {customer} or district {district} is not there: `prony db check` says where"))
    }

    fn restart(&mut self, slot: u32) {
        self.slots[slot as usize].iter_mut().for_each(|held| held.step = 0);
    }

    fn ended(&mut self, slot: u32, ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {
        let Some(held) = self.slots[slot as usize].take() else { return };
        match (held.class, ending) {
            (Class::NewOrder, Ending::Done) if !held.called_off => self.ledger.record(held.number, Known::Placed),
            (Class::NewOrder, Ending::Unknown) if !held.called_off => {
                self.ledger.record(held.number, Known::PlacedUnknown);
            }
            (Class::NewOrder, _) => self.ledger.record(held.number, Known::RolledBack),
            (Class::Delivery, Ending::Done | Ending::Unknown) => {
                let known = if ending == Ending::Done { Known::Filled } else { Known::FillUnknown };
                held.delivered.iter().for_each(|one| self.ledger.record(one.order as u64, known));
            }
            (Class::Payment, ending) => self.payments.count(1, ending),
            _ => {}
        }
    }
}
