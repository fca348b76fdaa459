//! Servers of a trial that may use some of the machine's processors.
//!
//! The one idea: what is filled and checked is filled and checked with all of them, so that the quota stands from the end of the
//! preparation to the end of the load, and goes whatever becomes of the trial.

use crate::TrialError;
use crate::database::databases::Databases;
use probe::Quota;
use std::path::PathBuf;
use study::{At, Engine, Trial};

/// Quotas that go with it.
pub(crate) struct Held(Vec<Quota>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.iter().for_each(Quota::release);
    }
}

impl Databases {
    /// Holds the servers of a trial to the processors that it allows, and says so; `named` are the processes of the first and of its mirror.
    pub(crate) fn hold(&mut self, trial: &Trial, named: [Vec<u32>; 2]) -> Result<Option<String>, TrialError> {
        self.held = None;
        let folder = self.open().filter(|database| database.private().is_some()).and_then(|database| database.folder());
        let groups =
            folder.map(|folder| [folder.clone(), folder.join("mirror")].map(|folder: PathBuf| Quota::of(&folder)));
        let Some(cores) = trial.state.cores.filter(|_| self.spec.engine != Engine::Null) else {
            // A run that was killed leaves its groups.
            let left = groups.into_iter().flatten().flatten().filter(|quota| quota.cores().is_some());
            left.for_each(|quota| quota.release());
            return Ok(None);
        };
        let unheld = |why: String| {
            let what = format!("hold its servers to {cores} cores: {why}; run as root, or leave `cores` out");
            TrialError::Unsupported { system: self.spec.shown(), what }
        };
        let groups = groups.filter(|_| self.spec.at == At::Local).and_then(|[first, mirror]| Some([first?, mirror?]));
        let none = || unheld(Quota::refused().unwrap_or_else(|| "it is no server that Prony starts".to_owned()));
        let held = Held(groups.ok_or_else(none)?.into());
        for (quota, processes) in held.0.iter().zip(named) {
            for process in processes {
                quota.set(cores, process).map_err(|error| unheld(format!("no control group can be made: {error}")))?;
            }
        }
        self.held = Some(held);
        Ok(Some(format!("each server was held to {cores} processors by a control group until the load had ended")))
    }
}
