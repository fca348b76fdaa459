//! Who does what in a trial: streams divided among workers, each with its road, its load, its task and its recorder.

use crate::TrialError;
use crate::opened::{Backing, Opened};
use crate::pool;
use crate::ring::{self, RingSpec};
use crate::state;
use crate::task::{Data, Task};
use crate::thread;
use crate::worker::{Assignment, FileWork, Road};
use load::{Limit, Machine};
use observation::Window;
use recorder::{Collector, Layout, Recorder};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use study::{Driver, Stream, SyncMode, Trial, Workload};
use system::Access;
use units::{Bytes, Nanos};
use workload::block::{self, Beginning, DataPool, Generations, Grid};
use workload::{block::Generator, files};

/// The assignments of all workers of a trial.
///
/// # Errors
/// When a stream does not fit the system, or the driver that it insists on is forbidden.
pub(crate) fn assignments(
    opened: &Opened,
    trial: &Trial,
    collector: &mut Collector,
) -> Result<Vec<Assignment>, TrialError> {
    let generations = generation_map(opened, trial)?;
    let mut assignments = Vec::new();
    for index in 0..trial.streams.len() {
        let muster = Muster { opened, trial, index, stream: &trial.streams[index], generations: generations.clone() };
        muster.call(collector, &mut assignments)?;
    }
    Ok(assignments)
}

/// The window of a trial on its own clock.
pub(crate) fn window(trial: &Trial) -> Window {
    let phases = trial.phases;
    Window { start: phases.warm_up, end: phases.warm_up + phases.measure }
}

/// The seed of one stream: another stream of the same trial draws other operations.
pub(crate) fn stream_seed(trial: &Trial, index: usize) -> u64 {
    random::nth_seed(trial.seed, index as u64)
}

/// Operations that a stream is limited to: its stated number, or the steps of its file work.
pub(crate) fn operations(stream: &Stream) -> Option<u64> {
    match &stream.workload {
        Workload::Files(spec) => Some(3 * u64::from(spec.width) * u64::from(spec.loops)),
        Workload::Block(_) | Workload::Brokerage(_) | Workload::Sql(_) | Workload::Rows(_) => stream.operations,
    }
}

/// The task of one worker, without data.
pub(crate) fn task(
    trial: &Trial,
    index: usize,
    module_bytes: Bytes,
    (worker, workers): (u32, u32),
    slots: u32,
) -> Result<Task, TrialError> {
    let stream = &trial.streams[index];
    let closed = matches!(stream.load, load::Spec::Closed { .. });
    Ok(match &stream.workload {
        Workload::Block(spec) => {
            let modules = trial.modules.max(1);
            // With fewer slots than modules, operation n goes to module n modulo the modules, so that a worker meets only
            // those modules with which its number agrees modulo their greatest common divisor. Each module counts
            // its operations over the workers that meet it, or a sequence would have holes.
            let by_slot = closed && stream.slots() / workers >= modules;
            let apart = if by_slot { 1 } else { greatest_common_divisor(workers, modules) };
            let seed = stream_seed(trial, index);
            let generator = Generator::new(spec, modules, module_bytes, seed, worker / apart, workers / apart)
                .map_err(|source| TrialError::Workload { stream: name(trial, index), source })?;
            Task::block(generator, modules, by_slot).with_syncs(stream.access.sync, modules)
        }
        Workload::Files(spec) => Task::files(*spec, slots),
        Workload::Brokerage(_) | Workload::Sql(_) | Workload::Rows(_) => Task::transactions(0),
    })
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The load of one worker.
pub(crate) fn load(trial: &Trial, index: usize, worker: u32, workers: u32) -> Machine {
    let stream = &trial.streams[index];
    let window = window(trial);
    let limit = Limit { until: window.end, count: operations(stream) };
    let seed = stream_seed(trial, index) ^ 0x10AD;
    load::build(&stream.load, stream.ramp, limit, seed, worker, workers, Nanos::ZERO).measured(window.start, window.end)
}

/// The recorder of one worker.
pub(crate) fn recorder(trial: &Trial, index: usize, generator: u16, collector: &mut Collector) -> Recorder {
    let endpoints = match trial.streams[index].workload {
        Workload::Block(_) => trial.modules.max(1) as u16,
        Workload::Files(_) | Workload::Brokerage(_) | Workload::Sql(_) | Workload::Rows(_) => 1,
    };
    let classes = trial.label.streams.get(index).map_or(0, |stream| stream.classes.len()).max(3) as u16;
    collector.recorder(Layout {
        stream: index as u16,
        generator,
        classes,
        endpoints,
        window: window(trial),
        interval: trial.phases.interval,
        start: Nanos::ZERO,
    })
}

fn name(trial: &Trial, index: usize) -> String {
    trial.label.streams.get(index).map_or_else(|| format!("stream {index}"), |label| label.name.clone())
}

/// The map of acceptable generations, when any stream of the trial checks its reads. All streams that write share it.
fn generation_map(opened: &Opened, trial: &Trial) -> Result<Option<Arc<Generations>>, TrialError> {
    if !state::validates(trial) || opened.modules().is_empty() {
        return Ok(None);
    }
    let specs: Vec<&block::Spec> = trial
        .streams
        .iter()
        .filter_map(|stream| match &stream.workload {
            Workload::Block(spec) => Some(spec),
            _ => None,
        })
        .collect();
    let refused = |source| TrialError::Workload { stream: name(trial, 0), source };
    let grid = Grid::over(&specs).map_err(refused)?;
    let slots = u64::from(trial.slots());
    let map = Generations::new(
        grid,
        trial.modules,
        trial.module_bytes,
        slots,
        opened.epoch,
        if trial.state.precondition.is_some() { Beginning::Unknown } else { Beginning::Filled },
    );
    map.map(|map| Some(Arc::new(map))).map_err(|source| TrialError::Watch { source })
}

struct Muster<'a> {
    opened: &'a Opened,
    trial: &'a Trial,
    index: usize,
    stream: &'a Stream,
    generations: Option<Arc<Generations>>,
}

