//! `prony db check --ledger RUN`: what a run had acknowledged, held against the data at any later time.
//!
//! The one idea: a run file keeps what its trials were told of, so that nobody has to be there when a server comes back. The
//! trials are planned again from the study in the file, and each ledger goes to the data set that its trial asked.

use crate::args::{Changes, DbCheck};
use crate::failure::Failure;
use crate::{folder, judged, output, run, study_file};
use database::DataSet;
use database::dataset::CheckOutcome;
use observation::{CheckResult, Ledger};
use recorder::{Clock, WallClock};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use store::RunFile;
use study::{DatabaseSpec, Overrides, Stream, Study, Trial, Work};
use workload::kind::Transactions;

/// A data set of a run, with all that its trials know of acknowledged work on it since it was last brought back.
struct Told {
    spec: DatabaseSpec,
    set: DataSet,
    asked: Arc<dyn Transactions>,
    ledgers: Vec<Ledger>,
    /// Whether its data went with a mirror that had taken over.
    lost: bool,
}

/// Holds all ledgers of a run against the data.
///
/// # Errors
/// When the file has none, or a database cannot be asked.
pub(super) fn check(word: &str, asked: &DbCheck, stop: &Arc<AtomicBool>) -> Result<Vec<super::Checked>, Failure> {
    if !asked.changes.set.is_empty() {
        return Err(Failure::new("reading the options: the run says which data set is meant, got --set with --ledger"));
    }
    let file = folder::open(word)?;
    let told = still_there(&file, told(&file, &asked.changes)?)?;
    if told.is_empty() {
        let what = format!("reading the run `{}`: a ledger of acknowledged work, got none", file.path().display());
        return Err(Failure::new(what).hint(
            "a trial keeps its ledger when it ends: a run that was killed in mid trial has none of that trial; nor has one of an \
             older version, or with `check = false`",
        ));
    }
    told.iter().map(|told| hold(told, stop)).collect()
}

/// Those whose data are not gone with a mirror that had taken over; the others are told.
fn still_there(file: &RunFile, told: Vec<Told>) -> Result<Vec<Told>, Failure> {
    let (lost, there): (Vec<Told>, Vec<Told>) = told.into_iter().partition(|told| told.lost);
    for Told { set, .. } in &lost {
        output::note_line(&format!("{} is not held against the run: {}", set.name(), engine::STARTED_AS_LOST));
    }
    if lost.is_empty() || !there.is_empty() {
        return Ok(there);
    }
    let what = "against its data: the server has no longer what it acknowledged";
    Err(Failure::new(format!("holding the run `{}` {what}", file.path().display()))
        .hint("the run held it against the data while the mirror was there, and `prony show` has what that found"))
}

fn hold(told: &Told, stop: &Arc<AtomicBool>) -> Result<super::Checked, Failure> {
    let Told { spec, set, asked, ledgers, .. } = told;
    let mut checked = super::check_one(spec, set.clone(), stop)?;
    let doing =
        |error| super::failed(format!("holding the ledger against {} in `{}`", set.name(), spec.shown()), &error);
    let database = super::Opened(super::open(spec, Some(set.clone()), Vec::new(), stop.clone())?);
    let clock = WallClock::new();
    let now = || Duration::from_nanos(clock.now().0);
    for ledger in ledgers {
        let held = engine::hold_ledger(database.as_ref(), asked.as_ref(), ledger, &now).map_err(doing)?;
        checked.outcomes.extend(held.into_iter().map(|check| {
            let passed = check.result == CheckResult::Passed;
            CheckOutcome {
                name: check.name,
                says: if passed { check.found.clone() } else { check.says },
                passed,
                violations: if passed { Vec::new() } else { check.found.lines().map(str::to_owned).collect() },
                took: Duration::from_secs_f64(check.took_s),
            }
        }));
    }
    Ok(checked)
}

/// The ledgers of a run by data set.
fn told(file: &RunFile, changes: &Changes) -> Result<Vec<Told>, Failure> {
    let facts = judged::facts(file)?;
    let anew = Overrides { targets: Vec::new(), ..study_file::overrides_or_fail(changes, &[])? };
    let elsewhere = changes.on.first().map(|text| super::target(text)).transpose()?;
    let elsewhere = elsewhere.map(|spec| spec.with_password_of(&anew.passwords));
    let study = judged::study_with(&facts, anew)?;
    let mut all: Vec<Told> = Vec::new();
    for trial in trials(file, &facts, &study)? {
        let of_run = super::databases(&study).find(|(name, _)| *name == trial.label.system);
        let Some(spec) = elsewhere.clone().or_else(|| of_run.map(|(_, spec)| spec.clone())) else { continue };
        let transactions = |stream: &Stream| match &stream.work {
            Work::Transactions { asked, .. } => Some(asked.clone()),
            Work::Operations(_) => None,
        };
        let Some(asked) = trial.streams.iter().find_map(transactions) else { continue };
        let Some(set) = engine::data_set(asked.as_ref(), &spec) else { continue };
        let reading = |error| Failure::caused(format!("reading the run `{}`", file.path().display()), &error);
        let ledgers = file.ledgers(trial.label.index).map_err(reading)?;
        if ledgers.is_empty() {
            continue;
        }
        let place = all.iter().position(|told| told.set == set && told.spec == spec).unwrap_or_else(|| {
            all.push(Told { spec, set, asked: asked.clone(), ledgers: Vec::new(), lost: false });
            all.len() - 1
        });
        // What counts work is right only until the next trial adds some; what knows each piece of it stays right until the data
        // is brought back.
        let lasts = |ledger: &Ledger| ledger.counts.is_empty() && !trial.state.restore;
        all[place].ledgers.retain(lasts);
        all[place]
            .ledgers
            .extend(ledgers.into_iter().rev().enumerate().filter(|(n, one)| *n == 0 || lasts(one)).map(|(_, one)| one));
        let events = file.observations(trial.label.index).map_err(reading)?.events;
        let gone = elsewhere.is_none() && events.iter().any(|event| event.text == engine::STARTED_AS_LOST);
        // On data that were not brought back since, older work is missing, too.
        all[place].lost = gone || all[place].lost && !trial.state.restore;
        all[place].asked = asked;
    }
    Ok(all)
}

/// The trials of a file that were begun, planned again; the one that was cut off comes last.
fn trials(file: &RunFile, facts: &observation::RunFacts, study: &Study) -> Result<Vec<Trial>, Failure> {
    let plan = run::plan(&facts.study, study, facts.seed)?;
    Ok(run::trials_again(plan, &judged::summaries(file, study.judgement())?))
}
