//! A described machine in virtual time.

use crate::database::sessions::imagined;
use crate::hot::drive::Driven;
use crate::hot::lane::Work;
use crate::hot::transactions::TransactionWork;
use crate::observer::Observer;
use crate::port::simulated::described::Described;
use crate::port::simulated::machine::{Closed, ModelPort};
use crate::port::simulated::sessions::Streams;
use crate::port::simulated::stations;
use crate::target::backing::{Backing, Facts, Preparing, Setting, Simulated, Simulation, Time, Told};
use crate::target::need::Need;
use crate::worker::assign::{Carriers, Place, StreamOf, assign, streams, window};
use crate::worker::run::{Lanes, Return};
use crate::{OpenError, TrialError};
use observation::Account;
use recorder::Collector;
use std::sync::atomic::AtomicBool;
use study::{Cache, SystemSpec, Trial};
use units::Nanos;

impl Described {
    /// The description that was handed in, held against the largest trial.
    ///
    /// # Errors
    /// When there is none, or no machine can be built of it.
    pub(crate) fn fitting(spec: &SystemSpec, need: &Need<'_>) -> Result<Described, OpenError> {
        let system = || spec.name.clone();
        let missing = || OpenError::Script { system: system(), reason: "no model was read for it".to_owned() };
        let described = need.model.cloned().ok_or_else(missing)?;
        let (modules, module_bytes) = (need.modules.max(1), need.module_bytes.0);
        let setting = model::Setting { modules, slots: 1, seed: need.seed, module_bytes };
        model::machine(&described.description, &setting)
            .map_err(|source| OpenError::Model { system: system(), source })?;
        Ok(described)
    }
}

impl Backing for Described {
    fn time(&self) -> Time<'_> {
        Time::Simulated(self)
    }

    /// A model is the same on every machine: nothing of this one could change its numbers.
    fn facts(&mut self) -> Result<Facts, OpenError> {
        Ok(Facts { driver: "virtual time".to_owned(), fingerprint: self.fingerprint() })
    }

    /// What a study asks to be done to a device beforehand cannot be done to a model, which begins at rest; it is said.
    fn prepare(&mut self, ready: Preparing<'_>, _: &mut dyn Observer) -> Result<Vec<String>, TrialError> {
        let state = &ready.trial.state;
        let asked = [
            (state.refill, "refilled"),
            (state.trim, "trimmed"),
            (state.precondition.is_some(), "preconditioned"),
            (state.cache != Cache::AsLeft, "given a cold or warm cache"),
            (state.restore, "restored"),
        ];
        let words: Vec<&str> = asked.iter().filter(|(asked, _)| *asked).map(|(_, word)| *word).collect();
        let remark = || format!("a model begins each trial at rest; it was not {}", words.join(" or "));
        Ok((!words.is_empty()).then(remark).into_iter().collect())
    }

    fn twin(&self) -> Option<Box<dyn Backing>> {
        Some(Box::new(self.clone()))
    }
}

impl Simulated for Described {
    fn run(
        &self,
        trial: &Trial,
        setting: &Setting,
        collector: &mut Collector,
        stop: &AtomicBool,
    ) -> Result<Simulation, TrialError> {
        let run = Run { described: self, trial, setting, stop };
        if trial.streams.iter().all(|stream| stream.pool.is_none()) {
            let work = |stream: StreamOf<'_>, place| stream.storage_work(setting.module_bytes, place);
            return run.carry(collector, Streams::default(), work);
        }
        let mut transactions = Streams::default();
        for stream in streams(trial) {
            transactions.add(imagined(stream)?);
        }
        run.carry(collector, transactions, |_, _| Ok(TransactionWork::default()))
    }
}

/// One trial on a described machine.
struct Run<'a> {
    described: &'a Described,
    trial: &'a Trial,
    setting: &'a Setting,
    stop: &'a AtomicBool,
}

impl Run<'_> {
    /// Carries the streams to their end, each with such work. Workers are threads of a real generator; virtual time
    /// needs one for each stream.
    fn carry<W: Work<ModelPort>>(
        &self,
        collector: &mut Collector,
        transactions: Streams,
        work: impl Fn(StreamOf<'_>, Place) -> Result<W, TrialError>,
    ) -> Result<Simulation, TrialError> {
        let (trial, work) = (self.trial, &work);
        let carriers = streams(trial).map(|stream| Carriers { workers: 1, each: Box::new(move |at| work(stream, at)) });
        let lanes = Lanes::of(trial, assign(trial, collector, carriers.collect())?, self.stop);
        let bytes = if trial.module_bytes.0 > 0 { trial.module_bytes } else { self.setting.module_bytes };
        let setting = model::Setting {
            modules: trial.modules.max(1),
            slots: lanes.slots,
            seed: trial.seed,
            module_bytes: bytes.0,
        };
        let machine = model::machine(&self.described.description, &setting)
            .map_err(|source| TrialError::Model { system: self.setting.system.clone(), source })?;
        let mut port = ModelPort::new(machine, transactions, window(trial), lanes.slots);
        let (driven, home) = lanes.drive(&mut port)?;
        let mut simulation = Simulation { driven, home, told: Told::default() };
        if let Driven::Finished { at } = driven {
            simulation.told = self.tell(port.close(), &simulation.home, at)?;
        }
        Ok(simulation)
    }

    /// What the stations did becomes series and an event.
    ///
    /// # Errors
    /// When the simulation breaks Little's law.
    fn tell(&self, closed: Closed, home: &[Return], ended: Nanos) -> Result<Told, TrialError> {
        let Closed { reports, cores, inside_ns, outside_ns, outside_is } = closed;
        let accounts: Vec<Account> = home.iter().filter_map(|home| home.account.ok()).collect();
        stations::little(&accounts, (inside_ns, outside_ns), self.trial.phases.fixed_work)?;
        let window = window(self.trial);
        let at = ended.min(window.end);
        let mut series = stations::series(&reports, at);
        series.extend(outside_is.map(|what| stations::outside(what, outside_ns, window, at)));
        series.extend(cores.iter().flat_map(|cores| stations::cores(cores, at)));
        Ok(Told { series, events: stations::bottleneck(&reports, at).into_iter().collect() })
    }
}
