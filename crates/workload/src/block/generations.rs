//! What may be read where, while writes come and go.
//!
//! The one idea: memory is cut into *units*, the largest size that every write of every stream covers whole. A unit has
//! one word of 64 bits, changed without locks, so the memory is eight bytes a unit whatever the length of the run (1 GiB
//! for 512 GiB in units of 4 KiB). Writes to a unit are counted: its generations. Writes that overlap in time form a
//! *cluster*, and the storage may end with any of them, or with a mixture. When the last of a cluster has ended and any of
//! it succeeded, nothing older than the cluster's first may be read again. A cluster of which every write failed leaves
//! everything acceptable that was so before, and its own.
//!
//! Nothing here can overflow into a false alarm. Distances that outgrow their field stay at its top, which means "not
//! known, anything older is acceptable", until a cluster ends that fits. The count of generations wraps, and only the
//! distance from the latest is ever used; a block exactly 2^21 writes old would pass. Writes in flight on one unit are
//! bounded when the map is built.
//!
//! What it does not do: it reads no stamp; `verify` does.

use std::sync::atomic::{AtomicU64, Ordering};

use units::Bytes;

use super::stamp::SECTOR;
use super::verify::Expected;
use super::{Spec, SpecError};

/// The units into which the modules are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Bytes of a unit: at least 512.
    pub unit: Bytes,
    /// Where the first whole unit starts in a module; a cut one lies before it.
    pub shift: Bytes,
}

impl Grid {
    /// The coarsest grid that every write of all these workloads covers in whole units.
    ///
    /// # Errors
    /// When that grid is finer than a sector, so that no sector lies whole in a unit and nothing could be judged.
    pub fn over(specs: &[&Spec]) -> Result<Grid, SpecError> {
        let shift = specs.first().map_or(0, |spec| spec.shift.0);
        let mut unit = 0;
        for spec in specs {
            unit = common(unit, spec.shift.0.abs_diff(shift));
            unit = spec.transfers.iter().fold(unit, |unit, transfer| common(unit, transfer.size.0));
        }
        if unit < SECTOR as u64 {
            return Err(SpecError::UnitTooSmall { unit: Bytes(unit) });
        }
        Ok(Grid { unit: Bytes(unit), shift: Bytes(shift % unit) })
    }

    /// Memory that watching such modules takes.
    pub fn memory(&self, modules: u32, module_bytes: Bytes) -> Bytes {
        Bytes(self.units(module_bytes).saturating_mul(8 * u64::from(modules)))
    }

    /// How far the first unit reaches before the module: its whole units start at the shift.
    fn lead(&self) -> u64 {
        (self.unit.0 - self.shift.0 % self.unit.0) % self.unit.0
    }

    /// Whole and cut units of a module.
    fn units(&self, module_bytes: Bytes) -> u64 {
        module_bytes.0.saturating_add(self.lead()).div_ceil(self.unit.0)
    }

    /// The unit of a byte.
    fn unit_of(&self, offset: u64) -> u64 {
        (offset + self.lead()) / self.unit.0
    }

    /// Where a unit starts in the module.
    fn start(&self, unit: u64) -> u64 {
        (unit * self.unit.0).saturating_sub(self.lead())
    }

    /// Units touched by a transfer.
    fn touched(&self, offset: u64, bytes: u64) -> std::ops::Range<u64> {
        self.unit_of(offset)..(offset + bytes + self.lead()).div_ceil(self.unit.0)
    }
}

/// The greatest common divisor; 0 is divided by everything.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// What is known of the units when watching begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Every block was filled with [`Generations::filled_with`] and nothing else since.
    Filled,
    /// Blocks hold this run's data of any age.
    Unknown,
}

/// Why modules cannot be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    /// More writes could be in flight on one unit than its word can count.
    #[error("validate: at most {} writes outstanding over all workers, got {slots}", InFlight::MAX)]
    Outstanding {
        /// How many there may be.
        slots: u64,
    },
    /// The map does not fit the address space.
    #[error("validate: {} of memory to watch the modules is more than this machine can address", units::bytes(*.memory))]
    Memory {
        /// What it would take.
        memory: Bytes,
    },
}

