//! How full sets leave a worker and cleared ones come back: two bounded queues without locks, one pair a worker.
//!
//! The one idea: the worker never waits, never wakes anybody and never allocates here. The collector looks by itself.

use crate::dense::{Dense, Place};
use crossbeam_queue::ArrayQueue;
use observation::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a worker and the collector share.
#[derive(Debug)]
pub(crate) struct HandOver {
    pub(crate) place: Place,
    full: ArrayQueue<Dense>,
    clear: ArrayQueue<Dense>,
    /// Cells that the worker had to freeze by itself; written once, when it is done.
    leftover: Mutex<Vec<Cell>>,
    done: AtomicU64,
    failed: AtomicU64,
}

impl HandOver {
    /// With `spares` cleared sets for `keys` combinations; `held` sets more are with the worker.
    pub(crate) fn new(place: Place, keys: usize, held: usize, spares: usize) -> HandOver {
        let hand_over = HandOver {
            place,
            // Room for every set that exists, so that handing one over cannot fail.
            full: ArrayQueue::new(held + spares),
            clear: ArrayQueue::new(held + spares),
            leftover: Mutex::default(),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        };
        for _ in 0..spares {
            hand_over.put_clear(Dense::new(keys));
        }
        hand_over
    }

    pub(crate) fn take_clear(&self) -> Option<Dense> {
        self.clear.pop()
    }

    pub(crate) fn put_clear(&self, set: Dense) {
        let _ = self.clear.push(set);
    }

    /// Hands a set over; it comes back when there is no room, which the sizes exclude.
    pub(crate) fn put_full(&self, set: Dense) -> Result<(), Dense> {
        self.full.push(set)
    }

    pub(crate) fn take_full(&self) -> Option<Dense> {
        self.full.pop()
    }

    pub(crate) fn put_leftover(&self, cells: Vec<Cell>) {
        self.leftover.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(cells);
    }

    pub(crate) fn take_leftover(&self) -> Vec<Cell> {
        std::mem::take(&mut *self.leftover.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    pub(crate) fn publish(&self, done: u64, failed: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.failed.store(failed, Ordering::Relaxed);
    }

    pub(crate) fn live(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }
}
