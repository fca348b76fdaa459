//! A die: what waits for it, and what it does next.
//!
//! The one idea: a die takes operations as they come. When a plane runs short of erased blocks, every other turn is a step of
//! cleaning, and when no block is left to write to, every turn is. With nothing to do it cleans up to the higher mark.

use super::shape::Shape;
use super::translation::Translation;
use crate::station::Watch;
use std::collections::VecDeque;
use units::Nanos;

/// An operation on one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Task {
    pub write: bool,
    /// Only a part of the page is written, so it is read before.
    pub part: bool,
    pub page: u32,
    pub slot: u32,
}

/// What a die began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    Nothing,
    /// Reads of this many pages.
    Reads(u32),
    /// Writes of this many pages; whether one of them needs to be read before.
    Writes(u32, bool),
    /// Copies, of the plane with the most, and whether a block is erased behind them.
    Cleaning(u32, bool),
}

/// Operations behind the first that are looked at for other planes.
const LOOK: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Die {
    pub waiting: VecDeque<Task>,
    /// What it works on: at most one operation a plane.
    pub doing: Vec<Task>,
    pub busy: bool,
    cleaned: bool,
    planes: std::ops::Range<u32>,
    pub watch: Watch,
}

impl Die {
    pub fn new(number: u32, shape: &Shape, room: usize) -> Die {
        Die {
            waiting: VecDeque::with_capacity(room),
            doing: Vec::with_capacity(shape.planes as usize),
            busy: false,
            cleaned: false,
            planes: number * shape.planes..(number + 1) * shape.planes,
            watch: Watch::default(),
        }
    }

    /// Notes who is here.
    #[inline]
    pub fn note(&mut self, now: Nanos) {
        let here = self.waiting.len() + self.doing.len();
        self.watch.turn(now, here as u32, f64::from(u8::from(self.busy)));
    }

    /// Begins what comes next.
    pub fn begin(&mut self, maps: &mut Translation, shape: &Shape) -> Begun {
        self.planes.clone().for_each(|unit| maps.spare_unseen(unit));
        let stuck = self.waiting.front().is_some_and(|task| task.write && !maps.has_room(maps.plane_of(task.page)));
        let due = stuck || !self.cleaned || self.waiting.is_empty();
        if due && let Some(cleaning) = self.clean(maps, shape, stuck) {
            self.cleaned = true;
            return cleaning;
        }
        self.cleaned = false;
        self.serve(maps, shape.together)
    }

    /// A step of cleaning on every plane that wants it. Planes that work together also clean together, so that the one that
    /// does not yet have to joins in while it is short of the higher mark.
    fn clean(&mut self, maps: &mut Translation, shape: &Shape, stuck: bool) -> Option<Begun> {
        let wants = |maps: &mut Translation, unit| maps.wants_cleaning(unit) || (stuck && !maps.has_room(unit));
        if !self.planes.clone().any(|unit| wants(maps, unit)) {
            return None;
        }
        let (mut most, mut erased) = (0, false);
        for unit in self.planes.clone() {
            if wants(maps, unit) || (shape.together && maps.erased(unit) <= shape.watermarks.1) {
                let paced = !stuck && !self.waiting.is_empty();
                let copies = if paced { maps.copies_due(unit).min(shape.copies) } else { shape.copies };
                let cleaned = maps.clean(unit, copies);
                (most, erased) = (most.max(cleaned.copied), erased || cleaned.erased);
            }
        }
        (most > 0 || erased).then_some(Begun::Cleaning(most, erased))
    }

    /// The first that waits, and those behind it that other planes can do with it.
    fn serve(&mut self, maps: &mut Translation, together: bool) -> Begun {
        let Some(first) = self.waiting.pop_front() else { return Begun::Nothing };
        let mut planes = self.take(first, maps);
        let mut at = 0;
        while together && at < self.waiting.len().min(LOOK) && self.doing.len() < self.planes.len() {
            let task = self.waiting[at];
            let unit = maps.plane_of(task.page);
            let fits = task.write == first.write && planes & (1 << (unit % 32)) == 0;
            if fits && (!task.write || maps.has_room(unit)) {
                self.waiting.remove(at);
                planes |= self.take(task, maps);
            } else {
                at += 1;
            }
        }
        let count = self.doing.len() as u32;
        if first.write { Begun::Writes(count, self.doing.iter().any(|task| task.part)) } else { Begun::Reads(count) }
    }

    /// Takes an operation up; the answer is its plane as a bit.
    #[inline]
    fn take(&mut self, task: Task, maps: &mut Translation) -> u32 {
        if task.write {
            maps.write(task.page);
        }
        self.doing.push(task);
        1 << (maps.plane_of(task.page) % 32)
    }
}
