//! The queue of those who want to write: first come, first served.
//!
//! The one idea: the turn is handed from one to the next; nobody who comes later can take it in between. Each waits parked and is
//! woken alone.
//!
//! What it does not do: it keeps no other process from writing; SQLite's own lock does.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::Duration;

/// How long one sleeps at most before looking whether the run was stopped.
const LOOK: Duration = Duration::from_millis(20);

/// The queue in front of one file.
#[derive(Debug, Default)]
pub(super) struct Queue {
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    taken: bool,
    waiting: VecDeque<Arc<Place>>,
}

/// One who waits.
#[derive(Debug)]
struct Place {
    called: AtomicBool,
    thread: Thread,
}

/// The turn to write; it goes to the next when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    queue: Arc<Queue>,
}

impl Queue {
    /// Waits for one's turn; nothing when one was told to stop meanwhile, by any of these.
    pub(super) fn turn(self: &Arc<Queue>, stops: &[&AtomicBool]) -> Option<Turn> {
        let place = {
            let mut line = self.line();
            if !line.taken {
                line.taken = true;
                return Some(Turn { queue: self.clone() });
            }
            let place = Arc::new(Place { called: AtomicBool::new(false), thread: std::thread::current() });
            line.waiting.push_back(place.clone());
            place
        };
        while !place.called.load(Ordering::Acquire) {
            if stops.iter().any(|stop| stop.load(Ordering::Relaxed)) && self.left(&place) {
                return None;
            }
            std::thread::park_timeout(LOOK);
        }
        Some(Turn { queue: self.clone() })
    }

    /// Leaves the line; false when the turn came just now.
    fn left(&self, place: &Arc<Place>) -> bool {
        let mut line = self.line();
        let before = line.waiting.len();
        line.waiting.retain(|other| !Arc::ptr_eq(other, place));
        line.waiting.len() < before
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // The line is whole at every moment that it is unlocked, whoever panicked.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut line = self.queue.line();
        match line.waiting.pop_front() {
            // The line stays taken: the turn is handed over.
            Some(next) => {
                next.called.store(true, Ordering::Release);
                next.thread.unpark();
            }
            None => line.taken = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_the_order_in_which_they_were_asked_for() {
        let (queue, order) = (Arc::new(Queue::default()), Mutex::new(Vec::new()));
        let stop = AtomicBool::new(false);
        let first = queue.turn(&[&stop]).unwrap();
        std::thread::scope(|scope| {
            for n in 0..8 {
                let (queue, order, stop) = (&queue, &order, &stop);
                scope.spawn(move || {
                    let turn = queue.turn(&[stop]).unwrap();
                    order.lock().unwrap().push(n);
                    drop(turn);
                });
                while queue.line().waiting.len() <= n {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(!queue.line().taken);
    }

    #[test]
    fn who_waits_leaves_the_line_when_the_run_stops() {
        let (queue, stop) = (Arc::new(Queue::default()), AtomicBool::new(false));
        let first = queue.turn(&[&stop]).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| queue.turn(&[&stop]).is_none());
            while queue.line().waiting.is_empty() {
                std::thread::yield_now();
            }
            stop.store(true, Ordering::Relaxed);
            assert!(waiter.join().unwrap());
        });
        assert!(queue.line().waiting.is_empty());
        drop(first);
        assert!(queue.turn(&[&stop]).is_some(), "a free turn is given even then, to finish what has begun");
    }
}
