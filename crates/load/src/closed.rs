//! The closed load: a fixed number of slots, each of which starts its next operation when its last has ended.
//!
//! The one idea: a slot is due at its last completion plus its think time, and that is the intended start. So for every
//! slot think, lateness and service follow each other without a gap: they tile the time, which is Little's law.

use crate::machine::Share;
use crate::queue::{Queue, Spawned};
use crate::watch::Watch;
use crate::{Arrival, Books, Limit, Load, Next, Ramp, Think, Unissued};
use random::Draws;
use units::Nanos;

/// One worker's share of a closed load.
#[derive(Clone, Debug)]
pub struct Closed {
    pause: Pause,
    /// Slots that will be due, by time.
    queue: Queue,
    waking: Waking,
    spawned: Spawned,
    /// Slots that are not due again before the end; they still carry what was caused before it.
    retired: Vec<u32>,
    /// What is left of the thinking of each slot that carries something that was caused; the end of time for all others.
    left: Vec<u64>,
    /// How many slots do.
    lent: u32,
    outstanding: u32,
    /// Number of the next operation, and where the numbers end.
    n: u64,
    n_end: u64,
    stride: u64,
    until: u64,
    slots: u32,
    watch: Watch,
}

/// Think time as it is drawn.
#[derive(Clone, Debug)]
enum Pause {
    None,
    Constant(u64),
    /// Mean in nanoseconds, and the random numbers of each slot: a user thinks the same thoughts whichever worker
    /// carries him.
    Exponential(f64, Vec<Draws>),
    /// When the next operation of each slot is due.
    Given(Vec<u64>),
}

/// Slots that a ramp has not started yet, in order.
#[derive(Clone, Debug)]
struct Waking {
    start: u64,
    ramp_ns: u64,
    share: Share,
    /// The next slot of this worker to start, and when; the end of time when all have.
    slot: u32,
    at: u64,
}

impl Waking {
    fn new(start: u64, ramp: Ramp, share: Share) -> Waking {
        let mut waking = Waking { start, ramp_ns: ramp.over.0, share, slot: 0, at: 0 };
        waking.at = waking.time_of(0);
        waking
    }

    /// When a slot starts: the slots of the stream, over all workers, start at equal distances over the ramp.
    fn time_of(&self, slot: u32) -> u64 {
        if slot >= self.share.own {
            return u64::MAX;
        }
        let global = u128::from(slot) * u128::from(self.share.workers) + u128::from(self.share.worker);
        self.start + (u128::from(self.ramp_ns) * global / u128::from(self.share.total)) as u64
    }

    fn take(&mut self) -> u32 {
        let slot = self.slot;
        self.slot += 1;
        self.at = self.time_of(self.slot);
        slot
    }
}

impl Closed {
    pub(crate) fn new(think: Think, ramp: Ramp, limit: Limit, seed: u64, share: Share, start: Nanos) -> Closed {
        let global = |slot: u32| u64::from(slot) * u64::from(share.workers) + u64::from(share.worker);
        let pause = match think {
            Think::None | Think::Constant(Nanos::ZERO) | Think::Exponential(Nanos::ZERO) => Pause::None,
            Think::Constant(time) => Pause::Constant(time.0),
            Think::Exponential(mean) => Pause::Exponential(
                mean.0 as f64,
                (0..share.own).map(|slot| Draws::numbered(seed, global(slot))).collect(),
            ),
            Think::Given => Pause::Given(vec![start.0; share.own as usize]),
        };
        Closed {
            queue: Queue::new(share.own, !matches!(pause, Pause::None)),
            pause,
            waking: Waking::new(start.0, ramp, share),
            spawned: Spawned::new(share),
            retired: Vec::with_capacity(share.own as usize),
            left: vec![u64::MAX; share.own as usize],
            lent: 0,
            outstanding: 0,
            n: u64::from(share.worker),
            n_end: limit.count.unwrap_or(u64::MAX),
            stride: u64::from(share.workers),
            until: limit.until.0,
            slots: share.own,
            watch: Watch::default(),
        }
    }

    /// As [`crate::Machine::measured`].
    pub(crate) fn measure(&mut self, from: Nanos, to: Nanos) {
        self.watch = Watch::new(from, to);
        // A slot that the ramp has not started is idle by intention, like one that thinks.
        for slot in 0..self.slots {
            self.watch.thinks(self.waking.start, self.waking.time_of(slot));
        }
    }

    /// A slot that is due then carries something else from now on, and what is left of its thinking comes afterwards.
    fn carries_on(&mut self, slot: u32, now: u64, due: u64) {
        let due = due.min(self.until);
        // A slot that never thinks and is late is held up by the generator, which is no thinking.
        if !matches!(self.pause, Pause::None) {
            self.watch.wakes(now, due);
        }
        self.left[slot as usize] = due.saturating_sub(now);
        self.lent += 1;
    }

    #[inline]
    fn issue_own(&mut self, slot: u32, intended: u64) -> Next {
        let n = self.n;
        self.n += self.stride;
        self.outstanding += 1;
        self.watch.issued(intended);
        Next::Issue(Arrival { slot, n, intended: Nanos(intended), payload: 0 })
    }

