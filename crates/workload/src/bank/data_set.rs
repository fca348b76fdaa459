//! The bank as a data set.

use super::checks;
use super::fill::{Maker, source};
use super::scale::Scale;
use super::schema::{TABLES, tables};
use crate::dataset::{Contents, DataSet, Figure, Indexes, Invariant, Page, Rows, Staying, Table, checksum};

/// The bank of a scale, with the rows of a seed.
#[derive(Clone, Copy)]
struct Bank {
    scale: Scale,
    seed: u64,
}

/// The data set whose rows are those of a seed.
pub fn seeded(scale: Scale, seed: u64) -> DataSet {
    DataSet::new(MARKED, Bank { scale, seed })
}

/// The word of the kind in marks.
pub const MARKED: &str = "bank";

/// The data set that the facts of a mark describe.
pub fn described(fact: &dyn Fn(&str) -> Option<String>) -> Option<DataSet> {
    let number = |name: &str| fact(name)?.parse::<u64>().ok();
    let indexes = Indexes::of_word(&fact("indexes")?)?;
    Some(seeded(Scale { accounts: number("accounts")?, days: number("days")?, indexes }, number("seed")?))
}

/// Columns of a table that transactions change; none for a table whose rows of the fill do not stay.
fn changed(table: &str) -> Option<&'static [&'static str]> {
    match table {
        "account" => Some(&["balance_cents", "settled"]),
        "standing_order" => Some(&["due_day"]),
        "prenote" | "balance" | "statement" | "settlement" | "ledger" | "cut_off" => None,
        _ => Some(&[]),
    }
}

impl Contents for Bank {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("accounts", self.scale.accounts.to_string()),
            ("days", self.scale.days.to_string()),
            ("indexes", self.scale.indexes.word().to_owned()),
            ("seed", self.seed.to_string()),
        ]
    }

    fn tables(&self) -> Vec<Table> {
        tables(self.scale.indexes)
    }

    fn row_count(&self, table: &str) -> u64 {
        source(&self.scale, self.seed, table).rows
    }

    fn part(&self, table: &str, number: u32, parts: u32) -> Box<dyn Rows> {
        source(&self.scale, self.seed, table).part(Maker::new(self.scale, self.seed), (number, parts))
    }

    fn invariants(&self) -> Vec<Invariant> {
        checks::invariants(self.scale, self.seed)
    }

    fn figures(&self, history: bool) -> Vec<Figure> {
        checks::figures(self.scale, self.seed, history)
    }

    fn pages(&self) -> Box<dyn Iterator<Item = Page>> {
        Page::staying(*self, &const { Staying::but(changed) })
    }

    fn checksums(&self) -> Vec<(String, String)> {
        TABLES.iter().map(checksum).collect()
    }
}
