//! How full sets leave a worker and cleared ones come back: two bounded queues without locks, one pair a worker.
//!
//! The one idea: the worker never waits, never wakes anybody and never allocates here. The collector looks by itself.

use crate::Live;
use crate::dense::Dense;
#[cfg(all(test, shuttle))]
use crate::interleaved::ArrayQueue;
use crate::recorder::Layout;
#[cfg(not(all(test, shuttle)))]
use crossbeam_queue::ArrayQueue;
use observation::Cell;
#[cfg(all(test, shuttle))]
use shuttle::sync::{Mutex, atomic::AtomicU64};
use std::sync::atomic::Ordering;
#[cfg(not(all(test, shuttle)))]
use std::sync::{Mutex, atomic::AtomicU64};

/// What a worker and the collector share.
#[derive(Debug)]
pub(crate) struct HandOver {
    pub(crate) layout: Layout,
    /// Both have room for every set that exists, so that handing one over cannot fail.
    pub(crate) full: ArrayQueue<Dense>,
    pub(crate) clear: ArrayQueue<Dense>,
    /// Cells that the worker had to freeze by itself; written once, when it is done.
    leftover: Mutex<Vec<Cell>>,
    done: AtomicU64,
    failed: AtomicU64,
}

impl HandOver {
    /// With `spares` cleared sets for `keys` combinations; `held` sets more are with the worker.
    pub(crate) fn new(layout: Layout, keys: usize, held: usize, spares: usize) -> HandOver {
        let hand_over = HandOver {
            layout,
            full: ArrayQueue::new(held + spares),
            clear: ArrayQueue::new(held + spares),
            leftover: Mutex::default(),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        };
        for _ in 0..spares {
            let _ = hand_over.clear.push(Dense::new(keys));
        }
        hand_over
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

    pub(crate) fn live(&self) -> Live {
        Live { done: self.done.load(Ordering::Relaxed), failed: self.failed.load(Ordering::Relaxed) }
    }
}
