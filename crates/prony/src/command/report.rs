//! `prony report RUN`: one self-contained HTML page.

use crate::args::Report;
use crate::failure::Failure;
use crate::judged;
use crate::output;
use std::path::Path;

/// Writes the page beside the run, to a file, or to stdout.
pub fn run(asked: &Report) -> Result<(), Failure> {
    let (file, findings) = judged::named(&asked.choice.run)?;
    let path = asked.output.clone().map_or_else(|| output::page_beside(file.path()), Ok)?;
    if path == Path::new("-") {
        output::print(&report::html(&findings))
    } else {
        output::page(&findings, &path).map_err(|failure| match asked.output {
            None => failure.hint("write it elsewhere: -o FILE.html"),
            Some(_) => failure,
        })?;
        output::print(&format!("{}\n", path.display()))
    }
}
