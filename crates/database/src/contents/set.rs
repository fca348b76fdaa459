//! What a data set is.
//!
//! The one idea: a data set is a small value from which its name, its tables and every row follow. What does not change the
//! tables (how jobs go over them, say) is no part of it, so that data is reused wherever it fits.

use super::content::{Content, Table};
use crate::Rows;
use workload::brokerage::schema;
use workload::brokerage::{Preset, Scale};
use workload::rows;
use workload::sql::builtin;

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
    /// The four tables of the built-in scripts.
    Scripts {
        /// Branches; each has 100,000 accounts.
        scale: u32,
    },
    /// The tables of batch jobs.
    Rows {
        /// How many jobs find tables of their own.
        jobs: u32,
        /// Rows of each job.
        rows: u64,
        /// Bytes of a row.
        row_bytes: u32,
        /// Whether each job has a second table to copy to.
        copy: bool,
    },
}

impl DataSet {
    /// The tables of these jobs.
    pub fn of_rows(spec: &rows::Spec) -> DataSet {
        let copy = matches!(spec.mode, rows::Mode::Copy { .. });
        DataSet::Rows { jobs: spec.jobs, rows: spec.rows_per_job, row_bytes: spec.row_bytes, copy }
    }

    /// Its name: `brokerage-desk-200-5-42`.
    pub fn name(&self) -> String {
        match self {
            DataSet::Brokerage { scale, seed } => {
                format!("brokerage-{}-{}-{}-{seed}", scale.preset.word(), scale.customers, scale.days)
            }
            DataSet::Scripts { scale } => format!("scripts-{scale}"),
            DataSet::Rows { jobs, rows, row_bytes, copy } => {
                format!("rows-{}-{rows}-{row_bytes}-{jobs}", if *copy { "copy" } else { "update" })
            }
        }
    }

    /// The schema or database that it has for itself on a server: `prony_brokerage_desk_200_5_42`.
    pub fn schema(&self) -> String {
        format!("prony_{}", self.name().replace('-', "_"))
    }

    /// Its tables; one comes after those that it refers to.
    pub fn tables(&self) -> Vec<Table> {
        match self {
            DataSet::Brokerage { scale, .. } => schema::tables(scale.preset).map(Table::from).collect(),
            DataSet::Scripts { .. } => builtin::tables().iter().map(Table::from).collect(),
            DataSet::Rows { .. } => rows::tables(&self.jobs()).into_iter().map(Table::from).collect(),
        }
    }

    /// Rows of a table; an estimate for some.
    pub fn row_count(&self, table: &Table) -> u64 {
        self.content().count(&table.name)
    }

    /// Rows of all tables; an estimate.
    pub fn rows(&self) -> u64 {
        self.tables().iter().map(|table| self.row_count(table)).sum()
    }

    /// The rows of part `part` of `parts` of a table.
    pub fn part(&self, table: &Table, part: u32, parts: u32) -> Box<dyn Rows> {
        self.content().part(&table.name, part, parts)
    }

    fn content(&self) -> Content {
        match self {
            DataSet::Brokerage { scale, seed } => Content::Brokerage { scale: *scale, seed: *seed },
            DataSet::Scripts { scale } => Content::Scripts { scale: *scale },
            DataSet::Rows { .. } => Content::Rows(self.jobs()),
        }
    }

    /// The jobs that these tables are for. What they do with them beyond that is not known here and changes no table.
    fn jobs(&self) -> rows::Spec {
        let DataSet::Rows { jobs, rows, row_bytes, copy } = *self else { return rows::Spec::default() };
        let mode = if copy { rows::Mode::Copy { block_bytes: 0 } } else { rows::Mode::Update { read_first: false } };
        rows::Spec { jobs, rows_per_job: rows, row_bytes, commit_every: 1, mode }
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
            DataSet::Scripts { scale } => vec![("kind", "scripts".to_owned()), ("scale", scale.to_string())],
            DataSet::Rows { jobs, rows, row_bytes, copy } => vec![
                ("kind", "rows".to_owned()),
                ("jobs", jobs.to_string()),
                ("rows", rows.to_string()),
                ("row_bytes", row_bytes.to_string()),
                ("copy", copy.to_string()),
            ],
        }
    }

    /// The data set that facts describe; none when they describe none that this version knows.
    pub(crate) fn read(fact: impl Fn(&str) -> Option<String>) -> Option<DataSet> {
        let number = |name: &str| fact(name)?.parse::<u64>().ok();
        let small = |name: &str| fact(name)?.parse::<u32>().ok();
        match fact("kind")?.as_str() {
            "brokerage" => {
                let word = fact("preset")?;
                let preset = [Preset::Desk, Preset::House].into_iter().find(|preset| preset.word() == word)?;
                let scale = Scale { preset, customers: number("customers")?, days: number("days")? };
                Some(DataSet::Brokerage { scale, seed: number("seed")? })
            }
            "scripts" => Some(DataSet::Scripts { scale: small("scale")? }),
            "rows" => {
                let (jobs, rows, row_bytes) = (small("jobs")?, number("rows")?, small("row_bytes")?);
                Some(DataSet::Rows { jobs, rows, row_bytes, copy: fact("copy")?.parse().ok()? })
            }
            _ => None,
        }
    }
}
