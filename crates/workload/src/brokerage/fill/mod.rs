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

use super::Scale;
use super::history::{History, Lot, Trade};
use crate::dataset::{Table, Units};
use crate::transaction::Value;
use tables::{Source, source};

/// What rows are made from, and what was made last.
#[derive(Clone, Debug)]
struct Maker {
    history: History,
    last: Option<Trade>,
    lots: Vec<Lot>,
    /// Whether brokers and accounts get what their trades add up to.
    sums: bool,
}

impl Maker {
    fn trade(&mut self, number: u64) -> Trade {
        match self.last {
            Some(trade) if trade.number == number => trade,
            _ => *self.last.insert(self.history.trade(number)),
        }
    }
}

/// The rows of a part of a table, in order.
#[derive(Clone, Debug)]
pub struct TableRows {
    maker: Maker,
    source: Source,
    units: Units,
}

impl TableRows {
    /// The rows of part `part` of `parts` equal ones; parts 0 to `parts` together hold each row of the table once.
    ///
    /// # Panics
    /// When the table is not one of [`super::schema::TABLES`], or there is no such part.
    pub fn new(scale: Scale, seed: u64, table: &'static Table, part: u32, parts: u32) -> TableRows {
        assert!(part < parts, "part {part} of {parts} of table {}", table.name);
        let source = source(&table.name);
        let units = Units::of_part((source.units)(&scale), (part, parts));
        let maker = Maker { history: History::new(scale, seed), last: None, lots: Vec::new(), sums: true };
        TableRows { maker, source, units }
    }

    /// The same, but with nothing in what trades add up to (`broker.trades`, `broker.commission_cents`,
    /// `account.balance_cents`): no trade has to be made for them.
    #[must_use]
    pub fn without_sums(mut self) -> TableRows {
        self.maker.sums = false;
        self
    }

    /// Makes the next row in `row`, in the order of the table's columns; false when there is none. Whatever `row` held is
    /// written over, and its texts keep their memory.
    pub fn next(&mut self, row: &mut Vec<Value>) -> bool {
        self.units.next(row, |unit, sub, row| self.source.rows.write(&mut self.maker, unit, sub, row))
    }
}

/// Rows of a table of that scale: exact, but for `access_grant`, `trade_event`, `cash_entry`, `position`, `lot` and
/// `lot_change`, where it is an estimate for progress.
///
/// # Panics
/// When the table is not one of [`super::schema::TABLES`].
pub fn row_count(scale: Scale, table: &Table) -> u64 {
    (source(&table.name).count)(&scale)
}

#[cfg(test)]
mod tests;
