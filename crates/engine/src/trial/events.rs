//! Events of a trial on devices that run in real time.
//!
//! The one idea: what happened ends with the window, so that what is still under way ends, and the next trial finds the device as
//! this one did.

use crate::TrialError;
use crate::target::opened::Opened;
use study::Trial;
use units::Nanos;
use workload::happening::{Fault, Happening};

/// Has something happen at this moment of the trial.
pub(crate) fn make(opened: &Opened, at: Nanos, what: Happening) -> Result<(), TrialError> {
    let nobody = || Err(std::io::ErrorKind::Unsupported.into());
    let made = match what {
        Happening::Pair(mishap) => opened.backing.mishap(at, Some(mishap)),
        what => opened.happens.as_ref().map_or_else(nobody, |happens| happens(what)),
    };
    made.map_err(|source| {
        let system = opened.setting.system.clone();
        TrialError::Event { event: what.to_string(), system, source }
    })
}

/// Ends all that happened in a trial.
pub(crate) fn put_right(opened: &Opened, trial: &Trial) -> Result<(), TrialError> {
    if trial.events.is_empty() || opened.simulated() {
        return Ok(());
    }
    if trial.events.iter().all(|(_, what)| matches!(what, Happening::Pair(_))) {
        // Nobody is asked for what nobody did.
        return opened.backing.mishap(Nanos::ZERO, None).or(Ok(()));
    }
    let faults = [Fault::PowerOn, Fault::None].into_iter();
    faults.map(Happening::Fault).try_for_each(|fault| make(opened, Nanos::ZERO, fault))
}
