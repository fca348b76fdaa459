//! The port to a described machine, on a simulated clock.
//!
//! The one idea: a model is driven by the same loop as a device. Time moves from one end to the next; at both ends of the
//! measured window the stations are asked what they did. The port counts who is inside on its own, so that Little's law can
//! be held against what the recorder has seen: in a simulation both must agree, or there is a defect.
//!
//! What it does not do: it reads no model file; whoever opens the system hands the description in.

use crate::port::simulated::sessions::{Stepped, Streams};
use model::machine::{Cores, Ended, Machine, Stand, StationReport};
use observation::Window;
use recorder::{Clock, SimulatedClock};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use system::{Completion, Outcome, Port, PortError, StoragePort, TransactionPort, Wait};
use units::Nanos;
use workload::Operation;
use workload::transaction::{Begun, Caused};

/// What a reading of the clock costs in a driver that spins, so that its time moves at all.
const SPIN: u64 = 50;

/// The port of all streams to one machine.
pub(crate) struct ModelPort {
    machine: Box<dyn Machine>,
    clock: SimulatedClock,
    window: Window,
    transactions: Streams,
    staged: Vec<(u32, Staged)>,
    /// When who pauses goes on, and in which slot.
    asleep: BinaryHeap<Reverse<(u64, u32)>>,
    ended: Vec<Ended>,
    /// What to report of each slot when the machine is done with it.
    outcomes: Vec<Outcome>,
    inside: Inside,
    outside: Outside,
    cleared: bool,
    told: Option<Stations>,
}

/// What the stations of a machine did in the window.
pub(crate) struct Stations {
    /// Each of them.
    pub(crate) reports: Vec<StationReport>,
    /// What its cores did, where it is a server that has some.
    pub(crate) cores: Option<Cores>,
    /// How a mirror stood, where something happened to it.
    pub(crate) course: Vec<Stand>,
}

/// What leaves with the next submission.
#[derive(Clone, Copy)]
enum Staged {
    Operation(Operation),
    Transaction,
    /// A transaction that begins with a pause.
    Pause(Nanos),
}

/// Time outside of responses. It is booked at the end of what a slot asked for, like the work of a real driver, which comes
/// between an answer and the next question.
struct Outside {
    /// What it was for the one that ended last in each slot.
    last: Vec<Nanos>,
    /// All of it in the window, by slots.
    sums_ns: Vec<u128>,
}

impl Outside {
    fn add(&mut self, slot: usize, (at, time): (Nanos, Nanos), window: Window) {
        let clip = |time: Nanos| time.0.clamp(window.start.0, window.end.0);
        self.last[slot] = time;
        self.sums_ns[slot] += u128::from(clip(at) - clip(at - time));
    }
}

/// What is left of a simulated trial beside what was recorded.
pub(crate) struct Closed {
    /// What the stations did in the window.
    pub(crate) told: Stations,
    /// Time in the window that all who were inside spent there.
    pub(crate) inside_ns: u128,
    /// Time of it that was outside of responses, by slots.
    pub(crate) outside_ns: Vec<u128>,
    /// What that is.
    pub(crate) outside_is: Option<model::machine::Outside>,
}

/// How many are inside, summed over the time of the window.
struct Inside {
    now: u32,
    since: u64,
    sum_ns: u128,
}

/// How far time passes at once behind the window while nothing ends.
const BEYOND: Nanos = Nanos::from_secs(1);

impl Inside {
    fn turn(&mut self, at: u64, window: Window, change: i64) {
        let clip = |time: u64| time.clamp(window.start.0, window.end.0);
        self.sum_ns += u128::from(clip(at) - clip(self.since)) * u128::from(self.now);
        self.since = at;
        self.now = (i64::from(self.now) + change) as u32;
    }
}

impl ModelPort {
    /// A port with room for so many operations, at the start of simulated time.
    pub(crate) fn new(machine: Box<dyn Machine>, transactions: Streams, window: Window, slots: u32) -> ModelPort {
        let slots = slots as usize;
        ModelPort {
            machine,
            clock: SimulatedClock::default(),
            window,
            staged: Vec::with_capacity(slots),
            asleep: BinaryHeap::new(),
            ended: Vec::with_capacity(slots),
            transactions,
            outcomes: vec![Outcome::Moved { bytes: 0 }; slots],
            inside: Inside { now: 0, since: 0, sum_ns: 0 },
            outside: Outside { last: vec![Nanos::ZERO; slots], sums_ns: vec![0; slots] },
            cleared: false,
            told: None,
        }
    }

    /// What the stations did in the window, and where time went in it.
    pub(crate) fn close(mut self) -> Closed {
        self.inside.turn(self.clock.now().0.max(self.window.end.0), self.window, 0);
        let told = self.told.take().unwrap_or_else(|| self.ask());
        let outside_is = self.machine.outside_is();
        Closed { told, inside_ns: self.inside.sum_ns, outside_ns: self.outside.sums_ns, outside_is }
    }

