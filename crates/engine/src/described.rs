//! A described machine, and the road to it on a simulated clock.
//!
//! The one idea: a model is driven by the same loop as a device. Time moves from one end to the next; at both ends of the
//! measured window the stations are asked what they did. The road counts who is inside on its own, so that Little's law can
//! be held against what the recorder has seen: in a simulation both must agree, or there is a defect.
//!
//! What it does not do: it reads no model file; whoever opens the system hands the description in.

use model::machine::{Ended, Machine, Operation as Asked, Report};
use observation::{Fact, Window};
use recorder::{Clock, SimulatedClock};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use system::{Completion, Port, PortError, Wait};
use units::Nanos;
use workload::{Kind, Operation};

/// A model file, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// What it describes.
    pub description: model::file::Description,
    /// Its text, for the fingerprint.
    pub text: String,
}

impl Described {
    /// Everything of it that could change a number: the hash of its text, and each number with its origin.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        let fact = |key: String, value: String| Fact { key, value, private: false };
        let described = &self.description;
        let mut facts = vec![
            fact("model.name".to_owned(), described.name.clone()),
            fact("model.title".to_owned(), described.title.clone()),
            fact("model.kind".to_owned(), described.kind.word().to_owned()),
            fact("model.sha256".to_owned(), self.hash()),
        ];
        facts.extend(described.parameters.iter().map(|parameter| {
            let value = format!("{} {}; {}", parameter.value, parameter.unit, parameter.origin.text());
            fact(format!("model.parameter.{}", parameter.name), value)
        }));
        facts
    }

    /// SHA-256 of the text, in hexadecimal.
    pub fn hash(&self) -> String {
        Sha256::digest(self.text.as_bytes()).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// What a reading of the clock costs in a driver that spins, so that its time moves at all.
const SPIN: u64 = 50;

/// EIO.
const FAILED: i32 = -5;

/// The road of all streams to one machine.
pub(crate) struct ModelPort {
    machine: Box<dyn Machine>,
    clock: SimulatedClock,
    window: Window,
    staged: Vec<(u32, Asked)>,
    ended: Vec<Ended>,
    /// Bytes of the operation in each slot.
    bytes: Vec<u32>,
    inside: Inside,
    cleared: bool,
    reports: Option<Vec<Report>>,
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
    /// A road with room for so many operations, at the start of simulated time.
    pub(crate) fn new(machine: Box<dyn Machine>, window: Window, slots: u32) -> ModelPort {
        let slots = slots as usize;
        ModelPort {
            machine,
            clock: SimulatedClock::default(),
            window,
            staged: Vec::with_capacity(slots),
            ended: Vec::with_capacity(slots),
            bytes: vec![0; slots],
            inside: Inside { now: 0, since: 0, sum_ns: 0 },
            cleared: false,
            reports: None,
        }
    }

    /// What the stations did in the window, and the time in it that all who were inside spent there.
    pub(crate) fn close(mut self) -> (Vec<Report>, u128) {
        self.inside.turn(self.clock.now().0.max(self.window.end.0), self.window, 0);
        let reports = self.reports.take().unwrap_or_else(|| self.machine.reports());
        (reports, self.inside.sum_ns)
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
            self.reports = Some(self.machine.reports());
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

impl Port for ModelPort {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }

    #[inline]
    fn stage(&mut self, slot: u32, operation: &Operation, _durable: bool) {
        let kind = match operation.kind {
            Kind::Read => model::machine::Kind::Read,
            Kind::Write => model::machine::Kind::Write,
            Kind::Transaction => model::machine::Kind::Transaction,
            _ => model::machine::Kind::Sync,
        };
        let Operation { class, module, offset, bytes, .. } = *operation;
        self.staged.push((slot, Asked { kind, class, module, offset, bytes }));
    }

    #[inline]
    fn submit(&mut self) -> Result<(), PortError> {
        let now = self.clock.now();
        self.inside.turn(now.0, self.window, self.staged.len() as i64);
        for (slot, asked) in self.staged.drain(..) {
            self.bytes[slot as usize] = asked.bytes;
            self.machine.submit(now, slot, &asked);
        }
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
        for Ended { slot, at, failed } in self.ended.drain(..) {
            let result = if failed { FAILED } else { self.bytes[slot as usize] as i32 };
            into.push(Completion { slot, result, at });
        }
        Ok(())
    }
}