/// One word for every unit of every module, shared by all workers.
#[derive(Debug)]
pub struct Generations {
    grid: Grid,
    module_bytes: Bytes,
    per_module: u64,
    epoch: u32,
    words: Vec<AtomicU64>,
}

impl Generations {
    /// Watches `modules` modules. `slots` is the number of operations that may be outstanding over all streams and
    /// workers. `epoch` is the upper half of every generation: that of the fill where the beginning is filled, and one
    /// never used before in this run where it is unknown, so that what was there can be told from what is written now.
    ///
    /// # Errors
    /// Too many outstanding operations or units.
    pub fn new(
        grid: Grid,
        modules: u32,
        module_bytes: Bytes,
        slots: u64,
        epoch: u32,
        beginning: Beginning,
    ) -> Result<Generations, WatchError> {
        if slots > InFlight::MAX {
            return Err(WatchError::Outstanding { slots });
        }
        let per_module = grid.units(module_bytes);
        let memory = WatchError::Memory { memory: grid.memory(modules, module_bytes) };
        let count =
            per_module.checked_mul(u64::from(modules)).and_then(|count| usize::try_from(count).ok()).ok_or(memory)?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| memory)?;
        let word = Word::beginning(beginning).0;
        words.extend((0..count).map(|_| AtomicU64::new(word)));
        Ok(Generations { grid, module_bytes, per_module, epoch, words })
    }

    /// The generation with which a fill stamps every block before watching begins.
    pub fn filled_with(epoch: u32) -> u64 {
        u64::from(epoch) << 32
    }

    /// The grid that is watched.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// A write is about to be issued. For each unit, `stamp` is told its offset, its bytes and the generation to stamp.
    /// The transfer covers whole units, as [`Grid::over`] sees to.
    pub fn begin_write(&self, module: u32, offset: u64, bytes: u32, mut stamp: impl FnMut(u64, usize, u64)) {
        for unit in self.grid.touched(offset, u64::from(bytes)) {
            let word = self.change(module, unit, Word::begun);
            let start = self.grid.start(unit);
            stamp(start, self.grid.unit.0 as usize, self.stamped(word.latest()));
        }
    }

    /// A write ended. One that failed, or moved fewer bytes than asked, may have arrived or not.
    pub fn end_write(&self, module: u32, offset: u64, bytes: u32, succeeded: bool) {
        for unit in self.grid.touched(offset, u64::from(bytes)) {
            self.change(module, unit, |word| word.ended(succeeded));
        }
    }

    /// A read is about to be issued: notes what is acceptable from here on. Never allocates when `reading` was built for
    /// reads of this size.
    pub fn begin_read(&self, module: u32, offset: u64, bytes: u32, reading: &mut Reading) {
        let touched = self.grid.touched(offset, u64::from(bytes));
        reading.grid = self.grid;
        reading.epoch = self.epoch;
        reading.module = module;
        reading.first = touched.start;
        reading.units.clear();
        reading.units.extend(touched.map(|unit| {
            let word = self.word(module, unit);
            Seen { issued: word, ended: word }
        }));
    }

    /// The read ended: notes what was written meanwhile.
    pub fn end_read(&self, reading: &mut Reading) {
        for (index, seen) in reading.units.iter_mut().enumerate() {
            seen.ended = self.word(reading.module, reading.first + index as u64);
        }
    }

    /// The same knowledge on another grid, for a trial with other transfers that finds the data as the last one left it.
    /// A unit that takes the place of several may hold whatever any of them may hold.
    ///
    /// # Errors
    /// As for [`Generations::new`].
    pub fn regrid(&self, grid: Grid, slots: u64) -> Result<Generations, WatchError> {
        let modules = self.words.len() as u64 / self.per_module.max(1);
        let mut regridded =
            Generations::new(grid, modules as u32, self.module_bytes, slots, self.epoch, Beginning::Unknown)?;
        for (index, word) in regridded.words.iter_mut().enumerate() {
            let (module, unit) = (index as u64 / regridded.per_module, index as u64 % regridded.per_module);
            let (start, end) = (grid.start(unit), grid.start(unit + 1).min(self.module_bytes.0));
            *word = AtomicU64::new(self.within(module as u32, start, end - start).0);
        }
        Ok(regridded)
    }

    /// What any byte of this span may hold.
    fn within(&self, module: u32, start: u64, bytes: u64) -> Word {
        let words = self.grid.touched(start, bytes).map(|unit| self.word(module, unit));
        words.reduce(Word::either).unwrap_or(Word::beginning(Beginning::Unknown))
    }

    fn stamped(&self, latest: u64) -> u64 {
        Generations::filled_with(self.epoch) | latest
    }

    fn at(&self, module: u32, unit: u64) -> &AtomicU64 {
        &self.words[(u64::from(module) * self.per_module + unit) as usize]
    }

    fn word(&self, module: u32, unit: u64) -> Word {
        Word(self.at(module, unit).load(Ordering::SeqCst))
    }

    fn change(&self, module: u32, unit: u64, step: impl Fn(Word) -> Word) -> Word {
        let place = self.at(module, unit);
        let mut old = place.load(Ordering::SeqCst);
        loop {
            let new = step(Word(old));
            match place.compare_exchange_weak(old, new.0, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return new,
                Err(seen) => old = seen,
            }
        }
    }
}

