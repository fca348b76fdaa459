//! A system made ready: scratch files created, devices opened, or a script at hand.

use crate::OpenError;
use crate::databases::Databases;
use crate::described::Described;
use observation::{Fact, SystemFacts, URING_REFUSED};
use recorder::WallClock;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Place, ScriptSpec, SystemSpec};
use system::Module;
use system::file::{Scratch, ScratchSpec};
use units::Bytes;

/// What the plan needs of a system.
#[derive(Clone, Debug)]
pub struct Need<'a> {
    /// The largest number of modules that any trial uses; 0 when only folders are needed (`files`).
    pub modules: u32,
    /// Size of each module.
    pub module_bytes: Bytes,
    /// The run, for the names of scratch folders.
    pub run_id: &'a str,
    /// Seed of the run; part of every stamp.
    pub seed: u64,
    /// Leave scratch files behind, and name them.
    pub keep: bool,
    /// Consents to destroy what devices hold.
    pub consents: &'a [system::consent::Consent],
    /// Where data sets and private servers of databases are kept.
    pub cache_dir: &'a Path,
    /// The description of a model, read by whoever may open files; none for every other kind.
    pub model: Option<&'a Described>,
    /// Ends every wait for a database when it becomes true.
    pub stop: &'a Arc<AtomicBool>,
}

/// A system that trials can run on. Dropping it removes the scratch files.
pub struct Opened {
    pub(crate) name: String,
    pub(crate) backing: Backing,
    pub(crate) seed: u64,
    /// Size of each module of a system without data.
    pub(crate) module_bytes: Bytes,
    /// Counts fills and trials: the upper half of every generation, so that what an earlier one left is older.
    pub(crate) epoch: u32,
    /// The clock of this system's trials.
    pub(crate) clock: WallClock,
    keeps: bool,
    facts: SystemFacts,
}

/// What stands behind a system.
pub(crate) enum Backing {
    /// Nothing.
    Null,
    /// A script on a simulated clock.
    Scripted(ScriptSpec),
    /// A described machine in virtual time.
    Model(Box<Described>),
    /// Scratch files.
    Files(Scratch),
    /// Block devices.
    Devices(Vec<Module>),
    /// A database.
    Database(Box<Databases>),
}

impl Opened {
    /// Makes a system ready. Files are created here and removed on drop; a device is opened exclusively, and only with
    /// consent that fits its identity, or for reading only when it is not to be filled.
    ///
    /// # Errors
    /// When files cannot be made, a device is refused, or there are fewer modules than needed.
    pub fn open(spec: &SystemSpec, need: &Need<'_>) -> Result<Opened, OpenError> {
        crate::thread::small_pages();
        let backing = match &spec.place {
            Place::Null => Backing::Null,
            Place::Scripted(script) => Backing::Scripted(script.clone()),
            Place::Model { .. } => Backing::Model(Box::new(described(spec, need)?)),
            Place::File { dirs } => Backing::Files(make_files(spec, dirs, need)?),
            Place::Device { paths, fill } => Backing::Devices(open_devices(spec, paths, *fill, need)?),
            Place::Database(at) => {
                let (cache_dir, stop) = (need.cache_dir.to_path_buf(), need.stop.clone());
                Backing::Database(Box::new(Databases::new(&spec.name, at, cache_dir, stop)))
            }
        };
        let mut opened = Opened {
            name: spec.name.clone(),
            backing,
            seed: need.seed,
            module_bytes: need.module_bytes,
            epoch: 0,
            keeps: need.keep,
            clock: WallClock::new(),
            facts: SystemFacts::default(),
        };
        opened.facts = opened.gather_facts(spec, need);
        opened.add_database_facts()?;
        Ok(opened)
    }

    /// The same once more, for a trial beside another; none of a system that trials would share.
    pub fn twin(&self) -> Option<Opened> {
        let Backing::Model(described) = &self.backing else { return None };
        Some(Opened {
            name: self.name.clone(),
            backing: Backing::Model(described.clone()),
            seed: self.seed,
            module_bytes: self.module_bytes,
            epoch: self.epoch,
            clock: self.clock.clone(),
            keeps: self.keeps,
            facts: self.facts.clone(),
        })
    }

    /// What this system is, with its fingerprint.
    pub fn facts(&self) -> &SystemFacts {
        &self.facts
    }

    /// Scratch folders that stay behind, when that was asked for; none otherwise.
    pub fn kept(&self) -> Vec<PathBuf> {
        if self.keeps { self.folders() } else { Vec::new() }
    }

    /// Whether time is simulated here.
    pub fn simulated(&self) -> bool {
        matches!(self.backing, Backing::Scripted(_) | Backing::Model(_))
    }

    pub(crate) fn modules(&self) -> &[Module] {
        match &self.backing {
            Backing::Files(scratch) => scratch.modules(),
            Backing::Devices(modules) => modules,
            Backing::Null | Backing::Scripted(_) | Backing::Model(_) | Backing::Database(_) => &[],
        }
    }

    /// Whether the system is read as it was found: nothing can be written to it.
    pub(crate) fn read_only(&self) -> bool {
        self.modules().iter().any(Module::read_only)
    }

    /// Where it is, for one who has to look after it: the folder of the data, or else the address.
    pub(crate) fn place(&self) -> Option<String> {
        match &self.backing {
            Backing::Database(databases) => databases.place(),
            Backing::Files(_) | Backing::Devices(_) => self.places().first().map(|place| place.display().to_string()),
            Backing::Null | Backing::Scripted(_) | Backing::Model(_) => None,
        }
    }

