//! The hand-over of full sets under every order in which worker and collector may take their turns: `shuttle` chooses, thousands of
//! times.
//!
//! Built with `--cfg shuttle` alone. The queues of the library know nothing of `shuttle`, so that one of the same kind behind a lock
//! stands for them here; the library's own runs under ThreadSanitizer.

use crate::{Collector, Layout, Live, Operation, Origin, Outcome, Recorder};
use observation::{Cell, Window};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;
use std::collections::VecDeque;
use units::Nanos;

/// A bounded queue.
#[derive(Debug)]
pub(crate) struct ArrayQueue<T> {
    room: usize,
    queue: Mutex<VecDeque<T>>,
}

impl<T> ArrayQueue<T> {
    pub(crate) fn new(room: usize) -> ArrayQueue<T> {
        ArrayQueue { room, queue: Mutex::default() }
    }

    pub(crate) fn push(&self, value: T) -> Result<(), T> {
        let mut queue = self.queue.lock().unwrap();
        if queue.len() == self.room {
            return Err(value);
        }
        queue.push_back(value);
        Ok(())
    }

    pub(crate) fn pop(&self) -> Option<T> {
        self.queue.lock().unwrap().pop_front()
    }
}

const WORKERS: u16 = 2;
const OPERATIONS: u64 = 9;

/// One operation an interval, so that a set is handed over for nearly each.
fn record(mut recorder: Recorder) {
    for n in 0..OPERATIONS {
        let [intended, completed] = [n * 100, n * 100 + 150].map(Nanos);
        let (issued, outcome) = (Some(intended), Outcome::done(1));
        recorder.record(Operation {
            class: 0,
            endpoint: 0,
            origin: Origin::Planned,
            intended,
            issued,
            completed,
            outcome,
        });
        thread::yield_now();
    }
    recorder.finish(OPERATIONS).unwrap();
}

fn one_trial() {
    let window = Window { start: Nanos(0), end: Nanos(1_000_000) };
    let layout = |generator| Layout {
        stream: 0,
        generator,
        classes: 1,
        endpoints: 1,
        window,
        interval: Nanos(100),
        start: Nanos(0),
    };
    let mut collector = Collector::default();
    let recorders: Vec<Recorder> = (0..WORKERS).map(|generator| collector.recorder(layout(generator))).collect();
    let home = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = recorders
        .into_iter()
        .map(|recorder| {
            let home = home.clone();
            thread::spawn(move || {
                record(recorder);
                home.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    let (mut cells, mut before) = (Vec::new(), Live::default());
    while home.load(Ordering::SeqCst) < usize::from(WORKERS) {
        collector.collect(&mut cells);
        let live = collector.live();
        assert!(live.done >= before.done && live.failed == 0, "{live:?} after {before:?}");
        before = live;
        thread::yield_now();
    }
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    collector.collect(&mut cells);
    for generator in 0..WORKERS {
        let of_this = cells.iter().filter(|cell| cell.key.generator == generator);
        let counts = of_this.fold((0, 0, 0), |(done, bytes, response), cell: &Cell| {
            (done + cell.tally.done, bytes + cell.tally.bytes, response + cell.response.count())
        });
        assert_eq!(counts, (OPERATIONS, OPERATIONS, OPERATIONS), "worker {generator}");
    }
    assert_eq!(collector.live().done, OPERATIONS * u64::from(WORKERS));
}

#[test]
fn no_set_is_lost_or_counted_twice_on_its_way_to_the_collector() {
    shuttle::check_random(one_trial, 500);
}

#[test]
fn no_set_is_lost_where_few_turns_go_wrong() {
    shuttle::check_pct(one_trial, 500, 3);
}
