//! The rows of every table, made from a scale and a seed.
//!
//! The one idea: a table has units (a trade, an account, a company), and the rows of a unit are a function of it. So a
//! part of a table is a span of units, and any part can be made alone, again, and beside the others.
//!
//! What it does not do: it writes to no database. Rows of tables that only the house has can be made for a desk too, but
//! no desk asks for them.

mod article;
mod fixed;
mod market;
mod people;
mod tables;
mod trades;

pub(super) use tables::source;

use super::Scale;
use super::history::{History, Lot, Trade};

/// What rows are made from, and what was made last.
#[derive(Clone, Debug)]
pub(super) struct Maker {
    history: History,
    last: Option<Trade>,
    lots: Vec<Lot>,
    /// Whether brokers and accounts get what their trades add up to: else no trade has to be made for them, and nothing stands there.
    sums: bool,
}

impl Maker {
    pub(super) fn new(scale: Scale, seed: u64, sums: bool) -> Maker {
        Maker { history: History::new(scale, seed), last: None, lots: Vec::new(), sums }
    }

    fn trade(&mut self, number: u64) -> Trade {
        match self.last {
            Some(trade) if trade.number == number => trade,
            _ => *self.last.insert(self.history.trade(number)),
        }
    }
}

#[cfg(test)]
mod tests;
