//! Who watches a trial: the run file keeps what comes, the progress line shows it.
//!
//! The one idea: both are one observer. When the file cannot take an interval, the trial is told to stop: load that
//! nobody records would only wear the system out.

use super::progress::Progress;
use engine::{Live, Observer, Phase};
use observation::{Cell, Series};
use std::sync::atomic::{AtomicBool, Ordering};
use store::{RunFile, StoreError};
use study::Trial;
use units::Nanos;

/// The watcher of one trial.
pub struct Watch<'a> {
    file: &'a mut RunFile,
    progress: &'a mut Progress,
    stop: &'a AtomicBool,
    recorded: bool,
    failure: Option<StoreError>,
}

impl<'a> Watch<'a> {
    /// Watches a trial that was begun in the file.
    pub fn new(file: &'a mut RunFile, progress: &'a mut Progress, stop: &'a AtomicBool) -> Watch<'a> {
        Watch { file, progress, stop, recorded: false, failure: None }
    }

    /// Whether an interval of the load is in the file.
    pub fn recorded(&self) -> bool {
        self.recorded
    }

    /// Ends the watch: why the file took no more, if it did not take all.
    pub fn failure(self) -> Option<StoreError> {
        self.failure
    }
}

impl Observer for Watch<'_> {
    fn phase(&mut self, trial: &Trial, phase: Phase, expected: Nanos) {
        self.progress.phase(trial, phase, expected);
    }

    fn live(&mut self, trial: &Trial, live: &Live) {
        self.progress.live(trial, live);
    }

    fn interval(&mut self, trial: &Trial, cells: &[Cell], series: &[Series]) {
        if self.failure.is_some() {
            return;
        }
        if let Err(error) = self.file.append_interval(trial.label.index, cells, series) {
            self.failure = Some(error);
            self.stop.store(true, Ordering::SeqCst);
        }
        self.recorded |= self.failure.is_none() && !cells.is_empty();
    }

    fn keeps(&self) -> bool {
        true
    }

    fn note(&mut self, _trial: Option<&Trial>, text: &str) {
        self.progress.say(text);
    }
}
