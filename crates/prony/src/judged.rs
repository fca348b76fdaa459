//! From a run file to findings: the same road for a run that has just ended and for one of last year.
//!
//! The one idea: trials are read and reduced one at a time, so that memory does not grow with the length of a run.

use crate::failure::Failure;
use analysis::{Caveat, CaveatKind, Findings, TrialSummary};
use observation::RunFacts;
use std::error::Error;
use store::{RunFile, TrialState};
use study::{AS_FOUND, Judgement, Overrides, Study};

/// Judges a run again, by the study that is in its file.
///
/// # Errors
/// When the file is damaged, or its study is not one for this version.
pub fn findings(file: &RunFile) -> Result<Findings, Failure> {
    let facts = file.facts().map_err(|error| reading(file, &error))?;
    let study = study_of(&facts)?;
    findings_by(file, facts, study.judgement())
}

/// Judges a run by a judgement that is given.
///
/// # Errors
/// When the file is damaged.
pub fn findings_by(file: &RunFile, facts: RunFacts, judgement: &Judgement) -> Result<Findings, Failure> {
    let summaries = summaries(file, judgement)?;
    Ok(judge(facts, summaries, judgement))
}

/// Judges trials, with the doubt that follows from what the study did not ask for: data of our own to read.
pub fn judge(facts: RunFacts, mut summaries: Vec<TrialSummary>, judgement: &Judgement) -> Findings {
    summaries.iter_mut().filter(|summary| summary.label.state.contains(AS_FOUND)).for_each(doubt_data);
    analysis::judge(facts, summaries, judgement)
}

/// A drive answers for blocks that it never wrote, or that were trimmed, out of its tables.
fn doubt_data(summary: &mut TrialSummary) {
    let text = format!(
        "{} was read as it was found: blocks that were never written may be answered without touching the media; \
         `--set fill=true` with `--destroy` fills it first",
        summary.label.system
    );
    summary.caveats.push(Caveat { kind: CaveatKind::Other, trial: Some(summary.label.index), text });
}

/// The study of a run, with the changes it was run with.
///
/// # Errors
/// When it is not a study that this version can read.
pub fn study_of(facts: &RunFacts) -> Result<Study, Failure> {
    study_with(facts, &[])
}

/// The same, with further thresholds.
///
/// # Errors
/// As [`study_of`], and when a threshold cannot be read.
pub fn study_with(facts: &RunFacts, fail_if: &[String]) -> Result<Study, Failure> {
    let overrides = Overrides {
        targets: facts.targets.clone(),
        settings: facts.settings.clone(),
        only: facts.only.clone(),
        fail_if: fail_if.to_vec(),
    };
    let read = Study::parse(&facts.study, &facts.study_text).and_then(|study| study.with(&overrides));
    read.map_err(|problems| {
        Failure::caused(format!("reading the study in the run `{}`", facts.id), &problems)
            .hint(format!("the run was made by Prony {}; open it with that version", facts.version))
    })
}

/// Every trial that ended as planned, reduced.
///
/// # Errors
/// When the file is damaged.
pub fn summaries(file: &RunFile, judgement: &Judgement) -> Result<Vec<TrialSummary>, Failure> {
    let trials = file.trials().map_err(|error| reading(file, &error))?;
    let finished = trials.iter().filter(|trial| trial.state == TrialState::Finished);
    finished
        .map(|trial| {
            let observations = file.observations(trial.label.index).map_err(|error| reading(file, &error))?;
            Ok(analysis::summarise(&trial.label, &observations, judgement))
        })
        .collect()
}

fn reading(file: &RunFile, error: &(dyn Error + 'static)) -> Failure {
    Failure::caused(format!("reading the run `{}`", file.path().display()), error)
}
