//! Tables and rows of data sets of every kind, in one shape.
//!
//! The one idea: workloads describe their tables each in its own way, some fixed and some made; a fill sees only these.

use crate::Rows;
use std::borrow::Cow;
use workload::brokerage::Scale;
use workload::brokerage::fill::{TableRows, row_count};
use workload::brokerage::schema::{self, Column, Reference};
use workload::rows;
use workload::sql::builtin;
use workload::transaction::Value;

/// A table of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its columns, in the order of bulk loads.
    pub columns: Cow<'static, [Column]>,
    /// Columns of the primary key; none for a table that is never looked up.
    pub key: &'static [&'static str],
    /// References to other tables.
    pub references: &'static [Reference],
    /// Columns of further indexes.
    pub indexes: &'static [&'static [&'static str]],
}

impl From<&'static schema::Table> for Table {
    fn from(table: &'static schema::Table) -> Table {
        Table {
            name: table.name.into(),
            columns: table.columns.into(),
            key: table.key,
            references: table.references,
            indexes: table.indexes,
        }
    }
}

impl From<rows::Table> for Table {
    fn from(table: rows::Table) -> Table {
        let (name, columns) = (table.name.into(), table.columns.into());
        Table { name, columns, key: table.key, references: &[], indexes: &[] }
    }
}

/// Where the rows of a data set come from.
pub(super) enum Content {
    Brokerage { scale: Scale, seed: u64 },
    Scripts { scale: u32 },
    Rows(rows::Spec),
}

impl Content {
    /// Rows of a table; an estimate for some.
    pub(super) fn count(&self, table: &str) -> u64 {
        match self {
            Content::Brokerage { scale, .. } => schema::table(table).map_or(0, |table| row_count(*scale, table)),
            Content::Scripts { scale } => builtin::rows(table, *scale).map_or(0, |rows| rows.count()),
            Content::Rows(spec) => self.job_table(table).map_or(0, |table| u64::from(table.filled) * spec.rows_per_job),
        }
    }

    /// The rows of part `part` of `parts` of a table; none of a table that it does not have.
    pub(super) fn part(&self, table: &str, part: u32, parts: u32) -> Box<dyn Rows> {
        let made: Option<Box<dyn Rows>> = match self {
            Content::Brokerage { scale, seed } => schema::table(table).map(|table| {
                let mut rows = TableRows::new(*scale, *seed, table, part, parts);
                boxed(move |row| rows.next(row))
            }),
            Content::Scripts { scale } => builtin::rows(table, *scale).map(|rows| {
                let edge = |part: u32| (u128::from(rows.count()) * u128::from(part) / u128::from(parts)) as u64;
                let mut numbers = edge(part)..edge(part + 1);
                boxed(move |row| {
                    row.clear();
                    numbers.next().map(|n| rows.row(n, row)).is_some()
                })
            }),
            Content::Rows(spec) => self.job_table(table).map(|table| {
                let mut rows = rows::TableRows::new(spec, &table, part, parts);
                boxed(move |row| rows.next(row))
            }),
        };
        made.unwrap_or_else(|| boxed(|_| false))
    }

    fn job_table(&self, name: &str) -> Option<rows::Table> {
        match self {
            Content::Rows(spec) => rows::tables(spec).into_iter().find(|table| table.name == name),
            _ => None,
        }
    }
}

fn boxed(next: impl FnMut(&mut Vec<Value>) -> bool + Send + 'static) -> Box<dyn Rows> {
    Box::new(Made(next))
}

/// Rows for a bulk load.
struct Made<F>(F);

impl<F: FnMut(&mut Vec<Value>) -> bool + Send> Rows for Made<F> {
    fn next(&mut self, row: &mut Vec<Value>) -> bool {
        (self.0)(row)
    }
}
