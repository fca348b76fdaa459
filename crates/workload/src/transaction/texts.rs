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

/// The queries of a file of SQL in their order, each name in braces replaced by its text.
pub(crate) fn written(file: &'static str, texts: &[(&str, String)]) -> impl Iterator<Item = Written> {
    file.split("-- @ ").skip(1).map(|part| {
        let mut lines = part.lines().map(str::trim);
        let head = lines.next().unwrap_or_default();
        let note = |line: &&'static str| line.strip_prefix("--").map(str::trim);
        let notes = lines.clone().map_while(|line| note(&line)).collect();
        let query: Vec<&str> = lines.skip_while(|line| note(line).is_some()).collect();
        let query = query.join(" ").split(';').next().unwrap_or_default().to_owned();
        let sql = texts.iter().fold(query, |sql, (name, text)| sql.replace(name, text));
        Written { head, notes, sql }
    })
}

/// Such queries alone.
pub(crate) fn filled(file: &'static str, texts: &[(&str, String)]) -> Vec<String> {
    written(file, texts).map(|one| one.sql).collect()
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
    /// The statements in the order of their places, each with what it would give on a data set of about this shape.
    ///
    /// # Panics
    /// When the file holds others than the list names, or has another comment above one than what it gives.
    fn read(self) -> impl Iterator<Item = (Statement, Option<Sample>)> {
        let mut ids = self.ids.iter();
        assert_eq!(written(self.file, &[]).count(), self.ids.len(), "statements of {:?}", self.ids);
        written(self.file, &[]).map(move |Written { head, notes, sql }| {
            let (id, name) = head.split_once(' ').unwrap_or_default();
            assert_eq!(ids.next(), Some(&id), "the next statement of the file");
            let gives = |note: &&str| sample(note).unwrap_or_else(|| panic!("`{id}` gives what? {note}"));
            let sample = notes.first().map(gives);
            (Statement { name: name.to_owned(), sql, rows: sample.is_some() }, sample)
        })
    }

    /// The statements.
    pub(crate) fn statements(self) -> Vec<Statement> {
        self.read().map(|one| one.0).collect()
    }

    /// What they give, for a database that holds nothing: one entry a statement, nothing for those without rows.
    pub(crate) fn samples(self) -> Vec<Option<Sample>> {
        self.read().map(|one| one.1).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "-- A file.\n\n-- @ One a: read\n-- gives 2.5 such as 1|A / 2|B\nselect x\n    from y;\n\n-- Others.\n\n\
                        -- @ Two write\ninsert {what};\n";

    #[test]
    fn a_query_of_a_file_is_one_line_and_comments_between_two_are_of_none() {
        let all: Vec<Written> = written(FILE, &[("{what}", "1".to_owned())]).collect();
        assert_eq!(all.iter().map(|one| one.head).collect::<Vec<_>>(), ["One a: read", "Two write"]);
        assert_eq!(all.iter().map(|one| one.sql.as_str()).collect::<Vec<_>>(), ["select x from y", "insert 1"]);
        assert_eq!((all[0].notes.len(), all[1].notes.len()), (1, 0));
    }

    #[test]
    fn a_statement_gives_rows_where_its_file_says_which() {
        let list = List { file: FILE, ids: &["One", "Two"] };
        assert_eq!(list.statements().iter().map(|one| one.rows).collect::<Vec<_>>(), [true, false]);
        let rows = vec![vec![Value::Int(1), "A".into()], vec![Value::Int(2), "B".into()]];
        assert_eq!(list.samples(), [Some(Sample::new(2.5, rows)), None]);
    }

    #[test]
    #[should_panic(expected = "the next statement of the file")]
    fn a_list_that_names_other_statements_than_its_file_is_found_out() {
        let _ = List { file: FILE, ids: &["Two", "One"] }.statements();
    }
}
