//! From the end of an operation to its place in the observations: one recorder a worker and stream.
//!
//! The one idea: the interval of the intended start and that of the completion are nearly always the one that was used
//! last, so the hot path compares with cached borders and never divides. Whatever falls elsewhere opens its interval
//! again, in a set of its own; the cells of one key add up.
//!
//! What it does not do: it reads no clock and judges nothing.

use crate::dense::{Dense, IDLE};
use crate::hand_over::HandOver;
use observation::{Account, Cell, Tally, Window};
use std::sync::Arc;
use units::Nanos;

/// What a recorder is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Index of the stream in the trial.
    pub stream: u16,
    /// Index of the worker.
    pub generator: u16,
    /// How many classes the stream's workload has.
    pub classes: u16,
    /// How many endpoints or modules the system has.
    pub endpoints: u16,
    /// The measured window, on the trial's clock.
    pub window: Window,
    /// Length of an interval.
    pub interval: Nanos,
    /// When the trial's clock begins, on the clock that stamps operations.
    pub start: Nanos,
}

/// An operation that is over: what a recorder is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Index of its class in the workload.
    pub class: u16,
    /// Index of the endpoint that it went to.
    pub endpoint: u16,
    /// Where it came from.
    pub origin: Origin,
    /// When it was meant to start.
    pub intended: Nanos,
    /// When it left; none when it never did.
    pub issued: Option<Nanos>,
    /// When it was seen to have ended, or when waiting for it ended.
    pub completed: Nanos,
    /// How it ended.
    pub outcome: Outcome,
}

/// Where an operation came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The load planned it.
    Planned,
    /// Another operation caused it, and it took its turn in the load. It waited for a slot that had work of its own
    /// meanwhile, so its lateness is response to whoever waits for it, and no time of the slot.
    Caused,
    /// It follows another in the same slot and takes no arrival, like a sync after writes. It stands in its class and in
    /// the time of its slot, not among the operations that the load planned.
    Upkeep,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Well.
    Done {
        /// Bytes that it moved.
        bytes: u64,
        /// Attempts beyond the first.
        retried: u32,
        /// Whether it rolled back on purpose.
        rolled_back: bool,
    },
    /// With an error. It is counted, and its time is in the account of Little's law, but not in the histograms: an error
    /// that comes back at once would make a broken system look fast.
    Failed,
    /// Not at all: it was due, and will not be waited for any longer.
    Censored,
}

impl Outcome {
    /// Ended well at the first attempt, having moved so many bytes.
    #[inline]
    pub const fn done(bytes: u64) -> Outcome {
        Outcome::Done { bytes, retried: 0, rolled_back: false }
    }
}

/// The books of a stream do not close: a defect of Prony, never of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what its parts are")]
#[error(
    "stream {stream}, worker {generator}: {} done + {} failed + {} censored is not the {} planned, or {upkeep_out} \
     operations of upkeep are missing",
    account.done, account.failed, account.censored, account.planned
)]
pub struct Unbalanced {
    pub stream: u16,
    pub generator: u16,
    pub account: Account,
    pub upkeep_out: i64,
}

/// The three times of an operation, in order.
#[derive(Clone, Copy)]
struct Times {
    intended: u64,
    issued: u64,
    completed: u64,
}

/// Intervals that may be open at once. Two are in use while nothing is late; the others are for completions that come
/// many intervals after they were meant to, and are never touched before one does.
const OPEN: usize = 8;
/// Cleared sets that wait at the hand-over. One would do; a second covers a collector that is late by an interval.
const SPARES: usize = 2;
/// How often a worker shows its counts, in nanoseconds.
const LIVE_EVERY: u64 = 50_000_000;

/// The recorder of one worker and stream.
#[derive(Debug)]
pub struct Recorder {
    /// The set of completions: its index, when it begins, and how long the cached answer holds.
    current: usize,
    current_start: u64,
    current_length: u64,
    /// The same for intended starts; the answer holds for the whole interval.
    intended: usize,
    intended_start: u64,
    intended_length: u64,
    sets: Vec<Dense>,
    window_start: u64,
    window_end: u64,
    account: Account,
    /// Operations of the window that the load planned and a limit of latency skipped.
    skipped: u64,
    /// Operations of upkeep that are out.
    upkeep_out: i64,
    done: u64,
    failed: u64,
    layout: Layout,
    /// Operations that a set takes before it is handed over; smaller than a 32-bit counter.
    room: u32,
    hand_over: Arc<HandOver>,
    /// Cells that were frozen here because the collector had no cleared set at hand.
    leftover: Vec<Cell>,
}

