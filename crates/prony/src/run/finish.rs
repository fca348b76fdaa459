//! The end of a run: the answer on stdout, the page, the thresholds, the exit code.

use super::{Ended, verdict};
use crate::args::Voice;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output;
use crate::page;
use report::Detail;
use std::path::PathBuf;

/// How the end of a run is told.
#[derive(Clone, Debug)]
pub struct Telling {
    /// JSON on stdout instead of text.
    pub json: bool,
    /// Where the page goes.
    pub html: Option<PathBuf>,
    /// Whether an inconclusive threshold passes.
    pub allow_inconclusive: bool,
    /// How much to say.
    pub voice: Voice,
}

/// Tells what a run found.
///
/// # Errors
/// When stdout or the page cannot be written; the run file is whole by then.
pub fn tell(ended: &Ended, telling: &Telling) -> Result<Outcome, Failure> {
    if let Some(path) = &telling.html {
        page::write(&ended.findings, path)?;
    }
    let text = || report::text(&ended.findings, output::layout(Detail::Brief));
    output::answer(telling.json, || report::json(&ended.findings), text)?;
    let allow = telling.allow_inconclusive || ended.allow_inconclusive;
    let (outcome, failed) = verdict::of_thresholds(&ended.findings, allow);
    for line in &failed {
        output::note_line(line);
    }
    if !telling.voice.quiet {
        output::note_line(&format!("run     {}", ended.path.display()));
        if let Some(path) = &telling.html {
            output::note_line(&format!("report  {}", path.display()));
        }
    }
    Ok(outcome)
}
