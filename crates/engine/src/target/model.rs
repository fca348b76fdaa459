//! A described machine in virtual time.

use crate::database::sessions::imagined;
use crate::hot::drive::Driven;
use crate::hot::lane::Work;
use crate::hot::transactions::{Beside, TransactionWork};
use crate::observer::Observer;
use crate::port::simulated::described::Described;
use crate::port::simulated::machine::{Closed, ModelPort, Stations};
use crate::port::simulated::sessions::Streams;
use crate::port::simulated::stations;
use crate::target::backing::{Asked, Backing, Carried, Need, Simulation, Told};
use crate::worker::assign::{Carriers, Place, StreamOf, assign, streams, window};
use crate::worker::happenings::{happened, happenings};
use crate::worker::run::{Lanes, Return};
use crate::{OpenError, TrialError};
use model::machine::Machine;
use model::server::Factors;
use observation::{Account, Event, Fact};
use std::sync::atomic::AtomicBool;
use study::{Cache, SystemSpec, Trial};
use units::Nanos;

impl Described {
    /// The description that was handed in, held against the largest trial.
    pub(crate) fn fitting(spec: &SystemSpec, need: &Need<'_>) -> Result<Described, OpenError> {
        let described = need.model.cloned().ok_or_else(|| OpenError::NoModel { system: spec.name.clone() })?;
        let (modules, module_bytes) = (need.modules.max(1), need.module_bytes.0);
        let setting = model::Setting { modules, slots: 1, seed: need.seed, module_bytes, ..model::Setting::default() };
        described.machine(&spec.name, &setting)?;
        Ok(described)
    }

    fn machine(&self, system: &str, setting: &model::Setting) -> Result<Box<dyn Machine>, OpenError> {
        let unbuilt = |source| OpenError::Model { system: system.to_owned(), source };
        model::machine(&self.description, setting).map_err(unbuilt)
    }

    /// How many times what the model's transaction asks for those of each class ask for, of all streams one after the other.
    fn classes(&self, trial: &Trial) -> Vec<Factors> {
        let transactions = trial.streams.iter().filter_map(|stream| Some(stream.transactions()?.0));
        transactions.flat_map(|asked| asked.classes()).map(|class| self.description.factors(class.demand)).collect()
    }

    /// Carries the streams to their end, each with such work. Workers are threads of a real generator; virtual time
    /// needs one for each stream.
    fn simulate<W: Work<ModelPort>>(
        &self,
        asked: Asked<'_>,
        transactions: Streams,
        work: impl Fn(StreamOf<'_>, Place) -> Result<W, TrialError>,
    ) -> Result<Carried, TrialError> {
        let Asked { trial, setting, collector, stop } = asked;
        let work = &work;
        let shares = assign(trial, collector, |stream| Ok(Carriers::new(1, move |place| work(stream, place))));
        let lanes = Lanes::of(trial, shares?, stop);
        let bytes = if trial.module_bytes.0 > 0 { trial.module_bytes } else { setting.module_bytes };
        let (modules, slots, seed) = (trial.modules.max(1), lanes.slots, trial.seed);
        let customers = trial.streams.iter().find_map(|stream| stream.transactions()?.0.customers());
        let classes = self.classes(trial);
        let (patience, km) = (trial.state.patience, trial.state.wire.km());
        let of = model::Setting { modules, slots, seed, module_bytes: bytes.0, customers, classes, patience, km };
        let mut machine = self.machine(&setting.system, &of)?;
        if let Some((_, what)) = happenings(trial).find(|(at, what)| !machine.happen(*at, *what)) {
            let source = std::io::Error::other("the model does not know it");
            return Err(TrialError::Event { event: what.to_string(), system: setting.system.clone(), source });
        }
        let mut port = ModelPort::new(machine, transactions, window(trial), slots);
        let slots = lanes.slots_of_each();
        let (driven, home) = lanes.drive(&mut port)?;
        let told = match driven {
            Driven::Finished { at } => tell(trial, port.close(), (&home, &slots), at)?,
            Driven::Stopped | Driven::Gone { .. } => Told::default(),
        };
        Ok(Carried::Simulated(Simulation { driven, home, told }))
    }
}

impl Backing for Described {
    fn carry(&self, asked: Asked<'_>) -> Result<Carried, TrialError> {
        if asked.trial.streams.iter().all(|stream| stream.operations().is_some()) {
            let bytes = asked.setting.module_bytes;
            return self.simulate(asked, Streams::default(), |stream, place| stream.storage_work(bytes, place));
        }
        let mut transactions = Streams::default();
        for stream in streams(asked.trial) {
            transactions.add(imagined(stream)?);
        }
        self.simulate(asked, transactions, |stream, _| {
            let limit = stream.stream().transactions().map_or(Nanos::ZERO, |(_, pool)| pool.limit);
            Ok(TransactionWork::new(0, stream.label().map(|label| Beside::of(label, limit)).unwrap_or_default()))
        })
    }

    fn simulated(&self) -> bool {
        true
    }

    /// A model is the same on every machine: nothing of this one could change its numbers.
    fn facts(&mut self) -> Result<(String, Vec<Fact>), OpenError> {
        Ok(("virtual time".to_owned(), self.fingerprint()))
    }

    /// What a study asks to be done to a device beforehand cannot be done to a model, which begins at rest; it is said.
    fn prepare(
        &mut self,
        trial: &Trial,
        _observer: &mut dyn Observer,
        _stop: &AtomicBool,
    ) -> Result<Vec<String>, TrialError> {
        let state = &trial.state;
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

/// What the stations did becomes series and an event.
fn tell(trial: &Trial, closed: Closed, (home, slots): (&[Return], &[u32]), ended: Nanos) -> Result<Told, TrialError> {
    let Closed { told: Stations { reports, cores, course }, inside_ns, outside_ns, outside_is } = closed;
    let mut left = outside_ns.iter();
    let outside = slots.iter().map(|slots| left.by_ref().take(*slots as usize).sum());
    let accounts = home.iter().zip(outside).filter_map(|(home, outside)| Some((home.account.ok()?, outside)));
    let accounts: Vec<(Account, u128)> = accounts.collect();
    // The slots of a job stand idle once it has ended.
    let ends = trial.phases.fixed_work || trial.streams.iter().any(|stream| stream.work().is_some());
    stations::little(&accounts, inside_ns, ends)?;
    let outside_ns = outside_ns.iter().sum();
    let window = window(trial);
    let at = ended.min(window.end);
    let mut series = stations::series(&reports, at);
    let mut events: Vec<Event> = happenings(trial).map(|(at, what)| happened(at, what)).collect();
    events.extend(stations::bottleneck(&reports, at));
    series.extend(outside_is.map(|what| stations::outside(what, outside_ns, window, at)));
    series.extend(cores.iter().flat_map(|cores| stations::cores(cores, at)));
    series.extend(stations::mirror(&course));
    Ok(Told { series, events, ..Told::default() })
}