    /// Root processes of a database's server, when it runs on this machine.
    pub(crate) fn server_processes(&self) -> Vec<u32> {
        match &self.backing {
            Backing::Database(databases) => databases.processes(),
            _ => Vec::new(),
        }
    }

    /// Counters of a database's server now.
    pub(crate) fn counters(&self) -> observation::Counted {
        match &self.backing {
            Backing::Database(databases) => databases.counters(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn modules_mut(&mut self) -> &mut [Module] {
        match &mut self.backing {
            Backing::Files(scratch) => scratch.modules_mut(),
            Backing::Devices(modules) => modules,
            Backing::Null | Backing::Scripted(_) | Backing::Model(_) | Backing::Database(_) => &mut [],
        }
    }

    /// Folders in which a workload may make files of its own.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        match &self.backing {
            Backing::Files(scratch) => scratch.folders().map(Path::to_path_buf).collect(),
            _ => Vec::new(),
        }
    }

    /// Everything below which a probe should look for disks.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        let mut places = self.folders();
        if let Backing::Database(databases) = &self.backing {
            places.extend(databases.folder());
        }
        places.extend(self.modules().iter().map(|module| module.path().to_path_buf()));
        places
    }

    /// Engine, version and settings of a database stand in the fingerprint: each could change a number.
    fn add_database_facts(&mut self) -> Result<(), OpenError> {
        let Backing::Database(databases) = &mut self.backing else { return Ok(()) };
        let system = self.name.clone();
        let facts = databases.facts().map_err(|source| OpenError::Database { system, source: Box::new(source) })?;
        self.facts.driver = format!("sessions on {} {}", facts.engine.word(), facts.version);
        let add = |(key, value): (String, String)| Fact { key: format!("database.{key}"), value, private: false };
        self.facts.fingerprint.push(add(("version".to_owned(), facts.version)));
        self.facts.fingerprint.extend(facts.settings.into_iter().map(add));
        Ok(())
    }

    fn gather_facts(&self, spec: &SystemSpec, need: &Need<'_>) -> SystemFacts {
        let place = match &spec.place {
            Place::File { dirs } => dirs.join(", "),
            Place::Device { paths, .. } => paths.join(", "),
            Place::Null => "answers at once".to_owned(),
            Place::Scripted(_) => "replies after scripted times".to_owned(),
            Place::Model { model, changes } => format!("{}, in virtual time", study::model_shown(model, changes)),
            Place::Database(at) => at.shown(),
        };
        let driver = match &self.backing {
            Backing::Null | Backing::Scripted(_) | Backing::Database(_) => "none".to_owned(),
            Backing::Model(_) => "virtual time".to_owned(),
            _ => match crate::ring::probe() {
                Ok(()) => "io_uring".to_owned(),
                Err(error) => format!("plain pread and pwrite; {URING_REFUSED} ({error})"),
            },
        };
        SystemFacts {
            name: spec.name.clone(),
            kind: spec.place.word().to_owned(),
            place,
            modules: need.modules,
            driver,
            // A model is the same on every machine: nothing of this one could change its numbers.
            fingerprint: match &self.backing {
                Backing::Model(described) => described.facts(),
                _ => probe::fingerprint(&self.places()),
            },
            footprint: spec.footprint,
        }
    }
}

/// The description that was handed in, held against the largest trial.
fn described(spec: &SystemSpec, need: &Need<'_>) -> Result<Described, OpenError> {
    let missing = || OpenError::Script { system: spec.name.clone(), reason: "no model was read for it".to_owned() };
    let described = need.model.cloned().ok_or_else(missing)?;
    let setting =
        model::Setting { modules: need.modules.max(1), slots: 1, seed: need.seed, module_bytes: need.module_bytes.0 };
    model::machine(&described.description, &setting)
        .map_err(|source| OpenError::Model { system: spec.name.clone(), source })?;
    Ok(described)
}

fn make_files(spec: &SystemSpec, dirs: &[String], need: &Need<'_>) -> Result<Scratch, OpenError> {
    let dirs: Vec<PathBuf> = dirs.iter().map(PathBuf::from).collect();
    // File work makes files of its own: it needs the folders, and modules of no size are none.
    let modules = if need.module_bytes.0 == 0 { 0 } else { need.modules };
    let scratch = ScratchSpec { dirs: &dirs, run_id: need.run_id, modules, size: need.module_bytes };
    let mut made =
        Scratch::create(&scratch).map_err(|source| OpenError::Scratch { system: spec.name.clone(), source })?;
    if need.keep {
        made.keep();
    }
    Ok(made)
}

fn open_devices(spec: &SystemSpec, paths: &[String], fill: bool, need: &Need<'_>) -> Result<Vec<Module>, OpenError> {
    if (paths.len() as u32) < need.modules {
        let has = paths.len() as u32;
        return Err(OpenError::TooFewModules { system: spec.name.clone(), has, need: need.modules });
    }
    let open = |path: &String| {
        let at = Path::new(path);
        let opened = if fill { system::device::open(at, need.consents) } else { system::device::open_read_only(at) };
        opened.map_err(|source| OpenError::Device { system: spec.name.clone(), path: path.clone(), source })
    };
    paths.iter().take(need.modules as usize).map(open).collect()
}
