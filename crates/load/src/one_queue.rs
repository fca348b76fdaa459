//! A load that several workers carry together: one queue for all of them.
//!
//! The one idea: a worker with a free slot takes the next operation before it is due and waits for its time with it. So the
//! workers that are free hold the operations that are due first, each of them a different one, and nobody waits for a worker
//! that is busy while another idles. When all are busy nobody takes anything, and the queue is in order.
//!
//! What an operation causes stays with the worker that carried it, because only that one knows what it is about. It takes a
//! carrier, and no slot of a closed load: a user whose slot it took while he waits would wait anew, and nobody would see the time.

use crate::machine::Share;
use crate::queue::Spawned;
use crate::watch::Watch;
use crate::{Arrival, Books, Load, Machine, Next, Unissued};
#[cfg(all(test, shuttle))]
use shuttle::sync::{Arc, Mutex, MutexGuard, atomic::AtomicBool};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
#[cfg(not(all(test, shuttle)))]
use std::sync::{Arc, Mutex, MutexGuard, atomic::AtomicBool};
use units::Nanos;

/// How soon a worker looks again at what others may have left, or at what it has caused itself.
const LOOK: Nanos = Nanos::from_millis(1);

/// The queue behind the workers.
#[derive(Debug)]
struct Queue {
    machine: Mutex<Waiting>,
    /// Whether a worker may have put back what it took, for something that was caused or for a user who is due sooner: those that
    /// wait must look.
    causes: AtomicBool,
}

/// What no worker has.
#[derive(Debug)]
struct Waiting {
    machine: Machine,
    /// What was taken and put back, by slots of the machine.
    back: Vec<Arrival>,
}

/// Stands for a slot of the machine where a carrier needs none.
const BESIDE: u32 = u32::MAX;

/// One worker's share of a load that several carry.
#[derive(Clone, Debug)]
pub struct Shared {
    queue: Arc<Queue>,
    /// What was taken from the queue and has not left.
    held: Option<Arrival>,
    spawned: Spawned,
    /// Nothing that is caused for this moment or a later one is carried.
    caused_until: u64,
    free: Vec<u32>,
    /// The slot of the machine behind each slot of this worker.
    carries: Vec<u32>,
    watch: Watch,
    /// Below zero where this worker lent more of others' than it booked itself.
    think_ns: i128,
    slots_ns: u128,
    /// Whether there is no other worker.
    alone: bool,
    /// Whether this worker has on its books what belongs to no worker: time before users start, and the slots.
    first: bool,
}

impl Shared {
    /// The shares of so many workers, which carry `carriers` operations at once together.
    pub(crate) fn among(workers: u32, carriers: u32, machine: Machine, until: Nanos) -> Vec<Shared> {
        let caused_until = if matches!(machine, Machine::Closed(_)) { until.0 } else { u64::MAX };
        let waiting = Waiting { machine, back: Vec::with_capacity(workers as usize + 1) };
        let queue = Arc::new(Queue { machine: Mutex::new(waiting), causes: AtomicBool::new(false) });
        let share = |worker| {
            let share = Share::new(worker, workers, carriers);
            Shared {
                queue: queue.clone(),
                held: None,
                spawned: Spawned::new(share),
                caused_until,
                free: (0..share.own).rev().collect(),
                carries: vec![0; share.own as usize],
                watch: Watch::default(),
                think_ns: 0,
                slots_ns: 0,
                alone: workers == 1,
                first: worker == 0,
            }
        };
        (0..workers).map(share).collect()
    }

    /// As [`Machine::measured`].
    pub(crate) fn measure(&mut self, from: Nanos, to: Nanos) {
        if self.first {
            let machine = &mut self.queue.waiting().machine;
            machine.measure(from, to);
            let books = machine.books();
            (self.think_ns, self.slots_ns) = (books.think_ns as i128, books.slots_ns);
        }
        self.watch = Watch::new(from, to);
    }

    /// What is taken next, whenever it is due; else why there is nothing.
    fn take(&self, now: Nanos) -> Next {
        let mut waiting = self.queue.waiting();
        let Waiting { machine, back, .. } = &mut *waiting;
        let first = (0..back.len()).min_by_key(|at| back[*at].intended);
        let put_back = first.map(|first| back[first].intended);
        let next = match put_back {
            Some(at) if at <= now => Next::WaitUntil(at),
            _ => machine.next(now),
        };
        match (next, first) {
            (Next::WaitUntil(at), Some(first)) if put_back <= Some(at) => Next::Issue(back.swap_remove(first)),
            (Next::WaitUntil(at), _) => machine.next(at),
            (Next::Blocked | Next::Finished, Some(first)) => Next::Issue(back.swap_remove(first)),
            (next, _) => next,
        }
    }

    /// Puts back what was taken, and takes what is due first.
    fn exchange(&mut self, now: Nanos) -> Next {
        self.put_back();
        self.take(now)
    }

