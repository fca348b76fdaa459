//! What a data set is.

use crate::Rows;
use workload::brokerage::fill::{TableRows, row_count};
use workload::brokerage::schema::{self, Table};
use workload::brokerage::{Preset, Scale};
use workload::transaction::Value;

/// A data set: everything in it follows from this value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataSet {
    /// The brokerage house.
    Brokerage {
        /// Which shape and how much of it.
        scale: Scale,
        /// The seed of its rows.
        seed: u64,
    },
}

impl DataSet {
    /// Its name: `brokerage-desk-200-5-42`.
    pub fn name(&self) -> String {
        match self {
            DataSet::Brokerage { scale, seed } => {
                format!("brokerage-{}-{}-{}-{seed}", scale.preset.word(), scale.customers, scale.days)
            }
        }
    }

    /// The schema or database that it has for itself on a server: `prony_brokerage_desk_200_5_42`.
    pub fn schema(&self) -> String {
        format!("prony_{}", self.name().replace('-', "_"))
    }

    /// Its tables; one comes after those that it refers to.
    pub fn tables(&self) -> Vec<&'static Table> {
        match self {
            DataSet::Brokerage { scale, .. } => schema::tables(scale.preset).collect(),
        }
    }

    /// Rows of a table; an estimate for some.
    pub fn row_count(&self, table: &Table) -> u64 {
        match self {
            DataSet::Brokerage { scale, .. } => row_count(*scale, table),
        }
    }

    /// Rows of all tables; an estimate.
    pub fn rows(&self) -> u64 {
        self.tables().into_iter().map(|table| self.row_count(table)).sum()
    }

    /// The rows of part `part` of `parts` of a table.
    pub fn part(&self, table: &'static Table, part: u32, parts: u32) -> Box<dyn Rows> {
        match self {
            DataSet::Brokerage { scale, seed } => Box::new(Made(TableRows::new(*scale, *seed, table, part, parts))),
        }
    }

    /// The value written out: the data set that [`DataSet::read`] reads from it is this one.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        match self {
            DataSet::Brokerage { scale, seed } => vec![
                ("kind", "brokerage".to_owned()),
                ("preset", scale.preset.word().to_owned()),
                ("customers", scale.customers.to_string()),
                ("days", scale.days.to_string()),
                ("seed", seed.to_string()),
            ],
        }
    }

    /// The data set that facts describe; none when they describe none that this version knows.
    pub(crate) fn read(fact: impl Fn(&str) -> Option<String>) -> Option<DataSet> {
        let number = |name: &str| fact(name)?.parse::<u64>().ok();
        if fact("kind")? != "brokerage" {
            return None;
        }
        let word = fact("preset")?;
        let preset = [Preset::Desk, Preset::House].into_iter().find(|preset| preset.word() == word)?;
        let scale = Scale { preset, customers: number("customers")?, days: number("days")? };
        Some(DataSet::Brokerage { scale, seed: number("seed")? })
    }
}

/// Rows of the brokerage house for a bulk load.
struct Made(TableRows);

impl Rows for Made {
    fn next(&mut self, row: &mut Vec<Value>) -> bool {
        self.0.next(row)
    }
}
