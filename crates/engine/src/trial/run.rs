//! One trial from state to observations.

use crate::TrialError;
use crate::database::checks;
use crate::database::costs;
use crate::database::databases::Databases;
use crate::database::levels;
use crate::database::profile::Profile;
use crate::target::opened::{Backing, Opened};
use crate::trial::assign;
use crate::trial::coordinator::{self, Haul};
use crate::trial::observer::Observer;
use crate::trial::simulate;
use crate::trial::state::{self, Prepared};
use observation::{Event, EventKind, Observations, Provenance, Window};
use recorder::Clock;
use std::sync::atomic::AtomicBool;
use study::{Trial, Workload};
use units::Nanos;

/// Runs one trial: brings the system into its state, loads it, and returns what was seen. Finished intervals go to the
/// observer as they come, so that a trial which ends early leaves them behind; what the observer keeps is not returned
/// again.
///
/// # Errors
/// [`TrialError::Stopped`] when `stop` was set, and whatever kept the trial from ending.
pub fn run_trial(
    opened: &mut Opened,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Observations, TrialError> {
    let prepared = state::prepare(opened, trial, observer, stop)?;
    let haul = match &opened.backing {
        Backing::Scripted(script) => simulate::scripted(opened, script, trial, observer, stop)?,
        Backing::Model(described) => simulate::model(opened, described, trial, observer, stop)?,
        Backing::Database(_) => return on_database(opened, trial, observer, stop, prepared),
        _ => coordinator::run(opened, trial, observer, stop, &mut |_| false, &mut Vec::new())?,
    };
    if trial.phases.fixed_work {
        same_work(trial, &haul)?;
    }
    Ok(observations(opened, trial, haul, prepared))
}

/// A trial of transactions ends with a look at the data. When the server goes away, a private one is started again, and
/// what it kept is held against the ledger before the trial is given up.
fn on_database(
    opened: &mut Opened,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
    prepared: Prepared,
) -> Result<Observations, TrialError> {
    let mut works = Vec::new();
    let before = match &opened.backing {
        Backing::Database(databases) => databases.statement_costs(),
        _ => Ok(Vec::new()),
    };
    let result = coordinator::run(opened, trial, observer, stop, &mut |_| false, &mut works);
    let clock = opened.clock.clone();
    let Backing::Database(databases) = &mut opened.backing else { return Err(TrialError::Stopped) };
    match result {
        Ok(mut haul) => {
            let profile = Profile::joined(works.iter().map(|work| &work.profile));
            let mut asked = profile.series(haul.ended);
            match before.and_then(|before| Ok((before, databases.statement_costs()?))) {
                Ok((before, after)) => {
                    let found = costs::series(&profile, &before, &after, haul.ended);
                    // What a server counts with a prepared statement goes when that is closed.
                    if found.is_empty() && !after.is_empty() {
                        let why =
                            "this server counted none of these texts; protocol = \"prepared\" or \"simple\" may help";
                        haul.events.push(remark(format!("costs of statements are not known: {why}")));
                    }
                    asked.extend(found);
                }
                Err(missing) => haul.events.push(remark(format!("costs of statements are not known: {missing}"))),
            }
            asked.extend(levels::series(databases, haul.ended));
            if observer.keeps() {
                observer.interval(trial, &[], &asked);
            } else {
                haul.series.extend(asked);
            }
            haul.events.extend(checks::check(databases, trial, &works, observer, &clock)?);
            Ok(observations(opened, trial, haul, prepared))
        }
        Err(gone @ TrialError::Gone { .. }) => {
            let gone = databases.explained(gone);
            observer.note(Some(trial), &format!("{gone}; looking at what it kept"));
            let looked = databases.reopen().and_then(|()| checks::check(databases, trial, &works, observer, &clock));
            match looked {
                Ok(events) => events
                    .iter()
                    .for_each(|event| observer.note(Some(trial), &format!("after the outage: {}", event.text))),
                // What ended the trial is the one to tell; this follows from it.
                Err(error) => {
                    observer.note(Some(trial), &format!("after the outage: no look at the data: {}", whole(&error)));
                    return Err(Databases::explained_by(gone, &error));
                }
            }
            Err(gone)
        }
        Err(error) => Err(error),
    }
}

/// An error with its causes, on one line.
fn whole(error: &TrialError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Fixed work compares only when it is the same everywhere: every step that was planned must have been done.
fn same_work(trial: &Trial, haul: &Haul) -> Result<(), TrialError> {
    for (index, stream) in trial.streams.iter().enumerate() {
        let account = haul.accounts[index];
        let planned = assign::operations(stream).unwrap_or(account.planned);
        if account.done != planned && matches!(stream.workload, Workload::Files(_)) {
            let stream = trial.label.streams[index].name.clone();
            return Err(TrialError::WorkDiffers { stream, done: account.done, planned });
        }
    }
    Ok(())
}

fn observations(opened: &Opened, trial: &Trial, haul: Haul, prepared: Prepared) -> Observations {
    let fixed = trial.phases.fixed_work;
    let mut window = assign::window(trial);
    if fixed {
        window.end = round_up(haul.ended, trial.phases.interval).clamp(window.start, window.end);
    }
    let mut accounts = haul.accounts;
    if fixed {
        // Slots fall idle one by one at the end of fixed work, so there is no population to hold Little's law against.
        accounts.iter_mut().for_each(|account| account.slots_ns = 0);
    }
    let mut events: Vec<Event> = prepared.remarks.into_iter().map(remark).collect();
    events.extend(haul.events);
    let started_unix_ns = match haul.started_unix_ns {
        0 => opened.clock.unix_start_ns() + opened.clock.now().0 as i64,
        known => known,
    };
    Observations {
        provenance: if opened.simulated() { Provenance::Simulated } else { Provenance::Measured },
        started_unix_ns,
        window: Window { start: window.start, end: window.end },
        interval: trial.phases.interval,
        endpoints: (0..trial.modules.max(1)).map(|module| format!("module {module}")).collect(),
        generators: haul.generators,
        cells: haul.cells,
        accounts,
        generator_cpu: haul.generator_cpu,
        elapsed_s: fixed.then(|| haul.ended.saturating_sub(window.start).seconds()),
        validated_reads: haul.validated,
        series: haul.series,
        events,
    }
}

fn remark(text: String) -> Event {
    Event { at: Nanos::ZERO, kind: EventKind::Note, text }
}

fn round_up(at: Nanos, interval: Nanos) -> Nanos {
    Nanos(at.0.div_ceil(interval.0.max(1)) * interval.0.max(1))
}