    /// The road for everything but a slot that is due by itself: ramps, spawned operations, waits and the end.
    #[inline(never)]
    fn next_other(&mut self, now: u64) -> Next {
        let at = self.slot_at();
        if at == u64::MAX || (self.n >= self.n_end && self.spawned.is_empty()) {
            if let Some(last) = self.carry_last(now) {
                return last;
            }
            // What completes at or after the end of the load brings nothing more.
            let over = self.outstanding == 0 || now >= self.until || self.n >= self.n_end;
            return if over { Next::Finished } else { Next::Blocked };
        }
        if self.n >= self.n_end {
            let first = at.max(self.spawned.at());
            return if first > now { Next::WaitUntil(Nanos(first)) } else { self.issue_spawned(now, at) };
        }
        let caused = self.spawned.at();
        if at > now {
            // Nobody waits for a user to stop thinking: a slot that idles carries what was caused. A slot that a ramp has
            // not started is none yet.
            let idles = self.queue.at() < u64::MAX;
            if idles && caused <= now {
                let due = self.queue.at();
                let slot = self.queue.pop();
                return self.issue_spawned_in(slot, now, due);
            }
            return Next::WaitUntil(Nanos(if idles { at.min(caused) } else { at }));
        }
        if caused < at {
            return self.issue_spawned(now, at);
        }
        let slot = self.take_slot();
        match &self.pause {
            // A ramp has started the slot before its first operation is due.
            Pause::Given(due) if due[slot as usize] > now => {
                let due = due[slot as usize];
                self.watch.thinks(at, due);
                self.put(slot, due);
                self.next_other(now)
            }
            Pause::Given(due) => self.issue_own(slot, due[slot as usize].max(at)),
            _ => self.issue_own(slot, at),
        }
    }

    /// A slot that would be due at or after the end is never due again, and leaves the queue for good.
    fn put(&mut self, slot: u32, due: u64) {
        if due < self.until {
            self.queue.push(due, slot);
        } else {
            self.retired.push(slot);
        }
    }

    /// What was caused before the end is carried to its end, by slots that have no more work of their own; nothing when
    /// there is no such.
    fn carry_last(&mut self, now: u64) -> Option<Next> {
        let first = self.spawned.at();
        if first >= self.until || (self.retired.is_empty() && self.outstanding == 0) {
            return None;
        }
        if first > now {
            return Some(Next::WaitUntil(Nanos(first)));
        }
        let Some(slot) = self.retired.pop() else { return Some(Next::Blocked) };
        Some(self.issue_spawned_in(slot, now, self.until))
    }

    /// A spawned operation takes the slot that is due first; the slot's own operation waits.
    fn issue_spawned(&mut self, now: u64, due: u64) -> Next {
        let slot = self.take_slot();
        self.issue_spawned_in(slot, now, due)
    }

    fn issue_spawned_in(&mut self, slot: u32, now: u64, due: u64) -> Next {
        self.carries_on(slot, now, due);
        self.outstanding += u32::from(!self.spawned.is_empty());
        self.spawned.issue(slot, &mut self.watch)
    }

    /// When the first slot is due; the end of time when none will be by itself.
    fn slot_at(&self) -> u64 {
        let waking = if self.waking.at < self.until { self.waking.at } else { u64::MAX };
        self.queue.at().min(waking)
    }

    fn take_slot(&mut self) -> u32 {
        if self.waking.at <= self.queue.at() { self.waking.take() } else { self.queue.pop() }
    }
}

impl Load for Closed {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        let at = self.queue.at();
        if at <= now.0 && at < self.waking.at && self.n < self.n_end && self.spawned.is_empty() {
            let slot = self.queue.pop();
            return self.issue_own(slot, at);
        }
        self.next_other(now.0)
    }

    #[inline]
    fn completed(&mut self, slot: u32, at: Nanos) {
        debug_assert!(self.outstanding > 0, "slot {slot} ended twice");
        self.outstanding -= 1;
        let left = if self.lent > 0 { std::mem::replace(&mut self.left[slot as usize], u64::MAX) } else { u64::MAX };
        self.lent -= u32::from(left < u64::MAX);
        let think = match &mut self.pause {
            _ if left < u64::MAX => left,
            Pause::None => 0,
            Pause::Constant(time) => *time,
            Pause::Exponential(mean, slots) => (slots[slot as usize].exponential() * *mean + 0.5) as u64,
            Pause::Given(due) => due[slot as usize].saturating_sub(at.0),
        };
        let due = match &mut self.pause {
            // Who is behind starts at once, and is late: time counts from when it was due.
            Pause::Given(due) => std::mem::replace(&mut due[slot as usize], at.0),
            _ => at.0.saturating_add(think),
        };
        if think > 0 {
            self.watch.thinks(at.0, due);
        }
        self.put(slot, due);
    }

    fn due(&mut self, slot: u32, at: Nanos) {
        if let Pause::Given(due) = &mut self.pause {
            due[slot as usize] = at.0;
        }
    }

    fn spawn(&mut self, intended: Nanos, payload: u64) -> bool {
        self.spawned.push(intended.0, payload)
    }

    fn unissued(&mut self, now: Nanos) -> Option<Unissued> {
        let (own, spawned) = (if self.n < self.n_end { self.slot_at() } else { u64::MAX }, self.spawned.at());
        if own.min(spawned) > now.0 {
            return None;
        }
        let unissued = if own <= spawned {
            self.take_slot();
            self.n += self.stride;
            Unissued { n: self.n - self.stride, intended: Nanos(own), payload: 0 }
        } else {
            self.spawned.pop()?
        };
        self.watch.planned(unissued.intended.0);
        Some(unissued)
    }

    fn books(&self) -> Books {
        let books = self.watch.books(self.slots);
        // Where an operation may be due before the one before it has ended, slots stand for nobody's time.
        if let Pause::Given(_) = self.pause { Books { think_ns: 0, slots_ns: 0, ..books } } else { books }
    }

    fn slots(&self) -> u32 {
        self.slots
    }
}
