//! Texts of statements, each with a name for profiles, as an enum by which steps call them.
//!
//! The one idea: one portable text serves SQLite, PostgreSQL and MariaDB, and a transaction names a statement by an enum,
//! never by its text. Row locks are asked for by `for update` at the end, which a dialect may leave out. A statement that
//! gives rows says beside its text how many on average and what one looks like, for a database that holds none.
//!
//! What it does not do: it knows no engine's own SQL.

use super::{Batch, Sample, Statement, Value};

/// Rows a call on average, and rows to choose from in turn; fields stand between bars.
pub(crate) type Rows = (f64, &'static [&'static str]);

/// Name, text, and the rows that come back, if any do.
pub(crate) type Text = (&'static str, &'static str, Option<Rows>);

/// A list of statements as `Kind from first place, LIST: Id rows(1.0, ["1|A"]) "name" = "text";`.
macro_rules! list {
    ($kind:ident from $first:expr, $list:ident: $($id:ident $(rows($often:literal, $rows:tt))? $name:literal = $sql:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $kind { $($id),* }

        impl $crate::transaction::texts::Place for $kind {
            fn place(self) -> u16 {
                $first as u16 + self as u16
            }
        }

        pub(super) const $list: &[$crate::transaction::texts::Text] =
            &[$(($name, $sql, $crate::transaction::texts::list!(@ $($often, $rows)?))),*];
    };
    (@ $often:literal, $rows:tt) => { Some(($often, &$rows)) };
    (@) => { None };
}
pub(crate) use list;

/// A statement's place in the list of its workload.
pub(crate) trait Place {
    /// The place.
    fn place(self) -> u16;
}

/// One query of a file of SQL, which stands behind a line `-- @ HEAD`.
pub(crate) struct Written {
    /// What it is called there.
    pub(crate) head: &'static str,
    /// The comments between head and query.
    pub(crate) notes: Vec<&'static str>,
    /// The query up to its semicolon, on one line.
    pub(crate) sql: String,
}

/// The queries of a file of SQL, in their order.
pub(crate) fn written(file: &'static str) -> impl Iterator<Item = Written> {
    file.split("-- @ ").skip(1).map(|part| {
        let mut lines = part.lines().map(str::trim);
        let head = lines.next().unwrap_or_default();
        let note = |line: &&'static str| line.strip_prefix("--").map(str::trim);
        let notes = lines.clone().map_while(|line| note(&line)).collect();
        let query: Vec<&str> = lines.skip_while(|line| note(line).is_some()).collect();
        let sql = query.join(" ").split(';').next().unwrap_or_default().to_owned();
        Written { head, notes, sql }
    })
}

/// Adds a statement to a batch.
pub(crate) fn say<const N: usize>(batch: &mut Batch, statement: impl Place, parameters: [Value; N]) {
    batch.call(statement.place(), parameters);
}

/// The statements of a list, in the order of their places.
pub(crate) fn statements<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Vec<Statement> {
    let made =
        |&(name, sql, rows): &Text| Statement { name: name.to_owned(), sql: sql.to_owned(), rows: rows.is_some() };
    texts.into_iter().map(made).collect()
}

/// What the same statements would give on a data set of about this shape, for a database that holds none: one entry a
/// statement, nothing for those without rows.
pub(crate) fn samples<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Vec<Option<Sample>> {
    let made = |(often, rows): Rows| Sample::new(often, rows.iter().map(|row| fields(row)).collect());
    texts.into_iter().map(|text| text.2.map(made)).collect()
}

/// The fields of a row: what reads as a whole number is one.
fn fields(row: &str) -> Vec<Value> {
    row.split('|').map(|field| field.parse().map_or_else(|_| Value::from(field), Value::Int)).collect()
}
