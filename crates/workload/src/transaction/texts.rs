//! Texts of statements, each with a name for profiles, as an enum by which steps call them.
//!
//! The one idea: one portable text serves SQLite, PostgreSQL and MariaDB, and a transaction names a statement by an enum,
//! never by its text. Row locks are asked for by `for update` at the end, which a dialect may leave out. A statement that
//! gives rows says above its text how many on average and what one looks like, for a database that holds none.
//!
//! What it does not do: it knows no engine's own SQL.

use super::{Batch, Sample, Statement, Value};

/// A list of statements as `Kind from first place, LIST in "file.sql": Id Id ...`.
macro_rules! list {
    ($kind:ident from $first:expr, $list:ident in $file:literal: $($id:ident)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $kind { $($id),* }

        impl $crate::transaction::texts::Place for $kind {
            fn place(self) -> u16 {
                $first as u16 + self as u16
            }
        }

        pub(super) const $list: $crate::transaction::texts::List =
            $crate::transaction::texts::List { file: include_str!($file), ids: &[$(stringify!($id)),*] };
    };
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

/// The same, each name in braces replaced by its text.
pub(crate) fn written_with(file: &'static str, texts: &[(&str, String)]) -> impl Iterator<Item = Written> {
    let filled = |sql: String| texts.iter().fold(sql, |sql, (name, text)| sql.replace(name, text));
    written(file).map(move |one| Written { sql: filled(one.sql), ..one })
}

/// Such queries alone.
pub(crate) fn filled(file: &'static str, texts: &[(&str, String)]) -> Vec<String> {
    written_with(file, texts).map(|one| one.sql).collect()
}

/// Adds a statement to a batch.
pub(crate) fn say<const N: usize>(batch: &mut Batch, statement: impl Place, parameters: [Value; N]) {
    batch.call(statement.place(), parameters);
}

/// Statements of a file of SQL. The head of each is the name by which steps call it, then the one for profiles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) file: &'static str,
    /// The names by which steps call them, in the order of their places.
    pub(crate) ids: &'static [&'static str],
}

impl List {
    /// The queries with their names for profiles.
    ///
    /// # Panics
    /// When the file holds others than the list names.
    fn named(self) -> impl Iterator<Item = (&'static str, Written)> {
        let mut ids = self.ids.iter();
        assert_eq!(written(self.file).count(), self.ids.len(), "statements of {:?}", self.ids);
        written(self.file).map(move |one| {
            let (id, name) = one.head.split_once(' ').unwrap_or_default();
            assert_eq!(ids.next(), Some(&id), "the next statement of the file");
            (name, one)
        })
    }

    /// The statements, in the order of their places.
    pub(crate) fn statements(self) -> Vec<Statement> {
        let made = |(name, Written { notes, sql, .. }): (&str, Written)| Statement {
            name: name.to_owned(),
            sql,
            rows: !notes.is_empty(),
        };
        self.named().map(made).collect()
    }

    /// What the same statements would give on a data set of about this shape, for a database that holds none: one entry a
    /// statement, nothing for those without rows.
    pub(crate) fn samples(self) -> Vec<Option<Sample>> {
        self.named().map(|(_, one)| one.notes.first().and_then(|note| sample(note))).collect()
    }
}

/// Rows a call on average, and rows to choose from in turn: `gives 2.0 such as 1|A / 2|B`.
fn sample(note: &str) -> Option<Sample> {
    let (often, rows) = note.strip_prefix("gives ")?.split_once(" such as ")?;
    Some(Sample::new(often.parse().ok()?, rows.split(" / ").map(fields).collect()))
}

/// The fields of a row: what reads as a whole number is one.
fn fields(row: &str) -> Vec<Value> {
    row.split('|').map(|field| field.parse().map_or_else(|_| Value::from(field), Value::Int)).collect()
}
