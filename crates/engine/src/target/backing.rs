//! What every kind of system answers about itself.

use crate::hot::drive::Driven;
use crate::observer::Observer;
use crate::port::simulated::described::Described;
use crate::target::known::Known;
use crate::told::Happens;
pub(crate) use crate::told::{Ended, Told, remark};
use crate::worker::assign::Share;
use crate::worker::run::{Driver, Return};
use crate::{OpenError, TrialError};
use observation::{Alone, Fact};
use recorder::Collector;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::Trial;
use system::Module;
use units::{Bytes, Nanos};
use workload::happening::Mishap;

/// What stands behind a system. A kind without modules, folders, a server or data of its own leaves those alone.
pub(crate) trait Backing: Send {
    /// Divides the streams of a trial among workers, or carries them itself, when its time is its own.
    fn carry(&self, asked: Asked<'_>) -> Result<Carried, TrialError>;

    /// Whether its time is its own.
    fn simulated(&self) -> bool {
        false
    }

    /// How it is reached, in words, and everything of it that could change a number.
    fn facts(&mut self) -> Result<(String, Vec<Fact>), OpenError> {
        Ok(("none".to_owned(), probe::fingerprint(&self.places())))
    }

    /// Files or devices that operations go to.
    fn modules(&self) -> &[Module] {
        &[]
    }

    /// The same, to be changed.
    fn modules_mut(&mut self) -> &mut [Module] {
        &mut []
    }

    /// Folders in which a workload may make files of its own.
    fn folders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Everything below which a probe should look for disks.
    fn places(&self) -> Vec<PathBuf> {
        let modules = self.modules().iter().map(|module| module.path().to_path_buf());
        self.folders().into_iter().chain(modules).collect()
    }

    /// Where it is, for one who has to look after it: the folder of the data, or else the address.
    fn address(&self) -> Option<String> {
        self.places().first().map(|place| place.display().to_string())
    }

    /// Root processes of its server, when it runs on this machine.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Root processes of the server that follows it, when one does.
    fn mirror_processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// How the counters of its server are read, where it has any: another thread does it, because a server may never answer.
    fn counters(&self) -> Option<Box<dyn FnOnce() -> observation::Counted + Send>> {
        None
    }

    /// Makes it ready for a trial, as far as that is its own business; answers with remarks for the events of the trial.
    fn prepare(
        &mut self,
        _trial: &Trial,
        _observer: &mut dyn Observer,
        _stop: &AtomicBool,
    ) -> Result<Vec<String>, TrialError> {
        Ok(Vec::new())
    }

    /// Has something happen to a database and its mirror at this moment of the trial; nothing puts right what did.
    fn mishap(&self, _at: Nanos, what: Option<Mishap>) -> std::io::Result<()> {
        what.map_or(Ok(()), |_| Err(std::io::ErrorKind::Unsupported.into()))
    }

    /// Says how faults are made on the devices of its mirror and of itself, where these are emulated.
    fn on_devices(&mut self, _devices: [Option<Happens>; 2]) {}

    /// Looks at what the load of a trial left behind.
    fn look_back(&mut self, _ended: Ended<'_>, _observer: &mut dyn Observer) -> Result<Told, TrialError> {
        Ok(Told::default())
    }

    /// Looks at what is left after the system went away in the middle of a trial; answers with why, as far as that can
    /// be found out.
    fn outage(&mut self, gone: TrialError, _ended: Ended<'_>, _observer: &mut dyn Observer) -> TrialError {
        gone
    }

    /// The same once more, for a trial beside another; none of a system that trials would share.
    fn twin(&self) -> Option<Box<dyn Backing>> {
        None
    }
}

/// A trial whose streams are to be carried.
pub(crate) struct Asked<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) setting: &'a Setting,
    pub(crate) collector: &'a mut Collector,
    /// Set from outside to end at once.
    pub(crate) stop: &'a AtomicBool,
}

/// How the streams of a trial are carried.
pub(crate) enum Carried {
    /// By workers, each on a thread and with a driver of its own.
    Workers(Vec<(Share, Driver)>),
    /// They have been, in virtual time. Nothing sleeps there and nothing is random but by the seed: a trial run twice
    /// gives the same bytes.
    Simulated(Simulation),
}

/// What a simulated trial came to.
pub(crate) struct Simulation {
    pub(crate) driven: Driven,
    /// One for each lane.
    pub(crate) home: Vec<Return>,
    pub(crate) told: Told,
}

/// What the plan needs of a system.
#[derive(Clone, Debug)]
pub struct Need<'a> {
    /// The largest number of modules that any trial uses; 0 when only folders are needed (`files`).
    pub modules: u32,
    /// How many of them a first fill covers, so that no later trial needs another: as many as any trial uses.
    pub filled: u32,
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
    /// Whether any trial brings tables of Prony's own to a database.
    pub data_set: bool,
    /// The description of a model, read by whoever may open files; none for every other kind.
    pub model: Option<&'a Described>,
    /// Ends every wait for a database when it becomes true.
    pub stop: &'a Arc<AtomicBool>,
}

/// What is the same for every trial on a system, and its count of fills.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setting {
    pub(crate) system: String,
    /// Seed of the run; part of every stamp.
    pub(crate) seed: u64,
    /// Size of each module of a system without data.
    pub(crate) module_bytes: Bytes,
    /// Modules that a first fill covers.
    pub(crate) filled: u32,
    /// Counts fills and trials: the upper half of every generation, so that what an earlier one left is older.
    pub(crate) epoch: u32,
    /// What is known of what its modules hold.
    pub(crate) data: Known,
    /// What one operation alone costs by each driver, through the page cache and past it; none before a trial asked.
    pub(crate) alone: [Option<Alone>; 2],
}
