//! A study: checked, complete, and open to be changed by the command line.
//!
//! The one idea: a study keeps its definition, so that [`Study::with`] resolves it anew; an override is never patched onto
//! something that was already expanded.
//!
//! What it does not do: it makes no plan; see [`crate::plan`].

use crate::definition::{Definition, too_many_systems};
use crate::experiment::{Experiment, PROBES_MAX, SystemChoice};
use crate::judge::judgement;
use crate::keys::phases::{REPLICATES, REPLICATES_MAX};
use crate::keys::system::SIZE;
use crate::overrides::Overrides;
use crate::password::hidden;
use crate::point::{Point, combinations};
use crate::resolve::{Resolved, resolve};
use crate::survey::Survey;
use crate::{
    Judgement, Place, Protocol, StorageAsked, Stream, SystemSpec, Work, deadline, draft, idle, measurable, opening,
    placing, read, sessions,
};
use observation::TRIALS_MAX;
use reading::{Origin, Problems};
use std::sync::Arc;
use workload::kind::Transactions;

/// More points than this are a slip of the pen: at ten seconds each they take more than a day.
const POINTS_MAX: u64 = 10_000;

/// A study that can be planned.
#[derive(Clone, Debug)]
pub struct Study {
    /// What it is called: the name of a shipped study, or of its file.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What it asks.
    pub question: String,
    /// What the command line changed or switched off, in words.
    pub notes: Vec<String>,
    definition: Definition,
    pub(crate) has_run: bool,
    specs: Vec<SystemSpec>,
    judgement: Judgement,
    asked: Vec<(Arc<dyn Transactions>, bool)>,
    pub(crate) systems: Vec<SystemChoice>,
    pub(crate) experiments: Vec<Experiment>,
}

impl Study {
    /// Reads and checks a study file.
    ///
    /// # Errors
    /// Every problem of the file at once, with line and column.
    pub fn parse(name: &str, text: &str) -> Result<Study, Problems> {
        Study::parse_on(name, text, &[])
    }

    /// The same of a study that may leave it to `--on` to name its systems.
    ///
    /// # Errors
    /// Every problem of the text at once, with line and column.
    pub fn parse_on(name: &str, text: &str, targets: &[String]) -> Result<Study, Problems> {
        Study::read(text, Problems::of(name), targets)
    }

    /// Reads the study of a run. What only later versions refuse is let pass, so that the run can still be read.
    ///
    /// # Errors
    /// Every problem of the text at once, with line and column.
    pub fn parse_run(name: &str, text: &str) -> Result<Study, Problems> {
        Study::read(text, Problems { has_run: true, ..Problems::of(name) }, &[])
    }

    fn read(text: &str, mut problems: Problems, targets: &[String]) -> Result<Study, Problems> {
        let name = problems.file.clone();
        let Some(definition) = read::definition(&name, text, &mut problems) else { return Err(hidden(problems)) };
        // A definition with problems is still resolved, so that what a value leads to is told in the same go.
        let targets = if definition.systems.is_empty() { targets.to_vec() } else { Vec::new() };
        let study = Study::resolve(definition, &Overrides { targets, ..Overrides::default() }, false, &mut problems);
        problems.or(study).map_err(hidden)
    }

    /// The study as the command line changes it; earlier overrides are forgotten.
    ///
    /// # Errors
    /// Every problem of the options at once, each with the option as it was typed.
    pub fn with(&self, overrides: &Overrides) -> Result<Study, Problems> {
        let mut problems = Problems { has_run: self.has_run, ..Problems::of(&self.name) };
        let study = Study::resolve(self.definition.clone(), overrides, true, &mut problems);
        problems.or(study).map_err(hidden)
    }

    fn resolve(definition: Definition, overrides: &Overrides, whole: bool, problems: &mut Problems) -> Study {
        let overrides = &overrides.with_workload(&definition);
        let mut resolved = resolve(&definition, overrides, whole, problems);
        let judgement = judgement(&definition, overrides, &mut resolved, problems);
        let Resolved { systems, experiments, notes, deadline: _ } = resolved;
        let mut study = Study {
            name: definition.name.clone(),
            title: definition.title.clone(),
            question: definition.question.clone(),
            notes,
            definition,
            has_run: problems.has_run,
            specs: Vec::new(),
            asked: Vec::new(),
            judgement,
            systems,
            experiments,
        };
        study.specs = study.systems.iter().map(|system| system.spec.clone()).collect();
        study.check_points(overrides, problems);
        study
    }

    /// Trials of an experiment, when it repeats and searches as often as it may.
    fn trials_max(&self, experiment: &Experiment) -> u64 {
        let searches = experiment.search.is_some();
        let most = || match self.systems.len() {
            0 | 1 => 1,
            _ if searches => 1,
            _ => experiment.general(&REPLICATES_MAX).unwrap_or_else(|| REPLICATES_MAX.by_default()),
        };
        let repeats = experiment.general(&REPLICATES).flatten().unwrap_or_else(most);
        let probes = if searches { u64::from(PROBES_MAX) } else { 1 };
        [self.systems.len() as u64, repeats, probes].into_iter().fold(experiment.point_count(), u64::saturating_mul)
    }

