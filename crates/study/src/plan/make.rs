//! Making the plan.

use super::written::filled;
use super::{Plan, detectable, trial_seed};
use crate::experiment::Experiment;
use crate::keys::phases::{REPLICATES, REPLICATES_MAX};
use crate::left_out::LeftOut;
use crate::order;
use crate::pairs::PILOT;
use crate::plan::repeat::{Repeat, RepeatPoint};
use crate::plan::search::Search;
use crate::point::{Point, combinations};
use crate::study::Study;
use crate::survey::Survey;
use crate::{At, Metric, Place, Stream, Trial, draft};
use reading::{Origin, Problems, listed};

/// Plans a study.
///
/// # Errors
/// What no trial can be made of: a system without a single possible trial, or scratch files that do not fit.
pub fn plan(study: &Study, survey: &Survey, seed: u64) -> Result<Plan, Problems> {
    let mut problems = Problems { has_run: study.has_run, ..Problems::of(&study.name) };
    let mut maker = Maker { study, survey, seed, plan: empty(study, seed), left_out: Vec::new(), rounds: Vec::new() };
    for (number, experiment) in study.experiments.iter().enumerate() {
        maker.experiment(number, experiment, &mut problems);
    }
    maker.in_rounds();
    maker.tell_left_out(&mut problems);
    maker.tell_as_found();
    maker.tell_seldom();
    maker.tell_models();
    maker.tell_scripts();
    let mut plan = maker.plan;
    plan.filled = filled(&plan, |name| silent(study, survey, name));
    space(&plan, survey, &mut problems);
    problems.or(plan)
}

fn empty(study: &Study, seed: u64) -> Plan {
    Plan {
        study: study.name.clone(),
        seed,
        trials: Vec::new(),
        repeats: Vec::new(),
        searches: Vec::new(),
        notes: study.notes.clone(),
        detectable: Vec::new(),
        judgement: study.judgement().clone(),
        filled: Vec::new(),
    }
}

/// Whether nothing is filled on a system and nothing written: it answers by itself, or is read as it is found.
fn silent(study: &Study, survey: &Survey, name: &str) -> bool {
    let place = study.systems.iter().find(|system| system.spec.name == name).map(|system| &system.spec.place);
    let touched = |place: &Place| match place {
        Place::File { .. } | Place::Device { fill: true, .. } => true,
        Place::Device { fill: false, .. } => false,
        Place::Null | Place::Scripted(_) | Place::Database(_) | Place::Model { .. } => false,
    };
    place.is_some_and(|place| !touched(place)) || survey.of(name).is_some_and(|surveyed| surveyed.null_or_scripted)
}

/// Scratch files must fit before the first of them is begun.
fn space(plan: &Plan, survey: &Survey, problems: &mut Problems) {
    for (system, occupied) in plan.occupied() {
        let Some(free) = survey.of(&system).and_then(|surveyed| surveyed.free) else { continue };
        if occupied > free {
            let (free, occupied) = (units::bytes(free), units::bytes(occupied));
            let message = format!("at most the free space, {free}, got scratch files of {occupied}");
            let hint = Some("make them smaller with `--set size=..` (file work: `--set file=..`), or fewer with `--set modules=..` (`--set width=..`)".to_owned());
            problems.add_with(&Origin::Whole, &format!("system.{system}.size"), message, hint);
        }
    }
}

/// The plan, when its trials can be run: a copy to bring back is a folder or a file that Prony made. Whoever only fills or checks the
/// data of a study needs none.
///
/// # Errors
/// Every server by URL whose data shall be brought back.
pub fn runnable(study: &Study, plan: Plan) -> Result<Plan, Problems> {
    let mut problems = Problems { has_run: study.has_run, ..Problems::of(&study.name) };
    let by_url = |place: &Place| matches!(place, Place::Database(spec) if matches!(spec.at, At::Url(_)));
    let systems = study.systems.iter().map(|system| &system.spec).filter(|spec| by_url(&spec.place));
    let restored = |name: &str| plan.trials.iter().any(|trial| trial.label.system == name && trial.state.restore);
    for spec in systems.filter(|spec| restored(&spec.name)) {
        let message = format!(
            "`left` on `{}`, a server by URL: copies to restore are kept only of private servers and of SQLite, got `restore`",
            spec.name
        );
        let hint = Some("give `--set state=left`, or take `local:postgres` or `local:mariadb`".to_owned());
        problems.add_with(&Origin::Whole, "state", message, hint);
    }
    problems.or(plan)
}

