//! The doubts that need the whole run: what the generator can do, what the systems are, whether the plan was finished.

use crate::{Caveat, CaveatKind, TrialSummary};
use observation::{RunFacts, SystemFacts};
use units::{percent, rate};

/// Share of its own ceiling from which on the generator may be what is measured.
const CEILING_SHARE: f64 = 0.8;

/// Adds the doubts of the run to its trials, and takes back those that cannot be: a system without storage has no cache
/// in front of it.
pub fn add_to_trials(run: &RunFacts, trials: &mut [TrialSummary]) {
    for trial in trials {
        if system_of(run, trial).is_some_and(|system| !has_storage(system)) {
            trial.caveats.retain(|caveat| !matches!(caveat.kind, CaveatKind::Cached | CaveatKind::OtherWriters));
        }
        if let Some(text) = near_ceiling(run, trial) {
            trial.caveats.retain(|caveat| caveat.kind != CaveatKind::GeneratorBound);
            trial.caveats.push(Caveat { kind: CaveatKind::GeneratorBound, trial: Some(trial.label.index), text });
        }
    }
}

/// Doubts about the run as a whole.
pub fn of_run(run: &RunFacts, trials: &[TrialSummary]) -> Vec<Caveat> {
    let of_run = |kind, text| Caveat { kind, trial: None, text };
    let mut found = Vec::new();
    if !run.finished {
        let text = format!(
            "the run did not finish: {} trials are here; `prony run --resume` goes on with the rest",
            trials.len()
        );
        found.push(of_run(CaveatKind::Unfinished, text));
    }
    found
}

fn system_of<'a>(run: &'a RunFacts, trial: &TrialSummary) -> Option<&'a SystemFacts> {
    run.systems.iter().find(|system| system.name == trial.label.system)
}

fn has_storage(system: &SystemFacts) -> bool {
    !matches!(system.kind.as_str(), "null" | "scripted")
}

/// The rate of all streams against what as many threads as were busy could issue to a null system.
fn near_ceiling(run: &RunFacts, trial: &TrialSummary) -> Option<String> {
    let ceiling = run.ceiling.filter(|ceiling| ceiling.null_operation_ns > 0.0)?;
    let threads = (trial.generator_cpu.total_s() / trial.elapsed_s.max(f64::MIN_POSITIVE)).ceil().max(1.0);
    let possible = threads * 1e9 / ceiling.null_operation_ns;
    let seen: f64 = trial.streams.iter().map(|stream| stream.throughput_per_s.value).sum();
    (seen >= CEILING_SHARE * possible).then(|| {
        format!(
            "{} is {} of what the generator itself can issue ({}): this measures the generator; give it more workers or \
             larger transfers",
            rate(seen),
            percent(seen / possible),
            rate(possible)
        )
    })
}
