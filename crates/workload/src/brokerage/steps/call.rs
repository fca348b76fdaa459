//! A transaction as one call of a stored procedure.
//!
//! The one idea: the inputs are drawn by the machine of the statements, so that both ways do the same; then one call
//! travels, and what came of it comes back as rows. An order that is taken back on purpose has its beginning and its end
//! around the call.
//!
//! What it does not do: it decides nothing; the procedure does.

use super::super::mix::Class;
use super::super::procedures::outcomes;
use super::super::statements::House;
use super::{Inputs, Report, customer, feed, fill, history, maintenance, order, reads};
use crate::transaction::texts::Place;
use crate::transaction::{Answers, Ask, Batch, Step, Value};

/// What an answer must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expects {
    /// Nothing that the exchange or the ledger needs to know.
    Nothing,
    /// Somebody, or there is a complaint.
    Anybody,
    /// The symbol of an order that was placed.
    Order { waits: bool },
    /// Symbol and quantity, when the trade was filled.
    Fill,
    /// Numbers and symbols of the orders that were fired.
    Feed,
}

/// A call on its way.
#[derive(Debug)]
pub(in crate::brokerage) struct Called {
    place: u16,
    parameters: Vec<Value>,
    rolls_back: bool,
    expects: Expects,
    pub(super) complaint: Option<String>,
    sent: bool,
    pub(super) report: Report,
}

/// The call of a transaction.
pub(super) fn called(inputs: Inputs) -> Called {
    let place = inputs.class.place(inputs.scale.preset);
    let plain = |parameters| Called {
        place,
        parameters,
        rolls_back: false,
        expects: Expects::Nothing,
        complaint: None,
        sent: false,
        report: Report::Nothing,
    };
    let (house, number) = (inputs.house(), inputs.number);
    match inputs.class {
        Class::Order => {
            let order = order::Order::new(inputs);
            let (rolls_back, waits) = order.intends();
            let expects = Expects::Order { waits };
            Called { rolls_back, expects, complaint: order.complaint(), ..plain(order.parameters()) }
        }
        Class::Result => Called { expects: Expects::Fill, ..plain(fill::Fill::new(inputs).parameters()) },
        Class::Feed => Called { expects: Expects::Feed, ..plain(feed::Feed::new(inputs).parameters()) },
        Class::Lookup => plain(history::Lookup::new(inputs).find.parameters()),
        Class::Update => plain(history::Update::new(inputs).find.parameters()),
        Class::Position => {
            let customer = customer::Customer::new(inputs);
            let expects = if customer.searches() { Expects::Anybody } else { Expects::Nothing };
            Called { expects, complaint: customer.complaint(), ..plain(customer.parameters()) }
        }
        Class::Status => plain(first(reads::status(inputs))),
        Class::Watch => plain(watch(house, reads::watch(inputs))),
        Class::Detail => plain(detail(reads::detail(inputs))),
        Class::Volume => plain(first(reads::volume(inputs))),
        Class::Maintenance => plain(maintenance::Maintenance::new(inputs).parameters(number)),
    }
}

/// The inputs of the first question, which are those of all.
fn first(ask: Ask) -> Vec<Value> {
    ask.questions().into_iter().next().map(|question| question.1).unwrap_or_default()
}

fn watch(house: bool, ask: Ask) -> Vec<Value> {
    let Some((place, mut parameters)) = ask.questions().into_iter().next() else { return Vec::new() };
    if house {
        let ways = [House::WatchList, House::WatchHoldings, House::WatchIndustry];
        let way = ways.iter().position(|way| way.place() == place).unwrap_or(0);
        parameters.insert(0, (way as i64).into());
    }
    parameters
}

/// Symbol, first day and days of the prices, and whether articles are read.
fn detail(ask: Ask) -> Vec<Value> {
    let questions = ask.questions();
    let asks = |statement: House| questions.iter().find(|question| question.0 == statement.place());
    let mut parameters = asks(House::DetailPrices).map(|question| question.1.clone()).unwrap_or_default();
    parameters.push(i64::from(asks(House::DetailArticles).is_some()).into());
    parameters
}

impl Called {
    pub(super) fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        if std::mem::replace(&mut self.sent, true) {
            return self.end(answers);
        }
        if self.rolls_back {
            batch.begin(true);
        }
        batch.call(self.place, self.parameters.drain(..));
        if self.rolls_back {
            batch.rollback();
        }
        Step::Send
    }

    /// Reads what came of it.
    fn end(&mut self, answers: &Answers) -> Step {
        let answer = answers.get(usize::from(self.rolls_back));
        let mut came = outcomes(&answer);
        self.report = match self.expects {
            Expects::Nothing => Report::Nothing,
            Expects::Anybody if answer.row_count() == 0 => return Step::Fail,
            Expects::Anybody => Report::Nothing,
            Expects::Order { waits } => match came.next() {
                None => return Step::Fail,
                Some(_) if self.rolls_back => Report::RolledBack,
                Some(row) => Report::Placed { symbol: field(&row, 0).to_owned(), waits },
            },
            Expects::Fill => came.next().map_or(Report::Nothing, |row| Report::Filled {
                symbol: field(&row, 0).to_owned(),
                quantity: field(&row, 1).parse().unwrap_or(0),
            }),
            Expects::Feed => {
                let fired = |row: Vec<&str>| (field(&row, 0).parse().unwrap_or(0), field(&row, 1).to_owned());
                Report::Fired(came.map(fired).collect())
            }
        };
        Step::Done { rolled_back: self.rolls_back }
    }
}

fn field<'a>(row: &[&'a str], column: usize) -> &'a str {
    row.get(column).copied().unwrap_or("")
}
