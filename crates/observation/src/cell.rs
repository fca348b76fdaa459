//! The smallest unit that is kept: one interval of one stream, class, endpoint and generator.

use crate::Histogram;
use std::convert::Infallible;

/// Where a cell belongs. Indices point into the names of [`crate::Observations`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    /// Which interval, counted from the start of the trial (warm-up included).
    pub interval: u32,
    /// Which stream of the trial.
    pub stream: u16,
    /// Which class of the stream's workload (read, write, sync; create, copy, read; a transaction's name).
    pub class: u16,
    /// Which endpoint or module of the system.
    pub endpoint: u16,
    /// Which worker of the generator.
    pub generator: u16,
}

/// What happened in one cell. Two cells of the same key add up: a late completion may send a second one.
///
/// The histograms hold operations by the interval of their *intended* start, so that a stall belongs to the moment at
/// which it was suffered; the tally counts *completions* by the interval in which they came, so that throughput is what
/// was delivered then. Failures count in the interval of their intended start, as in the books.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Where this belongs.
    pub key: CellKey,
    /// Completed minus intended.
    pub response: Histogram,
    /// Completed minus issued.
    pub service: Histogram,
    /// Issued minus intended.
    pub lateness: Histogram,
    /// Age at the end of the trial of operations intended in this interval that never completed.
    pub censored: Histogram,
    /// Completions that came in this interval.
    pub tally: Tally,
}

impl Cell {
    /// Adds all of `other`, whatever its key.
    pub fn merge(&mut self, other: &Cell) {
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.lateness.merge(&other.lateness);
        self.censored.merge(&other.censored);
        self.tally.add(&other.tally);
    }
}

/// The cells of a trial, walked as often as a question needs, so that nobody has to hold all of them at once.
pub trait CellSource {
    /// Why a walk may end early.
    type Error;

    /// Shows every cell, ascending by interval, and those of one interval in the order in which they were recorded.
    ///
    /// # Errors
    /// Whatever keeps the cells from being read.
    fn each(&self, visit: &mut dyn FnMut(&Cell)) -> Result<(), Self::Error>;
}

impl CellSource for [Cell] {
    type Error = Infallible;

    fn each(&self, visit: &mut dyn FnMut(&Cell)) -> Result<(), Infallible> {
        let mut ordered: Vec<&Cell> = self.iter().collect();
        ordered.sort_by_key(|cell| cell.key.interval);
        ordered.into_iter().for_each(visit);
        Ok(())
    }
}

/// Counts of completions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations that ended well.
    pub done: u64,
    /// Operations that ended with an error.
    pub failed: u64,
    /// Attempts beyond the first.
    pub retried: u64,
    /// Operations that rolled back on purpose; part of `done`.
    pub rolled_back: u64,
    /// Bytes moved by the operations that ended well.
    pub bytes: u64,
}

impl Tally {
    /// Adds `other`.
    pub fn add(&mut self, other: &Tally) {
        self.done += other.done;
        self.failed += other.failed;
        self.retried += other.retried;
        self.rolled_back += other.rolled_back;
        self.bytes += other.bytes;
    }
}

/// The books of one stream in the measured window. `done + failed + censored = planned`, or the trial is a defect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Operations whose intended start lies in the window, but for those that a limit of latency skips.
    pub planned: u64,
    /// Of those, ended well (also when they ended after the window).
    pub done: u64,
    /// Of those, ended with an error.
    pub failed: u64,
    /// Of those, unfinished when the trial closed.
    pub censored: u64,
    /// Time spent between issue and completion by all operations, clipped at the window.
    pub service_ns: u128,
    /// Time spent between intended start and issue by all operations, clipped at the window.
    pub lateness_ns: u128,
    /// Think time of all slots, clipped at the window; 0 in an open load.
    pub think_ns: u128,
    /// Slots of a closed load times the window: what the three above add up to when Little's law closes; 0 when open.
    pub slots_ns: u128,
}

impl Account {
    /// Whether every planned operation is accounted for.
    pub fn closes(&self) -> bool {
        self.done + self.failed + self.censored == self.planned
    }

    /// Adds `other`.
    pub fn add(&mut self, other: &Account) {
        self.planned += other.planned;
        self.done += other.done;
        self.failed += other.failed;
        self.censored += other.censored;
        self.service_ns += other.service_ns;
        self.lateness_ns += other.lateness_ns;
        self.think_ns += other.think_ns;
        self.slots_ns += other.slots_ns;
    }
}