    /// Does something to the queue, and takes on this worker's books by how much it moves the time without work.
    fn booked<T>(&mut self, change: impl FnOnce(&mut Waiting) -> T) -> T {
        let mut waiting = self.queue.waiting();
        let before = waiting.machine.books().think_ns as i128;
        let changed = change(&mut waiting);
        self.think_ns += waiting.machine.books().think_ns as i128 - before;
        changed
    }

    fn put_back(&mut self) {
        if let Some(held) = self.held.take() {
            self.queue.waiting().back.push(held);
        }
    }

    fn issue(&mut self, arrival: Arrival) -> Next {
        let slot = self.free.pop().unwrap_or_default();
        self.carries[slot as usize] = arrival.slot;
        self.watch.issued(arrival.intended.0);
        Next::Issue(Arrival { slot, ..arrival })
    }

    /// What was caused takes a slot of this worker, and one of the machine where slots are carriers; nothing when there is none.
    fn issue_caused(&mut self, now: Nanos) -> Option<Next> {
        self.put_back();
        let lent = self.booked(Waiting::lend)?;
        if lent == BESIDE {
            // A slot more, for as long as it is needed.
            self.slots_ns += u128::from(self.watch.left(now.0));
        }
        let slot = self.free.pop()?;
        self.carries[slot as usize] = lent;
        Some(self.spawned.issue(slot, &mut self.watch))
    }

    fn caused_at(&self) -> u64 {
        let at = self.spawned.at();
        if at < self.caused_until { at } else { u64::MAX }
    }
}

impl Queue {
    /// A worker that panicked leaves the queue as it was: each change is complete before the lock is given back.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// A slot for something that was caused.
    fn lend(&mut self) -> Option<u32> {
        match &mut self.machine {
            Machine::Closed(_) => Some(BESIDE),
            Machine::Open(open) => open.lend(),
            Machine::Shared(_) | Machine::Clocked(_) => None,
        }
    }
}

impl Load for Shared {
    #[inline]
    fn next(&mut self, now: Nanos) -> Next {
        if self.free.is_empty() {
            return if self.carries.is_empty() { Next::Finished } else { Next::Blocked };
        }
        let caused = self.caused_at();
        if caused <= now.0
            && self.held.is_none_or(|held| caused < held.intended.0)
            && let Some(next) = self.issue_caused(now)
        {
            return next;
        }
        let looks = self.queue.causes.load(Ordering::Relaxed);
        let taken = match self.held.take() {
            Some(held) if !looks => Next::Issue(held),
            held => {
                self.held = held;
                self.exchange(now)
            }
        };
        match taken {
            Next::Issue(arrival) if arrival.intended <= now => self.issue(arrival),
            Next::Issue(arrival) => {
                self.held = Some(arrival);
                Next::WaitUntil(if looks { arrival.intended.min(now + LOOK) } else { arrival.intended })
            }
            Next::Finished if caused == u64::MAX => Next::Finished,
            // What others carry may bring more, and nobody would say so.
            _ if self.free.len() == self.carries.len() => Next::WaitUntil(now + LOOK),
            _ => Next::Blocked,
        }
    }

    fn completed(&mut self, slot: u32, at: Nanos) {
        self.free.push(slot);
        let carried = self.carries[slot as usize];
        if carried < BESIDE {
            // A user who thinks for a short time may be due before the one who is held.
            if self.caused_until < u64::MAX && self.held.is_some() {
                self.queue.causes.fetch_or(!self.alone, Ordering::Relaxed);
                self.put_back();
            }
            return self.booked(|waiting| waiting.machine.completed(carried, at));
        }
        self.slots_ns -= u128::from(self.watch.left(at.0));
    }

    fn spawn(&mut self, intended: Nanos, payload: u64) -> bool {
        self.queue.causes.store(true, Ordering::Relaxed);
        self.spawned.push(intended.0, payload)
    }

    fn unissued(&mut self, now: Nanos) -> Option<Unissued> {
        let never = if self.spawned.at() <= now.0 {
            let never = self.spawned.pop()?;
            if self.caused_until < u64::MAX {
                // What never left stands in the books with all its wait.
                self.slots_ns += u128::from(self.watch.left(never.intended.0) - self.watch.left(now.0));
            }
            never
        } else if let Some(held) = self.held.take_if(|held| held.intended <= now) {
            Unissued { n: held.n, intended: held.intended, payload: held.payload }
        } else {
            let mut waiting = self.queue.waiting();
            match waiting.back.iter().position(|held| held.intended <= now) {
                Some(at) => {
                    let Arrival { n, intended, payload, .. } = waiting.back.swap_remove(at);
                    Unissued { n, intended, payload }
                }
                None => waiting.machine.unissued(now)?,
            }
        };
        self.watch.planned(never.intended.0);
        Some(never)
    }

    fn books(&self) -> Books {
        Books { think_ns: self.think_ns.max(0) as u128, slots_ns: self.slots_ns, ..self.watch.books(0) }
    }

    fn slots(&self) -> u32 {
        self.carries.len() as u32
    }
}
