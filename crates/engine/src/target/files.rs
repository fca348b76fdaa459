//! Scratch files in folders.

use crate::port::files::FileDriver;
use crate::target::backing::{Backing, Facts, Real, Setting, Time};
use crate::target::modules::{self, Watched};
use crate::target::need::Need;
use crate::worker::assign::{self, Carriers, StreamOf, streams};
use crate::worker::run::Driver;
use crate::{OpenError, TrialError};
use std::path::{Path, PathBuf};
use study::{SystemSpec, Trial};
use system::Module;
use system::file::{Scratch, ScratchSpec};
use workload::files;

pub(crate) struct Files(Scratch);

impl Files {
    /// Makes the files. File work makes files of its own: it needs the folders, and modules of no size are none.
    ///
    /// # Errors
    /// When they cannot be made.
    pub(crate) fn make(spec: &SystemSpec, dirs: &[String], need: &Need<'_>) -> Result<Files, OpenError> {
        let dirs: Vec<PathBuf> = dirs.iter().map(PathBuf::from).collect();
        let modules = if need.module_bytes.0 == 0 { 0 } else { need.modules };
        let scratch = ScratchSpec { dirs: &dirs, run_id: need.run_id, modules, size: need.module_bytes };
        let mut made =
            Scratch::create(&scratch).map_err(|source| OpenError::Scratch { system: spec.name.clone(), source })?;
        if need.keep {
            made.keep();
        }
        Ok(Files(made))
    }

    /// One worker for each copy of the loop.
    fn copies<'a>(&self, stream: StreamOf<'a>, spec: &'a files::Spec, seed: u64) -> Carriers<'a, Box<dyn Driver>> {
        let folders = self.folders();
        let direct = stream.stream().access.direct;
        let each = move |place: assign::Place| {
            let folder = folders[place.worker as usize % folders.len()].clone();
            let copy = FileDriver { spec: *spec, copy: place.worker, worker: place.number, folder, seed, direct };
            Ok(Box::new(copy) as Box<dyn Driver>)
        };
        Carriers { workers: spec.width, each: Box::new(each) }
    }
}

impl Backing for Files {
    fn time(&self) -> Time<'_> {
        Time::Real(self)
    }

    fn facts(&mut self) -> Result<Facts, OpenError> {
        Ok(modules::facts(&self.places()))
    }

    fn modules(&self) -> &[Module] {
        self.0.modules()
    }

    fn modules_mut(&mut self) -> &mut [Module] {
        self.0.modules_mut()
    }

    fn folders(&self) -> Vec<PathBuf> {
        self.0.folders().map(Path::to_path_buf).collect()
    }
}

impl Real for Files {
    fn carriers<'a>(
        &'a self,
        trial: &'a Trial,
        setting: &'a Setting,
    ) -> Result<Vec<Carriers<'a, Box<dyn Driver>>>, TrialError> {
        let watched = Watched::new(self.modules(), trial, setting)?;
        let carriers = streams(trial).map(|stream| match assign::files(stream.stream()) {
            Some(spec) => Ok(self.copies(stream, spec, setting.seed)),
            None => watched.carriers(stream),
        });
        carriers.collect()
    }
}
