//! One stream's share on one port: its load, its work, its recorder, and what is out there now.

use crate::hot::noticed::Noticed;
use load::{Arrival, CLOCKED, Load, SPAWNED, Unissued};
use recorder::{Operation, Origin, Outcome, Recorder};
use system::{Completion, Port};
use units::Nanos;

/// What a lane asks of its port, and what it makes of the answers. Slot 0 of the lane is slot `first` of the port, which
/// several lanes may share.
pub(crate) trait Work<P> {
    /// Draws the operation of an arrival and prepares it on the port.
    fn stage(&mut self, port: &mut P, first: u32, arrival: &Arrival) -> Key;

    /// Whether upkeep is due: what follows the last operation of a slot, which is free only afterwards.
    #[inline]
    fn owes_upkeep(&self) -> bool {
        false
    }

    /// Prepares one operation of upkeep.
    fn stage_upkeep(&mut self, _port: &mut P, _first: u32) -> Option<Upkeep> {
        None
    }

    /// An operation came back. What it has caused becomes due in the load.
    fn settle<L: Load>(&mut self, port: &mut P, first: u32, completion: &Completion, load: &mut L) -> Settled;

    /// When the next operation of a slot of the port is due, where the work says so itself.
    #[inline]
    fn due(&mut self, _port: &mut P, _slot: u32) -> Option<Nanos> {
        None
    }

    /// How old the data was that an operation saw which came back, and the class in which that is counted; to be asked until
    /// there is none.
    #[inline]
    fn seen(&mut self) -> Option<(u16, Nanos)> {
        None
    }

    /// How much the operation of a class gave that came back well in a slot of the port, and the class in which that is counted.
    #[inline]
    fn gave(&mut self, _port: &mut P, _slot: u32, _class: u16) -> Option<(u16, u64)> {
        None
    }

    /// The limit of latency of its operations, where they have one.
    #[inline]
    fn limit(&self) -> Option<&Limit> {
        None
    }

    /// The time to drain is over and operations are out; in `slot` is the oldest.
    fn hung(&mut self, _slot: u32, _out: Out) {}

    /// Where an arrival that never left would have been counted.
    fn never(&mut self, port: &mut P, first: u32, never: &Unissued) -> Key;

    /// What was noticed so far.
    fn noticed(&mut self) -> &mut Noticed;

    /// Hands back what was noticed.
    fn into_noticed(self) -> Noticed;
}

/// What is out when the time to drain is over.
#[derive(Clone, Copy)]
pub(crate) struct Out {
    pub(crate) operations: u32,
    /// How long the oldest has been out.
    pub(crate) oldest: Nanos,
    /// When.
    pub(crate) at: Nanos,
}

/// A limit of latency.
#[derive(Clone)]
pub(crate) struct Limit {
    pub(crate) of: Nanos,
    /// The class that counts what took longer.
    pub(crate) late: u16,
    /// The class that counts what is skipped, because it could only begin later; none where the load waits.
    pub(crate) skipped: Option<u16>,
    /// Which classes are work: others may take their time.
    pub(crate) work: Vec<bool>,
}

impl Limit {
    /// Whether an operation that ended in a class missed it.
    fn missed(&self, class: u16, response: Nanos) -> bool {
        response > self.of && self.work.get(usize::from(class)) == Some(&true)
    }
}

/// Where an operation is counted.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    pub(crate) class: u16,
    pub(crate) endpoint: u16,
}

/// An operation of upkeep that was prepared.
pub(crate) struct Upkeep {
    /// In its lane.
    pub(crate) slot: u32,
    pub(crate) intended: Nanos,
    pub(crate) key: Key,
}

/// What became of an operation that came back.
pub(crate) struct Settled {
    pub(crate) outcome: Outcome,
    /// When it was answered. The slot may have been held for longer.
    pub(crate) answered: Nanos,
    /// Whether upkeep holds the slot now.
    pub(crate) held: bool,
    /// The errno after which no further operation can succeed.
    pub(crate) gone: Option<i32>,
}