impl Recorder {
    pub(crate) fn new(layout: Layout) -> (Recorder, Arc<HandOver>) {
        let keys = usize::from(layout.classes) * usize::from(layout.endpoints);
        let (interval, endpoints) = (layout.interval.max(Nanos(1)), layout.endpoints.max(1));
        let layout = Layout { interval, endpoints, ..layout };
        let hand_over = Arc::new(HandOver::new(layout, keys, OPEN, SPARES));
        let recorder = Recorder {
            current: 0,
            current_start: 0,
            current_length: 0,
            intended: 0,
            intended_start: 0,
            intended_length: 0,
            sets: (0..OPEN).map(|_| Dense::new(keys)).collect(),
            window_start: layout.start.saturating_add(layout.window.start).0,
            window_end: layout.start.saturating_add(layout.window.end).0,
            account: Account::default(),
            skipped: 0,
            upkeep_out: 0,
            done: 0,
            failed: 0,
            layout,
            room: u32::MAX,
            hand_over: hand_over.clone(),
            leftover: Vec::new(),
        };
        (recorder, hand_over)
    }

    /// An operation of upkeep leaves. Each that begins must be recorded before the books are closed.
    #[inline]
    pub fn begin_upkeep(&mut self) {
        self.upkeep_out += 1;
    }

    /// Whether an operation that was meant to start then is one of the measured window.
    #[inline]
    pub fn counts(&self, intended: Nanos) -> bool {
        intended.0.wrapping_sub(self.window_start) < self.window_end - self.window_start
    }

    /// Records an operation. Its times are on the clock that stamps operations.
    #[inline(always)]
    pub fn record(&mut self, operation: Operation) {
        // A stamp that another core took may lie a tick before the one that it follows; no duration is below zero.
        let intended = operation.intended.0;
        let completed = operation.completed.0.max(intended);
        let issued = operation.issued.map_or(completed, |issued| issued.0.max(intended).min(completed));
        let times = Times { intended, issued, completed };
        let key = usize::from(operation.class) * usize::from(self.layout.endpoints) + usize::from(operation.endpoint);
        let planned = u64::from(operation.origin != Origin::Upkeep);
        let inside = u64::from(self.counts(operation.intended));
        match operation.outcome {
            Outcome::Done { bytes, retried, rolled_back } => {
                let tally = self.tally(key, completed);
                tally.done += 1;
                tally.bytes += bytes;
                tally.retried += u64::from(retried);
                tally.rolled_back += u64::from(rolled_back);
                self.done += planned;
                self.account.done += planned & inside;
                self.measure(key, times);
            }
            Outcome::Failed => {
                self.fail(key, times);
                self.failed += planned;
                self.account.failed += planned & inside;
            }
            Outcome::Censored => {
                self.censor(key, times);
                self.account.censored += planned & inside;
            }
        }
        self.upkeep_out -= 1 - planned as i64;
        // What was caused takes time of slots from when it leaves. What never left comes here as planned, with all its wait.
        if operation.origin != Origin::Caused {
            self.account.lateness_ns += u128::from(self.inside(times.intended, times.issued));
        }
        self.account.service_ns += u128::from(self.inside(times.issued, times.completed));
    }

    /// Notes how old what an operation saw was when it ended at `at`: as the response of a class of its own, in no account.
    pub fn note_age(&mut self, class: u16, at: Nanos, age: Nanos) {
        let key = usize::from(class) * usize::from(self.layout.endpoints);
        self.tally(key, at.0).done += 1;
        let index = self.set_of(at.0, at.0);
        self.sets[index].add_operation(key, 0, age.0);
        if self.sets[index].filled() {
            self.reopen(index, at.0);
        }
    }

