//! The interface of the state machine, shared by all loads, and the door through which one is built.

use crate::clocked::{Clocked, Kept};
use crate::closed::Closed;
use crate::one_queue::Shared;
use crate::open::Open;
use crate::schedule::Schedule;
use crate::{Limit, Ramp, Spec};
use units::Nanos;

/// An operation that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The slot that carries it until [`Load::completed`]; below the number of slots of this worker.
    pub slot: u32,
    /// Its number in the stream, over all workers; spawned operations are numbered from [`SPAWNED`].
    pub n: u64,
    /// When it was meant to start; response time counts from here.
    pub intended: Nanos,
    /// What a spawning operation handed over; 0 for a scheduled arrival.
    pub payload: u64,
}

/// Where the numbers of spawned operations begin, so that scheduled ones keep theirs whatever is spawned.
pub const SPAWNED: u64 = 1 << 63;

/// An operation that was due and found no slot before the trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unissued {
    /// As in [`Arrival::n`].
    pub n: u64,
    /// As in [`Arrival::intended`].
    pub intended: Nanos,
    /// As in [`Arrival::payload`].
    pub payload: u64,
}

/// What a driver should do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Issue this operation now, and ask again.
    Issue(Arrival),
    /// Nothing is due before this moment; completions may change that.
    WaitUntil(Nanos),
    /// Nothing can start before something completes.
    Blocked,
    /// Nothing will ever be due again, unless something is spawned.
    Finished,
}

/// What a load kept count of by itself, so that the recorder's count can be held against it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Operations handed out, as issued or as unissued, whose intended start lies in the measured window.
    pub planned: u64,
    /// Operations handed out to be issued, in the window or not.
    pub issued: u64,
    /// Think time of all slots of this worker, clipped at the measured window; 0 for an open load.
    pub think_ns: u128,
    /// Slots of this worker times the measured window; 0 for an open load, whose slots stand for nobody.
    pub slots_ns: u128,
}

/// One worker's share of a stream's load.
pub trait Load {
    /// What to do at `now`. Time never runs backwards between calls.
    fn next(&mut self, now: Nanos) -> Next;

    /// The operation in `slot` ended at `at`. Completions are handed in by ascending time.
    fn completed(&mut self, slot: u32, at: Nanos);

    /// The next operation of a slot is not due before `at`: said before the first [`Load::next`], or before [`Load::completed`]. Only
    /// slots that think as it is given them ([`Think::Given`](crate::Think::Given)) listen.
    fn due(&mut self, _slot: u32, _at: Nanos) {}

    /// Adds an operation caused by another, due at `intended`. Returns whether there was room for it.
    fn spawn(&mut self, intended: Nanos, payload: u64) -> bool;

    /// Takes the next operation that is due at `now` and was never issued, in order; called until it gives nothing, at
    /// the end of a trial, so that such operations are censored and not forgotten.
    fn unissued(&mut self, now: Nanos) -> Option<Unissued>;

    /// The counts so far.
    fn books(&self) -> Books;

    /// Slots of this worker; slot numbers lie below it.
    fn slots(&self) -> u32;

    /// How each kind of work that comes by the clock kept up with it; asked when nothing is unissued any more.
    fn kept(&self) -> Vec<Kept> {
        Vec::new()
    }
}

/// One worker's share of any load. A driver that matches on it once and is generic over [`Load`] pays no dispatch.
#[derive(Clone, Debug)]
pub enum Machine {
    /// A fixed number outstanding.
    Closed(Closed),
    /// A schedule that waits for nobody.
    Open(Open),
    /// One of several workers that carry either together.
    Shared(Shared),
    /// What comes by the clock beside them.
    Clocked(Clocked),
}

/// Builds a load that starts at `start` for a single worker. Everything that it will ever allocate is allocated here. `seed` is
/// the stream's own.
pub fn whole(spec: &Spec, ramp: Ramp, limit: Limit, seed: u64, start: Nanos) -> Machine {
    match *spec {
        Spec::Closed { slots, think } => {
            Machine::Closed(Closed::new(think, ramp, limit, seed, Share::new(0, 1, slots), start))
        }
        Spec::Open { rate, arrivals, slots } => {
            Machine::Open(Open::new(Schedule::new(rate, arrivals, ramp, limit, seed, start), slots))
        }
    }
}

