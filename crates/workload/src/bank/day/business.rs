//! One worker's share of a bank's day: draws its transactions, steps them, and hears how they ended.
//!
//! The one idea: a slot holds what its transaction was made from, so that a second try is the same transaction. What comes by the
//! clock is told by its payload; each transaction of a payment run causes the one behind it.
//!
//! What it does not do: it carries no statement out, and reads no clock.

use super::choose::{Choose, Purpose};
use super::mix::{BACK_DATED, BULK, Class, LATER, REJECTED, RUN};
use super::post::{Payee, Post};
use super::spec::RUN_EVERY;
use super::{Spec, reads};
use crate::bank::history::History;
use crate::bank::scale::{CENTS_MAX, TODAY};
use crate::dataset::SEED;
use crate::kind::numbers::Numbers;
use crate::kind::orders::{Known, Ledger};
use crate::kind::{Clocked, Share};
use crate::transaction::{Answers, Ask, Batch, Begun, Business, Caused, Ending, Step};
use random::Lane;
use units::Nanos;

/// What comes by the clock.
pub(super) fn clock(spec: &Spec) -> Vec<Clocked> {
    let (run, standing) = (Errand::Run(0).payload(), Errand::Standing(0).payload());
    let (every, transactions) = (spec.run_every, run_length(spec));
    vec![
        Clocked { name: "payment runs", every, key: Some(RUN_EVERY.name), transactions, payload: run },
        Clocked { name: "standing orders", every: STANDING_EVERY, key: None, transactions: 1, payload: standing },
    ]
}

/// Transactions of a payment run.
fn run_length(spec: &Spec) -> u64 {
    spec.run_orders.div_ceil(RUN as u64)
}

/// Between two standing orders.
const STANDING_EVERY: Nanos = Nanos::from_millis(100);

/// What a transaction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Errand {
    /// An arrival of the schedule.
    Call,
    /// A transaction of a payment run, counted over all runs.
    Run(u64),
    /// A standing order.
    Standing(u64),
}

const KIND_SHIFT: u32 = 56;

impl Errand {
    fn payload(self) -> u64 {
        match self {
            Errand::Call => 0,
            Errand::Run(number) => (1 << KIND_SHIFT) | number,
            Errand::Standing(number) => (2 << KIND_SHIFT) | number,
        }
    }

    fn of(payload: u64) -> Errand {
        let number = payload & ((1 << KIND_SHIFT) - 1);
        match payload >> KIND_SHIFT {
            1 => Errand::Run(number),
            2 => Errand::Standing(number),
            _ => Errand::Call,
        }
    }
}

/// A transaction under way.
#[derive(Debug, Default)]
enum Machine {
    #[default]
    Idle,
    Ask(Class, Choose, Ask),
    Post(Box<Post>),
}

/// What one slot carries.
#[derive(Debug, Default)]
struct Slot {
    payload: u64,
    machine: Machine,
}

/// A worker of a bank's day.
#[derive(Debug)]
pub struct Day {
    spec: Spec,
    history: History,
    seed: u64,
    half: Option<u32>,
    classes: Lane,
    slots: Vec<Slot>,
    /// What the transaction posted that ended last in each slot.
    gave: Vec<u64>,
    numbers: Numbers,
    ledger: Ledger,
    /// Accounts of payees, while they are drawn.
    payees: Vec<u64>,
}

impl Day {
    /// The share of one worker; the epoch tells trials on the same data apart, so that their orders have different numbers.
    pub fn new(spec: Spec, share: &Share) -> Day {
        let history = History::new(spec.scale, SEED);
        Day {
            history,
            seed: share.seed,
            half: share.half,
            classes: Lane::new(share.seed, 0, Purpose::Class as u64),
            slots: (0..share.slots).map(|_| Slot::default()).collect(),
            gave: vec![0; share.slots as usize],
            numbers: Numbers::new(history.first_order_of_day(), share.epoch, share.worker),
            ledger: Ledger::default(),
            payees: Vec::with_capacity(RUN),
            spec,
        }
    }