/// What one read may find, noted when it is issued and when it ends. One for every slot, built beforehand.
#[derive(Clone, Debug)]
pub struct Reading {
    grid: Grid,
    epoch: u32,
    module: u32,
    first: u64,
    units: Vec<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    issued: Word,
    ended: Word,
}

/// How old a sector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    Acceptable,
    TooOld,
    NeverWritten,
}

impl Reading {
    /// Room for reads of at most `bytes`.
    pub fn new(grid: Grid, bytes: Bytes) -> Reading {
        let units = bytes.0.div_ceil(grid.unit.0) as usize + 1;
        Reading { grid, epoch: 0, module: 0, first: 0, units: Vec::with_capacity(units) }
    }

    /// Whether the sector at this offset lies whole in one unit that the read touched.
    pub(crate) fn holds(&self, offset: u64) -> bool {
        self.seen(offset).is_some() && self.same_unit(offset, offset + SECTOR as u64 - 1)
    }

    pub(crate) fn same_unit(&self, one: u64, other: u64) -> bool {
        self.grid.unit_of(one) == self.grid.unit_of(other)
    }

    /// Whether a write was in flight at any time between issue and end.
    pub(crate) fn contended(&self, offset: u64) -> bool {
        self.seen(offset).is_some_and(|seen| seen.issued.in_flight() > 0 || seen.issued != seen.ended)
    }

    pub(crate) fn age(&self, offset: u64, generation: u64) -> Age {
        let Some(seen) = self.seen(offset) else { return Age::Acceptable };
        let older_epoch = generation >> 32 < u64::from(self.epoch);
        match seen.acceptable() {
            _ if generation >> 32 > u64::from(self.epoch) => Age::NeverWritten,
            None => Age::Acceptable,
            Some(_) if older_epoch => Age::TooOld,
            Some(back) => match Word::distance(seen.ended.latest(), generation) {
                distance if distance <= back => Age::Acceptable,
                distance if distance < Latest::SPAN / 2 => Age::TooOld,
                _ => Age::NeverWritten,
            },
        }
    }

    pub(crate) fn expected(&self, offset: u64) -> Expected {
        let Some(seen) = self.seen(offset) else { return Expected::Any };
        let epoch = u64::from(self.epoch) << 32;
        let latest = seen.ended.latest();
        seen.acceptable().map_or(Expected::Any, |back| Expected::Between {
            oldest: epoch | Word::distance(latest, back),
            latest: epoch | latest,
        })
    }

