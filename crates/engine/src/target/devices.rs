//! Block devices.

use crate::target::backing::{Backing, Facts, Real, Setting, Time};
use crate::target::modules::{self, Watched};
use crate::target::need::Need;
use crate::worker::assign::{Carriers, files, streams};
use crate::worker::run::Driver;
use crate::{OpenError, TrialError};
use std::path::Path;
use study::{SystemSpec, Trial};
use system::Module;

pub(crate) struct Devices(Vec<Module>);

impl Devices {
    /// Opens as many as are needed, exclusively: with a consent that fits the identity of each, or for reading only when
    /// they are not to be filled.
    ///
    /// # Errors
    /// When there are too few, or one is refused.
    pub(crate) fn open(spec: &SystemSpec, paths: &[String], fill: bool, need: &Need<'_>) -> Result<Devices, OpenError> {
        let has = paths.len() as u32;
        if has < need.modules {
            return Err(OpenError::TooFewModules { system: spec.name.clone(), has, need: need.modules });
        }
        let open = |path: &String| {
            let at = Path::new(path);
            let opened =
                if fill { system::device::open(at, need.consents) } else { system::device::open_read_only(at) };
            opened.map_err(|source| OpenError::Device { system: spec.name.clone(), path: path.clone(), source })
        };
        paths.iter().take(need.modules as usize).map(open).collect::<Result<_, _>>().map(Devices)
    }
}

impl Backing for Devices {
    fn time(&self) -> Time<'_> {
        Time::Real(self)
    }

    fn facts(&mut self) -> Result<Facts, OpenError> {
        Ok(modules::facts(&self.places()))
    }

    fn modules(&self) -> &[Module] {
        &self.0
    }

    fn modules_mut(&mut self) -> &mut [Module] {
        &mut self.0
    }
}

impl Real for Devices {
    fn carriers<'a>(
        &'a self,
        trial: &'a Trial,
        setting: &'a Setting,
    ) -> Result<Vec<Carriers<'a, Box<dyn Driver>>>, TrialError> {
        let watched = Watched::new(&self.0, trial, setting)?;
        let carriers = streams(trial).map(|stream| match files(stream.stream()) {
            Some(_) => Err(stream.unsupported("run file work: it has no folder")),
            None => watched.carriers(stream),
        });
        carriers.collect()
    }
}