/// As [`whole`], for several workers in their order, who carry `carriers` operations at once together. The shares of all
/// workers are the same operations whatever their number. A closed load has its slots divided among them, and the last have
/// nothing to do where slots are fewer; arrivals, and users who are more or fewer than can be carried, are taken from one queue
/// by whoever is free.
pub fn divided(
    spec: &Spec,
    ramp: Ramp,
    limit: Limit,
    seed: u64,
    start: Nanos,
    (workers, carriers): (u32, u32),
) -> Vec<Machine> {
    let shared = |spec| {
        let machine = whole(&spec, ramp, limit, seed, start);
        Shared::among(workers, carriers, machine, limit.until).into_iter().map(Machine::Shared).collect()
    };
    match *spec {
        // Whoever waits for a session has not left yet, on one worker as on many; sessions beyond the users carry what is caused.
        Spec::Closed { slots, .. } if slots != carriers => shared(*spec),
        _ if workers == 1 => vec![whole(spec, ramp, limit, seed, start)],
        // Beside what is carried each worker may have put something back.
        Spec::Open { rate, arrivals, .. } => shared(Spec::Open { rate, arrivals, slots: carriers + workers }),
        Spec::Closed { slots, think } => {
            let own = |worker| Closed::new(think, ramp, limit, seed, Share::new(worker, workers, slots), start);
            (0..workers).map(own).map(Machine::Closed).collect()
        }
    }
}

/// How a stream's slots and operations are split over workers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) worker: u32,
    pub(crate) workers: u32,
    /// Slots of the stream, over all workers.
    pub(crate) total: u32,
    /// Slots of this worker: those whose number leaves the remainder `worker` when divided by `workers`.
    pub(crate) own: u32,
}

impl Share {
    pub(crate) fn new(worker: u32, workers: u32, total: u32) -> Share {
        // A worker without a slot could never issue its operations, so numbers are split over those that have one.
        let workers = workers.clamp(1, total.max(1));
        let own = if worker < workers { (total + workers - 1 - worker) / workers } else { 0 };
        Share { worker, workers, total, own }
    }
}

macro_rules! dispatch {
    ($machine:expr, $load:ident => $call:expr) => {
        match $machine {
            Machine::Closed($load) => $call,
            Machine::Open($load) => $call,
            Machine::Shared($load) => $call,
            Machine::Clocked($load) => $call,
        }
    };
}

impl Machine {
    /// Names the measured window, `from` up to, not including, `to`, for which [`Load::books`] counts; called before the
    /// first [`Load::next`]. Without it the window is empty.
    #[must_use]
    pub fn measured(mut self, from: Nanos, to: Nanos) -> Machine {
        self.measure(from, to);
        self
    }

    pub(crate) fn measure(&mut self, from: Nanos, to: Nanos) {
        dispatch!(self, load => load.measure(from, to));
    }
}

impl Load for Machine {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        dispatch!(self, load => load.next(now))
    }

    #[inline]
    fn completed(&mut self, slot: u32, at: Nanos) {
        dispatch!(self, load => load.completed(slot, at));
    }

    fn due(&mut self, slot: u32, at: Nanos) {
        dispatch!(self, load => load.due(slot, at));
    }

    fn spawn(&mut self, intended: Nanos, payload: u64) -> bool {
        dispatch!(self, load => load.spawn(intended, payload))
    }

    fn unissued(&mut self, now: Nanos) -> Option<Unissued> {
        dispatch!(self, load => load.unissued(now))
    }

    fn books(&self) -> Books {
        dispatch!(self, load => load.books())
    }

    fn slots(&self) -> u32 {
        dispatch!(self, load => load.slots())
    }
    fn kept(&self) -> Vec<Kept> {
        dispatch!(self, load => load.kept())
    }
}
