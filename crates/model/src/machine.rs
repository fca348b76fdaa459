//! A simulated machine, as a driver sees it: operations go in with a time, and come out with a later one.
//!
//! The one idea: the same load, the same loop and the same recorder drive a real device and a machine in virtual time; this
//! is the door between them.

use crate::kernel::Agenda;
use units::Nanos;

/// What is asked of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it does.
    pub kind: Kind,
    /// Which class of the workload it is of.
    pub class: u16,
    /// Which module it goes to, from 0.
    pub module: u16,
    /// Where it starts, bytes from the start of the module.
    pub offset: u64,
    /// How many bytes it moves.
    pub bytes: u32,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads bytes.
    Read,
    /// Writes bytes.
    Write,
    /// Makes what was written durable.
    Sync,
    /// A whole transaction.
    Transaction,
}

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
pub struct Report {
    /// Its name: `port 3`, `module 17`.
    pub name: String,
    /// Share of it that was busy.
    pub utilisation: f64,
    /// Mean number that were there.
    pub mean_there: f64,
    /// How many it completed.
    pub completed: u64,
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

/// What holds a slot outside of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The load driver's own work on the same machine.
    Driver,
    /// What a job does between its transactions.
    Think,
}

impl Outside {
    /// As names of series say it.
    pub fn word(self) -> &'static str {
        match self {
            Outside::Driver => "driver",
            Outside::Think => "think",
        }
    }
}

/// A machine in virtual time. Equal machines that are asked alike answer alike, to the nanosecond.
pub trait Machine {
    /// Takes an operation in a slot that is free, at a time that is not before any end that was handed out.
    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation);

    /// Lets time pass until somebody ends or `until` is reached, whichever comes first. All who end in that moment are added
    /// to `ended`; the answer is the time that is reached.
    fn advance(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> Nanos;

    /// How much of the time from submission to end, of what ended last in a slot, was outside of the response. It stands
    /// at the beginning and holds the slot. Asked before the slot is taken again.
    fn outside(&self, _slot: u32) -> Nanos {
        Nanos(0)
    }

    /// What that time is; nothing for a machine where all time is response.
    fn outside_is(&self) -> Option<Outside> {
        None
    }

    /// Forgets what stations did so far, at the end of a warm-up.
    fn clear(&mut self);

    /// What every station did since then.
    fn reports(&mut self) -> Vec<Report>;

    /// The cores of a server since then; none of a machine that does not say how its processors are made up.
    fn cores(&self) -> Option<Cores> {
        None
    }

    /// Events so far.
    fn events(&self) -> u64;
}

/// A machine in which several may end in one step, and whose next step is not the agenda's alone to say.
pub(crate) trait Stepping {
    /// Carries out what happens next, if it does so by `until`; whether it did.
    fn next(&mut self, until: Nanos, ended: &mut Vec<Ended>) -> bool;

    /// The time of the last step.
    fn now(&self) -> Nanos;

    /// Lets time pass in which nothing happens.
    fn pass(&mut self, to: Nanos);
}

/// [`Machine::advance`] of every such machine.
#[inline]
pub(crate) fn advance_together<M: Stepping>(machine: &mut M, until: Nanos, ended: &mut Vec<Ended>) -> Nanos {
    let before = ended.len();
    let mut reach = until;
    while machine.next(reach, ended) {
        if ended.len() > before {
            reach = machine.now();
        }
    }
    machine.pass(reach);
    reach
}

/// A machine that goes from event to event of one agenda.
pub(crate) trait Stepped {
    /// What happens in it.
    type Event: Copy;

    /// What is still to happen.
    fn agenda(&mut self) -> &mut Agenda<Self::Event>;

    /// Lets an event happen; the answer is the slot whose operation has ended with it.
    fn step(&mut self, now: Nanos, event: Self::Event) -> Option<u32>;
}

/// [`Machine::advance`] of every such machine.
#[inline]
pub(crate) fn advance<M: Stepped>(machine: &mut M, until: Nanos, ended: &mut Vec<Ended>) -> Nanos {
    let mut found = None;
    while let Some(first) = machine.agenda().first() {
        if first > found.unwrap_or(until) {
            break;
        }
        let Some((now, event)) = machine.agenda().take() else { break };
        if let Some(slot) = machine.step(now, event) {
            ended.push(Ended { slot, at: now, failed: false });
            found = Some(now);
        }
    }
    found.unwrap_or_else(|| {
        machine.agenda().pass(until);
        until
    })
}
