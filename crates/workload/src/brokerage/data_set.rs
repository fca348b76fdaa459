//! The brokerage house as a data set.

use super::checks::{figures, invariants, row_checks};
use super::codes::MARK;
use super::fill::{Maker, source};
use super::{Preset, Scale, procedures, schema};
use crate::dataset::{
    Contents, DataSet, Figure, Invariant, Language, Page, Procedures, RowCheck, Rows, Staying, Table, checksum,
};

/// The house of a scale, with the rows of a seed.
#[derive(Clone, Copy)]
struct House {
    scale: Scale,
    seed: u64,
    /// Whether brokers and accounts get what their trades add up to.
    sums: bool,
}

/// The data set whose rows are those of a seed.
pub fn seeded(scale: Scale, seed: u64) -> DataSet {
    DataSet::new(MARKED, House { scale, seed, sums: true })
}

/// The word of the kind in marks.
pub const MARKED: &str = "brokerage";

/// The data set that the facts of a mark describe.
pub fn described(fact: &dyn Fn(&str) -> Option<String>) -> Option<DataSet> {
    let number = |name: &str| fact(name)?.parse::<u64>().ok();
    let word = fact("preset")?;
    let preset = Preset::of_word(&word)?;
    let scale = Scale { preset, customers: number("customers")?, days: number("days")? };
    Some(seeded(scale, number("seed")?))
}

/// What stays of the fill: a transaction puts a mark behind some texts, or takes it away. Of large tables many pages are compared.
const STAYING: Staying = Staying {
    changed,
    mark: MARK,
    marked: &[("cash_entry", "description"), ("settlement", "kind"), ("trade", "placed_by")],
    pages: 500,
};

/// Columns of a table that transactions change; none for a table whose rows do not stay.
fn changed(table: &str) -> Option<&'static [&'static str]> {
    match table {
        "quote" | "watch_entry" | "pending_order" | "position" | "lot" => None,
        "access_grant" => Some(&["last_name"]),
        "account" => Some(&["balance_cents"]),
        "address" => Some(&["line2"]),
        "article" => Some(&["source"]),
        "broker" => Some(&["commission_cents", "trades"]),
        "company" => Some(&["chief"]),
        "customer" => Some(&["email"]),
        "daily_price" => Some(&["volume"]),
        "exchange" => Some(&["description"]),
        "financial" => Some(&["inventory_cents"]),
        "levy" => Some(&["name"]),
        "postal_area" => Some(&["town"]),
        "security" => Some(&["dividend_cents"]),
        _ => Some(&[]),
    }
}

impl Contents for House {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("preset", self.scale.preset.word().to_owned()),
            ("customers", self.scale.customers.to_string()),
            ("days", self.scale.days.to_string()),
            ("seed", self.seed.to_string()),
        ]
    }

    fn tables(&self) -> Vec<Table> {
        schema::tables(self.scale.preset).cloned().collect()
    }

    fn row_count(&self, table: &str) -> u64 {
        source(&self.scale, table).rows
    }

    fn part(&self, table: &str, part: u32, parts: u32) -> Box<dyn Rows> {
        source(&self.scale, table).part(Maker::new(self.scale, self.seed, self.sums), (part, parts))
    }

    fn invariants(&self) -> Vec<Invariant> {
        invariants(self.scale.preset)
    }

    fn figures(&self, history: bool) -> Vec<Figure> {
        figures(self.scale, self.seed, history)
    }

    fn row_checks(&self) -> Vec<RowCheck> {
        row_checks(self.scale, self.seed)
    }

    fn pages(&self) -> Box<dyn Iterator<Item = Page>> {
        Page::staying(House { sums: false, ..*self }, &STAYING)
    }

    fn checksums(&self) -> Vec<(String, String)> {
        self.tables().iter().map(checksum).collect()
    }

    fn procedures(&self, language: Language) -> Option<Procedures> {
        Some(procedures::procedures(self.scale.preset, language))
    }
}
