//! Operations on modules as the work of a lane: which comes next, what its buffer holds, and whether what came back is
//! right.

use crate::hot::hung::Hung;
use crate::hot::lane::{Key, Out, Settled, Upkeep, Work};
use crate::hot::noticed::Noticed;
use load::{Arrival, Load, Unissued};
use recorder::Outcome;
use std::num::NonZeroU32;
use std::sync::Arc;
use study::SyncMode;
use system::{Completion, Outcome as Ended, StoragePort};
use units::{Bytes, Nanos};
use workload::block::{self, Acceptable, DataPool, Expectation, Generations, Generator, Reading};
use workload::files;
use workload::{Operation, OperationKind};

/// The operations of one worker.
pub(crate) struct StorageWork {
    source: Source,
    data: Option<Data>,
    durable: bool,
    syncs: Syncs,
    /// What each slot carries.
    asked: Vec<Operation>,
    /// What reads of validated slots may find.
    readings: Vec<Reading>,
    /// Upkeep that is due: its slot, since when, and what it is.
    due: Vec<(u32, Nanos, Operation)>,
    noticed: Noticed,
}

/// A sync after every so many acknowledged writes to a module.
#[derive(Default)]
struct Syncs {
    /// Nothing for never.
    every: Option<NonZeroU32>,
    /// Writes since the last sync, one a module.
    writes: Vec<u32>,
}

/// Which operation of the stream an arrival gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The worker's next on the module of the slot, which keeps the depth of every module the same.
    BySlot,
    /// The worker's next on the module of the arrival.
    InTurn,
    /// The one of the arrival's number, whoever carries it.
    ByNumber,
}

/// Where operations come from.
enum Source {
    Block {
        generator: Generator,
        modules: u32,
        order: Order,
    },
    /// File steps as opaque operations, for systems without files. Each slot goes round a loop of its own.
    Files {
        spec: files::Spec,
        steps: Vec<u8>,
    },
}

/// What is written, and what may be read.
pub(crate) struct Data {
    /// Where payload comes from.
    pub(crate) pool: Arc<DataPool>,
    /// Epoch of writes that nobody watches: the upper half of their generation.
    pub(crate) epoch: u32,
    /// Lower half of the generation of the last such write. It changes with every write, so that no block is written
    /// twice with the same bytes: a clever device could skip such a write.
    pub(crate) count: u32,
    /// The map of acceptable generations, when anything that is written is checked.
    pub(crate) generations: Option<Arc<Generations>>,
    /// Whether reads are held against it.
    pub(crate) checks: bool,
}

const NOTHING: Operation = Operation { kind: OperationKind::Sync, class: 0, module: 0, offset: 0, bytes: 0 };

impl StorageWork {
    /// Block operations on the first `modules` modules.
    pub(crate) fn block(generator: Generator, slots: u32, modules: u32, order: Order) -> StorageWork {
        StorageWork::new(Source::Block { generator, modules, order }, slots)
    }

    /// File steps as opaque operations.
    pub(crate) fn files(spec: files::Spec, slots: u32) -> StorageWork {
        StorageWork::new(Source::Files { spec, steps: vec![0; slots as usize] }, slots)
    }

    fn new(source: Source, slots: u32) -> StorageWork {
        let slots = slots as usize;
        StorageWork {
            source,
            data: None,
            durable: false,
            syncs: Syncs::default(),
            asked: vec![NOTHING; slots],
            readings: Vec::new(),
            due: Vec::with_capacity(slots),
            noticed: Noticed::default(),
        }
    }

    /// A work in the middle of which something happens goes on whatever fails.
    pub(crate) fn patient(mut self, patient: bool) -> StorageWork {
        self.noticed.patient = patient;
        self
    }

    /// Gives the work data to write, and reads to check when there is a map.
    pub(crate) fn with_data(mut self, data: Data, transfer_max: Bytes) -> StorageWork {
        if let Some(map) = data.generations.as_ref().filter(|_| data.checks) {
            self.readings = self.asked.iter().map(|_| Reading::new(map.grid(), transfer_max)).collect();
        }
        self.data = Some(data);
        self
    }

