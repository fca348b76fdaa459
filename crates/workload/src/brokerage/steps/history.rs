//! Trade-Lookup: up to 20 old trades with all that belongs to them.
//!
//! The one idea: trades are found by a list of numbers (30 of a hundred), by account and moment (30), by symbol and moment
//! (30) or by the lots that one of them touched (10), and then read by two statements of a fixed length.
//!
//! What it does not do: it changes nothing; Trade-Update finds its trades in the same ways.

use super::super::Scale;
use super::super::codes::LOOKUP_TRADES;
use super::super::draws::Draws;
use super::super::procedures::DIGITS;
use super::super::scale::{CALENDAR_DAY_US, NOW_US};
use super::super::statements::House;
use super::{DONE, Inputs};
use crate::transaction::texts::say;
use crate::transaction::{Answer, Answers, Batch, Step, Value};

/// How old trades are found.
#[derive(Clone, Debug)]
pub(super) enum Find {
    Numbers(Vec<i64>),
    Account(i64, i64),
    Symbol(String, i64),
    Lots(i64),
}

impl Find {
    pub(super) fn numbers(draws: &mut Draws, scale: &Scale) -> Find {
        let last = scale.trades().max(1) as i64;
        let mut numbers: Vec<i64> = (0..LOOKUP_TRADES).map(|_| draws.between(1, last)).collect();
        numbers.sort_unstable();
        Find::Numbers(numbers)
    }

    pub(super) fn account(draws: &mut Draws, scale: &Scale) -> Find {
        Find::Account(draws.account(scale), moment(draws, scale))
    }

    pub(super) fn symbol(draws: &mut Draws, scale: &Scale) -> Find {
        Find::Symbol(draws.symbol(scale), moment(draws, scale))
    }

    /// What the procedure is handed: way, key, moment, symbol and the numbers that are known.
    pub(super) fn parameters(&self) -> Vec<Value> {
        let all = |way: i64, key: i64, from: i64, symbol: &str, numbers: String| {
            vec![way.into(), key.into(), from.into(), symbol.into(), numbers.into()]
        };
        match self {
            Find::Numbers(numbers) => {
                let digits = numbers.iter().map(|number| format!("{number:0DIGITS$}")).collect();
                all(0, 0, 0, "", digits)
            }
            Find::Account(account, from) => all(1, *account, *from, "", String::new()),
            Find::Symbol(symbol, from) => all(2, 0, *from, symbol, String::new()),
            Find::Lots(trade) => all(3, *trade, 0, "", String::new()),
        }
    }

    /// Asks for the numbers, when they are not known: then the answer holds them in the column that is given back.
    pub(super) fn ask(&self, batch: &mut Batch) -> Option<usize> {
        match self {
            Find::Numbers(_) => return None,
            Find::Account(account, from) => say(batch, House::TradesOfAccount, [(*account).into(), (*from).into()]),
            Find::Symbol(symbol, from) => say(batch, House::TradesOfSymbol, [symbol.as_str().into(), (*from).into()]),
            Find::Lots(trade) => {
                say(batch, House::LookupLots, [(*trade).into()]);
                return Some(1);
            }
        }
        Some(0)
    }
}

/// A moment of the history.
fn moment(draws: &mut Draws, scale: &Scale) -> i64 {
    NOW_US - draws.between(1, scale.days as i64 * CALENDAR_DAY_US)
}

/// The numbers in a column, ascending.
pub(super) fn found(answer: &Answer, column: usize) -> Vec<i64> {
    let mut numbers: Vec<i64> = (0..answer.row_count()).map(|row| answer.int(row, column)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Numbers as a list of one length, so that it is one statement; a short one repeats its last number.
pub(super) fn padded(numbers: &[i64]) -> [Value; LOOKUP_TRADES] {
    let last = numbers.last().copied().unwrap_or(0);
    std::array::from_fn(|place| numbers.get(place).copied().unwrap_or(last).into())
}

/// A lookup on its way.
#[derive(Debug)]
pub(in crate::brokerage) struct Lookup {
    step: u8,
    find: Find,
    column: usize,
}

impl Lookup {
    pub(super) fn new(inputs: Inputs) -> Lookup {
        let Inputs { scale, mut draws, .. } = inputs;
        let find = match draws.below(10) {
            0..3 => Find::numbers(&mut draws, scale),
            3..6 => Find::account(&mut draws, scale),
            6..9 => Find::symbol(&mut draws, scale),
            _ => Find::Lots(draws.between(1, scale.trades().max(1) as i64)),
        };
        Lookup { step: 0, find, column: 0 }
    }

    pub(super) fn parameters(&self) -> Vec<Value> {
        self.find.parameters()
    }

    pub(super) fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match (self.step, &self.find) {
            (1, Find::Numbers(numbers)) => {
                batch.begin(false);
                read(numbers, batch);
                self.step += 1;
            }
            (1, find) => {
                batch.begin(false);
                self.column = find.ask(batch).unwrap_or(0);
            }
            (2, _) => read(&found(&answers.last(), self.column), batch),
            _ => return DONE,
        }
        Step::Send
    }
}

fn read(numbers: &[i64], batch: &mut Batch) {
    if !numbers.is_empty() {
        say(batch, House::LookupTrades, padded(numbers));
        say(batch, House::LookupEvents, padded(numbers));
    }
    batch.commit();
}