    /// Notes how much an operation gave that ended well at `at`: as the count of a class of its own, in no account.
    #[inline]
    pub fn note_given(&mut self, class: u16, at: Nanos, amount: u64) {
        let key = usize::from(class) * usize::from(self.layout.endpoints);
        self.tally(key, at.0).done += amount;
    }

    /// Counts an operation in a class beside its own, by the interval of its intended start, in no account: one that took longer than
    /// a limit.
    #[cold]
    pub fn note_late(&mut self, class: u16, intended: Nanos, now: Nanos) {
        let key = usize::from(class) * usize::from(self.layout.endpoints);
        self.roll(now);
        let index = self.set_of(intended.0, now.0);
        self.sets[index].tally(key).done += 1;
    }

    /// As [`Recorder::note_late`] of one that the load planned and that never leaves: it is not among the planned ones any more.
    #[cold]
    pub fn skip(&mut self, class: u16, intended: Nanos, now: Nanos) {
        self.note_late(class, intended, now);
        self.skipped += u64::from(self.counts(intended));
    }

    /// The counts of the interval in which a completion came.
    #[inline(always)]
    fn tally(&mut self, key: usize, completed: u64) -> &mut Tally {
        self.roll(Nanos(completed));
        self.sets[self.current].tally(key)
    }

    /// Adds the durations to the interval in which the operation was meant to start.
    #[inline(always)]
    fn measure(&mut self, key: usize, times: Times) {
        let index = self.set_of(times.intended, times.completed);
        let set = &mut self.sets[index];
        set.add_operation(key, times.issued - times.intended, times.completed - times.issued);
        if set.filled() {
            self.reopen(index, times.completed);
        }
    }

    /// Counts a failure in the interval in which the operation was meant to start, as the account does: one has no completion
    /// that anybody could have used.
    #[cold]
    fn fail(&mut self, key: usize, times: Times) {
        self.roll(Nanos(times.completed));
        let index = self.set_of(times.intended, times.completed);
        self.sets[index].tally(key).failed += 1;
    }

    /// Adds the age of an operation that never ended.
    #[cold]
    fn censor(&mut self, key: usize, times: Times) {
        let index = self.set_of(times.intended, times.completed);
        self.sets[index].add_censored(key, times.completed - times.intended);
        if self.sets[index].filled() {
            self.reopen(index, times.completed);
        }
    }

    /// Lets time pass without an operation, so that finished intervals leave even when nothing completes. Cheap enough
    /// to be called in every round of a driver.
    #[inline]
    pub fn roll(&mut self, now: Nanos) {
        if now.0.wrapping_sub(self.current_start) >= self.current_length {
            self.attend(now.0);
        }
    }

    /// Hands over all that is left, and closes the books of this worker. `planned` is the load's own count of operations
    /// intended in the window. Think time and slots are the driver's to fill in.
    ///
    /// # Errors
    /// When done, failed and censored operations are not the planned ones, or upkeep that began never ended.
    pub fn finish(mut self, planned: u64) -> Result<Account, Unbalanced> {
        self.account.planned = planned - self.skipped;
        for set in std::mem::take(&mut self.sets) {
            if set.start != IDLE {
                self.leave(set);
            }
        }
        self.hand_over.put_leftover(std::mem::take(&mut self.leftover));
        self.hand_over.publish(self.done, self.failed);
        let Recorder { layout: Layout { stream, generator, .. }, account, upkeep_out, .. } = self;
        if account.closes() && upkeep_out == 0 {
            Ok(account)
        } else {
            Err(Unbalanced { stream, generator, account, upkeep_out })
        }
    }

    /// How much of a span lies in the measured window.
    #[inline]
    fn inside(&self, from: u64, to: u64) -> u64 {
        to.min(self.window_end).saturating_sub(from.max(self.window_start))
    }

    #[inline]
    fn set_of(&mut self, intended: u64, now: u64) -> usize {
        if intended.wrapping_sub(self.intended_start) >= self.intended_length {
            self.intended = self.find_or_open(intended, now);
            self.intended_start = self.sets[self.intended].start;
            self.intended_length = self.layout.interval.0;
        }
        self.intended
    }

