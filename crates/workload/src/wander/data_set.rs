//! The tables as a data set. How long each is hot is no part of it.

use super::{Spec, TEXT};
use crate::dataset::{self, Column, Contents, DataSet, Made, Rows, Table, Type};
use crate::transaction::Value;
use random::GOLDEN;
use units::Nanos;

/// The tables of a workload.
pub(super) fn data_set(spec: &Spec) -> DataSet {
    DataSet::new(MARKED, Spec { stay: Nanos::ZERO, ..*spec })
}

/// The word of the kind in marks.
pub const MARKED: &str = "wander";

/// The data set that the facts of a mark describe.
pub fn described(fact: &dyn Fn(&str) -> Option<String>) -> Option<DataSet> {
    let (tables, rows) = (fact("tables")?.parse().ok()?, fact("rows")?.parse().ok()?);
    Some(data_set(&Spec { tables, rows, stay: Nanos::ZERO }))
}

impl Contents for Spec {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("tables", self.tables.to_string()), ("rows", self.rows.to_string())]
    }

    fn tables(&self) -> Vec<Table> {
        let columns = || vec![Column::int("id"), Column { name: "body", kind: Type::Text(TEXT), null: false }];
        (0..self.tables).map(|number| Table::plain(Spec::table(number), columns(), &["id"])).collect()
    }

    fn row_count(&self, _table: &str) -> u64 {
        self.rows
    }

    fn part(&self, _table: &str, part: u32, parts: u32) -> Box<dyn Rows> {
        Made::numbered(self.rows, (part, parts), |number, row| {
            let text = dataset::letters(number, GOLDEN, TEXT.into());
            row.extend([Value::Int(number as i64 + 1), Value::Text(text)]);
        })
    }
}
