//! The brokerage house as a data set.

use super::checks::{figures, invariants, pages, row_checks};
use super::fill::{TableRows, row_count};
use super::{Preset, Scale, procedures, schema};
use crate::dataset::{
    Contents, DataSet, Figure, Invariant, Language, Made, Page, Procedures, RowCheck, Rows, Table, checksum,
};
use crate::transaction::Value;

/// The house of a scale, with the rows of a seed.
struct House {
    scale: Scale,
    seed: u64,
}

/// The data set whose rows are those of a seed.
pub fn seeded(scale: Scale, seed: u64) -> DataSet {
    DataSet::new(House { scale, seed })
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

impl Contents for House {
    fn kind(&self) -> &'static str {
        MARKED
    }

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
        schema::table(table).map_or(0, |table| row_count(self.scale, table))
    }

    fn part(&self, table: &str, part: u32, parts: u32) -> Box<dyn Rows> {
        let mut rows = schema::table(table).map(|table| TableRows::new(self.scale, self.seed, table, part, parts));
        Box::new(Made(move |row: &mut Vec<Value>| rows.as_mut().is_some_and(|rows| rows.next(row))))
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
        Box::new(pages(self.scale, self.seed))
    }

    fn checksums(&self) -> Vec<(String, String)> {
        self.tables().iter().map(checksum).collect()
    }

    fn procedures(&self, language: Language) -> Option<Procedures> {
        Some(procedures::procedures(self.scale.preset, language))
    }
}
