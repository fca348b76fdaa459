//! The smaller forms: studies, check, plan, list and ceiling.

use super::value::{Json as _, factors};
use super::{number, optional};
use observation::{Ceiling, RunFacts};
use serde_json::{Value, json};
use study::{Occasion, Plan, Problem, Search, Study, Trial};

/// The shipped studies as `prony/studies/1`.
pub fn studies_json(studies: &[Study]) -> Value {
    json!({
        "schema": "prony/studies/1",
        "studies": studies.iter().map(|study| json!({
            "name": study.name,
            "title": study.title,
            "question": study.question,
        })).collect::<Vec<_>>(),
    })
}

/// The outcome of a check as `prony/check/1`: all problems of `study`, in the order of the file.
pub fn check_json(study: &str, problems: &[Problem]) -> Value {
    json!({
        "schema": "prony/check/1",
        "study": study,
        "ok": problems.is_empty(),
        "problems": problems.iter().map(|problem| json!({
            "line": problem.line,
            "column": problem.column,
            "message": message(problem),
            "hints": problem.hint.iter().collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}

/// What is wrong, with its source where it lies in no line of the study.
fn message(problem: &Problem) -> String {
    let source = Some(&problem.source).filter(|source| problem.line.is_none() && !source.is_empty());
    let key = Some(format!("`{}`", problem.key)).filter(|_| !problem.key.is_empty());
    source.cloned().into_iter().chain(key).chain([problem.message.clone()]).collect::<Vec<_>>().join(": ")
}

/// One run file of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRun<'a> {
    /// Path of the file.
    pub file: String,
    /// The run with how many of its trials ended, or why it could not be read.
    pub content: Result<(&'a RunFacts, u32), String>,
}

/// The runs of a folder as `prony/list/1`.
pub fn list_json(runs: &[ListedRun]) -> Value {
    let listed = |run: &ListedRun| {
        let (facts, trials) = run.content.as_ref().ok().copied().unzip();
        json!({
            "file": run.file,
            "run": facts.map(|facts| &facts.id),
            "study": facts.map(|facts| &facts.study),
            "started_unix_ns": facts.map(|facts| facts.started_unix_ns),
            "systems": facts.into_iter().flat_map(|facts| &facts.systems).map(|one| &one.name).collect::<Vec<_>>(),
            "trials": trials,
            "finished": facts.map(|facts| facts.finished),
            "tags": facts.into_iter().flat_map(|facts| &facts.tags).collect::<Vec<_>>(),
            "problem": run.content.as_ref().err(),
        })
    };
    json!({ "schema": "prony/list/1", "runs": runs.iter().map(listed).collect::<Vec<_>>() })
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

/// One outstanding operation by either driver of storage: time and CPU, microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Drivers {
    /// Over io_uring.
    pub io_uring_us: [f64; 2],
    /// By pread.
    pub pread_us: [f64; 2],
    /// The driver that is taken.
    pub taken: &'static str,
}

/// The generator's own figures as `prony/ceiling/1`, with those of drivers when they could be measured, and those of models
/// when they were timed.
pub fn ceiling_json(ceiling: &Ceiling, drivers: Option<&Drivers>, models: &[TimedModel]) -> Value {
    let mut value = ceiling.json();
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
        let cost = |[time, cpu]: [f64; 2]| json!({ "time_us": number(time), "cpu_us": number(cpu) });
        if let Some(Drivers { io_uring_us, pread_us, taken }) = drivers {
            let driven = json!({ "io_uring": cost(*io_uring_us), "pread": cost(*pread_us), "taken": taken });
            map.insert("one_outstanding".to_owned(), driven);
        }
        if !models.is_empty() {
            map.insert("model".to_owned(), models.iter().map(timed).collect());
        }
    }
    value
}

/// A plan as `prony/plan/1`. `expected_s` is how long a trial is expected to take, `notes` what a user should know before
/// starting.
pub fn plan_json(plan: &Plan, expected_s: impl Fn(&Trial) -> f64, notes: &[String]) -> Value {
    let written = plan.written();
    let bytes = |on: &dyn Fn(&Occasion) -> bool| {
        let own = written.iter().filter(|written| on(&written.occasion)).map(|written| written.bytes().0);
        own.fold(0, u64::saturating_add)
    };
    json!({
        "schema": "prony/plan/1",
        "study": plan.study,
        "seed": plan.seed,
        "estimated_s": number(plan.estimated().certain.seconds()),
        "detectable": optional(plan.detectable.iter().find_map(|found| found.difference)),
        "bytes_written": {
            "fill": bytes(&|occasion| *occasion == Occasion::Fill),
            "refill": bytes(&|occasion| *occasion == Occasion::Refill),
            "precondition": bytes(&|occasion| *occasion == Occasion::Precondition),
            "trials": bytes(&|occasion| matches!(occasion, Occasion::Trials { .. })),
            "total": bytes(&|_| true),
        },
        "trials": plan.trials.iter().map(|trial| planned(trial, expected_s(trial))).collect::<Vec<_>>(),
        "searches": plan.searches.iter().map(|search| json!({
            "experiment": search.experiment,
            "text": Search::words(search),
            "trials_max": study::PROBES_MAX,
        })).collect::<Vec<_>>(),
        "notes": notes,
    })
}

fn planned(trial: &Trial, expected_s: f64) -> Value {
    let label = &trial.label;
    json!({
        "index": label.index,
        "experiment": label.experiment,
        "system": label.system,
        "streams": label.streams.iter().map(|stream| &stream.name).collect::<Vec<_>>(),
        "factors": factors(&label.factors),
        "replicate": label.replicate,
        "block": label.block,
        "state": label.state.to_string(),
        "estimated_s": number(expected_s),
    })
}
