//! A trial on a scripted system: the same lanes and the same loop, on a simulated clock.
//!
//! All streams and workers share one road, because they share one system and one time. Nothing sleeps and nothing is
//! random but by the seed: a trial run twice gives the same bytes.

use crate::cpu::ThreadCpu;
use crate::crew::{Haul, keep};
use crate::drive::{Driven, Ending, drive};
use crate::lane::Lane;
use crate::observer::{Observer, Phase};
use crate::opened::Opened;
use crate::worker::close;
use crate::{TrialError, muster};
use load::{Load, Machine, Pacing};
use observation::{Account, Cell};
use recorder::Collector;
use std::sync::atomic::AtomicBool;
use study::{ScriptSpec, Trial};
use system::scripted::{Script, ScriptedPort, Stall};

/// Runs a trial's streams over simulated time.
///
/// # Errors
/// When a stream does not fit, or it was told to stop.
pub(crate) fn run(
    opened: &Opened,
    script: &ScriptSpec,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Haul, TrialError> {
    let mut collector = Collector::default();
    let (mut lanes, streams) = lanes(opened, trial, &mut collector)?;
    observer.phase(trial, Phase::Measure, trial.phases.warm_up + trial.phases.measure);
    let slots = lanes.iter().map(Lane::slots).sum();
    let mut port = ScriptedPort::new(convert(script), trial.seed, slots);
    let pacing = trial.streams.first().map_or(Pacing::Sleep, |stream| stream.access.pacing);
    let window = muster::window(trial);
    let ending = Ending { deadline: window.end + trial.phases.drain, stop, pacing, window };
    let driven = drive(&mut port, &mut lanes, ending, &mut ThreadCpu::new(window))?;
    let mut haul = Haul { generators: lanes.len() as u16, ..Haul::default() };
    haul.accounts = vec![Account::default(); trial.streams.len()];
    for (lane, stream) in lanes.into_iter().zip(streams) {
        let (load, recorder, task) = lane.dismantle();
        let account = close(recorder, &load).map_err(|source| TrialError::Unbalanced { source: Box::new(source) })?;
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

/// One lane for each worker of each stream, and which stream it serves.
fn lanes(
    opened: &Opened,
    trial: &Trial,
    collector: &mut Collector,
) -> Result<(Vec<Lane<Machine>>, Vec<usize>), TrialError> {
    let (mut lanes, mut streams, mut first_slot) = (Vec::new(), Vec::new(), 0);
    let bytes = if trial.module_bytes.0 > 0 { trial.module_bytes } else { opened.module_bytes };
    for (index, stream) in trial.streams.iter().enumerate() {
        let workers = stream.access.workers.clamp(1, stream.slots().max(1));
        for worker in 0..workers {
            let load = muster::load(trial, index, worker, workers);
            let slots = load.slots();
            let task = muster::task(trial, index, bytes, (worker, workers), slots)?;
            let recorder = muster::recorder(trial, index, lanes.len() as u16, collector);
            lanes.push(Lane::new(load, recorder, task, first_slot));
            streams.push(index);
            first_slot += slots;
        }
    }
    Ok((lanes, streams))
}

fn convert(script: &ScriptSpec) -> Script {
    Script {
        service: script.service.clone(),
        servers: script.servers,
        per_byte_ns: script.per_byte_ns,
        spread: script.spread,
        stall: script.stall.map(|stall| Stall { every: stall.every, lasts: stall.lasts }),
        fail_every: script.fail_every,
        drift_per_s: script.drift_per_s,
    }
}
