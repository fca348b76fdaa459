//! The warehouse as a data set.

use super::checks::{figures, invariants};
use super::fill::{part, row_count};
use super::scale::Scale;
use super::schema::{Holds, holds, tables};
use super::spec::Indexes;
use crate::dataset::{Contents, DataSet, Figure, Invariant, Page, Rows, Staying, Table, checksum};

/// The warehouse of a scale, with the rows of a seed.
#[derive(Clone, Copy)]
pub(super) struct Warehouse {
    pub(super) scale: Scale,
    pub(super) seed: u64,
}

/// The data set whose rows are those of a seed.
pub fn seeded(scale: Scale, seed: u64) -> DataSet {
    DataSet::new(MARKED, Warehouse { scale, seed })
}

/// The word of the kind in marks.
pub const MARKED: &str = "warehouse";

/// The data set that the facts of a mark describe.
pub fn described(fact: &dyn Fn(&str) -> Option<String>) -> Option<DataSet> {
    let number = |name: &str| fact(name)?.parse::<u64>().ok();
    let indexes = Indexes::of_word(&fact("indexes")?)?;
    let scale = Scale { rows: number("rows")?, aggregates: number("aggregates")? as u32, indexes };
    Some(seeded(scale, number("seed")?))
}

/// Columns of a table that changes and loads move; none for a table whose rows do not stay.
fn changed(table: &str) -> Option<&'static [&'static str]> {
    match holds(table)? {
        Holds::Plain("active_order" | "delta" | "change_log") | Holds::Aggregate(..) => None,
        Holds::Plain("source_order") => Some(&["quantity", "changed"]),
        Holds::Plain("marker") => Some(&["deltas", "facts", "delta_id", "moment"]),
        Holds::Plain(_) | Holds::Facts(_) => Some(&[]),
    }
}

impl Contents for Warehouse {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("rows", self.scale.rows.to_string()),
            ("aggregates", self.scale.aggregates.to_string()),
            ("indexes", self.scale.indexes.word().to_owned()),
            ("seed", self.seed.to_string()),
        ]
    }

    fn tables(&self) -> Vec<Table> {
        tables(&self.scale)
    }

    fn row_count(&self, table: &str) -> u64 {
        row_count(&self.scale, table)
    }

    fn part(&self, table: &str, part_of: u32, parts: u32) -> Box<dyn Rows> {
        part(self.scale, self.seed, table, part_of, parts)
    }

    fn invariants(&self) -> Vec<Invariant> {
        invariants(&self.scale)
    }

    fn figures(&self, history: bool) -> Vec<Figure> {
        figures(&self.scale, self.seed, history)
    }

    fn pages(&self) -> Box<dyn Iterator<Item = Page>> {
        Page::staying(*self, &const { Staying::but(changed) })
    }

    fn checksums(&self) -> Vec<(String, String)> {
        self.tables().iter().map(checksum).collect()
    }
}
