//! The smaller forms: studies, check, plan, list and ceiling, each built from plain values.
//!
//! The binary fills these in from the room that knows; here only the form is settled.

use super::value::{Json, factors, object, objects};
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
        "studies": all(studies),
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
        "problems": all(&checked.problems),
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
        "runs": all(runs),
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
    let mut value = ceiling.json();
    if let Value::Object(map) = &mut value {
        map.shift_insert(0, "schema".to_owned(), Value::from("prony/ceiling/1"));
        if !models.is_empty() {
            map.insert("model".to_owned(), all(models));
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
    object!(plan {
        "schema": "prony/plan/1", study, seed, estimated_s, detectable, "bytes_written": plan.written, trials,
        searches, notes,
    })
}

objects! {
    study: ListedStudy { name, title, question }

    problem: CheckProblem { line, column, message, hints }

    run: ListedRun { file, run, study, started_unix_ns, systems, trials, finished, tags, problem }

    model: TimedModel { path, what, unit, value, aim, reached }

    written: PlannedBytes { fill, refill, precondition, trials, "total": written.total() }

    trial: PlannedTrial {
        index, experiment, system, streams, "factors": factors(&trial.factors), replicate, block, state, estimated_s,
    }

    search: PlannedSearch { experiment, text, trials_max }
}

fn all(list: &[impl Json]) -> Value {
    list.iter().map(Json::json).collect()
}
