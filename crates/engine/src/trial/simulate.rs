//! A trial in virtual time: all streams share one port, because they share one system and one time.

use crate::TrialError;
use crate::hot::drive::Driven;
use crate::observer::{Observer, Phase};
use crate::target::backing::{Simulated, Simulation};
use crate::target::opened::Opened;
use crate::trial::outcome::Outcome;
use recorder::Collector;
use std::sync::atomic::AtomicBool;
use study::Trial;

/// Runs a trial's streams over the time of a simulated system.
///
/// # Errors
/// When a stream does not fit, when the simulation is wrong, or when it was told to stop.
pub(crate) fn run(
    opened: &Opened,
    simulated: &dyn Simulated,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Outcome, TrialError> {
    observer.phase(trial, Phase::Measure, trial.phases.warm_up + trial.phases.measure);
    let mut collector = Collector::default();
    let Simulation { driven, home, told } = simulated.run(trial, &opened.setting, &mut collector, stop)?;
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
    let done = outcome.accounts.iter().map(|account| account.done).sum();
    outcome.check_gone(opened, done)?;
    Ok(outcome)
}
