//! The tables of batch jobs and their rows.

use super::{Mode, Spec};
use crate::table::{Column, Type};
use crate::transaction::Value;
use random::mix;

/// Above so many characters a text has no stated bound, because not every engine takes one so large.
const MOST_STATED: u32 = 8_000;

/// A table of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns, in the order of bulk loads.
    pub columns: Vec<Column>,
    /// Columns of the primary key.
    pub key: &'static [&'static str],
    /// Whether it begins with rows; the target of a copy begins empty.
    pub filled: bool,
    job: u32,
}

pub(super) fn source(job: u32) -> String {
    format!("batch_{job}")
}

pub(super) fn target(job: u32) -> String {
    format!("batch_copy_{job}")
}

/// The tables of all jobs; a copy has a second one for each.
pub fn tables(spec: &Spec) -> Vec<Table> {
    let column = |name, kind| Column { name, kind, null: false };
    let filler = match spec.filler() {
        most @ ..=MOST_STATED => Type::Text(most as u16),
        _ => Type::Long,
    };
    let columns = vec![column("id", Type::Int), column("counter", Type::Int), column("filler", filler)];
    let mut tables = Vec::new();
    for job in 0..spec.jobs {
        tables.push(Table { name: source(job), columns: columns.clone(), key: &["id"], filled: true, job });
        if matches!(spec.mode, Mode::Copy { .. }) {
            let mut columns = columns.clone();
            columns.insert(0, column("round", Type::Int));
            tables.push(Table { name: target(job), columns, key: &["round", "id"], filled: false, job });
        }
    }
    tables
}

/// The rows of a part of a table, in order: numbers from 1, a counter of nought, and a filler that differs from row to row.
#[derive(Clone, Debug)]
pub struct TableRows {
    job: u32,
    filler: usize,
    next: u64,
    end: u64,
}

impl TableRows {
    /// The rows of part `part` of `parts` equal ones.
    ///
    /// # Panics
    /// When there is no such part.
    pub fn new(spec: &Spec, table: &Table, part: u32, parts: u32) -> TableRows {
        assert!(part < parts, "part {part} of {parts} of table {}", table.name);
        let rows = if table.filled { spec.rows_per_job } else { 0 };
        let edge = |part: u32| (u128::from(rows) * u128::from(part) / u128::from(parts)) as u64;
        TableRows { job: table.job, filler: spec.filler() as usize, next: edge(part), end: edge(part + 1) }
    }

    /// Makes the next row in `row`, in the order of the table's columns; false when there is none.
    pub fn next(&mut self, row: &mut Vec<Value>) -> bool {
        if self.next == self.end {
            return false;
        }
        self.next += 1;
        row.clear();
        row.extend([Value::Int(self.next as i64), Value::Int(0), Value::Text(self.text())]);
        true
    }

    fn text(&self) -> String {
        let mut bits = mix((u64::from(self.job) << 40) ^ self.next);
        let mut text = String::with_capacity(self.filler + 12);
        while text.len() < self.filler {
            bits = mix(bits.wrapping_add(1));
            // Twelve letters for each draw.
            (0..12).for_each(|place| text.push(char::from(b'a' + ((bits >> (5 * place)) % 26) as u8)));
        }
        text.truncate(self.filler);
        text
    }
}
