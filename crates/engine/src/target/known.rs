//! What is known of the data on the modules of a system, from one trial to the next.
//!
//! The one idea: each write of a trial that checks anything is noted in a map, and the map outlives the trial, so that
//! damage done since then is found by the next one. A trial that wrote without a map leaves only this to be known: that
//! nothing may be older than the last fill.

use crate::TrialError;
use crate::target::backing::Setting;
use crate::worker::assign::{StreamOf, streams};
use observation::Ledger;
use std::sync::Arc;
use study::{Stream, Trial};
use units::{Bytes, Share};
use workload::block::{self, Beginning, DataShape, Duplicates, Generations, Grid};

/// What the modules of a system hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    what: What,
    /// Modules that the last whole fill covered, from the first.
    modules: u32,
    /// The epoch of that fill.
    since: u32,
    /// Of all that was written since.
    shape: DataShape,
}

#[derive(Clone, Debug, Default)]
enum What {
    /// Not even that each block carries a stamp: nothing was filled yet, or a fill was broken off.
    #[default]
    Nothing,
    /// The fill, and nothing since.
    Filled,
    /// Everything that was written.
    Watched(Arc<Generations>),
    /// The fill, and writes that nobody noted.
    Unwatched,
}

/// Counts of the ledger of blocks.
const UNIT: &str = "unit";
const SHIFT: &str = "shift";
const MODULES: &str = "modules";
const MODULE_BYTES: &str = "module_bytes";
const EPOCH: &str = "epoch";
const FILLED: &str = "filled";
const DUPLICATE: &str = "duplicate_ppb";
const DUPLICATE_UNIT: &str = "duplicate_unit";

/// A share in a ledger is counted in such parts.
const PARTS: f64 = 1e9;

/// What is remarked where the age of a block can only be told in part.
const IN_PART: &str = "trials before this one wrote without `validate` or `verify`: until this one has written a block, it is \
                       held to its checksum, place and seed, and to be no older than the fill";

impl Known {
    /// The map in which writes are noted, and against which reads are held.
    pub(crate) fn map(&self) -> Option<Arc<Generations>> {
        if let What::Watched(map) = &self.what { Some(map.clone()) } else { None }
    }

    /// Which blocks repeat others.
    pub(crate) fn duplicates(&self, seed: u64) -> Duplicates {
        Duplicates::new(seed, &self.shape)
    }

    /// What a run file keeps, so that what is there can be held against it at any later time: nothing where nobody noted the
    /// writes.
    pub(crate) fn ledger(&self) -> Option<Ledger> {
        let What::Watched(map) = &self.what else { return None };
        let (grid, (epoch, since)) = (map.grid(), map.epochs());
        let counts = [
            (UNIT, grid.unit.0 as i64),
            (SHIFT, grid.shift.0 as i64),
            (MODULES, i64::from(map.modules())),
            (MODULE_BYTES, map.module_bytes().0 as i64),
            (EPOCH, i64::from(epoch)),
            (FILLED, i64::from(since)),
            (DUPLICATE, (self.shape.duplicate.0 * PARTS).round() as i64),
            (DUPLICATE_UNIT, self.shape.unit.0 as i64),
        ];
        let counts = counts.map(|(name, value)| (name.to_owned(), value)).into();
        Some(Ledger { counts, pages: map.pages().unwrap_or_default() })
    }

    /// What a ledger tells of blocks: the map, whether it knows single writes, and which blocks repeat others. None when it
    /// is that of another kind of work, or no ledger of ours.
    pub(crate) fn of_ledger(ledger: &Ledger, seed: u64) -> Option<(Generations, bool, Duplicates)> {
        let count = |name: &str| ledger.counts.get(name).and_then(|value| u64::try_from(*value).ok());
        let small = |name: &str| count(name).and_then(|value| u32::try_from(value).ok());
        let (unit, shift) = (Bytes(count(UNIT)?), Bytes(count(SHIFT)?));
        let (modules, bytes) = (small(MODULES)?, Bytes(count(MODULE_BYTES)?));
        let epochs = (small(EPOCH)?, small(FILLED)?);
        let shape = DataShape {
            duplicate: Share(count(DUPLICATE)? as f64 / PARTS),
            unit: Bytes(count(DUPLICATE_UNIT)?),
            ..DataShape::default()
        };
        let duplicates = Duplicates::new(seed, &shape);
        let sound = (512..=1 << 40).contains(&unit.0) && shift < unit && bytes.0 < 1 << 60 && modules < 1 << 17;
        sound.then_some(())?;
        if ledger.pages.is_empty() {
            return Some((unwatched(modules, bytes, epochs), false, duplicates));
        }
        let map = Generations::of_pages(Grid { unit, shift }, modules, bytes, epochs, &ledger.pages)?;
        Some((map, true, duplicates))
    }

