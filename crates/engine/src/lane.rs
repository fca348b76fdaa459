//! One stream's share on one port: its load, its operations, its recorder, and what is out there now.

use crate::task::Task;
use load::{Arrival, Load, SPAWNED};
use recorder::{Outcome, Recorder};
use system::{Completion, Port};
use units::Nanos;
use workload::transaction::{Begun, Caused};
use workload::{Operation, OperationKind};

/// What a driver carries for a stream.
pub(crate) struct Lane<L> {
    pub(crate) load: L,
    pub(crate) recorder: Recorder,
    task: Task,
    /// First slot of the port that belongs to this lane.
    first_slot: u32,
    flights: Vec<Flight>,
    /// Slots staged in this round, whose issue is not stamped yet.
    staged: Vec<u32>,
    /// Upkeep that is due: it follows the last operation of its slot, which is free only afterwards.
    due: Vec<Upkeep>,
    /// What the transactions that ended have caused, on its way into the load.
    caused: Vec<Caused>,
}

/// Hands a transaction to the port.
fn begin<P: Port>(port: &mut P, slot: u32, arrival: &Arrival) -> Operation {
    let class = port.class(slot, arrival.n, arrival.payload);
    port.begin(slot, Begun { n: arrival.n, payload: arrival.payload, at: arrival.intended });
    Operation { kind: OperationKind::Transaction, class, module: 0, offset: 0, bytes: 0 }
}

/// An operation that another one caused.
#[derive(Clone, Copy)]
struct Upkeep {
    slot: u32,
    intended: Nanos,
    operation: Operation,
}

/// An operation between issue and completion.
#[derive(Clone, Copy)]
struct Flight {
    intended: Nanos,
    issued: Nanos,
    operation: Operation,
    out: bool,
    origin: Origin,
}

/// Why an operation is on its way.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// The load planned it.
    Planned,
    /// Another operation caused it, and it took its turn in the load.
    Caused,
    /// It follows another in the same slot.
    Upkeep,
}

const IDLE: Flight = Flight {
    intended: Nanos::ZERO,
    issued: Nanos::ZERO,
    operation: Operation { kind: OperationKind::Sync, class: 0, module: 0, offset: 0, bytes: 0 },
    out: false,
    origin: Origin::Planned,
};

impl<L: Load> Lane<L> {
    /// Everything that the lane will ever need is allocated here.
    pub(crate) fn new(load: L, recorder: Recorder, task: Task, first_slot: u32) -> Lane<L> {
        let slots = load.slots() as usize;
        let (staged, due) = (Vec::with_capacity(slots), Vec::with_capacity(slots));
        Lane { load, recorder, task, first_slot, flights: vec![IDLE; slots], staged, due, caused: Vec::new() }
    }

    pub(crate) fn slots(&self) -> u32 {
        self.flights.len() as u32
    }

    /// Operations that were prepared and have not left.
    #[inline]
    pub(crate) fn staged(&self) -> u32 {
        self.staged.len() as u32
    }

    /// Whether a slot of the port is this lane's.
    pub(crate) fn holds(&self, slot: u32) -> bool {
        slot.wrapping_sub(self.first_slot) < self.slots()
    }

    /// Draws the operation of an arrival, fills its buffer, and prepares it.
    #[inline]
    pub(crate) fn stage<P: Port>(&mut self, port: &mut P, arrival: Arrival) {
        let slot = self.first_slot + arrival.slot;
        let operation = match self.task.draw(arrival.slot, arrival.n) {
            Some(operation) => {
                self.task.prepare(arrival.slot, &operation, port.buffer(slot));
                port.stage(slot, &operation, self.task.durable());
                operation
            }
            None => begin(port, slot, &arrival),
        };
        let origin = if arrival.n >= SPAWNED { Origin::Caused } else { Origin::Planned };
        self.flights[arrival.slot as usize] =
            Flight { intended: arrival.intended, issued: Nanos::ZERO, operation, out: true, origin };
        self.staged.push(arrival.slot);
    }

    /// Prepares one operation of upkeep that is due.
    pub(crate) fn stage_upkeep<P: Port>(&mut self, port: &mut P) {
        let Some(Upkeep { slot, intended, operation }) = self.due.pop() else { return };
        port.stage(self.first_slot + slot, &operation, false);
        self.flights[slot as usize] =
            Flight { intended, issued: Nanos::ZERO, operation, out: true, origin: Origin::Upkeep };
        self.recorder.begin_upkeep();
        self.staged.push(slot);
    }

