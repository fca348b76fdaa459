//! What a run tells while it goes on. All methods do nothing unless implemented.

use observation::{Cell, Series};
use study::Trial;
use units::Nanos;

/// A part of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Modules are filled with stamped data.
    Fill,
    /// The device is brought into the state that the study asks for.
    Precondition,
    /// Caches are dropped or warmed, and burst credit returns.
    Settle,
    /// Load that is recorded but not counted.
    WarmUp,
    /// The window that counts.
    Measure,
    /// What is still out comes back.
    Drain,
    /// The data is checked.
    Check,
}

impl Phase {
    /// The word that people read.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Fill => "fill",
            Phase::Precondition => "precondition",
            Phase::Settle => "settle",
            Phase::WarmUp => "warm up",
            Phase::Measure => "measure",
            Phase::Drain => "drain",
            Phase::Check => "check",
        }
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
}

/// Someone who watches a run: a progress line, a store, a live view.
pub trait Observer {
    /// A phase begins and is expected to take so long; zero is unknown.
    fn phase(&mut self, trial: &Trial, phase: Phase, expected: Nanos) {
        let _ = (trial, phase, expected);
    }

    /// Comes about once an interval.
    fn live(&mut self, trial: &Trial, live: &Live) {
        let _ = (trial, live);
    }

    /// What came since the last call: cells of intervals that ended, and points of the probes. Called as the trial goes
    /// on, once a border at most and never from a worker. Of a trial that is cut short no interval comes in part.
    fn interval(&mut self, trial: &Trial, cells: &[Cell], series: &[Series]) {
        let _ = (trial, cells, series);
    }

    /// Whether what [`Observer::interval`] was handed is kept there. Then it is not kept a second time: memory does not
    /// grow with the length of the trial, and its observations come back without cells and series.
    fn keeps(&self) -> bool {
        false
    }

    /// Something that a user should read.
    fn note(&mut self, trial: Option<&Trial>, text: &str) {
        let _ = (trial, text);
    }
}

/// An observer who looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
