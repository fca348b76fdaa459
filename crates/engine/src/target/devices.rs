//! Block devices.

use crate::target::backing::{Asked, Backing, Carried, Need};
use crate::target::modules::{self, Modules};
use crate::worker::assign::assign;
use crate::{OpenError, TrialError};
use observation::Fact;
use std::path::Path;
use study::SystemSpec;
use system::Module;

pub(crate) struct Devices(Vec<Module>);

impl Devices {
    /// Opens as many as are needed, exclusively: with a consent that fits the identity of each, or for reading only when
    /// they are not to be filled.
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
    fn carry(&self, asked: Asked<'_>) -> Result<Carried, TrialError> {
        let Asked { trial, setting, collector, .. } = asked;
        let modules = Modules::of(&self.0, trial, setting);
        let shares = assign(trial, collector, |stream| match stream.stream().files() {
            Some(_) => Err(stream.unsupported("run file work: it has no folder")),
            None => modules.carriers(stream),
        });
        shares.map(Carried::Workers)
    }

    fn facts(&mut self) -> Result<(String, Vec<Fact>), OpenError> {
        Ok((modules::driver(), probe::fingerprint(&self.places())))
    }

    fn modules(&self) -> &[Module] {
        &self.0
    }

    fn modules_mut(&mut self) -> &mut [Module] {
        &mut self.0
    }
}
