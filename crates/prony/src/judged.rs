//! From a run file to findings: the same road for a run that has just ended and for one of last year.
//!
//! The one idea: trials are read and reduced one at a time, and each interval by interval, so that memory grows neither
//! with the length of a run nor with that of a trial.

use crate::failure::Failure;
use crate::folder;
use crate::passwords;
use analysis::{Findings, TrialSummary};
use observation::{Observations, RunFacts, TrialLabel};
use std::error::Error;
use store::{RunFile, StoredCells, StoredTrial, TrialState};
use study::{Judgement, Overrides, Place, Study, Survey, SystemSpec};

/// Judges a run again, by the study that is in its file.
///
/// # Errors
/// When the file is damaged, or its study is not one for this version.
pub fn findings(file: &RunFile) -> Result<Findings, Failure> {
    let facts = facts(file)?;
    let study = study_of(&facts)?;
    let planned = planned(&facts, &study);
    let judgement = Judgement { planned, unfinished: !facts.finished, ..study.judgement().clone() };
    findings_by(file, facts, &judgement)
}

/// How many trials an unfinished run should have had for certain. What a device or a model cannot do is left out of a plan,
/// so that their trials are counted only where they are at hand.
fn planned(facts: &RunFacts, study: &Study) -> Option<u32> {
    let known = |system: &SystemSpec| !matches!(system.place, Place::Device { .. } | Place::Model { .. });
    if facts.finished || !study.systems().iter().all(known) {
        return None;
    }
    let plan = study::plan(study, &Survey::default(), facts.seed).ok()?;
    plan.searches.is_empty().then_some(plan.trials.len() as u32)
}

/// What is known of a run.
///
/// # Errors
/// When the file is damaged.
pub fn facts(file: &RunFile) -> Result<RunFacts, Failure> {
    // A run of an older version may hold the password of a URL.
    file.facts().map(passwords::left_out).map_err(|error| reading(file, &error))
}

/// Judges the run that `word` names again.
///
/// # Errors
/// When it is not found, or as [`findings`].
pub fn named(word: &str) -> Result<(RunFile, Findings), Failure> {
    let file = folder::open(word)?;
    let findings = findings(&file)?;
    Ok((file, findings))
}

/// Judges a run by a judgement that is given.
///
/// # Errors
/// When the file is damaged.
pub fn findings_by(file: &RunFile, facts: RunFacts, judgement: &Judgement) -> Result<Findings, Failure> {
    let trials = stored(file)?;
    let shown = trials.iter().filter_map(|trial| shown(file, trial, judgement).transpose());
    let summaries = shown.collect::<Result<_, Failure>>()?;
    let checks = file.checks().map_err(|error| reading(file, &error))?;
    Ok(analysis::judge(facts, summaries, judgement).with_checks(checks, &judgement.mirrored))
}

/// The study of a run, with the changes it was run with.
///
/// # Errors
/// When it is not a study that this version can read.
pub fn study_of(facts: &RunFacts) -> Result<Study, Failure> {
    study_with(facts, Overrides::default())
}

/// The same, with what a run that goes on is given anew: thresholds, a password, and which settings servers may be given.
///
/// # Errors
/// As [`study_of`], and when a threshold cannot be read.
pub fn study_with(facts: &RunFacts, anew: Overrides) -> Result<Study, Failure> {
    let overrides = Overrides {
        targets: facts.targets.clone(),
        settings: facts.settings.clone(),
        only: facts.only.clone(),
        ..anew
    };
    let read = Study::parse_run(&facts.study, &facts.study_text).and_then(|study| study.with(&overrides));
    read.map_err(|problems| {
        Failure::caused(format!("reading the study in the run `{}`", facts.id), &problems)
            .hint(format!("the run was made by Prony {}; open it with that version", facts.version))
    })
}

/// Every trial that ended as planned, reduced: what a resumed run need not run again.
///
/// # Errors
/// When the file is damaged.
pub fn summaries(file: &RunFile, judgement: &Judgement) -> Result<Vec<TrialSummary>, Failure> {
    let trials = stored(file)?;
    let finished = trials.iter().filter(|trial| trial.state == TrialState::Finished);
    finished.map(|trial| summary(file, &trial.label, judgement)).collect()
}

/// A trial that ended as planned, reduced.
///
/// # Errors
/// When the file is damaged.
pub fn summary(file: &RunFile, label: &TrialLabel, judgement: &Judgement) -> Result<TrialSummary, Failure> {
    let (observations, cells) = observed(file, label)?;
    analysis::summarise_from(label, &observations, &cells, judgement).map_err(|error| reading(file, &error))
}

/// A trial as it is shown: of an interrupted one the part that was finished, and nothing when there is none.
fn shown(file: &RunFile, trial: &StoredTrial, judgement: &Judgement) -> Result<Option<TrialSummary>, Failure> {
    if trial.state == TrialState::Finished {
        return summary(file, &trial.label, judgement).map(Some);
    }
    let (observations, cells) = observed(file, &trial.label)?;
    analysis::summarise_interrupted(&trial.label, &observations, &cells, judgement)
        .map_err(|error| reading(file, &error))
}

