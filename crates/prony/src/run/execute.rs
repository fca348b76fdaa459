//! Running the trials of a plan, in their order, into a run file.
//!
//! The one idea: the planner is asked for the next trial with the outcomes so far, the engine runs it, the file keeps what
//! comes, and of what came only a summary stays in memory. Whatever ends this early (Ctrl-C, a full disk, a device
//! that went away) leaves by the same door: the file is closed with every finished interval, the scratch files go.
//!
//! What it does not do: it prints no result.

use super::ahead::Ahead;
use super::beside::Makes;
use super::emulated::Devices;
use super::planned;
use super::progress::{Progress, trial_words};
use super::watch::Watch;
use crate::failure::Failure;
use crate::judged;
use analysis::TrialSummary;
use engine::{Observer as _, Opened, Phase, TrialError};
use observation::{Event, EventKind, Observations, Provenance, Window};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{RunFile, StoreError};
use study::{Judgement, Outcome, Planner, SystemSpec, Trial};
use units::Nanos;

/// Everything that running needs.
pub struct Execution<'a> {
    /// The file, open for writing.
    pub file: RunFile,
    /// Knows the next trial.
    pub planner: Planner,
    /// What their folders lie on.
    pub devices: &'a Devices,
    /// The systems as the study has them.
    pub systems: &'a [SystemSpec],
    /// Who works beside the load.
    pub beside: Makes,
    /// The systems, ready.
    pub opened: Vec<(String, Opened)>,
    /// What the study wants to know.
    pub judgement: &'a Judgement,
    /// What is said meanwhile.
    pub progress: Progress,
    /// Set by a signal.
    pub stop: &'a AtomicBool,
    /// Trials that ended in an earlier part of this run.
    pub summaries: Vec<TrialSummary>,
    /// The wall clock, for the start of a trial.
    pub clock: &'a recorder::WallClock,
    /// What was said of the state of trials.
    pub remarks: Vec<String>,
    /// Thresholds of the command line, which the file does not keep.
    pub fail_if: &'a [String],
    /// Whether the file was made by this process.
    pub fresh: bool,
    /// Whether an interval was recorded.
    pub recorded: bool,
    /// Whether something was found of a trial that did not end as planned.
    pub looked: bool,
}

/// A run that did not come to its end.
pub struct Broken {
    /// Why.
    pub failure: Failure,
    /// The file with what was found of the trial that did not end: what it says is told like the findings of a whole run.
    pub found_in: Option<PathBuf>,
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Broken {
        Broken { failure, found_in: None }
    }
}