    /// A fill begins: what is not whole when it is broken off is nothing.
    pub(crate) fn begin_fill(&mut self) -> Known {
        std::mem::take(self)
    }

    /// So many modules were filled whole.
    pub(crate) fn filled(&mut self, epoch: u32, modules: u32, shape: DataShape) {
        *self = Known { what: What::Filled, modules, since: epoch, shape };
    }

    /// Data of this shape was written that nobody noted.
    pub(crate) fn overwritten(&mut self, shape: DataShape) {
        let told = !matches!(self.what, What::Nothing) && self.shape.same_duplicates(&shape);
        self.what = if told { What::Unwatched } else { What::Nothing };
    }

    /// Ranges were given back that nobody noted: they read as zeroes now, and no stamp says so.
    pub(crate) fn trimmed(&mut self) {
        self.what = What::Nothing;
    }

    /// Why a trial that checks what it reads cannot go on from what is there.
    pub(crate) fn unfit(&self, trial: &Trial, shape: DataShape) -> Option<&'static str> {
        match &self.what {
            What::Nothing => Some("what they hold is not known"),
            _ if trial.modules > self.modules => Some("not all of its modules were filled together"),
            _ if !self.shape.same_duplicates(&shape) => Some("what was there has other duplicates"),
            What::Watched(map) => {
                let together = grid(trial).ok().and_then(|grid| map.grid().with(grid).ok());
                together.is_none().then_some("its transfers and those before it have no common unit of 512 B")
            }
            What::Filled | What::Unwatched => None,
        }
    }
}

impl Setting {
    /// Makes the map for a trial, from that of the trial before where there is one. Answers with a remark where the age of
    /// blocks can only be told in part.
    pub(crate) fn watch(&mut self, trial: &Trial) -> Result<Option<String>, TrialError> {
        let grid = grid(trial)?;
        let slots = u64::from(trial.slots());
        let made = match std::mem::take(&mut self.data.what) {
            What::Filled => Some(self.map(grid, slots, self.data.since, Beginning::Filled)),
            // A worker that was left behind may hold the map still.
            What::Watched(map) => Arc::try_unwrap(map).ok().map(|map| {
                let finer = map.grid().with(grid).unwrap_or(map.grid());
                map.continued(finer, slots)
            }),
            What::Nothing | What::Unwatched => None,
        };
        let remark = made.is_none().then(|| IN_PART.to_owned());
        let map = made.unwrap_or_else(|| {
            self.epoch += 1;
            self.map(grid, slots, self.epoch, Beginning::Unknown { since: self.data.since })
        });
        self.data.what = What::Watched(Arc::new(map.map_err(|source| TrialError::Watch { source })?));
        Ok(remark)
    }

    fn map(&self, grid: Grid, slots: u64, epoch: u32, beginning: Beginning) -> Result<Generations, block::WatchError> {
        Generations::new(grid, self.data.modules, self.module_bytes, slots, epoch, beginning)
    }
}

/// A map of modules of which only the last fill is known, in pieces so large that it takes no room.
pub(crate) fn unwatched(modules: u32, module_bytes: Bytes, (epoch, since): (u32, u32)) -> Generations {
    let grid = Grid { unit: Bytes((module_bytes.0 + 1).next_power_of_two().max(512)), shift: Bytes(0) };
    let map = Generations::new(grid, modules, module_bytes, 1, epoch, Beginning::Unknown { since });
    map.unwrap_or_else(|_| unreachable!("one unit a module"))
}

/// The units that every write of a trial covers whole.
fn grid(trial: &Trial) -> Result<Grid, TrialError> {
    let specs: Vec<&block::Spec> = trial.streams.iter().filter_map(Stream::block).collect();
    let stream = || streams(trial).next().map_or_else(String::new, StreamOf::name);
    Grid::over(&specs).map_err(|source| TrialError::Workload { stream: stream(), source })
}
