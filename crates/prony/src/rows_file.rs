//! ROWS on the command line: the path of a table, or a run.

use crate::failure::Failure;
use crate::run_rows;
use model::rows::{self, Row, Table};
use observation::Provenance;
use std::path::Path;

/// Reads a table of rows: a CSV file, or the points of a run.
///
/// # Errors
/// When the file cannot be read, or is no table.
pub fn table(path: &str) -> Result<Table, Failure> {
    sourced(path).map(|(table, _)| table)
}

/// The same with where its values come from: a CSV file holds what somebody published, a run what it measured or simulated.
///
/// # Errors
/// As [`table`].
pub fn sourced(path: &str) -> Result<(Table, Provenance), Failure> {
    if !path.ends_with(".csv") {
        return run_rows::table(path);
    }
    let doing = || format!("reading the rows `{path}`");
    let text = system::text::read(Path::new(path)).map_err(|error| Failure::caused(doing(), &error))?;
    let table = rows::read(&text).map_err(|error| {
        Failure::caused(doing(), &error).hint("rows are CSV with a head; the unit of a column is in its name")
    })?;
    Ok((table, Provenance::Published))
}

/// Every row that ships: what the laws beside a model are made from, and what intervals rest on.
///
/// # Panics
/// Never: that shipped tables can be read is held by a test.
pub fn shipped_rows() -> Vec<Row> {
    let tables = model::tables().iter().filter_map(|shipped| rows::read(shipped.text).ok());
    tables.flat_map(|table| table.rows).collect()
}