impl Execution<'_> {
    /// Runs all trials that are left, and returns the file with the summaries of all.
    ///
    /// # Errors
    /// When a trial cannot end, or the run is stopped. The file is closed then, with what was finished.
    pub fn run(mut self) -> Result<(RunFile, Vec<TrialSummary>), Broken> {
        let mut outcomes: Vec<Outcome> = self.summaries.iter().map(analysis::outcome).collect();
        let stop = self.stop;
        let ended = std::thread::scope(|scope| {
            let ended = self.trials(&mut outcomes, &mut Ahead::new(scope, stop));
            if ended.is_err() {
                // Nobody waits for what runs ahead.
                stop.store(true, Ordering::SeqCst);
            }
            ended
        });
        self.progress.clear();
        // Scratch files go before anything is said, so that a message about a full disk finds it with room again.
        let kept: Vec<PathBuf> = self.opened.iter().flat_map(|(_, opened)| opened.kept()).collect();
        // A device that does not hurry ends its server all the same.
        let _ = self.devices.pace(Phase::Check);
        self.opened.clear();
        for folder in kept {
            self.progress.say(&format!("scratch files kept in {}", folder.display()));
        }
        match ended {
            Ok(()) => Ok((self.file, self.summaries)),
            Err(failure) => {
                let found_in = self.looked.then(|| self.file.path().to_path_buf());
                Err(Broken { failure: self.close_early(failure), found_in })
            }
        }
    }

    fn trials(&mut self, outcomes: &mut Vec<Outcome>, ahead: &mut Ahead) -> Result<(), Failure> {
        while let Some(trial) = self.planner.next(outcomes) {
            if self.stop.load(Ordering::SeqCst) {
                return Err(self.stopped());
            }
            let number = trial.label.index as usize + 1;
            let known = self.planner.plan().trials.len().max(number);
            self.progress.begin(number, known, planned::expected(&trial));
            self.look_ahead(&trial, ahead);
            let summary = self.trial(&trial, ahead)?;
            outcomes.push(analysis::outcome(&summary));
            self.summaries.push(summary);
            self.progress.end();
            self.first_answer(&trial.label.experiment, outcomes);
        }
        Ok(())
    }

    /// Says what an experiment gave as soon as its last trial has ended, and what is still to come, so that nobody has to wait for the
    /// rest of the run.
    fn first_answer(&self, experiment: &str, outcomes: &[Outcome]) {
        let next = self.planner.next(outcomes);
        let Some(next) = next.filter(|next| next.label.experiment != experiment) else { return };
        let own = |trial: &&TrialSummary| trial.label.experiment == experiment;
        let summaries: Vec<TrialSummary> = self.summaries.iter().filter(own).cloned().collect();
        let Ok(facts) = self.file.facts() else { return };
        let findings = analysis::judge(facts, summaries, self.judgement);
        for line in report::numbers(&findings) {
            self.progress.say(&format!("{experiment}: {line}"));
        }
        let searched = self
            .planner
            .plan()
            .searches
            .iter()
            .find(|search| search.template().label.experiment == next.label.experiment);
        if let Some(search) = searched.filter(|_| next.label.search.is_some()) {
            let most = Nanos(planned::expected(search.template()).0.saturating_mul(u64::from(study::PROBES_MAX)));
            self.progress.say(&format!(
                "next: `{}` searches, in {} at most; Ctrl-C ends the run here, and `prony show` tells what there is",
                next.label.experiment,
                units::duration(most)
            ));
        }
    }

    /// Begins a trial on a model, and those on models that follow for certain.
    fn look_ahead(&self, trial: &Trial, ahead: &mut Ahead) {
        let certain = self.planner.plan().trials.iter().filter(|later| later.label.index > trial.label.index);
        for next in std::iter::once(trial).chain(certain) {
            let system = self.opened.iter().find(|(name, _)| *name == next.label.system);
            let Some(twin) = system.and_then(|(_, opened)| opened.twin()) else { return };
            if !ahead.has_room() {
                return;
            }
            ahead.begin(next, twin);
        }
    }

    /// Runs one trial into the file and reduces it from there.
    fn trial(&mut self, trial: &Trial, ahead: &mut Ahead) -> Result<TrialSummary, Failure> {
        let index = trial.label.index;
        let writing = |error| Failure::caused(format!("keeping trial {index}"), &error);
        let system = self.opened.iter_mut().find(|(name, _)| *name == trial.label.system);
        let Some((_, opened)) = system else {
            return Err(Failure::new(format!(
                "running trial {index}: its system `{}` is not open",
                trial.label.system
            )));
        };
        let known = known_before(trial, opened, self.clock);
        self.file.begin_trial(&trial.label, &known).map_err(writing)?;
        let spec = self.systems.iter().find(|system| system.name == trial.label.system);
        let beside = spec.and_then(|spec| (self.beside)(trial, spec));
        let mut watch = Watch::new(&mut self.file, &mut self.progress, self.devices, self.stop, beside);
        let result = match ahead.end(index) {
            Some(simulated) => {
                watch.interval(trial, &simulated.cells, &simulated.series);
                simulated.result
            }
            None => {
                // Opening a server copies, lays out and recovers before the trial has a phase. A device that does not hurry is only slow.
                let _ = self.devices.pace(Phase::Fill);
                engine::run_trial(opened, trial, &mut watch, self.stop)
            }
        };
        self.recorded |= watch.recorded();
        self.looked |= watch.looked();
        let (failure, moved) = watch.end(trial);
        let mut observations = match (result, failure) {
            (Ok(observations), None) => observations,
            (result, failure) => return Err(self.broken(trial, result.err(), failure)),
        };
        observations.events.extend(moved?);
        self.file.finish_trial(index, &observations).map_err(writing)?;
        self.remark(observations.events);
        // Cells and series are in the file and nowhere else: the summary is the one that `prony show` will make.
        judged::summary(&self.file, &trial.label, self.judgement)
    }

    /// Says what the engine remarked about the state of a trial, once for all trials.
    fn remark(&mut self, events: Vec<Event>) {
        for event in events {
            if event.kind == EventKind::Note && event.at == Nanos::ZERO && !self.remarks.contains(&event.text) {
                self.progress.say(&format!("note: {}", event.text));
                self.remarks.push(event.text);
            }
        }
    }

    /// A trial that did not end as planned: what it finished is kept and marked.
    fn broken(&mut self, trial: &Trial, error: Option<TrialError>, unwritten: Option<StoreError>) -> Failure {
        let index = trial.label.index;
        let doing = format!("running trial {} ({})", index + 1, trial_words(trial));
        // The first failure is the one to tell; a file that cannot even be marked says so when it is opened again.
        let _ = self.file.discard_trial(index);
        match (unwritten, error) {
            (Some(failure), _) => Failure::caused(doing, &failure),
            (None, Some(TrialError::Stopped)) | (None, None) => self.stopped(),
            (None, Some(error)) => Failure::caused(doing, &error).hints(error.hint()),
        }
    }

    fn stopped(&self) -> Failure {
        let finished = units::counted(self.summaries.len() as u64, "finished trials");
        Failure::new(format!("running the study: stopped after {finished}"))
    }

    /// Closes the file and says what is in it and how to go on; a new one without a single interval goes.
    fn close_early(self, failure: Failure) -> Failure {
        if self.fresh && !self.recorded && !self.looked {
            let _ = super::abandon(self.file, true);
            return failure.hint("nothing was recorded, and no run file is left");
        }
        let path = self.file.path().display().to_string();
        let file = units::for_shell(&path);
        let again: String = self.fail_if.iter().map(|threshold| format!(" --fail-if '{threshold}'")).collect();
        let failure = match self.file.close() {
            Ok(()) => failure,
            Err(error) => {
                failure.hint(format!("the file was not closed well ({error}); it repairs itself when opened"))
            }
        };
        failure
            .hint(format!("every finished interval is in `{path}`; look at it with `prony show {file}`"))
            .hint(format!("go on where it ended with `prony run --resume {file}{again}`"))
    }
}

/// What is known of a trial's observations before it runs.
fn known_before(trial: &Trial, opened: &Opened, clock: &recorder::WallClock) -> Observations {
    use recorder::Clock as _;
    let start = trial.phases.warm_up;
    Observations {
        provenance: if opened.simulated() { Provenance::Simulated } else { Provenance::Measured },
        started_unix_ns: clock.unix_start_ns().saturating_add_unsigned(clock.now().0),
        window: Window { start, end: start + trial.phases.measure },
        interval: trial.phases.interval,
        generators: trial.streams.iter().map(|stream| stream.threads.count).sum::<u32>() as u16,
        ..Observations::default()
    }
}
