//! A simulated machine, as a driver sees it: operations go in with a time, and come out with a later one.
//!
//! The one idea: the same load, the same loop and the same recorder drive a real device and a machine in virtual time; this
//! is the door between them.

use crate::kernel::Agenda;
use crate::station::{Turns, Watch};
use units::Nanos;
use workload::happening::Happening;
use workload::{Operation, OperationKind};

/// What stands for a transaction: a server looks at nothing of what it is handed but the class.
pub const TRANSACTION: Operation = Operation { kind: OperationKind::Sync, class: 0, module: 0, offset: 0, bytes: 0 };

/// An operation that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The slot that it was handed in with.
    pub slot: u32,
    /// When.
    pub at: Nanos,
    /// Whether it failed: nothing was left that could carry it out.
    pub failed: bool,
}

/// What a station did over the watched time.
#[derive(Clone, Debug, PartialEq)]
pub struct StationReport {
    /// Its name: `port 3`, `module 17`.
    pub name: String,
    /// Share of it that was busy.
    pub utilisation: f64,
    /// Mean number that were there.
    pub mean_there: f64,
    /// How many it completed.
    pub completed: u64,
}

impl StationReport {
    /// What a station's watch saw up to now.
    pub(crate) fn of(name: impl Into<String>, watch: &Watch, now: Nanos) -> StationReport {
        let (utilisation, mean_there) = (watch.utilisation(now), watch.mean_here(now));
        StationReport { name: name.into(), utilisation, mean_there, completed: watch.count() }
    }

    /// What servers that work as a calendar did up to now.
    pub(crate) fn of_turns(name: impl Into<String>, turns: &Turns, now: Nanos) -> StationReport {
        let (utilisation, mean_there) = (turns.utilisation(now), turns.mean_here(now));
        StationReport { name: name.into(), utilisation, mean_there, completed: turns.count() }
    }
}

/// Cores of a server over the watched time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cores {
    /// How many there are.
    pub count: f64,
    /// How many of them transactions kept busy on the mean: cores on which at least one was at work. The load driver's
    /// part is not among them.
    pub busy: f64,
}

units::words! {
    /// What holds a slot outside of the response, as names of series say it.
    pub enum Outside {
        Driver = "driver" "The load driver's own work on the same machine.",
        Think = "think" "What a job does between its transactions.",
    }
}

units::words! {
    /// How a mirror stands to the first node of its pair.
    pub enum Standing {
        Follows = "follows" "It follows, or nobody has noticed yet that it does not.",
        Gone = "gone" "The first node goes on alone: the mirror's connection had ended.",
        Silent = "silent" "The first node goes on alone: nothing was confirmed.",
        Asked = "asked" "The first node goes on alone, because somebody asked for it.",
        CatchesUp = "catches up" "It catches up.",
    }
}

/// How a pair stood from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand {
    /// From when on.
    pub at: Nanos,
    /// How.
    pub standing: Standing,
    /// Transactions that waited then for a mirror that is silent.
    pub waiting: u32,
    /// Bytes of the rows that waited then for the mirror.
    pub kept_bytes: u64,
    /// Bytes that had reached the mirror by then.
    pub sent_bytes: u64,
}

impl Ended {
    /// It ended as it should.
    #[inline]
    pub(crate) fn done(slot: u32, at: Nanos) -> Ended {
        Ended { slot, at, failed: false }
    }
}

/// A machine in virtual time. Equal machines that are asked alike answer alike, to the nanosecond.
pub trait Machine: Send {
    /// Takes an operation in a slot that is free, at a time that is not before any end that was handed out.
    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation);

    /// Lets time pass until somebody ends or `until` is reached, whichever comes first. All who end in that moment are added
    /// to `ended`; the answer is the time that is reached.
    fn advance(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Nanos;

    /// When something happens next, as far as nobody comes before; none while it is at rest.
    fn next(&mut self) -> Option<Nanos>;

    /// How much of the time from submission to end, of what ended last in a slot, was outside of the response. It stands
    /// at the beginning and holds the slot. Asked before the slot is taken again.
    fn outside(&self, slot: u32) -> Nanos;

    /// What that time is; nothing for a machine where all time is response.
    fn outside_is(&self) -> Option<Outside>;

    /// Has something happen at a time that is not past; whether its kind knows that. See [`crate::happenings`].
    #[must_use]
    fn happen(&mut self, at: Nanos, what: Happening) -> bool;

    /// How a pair stood, up to now; nothing of one to which nothing happened, and of any other machine. Asked once.
    fn course(&mut self) -> Vec<Stand>;

    /// Forgets what stations did so far, at the end of a warm-up.
    fn clear(&mut self);

    /// What every station did since then.
    fn reports(&mut self) -> Vec<StationReport>;

    /// The cores of a server since then; none of a machine that does not say how its processors are made up.
    fn cores(&mut self) -> Option<Cores>;

    /// Events so far.
    fn events(&mut self) -> u64;
}

