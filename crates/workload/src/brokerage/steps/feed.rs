//! Market-Feed: a round of quotes, and the limit orders that they fire.
//!
//! The one idea: quotes are locked in the order of symbols; whoever holds a quote may take that symbol's waiting orders,
//! because nobody else takes them without it.
//!
//! What it does not do: it fills nothing; what it fires goes to the market.

use super::super::codes;
use super::super::draws::Draws;
use super::super::exchange::Tick;
use super::super::procedures::{DIGITS, SYMBOL, outcomes};
use super::super::statements::Shared;
use super::{DONE, Inputs, Machine, Report};
use crate::transaction::texts::say;
use crate::transaction::{Answer, Answers, Batch, Step, Value};
use std::fmt::Write;

/// A round of quotes on its way.
#[derive(Debug)]
pub(super) struct Feed {
    step: u8,
    now: i64,
    draws: Draws,
    ticks: Vec<Tick>,
    /// Symbols whose waiting orders were asked for, in the order of the questions.
    asked: Vec<String>,
    fired: Vec<(u64, String)>,
}

impl Feed {
    pub(super) fn new(inputs: Inputs) -> Feed {
        Feed {
            step: 0,
            now: inputs.now,
            draws: inputs.draws,
            ticks: inputs.ticks.to_vec(),
            asked: Vec::new(),
            fired: Vec::new(),
        }
    }

    /// A price moves by up to one percent, and a sixteenth of its way back to where it opened.
    fn moved(&mut self, price: i64, open: i64) -> i64 {
        let step = price * self.draws.between(-100, 100) / 10_000;
        (price + step + (open - price) / 16).max(1)
    }

    fn quote(&mut self, answers: &Answers, batch: &mut Batch) {
        let ticks = std::mem::take(&mut self.ticks);
        for (place, tick) in (1..).zip(ticks) {
            let quote = answers.get(place);
            if quote.row_count() == 0 {
                continue;
            }
            let price = self.moved(quote.int(0, 0), quote.int(0, 1));
            let symbol = Value::from(tick.symbol.as_str());
            say(batch, Shared::UpdateQuote, [self.now.into(), price.into(), tick.volume.into(), symbol.clone()]);
            say(batch, Shared::FeedPending, [symbol, price.into()]);
            self.asked.push(tick.symbol);
        }
        if self.asked.is_empty() {
            self.step += 1;
            batch.commit();
        }
    }

    fn fire(&mut self, answers: &Answers, batch: &mut Batch) {
        for (place, symbol) in self.asked.iter().enumerate() {
            for row in answers.get(2 * place + 1).rows() {
                let trade = row.first().and_then(Value::int).unwrap_or(0);
                self.fired.push((trade as u64, symbol.clone()));
            }
        }
        self.fired.sort_by_key(|fired| fired.0);
        let submitted = Value::from(codes::SUBMITTED);
        for trade in self.fired.iter().map(|fired| Value::from(fired.0 as i64)) {
            say(batch, Shared::DeletePending, [trade.clone()]);
            say(batch, Shared::SetStatus, [submitted.clone(), trade.clone()]);
            say(batch, Shared::InsertEvent, [trade, submitted.clone(), self.now.into()]);
        }
        batch.commit();
    }
}

impl Machine for Feed {
    fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match self.step {
            1 => {
                batch.begin(true);
                for tick in &self.ticks {
                    say(batch, Shared::FeedQuote, [tick.symbol.as_str().into()]);
                }
            }
            2 => self.quote(answers, batch),
            3 => self.fire(answers, batch),
            _ => return DONE,
        }
        Step::Send
    }

    /// The moment, the quotes, and how far each price moves. Prices move in the order of the quotes that are found, so that
    /// the draws are those of the statements.
    fn parameters(&mut self) -> Vec<Value> {
        let (mut ticks, mut moves) = (String::new(), String::new());
        for Tick { symbol, volume } in &self.ticks {
            // Writing to a String cannot fail.
            let _ = write!(ticks, "{symbol:<SYMBOL$}{volume:0DIGITS$}");
            let _ = write!(moves, "{:0DIGITS$}", self.draws.between(-100, 100) + 100);
        }
        vec![self.now.into(), ticks.into(), moves.into()]
    }

    fn report(&mut self) -> Report {
        Report::Fired(std::mem::take(&mut self.fired))
    }

    /// Numbers and symbols of the orders that were fired.
    fn told(&mut self, answer: &Answer) -> bool {
        let fired = |row: Vec<&str>| Some((row.first()?.parse().ok()?, (*row.get(1)?).to_owned()));
        self.fired = outcomes(answer).filter_map(fired).collect();
        true
    }
}