impl Muster<'_> {
    fn call(&self, collector: &mut Collector, into: &mut Vec<Assignment>) -> Result<(), TrialError> {
        if let Backing::Database(databases) = &self.opened.backing {
            return pool::call(databases, self.trial, self.index, collector, into);
        }
        if self.stream.pool.is_some() {
            let what = "carry transactions: it is no database".to_owned();
            return Err(TrialError::Unsupported { system: self.opened.name.clone(), what });
        }
        if let (Workload::Files(spec), Backing::Files(_)) = (&self.stream.workload, &self.opened.backing) {
            return self.call_file_workers(*spec, collector, into);
        }
        if matches!(self.stream.workload, Workload::Files(_)) && !self.opened.modules().is_empty() {
            let what = "run file work: it has no folder".to_owned();
            return Err(TrialError::Unsupported { system: self.opened.name.clone(), what });
        }
        if self.stream.access.poll && matches!(self.stream.access.sync, SyncMode::Every(_)) {
            let what = "sync through a polled ring: leave `poll` out, or sync each write".to_owned();
            return Err(TrialError::Unsupported { system: self.opened.name.clone(), what });
        }
        let pool = Arc::new(DataPool::new(self.opened.seed, self.shape()));
        let ring = self.uses_ring()?;
        let workers = if ring || self.opened.modules().is_empty() {
            self.stream.access.workers.clamp(1, self.stream.slots().max(1))
        } else {
            self.stream.slots().max(1)
        };
        for worker in 0..workers {
            let load = load(self.trial, self.index, worker, workers);
            let slots = load::Load::slots(&load);
            let assignment = Assignment {
                stream: self.index as u16,
                recorder: recorder(self.trial, self.index, into.len() as u16, collector),
                road: self.road(ring, slots)?,
                task: self.task(&pool, worker, workers, slots)?,
                load,
                access: self.stream.access,
                worker: into.len() as u32,
                window: window(self.trial),
                deadline: window(self.trial).end + self.trial.phases.drain,
            };
            into.push(assignment);
        }
        Ok(())
    }

    fn task(&self, pool: &Arc<DataPool>, worker: u32, workers: u32, slots: u32) -> Result<Task, TrialError> {
        let bytes = if self.trial.module_bytes.0 > 0 { self.trial.module_bytes } else { self.opened.module_bytes };
        let task = task(self.trial, self.index, bytes, (worker, workers), slots)?;
        let task = task.with_durable(self.stream.access.sync == SyncMode::Each);
        if self.opened.modules().is_empty() {
            return Ok(task);
        }
        let generations = self.generations.clone();
        // Workers count from far apart, so that two of them hardly ever write a block with equal bytes.
        let count = worker << 24;
        let data = Data { pool: pool.clone(), epoch: self.opened.epoch, count, generations };
        Ok(task.with_data(data, slots, self.transfer_max()))
    }

    fn road(&self, ring: bool, slots: u32) -> Result<Road, TrialError> {
        if self.opened.modules().is_empty() {
            return Ok(Road::Null);
        }
        let files = self.descriptors()?;
        let transfer_max = self.transfer_max().0;
        if !ring {
            return Ok(Road::Plain { files, transfer_max });
        }
        let priority = thread::encode(self.stream.access.priority);
        Ok(Road::Ring(RingSpec { files, slots, transfer_max, poll: self.stream.access.poll, priority }))
    }

    fn descriptors(&self) -> Result<Vec<RawFd>, TrialError> {
        let access = if self.stream.access.direct { Access::Direct } else { Access::Buffered };
        let modules = self.opened.modules().iter().take(self.trial.modules as usize);
        modules
            .map(|module| {
                let unsupported = |what| TrialError::Unsupported { system: self.opened.name.clone(), what };
                let file = module.file(access).map_err(|error| unsupported(error.to_string()))?;
                if let (true, Some(alignment)) = (self.stream.access.direct, module.alignment()) {
                    self.check_alignment(u64::from(alignment.offset_bytes)).map_err(unsupported)?;
                }
                Ok(file.as_raw_fd())
            })
            .collect()
    }

    /// Past the page cache only whole units of the disk or filesystem can be moved.
    fn check_alignment(&self, unit: u64) -> Result<(), String> {
        let Workload::Block(spec) = &self.stream.workload else { return Ok(()) };
        let sizes = spec.transfers.iter().map(|transfer| transfer.size).chain([spec.shift]);
        match sizes.into_iter().find(|size| !size.0.is_multiple_of(unit)) {
            Some(size) => Err(format!(
                "move {} past the page cache: its unit is {}; use `direct = false` or whole units",
                units::bytes(size),
                units::bytes(Bytes(unit))
            )),
            None => Ok(()),
        }
    }

    fn uses_ring(&self) -> Result<bool, TrialError> {
        if self.opened.modules().is_empty() || self.stream.access.driver == Driver::Plain {
            return Ok(false);
        }
        match (ring::probe(), self.stream.access.driver) {
            (Ok(()), _) => Ok(true),
            (Err(source), Driver::Uring) => Err(TrialError::NoRing { source }),
            (Err(_), _) => Ok(false),
        }
    }

    fn shape(&self) -> block::DataShape {
        match &self.stream.workload {
            Workload::Block(spec) => spec.data,
            _ => block::DataShape { compressible: units::Share(0.0), duplicate: units::Share(0.0) },
        }
    }

    fn transfer_max(&self) -> Bytes {
        match &self.stream.workload {
            Workload::Block(spec) => spec.transfer_max(),
            Workload::Files(spec) => spec.block,
            Workload::Brokerage(_) | Workload::Sql(_) | Workload::Rows(_) => Bytes(0),
        }
    }

    fn call_file_workers(
        &self,
        spec: files::Spec,
        collector: &mut Collector,
        into: &mut Vec<Assignment>,
    ) -> Result<(), TrialError> {
        let folders = self.opened.folders();
        for copy in 0..spec.width {
            let folder = folders[copy as usize % folders.len()].clone();
            let seed = self.opened.seed;
            let worker = into.len() as u32;
            into.push(Assignment {
                stream: self.index as u16,
                recorder: recorder(self.trial, self.index, into.len() as u16, collector),
                road: Road::Files(FileWork { spec, copy, worker, folder, seed, direct: self.stream.access.direct }),
                task: Task::files(spec, 1),
                load: load(self.trial, self.index, copy, spec.width),
                access: self.stream.access,
                worker,
                window: window(self.trial),
                deadline: window(self.trial).end + self.trial.phases.drain,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::Think;

    /// Offsets that the workers of a stream visit on one module, one operation of each worker after the other.
    fn visited(workers: u32, slots: u32, modules: u32, module: u16) -> Vec<u64> {
        let mut trial = crate::ceiling::trial(load::Spec::Closed { slots, think: Think::None }, Nanos::from_millis(1));
        trial.modules = modules;
        if let Workload::Block(spec) = &mut trial.streams[0].workload {
            spec.pattern = block::Pattern::Sequential;
        }
        let mut offsets = Vec::new();
        for worker in 0..workers {
            let own = slots / workers;
            let mut task = task(&trial, 0, Bytes::mib(1), (worker, workers), own).unwrap();
            // Operation n of the stream goes to the worker n modulo the workers.
            for round in 0..u64::from(modules) * 4 {
                let n = u64::from(worker) + round * u64::from(workers);
                let operation = task.draw((round % u64::from(own)) as u32, n).unwrap();
                if operation.module == module {
                    offsets.push(operation.offset / 4096);
                }
            }
        }
        offsets.sort_unstable();
        offsets
    }

    #[test]
    fn a_sequence_over_several_modules_has_no_holes_however_many_workers_share_it() {
        // Threads with one slot each (the plain road), and rings with a slot for every module.
        for (workers, slots, modules) in [(8, 8, 4), (6, 6, 4), (3, 3, 2), (1, 1, 4), (2, 8, 4), (1, 8, 2)] {
            for module in 0..modules as u16 {
                let offsets = visited(workers, slots, modules, module);
                let whole: Vec<u64> = (0..offsets.len() as u64).collect();
                assert_eq!(offsets, whole, "{workers} workers, {slots} slots, module {module} of {modules}");
            }
        }
    }
}