    /// What this worker knows of its orders.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn class_of(&self, n: u64, payload: u64) -> Class {
        match Errand::of(payload) {
            Errand::Call => Class::drawn(&self.spec, self.classes, n),
            Errand::Run(_) => Class::Run,
            Errand::Standing(_) => Class::Standing,
        }
    }

    fn choose(&self, purpose: Purpose, n: u64) -> Choose {
        Choose::new(self.spec, self.seed, self.half, purpose, n)
    }

    fn machine(&mut self, n: u64, payload: u64) -> Machine {
        let class = self.class_of(n, payload);
        match (class, Errand::of(payload)) {
            (Class::Bulk, _) => self.several(self.choose(Purpose::Call, n), "bulk", BULK, (1_000, 50_000)),
            (_, Errand::Run(number)) => self.several(self.choose(Purpose::Run, number), "run", RUN, (100_000, 300_000)),
            (Class::Card | Class::Order, _) => self.single(class, self.choose(Purpose::Call, n)),
            (_, Errand::Standing(_)) => {
                let mut post = Post::new(self.numbers.take(), "standing", 0, Vec::new());
                post.standing = true;
                Machine::Post(Box::new(post))
            }
            _ => {
                let choose = self.choose(Purpose::Call, n);
                Machine::Ask(class, choose, reads::asked(class, &self.history, choose))
            }
        }
    }

    /// A firm pays many at once.
    fn several(&mut self, mut choose: Choose, kind: &'static str, count: usize, cents: (i64, i64)) -> Machine {
        let payer = choose.hot();
        choose.payees(payer, count, kind == "bulk", &mut self.payees);
        let payees =
            self.payees.iter().map(|account| Payee { account: *account, cents: choose.cents(cents.0, cents.1) });
        let mut post = Post::new(self.numbers.take(), kind, payer, payees.collect());
        post.back_dated = kind == "bulk" && choose.below(BACK_DATED) == 0;
        Machine::Post(Box::new(post))
    }

    fn single(&mut self, class: Class, mut choose: Choose) -> Machine {
        let payer = choose.account();
        let account = choose.contra(payer);
        let over = choose.percent(REJECTED);
        let cents = if over { 2 * CENTS_MAX } else { choose.cents(500, 15_000) };
        let card = class == Class::Card;
        let later = !card && choose.percent(LATER);
        let day = if later { TODAY + 1 + choose.below(10) as i64 } else { TODAY };
        let (kind, payees) = (if card { "card" } else { "single" }, vec![Payee { account, cents }]);
        let mut post = Post::new(self.numbers.take(), kind, payer, payees);
        (post.day, post.statement) = (day, card);
        post.back_dated = !card && choose.below(BACK_DATED) == 0;
        Machine::Post(Box::new(post))
    }
}

impl Business for Day {
    fn class(&mut self, n: u64, payload: u64) -> u16 {
        self.class_of(n, payload).place()
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        let machine = self.machine(begun.n, begun.payload);
        self.slots[slot as usize] = Slot { payload: begun.payload, machine };
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        match &mut self.slots[slot as usize].machine {
            Machine::Idle => Step::Done { rolled_back: false },
            Machine::Ask(_, _, ask) => ask.step(batch),
            Machine::Post(post) => post.step(answers, batch),
        }
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        match &self.slots[slot as usize].machine {
            Machine::Post(post) => Some(post.complaint()),
            Machine::Idle | Machine::Ask(..) => None,
        }
    }

    fn restart(&mut self, slot: u32) {
        match &mut self.slots[slot as usize].machine {
            Machine::Idle => {}
            Machine::Ask(class, choose, ask) => *ask = reads::asked(*class, &self.history, *choose),
            Machine::Post(post) => post.restart(),
        }
    }

    fn ended(&mut self, slot: u32, ending: Ending, at: Nanos, caused: &mut Vec<Caused>) {
        let Slot { payload, machine } = std::mem::take(&mut self.slots[slot as usize]);
        let post = match &machine {
            Machine::Post(post) => Some(&**post),
            Machine::Idle | Machine::Ask(..) => None,
        };
        self.gave[slot as usize] = post.filter(|post| post.posted()).map_or(0, |post| post.payees.len() as u64);
        if let Some(post) = post {
            let known = match ending {
                Ending::Done => Known::Placed,
                Ending::Failed => Known::RolledBack,
                Ending::Unknown => Known::PlacedUnknown,
            };
            self.ledger.record(post.order, known);
            if ending == Ending::Done && post.posted() {
                self.ledger.record(post.order, Known::Filled);
            }
        }
        if let Errand::Run(number) = Errand::of(payload)
            && !(number + 1).is_multiple_of(run_length(&self.spec))
        {
            caused.push(Caused { due: at, payload: Errand::Run(number + 1).payload() });
        }
    }
    fn gave(&mut self, slot: u32) -> u64 {
        self.gave[slot as usize]
    }
}
