//! Rows of published or measured tables: one observation a row, the unit in the column's name.
//!
//! The one idea: a row is its cells by column name, with the line that it stood on; which columns are asked and which are
//! answered is the model's business. How sure a value is follows from how it was written.
//!
//! What it does not do: it opens no file.

mod floor;

pub use floor::floor_pct;

use std::collections::BTreeMap;

/// A table of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns in order.
    pub columns: Vec<String>,
    /// The rows in order.
    pub rows: Vec<Row>,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its `row_id`, or `line N` when the table has none.
    pub id: String,
    /// The line that it stood on, from 1.
    pub line: u64,
    /// Its cells by column; empty ones are left out, because the source does not give them.
    pub cells: BTreeMap<String, String>,
}

/// Why a text is no table of rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum RowsError {
    /// The text is not CSV.
    #[error("line {line}: {reason}")]
    NotCsv { line: u64, reason: String },
    /// The same `row_id` twice.
    #[error("line {line}: the row `{id}` stands in line {first} already; a row_id names one row")]
    Twice { line: u64, id: String, first: u64 },
    /// A head and nothing below it.
    #[error("a table with at least one row is needed, got none")]
    Empty,
}

impl Row {
    /// The text of a cell.
    pub fn text(&self, column: &str) -> Option<&str> {
        self.cells.get(column).map(String::as_str)
    }

    /// The number in a cell; none when it is empty or no number.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.text(column).and_then(|text| text.trim().parse().ok()).filter(|value: &f64| value.is_finite())
    }
}

/// Reads a table from CSV with a head.
///
/// # Errors
/// When it is not CSV, empty, or names a row twice.
pub fn read(text: &str) -> Result<Table, RowsError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let columns: Vec<String> = reader.headers().map_err(|e| not_csv(&e))?.iter().map(str::to_owned).collect();
    let mut table = Table { columns, rows: Vec::new() };
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|e| not_csv(&e))?;
        let row = row(&table.columns, &record);
        if let Some(first) = seen.insert(row.id.clone(), row.line) {
            return Err(RowsError::Twice { line: row.line, id: row.id, first });
        }
        table.rows.push(row);
    }
    if table.rows.is_empty() { Err(RowsError::Empty) } else { Ok(table) }
}

fn row(columns: &[String], record: &csv::StringRecord) -> Row {
    let line = record.position().map_or(0, csv::Position::line);
    let filled = columns.iter().zip(record).filter(|(_, cell)| !cell.is_empty());
    let cells: BTreeMap<String, String> = filled.map(|(column, cell)| (column.clone(), cell.to_owned())).collect();
    let id = cells.get("row_id").cloned().unwrap_or_else(|| format!("line {line}"));
    Row { id, line, cells }
}

fn not_csv(error: &csv::Error) -> RowsError {
    RowsError::NotCsv { line: error.position().map_or(1, csv::Position::line), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_by_column_and_empty_ones_are_not_there() {
        let table = read("row_id,threads,rate,note\na,8,10.5,\"x, y\"\nb,16,,\n").unwrap();
        assert_eq!(table.rows[0].number("rate"), Some(10.5));
        assert_eq!(table.rows[0].text("note"), Some("x, y"));
        assert_eq!((table.rows[1].id.as_str(), table.rows[1].line, table.rows[1].number("rate")), ("b", 3, None));
    }

    #[test]
    fn what_is_wrong_with_a_table_is_said_with_its_line() {
        assert!(matches!(read("row_id,x\na,1,2\n"), Err(RowsError::NotCsv { line: 2, .. })));
        let twice = RowsError::Twice { line: 3, id: "a".into(), first: 2 };
        assert_eq!(read("row_id,x\na,1\na,2\n"), Err(twice));
        assert_eq!(read("row_id,x\n"), Err(RowsError::Empty));
    }

    #[test]
    fn a_table_without_ids_names_its_rows_by_line() {
        assert_eq!(read("x\n1\n2\n").unwrap().rows[1].id, "line 3");
    }
}
