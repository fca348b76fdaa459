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

/// All statements.
pub(super) fn statements(spec: &Spec) -> Vec<Statement> {
    let names = fields(spec.fields);
    let (listed, count) = (names.join(", "), names.len());
    let marks: Vec<String> = (2..count + 2).map(|number| format!("${number}")).collect();
    let named = |name: &str, sql: String, rows| Statement { name: name.to_owned(), sql, rows };
    let read = format!("select {listed} from {TABLE} where id = $1");
    let mut all = vec![
        named("read: record", read.clone(), true),
        named("scan: records", format!("select id, {listed} from {TABLE} where id >= $1 order by id limit $2"), true),
        named(
            "insert: record",
            format!("insert into {TABLE} (id, changes, {listed}) values ($1, 0, {})", marks.join(", ")),
            false,
        ),
        named("read-modify-write: lock record", format!("{read} for update"), true),
    ];
    all.extend(names.iter().map(|field| {
        let sql = format!("update {TABLE} set {field} = $1, changes = changes + 1 where id = $2");
        named(&format!("update: {field}"), sql, false)
    }));
    let number = format!("select changes from {TABLE} where id = $1 for update");
    all.push(named("read-and-count: lock number", number, true));
    all.push(named("read-and-count: write next", format!("update {TABLE} set changes = $1 where id = $2"), false));
    all
}

/// What the same statements give on a table of such records.
pub(super) fn samples(spec: &Spec) -> Vec<Option<Sample>> {
    let text = || Value::Text("x".repeat(spec.field_bytes as usize));
    let record = || (0..spec.fields).map(|_| text()).collect::<Vec<Value>>();
    let numbered = [Value::Int(1)].into_iter().chain(record()).collect();
    let mean = (1.0 + spec.scan as f64) / 2.0;
    let mut all = vec![
        Some(Sample::new(1.0, vec![record()])),
        Some(Sample::new(mean, vec![numbered])),
        None,
        Some(Sample::new(1.0, vec![record()])),
    ];
    all.resize(4 + spec.fields as usize, None);
    all.extend([Some(Sample::new(1.0, vec![vec![Value::Int(1)]])), None]);
    all
}