    /// Makes every trial once on a machine that can do everything, to find what no machine could do, how many modules of
    /// which size each system must offer, and whether it must be filled.
    fn check_points(&mut self, overrides: &Overrides, problems: &mut Problems) {
        if too_many_systems(self.systems.len(), problems) {
            return;
        }
        let points = self.experiments.iter().fold(0u64, |sum, e| sum.saturating_add(e.point_count()));
        let points = points.saturating_mul(self.systems.len() as u64);
        if points > POINTS_MAX {
            let message = format!("at most {POINTS_MAX} points in a study, all systems together, got {points}");
            return problems.add(&Origin::Whole, "experiment", message);
        }
        let trials = self.experiments.iter().fold(0u64, |sum, e| sum.saturating_add(self.trials_max(e)));
        if trials > TRIALS_MAX {
            let message =
                format!("at most {TRIALS_MAX} trials in a study, all systems and repeats together, got {trials}");
            return problems.add(&Origin::Whole, "experiment", message);
        }
        let (survey, mut specs, mut asked) = (Survey::default(), self.specs.clone(), Vec::new());
        let mut changes: Vec<Option<String>> = vec![None; specs.len()];
        let mut settings = idle::Settings::default();
        let mut job = 0;
        let mut storage: Vec<StorageAsked> = Vec::new();
        let (several, mut points) = (self.experiments.len() > 1, Vec::new());
        let mut wanted = measurable::wanted(&self.definition, overrides, &self.judgement);
        self.each_point(|i, point| {
            changes[i] = changes[i].take().or_else(|| opening::change(point));
            let Ok(trial) = draft::trial(point, &survey, &self.judgement.steady, problems) else { return };
            settings.look(point, &trial.streams);
            placing::fits(point, &trial.streams, problems);
            wanted.iter_mut().for_each(|wanted| wanted.look(&trial, point));
            if overrides.listed_settings {
                sessions::refuse_unlisted(point, &trial.server, problems);
            }
            asked.extend(trial.streams.iter().filter_map(|stream| match &stream.work {
                Work::Transactions { asked, pool } => Some((asked.clone(), pool.how.protocol == Protocol::Simple)),
                Work::Operations(_) => None,
            }));
            for (stream, label) in trial.streams.iter().zip(&trial.label.streams) {
                let Some(asks) = StorageAsked::of(&label.name, stream) else { continue };
                match storage.iter_mut().find(|known| known.stream == asks.stream) {
                    Some(known) => known.widen(&asks),
                    None => storage.push(asks),
                }
            }
            job = trial.streams.iter().filter_map(Stream::amount).fold(job, u64::max);
            let spec = &mut specs[i];
            let made = !matches!(spec.place, Place::Device { .. });
            // Of what is there already only the survey knows how large it is.
            let sized = made && !matches!(spec.place, Place::Model { .. });
            if trial.module_bytes.0 > 0 && (sized || point.given(&SIZE, 0).is_some()) {
                spec.size = spec.size.max(Some(trial.module_bytes));
            }
            if made {
                spec.modules = spec.modules.max(Some(trial.modules));
            }
            points.extend(several.then_some(trial));
        });
        settings.tell(problems);
        if let (Some(table), Some(deadline)) = (&self.definition.deadline, &self.judgement.deadline) {
            deadline::hold(table, deadline, job, problems);
        }
        let mut notes = Vec::new();
        wanted.iter().for_each(|wanted| wanted.tell(overrides.leaves_all(), &mut notes, problems));
        self.notes.extend(notes);
        for ((system, spec), change) in self.systems.iter_mut().zip(&mut specs).zip(changes) {
            opening::settle(system, change, problems);
            spec.place = system.spec.place.clone();
        }
        (self.judgement.storage, self.judgement.points) = (storage, points);
        self.specs = specs;
        asked.dedup();
        self.asked = asked;
    }

    /// Visits every point on every system, which comes with its place.
    fn each_point(&self, mut visit: impl FnMut(usize, &Point)) {
        for experiment in &self.experiments {
            let combinations = combinations(experiment);
            for streams in &experiment.variants {
                for levels in &combinations {
                    for (i, system) in self.systems.iter().enumerate() {
                        visit(i, &Point { experiment, streams, levels, system });
                    }
                }
            }
        }
    }

    /// The systems under test, with the size and number of modules that the largest trial needs.
    pub fn systems(&self) -> &[SystemSpec] {
        &self.specs
    }

    /// The transactions that its trials ask for, and whether values go into their text, so that what they name can be read
    /// before anything is touched.
    pub fn asked(&self) -> &[(Arc<dyn Transactions>, bool)] {
        &self.asked
    }

    /// What the study wants to know of its observations.
    pub fn judgement(&self) -> &Judgement {
        &self.judgement
    }

    /// Names of the experiments that are on, in order.
    pub fn experiments(&self) -> impl Iterator<Item = &str> {
        self.experiments.iter().map(|experiment| experiment.name.as_str())
    }

    /// What an experiment asks, when it says so.
    pub fn question_of(&self, experiment: &str) -> Option<&str> {
        let found = self.experiments.iter().find(|known| known.name == experiment)?;
        Some(found.question.as_str()).filter(|question| !question.is_empty())
    }
}
