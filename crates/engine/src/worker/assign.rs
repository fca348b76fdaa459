//! Who does what in a trial: each stream divided among workers, each of which gets a load, a recorder, and the work or the
//! driver that the system has for it.

use crate::TrialError;
use crate::hot::storage::{Order, StorageWork};
use load::{Beat, Limit, Load, Machine};
use observation::{StreamLabel, Window};
use recorder::{Collector, Layout, Recorder};
use study::{Access, Priority, Stream, Threads, Trial};
use units::{Bytes, Nanos};
use workload::block::{self, Generator};
use workload::kind::Clocked;

/// One worker's share of a stream.
pub(crate) struct Share {
    pub(crate) stream: u16,
    pub(crate) recorder: Recorder,
    pub(crate) load: Machine,
    pub(crate) threads: Threads,
    pub(crate) priority: Option<Priority>,
    /// Number of the worker in the trial.
    pub(crate) number: u32,
    /// Most operations that leave together.
    pub(crate) batch: u32,
    /// The measured window.
    pub(crate) window: Window,
    /// When waiting for what is still out ends.
    pub(crate) deadline: Nanos,
}

impl Share {
    pub(crate) fn slots(&self) -> u32 {
        self.load.slots()
    }
}

/// Who carries a stream.
pub(crate) struct Carriers<'a, T> {
    workers: u32,
    each: Box<dyn FnMut(Place) -> Result<T, TrialError> + 'a>,
}

impl<'a, T> Carriers<'a, T> {
    /// So many workers share it; what each of them works with is asked for in their order.
    pub(crate) fn new(workers: u32, each: impl FnMut(Place) -> Result<T, TrialError> + 'a) -> Carriers<'a, T> {
        Carriers { workers, each: Box::new(each) }
    }
}

/// Where a worker stands among those who share a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Behind all others is the one that carries what comes by the clock.
    pub(crate) worker: u32,
    /// How many carry what users ask for.
    pub(crate) workers: u32,
    /// The first of its slots, counted over all workers of the stream.
    pub(crate) first: u32,
    pub(crate) slots: u32,
    /// Number of the worker in the trial.
    pub(crate) number: u32,
}

/// Divides the streams of a trial among their carriers.
pub(crate) fn assign<'a, T>(
    trial: &'a Trial,
    collector: &mut Collector,
    carriers: impl Fn(StreamOf<'a>) -> Result<Carriers<'a, T>, TrialError>,
) -> Result<Vec<(Share, T)>, TrialError> {
    let mut shares = Vec::new();
    for stream in streams(trial) {
        let Carriers { workers, mut each } = carriers(stream)?;
        let mut first = 0;
        for (load, worker) in stream.loads(workers).into_iter().chain(stream.clocked()).zip(0..) {
            let number = shares.len() as u32;
            let place = Place { worker, workers, first, slots: load.slots(), number };
            first += place.slots;
            let share = Share {
                stream: stream.index as u16,
                recorder: stream.recorder(number as u16, collector),
                load,
                threads: stream.stream().threads,
                priority: stream.stream().operations().and_then(|operations| operations.access.priority),
                number,
                batch: u32::MAX,
                window: window(trial),
                deadline: window(trial).end + trial.phases.drain,
            };
            shares.push((share, each(place)?));
        }
    }
    Ok(shares)
}

/// The window of a trial on its own clock.
pub(crate) fn window(trial: &Trial) -> Window {
    let phases = trial.phases;
    Window { start: phases.warm_up, end: phases.warm_up + phases.measure }
}

/// The streams of a trial.
pub(crate) fn streams(trial: &Trial) -> impl Iterator<Item = StreamOf<'_>> {
    (0..trial.streams.len()).map(move |index| StreamOf { trial, index })
}

/// One stream of a trial.
#[derive(Clone, Copy)]
pub(crate) struct StreamOf<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) index: usize,
}

