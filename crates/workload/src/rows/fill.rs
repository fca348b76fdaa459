//! The tables of batch jobs and their rows.

use super::Spec;
use crate::dataset::{Column, Table, Type, letters};
use crate::transaction::Value;
use random::mix;

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
