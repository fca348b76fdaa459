//! The end of a run: the answer on stdout, the page, the thresholds, the exit code.

use super::{Ended, verdict};
use crate::args::Run;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output;
use report::Detail;
use std::path::Path;

/// Nothing is lost with a page that cannot be written.
fn report_later(run: &Path) -> String {
    let (shown, run) = (run.display(), units::for_shell(run.display()));
    format!(
        "the run is whole in `{shown}`; write the page with `prony report {run} -o FILE`, or read it with `prony show {run}`"
    )
}

/// Tells what a run found.
///
/// # Errors
/// When stdout or the page cannot be written; the run file is whole by then.
pub fn tell(ended: Ended, asked: &Run) -> Result<Outcome, Failure> {
    if let Some(path) = &asked.html {
        output::page(&ended.findings, path).map_err(|failure| failure.hint(report_later(&ended.path)))?;
    }
    let text = || report::text(&ended.findings, output::layout(Detail::Brief));
    output::answer(asked.json, || report::json(&ended.findings), text)?;
    let allow = asked.allow_inconclusive || ended.allow_inconclusive;
    let (mut outcome, mut failed) = verdict::of_thresholds(&ended.findings, allow);
    let wrong = verdict::of_wrong(&ended.findings, asked.allow_damage, asked.allow_errors);
    if !wrong.is_empty() {
        outcome = Outcome::Failed;
    }
    failed.extend(wrong);
    for line in &failed {
        output::note_line(line);
    }
    if !asked.voice.quiet {
        output::note_line(&format!("run     {}", ended.path.display()));
        if let Some(path) = &asked.html {
            output::note_line(&format!("report  {}", path.display()));
        }
    }
    let damaged = !asked.allow_damage && ended.findings.damage().next().is_some();
    match ended.broken {
        // What was found decides, and says more than how the run ended.
        Some(failure) if damaged => {
            output::note_failure(&failure);
            Ok(Outcome::Failed)
        }
        Some(failure) => Err(failure),
        None => Ok(outcome),
    }
}
