//! A trial on a scripted system or on a model: the same lanes and the same loop, on a simulated clock.
//!
//! All streams and workers share one road, because they share one system and one time. Nothing sleeps and nothing is
//! random but by the seed: a trial run twice gives the same bytes.

use crate::cpu::ThreadCpu;
use crate::crew::{Haul, keep};
use crate::described::{Closed, Described, ModelPort};
use crate::described_sessions::Streams;
use crate::drive::{Driven, Ending, drive};
use crate::lane::Lane;
use crate::observer::{Observer, Phase};
use crate::opened::Opened;
use crate::worker::close;
use crate::{TrialError, muster, pool, stations};
use load::{Load, Machine, Pacing};
use observation::{Account, Cell};
use recorder::Collector;
use std::sync::atomic::AtomicBool;
use study::{ScriptSpec, Stream, Trial};
use system::Port;
use system::scripted::ScriptedPort;
use units::Bytes;

/// Runs a trial's streams over the time of a scripted system.
///
/// # Errors
/// When a stream does not fit, or it was told to stop.
pub(crate) fn scripted(
    opened: &Opened,
    script: &ScriptSpec,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Haul, TrialError> {
    let workers = |stream: &Stream| stream.access.workers.clamp(1, stream.slots().max(1));
    let crowd = Crowd::muster(opened, trial, workers)?;
    let mut port = ScriptedPort::new(script.clone(), trial.seed, crowd.slots());
    crowd.run(&mut port, opened, trial, observer, stop)
}

/// Runs a trial's streams over the time of a described machine. What the stations did becomes series and an event.
///
/// # Errors
/// As [`scripted`]; and when the simulation breaks Little's law.
pub(crate) fn model(
    opened: &Opened,
    described: &Described,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Haul, TrialError> {
    // Workers are threads of a real generator; virtual time needs one.
    let crowd = Crowd::muster(opened, trial, |_| 1)?;
    let slots = crowd.slots();
    let module_bytes = bytes_of(trial, opened).0;
    let setting = model::Setting { modules: trial.modules.max(1), slots, seed: trial.seed, module_bytes };
    let machine = model::machine(&described.description, &setting)
        .map_err(|source| TrialError::Model { system: opened.name.clone(), source })?;
    let window = muster::window(trial);
    let mut transactions = Streams::default();
    let mut first_slot = 0;
    for (index, lane) in crowd.lanes.iter().enumerate() {
        if let Some(imagined) = pool::imagined(trial, index)? {
            transactions.add(imagined, first_slot);
        }
        first_slot += lane.slots();
    }
    let mut port = ModelPort::new(machine, transactions, window, slots);
    let mut haul = crowd.run(&mut port, opened, trial, observer, stop)?;
    let Closed { reports, cores, inside_ns, outside_ns, outside_is } = port.close();
    stations::little(&haul.accounts, (inside_ns, outside_ns), trial.phases.fixed_work)?;
    let at = haul.ended.min(window.end);
    haul.events.extend(stations::bottleneck(&reports, at));
    let mut series = stations::series(&reports, at);
    series.extend(outside_is.map(|what| stations::outside(what, outside_ns, window, at)));
    series.extend(cores.iter().flat_map(|cores| stations::cores(cores, at)));
    if observer.keeps() {
        observer.interval(trial, &[], &series);
    } else {
        haul.series.extend(series);
    }
    Ok(haul)
}

/// Bytes of each module of a trial.
fn bytes_of(trial: &Trial, opened: &Opened) -> Bytes {
    if trial.module_bytes.0 > 0 { trial.module_bytes } else { opened.module_bytes }
}

/// The lanes of all streams on one road, and which stream each serves.
struct Crowd {
    collector: Collector,
    lanes: Vec<Lane<Machine>>,
    streams: Vec<usize>,
}

impl Crowd {
    /// So many lanes for each stream.
    fn muster(opened: &Opened, trial: &Trial, workers: impl Fn(&Stream) -> u32) -> Result<Crowd, TrialError> {
        let mut crowd = Crowd { collector: Collector::default(), lanes: Vec::new(), streams: Vec::new() };
        let bytes = bytes_of(trial, opened);
        for (index, stream) in trial.streams.iter().enumerate() {
            let workers = workers(stream);
            for worker in 0..workers {
                let load = muster::load(trial, index, worker, workers);
                let task = muster::task(trial, index, bytes, (worker, workers), load.slots())?;
                let recorder = muster::recorder(trial, index, crowd.lanes.len() as u16, &mut crowd.collector);
                let first = crowd.slots();
                crowd.lanes.push(Lane::new(load, recorder, task, first));
                crowd.streams.push(index);
            }
        }
        Ok(crowd)
    }

    fn slots(&self) -> u32 {
        self.lanes.iter().map(Lane::slots).sum()
    }

    /// Drives all lanes over the road.
    fn run<P: Port>(
        self,
        port: &mut P,
        opened: &Opened,
        trial: &Trial,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Haul, TrialError> {
        let Crowd { mut collector, mut lanes, streams } = self;
        observer.phase(trial, Phase::Measure, trial.phases.warm_up + trial.phases.measure);
        let pacing = trial.streams.first().map_or(Pacing::Sleep, |stream| stream.access.pacing);
        let window = muster::window(trial);
        let ending = Ending { deadline: window.end + trial.phases.drain, stop, pacing, window };
        let driven = drive(port, &mut lanes, ending, &mut ThreadCpu::new(window))?;
        let mut haul = Haul { generators: lanes.len() as u16, ..Haul::default() };
        haul.accounts = vec![Account::default(); trial.streams.len()];
        for (lane, stream) in lanes.into_iter().zip(streams) {
            let (load, recorder, task) = lane.dismantle();
            let account =
                close(recorder, &load).map_err(|source| TrialError::Unbalanced { source: Box::new(source) })?;
            haul.accounts[stream].add(&account);
            haul.events.extend(task.noticed.events);
        }
        let mut cells: Vec<Cell> = Vec::new();
        collector.collect(&mut cells);
        if !matches!(driven, Driven::Finished { .. }) {
            // The newest interval was cut short, and only whole ones are kept.
            let newest = cells.iter().map(|cell| cell.key.interval).max();
            cells.retain(|cell| Some(cell.key.interval) < newest);
        }
        observer.interval(trial, &cells, &[]);
        if !observer.keeps() {
            cells.iter().for_each(|cell| keep(&mut haul.cells, cell));
        }
        match driven {
            Driven::Finished { at } => haul.ended = at,
            Driven::Stopped => return Err(TrialError::Stopped),
            Driven::Gone { errno } => {
                let source = std::io::Error::from_raw_os_error(errno);
                let done = haul.accounts.iter().map(|account| account.done).sum();
                return Err(TrialError::Gone {
                    system: opened.name.clone(),
                    place: String::new(),
                    done,
                    words: String::new(),
                    source,
                });
            }
        }
        Ok(haul)
    }
}
