//! Operations of a block workload, one after the other.
//!
//! The one idea: operation `k` of a module is a function of (seed, module, k). Worker `w` of `n` takes
//! k = w, w + n, w + 2n and so on of every module, so that the set of operations is the same however many workers share
//! it, and nothing is kept for an operation. Whether `k` reads is drawn with exactly the stated probability, independent of its offset:
//! a strict alternation would put every write on the same half of a sequential range.
//!
//! What it does not do: it fills no buffer and knows no time. Syncs are none of its operations: they follow writes that
//! were acknowledged, so whoever sees the acknowledgements adds them.

use units::Bytes;

use super::offsets::{Choice, Lanes};
use super::purpose::Purpose;
use super::transfer::{Sizes, Tape};
use super::{Pattern, Spec, SpecError};
use crate::{Operation, OperationKind};
use random::{Chance, Lane, Permutation};

/// Class of reads in the operations of a block workload.
pub const READ: u16 = 0;
/// Class of writes.
pub const WRITE: u16 = 1;
/// Class of the syncs that follow writes.
pub const SYNC: u16 = 2;
/// Class of trims, in workloads that have any.
pub const TRIM: u16 = 3;

/// Draws one worker's operations of a block workload. After it is built it never allocates.
#[derive(Clone, Debug)]
pub struct Generator {
    order: Order,
    sizes: Sizes,
    read: Chance,
    /// That it reads or trims.
    kept: Chance,
    origin: u64,
    workers: u64,
    cursors: Vec<Cursor>,
}

#[derive(Clone, Debug)]
enum Order {
    Random(Choice),
    Once { blocks: u64, bytes: u32 },
    Sequential(Tape),
}

/// Where this worker stands in one module.
#[derive(Clone, Debug)]
struct Cursor {
    k: u64,
    pass: u64,
    /// Place of `k` inside its pass; unused by random patterns.
    index: u64,
    direction: Lane,
    size: Lane,
    lanes: Option<Lanes>,
    scatter: Lane,
    permutation: Permutation,
}

impl Generator {
    /// The operations of `worker` (from 0) of `workers` on modules 0 to `modules` - 1 of `module_bytes` each. `seed` is the stream's.
    ///
    /// # Errors
    /// The first problem that [`Spec::problems`] finds, more modules than 65536, or a worker beyond the workers.
    pub fn new(
        spec: &Spec,
        modules: u32,
        module_bytes: Bytes,
        seed: u64,
        worker: u32,
        workers: u32,
    ) -> Result<Generator, SpecError> {
        spec.check(module_bytes)?;
        if modules > u32::from(u16::MAX) + 1 {
            return Err(SpecError::Modules(modules));
        }
        if worker >= workers {
            return Err(SpecError::Worker { worker, workers });
        }
        let sizes = Sizes::new(&spec.transfers, &spec.write_transfers);
        let order = Order::new(spec, &sizes, spec.usable(module_bytes), seed);
        let cursors = (0..modules).map(|module| Cursor::new(&order, seed, module, worker)).collect();
        Ok(Generator {
            order,
            sizes,
            read: Chance::of(spec.read.0),
            kept: Chance::of((spec.read.0 + spec.trims.0).min(1.0)),
            origin: spec.origin().0,
            workers: u64::from(workers),
            cursors,
        })
    }

    /// Goes to operation `k` of a module, which is the one that comes next.
    #[inline]
    pub fn seek(&mut self, module: u32, k: u64) {
        let (cursor, per_pass) = (&mut self.cursors[module as usize], self.order.per_pass());
        cursor.k = k;
        if let Order::Random(_) = self.order {
            return;
        }
        cursor.index = k % per_pass;
        if cursor.pass != k / per_pass {
            cursor.pass = 0;
            cursor.index = k;
            cursor.turn(per_pass);
        }
    }

    /// The next operation on a module. The module must be one of those that the generator was built for.
    #[inline]
    pub fn next(&mut self, module: u32) -> Operation {
        let cursor = &mut self.cursors[module as usize];
        let module = module as u16;
        let direction = cursor.direction.at(cursor.k);
        let (kind, class) = if self.read.says_yes(direction) {
            (OperationKind::Read, READ)
        } else if self.kept.says_yes(direction) {
            (OperationKind::Trim, TRIM)
        } else {
            (OperationKind::Write, WRITE)
        };
        let (offset, bytes) = self.order.place(cursor, &self.sizes, class == READ);
        cursor.k += self.workers;
        self.order.advance(cursor, self.workers);
        Operation { kind, class, module, offset: offset + self.origin, bytes }
    }
}

impl Order {
    fn new(spec: &Spec, sizes: &Sizes, range: Bytes, seed: u64) -> Order {
        match spec.pattern {
            Pattern::Random => Order::Random(Choice::new(spec.offsets, sizes, range)),
            Pattern::RandomOnce => Order::Once { blocks: range.0 / u64::from(sizes.bytes[0]), bytes: sizes.bytes[0] },
            Pattern::Sequential => Order::Sequential(Tape::new(sizes, range, seed)),
        }
    }

    fn per_pass(&self) -> u64 {
        match self {
            Order::Random(_) => u64::MAX,
            Order::Once { blocks, .. } => *blocks,
            Order::Sequential(tape) => tape.per_pass,
        }
    }

    #[inline]
    fn place(&self, cursor: &Cursor, sizes: &Sizes, reads: bool) -> (u64, u32) {
        match (self, &cursor.lanes) {
            (Order::Random(choice), Some(lanes)) => {
                let size = if sizes.single() { 0 } else { sizes.pick_for(reads, cursor.size.at(cursor.k)) };
                (choice.at(lanes, cursor.k, size), sizes.bytes[size])
            }
            (Order::Once { bytes, .. }, _) => (cursor.permutation.at(cursor.index) * u64::from(*bytes), *bytes),
            (Order::Sequential(tape), _) => {
                let entry = tape.at(cursor.index);
                (entry.start, entry.bytes)
            }
            (Order::Random(_), None) => unreachable!("a cursor of a random order has lanes"),
        }
    }

    #[inline]
    fn advance(&self, cursor: &mut Cursor, step: u64) {
        if let Order::Random(_) = self {
            return;
        }
        cursor.index += step;
        if cursor.index >= self.per_pass() {
            cursor.turn(self.per_pass());
        }
    }
}

impl Cursor {
    fn new(order: &Order, seed: u64, module: u32, worker: u32) -> Cursor {
        let module = u64::from(module);
        let scatter = Purpose::Scatter.lane(seed, module);
        let mut cursor = Cursor {
            k: u64::from(worker),
            pass: 0,
            index: u64::from(worker),
            direction: Purpose::Direction.lane(seed, module),
            size: Purpose::Size.lane(seed, module),
            lanes: if let Order::Random(choice) = order { Some(choice.lanes(seed, module)) } else { None },
            scatter,
            permutation: Permutation::new(order.per_pass().min(1 << 62), scatter.at(0)),
        };
        if cursor.index >= order.per_pass() {
            cursor.turn(order.per_pass());
        }
        cursor
    }

    /// Begins a later pass, each with an order of its own. More workers than blocks may skip passes.
    #[cold]
    fn turn(&mut self, per_pass: u64) {
        self.pass += self.index / per_pass;
        self.index %= per_pass;
        self.permutation = Permutation::new(per_pass, self.scatter.at(self.pass));
    }
}