    /// Makes written data durable as the stream asks: with every write, or by a sync after every so many writes to each
    /// of the modules.
    pub(crate) fn with_sync(mut self, sync: SyncMode, modules: u32) -> StorageWork {
        match sync {
            SyncMode::Never => {}
            SyncMode::Each | SyncMode::Whole => self.durable = true,
            SyncMode::Every(writes) => {
                self.syncs = Syncs { every: NonZeroU32::new(writes), writes: vec![0; modules as usize] };
            }
        }
        self
    }

    /// What must follow an operation before its slot is free: a sync when enough writes were acknowledged.
    #[inline]
    fn upkeep(&mut self, operation: &Operation, done: bool) -> Option<Operation> {
        let every = self.syncs.every?;
        if operation.kind != OperationKind::Write || !done {
            return None;
        }
        let writes = &mut self.syncs.writes[usize::from(operation.module)];
        *writes += 1;
        if *writes < every.get() {
            return None;
        }
        *writes = 0;
        Some(Operation { kind: OperationKind::Sync, class: block::SYNC, module: operation.module, offset: 0, bytes: 0 })
    }

    /// The operation of arrival `n` in `slot`.
    #[inline]
    pub(crate) fn draw(&mut self, slot: u32, n: u64) -> Operation {
        match &mut self.source {
            Source::Block { generator, modules, order } => {
                let module = match *modules {
                    1 => 0,
                    modules if *order == Order::BySlot => slot % modules,
                    modules => (n % u64::from(modules)) as u32,
                };
                if *order == Order::ByNumber {
                    generator.seek(module, n / u64::from(*modules));
                }
                generator.next(module)
            }
            Source::Files { spec, steps } => file_step(spec, &mut steps[slot as usize]),
        }
    }

    /// Fills the buffer of a write, and notes what a read may find.
    #[inline]
    fn prepare(&mut self, slot: u32, operation: &Operation, buffer: &mut [u8]) {
        let (Some(data), false) = (&mut self.data, buffer.is_empty()) else { return };
        let Operation { module, offset, bytes, .. } = *operation;
        let module = u32::from(module);
        match (operation.kind, &data.generations) {
            (OperationKind::Write, None) => {
                data.count = data.count.wrapping_add(1);
                let generation = Generations::filled_with(data.epoch) | u64::from(data.count);
                block::fill(&mut buffer[..bytes as usize], module, offset, generation, &data.pool);
            }
            (OperationKind::Write, Some(map)) => map.begin_write(module, offset, bytes, |start, length, generation| {
                let from = (start - offset) as usize;
                block::fill(&mut buffer[from..from + length], module, start, generation, &data.pool);
            }),
            (OperationKind::Read, Some(map)) if data.checks => {
                map.begin_read(module, offset, bytes, &mut self.readings[slot as usize]);
            }
            (OperationKind::Read | OperationKind::Sync | OperationKind::Trim, _) => {}
        }
    }

    /// An operation came back: what was read is checked, what was written counts as acknowledged.
    #[inline]
    fn ended(&mut self, slot: u32, operation: &Operation, done: bool, buffer: &mut [u8], at: Nanos) {
        let Some(Data { pool, generations: Some(map), checks, .. }) = &self.data else { return };
        let Operation { module, offset, bytes, .. } = *operation;
        let module = u32::from(module);
        match operation.kind {
            OperationKind::Write => map.end_write(module, offset, bytes, done),
            OperationKind::Read if done && *checks => {
                let reading = &mut self.readings[slot as usize];
                map.end_read(reading);
                let (seed, duplicates) = (pool.seed(), pool.duplicates());
                let expectation = Expectation { seed, duplicates, generations: Acceptable::During(reading) };
                self.noticed.validated += 1;
                if let Err(damage) = block::verify(&buffer[..bytes as usize], module, offset, &expectation) {
                    self.noticed.damage(&damage, at);
                }
            }
            OperationKind::Read | OperationKind::Sync | OperationKind::Trim => {}
        }
    }