fn stored(file: &RunFile) -> Result<Vec<StoredTrial>, Failure> {
    file.trials().map_err(|error| reading(file, &error))
}

fn observed<'a>(file: &'a RunFile, label: &TrialLabel) -> Result<(Observations, StoredCells<'a>), Failure> {
    let both = file.observations(label.index).and_then(|seen| Ok((seen, file.cells(label.index)?)));
    both.map_err(|error| reading(file, &error))
}

fn reading(file: &RunFile, error: &(dyn Error + 'static)) -> Failure {
    Failure::caused(format!("reading the run `{}`", file.path().display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::CaveatKind;
    use observation::{
        Account, Asks, Cell, CellKey, ClassKind, Histogram, Observations, Provenance, StatePolicy, StreamLabel, Tally,
        Window,
    };
    use std::path::Path;
    use units::Nanos;

    const STUDY: &str = include_str!("../tests/it/lab.toml");

    fn label(index: u32) -> TrialLabel {
        let stream = StreamLabel {
            name: "reads".into(),
            workload: "reads".into(),
            asks: Asks::Operations,
            load: "closed, 32 outstanding".into(),
            slots: Some(32),
            think_mean: Nanos::ZERO,
            offered: None,
            classes: vec![("read".into(), ClassKind::Work)],
            gives: Vec::new(),
        };
        TrialLabel {
            index,
            experiment: "rates".into(),
            system: "lab".into(),
            replicate: index,
            block: index,
            factors: vec![],
            streams: vec![stream],
            state: StatePolicy::default(),
            search: None,
        }
    }

    fn cell(interval: u32) -> Cell {
        let times = Histogram::from_values(vec![1_000_000; 100]);
        Cell {
            key: CellKey { interval, ..CellKey::default() },
            service: times.clone(),
            response: times,
            tally: Tally { done: 100, bytes: 409_600, ..Tally::default() },
            ..Cell::default()
        }
    }

    fn planned() -> Observations {
        Observations {
            provenance: Provenance::Measured,
            window: Window { start: Nanos::from_secs(1), end: Nanos::from_secs(11) },
            interval: Nanos::from_secs(1),
            generators: 1,
            ..Observations::default()
        }
    }

    /// One trial that ended, one that was killed after so many intervals.
    fn killed(path: &Path, intervals: u32) {
        let facts = RunFacts { study: "lab".into(), study_text: STUDY.into(), ..RunFacts::default() };
        let mut file = RunFile::create(path, &facts, 1 << 16).expect("a new file");
        let whole: Vec<Cell> = (0..11).map(cell).collect();
        for (index, cells) in [(0, &whole[..]), (1, &whole[..intervals as usize])] {
            file.begin_trial(&label(index), &planned()).expect("begun");
            file.append_interval(index, cells, &[]).expect("appended");
            if index == 0 {
                let account = Account { planned: 1000, done: 1000, ..Account::default() };
                let rest = Observations { accounts: vec![account], ..planned() };
                file.finish_trial(index, &rest).expect("finished");
            }
        }
        // Nothing is closed: the process is gone.
        drop(file);
    }

    fn shown_after(intervals: u32) -> (Findings, Vec<TrialSummary>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.prony");
        killed(&path, intervals);
        let file = RunFile::open(&path).expect("it opens");
        let judgement = Study::parse("lab", STUDY).expect("a study").judgement().clone();
        let Ok(findings) = findings(&file) else { panic!("it is judged") };
        let Ok(summaries) = summaries(&file, &judgement) else { panic!("it is read") };
        (findings, summaries)
    }

    #[test]
    fn a_killed_trial_is_shown_in_part_and_is_not_among_those_that_need_no_repeat() {
        let (findings, summaries) = shown_after(4);
        let shown: Vec<(u32, bool)> = findings.trials.iter().map(|t| (t.label.index, t.interrupted)).collect();
        assert_eq!(shown, [(0, false), (1, true)]);
        let part = &findings.trials[1];
        assert_eq!(part.window, Window { start: Nanos::from_secs(1), end: Nanos::from_secs(4) });
        assert!((part.streams[0].throughput_per_s.value - 100.0).abs() < 1e-9);
        assert_eq!((part.streams[0].account.planned, part.streams[0].account.done), (300, 300));
        let text = &part.caveats.iter().find(|c| c.kind == CaveatKind::Unfinished).expect("the caveat").text;
        assert!(text.starts_with("this trial was interrupted after 3 s of the 10 s of its window"), "{text}");
        assert_eq!(findings.points.iter().map(|point| point.trials.clone()).collect::<Vec<_>>(), [[0]]);
        let kept: Vec<u32> = summaries.iter().map(|summary| summary.label.index).collect();
        assert_eq!(kept, [0]);
    }

    #[test]
    fn a_trial_that_was_killed_in_its_warm_up_is_only_counted() {
        let (findings, _) = shown_after(1);
        assert_eq!(findings.trials.len(), 1);
        assert!(findings.caveats.iter().any(|caveat| caveat.text.starts_with("only 1 of 2 planned trials ended")));
    }
}
