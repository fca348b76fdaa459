//! One trial from state to observations.

use crate::TrialError;
use crate::hot::drive::Driven;
use crate::observer::{Observer, Phase};
use crate::target::backing::{Asked, Carried, Ended, Simulation, remark};
use crate::target::opened::Opened;
use crate::trial::coordinator::{self, Watchers};
use crate::trial::outcome::Outcome;
use crate::trial::state;
use crate::worker::assign::{streams, window};
use observation::{Observations, Provenance};
use recorder::{Clock, Collector};
use std::sync::atomic::AtomicBool;
use study::Trial;
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
    let remarks = state::prepare(opened, trial, observer, stop)?;
    if opened.simulated() {
        observer.phase(trial, Phase::Measure, window(trial).end);
    }
    let mut collector = Collector::default();
    let asked = Asked { trial, setting: &opened.setting, collector: &mut collector, stop };
    let mut outcome = match opened.backing.carry(asked)? {
        Carried::Simulated(simulation) => simulated(opened, trial, simulation, &mut collector, observer)?,
        Carried::Workers(shares) => {
            let watchers = Watchers { observer: &mut *observer, stop, enough: &mut |_| false };
            let (outcome, ended) = coordinator::run(opened, trial, shares, collector, watchers);
            look_back(opened, trial, outcome, ended, observer)?
        }
    };
    if trial.phases.fixed_work {
        same_work(trial, &outcome)?;
    }
    let of_generator = outcome.of_generator();
    outcome.show(trial, &[], of_generator, observer);
    Ok(observations(opened, trial, outcome, remarks))
}

/// A trial in virtual time is over when anybody looks: all that it came to is shown at once.
fn simulated(
    opened: &Opened,
    trial: &Trial,
    simulation: Simulation,
    collector: &mut Collector,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrialError> {
    let Simulation { driven, home, told } = simulation;
    let mut outcome = Outcome::new(trial, home.len() as u16);
    home.into_iter().try_for_each(|home| outcome.welcome(home))?;
    let mut cells = Vec::new();
    collector.collect(&mut cells);
    if !matches!(driven, Driven::Finished { .. }) {
        // The newest interval was cut short, and only whole ones are kept.
        let newest = cells.iter().map(|cell| cell.key.interval).max();
        cells.retain(|cell| Some(cell.key.interval) < newest);
    }
    outcome.show(trial, &cells, Vec::new(), observer);
    outcome.hear(trial, told, observer);
    if matches!(driven, Driven::Stopped) {
        return Err(TrialError::Stopped);
    }
    let done = outcome.seen.accounts.iter().map(|account| account.done).sum();
    outcome.check_gone(opened, done)?;
    Ok(outcome)
}

/// A trial ends with a look at what its load left behind; so does one whose system went away.
fn look_back(
    opened: &mut Opened,
    trial: &Trial,
    mut outcome: Outcome,
    ended: Result<(), TrialError>,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrialError> {
    let transactions = std::mem::take(&mut outcome.transactions);
    let after = Ended { trial, clock: &opened.clock, transactions: &transactions, at: outcome.ended };
    match ended {
        Ok(()) => {
            let told = opened.backing.look_back(after, observer)?;
            outcome.hear(trial, told, observer);
            Ok(outcome)
        }
        Err(gone @ TrialError::Gone { .. }) => Err(opened.backing.outage(gone, after, observer)),
        Err(error) => Err(error),
    }
}

/// Fixed work compares only when it is the same everywhere: every step that was planned must have been done.
fn same_work(trial: &Trial, outcome: &Outcome) -> Result<(), TrialError> {
    for (stream, account) in streams(trial).zip(&outcome.seen.accounts) {
        let planned = stream.operations().unwrap_or(account.planned);
        if account.done != planned && stream.stream().files().is_some() {
            return Err(TrialError::WorkDiffers { stream: stream.name(), done: account.done, planned });
        }
    }
    Ok(())
}

fn observations(opened: &Opened, trial: &Trial, outcome: Outcome, remarks: Vec<String>) -> Observations {
    let Outcome { mut seen, started_unix_ns, ended, .. } = outcome;
    let mut window = window(trial);
    if trial.phases.fixed_work {
        window.end = round_up(ended, trial.phases.interval).clamp(window.start, window.end);
        // Slots fall idle one by one at the end of fixed work, so there is no population to hold Little's law against.
        seen.accounts.iter_mut().for_each(|account| account.slots_ns = 0);
        seen.elapsed_s = Some(ended.saturating_sub(window.start).seconds());
    }
    seen.events.splice(0..0, remarks.into_iter().map(remark));
    let now = || opened.clock.unix_start_ns() + opened.clock.now().0 as i64;
    Observations {
        provenance: if opened.simulated() { Provenance::Simulated } else { Provenance::Measured },
        started_unix_ns: started_unix_ns.unwrap_or_else(now),
        window,
        interval: trial.phases.interval,
        endpoints: (0..trial.modules.max(1)).map(|module| format!("module {module}")).collect(),
        ..seen
    }
}

fn round_up(at: Nanos, interval: Nanos) -> Nanos {
    Nanos(at.0.div_ceil(interval.0.max(1)) * interval.0.max(1))
}
