//! The tables of batch jobs as a data set. How jobs go over them is no part of it.

use super::statements::procedures;
use super::{Mode, Spec, Update};
use crate::dataset::{Column, Contents, DataSet, Language, Made, Procedures, Rows, Table, Type, letters};
use crate::transaction::Value;
use random::mix;

/// The tables of these jobs.
pub(super) fn data_set(spec: &Spec) -> DataSet {
    DataSet::new(MARKED, *spec)
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
    fn name(&self) -> Option<String> {
        let Spec { jobs, rows_per_job, row_bytes, .. } = self;
        let how = if self.has_target() { "copy" } else { "update" };
        Some(format!("rows-{how}-{rows_per_job}-{row_bytes}-{jobs}"))
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

// The tables of batch jobs and their rows.

/// Above so many characters a text has no stated bound, because not every engine takes one so large.
const MOST_STATED: u32 = 8_000;

pub(super) fn source(job: u32) -> String {
    format!("batch_{job}")
}

pub(super) fn target(job: u32) -> String {
    format!("batch_copy_{job}")
}

/// The procedure that updates its rows.
pub(super) fn procedure(job: u32) -> String {
    format!("batch_work_{job}")
}

/// Whose table it is.
pub(super) fn job_of(table: &str) -> Option<u32> {
    let number = table.strip_prefix("batch_")?;
    number.strip_prefix("copy_").unwrap_or(number).parse().ok()
}

/// The tables of all jobs; whoever copies, inserts or deletes has a second one for each.
pub fn tables(spec: &Spec) -> Vec<Table> {
    let filler = match spec.filler() {
        most @ ..=MOST_STATED => Type::Text(most as u16),
        _ => Type::Long,
    };
    let filler = Column { name: "filler", kind: filler, null: false };
    let columns = vec![Column::int("id"), Column::int("counter"), filler];
    let mut tables = Vec::new();
    for job in 0..spec.jobs {
        tables.push(Table::plain(source(job), columns.clone(), &["id"]));
        if spec.has_target() {
            let columns: Vec<Column> = [Column::int("round")].into_iter().chain(columns.clone()).collect();
            tables.push(Table::plain(target(job), columns, &["round", "id"]));
        }
    }
    tables
}

/// Row `number` (from 0) of a job's table: its number from 1, a counter of nought, and a filler that differs from row to row.
pub(super) fn row(job: u32, number: u64, filler: usize, row: &mut Vec<Value>) {
    row.extend([Value::Int(number as i64 + 1), Value::Int(0), text(job, number as i64 + 1, filler)]);
}

/// The filler of a row, by its number from 1.
pub(super) fn text(job: u32, id: i64, filler: usize) -> Value {
    Value::Text(letters(mix((u64::from(job) << 40) ^ id as u64), 1, filler))
}
