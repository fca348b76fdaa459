//! The work of a lane: which operation comes next, what its buffer holds, and whether what came back is right.

use observation::{Event, EventKind};
use std::num::NonZeroU32;
use std::sync::Arc;
use study::SyncMode;
use system::Completion;
use units::{Bytes, Nanos};
use workload::block::{self, Acceptable, DataPool, Expectation, Generations, Generator, Reading};
use workload::files;
use workload::{Operation, OperationKind};

/// Events kept for one worker; more are counted only, because a device that fails every operation must not fill memory.
const EVENTS_MAX: usize = 16;

/// So many failures without one success between them mean that the system is gone, whatever the errno says.
const FAILURES_IN_A_ROW: u32 = 10_000;

/// Errors after which no further operation can succeed: the device, the connection or the room is gone.
const CANNOT_PASS: [i32; 7] =
    [libc::ENODEV, libc::ENXIO, libc::ENOSPC, libc::EROFS, libc::EBADF, libc::ENOMEDIUM, libc::ENOTCONN];

/// What a worker does.
pub(crate) struct Task {
    work: Work,
    data: Option<Data>,
    durable: bool,
    syncs: Syncs,
    failures_in_a_row: u32,
    pub(crate) noticed: Noticed,
}

/// A sync after every so many acknowledged writes to a module.
#[derive(Default)]
struct Syncs {
    /// Nothing for never.
    every: Option<NonZeroU32>,
    /// Writes since the last sync, one a module.
    writes: Vec<u32>,
}

/// Where operations come from.
enum Work {
    Block {
        generator: Generator,
        modules: u32,
        /// Whether a slot stays on its module, which keeps the depth of every module the same.
        by_slot: bool,
    },
    /// Transactions, which the port draws and steps.
    Transactions { bytes: u32 },
    /// File steps as opaque operations, for systems without files. Each slot goes round a loop of its own.
    Files { spec: files::Spec, steps: Vec<u8> },
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
    /// The map of acceptable generations, when reads are checked.
    pub(crate) generations: Option<Arc<Generations>>,
}

/// Readings of a validated task, one a slot.
type Readings = Vec<Reading>;

/// What a worker noticed beside its counts.
#[derive(Debug, Default)]
pub(crate) struct Noticed {
    /// The first few events.
    pub(crate) events: Vec<Event>,
    /// Reads that were damaged.
    pub(crate) damaged: u64,
    /// Reads that were checked.
    pub(crate) validated: u64,
    readings: Readings,
}

impl Task {
    /// Block operations on the first `modules` modules; `by_slot` keeps every slot on its module.
    pub(crate) fn block(generator: Generator, modules: u32, by_slot: bool) -> Task {
        Task::new(Work::Block { generator, modules, by_slot })
    }

    /// Transactions, which the port draws. Each that ends well counts as so many bytes: those of the rows of a batch job, else
    /// none.
    pub(crate) fn transactions(bytes: u32) -> Task {
        Task::new(Work::Transactions { bytes })
    }

    /// Bytes of one transaction.
    pub(crate) fn transaction_bytes(&self) -> u32 {
        if let Work::Transactions { bytes } = self.work { bytes } else { 0 }
    }

    /// File steps as opaque operations.
    pub(crate) fn files(spec: files::Spec, slots: u32) -> Task {
        Task::new(Work::Files { spec, steps: vec![0; slots as usize] })
    }

    fn new(work: Work) -> Task {
        let noticed = Noticed { events: Vec::with_capacity(EVENTS_MAX), ..Noticed::default() };
        Task { work, data: None, durable: false, syncs: Syncs::default(), failures_in_a_row: 0, noticed }
    }

    /// Gives the task data to write, and reads to check when there is a map.
    pub(crate) fn with_data(mut self, data: Data, slots: u32, transfer_max: Bytes) -> Task {
        if let Some(map) = &data.generations {
            self.noticed.readings = (0..slots).map(|_| Reading::new(map.grid(), transfer_max)).collect();
        }
        self.data = Some(data);
        self
    }

    /// Makes every write durable before it ends.
    pub(crate) fn with_durable(mut self, durable: bool) -> Task {
        self.durable = durable;
        self
    }

    /// Has a sync follow every so many writes to each of the modules.
    pub(crate) fn with_syncs(mut self, sync: SyncMode, modules: u32) -> Task {
        if let SyncMode::Every(writes) = sync {
            self.syncs = Syncs { every: NonZeroU32::new(writes), writes: vec![0; modules as usize] };
        }
        self
    }