/// What a driver carries for a stream.
pub(crate) struct Lane<L, W> {
    pub(crate) load: L,
    pub(crate) recorder: Recorder,
    pub(crate) work: W,
    /// First slot of the port that belongs to this lane.
    first_slot: u32,
    /// Most operations that leave together. A lane that has more to send sends in pieces, so that the system works on the
    /// first while the last are still being prepared.
    pub(crate) batch: u32,
    flights: Vec<Option<Flight>>,
    /// Slots staged in this round, whose issue is not stamped yet.
    staged: Vec<u32>,
    /// When the last operation of the first class ended in each slot: what comes after it in a job waits for others.
    pub(crate) worked_until: Vec<Nanos>,
    /// When the last operation of any kind came back or was given up.
    pub(crate) last: Nanos,
}

/// An operation that is out.
#[derive(Clone, Copy)]
struct Flight {
    intended: Nanos,
    issued: Nanos,
    key: Key,
    origin: Origin,
}

impl Flight {
    #[inline]
    fn record(&self, completed: Nanos, outcome: Outcome) -> Operation {
        let Flight { intended, issued, key: Key { class, endpoint }, origin } = *self;
        Operation { class, endpoint, origin, intended, issued: Some(issued), completed, outcome }
    }
}

impl<L: Load, W> Lane<L, W> {
    /// Everything that the lane will ever need is allocated here.
    pub(crate) fn new(load: L, recorder: Recorder, work: W, first_slot: u32) -> Lane<L, W> {
        let slots = load.slots() as usize;
        let (flights, staged) = (vec![None; slots], Vec::with_capacity(slots));
        let worked_until = vec![Nanos::ZERO; slots];
        Lane { load, recorder, work, first_slot, batch: u32::MAX, flights, staged, worked_until, last: Nanos::ZERO }
    }

