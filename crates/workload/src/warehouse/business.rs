//! One worker's share of the warehouse: the dialog steps of its users, and the streams of deltas that it carries.
//!
//! The one idea: a step is a question and the marker of its cube, asked before it in the same batch, so that what the answer
//! holds is never older than the marker says.
//!
//! What it does not do: it carries no statement out, and reads no clock.

use super::Spec;
use super::deltas::{Change, Errand, Load, Streams, Unclaimed};
use super::scale::{CUBES, MONTHS, QUARTERS, Scale};
use super::statements::{MARKER, MOST, periods, report, source};
use super::walk::{Axis, DialogStep, Move, Walks};
use crate::kind::{Share, Told};
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step, Value};
use units::Nanos;

/// What a slot carries.
#[derive(Clone, Copy, Debug, Default)]
enum Slot {
    #[default]
    Idle,
    Dialog(Dialog),
    Change(Change, u64),
    Load(Load, u64),
}

/// A dialog step under way.
#[derive(Clone, Copy, Debug)]
struct Dialog {
    step: DialogStep,
    sent: bool,
    /// The newest delta of the cube, and the microsecond of its change.
    marker: (i64, i64),
}

/// A worker of the warehouse.
#[derive(Debug)]
pub struct Warehouse {
    scale: Scale,
    walks: Walks,
    streams: Streams,
    slots: Vec<Slot>,
    ages: Vec<Option<Nanos>>,
    /// What was given by the transaction that ended last in each slot.
    gave: Vec<u64>,
    acknowledged: Told,
}

impl Warehouse {
    /// One worker's share; `walkers` users walk over all workers together. The epoch of a trial is the greatest delta before it.
    pub(super) fn new(spec: Spec, share: &Share, walkers: u32, unclaimed: Unclaimed) -> Warehouse {
        Warehouse {
            scale: Scale::of(&spec),
            walks: Walks::new(share.seed, walkers.into(), spec.users, spec.variables),
            streams: Streams::new(&spec, share, unclaimed),
            slots: vec![Slot::default(); share.slots as usize],
            ages: vec![None; share.slots as usize],
            gave: vec![0; share.slots as usize],
            acknowledged: Told::default(),
        }
    }

    /// Loads that were acknowledged; of those that are still under way nothing is known.
    pub(super) fn acknowledged(&self) -> Told {
        let under_way = self.slots.iter().filter(|slot| matches!(slot, Slot::Load(..))).count();
        self.acknowledged.open(under_way as u64)
    }

    /// How old, at `at`, what the last load brought was when the step asked; none before the first load of the trial.
    fn age_of(&self, dialog: &Dialog, at: Nanos) -> Option<Nanos> {
        let (delta, moment) = dialog.marker;
        (delta as u64 > self.streams.before).then(|| Nanos(at.0.saturating_sub(moment as u64 * 1_000)))
    }
}

impl Dialog {
    fn step(&mut self, scale: &Scale, answers: &Answers, batch: &mut Batch) -> Step {
        if self.sent {
            let marker = answers.get(0);
            self.marker = (marker.int(0, 0), marker.int(0, 1));
            return if self.plausible(answers) { Step::Done { rolled_back: false } } else { Step::Fail };
        }
        self.sent = true;
        let DialogStep { cube, view, .. } = self.step;
        let (first, last) = periods(source(scale, view.rows), view.from, view.quarters);
        batch.call(MARKER, [Value::Int(cube as i64 + 1)]);
        let parameters = [first, last, view.slice, view.parent].map(|number| Value::Int(number as i64));
        let below = usize::from(view.parent > 0);
        batch.call(report(cube, view.rows), parameters.into_iter().take(3 + below));
        Step::Send
    }

    /// Whether an answer may be one to a report: not too long, and each column a quarter or a month of the calendar.
    fn plausible(&self, answers: &Answers) -> bool {
        let answer = answers.last();
        let last = match self.step.view.rows {
            Axis::Product | Axis::Customer => i64::MAX,
            Axis::Category | Axis::Region => QUARTERS as i64,
            Axis::Group | Axis::Country | Axis::Channel => MONTHS as i64,
        };
        answer.row_count() <= MOST && (0..answer.row_count()).all(|row| (0..=last).contains(&answer.int(row, 1)))
    }

    fn complaint(&self) -> String {
        let (rows, cube) = (self.step.view.rows.word(), CUBES[self.step.cube as usize % CUBES.len()]);
        format!("a report of {rows} on {cube} gave more than {MOST} rows, or one outside of the calendar")
    }
}

impl Business for Warehouse {
    /// Changes and loads come behind the moves.
    fn class(&mut self, n: u64, payload: u64) -> u16 {
        match Errand::of(payload) {
            Errand::Step => self.walks.step(n).made as u16,
            Errand::Change { .. } => Move::ALL.len() as u16,
            Errand::Load { .. } => Move::ALL.len() as u16 + 1,
        }
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        self.slots[slot as usize] = match Errand::of(begun.payload) {
            Errand::Step => Slot::Dialog(Dialog { step: self.walks.step(begun.n), sent: false, marker: (0, 0) }),
            Errand::Change { stream, nth } => {
                Slot::Change(Change::new(self.streams.delta(stream, nth, begun.at), stream), stream)
            }
            Errand::Load { stream } => Slot::Load(Load::new(self.scale, stream, self.streams.before), stream),
        };
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        match &mut self.slots[slot as usize] {
            Slot::Idle => Step::Done { rolled_back: false },
            Slot::Dialog(dialog) => dialog.step(&self.scale, answers, batch),
            Slot::Change(change, _) => change.step(batch),
            Slot::Load(load, _) => load.step(answers, batch),
        }
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        match &self.slots[slot as usize] {
            Slot::Idle | Slot::Change(..) => None,
            Slot::Dialog(dialog) => Some(dialog.complaint()),
            Slot::Load(load, _) => Some(load.complaint()),
        }
    }

    fn restart(&mut self, slot: u32) {
        match &mut self.slots[slot as usize] {
            Slot::Idle => {}
            Slot::Dialog(dialog) => dialog.sent = false,
            Slot::Change(change, _) => change.restart(),
            Slot::Load(load, _) => load.restart(),
        }
    }

    fn ended(&mut self, slot: u32, ending: Ending, at: Nanos, caused: &mut Vec<Caused>) {
        let ended = std::mem::take(&mut self.slots[slot as usize]);
        self.ages[slot as usize] = None;
        self.streams.begin(at, caused);
        self.gave[slot as usize] = match &ended {
            Slot::Dialog(_) => 1,
            Slot::Load(load, _) => load.rows(),
            Slot::Idle | Slot::Change(..) => 0,
        };
        match ended {
            Slot::Idle => {}
            Slot::Dialog(dialog) => self.ages[slot as usize] = self.age_of(&dialog, at),
            Slot::Change(change, stream) => self.streams.changed(&change.delta, stream, ending, at, caused),
            Slot::Load(load, stream) => {
                // One that found no delta has ended well, and loaded nothing.
                let empty = ending == Ending::Done && load.loaded().is_none();
                self.acknowledged.count(u64::from(!empty), ending);
                self.streams.loaded(load.loaded(), stream, ending, at, caused);
            }
        }
    }

    fn gave(&mut self, slot: u32) -> u64 {
        self.gave[slot as usize]
    }

    fn age(&mut self, slot: u32) -> Option<Nanos> {
        self.ages[slot as usize].take()
    }
}
