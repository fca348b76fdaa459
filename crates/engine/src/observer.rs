//! What a run tells while it goes on. All methods do nothing unless implemented.

use database::Database;
use observation::{Cell, Check, Event, Ledger, Mishap, Series, words};
use recorder::{Clock, WallClock};
use std::sync::Arc;
use std::time::Duration;
use study::Trial;
use units::Nanos;

words! {
    /// A part of a trial.
    pub enum Phase {
        Fill = "fill" "Modules are filled with stamped data.",
        Precondition = "precondition" "The device is brought into the state that the study asks for.",
        Settle = "settle" "Caches are dropped or warmed, and burst credit returns.",
        WarmUp = "warm up" "Load that is recorded but not counted.",
        Measure = "measure" "The window that counts.",
        Drain = "drain" "What is still out comes back.",
        Check = "check" "The data is checked.",
    }
}

/// How a trial is going right now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Live {
    /// On the trial's clock; in a fill, since the fill began.
    pub at: Nanos,
    /// Which phase.
    pub phase: Phase,
    /// Operations a second since the last call.
    pub done_per_s: f64,
    /// Median response of the last whole interval, all streams, milliseconds.
    pub p50_ms: Option<f64>,
    /// p99 response of the last whole interval, milliseconds.
    pub p99_ms: Option<f64>,
    /// Operations that have failed so far.
    pub failed: u64,
}

/// What is known of a trial that will not end as planned.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found<'a> {
    /// What happened.
    pub events: &'a [Event],
    /// What went wrong, by kind.
    pub mishaps: &'a [Mishap],
    /// What checks of the data found.
    pub checks: &'a [Check],
}

/// Someone who watches a run: a progress line, a store, a live view.
pub trait Observer {
    /// A database is ready for a trial, for one who wants to look at it beside the load.
    fn serves(&mut self, _database: &Arc<dyn Database>) {}

    /// A phase begins and is expected to take so long; zero is unknown.
    fn phase(&mut self, _trial: &Trial, _phase: Phase, _expected: Nanos) {}

    /// Comes about once an interval.
    fn live(&mut self, _trial: &Trial, _live: &Live) {}

    /// What came since the last call: cells of intervals that ended, and points of the probes. Called as the trial goes
    /// on, once a border at most and never from a worker. Of a trial that is cut short no interval comes in part.
    fn interval(&mut self, _trial: &Trial, _cells: &[Cell], _series: &[Series]) {}

    /// Whether what [`Observer::interval`] was handed is kept there. Then it is not kept a second time: memory does not
    /// grow with the length of the trial, and its observations come back without cells and series.
    fn keeps(&self) -> bool {
        false
    }

    /// What the trial knows of acknowledged work. It comes before this is held against the data, so that it is not lost with
    /// whatever goes wrong then.
    fn ledger(&mut self, _trial: &Trial, _ledger: &Ledger) {}

    /// What happened and went wrong in a trial that will not end as planned, and what checks of its data found.
    fn found(&mut self, _trial: &Trial, _found: &Found<'_>) {}

    /// Something that a user should read.
    fn note(&mut self, _trial: Option<&Trial>, _text: &str) {}
}

/// Shows how far bytes are that are written or read outside of the window, so many of all, and how long the rest may take.
pub(crate) fn progress(observer: &mut dyn Observer, trial: &Trial, phase: Phase, at: Nanos, (done, of): (u64, u64)) {
    let per_s = done as f64 / at.seconds().max(1e-9);
    let left = of.saturating_sub(done) as f64 / per_s.max(1.0);
    observer.phase(trial, phase, at + Nanos::from_seconds(left));
    observer.live(trial, &Live { at, phase, done_per_s: per_s / 1e6, p50_ms: None, p99_ms: None, failed: 0 });
}

/// An observer who looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// Runs work on a thread of its own, and looks at it from time to time: told how long it has been running.
pub(crate) fn watch<T: Send>(every: Duration, work: impl FnOnce() -> T + Send, mut look: impl FnMut(Nanos)) -> T {
    let clock = WallClock::new();
    let begin = clock.now();
    std::thread::scope(|scope| {
        let thread = scope.spawn(work);
        while !thread.is_finished() {
            std::thread::park_timeout(every);
            look(clock.now().saturating_sub(begin));
        }
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