    /// The rare part of time passing: shows the counts, opens the interval of `now`, hands over what is due.
    #[cold]
    fn attend(&mut self, now: u64) {
        self.hand_over.publish(self.done, self.failed);
        self.current = self.find_or_open(now, now);
        self.current_start = self.sets[self.current].start;
        let mut next = (self.current_start + self.layout.interval.0).min(now + LIVE_EVERY);
        for index in 0..self.sets.len() {
            let set = &self.sets[index];
            if set.start == IDLE || index == self.current {
                continue;
            }
            if set.due <= now {
                self.hand_over(index);
            } else {
                next = next.min(set.due);
            }
        }
        self.current_length = next - self.current_start;
    }

    /// The set of the interval that holds `at`, opened when there is none.
    #[cold]
    fn find_or_open(&mut self, at: u64, now: u64) -> usize {
        let interval = self.layout.interval.0;
        // What is stamped before the trial began belongs to its first interval.
        let at = at.max(self.layout.start.0);
        if let Some(index) = self.sets.iter().position(|set| at.wrapping_sub(set.start) < interval && set.start != IDLE)
        {
            return index;
        }
        let index = self.vacate();
        let number = (at - self.layout.start.0) / interval;
        let start = self.layout.start.0 + number * interval;
        // A quarter of an interval is time enough for what was out at its end; what comes later opens it again.
        let due = (start + interval).max(now) + interval / 4;
        self.sets[index].open(number as u32, start, due, self.room);
        index
    }

    /// A place with a cleared set: a free one, or that of the set which would be handed over first.
    fn vacate(&mut self) -> usize {
        if let Some(free) = self.sets.iter().position(|set| set.start == IDLE) {
            return free;
        }
        let others = (0..self.sets.len()).filter(|index| *index != self.current);
        let oldest = others.min_by_key(|index| self.sets[*index].due).unwrap_or(0);
        self.hand_over(oldest);
        oldest
    }

    /// Sends a set to the collector and puts a cleared one in its place. When the collector has none at hand, the worker
    /// freezes the set itself: that allocates, and loses nothing.
    fn hand_over(&mut self, index: usize) {
        match self.hand_over.clear.pop() {
            Some(clear) => {
                let full = std::mem::replace(&mut self.sets[index], clear);
                self.leave(full);
            }
            None => self.sets[index].freeze(&self.layout, &mut self.leftover),
        }
        if self.intended == index {
            self.intended_length = 0;
        }
    }

    /// Leaves a set to the collector. It comes back when there is no room, which the sizes exclude.
    fn leave(&mut self, set: Dense) {
        if let Err(mut back) = self.hand_over.full.push(set) {
            back.freeze(&self.layout, &mut self.leftover);
        }
    }