    /// An operation failed, or moved less than it was asked to.
    #[cold]
    fn failed(&mut self, operation: &Operation, completion: &Completion) -> Option<i32> {
        let (errno, reason) = match completion.outcome {
            Ended::Failed { errno } => (errno, std::io::Error::from_raw_os_error(errno).to_string()),
            Ended::Moved { bytes } => (libc::EIO, format!("{bytes} of {} bytes moved", operation.bytes)),
            Ended::Transacted { .. } => (libc::EIO, "no data moved".to_owned()),
        };
        self.noticed.failure(completion.at, errno, || format!("{}: {reason}", words(operation)))
    }
}

/// Which operation it is.
fn words(operation: &Operation) -> String {
    let Operation { kind, bytes, offset, module, .. } = operation;
    format!("{kind:?} of {bytes} B at offset {offset} of module {module}")
}

/// Where an operation is counted.
fn key(operation: &Operation) -> Key {
    Key { class: operation.class, endpoint: operation.module }
}

impl<P: StoragePort> Work<P> for StorageWork {
    #[inline]
    fn stage(&mut self, port: &mut P, first: u32, arrival: &Arrival) -> Key {
        let slot = arrival.slot;
        let operation = self.draw(slot, arrival.n);
        self.prepare(slot, &operation, port.buffer(first + slot));
        port.stage(first + slot, &operation, self.durable);
        self.asked[slot as usize] = operation;
        key(&operation)
    }

    #[inline]
    fn owes_upkeep(&self) -> bool {
        !self.due.is_empty()
    }

    fn stage_upkeep(&mut self, port: &mut P, first: u32) -> Option<Upkeep> {
        let (slot, intended, operation) = self.due.pop()?;
        port.stage(first + slot, &operation, false);
        self.asked[slot as usize] = operation;
        Some(Upkeep { slot, intended, key: key(&operation) })
    }

    #[inline]
    fn settle<L: Load>(&mut self, port: &mut P, first: u32, completion: &Completion, _load: &mut L) -> Settled {
        let slot = completion.slot - first;
        let operation = self.asked[slot as usize];
        // A trim moves nothing, and the kernel says so.
        let moves = if operation.kind == OperationKind::Trim { 0 } else { operation.bytes };
        let done = matches!(completion.outcome, Ended::Moved { bytes } if bytes == moves || moves == 0);
        self.ended(slot, &operation, done, port.buffer(completion.slot), completion.at);
        let upkeep = self.upkeep(&operation, done);
        if let Some(upkeep) = upkeep {
            self.due.push((slot, completion.at, upkeep));
        }
        let (outcome, gone) = if done {
            self.noticed.success();
            (Outcome::done(moves.into()), None)
        } else {
            (Outcome::Failed, self.failed(&operation, completion))
        };
        Settled { outcome, answered: completion.at, held: upkeep.is_some(), gone }
    }

    fn hung(&mut self, slot: u32, out: Out) {
        self.noticed.hung = Some(Hung::new(words(&self.asked[slot as usize]), out));
    }

    fn never(&mut self, _port: &mut P, _first: u32, never: &Unissued) -> Key {
        key(&self.draw(0, never.n))
    }

    fn noticed(&mut self) -> &mut Noticed {
        &mut self.noticed
    }

    fn into_noticed(self) -> Noticed {
        self.noticed
    }
}

/// Create, copy, read, and from the start again. Copying moves every byte twice.
fn file_step(spec: &files::Spec, step: &mut u8) -> Operation {
    let class = *step;
    *step = (class + 1) % 3;
    // An operation holds its bytes in 32 bits. The bound is lower than that and stays so: simulated times follow from it.
    let file = spec.file.0.min(u64::from(i32::MAX as u32 / 2)) as u32;
    let (kind, bytes) = match class {
        0 => (OperationKind::Write, file),
        1 => (OperationKind::Write, 2 * file),
        _ => (OperationKind::Read, file),
    };
    Operation { kind, class: u16::from(class), module: 0, offset: 0, bytes }
}
