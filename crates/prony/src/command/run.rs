//! `prony run STUDY`: run a study, or go on with a run.

use super::tier;
use crate::args::Run;
use crate::checked;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::run;
use crate::study_file;

/// Runs what was asked for and tells what came out.
pub fn run(asked: &Run) -> Result<Outcome, Failure> {
    let consents = checked::consents(&asked.consents)?;
    asked.tag.iter().try_for_each(|tag| checked::tag(tag))?;
    let ended = match &asked.resume {
        Some(word) => run::resume(word, asked, &consents, tier::beside)?,
        None => {
            let text = study_file::find(asked.study.as_deref().unwrap_or_default())?;
            let (text, asked) = tier::prepared(text, asked, &consents)?;
            run::start(&text, &asked, &consents, tier::beside)?
        }
    };
    run::tell(ended, asked)
}