/// A machine that goes from event to event of one agenda. [`Machine`] follows from it.
pub(crate) trait Stepped {
    /// What happens in it.
    type Event: Copy;

    /// What is still to happen.
    fn agenda(&mut self) -> &mut Agenda<Self::Event>;

    /// Lets an event happen. Operations that end with it are added to `ended`.
    fn step(&mut self, now: Nanos, event: Self::Event, ended: &mut Vec<Ended>);

    /// When work is done that stands on no agenda, because everybody who comes moves its end; the end of time when there is
    /// none.
    #[inline]
    fn working(&self) -> u64 {
        u64::MAX
    }

    /// That work is done.
    fn worked(&mut self, _now: Nanos, _ended: &mut Vec<Ended>) {}

    /// As [`Machine::submit`].
    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation);

    /// As [`Machine::outside`].
    fn outside(&self, _slot: u32) -> Nanos {
        Nanos(0)
    }

    /// As [`Machine::outside_is`].
    fn outside_is(&self) -> Option<Outside> {
        None
    }

    /// As [`Machine::happen`].
    fn happen(&mut self, _at: Nanos, _what: Happening) -> bool {
        false
    }

    /// As [`Machine::course`].
    fn course(&mut self) -> Vec<Stand> {
        Vec::new()
    }

    /// As [`Machine::clear`].
    fn clear(&mut self, now: Nanos);

    /// As [`Machine::reports`].
    fn reports(&mut self, now: Nanos) -> Vec<StationReport>;

    /// As [`Machine::cores`].
    fn cores(&self, _now: Nanos) -> Option<Cores> {
        None
    }
}

/// When the agenda goes on, and when work is done that stands on none.
#[inline]
fn ahead<M: Stepped>(machine: &mut M) -> (u64, u64) {
    (machine.agenda().first().map_or(u64::MAX, |at| at.0), machine.working())
}

/// Carries out what happens next, if it does so by `until`; whether it did. What stands on the agenda goes first.
#[inline]
fn happen<M: Stepped>(machine: &mut M, until: Nanos, ended: &mut Vec<Ended>) -> bool {
    let (waiting, working) = ahead(machine);
    if waiting.min(working) > until.0 {
        return false;
    }
    if working < waiting {
        machine.agenda().happen(Nanos(working));
        machine.worked(Nanos(working), ended);
        return true;
    }
    let Some((now, event)) = machine.agenda().take() else { return false };
    machine.step(now, event, ended);
    true
}

impl<M: Stepped + Send> Machine for M {
    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation) {
        Stepped::submit(self, at, slot, operation);
    }

    #[inline]
    fn advance(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Nanos {
        let (before, mut reach) = (ended.len(), until);
        while happen(self, reach, ended) {
            if ended.len() > before {
                reach = self.agenda().now();
            }
        }
        self.agenda().pass(reach);
        reach
    }

    fn next(&mut self) -> Option<Nanos> {
        let (waiting, working) = ahead(self);
        Some(waiting.min(working)).filter(|at| *at < u64::MAX).map(Nanos)
    }

    fn outside(&self, slot: u32) -> Nanos {
        Stepped::outside(self, slot)
    }

    fn outside_is(&self) -> Option<Outside> {
        Stepped::outside_is(self)
    }

    fn happen(&mut self, at: Nanos, what: Happening) -> bool {
        Stepped::happen(self, at, what)
    }

    fn course(&mut self) -> Vec<Stand> {
        Stepped::course(self)
    }

    fn clear(&mut self) {
        let now = self.agenda().now();
        Stepped::clear(self, now);
    }

    fn reports(&mut self) -> Vec<StationReport> {
        let now = self.agenda().now();
        Stepped::reports(self, now)
    }

    fn cores(&mut self) -> Option<Cores> {
        let now = self.agenda().now();
        Stepped::cores(self, now)
    }

    fn events(&mut self) -> u64 {
        self.agenda().happened()
    }
}