    /// What must follow an operation before its slot is free: a sync when enough writes were acknowledged.
    #[inline]
    pub(crate) fn upkeep(&mut self, operation: &Operation, done: bool) -> Option<Operation> {
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

    /// Whether writes are durable before they end.
    pub(crate) fn durable(&self) -> bool {
        self.durable
    }

    /// The operation of arrival `n` in `slot`; none of transactions, which are the port's.
    #[inline]
    pub(crate) fn draw(&mut self, slot: u32, n: u64) -> Option<Operation> {
        match &mut self.work {
            Work::Block { generator, modules, by_slot } => {
                let module = match *modules {
                    1 => 0,
                    modules if *by_slot => slot % modules,
                    modules => (n % u64::from(modules)) as u32,
                };
                Some(generator.next(module))
            }
            Work::Transactions { .. } => None,
            Work::Files { spec, steps } => Some(file_step(spec, &mut steps[slot as usize])),
        }
    }

    /// Fills the buffer of a write, and notes what a read may find.
    #[inline]
    pub(crate) fn prepare(&mut self, slot: u32, operation: &Operation, buffer: &mut [u8]) {
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
            (OperationKind::Read, Some(map)) => {
                map.begin_read(module, offset, bytes, &mut self.noticed.readings[slot as usize]);
            }
            (OperationKind::Read, None) | (OperationKind::Sync | OperationKind::Transaction, _) => {}
        }
    }

    /// An operation came back: what was read is checked, what was written counts as acknowledged.
    #[inline]
    pub(crate) fn ended(&mut self, slot: u32, operation: &Operation, done: bool, buffer: &mut [u8], at: Nanos) {
        let Some(Data { pool, generations: Some(map), .. }) = &self.data else { return };
        let Operation { module, offset, bytes, .. } = *operation;
        let module = u32::from(module);
        match operation.kind {
            OperationKind::Write => map.end_write(module, offset, bytes, done),
            OperationKind::Read if done => {
                let reading = &mut self.noticed.readings[slot as usize];
                map.end_read(reading);
                let expectation = Expectation { seed: pool.seed(), generations: Acceptable::During(reading) };
                self.noticed.validated += 1;
                if let Err(damage) = block::verify(&buffer[..bytes as usize], module, offset, &expectation) {
                    self.noticed.damage(&damage, at);
                }
            }
            OperationKind::Read | OperationKind::Sync | OperationKind::Transaction => {}
        }
    }

    /// An operation ended well.
    #[inline]
    pub(crate) fn succeeded(&mut self) {
        self.failures_in_a_row = 0;
    }

    /// An operation failed: notes it, and answers with an errno when no further one can succeed.
    #[cold]
    pub(crate) fn failed(
        &mut self,
        operation: &Operation,
        completion: &Completion,
        complaint: Option<String>,
    ) -> Option<i32> {
        self.failures_in_a_row += 1;
        let errno = if completion.result < 0 { completion.result.saturating_neg() } else { libc::EIO };
        self.noticed.event(completion.at, EventKind::Failure, || match complaint {
            Some(complaint) => complaint,
            None => refusal(operation, completion.result, errno),
        });
        let cannot_pass = CANNOT_PASS.contains(&errno);
        (cannot_pass || self.failures_in_a_row >= FAILURES_IN_A_ROW).then_some(errno)
    }
}

impl Noticed {
    #[cold]
    pub(crate) fn damage(&mut self, damage: &block::Damage, at: Nanos) {
        self.damaged += 1;
        self.event(at, EventKind::Damage, || damage.to_string());
    }

    fn event(&mut self, at: Nanos, kind: EventKind, text: impl FnOnce() -> String) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(Event { at, kind, text: text() });
        }
    }
}

/// What the kernel refused, in words.
fn refusal(operation: &Operation, result: i32, errno: i32) -> String {
    let reason = match result {
        result if result < 0 => std::io::Error::from_raw_os_error(errno).to_string(),
        short => format!("{short} of {} bytes moved", operation.bytes),
    };
    let Operation { kind, bytes, offset, module, .. } = operation;
    format!("{kind:?} of {bytes} B at offset {offset} of module {module}: {reason}")
}

/// Create, copy, read, and from the start again. Copying moves every byte twice.
fn file_step(spec: &files::Spec, step: &mut u8) -> Operation {
    let class = *step;
    *step = (class + 1) % 3;
    // A completion carries its bytes as a signed number of 32 bits.
    let file = spec.file.0.min(u64::from(i32::MAX as u32 / 2)) as u32;
    let (kind, bytes) = match class {
        0 => (OperationKind::Write, file),
        1 => (OperationKind::Write, 2 * file),
        _ => (OperationKind::Read, file),
    };
    Operation { kind, class: u16::from(class), module: 0, offset: 0, bytes }
}