    fn seen(&self, offset: u64) -> Option<&Seen> {
        let unit = self.grid.unit_of(offset).checked_sub(self.first)?;
        self.units.get(unit as usize)
    }
}

impl Seen {
    /// How far behind the latest write of the read's end an acceptable generation may lie; none where any may.
    fn acceptable(&self) -> Option<u64> {
        let began = Word::distance(self.ended.latest(), self.issued.latest());
        // More writes during one read than half the count can tell apart: nothing can be said.
        self.issued.back().filter(|_| began < Latest::SPAN / 4).map(|back| back + began)
    }
}

/// A field of a word.
struct Field<const SHIFT: u32, const BITS: u32>;

impl<const SHIFT: u32, const BITS: u32> Field<SHIFT, BITS> {
    const SPAN: u64 = 1 << BITS;
    const MAX: u64 = Self::SPAN - 1;

    fn of(word: u64) -> u64 {
        (word >> SHIFT) & Self::MAX
    }

    fn put(value: u64) -> u64 {
        (value & Self::MAX) << SHIFT
    }
}

/// Number of the latest write that was begun; wraps.
type Latest = Field<0, 21>;
/// How many writes before the latest the oldest acceptable one lies; at the top when not known.
type Back = Field<21, 14>;
/// Writes begun in the running cluster; at the top when there were more.
type Cluster = Field<35, 14>;
/// Writes in flight.
type InFlight = Field<49, 14>;
/// Whether a write of the running cluster succeeded.
type Success = Field<63, 1>;

/// All that is known of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word(u64);

impl Word {
    fn beginning(beginning: Beginning) -> Word {
        match beginning {
            Beginning::Filled => Word(0),
            Beginning::Unknown => Word(Back::put(Back::MAX)),
        }
    }

    fn pack(latest: u64, back: u64, cluster: u64, in_flight: u64, success: u64) -> Word {
        Word(
            Latest::put(latest)
                | Back::put(back.min(Back::MAX))
                | Cluster::put(cluster.min(Cluster::MAX))
                | InFlight::put(in_flight)
                | Success::put(success),
        )
    }

    fn latest(self) -> u64 {
        Latest::of(self.0)
    }

    fn in_flight(self) -> u64 {
        InFlight::of(self.0)
    }

    fn back(self) -> Option<u64> {
        Some(Back::of(self.0)).filter(|back| *back < Back::MAX)
    }

    /// How many writes `earlier` lies before `later`.
    fn distance(later: u64, earlier: u64) -> u64 {
        later.wrapping_sub(earlier) & Latest::MAX
    }

    fn begun(self) -> Word {
        let alone = self.in_flight() == 0;
        let (cluster, success) = if alone { (1, 0) } else { (Cluster::of(self.0) + 1, Success::of(self.0)) };
        Word::pack(self.latest() + 1, Back::of(self.0) + 1, cluster, self.in_flight() + 1, success)
    }

    fn ended(self, succeeded: bool) -> Word {
        debug_assert!(self.in_flight() > 0, "a write ended that never began");
        let success = Success::of(self.0) | u64::from(succeeded);
        let cluster = Cluster::of(self.0);
        let closed = self.in_flight() == 1 && success == 1;
        let back = match cluster {
            _ if !closed => Back::of(self.0),
            Cluster::MAX => Back::MAX,
            _ => cluster - 1,
        };
        Word::pack(self.latest(), back, cluster, self.in_flight() - 1, success)
    }

    /// A unit that may hold what either may hold. Nothing is in flight.
    fn either(self, other: Word) -> Word {
        let ahead = Word::distance(self.latest(), other.latest());
        let (newer, older, ahead) =
            if ahead < Latest::SPAN / 2 { (self, other, ahead) } else { (other, self, Latest::SPAN - ahead) };
        let back = match (newer.back(), older.back()) {
            (Some(newer), Some(older)) => newer.max(older + ahead),
            _ => Back::MAX,
        };
        Word::pack(newer.latest(), back, 0, 0, 0)
    }
}
