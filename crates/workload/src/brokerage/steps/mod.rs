//! The transactions of the brokerage house as step machines.
//!
//! The one idea: a machine holds its inputs, counts its steps, and puts into one batch all calls that need no answer of
//! each other. The order of locks is the same for all: quotes by symbol; then the trade that is filled or fired; then its
//! account, which guards positions and lots; then older trades by number; brokers last, just before the commit.
//!
//! What it does not do: no machine knows the exchange or the ledger; it leaves a [`Report`] for them.

mod call;
mod customer;
mod feed;
mod fill;
mod history;
mod maintenance;
mod order;
mod reads;

use super::draws::Draws;
use super::exchange::Tick;
use super::mix::Class;
use super::{Preset, Scale};
use crate::transaction::{Answers, Ask, Batch, Step};

/// What a machine is made from, again for each try.
pub(super) struct Inputs<'a> {
    pub(super) scale: &'a Scale,
    pub(super) class: Class,
    /// Random inputs.
    pub(super) draws: Draws,
    /// The moment of the calendar of the data, in microseconds since 1970.
    pub(super) now: i64,
    /// The trade that is placed or filled, or the number of the round of maintenance.
    pub(super) number: u64,
    /// The quotes of a feed.
    pub(super) ticks: &'a [Tick],
    /// Whether it is one call of a stored procedure.
    pub(super) procedures: bool,
}

impl Inputs<'_> {
    fn house(&self) -> bool {
        self.scale.preset == Preset::House
    }
}

/// What a transaction did, for the exchange and the ledger; it holds if the transaction was committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Report {
    /// Nothing that they need to know.
    #[default]
    Nothing,
    /// An order was placed; `waits` for its price, or is in the market.
    Placed { symbol: String, waits: bool },
    /// An order was rolled back on purpose.
    RolledBack,
    /// A trade was filled.
    Filled { symbol: String, quantity: i64 },
    /// Waiting orders were fired: number and symbol.
    Fired(Vec<(u64, String)>),
}

/// A transaction under way.
#[derive(Debug, Default)]
pub(super) enum Machine {
    #[default]
    Idle,
    Ask(Ask),
    Call(Box<call::Called>),
    Customer(customer::Customer),
    Feed(feed::Feed),
    Fill(Box<fill::Fill>),
    Lookup(history::Lookup),
    Maintenance(maintenance::Maintenance),
    Order(Box<order::Order>),
    Update(history::Update),
}

impl Machine {
    pub(super) fn new(inputs: Inputs) -> Machine {
        if inputs.procedures {
            return Machine::Call(Box::new(call::called(inputs)));
        }
        match inputs.class {
            Class::Order => Machine::Order(Box::new(order::Order::new(inputs))),
            Class::Result => Machine::Fill(Box::new(fill::Fill::new(inputs))),
            Class::Feed => Machine::Feed(feed::Feed::new(inputs)),
            Class::Lookup => Machine::Lookup(history::Lookup::new(inputs)),
            Class::Status => Machine::Ask(reads::status(inputs)),
            Class::Update => Machine::Update(history::Update::new(inputs)),
            Class::Position => Machine::Customer(customer::Customer::new(inputs)),
            Class::Watch => Machine::Ask(reads::watch(inputs)),
            Class::Detail => Machine::Ask(reads::detail(inputs)),
            Class::Volume => Machine::Ask(reads::volume(inputs)),
            Class::Maintenance => Machine::Maintenance(maintenance::Maintenance::new(inputs)),
        }
    }

    pub(super) fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        match self {
            Machine::Idle => Step::Done { rolled_back: false },
            Machine::Ask(machine) => machine.step(batch),
            Machine::Call(machine) => machine.step(answers, batch),
            Machine::Customer(machine) => machine.step(answers, batch),
            Machine::Feed(machine) => machine.step(answers, batch),
            Machine::Fill(machine) => machine.step(answers, batch),
            Machine::Lookup(machine) => machine.step(answers, batch),
            Machine::Maintenance(machine) => machine.step(answers, batch),
            Machine::Order(machine) => machine.step(answers, batch),
            Machine::Update(machine) => machine.step(answers, batch),
        }
    }

    /// What it did, taken when it ends.
    pub(super) fn report(self) -> Report {
        match self {
            Machine::Call(machine) => machine.report,
            Machine::Order(machine) => machine.report(),
            Machine::Fill(machine) => machine.report(),
            Machine::Feed(machine) => machine.report(),
            _ => Report::Nothing,
        }
    }

    /// Why it could not go on.
    pub(super) fn complaint(&self) -> Option<String> {
        match self {
            Machine::Call(machine) => machine.complaint.clone(),
            Machine::Order(machine) => machine.complaint(),
            Machine::Customer(machine) => machine.complaint(),
            _ => None,
        }
    }
}

/// The end of a machine that keeps what it did.
const DONE: Step = Step::Done { rolled_back: false };
