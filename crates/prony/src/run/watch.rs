//! Who watches a trial: the run file keeps what comes, the progress line shows it.
//!
//! The one idea: both are one observer. When the file cannot take an interval, the trial is told to stop: load that
//! nobody records would only wear the system out.

use super::progress::Progress;
use engine::{Live, Observer, Phase};
use observation::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{RunFile, StoreError};
use study::Trial;
use units::Nanos;

/// The watcher of one trial.
pub struct Watch<'a> {
    file: &'a mut RunFile,
    progress: &'a mut Progress,
    stop: &'a AtomicBool,
    kept: Kept,
}

/// What became of the cells that were handed over.
#[derive(Debug, Default)]
pub struct Kept {
    /// How many are in the file.
    pub cells: usize,
    /// Why the file took no more.
    pub failure: Option<StoreError>,
}

impl<'a> Watch<'a> {
    /// Watches a trial that was begun in the file.
    pub fn new(file: &'a mut RunFile, progress: &'a mut Progress, stop: &'a AtomicBool) -> Watch<'a> {
        Watch { file, progress, stop, kept: Kept::default() }
    }

    /// Ends the watch.
    pub fn kept(self) -> Kept {
        self.kept
    }
}

impl Observer for Watch<'_> {
    fn phase(&mut self, trial: &Trial, phase: Phase, expected: Nanos) {
        self.progress.phase(trial, phase, expected);
    }

    fn live(&mut self, trial: &Trial, live: &Live) {
        self.progress.live(trial, live);
    }

    fn cells(&mut self, trial: &Trial, cells: &[Cell]) {
        if self.kept.failure.is_some() {
            return;
        }
        match self.file.append_cells(trial.label.index, cells) {
            Ok(()) => self.kept.cells += cells.len(),
            Err(error) => {
                self.kept.failure = Some(error);
                self.stop.store(true, Ordering::SeqCst);
            }
        }
    }

    fn note(&mut self, _trial: Option<&Trial>, text: &str) {
        self.progress.say(text);
    }
}
