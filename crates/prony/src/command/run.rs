//! `prony run STUDY`: run a study, or go on with a run.

use crate::args::{Run, Voice};
use crate::checked;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::run::{self, Manner, Request, Telling};
use crate::study_file;

/// Runs what was asked for and tells what came out.
pub fn run(asked: Run) -> Result<Outcome, Failure> {
    let consents = asked.destroy.iter().map(|text| checked::consent(text)).collect::<Result<_, _>>()?;
    let tags = asked.tag.iter().map(|tag| checked::tag(tag)).collect::<Result<_, _>>()?;
    let voice: Voice = asked.voice;
    let manner = Manner { consents, keep: asked.keep, voice };
    let telling = Telling { json: asked.json, html: asked.html, allow_inconclusive: asked.allow_inconclusive, voice };
    if let Some(word) = &asked.resume {
        return run::tell(&run::resume(word, &manner, &asked.fail_if)?, &telling);
    }
    let request = Request {
        text: study_file::find(asked.study.as_deref().unwrap_or_default())?,
        changes: asked.changes,
        fail_if: asked.fail_if,
        backend: asked.backend,
        output: asked.output,
        seed: asked.seed,
        tags,
        note: asked.note.unwrap_or_default().trim().to_owned(),
        manner,
    };
    run::tell(&run::start(&request)?, &telling)
}
