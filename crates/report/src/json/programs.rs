//! The smaller forms: studies, check, plan, list and ceiling, each built from plain values.
//!
//! The binary fills these in from the room that knows; here only the form is settled.

use super::{factors, number, optional, run};
use observation::{Ceiling, Factor};
use serde_json::{Value, json};

/// One shipped study.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedStudy {
    /// The name that `run` takes.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The question it answers.
    pub question: String,
}

/// The shipped studies as `prony/studies/1`.
pub fn studies_json(studies: &[ListedStudy]) -> Value {
    json!({
        "schema": "prony/studies/1",
        "studies": studies.iter().map(|study| json!({
            "name": study.name,
            "title": study.title,
            "question": study.question,
        })).collect::<Vec<_>>(),
    })
}

/// One problem of a study, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckProblem {
    /// Line, from 1; none when it lies in no line (an `--on` or `--set` of the command line).
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// What is wrong: object, limit, value.
    pub message: String,
    /// What to do, each an action.
    pub hints: Vec<String>,
}

/// What `check` looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedStudy {
    /// Name or path as given.
    pub study: String,
    /// All problems, in the order of the file; none is a good study.
    pub problems: Vec<CheckProblem>,
}

/// The outcome of a check as `prony/check/1`.
pub fn check_json(checked: &CheckedStudy) -> Value {
    json!({
        "schema": "prony/check/1",
        "study": checked.study,
        "ok": checked.problems.is_empty(),
        "problems": checked.problems.iter().map(|problem| json!({
            "line": problem.line,
            "column": problem.column,
            "message": problem.message,
            "hints": problem.hints,
        })).collect::<Vec<_>>(),
    })
}

/// One run file of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRun {
    /// Path of the file.
    pub file: String,
    /// The run's name; none when the file could not be read.
    pub run: Option<String>,
    /// Name of the study.
    pub study: Option<String>,
    /// Start, nanoseconds since 1970 in UTC.
    pub started_unix_ns: Option<i64>,
    /// Names of the systems.
    pub systems: Vec<String>,
    /// Trials in the file that ended.
    pub trials: Option<u32>,
    /// Whether every planned trial ended.
    pub finished: Option<bool>,
    /// Labels that the user gave.
    pub tags: Vec<String>,
    /// Why it could not be read.
    pub problem: Option<String>,
}

/// The runs of a folder as `prony/list/1`.
pub fn list_json(runs: &[ListedRun]) -> Value {
    json!({
        "schema": "prony/list/1",
        "runs": runs.iter().map(|run| json!({
            "file": run.file,
            "run": run.run,
            "study": run.study,
            "started_unix_ns": run.started_unix_ns,
            "systems": run.systems,
            "trials": run.trials,
            "finished": run.finished,
            "tags": run.tags,
            "problem": run.problem,
        })).collect::<Vec<_>>(),
    })
}

/// A way of a model to an answer, timed.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedModel {
    /// Its name.
    pub path: String,
    /// What was timed.
    pub what: String,
    /// Unit of the figures: `us` or `1/s`.
    pub unit: String,
    /// The figure, when it could be had.
    pub value: Option<f64>,
    /// What it is meant to reach.
    pub aim: f64,
    /// Whether it does.
    pub reached: bool,
}

/// The generator's own figures as `prony/ceiling/1`, with those of models when they were timed.
pub fn ceiling_json(ceiling: &Ceiling, models: &[TimedModel]) -> Value {
    let mut value = run::ceiling(ceiling);
    if let Value::Object(map) = &mut value {
        map.shift_insert(0, "schema".to_owned(), Value::from("prony/ceiling/1"));
        let timed = |model: &TimedModel| {
            json!({
                "path": model.path,
                "what": model.what,
                "unit": model.unit,
                "value": optional(model.value),
                "aim": number(model.aim),
                "reached": model.reached,
            })
        };
        if !models.is_empty() {
            map.insert("model".to_owned(), models.iter().map(timed).collect());
        }
    }
    value
}

/// Bytes that a plan would write, by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlannedBytes {
    /// Filling the modules with real data.
    pub fill: u64,
    /// Filling modules again before trials.
    pub refill: u64,
    /// Preconditioning.
    pub precondition: u64,
    /// The trials themselves, at worst.
    pub trials: u64,
}

impl PlannedBytes {
    /// All of it.
    pub fn total(&self) -> u64 {
        [self.fill, self.refill, self.precondition, self.trials].into_iter().fold(0, u64::saturating_add)
    }
}

/// One trial of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedTrial {
    /// Place in the order of execution, from 0.
    pub index: u32,
    /// Experiment.
    pub experiment: String,
    /// System.
    pub system: String,
    /// Names of the streams.
    pub streams: Vec<String>,
    /// Factors with their levels.
    pub factors: Vec<Factor>,
    /// Which repeat, from 0.
    pub replicate: u32,
    /// Which randomised block.
    pub block: u32,
    /// State policy in words.
    pub state: String,
    /// Estimated seconds, all phases.
    pub estimated_s: f64,
}

/// One search, whose trials follow from its outcomes.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedSearch {
    /// Experiment.
    pub experiment: String,
    /// What it looks for, in words.
    pub text: String,
    /// Trials at most.
    pub trials_max: u32,
}

/// Everything that `plan` says.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFacts {
    /// Name of the study.
    pub study: String,
    /// The seed that gives this order.
    pub seed: u64,
    /// Trials in order.
    pub trials: Vec<PlannedTrial>,
    /// Searches.
    pub searches: Vec<PlannedSearch>,
    /// Estimated seconds of the whole run.
    pub estimated_s: f64,
    /// What will be written.
    pub written: PlannedBytes,
    /// The difference that the replicates can detect, as a share; none when nothing is compared or nothing is known.
    pub detectable: Option<f64>,
    /// What a user should know before starting.
    pub notes: Vec<String>,
}

/// A plan as `prony/plan/1`.
pub fn plan_json(plan: &PlanFacts) -> Value {
    json!({
        "schema": "prony/plan/1",
        "study": plan.study,
        "seed": plan.seed,
        "estimated_s": number(plan.estimated_s),
        "detectable": optional(plan.detectable),
        "bytes_written": {
            "fill": plan.written.fill,
            "refill": plan.written.refill,
            "precondition": plan.written.precondition,
            "trials": plan.written.trials,
            "total": plan.written.total(),
        },
        "trials": plan.trials.iter().map(planned_trial).collect::<Vec<_>>(),
        "searches": plan.searches.iter().map(|search| json!({
            "experiment": search.experiment,
            "text": search.text,
            "trials_max": search.trials_max,
        })).collect::<Vec<_>>(),
        "notes": plan.notes,
    })
}

fn planned_trial(trial: &PlannedTrial) -> Value {
    json!({
        "index": trial.index,
        "experiment": trial.experiment,
        "system": trial.system,
        "streams": trial.streams,
        "factors": factors(&trial.factors),
        "replicate": trial.replicate,
        "block": trial.block,
        "state": trial.state,
        "estimated_s": number(trial.estimated_s),
    })
}
