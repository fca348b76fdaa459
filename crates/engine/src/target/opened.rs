//! A system made ready: scratch files created, devices opened, or a script at hand.

use crate::OpenError;
use crate::database::databases::Databases;
use crate::hot::hung::Hung;
use crate::port::simulated::described::Described;
use crate::target::backing::{Backing, Need, Setting};
use crate::target::devices::Devices;
use crate::target::files::Files;
use crate::target::null::Null;
use crate::target::scripted::Scripted;
use crate::told::Happens;
use observation::{Fact, SystemFacts};
use recorder::WallClock;
use std::path::PathBuf;
use study::{Place, SystemSpec};
use system::Module;

/// A system that trials can run on. Dropping it removes the scratch files.
pub struct Opened {
    pub(crate) backing: Box<dyn Backing>,
    pub(crate) setting: Setting,
    /// The clock of this system's trials.
    pub(crate) clock: WallClock,
    keeps: bool,
    /// How the events of its trials are made; none where nothing can happen to it.
    pub happens: Option<Happens>,
    /// What hung in the trial before.
    pub(crate) hung: Vec<Hung>,
    /// What this system is, with its fingerprint.
    pub facts: SystemFacts,
}

impl Opened {
    /// Makes a system ready. Files are created here and removed on drop; a device is opened exclusively, and only with
    /// consent that fits its identity, or for reading only when it is not to be filled.
    ///
    /// # Errors
    /// When files cannot be made, a device is refused, or there are fewer modules than needed.
    pub fn open(spec: &SystemSpec, need: &Need<'_>) -> Result<Opened, OpenError> {
        crate::worker::thread::small_pages();
        let (mut backing, place): (Box<dyn Backing>, String) = match &spec.place {
            Place::Null => (Box::new(Null), "answers at once".to_owned()),
            Place::Scripted(script) => (Box::new(Scripted(script.clone())), "replies after scripted times".to_owned()),
            Place::Model { model, changes } => {
                let place = format!("{}, in virtual time", study::model_shown(model, changes));
                (Box::new(Described::fitting(spec, need)?), place)
            }
            Place::File { dirs } => (Box::new(Files::make(spec, dirs, need)?), study::folders_shown(dirs)),
            Place::Device { paths, fill } => (Box::new(Devices::open(spec, paths, *fill, need)?), paths.join(", ")),
            Place::Database(at) => {
                let (cache_dir, stop) = (need.cache_dir.to_path_buf(), need.stop.clone());
                (Box::new(Databases::new(&spec.name, at, need.data_set, cache_dir, stop)), at.placed())
            }
        };
        let (driver, mut fingerprint) = backing.facts()?;
        if need.module_bytes.0 > 0 && matches!(spec.place, Place::File { .. } | Place::Device { .. }) {
            let (key, value) = ("module.0.bytes".to_owned(), need.module_bytes.0.to_string());
            fingerprint.push(Fact { key, value, private: false });
        }
        let facts = SystemFacts {
            name: spec.name.clone(),
            kind: spec.place.word().to_owned(),
            place,
            modules: need.modules,
            driver,
            fingerprint,
            footprint: spec.footprint,
        };
        let Need { seed, module_bytes, filled, .. } = *need;
        let setting = Setting { system: spec.name.clone(), seed, module_bytes, filled, ..Setting::default() };
        Ok(Opened {
            backing,
            setting,
            clock: WallClock::new(),
            keeps: need.keep,
            happens: None,
            hung: Vec::new(),
            facts,
        })
    }

    /// Says how faults are made on the devices of a database's mirror and of its own, the mirror's first; none where there is no such device.
    pub fn on_devices(&mut self, devices: [Option<Happens>; 2]) {
        self.backing.on_devices(devices);
    }

    /// The same once more, for a trial beside another; none of a system that trials would share.
    pub fn twin(&self) -> Option<Opened> {
        let (setting, clock, facts) = (self.setting.clone(), self.clock.clone(), self.facts.clone());
        let (keeps, happens) = (self.keeps, self.happens.clone());
        Some(Opened { backing: self.backing.twin()?, setting, clock, keeps, happens, hung: Vec::new(), facts })
    }

    /// Scratch folders that stay behind, when that was asked for; none otherwise.
    pub fn kept(&self) -> Vec<PathBuf> {
        if self.keeps { self.backing.folders() } else { Vec::new() }
    }

    /// Whether time is simulated here.
    pub fn simulated(&self) -> bool {
        self.backing.simulated()
    }

    /// Whether the system is read as it was found: nothing can be written to it.
    pub(crate) fn read_only(&self) -> bool {
        self.backing.modules().iter().any(Module::read_only)
    }
}
