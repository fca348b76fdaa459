//! Trade-Update: edits texts of up to 20 old trades.
//!
//! The one idea: a third edits who placed trades that are listed by number, a third how an account's trades were settled,
//! a third what the cash entries of a symbol's trades say. An edit adds a mark to a text or takes it away, so that nothing
//! grows and the next edit has something to do.
//!
//! What it does not do: it touches no money.

use super::super::codes::MARK;
use super::super::statements::House;
use super::history::{Find, found, padded};
use super::{DONE, Inputs};
use crate::transaction::texts::{Place, say};
use crate::transaction::{Answers, Batch, Step, Value};

/// What is edited: how its rows are locked and written, and how long its texts may be.
#[derive(Clone, Copy, Debug)]
struct Edit {
    lock: House,
    write: House,
    most: usize,
}

/// An update on its way.
#[derive(Debug)]
pub(in crate::brokerage) struct Update {
    step: u8,
    find: Find,
    edit: Edit,
}

impl Update {
    pub(super) fn new(inputs: Inputs) -> Update {
        let Inputs { scale, mut draws, .. } = inputs;
        let (find, edit) = match draws.below(3) {
            0 => (Find::numbers(&mut draws, scale), (House::UpdateLockTrades, House::UpdatePlacedBy, 50)),
            1 => (Find::account(&mut draws, scale), (House::UpdateLockSettlements, House::UpdateKind, 40)),
            _ => (Find::symbol(&mut draws, scale), (House::UpdateLockCash, House::UpdateDescription, 100)),
        };
        Update { step: 0, find, edit: Edit { lock: edit.0, write: edit.1, most: edit.2 } }
    }

    /// What the procedure is handed; the way also says what is edited.
    pub(super) fn parameters(&self) -> Vec<Value> {
        self.find.parameters()
    }

    pub(super) fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match self.step {
            1 => {
                batch.begin(true);
                if let Find::Numbers(numbers) = &mut self.find {
                    let numbers = std::mem::take(numbers);
                    self.lock(&numbers, batch);
                    self.step += 1;
                } else {
                    self.find.ask(batch);
                }
            }
            2 => self.lock(&found(&answers.last(), 0), batch),
            3 => self.write(answers, batch),
            _ => return DONE,
        }
        Step::Send
    }

    /// Locks the rows in the order of numbers; without any there is nothing to write.
    fn lock(&mut self, numbers: &[i64], batch: &mut Batch) {
        if numbers.is_empty() {
            self.step += 1;
            return batch.commit();
        }
        say(batch, House::LookupEvents, padded(numbers));
        say(batch, self.edit.lock, padded(numbers));
    }

    fn write(&self, answers: &Answers, batch: &mut Batch) {
        let rows = answers.last();
        for row in 0..rows.row_count() {
            let text = marked(rows.text(row, 1), self.edit.most);
            batch.call(self.edit.write.place(), [Value::from(text), rows.field(row, 0).clone()]);
        }
        batch.commit();
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
