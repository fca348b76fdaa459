//! Scratch files in folders.

use crate::port::files::{self, FileWork};
use crate::target::backing::{Asked, Backing, Carried, Need};
use crate::target::modules::{self, Modules};
use crate::worker::assign::{Carriers, Place, StreamOf, assign};
use crate::worker::run::Driver;
use crate::{OpenError, TrialError};
use observation::Fact;
use std::path::{Path, PathBuf};
use study::{Folder, SystemSpec};
use system::Module;
use system::file::{Scratch, ScratchSpec};

pub(crate) struct Files(Scratch);

impl Files {
    /// Makes the files, in folders that are there: whoever opens the system has mounted what is not. File work makes files of its
    /// own: it needs the folders, and modules of no size are none.
    pub(crate) fn make(spec: &SystemSpec, dirs: &[Folder], need: &Need<'_>) -> Result<Files, OpenError> {
        let dirs: Vec<PathBuf> = dirs.iter().map(|folder| PathBuf::from(&folder.path)).collect();
        let modules = if need.module_bytes.0 == 0 { 0 } else { need.modules };
        let scratch = ScratchSpec { dirs: &dirs, run_id: need.run_id, modules, size: need.module_bytes };
        let mut made =
            Scratch::create(&scratch).map_err(|source| OpenError::Scratch { system: spec.name.clone(), source })?;
        if need.keep {
            made.keep();
        }
        Ok(Files(made))
    }

    /// One worker for each copy of the loop over whole files.
    fn copies<'a>(&self, stream: StreamOf<'a>, spec: workload::files::Spec, seed: u64) -> Carriers<'a, Driver> {
        let folders = self.folders();
        let direct = stream.stream().operations().is_some_and(|operations| operations.access.direct);
        Carriers::new(spec.width, move |Place { worker, number, .. }| {
            let folder = folders[worker as usize % folders.len()].clone();
            let work = FileWork { spec, copy: worker, worker: number, folder, seed, direct };
            let driver: Driver = Box::new(move |share, start| files::drive(work, share, start));
            Ok(driver)
        })
    }
}

impl Backing for Files {
    fn carry(&self, asked: Asked<'_>) -> Result<Carried, TrialError> {
        let Asked { trial, setting, collector, .. } = asked;
        let modules = Modules::of(self.modules(), trial, setting);
        let shares = assign(trial, collector, |stream| match stream.stream().files() {
            Some(spec) => Ok(self.copies(stream, *spec, setting.seed)),
            None => modules.carriers(stream),
        });
        shares.map(Carried::Workers)
    }

    fn facts(&mut self) -> Result<(String, Vec<Fact>), OpenError> {
        Ok((modules::driver(), probe::fingerprint(&self.places())))
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
