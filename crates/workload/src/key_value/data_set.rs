//! The table of records as a data set.

use super::Spec;
use crate::dataset::{self, Column, Contents, DataSet, Invariant, Made, Rows, Table, Type};
use crate::transaction::Value;
use random::GOLDEN;

/// The one table.
pub(super) const TABLE: &str = "record";

/// Names of fields are static, as those of all columns are.
const FIELDS: [&str; 100] = {
    macro_rules! tens {
        ($($ten:literal)*) => { [$(
            concat!("field", $ten, "0"), concat!("field", $ten, "1"), concat!("field", $ten, "2"),
            concat!("field", $ten, "3"), concat!("field", $ten, "4"), concat!("field", $ten, "5"),
            concat!("field", $ten, "6"), concat!("field", $ten, "7"), concat!("field", $ten, "8"),
            concat!("field", $ten, "9")
        ),*] };
    }
    tens!("" "1" "2" "3" "4" "5" "6" "7" "8" "9")
};

/// The names of the fields of a record.
pub(super) fn fields(count: u32) -> &'static [&'static str] {
    &FIELDS[..(count as usize).min(FIELDS.len())]
}

/// So many letters that follow from a few bits.
pub(super) fn letters(bits: u64, count: u32) -> String {
    dataset::letters(bits, GOLDEN, count as usize)
}

/// What the table is made from.
#[derive(Clone, Copy)]
struct Records {
    rows: u64,
    fields: u32,
    field_bytes: u32,
}

/// The records of a workload.
pub(super) fn data_set(spec: &Spec) -> DataSet {
    DataSet::new(MARKED, Records { rows: spec.rows, fields: spec.fields, field_bytes: spec.field_bytes })
}

/// The word of the kind in marks.
pub const MARKED: &str = "key-value";

/// The data set that the facts of a mark describe.
pub fn described(fact: &dyn Fn(&str) -> Option<String>) -> Option<DataSet> {
    let small = |name: &str| fact(name)?.parse::<u32>().ok();
    let (fields, field_bytes) = (small("fields")?, small("field_bytes")?);
    Some(DataSet::new(MARKED, Records { rows: fact("rows")?.parse().ok()?, fields, field_bytes }))
}

impl Contents for Records {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("rows", self.rows.to_string()),
            ("fields", self.fields.to_string()),
            ("field_bytes", self.field_bytes.to_string()),
        ]
    }

    /// A record counts its changes, which is what a lost one is known by.
    fn tables(&self) -> Vec<Table> {
        let field = |name: &&'static str| Column { name, kind: Type::Text(self.field_bytes as u16), null: false };
        let columns = [Column::int("id"), Column::int("changes")];
        let columns: Vec<Column> = columns.into_iter().chain(fields(self.fields).iter().map(field)).collect();
        vec![Table::plain(TABLE, columns, &["id"])]
    }

    fn row_count(&self, table: &str) -> u64 {
        if table == TABLE { self.rows } else { 0 }
    }

    fn invariants(&self) -> Vec<Invariant> {
        let Records { rows, fields: count, field_bytes } = *self;
        let holds = |name, says, sql| Invariant { name, says, tables: vec![TABLE], sql };
        let whole = fields(count).iter().map(|field| format!("length({field}) <> {field_bytes}")).collect::<Vec<_>>();
        vec![
            holds(
                "records",
                "every record of the fill is there",
                format!(
                    "SELECT c.there FROM (SELECT COUNT(*) AS there FROM {TABLE} WHERE id BETWEEN 1 AND {rows}) c \
                     WHERE c.there <> {rows}"
                ),
            ),
            holds(
                "changes",
                "no record counts fewer than no changes",
                format!("SELECT id, changes FROM {TABLE} WHERE changes < 0 ORDER BY id LIMIT 10"),
            ),
            holds(
                "fields",
                "every field has its length",
                format!("SELECT id FROM {TABLE} WHERE {} ORDER BY id LIMIT 10", whole.join(" OR ")),
            ),
        ]
    }

    fn part(&self, table: &str, part: u32, parts: u32) -> Box<dyn Rows> {
        let records = *self;
        Made::numbered(self.row_count(table), (part, parts), move |number, row| {
            row.extend([Value::Int(number as i64 + 1), Value::Int(0)]);
            let text =
                |field| letters(number.wrapping_mul(u64::from(records.fields)) + u64::from(field), records.field_bytes);
            row.extend((0..records.fields).map(|field| Value::Text(text(field))));
        })
    }
}