    /// Whether upkeep is due.
    #[inline]
    pub(crate) fn owes_upkeep(&self) -> bool {
        !self.due.is_empty()
    }

    /// Stamps what was staged in this round: it leaves now.
    #[inline]
    pub(crate) fn stamp_issued(&mut self, at: Nanos) {
        for slot in self.staged.drain(..) {
            self.flights[slot as usize].issued = at;
        }
    }

    /// Records a completion. Answers with an errno when no further operation can succeed.
    #[inline]
    pub(crate) fn settle<P: Port>(&mut self, port: &mut P, completion: &Completion) -> Option<i32> {
        let slot = completion.slot - self.first_slot;
        let flight = std::mem::replace(&mut self.flights[slot as usize], IDLE);
        debug_assert!(flight.out, "a completion belongs to an operation that is out");
        let operation = &flight.operation;
        let whole = completion.result >= 0 && completion.result as u32 == operation.bytes;
        let done = whole || (operation.bytes == 0 && completion.result >= 0);
        self.task.ended(slot, operation, done, port.buffer(completion.slot), completion.at);
        let outcome = match operation.kind {
            OperationKind::Transaction => self.transacted(port, completion),
            _ if done => Outcome::done(operation.bytes),
            _ => Outcome::failed(),
        };
        let Operation { class, module, .. } = *operation;
        let Flight { intended, issued, .. } = flight;
        // The slot is held to the end, the response is that of the system.
        let answered = match operation.kind {
            OperationKind::Transaction => completion.at - port.outside(completion.slot),
            _ => completion.at,
        };
        match flight.origin {
            Origin::Planned => self.recorder.record(class, module, intended, issued, answered, outcome),
            Origin::Caused => self.recorder.record_caused(class, module, intended, issued, answered, outcome),
            Origin::Upkeep => self.recorder.record_upkeep(class, module, intended, issued, completion.at, outcome),
        }
        match self.task.upkeep(operation, done) {
            Some(operation) => self.due.push(Upkeep { slot, intended: completion.at, operation }),
            None => self.load.completed(slot, completion.at),
        }
        if done {
            self.task.succeeded();
            None
        } else {
            self.task.failed(operation, completion, port.complaint(completion.slot))
        }
    }

    /// What became of a transaction; what it caused becomes due.
    fn transacted<P: Port>(&mut self, port: &mut P, completion: &Completion) -> Outcome {
        port.caused(completion.slot, &mut self.caused);
        for caused in self.caused.drain(..) {
            // A load without room forgets it: the order stays open, as one that the market never answers.
            let _ = self.load.spawn(caused.due, caused.payload);
        }
        match u32::try_from(completion.result) {
            Ok(code) => Outcome {
                done: true,
                bytes: u64::from(self.task.transaction_bytes()),
                retried: code >> 1,
                rolled_back: code & 1 == 1,
            },
            Err(_) => Outcome::failed(),
        }
    }

    /// Censors what is still out and what was due and never left, at the end of the trial.
    pub(crate) fn give_up<P: Port>(&mut self, port: &mut P, at: Nanos) {
        for flight in &mut self.flights {
            if std::mem::replace(&mut flight.out, false) {
                let Operation { class, module, .. } = flight.operation;
                if flight.origin == Origin::Upkeep {
                    self.recorder.censor_upkeep(class, module, flight.intended, flight.issued, at);
                } else {
                    self.recorder.censor(class, module, flight.intended, Some(flight.issued), at);
                }
            }
        }
        while let Some(never) = self.load.unissued(at) {
            // Drawn like an issued one, so that it is censored in the class to which it would have belonged.
            let (class, module) = match self.task.draw(0, never.n) {
                Some(operation) => (operation.class, operation.module),
                None => (port.class(self.first_slot, never.n, never.payload), 0),
            };
            self.recorder.censor(class, module, never.intended, None, at);
        }
    }

    /// Hands back what was counted and what was noticed.
    pub(crate) fn dismantle(self) -> (L, Recorder, Task) {
        (self.load, self.recorder, self.task)
    }
}
