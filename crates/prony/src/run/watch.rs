//! Who watches a trial: the run file keeps what comes, the progress line shows it.
//!
//! The one idea: both are one observer. When the file cannot take an interval, the trial is told to stop: load that
//! nobody records would only wear the system out.

use super::beside::Beside;
use super::emulated::Devices;
use super::progress::Progress;
use crate::failure::Failure;
use database::Database;
use engine::{Found, Live, Observer, Phase};
use observation::{Cell, CheckMoment, Event, Ledger, Series, Whole};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{RunFile, StoreError};
use study::Trial;
use units::Nanos;

/// The watcher of one trial.
pub struct Watch<'a> {
    file: &'a mut RunFile,
    progress: &'a mut Progress,
    devices: &'a Devices,
    stop: &'a AtomicBool,
    recorded: bool,
    looked: bool,
    failure: Option<StoreError>,
    /// Who works meanwhile.
    beside: Option<Box<dyn Beside>>,
    /// What emulated devices had answered when the load began; none before, and once its end is told.
    answers: Option<[u64; 2]>,
}

impl<'a> Watch<'a> {
    /// Watches a trial that was begun in the file.
    pub fn new(
        file: &'a mut RunFile,
        progress: &'a mut Progress,
        devices: &'a Devices,
        stop: &'a AtomicBool,
        beside: Option<Box<dyn Beside>>,
    ) -> Watch<'a> {
        Watch { file, progress, devices, stop, recorded: false, looked: false, failure: None, beside, answers: None }
    }

    /// Whether an interval of the load is in the file.
    pub fn recorded(&self) -> bool {
        self.recorded
    }

    /// Whether something was found of a trial that did not end as planned.
    pub fn looked(&self) -> bool {
        self.looked
    }

    fn keep(&mut self, written: Result<(), StoreError>) {
        if let Err(error) = written {
            self.failure.get_or_insert(error);
            self.stop.store(true, Ordering::SeqCst);
        }
    }

    /// Notes how many of the answers of emulated devices came late since the load began.
    fn answered(&mut self, trial: &Trial) {
        let Some(before) = self.answers.take() else { return };
        let now = self.devices.answers();
        let at = trial.phases.warm_up.saturating_add(trial.phases.measure);
        let of = |which: Whole, of: usize| Series {
            probe: which.into(),
            points: vec![(at, now[of].saturating_sub(before[of]) as f64)],
        };
        // A device that was started anew meanwhile counts from nothing.
        if now[0] > before[0] {
            self.interval(trial, &[], &[of(Whole::EmulatedAnswers, 0), of(Whole::EmulatedLate, 1)]);
        }
    }

    /// Ends the watch: why the file took no more, if it did not take all, and what was done meanwhile.
    pub fn end(mut self, trial: &Trial) -> (Option<StoreError>, Result<Vec<Event>, Failure>) {
        self.answered(trial);
        (self.failure, self.beside.map_or(Ok(Vec::new()), Beside::end))
    }
}

impl Observer for Watch<'_> {
    fn phase(&mut self, trial: &Trial, phase: Phase, expected: Nanos) {
        self.progress.phase(trial, phase, expected);
        let loads = matches!(phase, Phase::WarmUp | Phase::Measure);
        if !loads {
            self.answered(trial);
        }
        if let Err(error) = self.devices.pace(phase) {
            // Whatever is measured at another pace is wrong.
            self.progress.say(&format!("a device does not take its pace: {error}"));
            self.stop.store(true, Ordering::SeqCst);
        }
        if loads {
            let devices = self.devices;
            self.answers.get_or_insert_with(|| devices.answers());
            self.beside.iter().for_each(|beside| beside.begin());
        }
    }

    fn serves(&mut self, database: &Arc<dyn Database>) {
        self.beside.iter_mut().for_each(|beside| beside.ready(database));
    }

    fn live(&mut self, trial: &Trial, live: &Live) {
        self.progress.live(trial, live);
    }

    fn interval(&mut self, trial: &Trial, cells: &[Cell], series: &[Series]) {
        if self.failure.is_some() {
            return;
        }
        let written = self.file.append_interval(trial.label.index, cells, series);
        self.keep(written);
        self.recorded |= self.failure.is_none() && !cells.is_empty();
    }

    fn keeps(&self) -> bool {
        true
    }

    fn ledger(&mut self, trial: &Trial, ledger: &Ledger) {
        let written = self.file.set_ledger(trial.label.index, ledger);
        self.keep(written);
    }

    fn found(&mut self, trial: &Trial, found: &Found<'_>) {
        let index = trial.label.index;
        let events = self.file.append_events(index, found.events, found.mishaps);
        let written = events.and_then(|()| self.file.append_checks(index, found.checks));
        self.keep(written);
        self.looked |= found.checks.iter().any(|check| check.moment == CheckMoment::Outage);
    }

    fn note(&mut self, _trial: Option<&Trial>, text: &str) {
        self.progress.say(text);
    }
}
