//! Trade-Lookup: up to 20 old trades with all that belongs to them; and Trade-Update, which edits texts of them.
//!
//! The one idea: trades are found by a list of numbers (30 of a hundred), by account and moment (30), by symbol and moment
//! (30) or by the lots that one of them touched (10), and then read by two statements of a fixed length. An update finds its own in the
//! first three ways, a third each.
//!
//! What it does not do: it touches no money.

use super::super::Scale;
use super::super::codes::{LOOKUP_TRADES, MARK};
use super::super::draws::Draws;
use super::super::procedures::DIGITS;
use super::super::scale::{CALENDAR_DAY_US, NOW_US};
use super::super::statements::House;
use super::{DONE, Inputs, Machine};
use crate::transaction::texts::say;
use crate::transaction::{Answer, Answers, Batch, Step, Value};

/// How old trades are found.
#[derive(Clone, Debug)]
enum Find {
    Numbers(Vec<i64>),
    Account(i64, i64),
    Symbol(String, i64),
    Lots(i64),
}

impl Find {
    fn numbers(draws: &mut Draws, scale: &Scale) -> Find {
        let last = scale.trades().max(1) as i64;
        let mut numbers: Vec<i64> = (0..LOOKUP_TRADES).map(|_| draws.between(1, last)).collect();
        numbers.sort_unstable();
        Find::Numbers(numbers)
    }

    fn account(draws: &mut Draws, scale: &Scale) -> Find {
        Find::Account(draws.account(scale), moment(draws, scale))
    }

    fn symbol(draws: &mut Draws, scale: &Scale) -> Find {
        Find::Symbol(draws.symbol(scale), moment(draws, scale))
    }

    /// What the procedure is handed: way, key, moment, symbol and the numbers that are known.
    fn parameters(&self) -> Vec<Value> {
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

    /// Asks for the numbers, where they are not known; the answer holds them in the column that is given back.
    fn ask(&self, batch: &mut Batch) -> usize {
        match self {
            Find::Numbers(_) => {}
            Find::Account(account, from) => say(batch, House::TradesOfAccount, [(*account).into(), (*from).into()]),
            Find::Symbol(symbol, from) => say(batch, House::TradesOfSymbol, [symbol.as_str().into(), (*from).into()]),
            Find::Lots(trade) => {
                say(batch, House::LookupLots, [(*trade).into()]);
                return 1;
            }
        }
        0
    }
}

/// A moment of the history.
fn moment(draws: &mut Draws, scale: &Scale) -> i64 {
    NOW_US - draws.between(1, scale.days as i64 * CALENDAR_DAY_US)
}

/// The numbers in a column, ascending.
fn found(answer: &Answer, column: usize) -> Vec<i64> {
    let mut numbers: Vec<i64> = (0..answer.row_count()).map(|row| answer.int(row, column)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Numbers as a list of one length, so that it is one statement; a short one repeats its last number.
fn padded(numbers: &[i64]) -> [Value; LOOKUP_TRADES] {
    let last = numbers.last().copied().unwrap_or(0);
    std::array::from_fn(|place| numbers.get(place).copied().unwrap_or(last).into())
}

/// What is edited: how its rows are locked and written, and how long its texts may be.
#[derive(Clone, Copy, Debug)]
struct Edit {
    lock: House,
    write: House,
    most: usize,
}

/// A look at old trades on its way, or an edit: of who placed trades that are listed by number, how an account's trades were
/// settled, or what the cash entries of a symbol's trades say. An edit adds a mark to a text or takes it away, so that nothing grows
/// and the next edit has something to do.
#[derive(Debug)]
pub(super) struct History {
    step: u8,
    find: Find,
    column: usize,
    /// None for a lookup.
    edit: Option<Edit>,
}

impl History {
    pub(super) fn lookup(inputs: Inputs) -> History {
        let Inputs { scale, mut draws, .. } = inputs;
        let find = match draws.below(10) {
            0..3 => Find::numbers(&mut draws, scale),
            3..6 => Find::account(&mut draws, scale),
            6..9 => Find::symbol(&mut draws, scale),
            _ => Find::Lots(draws.between(1, scale.trades().max(1) as i64)),
        };
        History { step: 0, find, column: 0, edit: None }
    }

    pub(super) fn update(inputs: Inputs) -> History {
        let Inputs { scale, mut draws, .. } = inputs;
        let (find, lock, write, most) = match draws.below(3) {
            0 => (Find::numbers(&mut draws, scale), House::UpdateLockTrades, House::UpdatePlacedBy, 50),
            1 => (Find::account(&mut draws, scale), House::UpdateLockSettlements, House::UpdateKind, 40),
            _ => (Find::symbol(&mut draws, scale), House::UpdateLockCash, House::UpdateDescription, 100),
        };
        History { step: 0, find, column: 0, edit: Some(Edit { lock, write, most }) }
    }

    /// Reads the trades that were found, or locks their rows in the order of numbers; without any nothing is written.
    fn go_on(&mut self, numbers: &[i64], batch: &mut Batch) {
        self.step = 2;
        if !numbers.is_empty() {
            if self.edit.is_none() {
                say(batch, House::LookupTrades, padded(numbers));
            }
            say(batch, House::LookupEvents, padded(numbers));
            if let Some(edit) = self.edit {
                return say(batch, edit.lock, padded(numbers));
            }
        }
        self.step = 3;
        batch.commit();
    }

    fn write(&self, answers: &Answers, batch: &mut Batch) {
        let rows = answers.last();
        if let Some(Edit { write, most, .. }) = self.edit {
            for row in 0..rows.row_count() {
                let text = marked(rows.text(row, 1), most);
                say(batch, write, [text.into(), rows.field(row, 0).clone()]);
            }
        }
        batch.commit();
    }
}

impl Machine for History {
    fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match self.step {
            1 => {
                batch.begin(self.edit.is_some());
                match &self.find {
                    Find::Numbers(numbers) => self.go_on(&numbers.clone(), batch),
                    find => self.column = find.ask(batch),
                }
            }
            2 => self.go_on(&found(&answers.last(), self.column), batch),
            3 => self.write(answers, batch),
            _ => return DONE,
        }
        Step::Send
    }

    fn parameters(&mut self) -> Vec<Value> {
        self.find.parameters()
    }
}

/// The text with the mark, or without when it had it; as it is when there is no room.
fn marked(text: &str, most: usize) -> String {
    match text.strip_suffix(MARK) {
        Some(plain) => plain.to_owned(),
        None if text.chars().count() + MARK.len() <= most => format!("{text}{MARK}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_comes_and_goes_and_never_makes_a_text_too_long() {
        assert_eq!(marked("cash", 40), "cash *");
        assert_eq!(marked("cash *", 40), "cash");
        assert_eq!(marked(&"x".repeat(39), 40), "x".repeat(39));
    }
}
