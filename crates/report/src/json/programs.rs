//! The smaller forms: studies, check, plan, list and ceiling.

use super::value::{Json as _, factors, joined, object, objects};
use observation::{Alone, Ceiling, DriverCost, ModelCeiling, RunFacts};
use serde_json::Value;
use study::{Occasion, Plan, Problem, Search, Study, Trial};

objects! {
    study: Study { name, title, question }

    problem: Problem { line, column, "message": message(problem), "hints": problem.hint.iter().collect::<Vec<_>>() }

    alone: Alone { "io_uring": &alone.ring, "pread": &alone.plain, "taken": alone.taken.word() }

    cost: DriverCost { "time_us": cost.time_ns / 1e3, "cpu_us": cost.cpu_ns / 1e3 }

    model: ModelCeiling { path, what, "unit": model.unit.word(), value, aim, "reached": model.reached() }

    search: Search { experiment, "text": Search::words(search), "trials_max": study::PROBES_MAX }
}

/// The shipped studies as `prony/studies/1`.
pub fn studies_json(studies: &[Study]) -> Value {
    object!(studies { "schema": "prony/studies/1", "studies": studies })
}

/// The outcome of a check as `prony/check/1`: all problems of `study`, in the order of the file.
pub fn check_json(study: &str, problems: &[Problem]) -> Value {
    object!(study { "schema": "prony/check/1", "study": study, "ok": problems.is_empty(), "problems": problems })
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
        let systems = facts.into_iter().flat_map(|facts| &facts.systems).map(|one| &one.name);
        object!(run {
            file, "run": facts.map(|facts| &facts.id), "study": facts.map(|facts| &facts.study),
            "started_unix_ns": facts.map(|facts| facts.started_unix_ns), "systems": systems.collect::<Vec<_>>(),
            "trials": trials, "finished": facts.map(|facts| facts.finished),
            "tags": facts.map_or(&[][..], |facts| &facts.tags), "problem": run.content.as_ref().err(),
        })
    };
    object!(runs { "schema": "prony/list/1", "runs": runs.iter().map(listed).collect::<Vec<_>>() })
}

/// The generator's own figures as `prony/ceiling/1`, with those of drivers when they could be measured, and those of models
/// when they were timed.
pub fn ceiling_json(ceiling: &Ceiling, alone: Option<&Alone>, models: &[ModelCeiling]) -> Value {
    let alone = alone.map(|alone| object!(alone { "one_outstanding": alone }));
    let models = (!models.is_empty()).then(|| object!(models { "model": models }));
    let own = [object!(ceiling { "schema": "prony/ceiling/1" }), ceiling.json()];
    joined(own.into_iter().chain(alone).chain(models))
}

/// A plan as `prony/plan/1`. `expected_s` is how long a trial is expected to take, `notes` what a user should know before
/// starting.
pub fn plan_json(plan: &Plan, expected_s: impl Fn(&Trial) -> f64, notes: &[String]) -> Value {
    let written = plan.written();
    let bytes = |on: &dyn Fn(&Occasion) -> bool| {
        let own = written.iter().filter(|written| on(&written.occasion)).map(|written| written.bytes().0);
        own.fold(0, u64::saturating_add)
    };
    object!(plan {
        "schema": "prony/plan/1", study, seed, "estimated_s": plan.estimated().certain.seconds(),
        "detectable": plan.detectable.iter().find_map(|found| found.difference),
        "margin": plan.judgement.margin, "power": plan.detectable.iter().find_map(|found| found.power),
        "bytes_written": object!(plan {
            "fill": bytes(&|occasion| *occasion == Occasion::Fill),
            "refill": bytes(&|occasion| *occasion == Occasion::Refill),
            "precondition": bytes(&|occasion| *occasion == Occasion::Precondition),
            "trials": bytes(&|occasion| matches!(occasion, Occasion::Trials { .. })),
            "total": bytes(&|_| true),
        }),
        "trials": plan.trials.iter().map(|trial| planned(trial, expected_s(trial))).collect::<Vec<_>>(),
        searches, "notes": notes,
    })
}

fn planned(trial: &Trial, expected_s: f64) -> Value {
    let label = &trial.label;
    object!(label {
        index, experiment, system, "streams": label.streams.iter().map(|stream| &stream.name).collect::<Vec<_>>(),
        "factors": factors(&label.factors), replicate, block, "state": label.state.to_string(), "estimated_s": expected_s,
    })
}
