//! What every kind of system answers about itself.

use crate::hot::drive::Driven;
use crate::observer::Observer;
use crate::worker::assign::Carriers;
use crate::worker::run::{Driver, Return};
use crate::worker::transactions::Transactions;
use crate::{OpenError, TrialError};
use observation::{Event, EventKind, Fact, Series};
use recorder::{Collector, WallClock};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use study::Trial;
use system::Module;
use units::{Bytes, Nanos};

/// What stands behind a system. A kind without modules, folders, a server or data of its own leaves those alone.
pub(crate) trait Backing: Send {
    /// Whose time a trial runs in.
    fn time(&self) -> Time<'_>;

    /// What it is, as far as that could change a number.
    ///
    /// # Errors
    /// When it must be opened for that and cannot be.
    fn facts(&mut self) -> Result<Facts, OpenError>;

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

    /// Counters of its server now.
    fn counters(&self) -> observation::Counted {
        Vec::new()
    }

    /// Makes it ready for a trial, as far as that is its own business; answers with remarks for the events of the trial.
    ///
    /// # Errors
    /// What keeps it from the state that the trial asks for.
    fn prepare(&mut self, ready: Preparing<'_>, observer: &mut dyn Observer) -> Result<Vec<String>, TrialError> {
        let _ = (ready, observer);
        Ok(Vec::new())
    }

    /// Looks at what the load of a trial left behind.
    ///
    /// # Errors
    /// When it cannot be looked at.
    fn look_back(&mut self, ended: Ended<'_>, observer: &mut dyn Observer) -> Result<Told, TrialError> {
        let _ = (ended, observer);
        Ok(Told::default())
    }

    /// Looks at what is left after the system went away in the middle of a trial; answers with why, as far as that can
    /// be found out.
    fn outage(&mut self, gone: TrialError, ended: Ended<'_>, observer: &mut dyn Observer) -> TrialError {
        let _ = (ended, observer);
        gone
    }

    /// The same once more, for a trial beside another; none of a system that trials would share.
    fn twin(&self) -> Option<Box<dyn Backing>> {
        None
    }
}

/// Whose time a trial runs in.
pub(crate) enum Time<'a> {
    /// The machine's: every worker has a thread, and a driver of its own.
    Real(&'a dyn Real),
    /// The system's own: all streams share one port.
    Simulated(&'a dyn Simulated),
}

/// A system that answers in real time.
pub(crate) trait Real {
    /// What carries each stream of a trial.
    ///
    /// # Errors
    /// When a stream does not fit, or a session cannot be opened.
    fn carriers<'a>(
        &'a self,
        trial: &'a Trial,
        setting: &'a Setting,
    ) -> Result<Vec<Carriers<'a, Box<dyn Driver>>>, TrialError>;
}

/// A system in virtual time. Nothing sleeps and nothing is random but by the seed: a trial run twice gives the same bytes.
pub(crate) trait Simulated {
    /// Runs all streams of a trial to their end.
    ///
    /// # Errors
    /// When a stream does not fit, or the simulation is wrong.
    fn run(
        &self,
        trial: &Trial,
        setting: &Setting,
        collector: &mut Collector,
        stop: &AtomicBool,
    ) -> Result<Simulation, TrialError>;
}

/// What a simulated trial came to.
pub(crate) struct Simulation {
    pub(crate) driven: Driven,
    /// One for each lane.
    pub(crate) home: Vec<Return>,
    pub(crate) told: Told,
}

/// What a system tells of a trial beside what was recorded.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) series: Vec<Series>,
    pub(crate) events: Vec<Event>,
}

/// What a system is.
pub(crate) struct Facts {
    /// How it is reached, in words.
    pub(crate) driver: String,
    /// Everything that could change a number.
    pub(crate) fingerprint: Vec<Fact>,
}

/// What is the same for every trial on a system, and its count of fills.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) system: String,
    /// Seed of the run; part of every stamp.
    pub(crate) seed: u64,
    /// Size of each module of a system without data.
    pub(crate) module_bytes: Bytes,
    /// Counts fills and trials: the upper half of every generation, so that what an earlier one left is older.
    pub(crate) epoch: u32,
}

/// A trial that is being prepared.
#[derive(Clone, Copy)]
pub(crate) struct Preparing<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) clock: &'a WallClock,
    pub(crate) stop: &'a AtomicBool,
}

/// A trial whose load has ended.
#[derive(Clone, Copy)]
pub(crate) struct Ended<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) clock: &'a WallClock,
    /// What its workers carried out.
    pub(crate) transactions: &'a [Transactions],
    /// On the trial's clock.
    pub(crate) at: Nanos,
}

/// A remark about a trial as a whole.
pub(crate) fn remark(text: String) -> Event {
    Event { at: Nanos::ZERO, kind: EventKind::Note, text }
}