    /// A set is full: hands it over and opens its interval again.
    #[cold]
    fn reopen(&mut self, index: usize, now: u64) {
        let start = self.sets[index].start;
        self.hand_over(index);
        self.find_or_open(start, now);
        // Completions may have been counted in the set that left, whose interval may now have another place.
        if index == self.current {
            self.attend(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Collector;

    const LAYOUT: Layout = Layout {
        stream: 0,
        generator: 0,
        classes: 1,
        endpoints: 1,
        window: Window { start: Nanos(0), end: Nanos(1_000) },
        interval: Nanos(100),
        start: Nanos(0),
    };

    /// An operation of the first class and endpoint that left and ended at these moments.
    fn operation([intended, issued, completed]: [u64; 3], outcome: Outcome) -> Operation {
        let (intended, issued, completed) = (Nanos(intended), Some(Nanos(issued)), Nanos(completed));
        Operation { class: 0, endpoint: 0, origin: Origin::Planned, intended, issued, completed, outcome }
    }

    /// A counter of 32 bits cannot be filled in a test, so a set is told that it has less room.
    #[test]
    fn a_set_that_is_full_leaves_early_and_no_count_is_lost() {
        let mut collector = Collector::default();
        let mut recorder = collector.recorder(LAYOUT);
        recorder.room = 7;
        for _ in 0..1_000 {
            recorder.record(operation([10, 20, 50], Outcome::done(1)));
        }
        for _ in 0..30 {
            recorder.record(Operation { issued: None, ..operation([10, 0, 90], Outcome::Censored) });
        }
        recorder.finish(1_030).unwrap();
        let mut cells = Vec::new();
        collector.collect(&mut cells);
        assert_eq!(cells.len(), 1_030_usize.div_ceil(7));
        let mut total = Cell::default();
        cells.iter().for_each(|cell| total.merge(cell));
        assert_eq!((total.response.count(), total.tally.done, total.censored.count()), (1_000, 1_000, 30));
        assert_eq!((total.response.sum_ns(), total.service.sum_ns()), (40_000, 30_000));
    }

    #[test]
    fn a_collector_that_never_looks_costs_memory_and_no_operation() {
        let mut collector = Collector::default();
        let mut recorder = collector.recorder(LAYOUT);
        for interval in 0..50 {
            recorder.record(operation([interval * 100 + 5; 3], Outcome::done(1)));
        }
        assert!(!recorder.leftover.is_empty(), "there were more intervals than sets");
        recorder.finish(10).unwrap();
        let mut cells = Vec::new();
        collector.collect(&mut cells);
        cells.sort_by_key(|cell| cell.key);
        assert!(cells.iter().map(|cell| cell.key.interval).eq(0..50));
    }

    #[test]
    fn the_end_of_the_window_lies_outside_of_it_and_its_beginning_inside() {
        let mut recorder =
            Collector::default().recorder(Layout { window: Window { start: Nanos(100), end: Nanos(1_000) }, ..LAYOUT });
        for intended in [99, 100, 999, 1_000] {
            recorder.record(operation([intended, intended, intended + 5], Outcome::done(1)));
        }
        assert_eq!(recorder.finish(2).unwrap().done, 2);
    }

    #[test]
    fn tries_beyond_the_first_and_work_that_was_taken_back_are_counted() {
        let mut collector = Collector::default();
        let mut recorder = collector.recorder(LAYOUT);
        for (retried, rolled_back) in [(3, false), (0, true), (2, true)] {
            recorder.record(operation([10, 20, 50], Outcome::Done { bytes: 8, retried, rolled_back }));
        }
        recorder.finish(3).unwrap();
        let mut cells = Vec::new();
        collector.collect(&mut cells);
        let tally = &cells[0].tally;
        assert_eq!((cells.len(), tally.done, tally.bytes, tally.retried, tally.rolled_back), (1, 3, 24, 5, 2));
    }

    #[test]
    fn books_that_do_not_close_are_an_error_that_names_them() {
        let mut recorder = Collector::default().recorder(Layout { stream: 2, generator: 4, ..LAYOUT });
        recorder.record(operation([5, 6, 7], Outcome::done(1)));
        recorder.record(operation([5, 6, 7], Outcome::Failed));
        let error = recorder.finish(3).unwrap_err().to_string();
        assert!(
            error.starts_with("stream 2, worker 4: 1 done + 1 failed + 0 censored is not the 3 planned"),
            "{error}"
        );
    }

    #[test]
    fn upkeep_takes_the_time_of_its_slot_and_none_of_the_planned_operations() {
        let mut collector = Collector::default();
        let mut recorder = collector.recorder(Layout { classes: 2, ..LAYOUT });
        recorder.record(operation([5, 6, 7], Outcome::done(1)));
        recorder.begin_upkeep();
        let upkeep = |times, outcome| Operation { class: 1, origin: Origin::Upkeep, ..operation(times, outcome) };
        recorder.record(upkeep([7, 9, 19], Outcome::done(0)));
        recorder.begin_upkeep();
        recorder.record(upkeep([20, 21, 30], Outcome::Censored));
        let account = recorder.finish(1).unwrap();
        assert_eq!((account.planned, account.done, account.censored), (1, 1, 0));
        assert_eq!((account.lateness_ns, account.service_ns), (1 + 2 + 1, 1 + 10 + 9));
        let mut cells = Vec::new();
        collector.collect(&mut cells);
        let sync = cells.iter().find(|cell| cell.key.class == 1).unwrap();
        assert_eq!((sync.tally.done, sync.response.count(), sync.censored.count()), (1, 1, 1));
    }

    #[test]
    fn an_age_is_in_its_class_and_in_no_account() {
        let mut collector = Collector::default();
        let mut recorder = collector.recorder(Layout { classes: 2, ..LAYOUT });
        recorder.record(operation([5, 6, 7], Outcome::done(1)));
        recorder.note_age(1, Nanos(120), Nanos(90));
        let account = recorder.finish(1).unwrap();
        assert_eq!((account.planned, account.done, account.service_ns, account.lateness_ns), (1, 1, 1, 1));
        let mut cells = Vec::new();
        collector.collect(&mut cells);
        let age = cells.iter().find(|cell| cell.key.class == 1).unwrap();
        assert_eq!((age.key.interval, age.tally.done, age.response.sum_ns(), age.lateness.sum_ns()), (1, 1, 90, 0));
    }

    #[test]
    fn what_is_given_is_counted_where_it_was_given_and_in_no_account() {
        let mut collector = Collector::default();
        let mut recorder = collector.recorder(Layout { classes: 2, ..LAYOUT });
        recorder.record(operation([5, 6, 7], Outcome::done(1)));
        for (at, amount) in [(7, 30), (120, 2), (130, 0)] {
            recorder.note_given(1, Nanos(at), amount);
        }
        let account = recorder.finish(1).unwrap();
        assert_eq!((account.planned, account.done, account.service_ns), (1, 1, 1));
        let mut cells = Vec::new();
        collector.collect(&mut cells);
        let mut given: Vec<(u32, u64, u64)> = Vec::new();
        for cell in cells.iter().filter(|cell| cell.key.class == 1) {
            given.push((cell.key.interval, cell.tally.done, cell.response.count()));
        }
        given.sort_unstable();
        assert_eq!(given, [(0, 30, 0), (1, 2, 0)]);
    }

    #[test]
    fn what_is_late_or_skipped_is_counted_where_it_was_due_and_only_what_is_skipped_leaves_the_books() {
        let mut collector = Collector::default();
        let mut recorder = collector.recorder(Layout { classes: 3, ..LAYOUT });
        recorder.record(operation([5, 6, 350], Outcome::done(1)));
        recorder.note_late(1, Nanos(5), Nanos(350));
        for intended in [120, 130, 1_000] {
            recorder.skip(2, Nanos(intended), Nanos(1_100));
        }
        let account = recorder.finish(3).unwrap();
        assert_eq!((account.planned, account.done, account.closes()), (1, 1, true));
        let mut cells = Vec::new();
        collector.collect(&mut cells);
        let counted = |class| {
            let of_class = cells.iter().filter(|cell| cell.key.class == class && cell.tally.done > 0);
            let mut counted: Vec<(u32, u64)> = of_class.map(|cell| (cell.key.interval, cell.tally.done)).collect();
            counted.sort_unstable();
            counted
        };
        assert_eq!((counted(1), counted(2)), (vec![(0, 1)], vec![(1, 2), (10, 1)]));
    }

    #[test]
    fn what_was_caused_waits_in_no_time_of_its_slot() {
        let mut recorder = Collector::default().recorder(LAYOUT);
        let caused = |times, outcome| Operation { origin: Origin::Caused, ..operation(times, outcome) };
        recorder.record(caused([10, 30, 40], Outcome::done(0)));
        recorder.record(caused([50, 60, 70], Outcome::Failed));
        let account = recorder.finish(2).unwrap();
        assert_eq!((account.done, account.failed), (1, 1));
        assert_eq!((account.lateness_ns, account.service_ns), (0, 10 + 10));
        let mut recorder = Collector::default().recorder(LAYOUT);
        recorder.record(caused([10, 30, 40], Outcome::Censored));
        let account = recorder.finish(1).unwrap();
        assert_eq!((account.censored, account.lateness_ns, account.service_ns), (1, 0, 10));
    }

    #[test]
    fn upkeep_that_began_and_never_ended_is_an_error() {
        let mut recorder = Collector::default().recorder(LAYOUT);
        recorder.begin_upkeep();
        assert!(recorder.finish(0).unwrap_err().to_string().contains("1 operations of upkeep"));
    }
}
