//! The open load: operations arrive on a schedule that does not wait for the system.
//!
//! The one idea: when all slots are busy the schedule stands still at the first arrival that was not issued. That one
//! position is the whole backlog; each late arrival keeps its intended time, because it is drawn when a slot is free.

use crate::machine::Share;
use crate::queue::Spawned;
use crate::schedule::Schedule;
use crate::watch::Watch;
use crate::{Arrival, Books, Load, Next, Unissued};
use units::Nanos;

/// Arrivals on a schedule.
#[derive(Clone, Debug)]
pub struct Open {
    schedule: Schedule,
    spawned: Spawned,
    /// Free slots; the one that was freed last goes first, because its buffer is still in the cache.
    free: Vec<u32>,
    slots: u32,
    watch: Watch,
}

impl Open {
    pub(crate) fn new(schedule: Schedule, slots: u32) -> Open {
        // Without a slot nothing could ever be issued, and everything would be due for ever.
        let schedule = if slots == 0 { Schedule::never() } else { schedule };
        Open {
            schedule,
            spawned: Spawned::new(Share::new(0, 1, slots)),
            free: (0..slots).rev().collect(),
            slots,
            watch: Watch::default(),
        }
    }

    /// As [`crate::Machine::measured`].
    pub(crate) fn measure(&mut self, from: Nanos, to: Nanos) {
        self.watch = Watch::new(from, to);
    }

    /// A slot for an operation that is not of the schedule.
    pub(crate) fn lend(&mut self) -> Option<u32> {
        self.free.pop()
    }

    #[inline]
    fn issue_scheduled(&mut self, slot: u32) -> Next {
        let (n, intended) = (self.schedule.n, self.schedule.at);
        self.schedule.advance();
        self.watch.issued(intended);
        Next::Issue(Arrival { slot, n, intended: Nanos(intended), payload: 0 })
    }

    fn next_merged(&mut self, now: u64) -> Next {
        let (scheduled, spawned) = (self.schedule.at, self.spawned.at());
        let first = scheduled.min(spawned);
        if first == u64::MAX {
            return Next::Finished;
        }
        if self.free.is_empty() {
            return Next::Blocked;
        }
        if first > now {
            return Next::WaitUntil(Nanos(first));
        }
        let slot = self.free.pop().unwrap_or_default();
        if scheduled <= spawned {
            return self.issue_scheduled(slot);
        }
        self.spawned.issue(slot, &mut self.watch)
    }
}

impl Load for Open {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        if self.schedule.at <= now.0 && self.spawned.is_empty() {
            return match self.free.pop() {
                Some(slot) => self.issue_scheduled(slot),
                None => Next::Blocked,
            };
        }
        self.next_merged(now.0)
    }

    #[inline]
    fn completed(&mut self, slot: u32, _at: Nanos) {
        debug_assert!(self.free.len() < self.slots as usize, "slot {slot} ended twice");
        self.free.push(slot);
    }

    fn spawn(&mut self, intended: Nanos, payload: u64) -> bool {
        self.spawned.push(intended.0, payload)
    }

    fn unissued(&mut self, now: Nanos) -> Option<Unissued> {
        let (scheduled, spawned) = (self.schedule.at, self.spawned.at());
        if scheduled.min(spawned) > now.0 {
            return None;
        }
        let unissued = if scheduled <= spawned {
            let n = self.schedule.n;
            self.schedule.advance();
            Unissued { n, intended: Nanos(scheduled), payload: 0 }
        } else {
            self.spawned.pop()?
        };
        self.watch.planned(unissued.intended.0);
        Some(unissued)
    }

    fn books(&self) -> Books {
        Books { slots_ns: 0, ..self.watch.books(self.slots) }
    }

    fn slots(&self) -> u32 {
        self.slots
    }
}
