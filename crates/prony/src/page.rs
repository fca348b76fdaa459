//! The HTML page of a run, as a file.

use crate::failure::Failure;
use analysis::Findings;
use std::fs;
use std::path::Path;

/// Writes the page to a file, in place of one that is there.
///
/// # Errors
/// When the file cannot be written.
pub fn write(findings: &Findings, path: &Path) -> Result<(), Failure> {
    fs::write(path, report::html(findings))
        .map_err(|error| Failure::caused(format!("writing the report `{}`", path.display()), &error))
}