    /// Sends so many operations together at most.
    pub(crate) fn in_batches(self, batch: u32) -> Lane<L, W> {
        Lane { batch, ..self }
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

    /// Hears of the work when the first operation of each slot is due.
    pub(crate) fn prepare<P>(&mut self, port: &mut P)
    where
        W: Work<P>,
    {
        for slot in 0..self.slots() {
            self.put_off(port, slot);
        }
    }

    #[inline]
    fn put_off<P>(&mut self, port: &mut P, slot: u32)
    where
        W: Work<P>,
    {
        if let Some(at) = self.work.due(port, self.first_slot + slot) {
            self.load.due(slot, at);
        }
    }

    /// Prepares the operation of an arrival.
    #[inline]
    pub(crate) fn stage<P>(&mut self, port: &mut P, arrival: &Arrival)
    where
        W: Work<P>,
    {
        let key = self.work.stage(port, self.first_slot, arrival);
        let origin = if arrival.n >= SPAWNED { Origin::Caused } else { Origin::Planned };
        self.depart(arrival.slot, arrival.intended, key, origin);
    }

    /// Skips an arrival that could only begin beyond the limit, and answers whether it did.
    #[inline]
    pub(crate) fn skips<P>(&mut self, arrival: &Arrival, now: Nanos) -> bool
    where
        W: Work<P>,
    {
        let skipped = self.skipped(arrival.n, arrival.intended, now);
        if skipped {
            self.load.completed(arrival.slot, now);
        }
        skipped
    }

    /// Only what the load planned is skipped: what was caused is somebody's order already.
    #[inline]
    fn skipped<P>(&mut self, n: u64, intended: Nanos, now: Nanos) -> bool
    where
        W: Work<P>,
    {
        let Some(limit) = self.work.limit() else { return false };
        let Some(class) = limit.skipped.filter(|_| n < SPAWNED && now.saturating_sub(intended) > limit.of) else {
            return false;
        };
        self.recorder.skip(class, intended, now);
        true
    }

    /// Prepares one operation of upkeep that is due.
    pub(crate) fn stage_upkeep<P>(&mut self, port: &mut P)
    where
        W: Work<P>,
    {
        let Some(Upkeep { slot, intended, key }) = self.work.stage_upkeep(port, self.first_slot) else { return };
        self.recorder.begin_upkeep();
        self.depart(slot, intended, key, Origin::Upkeep);
    }

    #[inline]
    fn depart(&mut self, slot: u32, intended: Nanos, key: Key, origin: Origin) {
        self.flights[slot as usize] = Some(Flight { intended, issued: Nanos::ZERO, key, origin });
        self.staged.push(slot);
    }

    /// Stamps what was staged in this round: it leaves now.
    #[inline]
    pub(crate) fn stamp_issued(&mut self, at: Nanos) {
        for slot in self.staged.drain(..) {
            if let Some(flight) = &mut self.flights[slot as usize] {
                flight.issued = at;
            }
        }
    }

    /// Records a completion. What ended beyond the deadline never ended for this trial, however it was waited for. Answers with
    /// an errno when no further operation can succeed.
    #[inline]
    pub(crate) fn settle<P>(&mut self, port: &mut P, completion: &Completion, deadline: Nanos) -> Option<i32>
    where
        W: Work<P>,
    {
        let slot = completion.slot - self.first_slot;
        let flight = self.flights[slot as usize].take().expect("a completion belongs to an operation that is out");
        let settled = self.work.settle(port, self.first_slot, completion, &mut self.load);
        let (at, outcome) = match settled.answered > deadline {
            true => {
                self.work.hung(slot, Out { operations: 1, oldest: settled.answered - flight.issued, at: deadline });
                (deadline.max(flight.issued), Outcome::Censored)
            }
            false => (settled.answered, settled.outcome),
        };
        if outcome == Outcome::Failed && flight.origin != Origin::Upkeep && self.recorder.counts(flight.intended) {
            self.work.noticed().count_failure();
        }
        self.last = self.last.max(at);
        if flight.key.class == 0 {
            self.worked_until[slot as usize] = at;
        }
        self.recorder.record(flight.record(at, outcome));
        if matches!(outcome, Outcome::Done { .. })
            && let Some((class, amount)) = self.work.gave(port, completion.slot, flight.key.class)
        {
            self.recorder.note_given(class, at, amount);
        }
        if let Some(limit) = self.work.limit()
            && matches!(outcome, Outcome::Done { .. })
            && limit.missed(flight.key.class, at.saturating_sub(flight.intended))
        {
            self.recorder.note_late(limit.late, flight.intended, at);
        }
        while let Some((class, age)) = self.work.seen() {
            self.recorder.note_age(class, at, age);
        }
        if !settled.held {
            self.put_off(port, slot);
            self.load.completed(slot, completion.at);
        }
        settled.gone
    }

    /// Names what is still out when the time to drain is over.
    #[cold]
    pub(crate) fn name_hung<P>(&mut self, at: Nanos)
    where
        W: Work<P>,
    {
        let out = || (0..).zip(&self.flights).filter_map(|(slot, flight)| Some((slot, flight.as_ref()?.issued)));
        let operations = out().count() as u32;
        if let Some((slot, issued)) = out().min_by_key(|(_, issued)| *issued) {
            self.work.hung(slot, Out { operations, oldest: at.saturating_sub(issued), at });
        }
    }

    /// Censors what is still out and what was due and never left, at the end of the trial.
    pub(crate) fn give_up<P: Port>(&mut self, port: &mut P, at: Nanos)
    where
        W: Work<P>,
    {
        for flight in self.flights.iter_mut().filter_map(Option::take) {
            self.recorder.record(flight.record(at, Outcome::Censored));
        }
        while let Some(never) = self.load.unissued(at) {
            if self.skipped(never.n, never.intended, at) {
                continue;
            }
            let Key { class, endpoint } = self.work.never(port, self.first_slot, &never);
            // What comes by the clock waits in no slot that a user has.
            let origin = if never.n >= CLOCKED { Origin::Caused } else { Origin::Planned };
            let (intended, outcome) = (never.intended, Outcome::Censored);
            let never = Operation { class, endpoint, origin, intended, issued: None, completed: at, outcome };
            self.recorder.record(never);
        }
    }
}
