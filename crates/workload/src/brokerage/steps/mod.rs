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
use crate::transaction::{Answer, Answers, Batch, Step, Value};
use std::fmt::Debug;

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
pub(super) trait Machine: Debug + Send {
    /// The next step.
    fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step;

    /// What its stored procedure is handed instead.
    fn parameters(&mut self) -> Vec<Value>;

    /// Whether the procedure told enough of what came of it.
    fn told(&mut self, _answer: &Answer) -> bool {
        true
    }

    /// Whether it will be rolled back on purpose.
    fn rolls_back(&self) -> bool {
        false
    }

    /// What it did, taken when it ends.
    fn report(&mut self) -> Report {
        Report::Nothing
    }

    /// Why it could not go on.
    fn complaint(&self) -> Option<String> {
        None
    }
}

/// The machine of a transaction.
pub(super) fn machine(inputs: Inputs) -> Box<dyn Machine> {
    let (place, procedures) = (inputs.class.place(inputs.scale.preset), inputs.procedures);
    let machine: Box<dyn Machine> = match inputs.class {
        Class::Order => Box::new(order::Order::new(inputs)),
        Class::Result => Box::new(fill::Fill::new(inputs)),
        Class::Feed => Box::new(feed::Feed::new(inputs)),
        Class::Lookup => Box::new(history::History::lookup(inputs)),
        Class::Update => Box::new(history::History::update(inputs)),
        Class::Position => Box::new(customer::Customer::new(inputs)),
        Class::Status | Class::Watch | Class::Detail | Class::Volume => Box::new(reads::Read::new(inputs)),
        Class::Maintenance => Box::new(maintenance::Maintenance::new(inputs)),
    };
    if procedures { Box::new(call::Called::new(place, machine)) } else { machine }
}

/// The end of a machine that keeps what it did.
pub(super) const DONE: Step = Step::Done { rolled_back: false };