struct Maker<'a> {
    study: &'a Study,
    survey: &'a Survey,
    seed: u64,
    plan: Plan,
    /// System, reason and experiment of every point that was left out.
    left_out: Vec<(String, LeftOut, String)>,
    /// Experiments whose blocks are not in the plan yet, each with how many it has.
    rounds: Vec<(usize, Drafts, u32)>,
}

/// By point, then by system; none where the system cannot run the point.
type Drafts = Vec<Vec<Option<Trial>>>;

/// How often an experiment is repeated.
enum Replicates {
    Fixed(u32),
    Auto { most: u32 },
}

impl Maker<'_> {
    fn experiment(&mut self, number: usize, experiment: &Experiment, problems: &mut Problems) {
        let (drafts, searched) = self.drafts(experiment, problems);
        let comparable = drafts.iter().any(|systems| systems.iter().flatten().count() > 1);
        let replicates = self.replicates(experiment, comparable);
        if let Some(goal) = &experiment.search {
            let passes = if let Replicates::Fixed(count) = replicates { count } else { 1 };
            for replicate in 0..passes {
                for slot in order::block(self.seed, number, replicate, drafts.len(), self.study.systems.len()) {
                    let Some(template) = drafts[slot.point][slot.system].clone() else { continue };
                    self.plan.searches.push(Search {
                        experiment: experiment.name.clone(),
                        system: template.label.system.clone(),
                        goal: goal.clone(),
                        number,
                        point: slot.point,
                        replicate,
                        template,
                        searched: searched[slot.point].clone(),
                    });
                }
            }
            return;
        }
        if let Replicates::Auto { .. } = replicates {
            self.in_rounds();
        }
        let first = self.plan.trials.len();
        if let Replicates::Auto { .. } = replicates {
            (0..PILOT).for_each(|replicate| self.block(number, &drafts, replicate));
        }
        if comparable {
            self.pairs(number, experiment, &drafts, &replicates, first);
        }
        if let Replicates::Fixed(count) = replicates {
            self.rounds.push((number, drafts, count));
        }
    }

    /// The blocks of experiments with a fixed number of them, in turns: what is held against another experiment (a day alone, the
    /// same day beside its night) is not measured an hour apart. Each second round goes the other way.
    fn in_rounds(&mut self) {
        let mut rounds = std::mem::take(&mut self.rounds);
        for replicate in 0..rounds.iter().map(|(.., count)| *count).max().unwrap_or_default() {
            for (number, drafts, _) in rounds.iter().filter(|(.., count)| replicate < *count) {
                self.block(*number, drafts, replicate);
            }
            rounds.reverse();
        }
    }

    /// By point, then by system; and by point the streams that a search chooses the rate of.
    fn drafts(&mut self, experiment: &Experiment, problems: &mut Problems) -> (Drafts, Vec<Vec<usize>>) {
        let combinations = combinations(experiment);
        let (mut drafts, mut searched) = (Vec::new(), Vec::new());
        for streams in &experiment.variants {
            for levels in &combinations {
                let trials = self.study.systems.iter().map(|system| {
                    let point = Point { experiment, streams, levels, system };
                    match draft::trial(&point, self.survey, &self.study.judgement().steady, problems) {
                        Ok(trial) => Some(trial),
                        Err(reason) => {
                            self.left_out.push((system.spec.name.clone(), reason, experiment.name.clone()));
                            None
                        }
                    }
                });
                drafts.push(trials.collect());
                let first = self.study.systems.first();
                let point = first.map(|system| Point { experiment, streams, levels, system });
                let own = |point: Point| (0..streams.len()).filter(|i| point.searched(*i)).collect();
                searched.push(point.map(own).unwrap_or_default());
            }
        }
        (drafts, searched)
    }

    fn replicates(&self, experiment: &Experiment, comparable: bool) -> Replicates {
        match experiment.general(&REPLICATES).flatten() {
            Some(count) => Replicates::Fixed(count as u32),
            // With nothing to compare, repeats only cost time.
            None if !comparable => Replicates::Fixed(1),
            None => {
                let most = experiment.general(&REPLICATES_MAX).unwrap_or_else(|| REPLICATES_MAX.by_default());
                Replicates::Auto { most: most as u32 }
            }
        }
    }

    fn block(&mut self, number: usize, drafts: &[Vec<Option<Trial>>], replicate: u32) {
        for slot in order::block(self.seed, number, replicate, drafts.len(), self.study.systems.len()) {
            let Some(mut trial) = drafts[slot.point][slot.system].clone() else { continue };
            trial.label.index = self.plan.trials.len() as u32;
            trial.label.replicate = replicate;
            trial.label.block = replicate;
            trial.seed = trial_seed(self.seed, number, slot.point, replicate);
            self.plan.trials.push(trial);
        }
    }

    /// States what can be found, and sets up the blocks that may follow a pilot.
    fn pairs(
        &mut self,
        number: usize,
        experiment: &Experiment,
        drafts: &[Vec<Option<Trial>>],
        replicates: &Replicates,
        first: usize,
    ) {
        let confidence = self.study.judgement().confidence;
        let (pairs, most) = match replicates {
            Replicates::Fixed(count) => (*count, None),
            Replicates::Auto { most } => (PILOT, Some(*most)),
        };
        let points: Vec<RepeatPoint> = match most {
            None => Vec::new(),
            Some(_) => (0..drafts.len()).filter_map(|point| self.repeat_point(drafts, point, first)).collect(),
        };
        let repeats = most.filter(|most| *most > PILOT && !points.is_empty());
        let block = drafts.iter().flatten().flatten().count() as u32;
        self.plan.detectable.push(detectable(&experiment.name, (pairs, repeats), block, self.study.judgement()));
        if let Some(pairs_max) = repeats {
            let metric = self.deciding_metric(&points[0]);
            self.plan.repeats.push(Repeat {
                experiment: experiment.name.clone(),
                metric,
                margin: self.study.judgement().margin,
                confidence,
                pairs_max,
                number,
                baseline: self.baseline(),
                points,
            });
        }
    }

    fn baseline(&self) -> usize {
        let name = self.study.judgement().baseline.as_deref();
        self.study.systems.iter().position(|system| Some(system.spec.name.as_str()) == name).unwrap_or(0)
    }

    fn deciding_metric(&self, point: &RepeatPoint) -> Metric {
        let fixed = point.systems[0].0.phases.fixed_work;
        let default = if fixed { Metric::Elapsed } else { Metric::Throughput };
        self.study.judgement().primary.as_ref().map_or(default, |primary| primary.metric)
    }

    /// A point that the primary metric is read at, or any point where the study declares none, and that every system has.
    fn repeat_point(&self, drafts: &[Vec<Option<Trial>>], point: usize, first: usize) -> Option<RepeatPoint> {
        let trials: Vec<Trial> = drafts[point].iter().cloned().collect::<Option<_>>()?;
        let chosen =
            self.study.judgement().primary.as_ref().is_none_or(|primary| primary.selector.chooses(&trials[0].label));
        if !chosen {
            return None;
        }
        let same = |trial: &Trial, other: &Trial| {
            trial.label.system == other.label.system
                && trial.label.factors == other.label.factors
                && trial.label.streams == other.label.streams
        };
        let pilot = |trial: &Trial| {
            let of = self.plan.trials[first..].iter().filter(|other| same(trial, other));
            of.map(|other| other.label.index).collect()
        };
        let systems = trials.into_iter().map(|trial| {
            let indices = pilot(&trial);
            (trial, indices)
        });
        Some(RepeatPoint { point, systems: systems.collect() })
    }

    /// Says which devices are read as they are found: what they hold is not known, so neither is what a read of it costs.
    fn tell_as_found(&mut self) {
        for system in &self.study.systems {
            if matches!(system.spec.place, Place::Device { fill: false, .. }) {
                self.plan.notes.push(format!(
                    "nothing is written to `{}`: it is opened for reading only and read as it is found; blocks that were \
                     never written may be answered without touching the media; `--set fill=true` fills it first",
                    system.spec.name
                ));
            }
        }
    }

    /// Says on which private servers scripts of somebody's own run, and what they may do there.
    fn tell_scripts(&mut self) {
        let own = |trial: &&Trial| {
            let mut asked = trial.streams.iter().filter_map(Stream::transactions);
            asked.any(|(asked, _)| asked.is_foreign())
        };
        let on: Vec<String> = self.plan.all().filter(own).map(|trial| trial.label.system.clone()).collect();
        for system in self.study.systems.iter().map(|system| &system.spec) {
            let private = matches!(&system.place, Place::Database(spec) if spec.at == At::Local);
            if private && on.contains(&system.name) {
                self.plan.notes.push(format!(
                    "scripts run on `{}` as the role prony_script of the private server, which may neither run commands nor \
                     read or write files",
                    system.name
                ));
            }
        }
    }

    /// Says what comes by the clock less than once in a window.
    fn tell_seldom(&mut self) {
        let mut told: Vec<String> = self.plan.all().flat_map(Trial::seldom).collect();
        told.sort();
        told.dedup();
        self.plan.notes.append(&mut told);
    }

    /// Says of models of several machines what a ratio between them is of.
    fn tell_models(&mut self) {
        let mut names: Vec<&str> = Vec::new();
        for system in &self.study.systems {
            let does = |trial: &&Trial| {
                trial.label.system == system.spec.name
                    && trial.streams.iter().any(|stream| stream.transactions().is_some())
            };
            if let (Place::Model { model, .. }, Some(_)) = (&system.spec.place, self.plan.all().find(does))
                && !names.contains(&model.as_str())
            {
                names.push(model);
            }
        }
        if names.len() > 1 {
            let note = format!(
                "the numbers of each of {} were fitted to, or assumed for, transactions of its own: a ratio between them is one of \
                 machines and of those transactions, and a calibration by one workload on each would tell them apart",
                listed(names)
            );
            self.plan.notes.push(note);
        }
    }

    /// Says what a system cannot do, once for each reason; a study of which nothing is left is an error.
    fn tell_left_out(&mut self, problems: &mut Problems) {
        let mut told: Vec<(&str, &LeftOut)> = Vec::new();
        for (system, reason, _) in &self.left_out {
            if told.contains(&(system, reason)) {
                continue;
            }
            told.push((system, reason));
            let same = self.left_out.iter().filter(|(s, r, _)| s == system && r == reason);
            let mut experiments: Vec<&str> = same.clone().map(|(.., experiment)| experiment.as_str()).collect();
            experiments.dedup();
            // Where a study has a baseline for each kind, each does its own, and nothing is amiss.
            let runs =
                |is: &dyn Fn(&observation::TrialLabel) -> bool| self.plan.trials.iter().any(|trial| is(&trial.label));
            if !self.study.judgement().other_baselines.is_empty()
                && reason.of_other_kind()
                && runs(&|label| label.system == *system)
                && experiments.iter().all(|one| runs(&|label| label.experiment == *one))
            {
                continue;
            }
            let count = same.count();
            let points = if count == 1 { "point".to_owned() } else { "points".to_owned() };
            self.plan.notes.push(format!(
                "left out on `{system}`: {count} {points} of {}, because of {reason}",
                listed(experiments)
            ));
        }
        let nothing = self.plan.all().next().is_none();
        for system in &self.study.systems {
            let name = &system.spec.name;
            let first = self.plan.first_trial_on(name);
            if let (None, Some((_, reason, _))) = (first, self.left_out.iter().find(|(system, ..)| system == name))
                // A study with storage and databases may be cut down to one of the two.
                && (nothing || !reason.of_other_kind())
            {
                let message = format!("no experiment of the study can run on it: {reason}");
                problems.add(&Origin::Whole, &format!("system.{name}"), message);
            }
        }
    }
}
