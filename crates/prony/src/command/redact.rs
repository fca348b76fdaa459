//! `prony redact RUN`: a copy that can be handed to others.

use crate::args::Redact;
use crate::failure::Failure;
use crate::folder;
use crate::output;
use std::path::Path;

/// Writes the copy and prints its path.
pub fn run(asked: &Redact) -> Result<(), Failure> {
    let from = folder::find(&asked.choice.run)?;
    let stem = from.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let to = asked.output.clone().unwrap_or_else(|| from.with_file_name(format!("{stem}-redacted.{}", folder::ENDING)));
    copy(&from, &to)?;
    output::print(&format!("{}\n", to.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    store::redact(from, to)
        .map_err(|error| Failure::caused(format!("making a redacted copy of `{}`", from.display()), &error))
}
