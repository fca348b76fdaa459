//! The tables of batch jobs as a data set. How jobs go over them is no part of it.

use super::fill::{job_of, row, tables, target};
use super::procedures::procedures;
use super::{Mode, Spec, Update};
use crate::dataset::{Contents, DataSet, Language, Made, Procedures, Rows, Table};

/// The tables of these jobs.
pub(super) fn data_set(spec: &Spec) -> DataSet {
    DataSet::new(*spec)
}

/// The word of the kind in marks.
pub const MARKED: &str = "rows";

/// The data set that the facts of a mark describe.
pub fn described(fact: &dyn Fn(&str) -> Option<String>) -> Option<DataSet> {
    let small = |name: &str| fact(name)?.parse::<u32>().ok();
    let copy: bool = fact("copy")?.parse().ok()?;
    let mode = if copy { Mode::Copy { block_bytes: 0 } } else { Mode::Update(Update::default()) };
    let (jobs, row_bytes) = (small("jobs")?, small("row_bytes")?);
    Some(data_set(&Spec {
        jobs,
        rows_per_job: fact("rows")?.parse().ok()?,
        row_bytes,
        commit_every: 1,
        total: None,
        mode,
    }))
}

impl Contents for Spec {
    fn kind(&self) -> &'static str {
        MARKED
    }

    fn name(&self) -> String {
        let Spec { jobs, rows_per_job, row_bytes, .. } = self;
        format!("rows-{}-{rows_per_job}-{row_bytes}-{jobs}", if self.has_target() { "copy" } else { "update" })
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("jobs", self.jobs.to_string()),
            ("rows", self.rows_per_job.to_string()),
            ("row_bytes", self.row_bytes.to_string()),
            ("copy", self.has_target().to_string()),
        ]
    }

    fn tables(&self) -> Vec<Table> {
        tables(self)
    }

    /// A second table begins empty.
    fn row_count(&self, table: &str) -> u64 {
        let known = (0..self.jobs).any(|job| job_of(table) == Some(job) && table != target(job));
        if known { self.rows_per_job } else { 0 }
    }

    fn part(&self, table: &str, part: u32, parts: u32) -> Box<dyn Rows> {
        let (job, filler) = (job_of(table).unwrap_or(0), self.filler() as usize);
        Made::numbered(self.row_count(table), (part, parts), move |number, into| row(job, number, filler, into))
    }

    fn procedures(&self, language: Language) -> Option<Procedures> {
        (!self.has_target()).then(|| procedures(self, language))
    }
}
