//! One worker's share of a bank's night: its jobs, and what they settled.
//!
//! The one idea: which piece an arrival is follows from its number. A piece that comes after others waits for them, and the data
//! has the last word on whether they went well.
//!
//! What it does not do: it does not remember what an earlier night did.

use super::Spec;
use super::machine::Machine;
use super::work::{Piece, Progress};
use crate::kind::Share;
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step};
use std::sync::Arc;
use units::Nanos;

/// How long a job that is ahead of the others waits before it looks again.
const LOOK: Nanos = Nanos::from_millis(1);

/// Looks after which it goes on by what the data says: on a described machine nobody else moves while it waits.
const LOOKS: u32 = 600_000;

/// Accounts whose settlement was acknowledged, and those of which it is not known; branches whose totals were acknowledged, and
/// cut-offs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) done: u64,
    pub(super) unknown: u64,
    pub(super) branches: u64,
    pub(super) cut_offs: u64,
}

/// A worker of a bank's night.
#[derive(Debug)]
pub struct Night {
    spec: Spec,
    jobs: u64,
    progress: Arc<Progress>,
    slots: Vec<Slot>,
    settled: Settled,
}

#[derive(Clone, Debug)]
struct Slot {
    machine: Machine,
    looks: u32,
    running: bool,
}

impl Night {
    /// The share of one worker of so many jobs.
    pub(super) fn new(spec: Spec, jobs: u64, progress: Arc<Progress>, share: &Share) -> Night {
        let idle = Slot { machine: Machine::new(spec.scale, Piece::Nothing), looks: 0, running: false };
        Night { spec, jobs, progress, slots: vec![idle; share.slots as usize], settled: Settled::default() }
    }

    /// What was settled; of what is still under way nothing is known.
    pub(super) fn settled(&self) -> Settled {
        let running = self.slots.iter().filter(|slot| slot.running);
        let open: u64 = running.map(|slot| span_of(&slot.machine)).sum();
        Settled { unknown: self.settled.unknown + open, ..self.settled }
    }

    fn piece(&self, n: u64) -> Piece {
        self.spec.piece(n, self.jobs)
    }
}

/// Accounts that a piece settles at most.
fn span_of(machine: &Machine) -> u64 {
    match &machine.piece {
        Piece::Span(span) => span.end - span.start,
        _ => 0,
    }
}

impl Business for Night {
    fn class(&mut self, n: u64, _payload: u64) -> u16 {
        match self.piece(n) {
            Piece::Span(_) => 0,
            Piece::Branch(_) => 1,
            Piece::CutOff | Piece::Nothing => 2,
        }
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        let machine = Machine::new(self.spec.scale, self.piece(begun.n));
        self.slots[slot as usize] = Slot { machine, looks: 0, running: true };
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        let slot = &mut self.slots[slot as usize];
        if slot.looks < LOOKS && !self.progress.allows(&slot.machine.piece) {
            slot.looks += 1;
            return Step::Sleep(LOOK);
        }
        slot.machine.step(answers, batch)
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        Some(self.slots[slot as usize].machine.complaint())
    }

    fn restart(&mut self, slot: u32) {
        self.slots[slot as usize].machine.restart();
    }

    fn ended(&mut self, slot: u32, ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {
        let slot = &mut self.slots[slot as usize];
        slot.running = false;
        self.progress.ended(&slot.machine.piece);
        let span = span_of(&slot.machine);
        match (ending, &slot.machine.piece) {
            (Ending::Done, Piece::Span(_)) => self.settled.done += slot.machine.accounts,
            (Ending::Done, Piece::Branch(_)) => self.settled.branches += 1,
            (Ending::Done, Piece::CutOff) => self.settled.cut_offs += 1,
            (Ending::Unknown, _) => self.settled.unknown += span,
            (Ending::Done, Piece::Nothing) | (Ending::Failed, _) => {}
        }
    }

    /// Accounts of a span that were left to settle. A branch and a cut-off give none.
    fn gave(&mut self, slot: u32) -> u64 {
        let machine = &self.slots[slot as usize].machine;
        if matches!(machine.piece, Piece::Span(_)) { machine.accounts } else { 0 }
    }
}
