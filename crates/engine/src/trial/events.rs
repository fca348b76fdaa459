//! Events of a trial on devices that run in real time.
//!
//! The one idea: what happened ends with the window, so that what is still under way ends, and the next trial finds the device as
//! this one did.

use crate::TrialError;
use crate::target::opened::Opened;
use study::Trial;
use workload::happening::{Fault, Happening};

/// Has something happen.
pub(crate) fn make(opened: &Opened, what: Happening) -> Result<(), TrialError> {
    let nobody = || Err(std::io::ErrorKind::Unsupported.into());
    opened.happens.as_ref().map_or_else(nobody, |happens| happens(what)).map_err(|source| {
        let system = opened.setting.system.clone();
        TrialError::Event { event: what.to_string(), system, source }
    })
}

/// Ends all that happened in a trial.
pub(crate) fn put_right(opened: &Opened, trial: &Trial) -> Result<(), TrialError> {
    if trial.events.is_empty() || opened.simulated() {
        return Ok(());
    }
    [Fault::PowerOn, Fault::None].into_iter().try_for_each(|fault| make(opened, Happening::Fault(fault)))
}
