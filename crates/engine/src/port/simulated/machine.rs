//! The port to a described machine, on a simulated clock.
//!
//! The one idea: a model is driven by the same loop as a device. Time moves from one end to the next; at both ends of the
//! measured window the stations are asked what they did. The port counts who is inside on its own, so that Little's law can
//! be held against what the recorder has seen: in a simulation both must agree, or there is a defect.
//!
//! What it does not do: it reads no model file; whoever opens the system hands the description in.

use crate::port::simulated::sessions::Streams;
use model::machine::{Cores, Ended, Machine, StationReport};
use observation::Window;
use recorder::{Clock, SimulatedClock};
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
    /// Operations, and transactions as none.
    staged: Vec<(u32, Option<Operation>)>,
    ended: Vec<Ended>,
    /// What to report of each slot when the machine is done with it.
    outcomes: Vec<Outcome>,
    inside: Inside,
    outside: Outside,
    cleared: bool,
    reports: Option<(Vec<StationReport>, Option<Cores>)>,
}

/// Time outside of responses. It is booked at the end of what a slot asked for, like the work of a real driver, which comes
/// between an answer and the next question.
struct Outside {
    /// What it was for the one that ended last in each slot.
    last: Vec<Nanos>,
    /// All of it in the window.
    sum_ns: u128,
}

impl Outside {
    fn add(&mut self, slot: usize, (at, time): (Nanos, Nanos), window: Window) {
        let clip = |time: Nanos| time.0.clamp(window.start.0, window.end.0);
        self.last[slot] = time;
        self.sum_ns += u128::from(clip(at) - clip(at - time));
    }
}

/// What is left of a simulated trial beside what was recorded.
pub(crate) struct Closed {
    /// What the stations did in the window.
    pub(crate) reports: Vec<StationReport>,
    /// What its cores did, where it is a server that has some.
    pub(crate) cores: Option<Cores>,
    /// Time in the window that all who were inside spent there.
    pub(crate) inside_ns: u128,
    /// Time of it that was outside of the response.
    pub(crate) outside_ns: u128,
    /// What that is.
    pub(crate) outside_is: Option<model::machine::Outside>,
}

/// How many are inside, summed over the time of the window.
struct Inside {
    now: u32,
    since: u64,
    sum_ns: u128,
}

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
            ended: Vec::with_capacity(slots),
            transactions,
            outcomes: vec![Outcome::Moved { bytes: 0 }; slots],
            inside: Inside { now: 0, since: 0, sum_ns: 0 },
            outside: Outside { last: vec![Nanos::ZERO; slots], sum_ns: 0 },
            cleared: false,
            reports: None,
        }
    }

    /// What the stations did in the window, and where time went in it.
    pub(crate) fn close(mut self) -> Closed {
        self.inside.turn(self.clock.now().0.max(self.window.end.0), self.window, 0);
        let (reports, cores) = self.reports.take().unwrap_or_else(|| self.told());
        let outside_is = self.machine.outside_is();
        Closed { reports, cores, inside_ns: self.inside.sum_ns, outside_ns: self.outside.sum_ns, outside_is }
    }

    /// What stations and cores did since they were cleared.
    fn told(&mut self) -> (Vec<StationReport>, Option<Cores>) {
        (self.machine.reports(), self.machine.cores())
    }

    /// A transaction left the machine: whoever waits for its session comes next.
    fn leave(&mut self, slot: u32, at: Nanos, failed: bool) {
        self.outside.add(slot as usize, (at, self.machine.outside(slot)), self.window);
        if let Some(next) = self.transactions.gives(slot, at, failed) {
            self.machine.submit(self.clock.now(), next, &self.transactions.operation(next));
        }
    }

    /// The next moment at which the stations are asked.
    fn border(&self) -> Nanos {
        match (self.cleared, &self.reports) {
            (false, _) => self.window.start,
            (true, None) => self.window.end,
            (true, Some(_)) => Nanos(u64::MAX),
        }
    }

    fn cross(&mut self) {
        if self.cleared {
            self.reports = Some(self.told());
        } else {
            self.machine.clear();
            self.cleared = true;
        }
    }

    /// Lets time pass to `goal` or to the next end.
    fn pass(&mut self, goal: Nanos) {
        loop {
            let border = self.border();
            let reached = self.machine.advance(goal.min(border), &mut self.ended);
            self.clock.pass(reached);
            if reached >= border {
                self.cross();
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
        self.staged.push((slot, Some(*operation)));
    }
}

impl TransactionPort for ModelPort {
    fn class(&mut self, slot: u32, n: u64, payload: u64) -> u16 {
        self.transactions.class(slot, n, payload)
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        self.outcomes[slot as usize] = self.transactions.begin(slot, begun);
        self.staged.push((slot, None));
    }

    fn caused(&mut self, slot: u32, into: &mut Vec<Caused>) {
        self.transactions.caused(slot, into);
    }

    fn outside(&self, slot: u32) -> Nanos {
        self.outside.last[slot as usize]
    }

    fn complaint(&mut self, _slot: u32) -> Option<String> {
        None
    }
}

impl Port for ModelPort {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self) -> Result<(), PortError> {
        let now = self.clock.now();
        self.inside.turn(now.0, self.window, self.staged.len() as i64);
        for place in 0..self.staged.len() {
            match self.staged[place] {
                (slot, Some(operation)) => self.machine.submit(now, slot, &operation),
                (slot, None) if self.transactions.takes(slot) => {
                    self.machine.submit(now, slot, &self.transactions.operation(slot));
                }
                (_, None) => {}
            }
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
            Wait::Completion if self.inside.now > 0 => Nanos(u64::MAX - 1),
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
                self.leave(slot, at, failed);
            }
            let outcome = if failed { Outcome::Failed { errno: libc::EIO } } else { self.outcomes[slot as usize] };
            into.push(Completion { slot, outcome, at });
        }
        self.ended.clear();
        Ok(())
    }
}