impl<'a> StreamOf<'a> {
    pub(crate) fn stream(self) -> &'a Stream {
        &self.trial.streams[self.index]
    }

    /// What is kept of it in the run file.
    pub(crate) fn label(self) -> Option<&'a StreamLabel> {
        self.trial.label.streams.get(self.index)
    }

    pub(crate) fn name(self) -> String {
        self.label().map_or_else(|| format!("stream {}", self.index), |label| label.name.clone())
    }

    /// Another stream of the same trial draws other operations.
    pub(crate) fn seed(self) -> u64 {
        self.trial.seed.wrapping_add((self.index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// Operations that it is limited to: its stated number, or the steps of its file work.
    pub(crate) fn operations(self) -> Option<u64> {
        match self.stream().files() {
            Some(spec) => Some(3 * u64::from(spec.width) * u64::from(spec.loops)),
            None => self.stream().work(),
        }
    }

    /// Threads that it asks for, as far as they have slots.
    pub(crate) fn workers(self) -> u32 {
        self.stream().threads.count.clamp(1, self.stream().slots().max(1))
    }

    /// Whether workers have one outstanding operation each, and either driver may carry it.
    pub(crate) fn single(self) -> bool {
        let stream = self.stream();
        let open = |access: &Access| access.driver == study::Driver::Auto && !access.poll;
        let either = stream.block().and(stream.operations()).is_some_and(|operations| open(&operations.access));
        either && stream.slots() <= stream.threads.count
    }

    /// Something that the trial's system cannot do.
    pub(crate) fn unsupported(self, what: impl Into<String>) -> TrialError {
        TrialError::Unsupported { system: self.trial.label.system.clone(), what: what.into() }
    }

    fn no_database(self) -> TrialError {
        self.unsupported("carry transactions: it is no database")
    }

    /// How its operations reach storage.
    pub(crate) fn access(self) -> Result<Access, TrialError> {
        let operations = self.stream().operations().map(|operations| operations.access);
        operations.ok_or_else(|| self.no_database())
    }

    /// Its block workload.
    pub(crate) fn block_spec(self) -> Result<&'a block::Spec, TrialError> {
        self.stream().block().ok_or_else(|| self.no_database())
    }

    /// What comes by the clock, where anything does.
    fn clocked(self) -> Option<Machine> {
        let beat =
            |clocked: Clocked| Beat { every: clocked.every, payload: clocked.payload, step: clocked.transactions };
        let beats: Vec<Beat> = self.stream().clock().into_iter().map(beat).collect();
        let (window, closed) = (window(self.trial), matches!(self.stream().load, load::Spec::Closed { .. }));
        let limit = Limit { until: window.end, count: None };
        let load = || load::clocked(&beats, closed, limit, self.seed() ^ 0xC10C, (window.start, window.end));
        (!beats.is_empty()).then(load)
    }

    /// The load of each worker.
    fn loads(self, workers: u32) -> Vec<Machine> {
        let (stream, window) = (self.stream(), window(self.trial));
        let limit = Limit { until: window.end, count: self.operations() };
        // Users may be more than the sessions that carry them.
        let sessions = stream.transactions().map(|(_, pool)| pool.sessions);
        let carriers = sessions.unwrap_or(stream.slots());
        let among = (workers, carriers);
        // A job beside other work is what the window is about: it would be over, or partly done, when a warm-up ends.
        let job = stream.transactions().is_some() && stream.work().is_some() && !self.trial.phases.fixed_work;
        let start = if job && self.trial.streams.len() > 1 { window.start } else { Nanos::ZERO };
        let loads = load::divided(&stream.load, stream.ramp, limit, self.seed() ^ 0x10AD, start, among);
        loads.into_iter().map(|load| load.measured(window.start, window.end)).collect()
    }

    fn recorder(self, generator: u16, collector: &mut Collector) -> Recorder {
        let endpoints = self.stream().block().map_or(1, |_| self.trial.modules.max(1) as u16);
        let labelled = self.label().map_or(0, |stream| stream.classes.len());
        let classes = labelled.max(self.stream().classes().len()).max(3) as u16;
        collector.recorder(Layout {
            stream: self.index as u16,
            generator,
            classes,
            endpoints,
            window: window(self.trial),
            interval: self.trial.phases.interval,
            start: Nanos::ZERO,
        })
    }

    /// The operations of one worker on modules of such a size, without data.
    pub(crate) fn storage_work(self, module_bytes: Bytes, place: Place) -> Result<StorageWork, TrialError> {
        let (stream, modules) = (self.stream(), self.trial.modules.max(1));
        let Place { worker, workers, slots, .. } = place;
        if let Some(spec) = stream.files() {
            return Ok(StorageWork::files(*spec, slots));
        }
        let spec = self.block_spec()?;
        // With fewer slots than modules, operation n goes to module n modulo the modules, so that a worker meets only
        // those modules with which its number agrees modulo their greatest common divisor. Each module counts
        // its operations over the workers that meet it, or a sequence would have holes.
        let closed = matches!(stream.load, load::Spec::Closed { .. });
        let order = match closed {
            // Arrivals are carried by whoever is free.
            false if workers > 1 => Order::ByNumber,
            true if stream.slots() / workers >= modules => Order::BySlot,
            _ => Order::InTurn,
        };
        let (worker, workers) = match order {
            Order::ByNumber => (0, 1),
            Order::BySlot => (worker, workers),
            Order::InTurn => {
                let apart = greatest_common_divisor(workers, modules);
                (worker / apart, workers / apart)
            }
        };
        let bytes = if self.trial.module_bytes.0 > 0 { self.trial.module_bytes } else { module_bytes };
        let generator = Generator::new(spec, modules, bytes, self.seed(), worker, workers)
            .map_err(|source| TrialError::Workload { stream: self.name(), source })?;
        let work = StorageWork::block(generator, slots, modules, order).patient(!self.trial.events.is_empty());
        Ok(work.with_sync(self.access()?.sync, modules))
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use load::Think;
    use study::Storage;

    /// Offsets that the workers of a stream visit on one module, one operation of each worker after the other.
    fn visited(workers: u32, slots: u32, modules: u32, module: u16) -> Vec<u64> {
        let mut trial = sample::trial(load::Spec::Closed { slots, think: Think::None }, Nanos::from_millis(1));
        (trial.modules, trial.module_bytes) = (modules, Bytes::mib(1));
        if let Storage::Block(spec) = &mut trial.streams[0].operations_mut().unwrap().of {
            spec.pattern = block::Pattern::Sequential;
        }
        let stream = StreamOf { trial: &trial, index: 0 };
        let mut offsets = Vec::new();
        for worker in 0..workers {
            let own = slots / workers;
            let place = Place { worker, workers, first: worker * own, slots: own, number: worker };
            let mut work = stream.storage_work(Bytes(0), place).unwrap();
            // Operation n of the stream goes to the worker n modulo the workers.
            for round in 0..u64::from(modules) * 4 {
                let n = u64::from(worker) + round * u64::from(workers);
                let operation = work.draw((round % u64::from(own)) as u32, n);
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
        // Threads with one slot each (blocking drivers), and rings with a slot for every module.
        for (workers, slots, modules) in [(8, 8, 4), (6, 6, 4), (3, 3, 2), (1, 1, 4), (2, 8, 4), (1, 8, 2)] {
            for module in 0..modules as u16 {
                let offsets = visited(workers, slots, modules, module);
                let whole: Vec<u64> = (0..offsets.len() as u64).collect();
                assert_eq!(offsets, whole, "{workers} workers, {slots} slots, module {module} of {modules}");
            }
        }
    }

    /// Two streams: closed with five slots over two workers, and open over three.
    fn two() -> Trial {
        let closed = load::Spec::Closed { slots: 5, think: Think::None };
        let mut trial = sample::trial(closed, Nanos::from_millis(1));
        let mut second = trial.streams[0].clone();
        let (rate, arrivals) = (units::PerSecond(1e3), load::Arrivals::Constant);
        second.load = load::Spec::Open { rate, arrivals, slots: 2 };
        trial.streams.push(second);
        trial
    }

    #[test]
    fn workers_share_the_slots_of_their_stream_and_are_counted_over_the_trial() {
        let trial = two();
        let mut collector = Collector::default();
        let shares = assign(&trial, &mut collector, |stream| Ok(Carriers::new(2 + stream.index as u32, Ok))).unwrap();
        let places: Vec<(u16, u32, u32, u32, u32)> = shares
            .iter()
            .map(|(share, place)| (share.stream, place.worker, place.first, place.slots, share.number))
            .collect();
        // The third worker of the second stream finds no slot left.
        assert_eq!(places, [(0, 0, 0, 3, 0), (0, 1, 3, 2, 1), (1, 0, 0, 1, 2), (1, 1, 1, 1, 3), (1, 2, 2, 0, 4)]);
        let (share, place) = &shares[1];
        assert_eq!((share.slots(), place.workers, share.batch), (2, 2, u32::MAX));
        assert_eq!(share.deadline, share.window.end + trial.phases.drain);
    }

    #[test]
    fn the_first_carrier_that_cannot_be_made_ends_the_division() {
        let mut made = 0;
        let cell = std::cell::RefCell::new(&mut made);
        let refused = assign(&two(), &mut Collector::default(), |stream| {
            **cell.borrow_mut() += 1;
            Ok(Carriers::new(1, move |_| Err::<(), _>(stream.unsupported("be carried"))))
        });
        assert_eq!(refused.err().unwrap().to_string(), "system `null` cannot be carried");
        assert_eq!(made, 1, "the second stream was never asked for");
    }

    #[test]
    fn streams_of_one_trial_draw_other_operations_and_have_books_of_their_own_kind() {
        let mut trial = two();
        trial.modules = 3;
        let [first, second] = [0, 1].map(|index| StreamOf { trial: &trial, index });
        assert_ne!(first.seed(), second.seed());
        assert_eq!(second.name(), "stream 1", "it has no label");
        let spec = workload::files::Spec { width: 2, loops: 5, file: Bytes(1), block: Bytes(1), sync: false };
        let mut trial = trial.clone();
        trial.streams[1].operations_mut().unwrap().of = Storage::Files(spec);
        assert_eq!(StreamOf { trial: &trial, index: 1 }.operations(), Some(30), "three steps a loop and copy");
        assert!(StreamOf { trial: &trial, index: 1 }.block_spec().is_err());
    }
}
