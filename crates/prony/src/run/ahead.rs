//! Trials on models, one a core.
//!
//! The one idea: a trial in virtual time disturbs nobody and follows from its seed alone, so that several can run at once and come
//! out as if they had run one after the other. What is certain to come next begins while the one before is still running; the
//! run file takes them in their order.
//!
//! What it does not do: it runs nothing ahead on a real system, and nothing that a search or a pilot has still to choose.

use engine::{Observer, Opened, TrialError, run_trial};
use observation::{Cell, Observations, Series};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::thread::{Scope, ScopedJoinHandle, available_parallelism};
use study::Trial;

/// A trial that ended, with what came meanwhile.
pub struct Simulated {
    /// How it ended.
    pub result: Result<Observations, TrialError>,
    /// Cells of all intervals.
    pub cells: Vec<Cell>,
    /// Points of all series.
    pub series: Vec<Series>,
}

/// Trials under way, by their index.
pub struct Ahead<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    stop: &'env AtomicBool,
    under_way: BTreeMap<u32, ScopedJoinHandle<'scope, Simulated>>,
    most: usize,
}

/// Keeps everything in memory.
#[derive(Default)]
struct Kept {
    cells: Vec<Cell>,
    series: Vec<Series>,
}

impl Observer for Kept {
    fn interval(&mut self, _trial: &Trial, cells: &[Cell], series: &[Series]) {
        self.cells.extend_from_slice(cells);
        self.series.extend_from_slice(series);
    }

    fn keeps(&self) -> bool {
        true
    }
}

impl<'scope, 'env> Ahead<'scope, 'env> {
    /// One for each core.
    pub fn new(scope: &'scope Scope<'scope, 'env>, stop: &'env AtomicBool) -> Ahead<'scope, 'env> {
        let most = available_parallelism().map_or(1, usize::from);
        Ahead { scope, stop, under_way: BTreeMap::new(), most }
    }

    /// Whether another may begin.
    pub fn has_room(&self) -> bool {
        self.under_way.len() < self.most
    }

    /// Begins a trial, unless it runs already.
    pub fn begin(&mut self, trial: &Trial, mut twin: Opened) {
        let stop = self.stop;
        let trial = trial.clone();
        self.under_way.entry(trial.label.index).or_insert_with(|| {
            self.scope.spawn(move || {
                let mut kept = Kept::default();
                let result = run_trial(&mut twin, &trial, &mut kept, stop);
                Simulated { result, cells: kept.cells, series: kept.series }
            })
        });
    }

    /// Waits for a trial that was begun; none when it was not.
    pub fn end(&mut self, index: u32) -> Option<Simulated> {
        let ended = self.under_way.remove(&index)?.join();
        // A panic there is one here.
        Some(ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}
