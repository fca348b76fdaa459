//! The statements, in the order of their places.

use super::Spec;
use super::data_set::{TABLE, fields};
use crate::transaction::{Sample, Statement, Value};

/// A statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said {
    Read,
    Scan,
    Insert,
    Lock,
    /// The update of one field.
    Update(u32),
    /// The number of changes under a lock, in a table of so many fields.
    Number(u32),
    /// The next number.
    Next(u32),
}

impl Said {
    /// Its place in the list.
    pub(super) fn place(self) -> u16 {
        match self {
            Said::Read => 0,
            Said::Scan => 1,
            Said::Insert => 2,
            Said::Lock => 3,
            Said::Update(field) => 4 + field as u16,
            Said::Number(fields) => 4 + fields as u16,
            Said::Next(fields) => 5 + fields as u16,
        }
    }
}

/// All statements, each with what it gives on a table of such records, where it gives rows.
fn said(spec: &Spec) -> Vec<(Statement, Option<Sample>)> {
    let names = fields(spec.fields);
    let (listed, count) = (names.join(", "), names.len());
    let marks: Vec<String> = (2..count + 2).map(|number| format!("${number}")).collect();
    let said = |name: &str, sql: String, sample: Option<Sample>| {
        (Statement { name: name.to_owned(), sql, rows: sample.is_some() }, sample)
    };
    let record = || vec![Value::Text("x".repeat(spec.field_bytes as usize)); count];
    let one = |record| Some(Sample::new(1.0, vec![record]));
    let numbered = [Value::Int(1)].into_iter().chain(record()).collect();
    let scanned = Some(Sample::new((1.0 + spec.scan as f64) / 2.0, vec![numbered]));
    let read = format!("select {listed} from {TABLE} where id = $1");
    let scan = format!("select id, {listed} from {TABLE} where id >= $1 order by id limit $2");
    let insert = format!("insert into {TABLE} (id, changes, {listed}) values ($1, 0, {})", marks.join(", "));
    let number = format!("select changes from {TABLE} where id = $1 for update");
    let next = format!("update {TABLE} set changes = $1 where id = $2");
    let mut all = vec![
        said("read: record", read.clone(), one(record())),
        said("scan: records", scan, scanned),
        said("insert: record", insert, None),
        said("read-modify-write: lock record", format!("{read} for update"), one(record())),
    ];
    all.extend(names.iter().map(|field| {
        let sql = format!("update {TABLE} set {field} = $1, changes = changes + 1 where id = $2");
        said(&format!("update: {field}"), sql, None)
    }));
    all.push(said("read-and-count: lock number", number, one(vec![Value::Int(1)])));
    all.push(said("read-and-count: write next", next, None));
    all
}

/// The statements, by place.
pub(super) fn statements(spec: &Spec) -> Vec<Statement> {
    said(spec).into_iter().map(|one| one.0).collect()
}

/// What they give.
pub(super) fn samples(spec: &Spec) -> Vec<Option<Sample>> {
    said(spec).into_iter().map(|one| one.1).collect()
}
