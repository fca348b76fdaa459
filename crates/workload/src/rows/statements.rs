//! What batch jobs say. Every job has its own tables and so its own statements.

use super::fill::{source, target};
use super::{Mode, Spec};
use crate::transaction::Statement;

/// A job's statements, in the order of their places.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said {
    Read,
    Lock,
    Update,
    Copy,
}

const EACH: u16 = 4;

impl Said {
    /// Its place in the list.
    pub(super) fn of(self, job: u32) -> u16 {
        job as u16 * EACH + self as u16
    }
}

/// The one class of the jobs.
pub fn classes(spec: &Spec) -> Vec<&'static str> {
    match spec.mode {
        Mode::Update { .. } => vec!["update"],
        Mode::Copy { .. } => vec!["copy"],
    }
}

/// The statements that [`Rows`](super::Rows) calls, four a job. Those of the copy name the second table only when there is
/// one.
pub fn statements(spec: &Spec) -> Vec<Statement> {
    (0..spec.jobs).flat_map(|job| of_job(spec, job)).collect()
}

fn of_job(spec: &Spec, job: u32) -> [Statement; EACH as usize] {
    let (from, to) = (source(job), target(job));
    let read = format!("select counter, filler from {from} where id = $1");
    let copy = match spec.mode {
        Mode::Copy { .. } => format!(
            "insert into {to} (round, id, counter, filler) select $1, id, counter, filler from {from} \
             where id >= $2 and id < $3"
        ),
        // The place is kept, so that a statement's place does not depend on what the jobs do.
        Mode::Update { .. } => read.clone(),
    };
    let rows = matches!(spec.mode, Mode::Update { .. });
    let named = |name: &str, sql: String, rows| Statement { name: format!("{name} ({from})"), sql, rows };
    [
        named("update: read row", read.clone(), true),
        named("update: lock row", format!("{read} for update"), true),
        named("update: update row", format!("update {from} set counter = $1 where id = $2"), false),
        named(if rows { "update: read row again" } else { "copy: copy block" }, copy, rows),
    ]
}

/// How much work of a job the database holds, one whole number: updates of all rows, or rows that were copied.
/// [`Tally::agrees`](super::Tally::agrees) judges how it grew.
pub fn tally_statement(spec: &Spec, job: u32) -> String {
    match spec.mode {
        Mode::Update { .. } => format!("select coalesce(sum(counter), 0) from {}", source(job)),
        Mode::Copy { .. } => format!("select count(*) from {}", target(job)),
    }
}
