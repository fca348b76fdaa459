//! `prony note RUN TEXT`: the remark of a run.

use crate::args::Note;
use crate::failure::Failure;
use crate::folder;
use store::RunFile;

/// Replaces the remark.
pub fn run(asked: &Note) -> Result<(), Failure> {
    let path = folder::find(&asked.choice.run)?;
    let doing = |error| Failure::caused(format!("changing the note of the run `{}`", path.display()), &error);
    let mut file = RunFile::open_for_notes(&path).map_err(doing)?;
    file.set_note(asked.text.trim()).map_err(doing)?;
    file.close().map_err(doing)
}
