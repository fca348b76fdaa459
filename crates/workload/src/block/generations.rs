//! What may be read where, while writes come and go.
//!
//! The one idea: modules are cut into units (see `grid`). A unit has one word of 64 bits, changed without locks, so the
//! memory is eight bytes a unit whatever the length of the run: 1 GiB for 512 GiB in units of 4 KiB. Writes to a unit are
//! counted: its generations. Writes that overlap in time form a *cluster*: the next begins when nothing is in flight. The
//! storage may end with any write of a cluster, or with a mixture; but as soon as one has succeeded, nothing older than
//! the cluster's first may be read again. A cluster of which every write failed leaves acceptable what was so before.
//!
//! What it does not do: it reads no stamp; `verify` does.

use std::sync::atomic::{AtomicU64, Ordering};

use units::Bytes;

use super::grid::Grid;
use super::reading::{Reading, Seen};
use super::word::{Beginning, InFlight, Word};

/// Operations that may be outstanding together while modules are watched.
pub const OUTSTANDING_MAX: u64 = InFlight::MAX;

/// Why modules cannot be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    /// More writes could be in flight on one unit than its word can count.
    #[error("validate: at most {} writes outstanding over all workers, got {}", InFlight::MAX, .0)]
    Outstanding(u64),
    /// The map does not fit the address space.
    #[error("validate: {} of memory to watch the modules is more than this machine can address", units::bytes(*.0))]
    Memory(Bytes),
}

/// One word for every unit of every module, shared by all workers.
#[derive(Debug)]
pub struct Generations {
    grid: Grid,
    per_module: u64,
    modules: u32,
    module_bytes: Bytes,
    epoch: u32,
    /// The epoch of the last whole fill: nothing older may be there, whatever else is known.
    since: u32,
    /// Whether there may be writes that nobody noted, newer than all that were.
    newer: bool,
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
        check(slots)?;
        let per_module = grid.units(module_bytes);
        let memory = WatchError::Memory(grid.memory(modules, module_bytes));
        let count =
            per_module.checked_mul(u64::from(modules)).and_then(|count| usize::try_from(count).ok()).ok_or(memory)?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|_| memory)?;
        let word = Word::beginning(beginning).0;
        words.extend((0..count).map(|_| AtomicU64::new(word)));
        let since = if let Beginning::Unknown { since } = beginning { since } else { epoch };
        Ok(Generations { grid, per_module, modules, module_bytes, epoch, since, newer: false, words })
    }

    /// The same modules in a further trial, on this grid or on one that cuts it finer ([`Grid::with`]): each piece takes over
    /// what was known of its unit. Nothing is in flight any more: a write that never came back may have arrived or not,
    /// like one that failed.
    ///
    /// # Errors
    /// Too many outstanding operations or units.
    pub fn continued(self, grid: Grid, slots: u64) -> Result<Generations, WatchError> {
        check(slots)?;
        for word in &self.words {
            word.store(Word(word.load(Ordering::SeqCst)).settled().0, Ordering::SeqCst);
        }
        if grid == self.grid {
            return Ok(self);
        }
        let fresh = Beginning::Unknown { since: self.since };
        let finer = Generations::new(grid, self.modules, self.module_bytes, slots, self.epoch, fresh)?;
        for module in 0..self.modules {
            for unit in 0..finer.per_module {
                let word = self.word(module, self.grid.unit_of(grid.start(unit)));
                finer.set(module, unit, word);
            }
        }
        Ok(finer)
    }

    /// The generation with which a fill stamps every block before watching begins.
    pub fn filled_with(epoch: u32) -> u64 {
        u64::from(epoch) << 32
    }

    /// The same where more may have been written since than was noted: only what is too old is damage.
    pub fn or_newer(self) -> Generations {
        Generations { newer: true, ..self }
    }

    /// The epochs of what is noted and of the last whole fill.
    pub fn epochs(&self) -> (u32, u32) {
        (self.epoch, self.since)
    }

    /// How many modules are watched.
    pub fn modules(&self) -> u32 {
        self.modules
    }

    /// The size of each.
    pub fn module_bytes(&self) -> Bytes {
        self.module_bytes
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
        reading.since = self.since;
        reading.newer = self.newer;
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

    fn stamped(&self, latest: u64) -> u64 {
        Generations::filled_with(self.epoch) | latest
    }

    fn at(&self, module: u32, unit: u64) -> &AtomicU64 {
        &self.words[(u64::from(module) * self.per_module + unit) as usize]
    }

    pub(super) fn set(&self, module: u32, unit: u64, word: Word) {
        self.at(module, unit).store(word.0, Ordering::SeqCst);
    }

    pub(super) fn word(&self, module: u32, unit: u64) -> Word {
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

fn check(slots: u64) -> Result<(), WatchError> {
    if slots > InFlight::MAX { Err(WatchError::Outstanding(slots)) } else { Ok(()) }
}
