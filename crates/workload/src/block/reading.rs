//! What one read may find.
//!
//! The one idea: a read may return nothing older than what was acknowledged when it was issued, and nothing newer than
//! what was issued when it ended. So the words of its units are noted twice.
//!
//! What it does not do: it reads no stamp.

use units::Bytes;

use super::grid::Grid;
use super::stamp::SECTOR;
use super::verify::Expected;
use super::word::{Latest, Word};

/// What one read may find, noted when it is issued and when it ends. One for every slot, built beforehand.
#[derive(Clone, Debug)]
pub struct Reading {
    pub(super) grid: Grid,
    pub(super) epoch: u32,
    pub(super) since: u32,
    pub(super) newer: bool,
    pub(super) module: u32,
    pub(super) first: u64,
    pub(super) units: Vec<Seen>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) issued: Word,
    pub(super) ended: Word,
}

/// The generation so many writes before another of its epoch.
pub(crate) fn older(generation: u64, back: u64) -> u64 {
    (generation >> 32 << 32) | Word::distance(generation, back)
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
        Reading { grid, epoch: 0, since: 0, newer: false, module: 0, first: 0, units: Vec::with_capacity(units) }
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
        let newer = if self.newer { Age::Acceptable } else { Age::NeverWritten };
        let older_epoch = generation >> 32 < u64::from(self.epoch);
        match seen.acceptable() {
            _ if generation >> 32 > u64::from(self.epoch) => newer,
            None if generation >> 32 < u64::from(self.since) => Age::TooOld,
            None => Age::Acceptable,
            Some(_) if older_epoch => Age::TooOld,
            Some(back) => match Word::distance(seen.ended.latest(), generation) {
                distance if distance <= back => Age::Acceptable,
                distance if distance < Latest::SPAN / 2 => Age::TooOld,
                _ => newer,
            },
        }
    }

    /// The latest acceptable generation, and how many are from it on backwards; none where any is.
    pub(crate) fn acceptable(&self, offset: u64) -> Option<(u64, u64)> {
        let seen = self.seen(offset)?;
        let latest = (u64::from(self.epoch) << 32) | seen.ended.latest();
        seen.acceptable().filter(|_| !self.newer).map(|back| (latest, back + 1))
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
