//! `prony report RUN`: one self-contained HTML page.

use crate::Outcome;
use crate::args::Report;
use crate::failure::Failure;
use crate::folder;
use crate::judged;
use crate::output;
use analysis::Findings;
use std::fs;
use std::path::Path;

/// Writes the page beside the run, to a file, or to stdout.
pub fn run(asked: &Report) -> Result<Outcome, Failure> {
    let file = folder::open(&asked.choice.run)?;
    let findings = judged::findings(&file)?;
    let path = asked.output.clone().unwrap_or_else(|| file.path().with_extension("html"));
    if path == Path::new("-") {
        output::print(&::report::html(&findings))?;
    } else {
        write(&findings, &path)?;
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(Outcome::Fine)
}

/// Writes the page to a file, in place of one that is there.
///
/// # Errors
/// When the file cannot be written.
pub fn write(findings: &Findings, path: &Path) -> Result<(), Failure> {
    fs::write(path, ::report::html(findings))
        .map_err(|error| Failure::caused(format!("writing the report `{}`", path.display()), &error))
}