    /// What stations and cores did since they were cleared.
    fn ask(&mut self) -> Stations {
        Stations { reports: self.machine.reports(), cores: self.machine.cores(), course: self.machine.course() }
    }

    /// What a transaction that was stepped does now.
    fn stepped(&mut self, slot: u32, stepped: Stepped) -> Staged {
        match stepped {
            Stepped::Through(outcome) => {
                self.outcomes[slot as usize] = outcome;
                Staged::Transaction
            }
            Stepped::Pauses(time) => Staged::Pause(time),
        }
    }

    fn send(&mut self, slot: u32, staged: Staged) {
        let now = self.clock.now();
        match staged {
            Staged::Operation(operation) => self.machine.submit(now, slot, &operation),
            Staged::Transaction => self.machine.submit(now, slot, &self.transactions.operation(slot)),
            Staged::Pause(time) => self.asleep.push(Reverse((now.0 + time.0, slot))),
        }
    }

    /// Sends those whose pause is over.
    fn wake(&mut self) {
        let now = self.clock.now().0;
        while self.asleep.peek().is_some_and(|next| next.0.0 <= now) {
            let Some(Reverse((_, slot))) = self.asleep.pop() else { return };
            let stepped = self.transactions.wake(slot);
            let staged = self.stepped(slot, stepped);
            self.send(slot, staged);
        }
    }

    /// The next moment at which the stations are asked.
    fn border(&self) -> Nanos {
        match (self.cleared, &self.told) {
            (false, _) => self.window.start,
            (true, None) => self.window.end,
            (true, Some(_)) => Nanos(u64::MAX),
        }
    }

    fn cross(&mut self) {
        if self.cleared {
            self.told = Some(self.ask());
        } else {
            self.machine.clear();
            self.cleared = true;
        }
    }

    /// Lets time pass to `goal` or to the next end.
    fn pass(&mut self, goal: Nanos) {
        loop {
            let border = self.border();
            let wake = self.asleep.peek().map_or(u64::MAX, |next| next.0.0);
            let reached = self.machine.advance(goal.min(border).min(Nanos(wake)), &mut self.ended);
            self.clock.pass(reached);
            if reached >= border {
                self.cross();
            }
            if reached.0 >= wake {
                self.wake();
            }
            if !self.ended.is_empty() || reached >= goal {
                return;
            }
        }
    }
}

impl StoragePort for ModelPort {
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }

    #[inline]
    fn stage(&mut self, slot: u32, operation: &Operation, _durable: bool) {
        self.outcomes[slot as usize] = Outcome::Moved { bytes: operation.bytes };
        self.staged.push((slot, Staged::Operation(*operation)));
    }
}

impl TransactionPort for ModelPort {
    fn class(&mut self, slot: u32, n: u64, payload: u64) -> u16 {
        self.transactions.class(slot, n, payload)
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        let stepped = self.transactions.begin(slot, begun);
        let staged = self.stepped(slot, stepped);
        self.staged.push((slot, staged));
    }

    fn caused(&mut self, slot: u32, into: &mut Vec<Caused>) {
        self.transactions.caused(slot, into);
    }

    fn gave(&mut self, slot: u32) -> u64 {
        self.transactions.gave(slot)
    }

    fn outside(&self, slot: u32) -> Nanos {
        self.outside.last[slot as usize]
    }
}

impl Port for ModelPort {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self) -> Result<(), PortError> {
        self.inside.turn(self.clock.now().0, self.window, self.staged.len() as i64);
        for place in 0..self.staged.len() {
            let (slot, staged) = self.staged[place];
            self.send(slot, staged);
        }
        self.staged.clear();
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        if !self.staged.is_empty() {
            self.submit()?;
        }
        let goal = match wait {
            Wait::Until(at) => at,
            // What nothing will bring out stays inside beyond the end of the window, to which whoever waits looks.
            Wait::Completion if self.inside.now > 0 => {
                let now = self.clock.now();
                let end = if now < self.window.end { self.window.end } else { now.saturating_add(BEYOND) };
                end.min(Nanos(u64::MAX - 1))
            }
            Wait::Poll | Wait::Completion => Nanos(self.clock.now().0 + SPIN),
        };
        self.pass(goal);
        if self.ended.is_empty() && goal.0 == u64::MAX - 1 {
            let source = std::io::Error::other("operations are inside, and no event will ever bring them out");
            return Err(PortError::Kernel { action: "letting time pass", target: "the model".to_owned(), source });
        }
        self.inside.turn(self.clock.now().0, self.window, -(self.ended.len() as i64));
        for place in 0..self.ended.len() {
            let Ended { slot, at, failed } = self.ended[place];
            if !self.transactions.none() {
                self.outside.add(slot as usize, (at, self.machine.outside(slot)), self.window);
                self.transactions.ended(slot, at, failed);
            }
            let outcome = if failed { Outcome::Failed { errno: libc::EIO } } else { self.outcomes[slot as usize] };
            into.push(Completion { slot, outcome, at });
        }
        self.ended.clear();
        Ok(())
    }
}
