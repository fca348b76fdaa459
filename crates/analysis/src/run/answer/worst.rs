//! A doubt that has a size is told of the trial in which it is greatest, of those whose numbers are shown, and says which that is.

use super::capital;
use crate::trial::{busy_with_others, starved};
use crate::{CaveatKind, PointSummary, TrialSummary};

/// The doubt of this kind where it is greatest; none of kinds without a size.
pub(super) fn worst(kind: CaveatKind, points: &[&PointSummary], trials: &[TrialSummary]) -> Option<String> {
    let shown = trials.iter().filter(|trial| !trial.interrupted).filter_map(|trial| {
        let point = points.iter().find(|point| point.trials.contains(&trial.label.index))?;
        // What a generator was kept waiting comes behind what its looks were late.
        let caveat = trial.caveats.iter().rfind(|caveat| caveat.kind == kind)?;
        Some((size(kind, trial)?, point, trial.label.index, caveat))
    });
    let (_, point, trial, caveat) = shown.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let several = points.iter().any(|other| other.at.system != point.at.system);
    let levels = point.at.factors.iter().map(|factor| format!("{} {}", factor.name, factor.level.text()));
    let levels: Vec<String> = levels.collect();
    let place = [
        several.then(|| format!("on {}", point.at.system)),
        (!levels.is_empty()).then(|| format!("at {}", levels.join(", "))),
        (points.iter().map(|point| point.trials.len()).sum::<usize>() > 1).then(|| format!("in trial {trial}")),
    ];
    let place: Vec<String> = place.into_iter().flatten().collect();
    let comma = if place.is_empty() { "" } else { ", " };
    Some(capital(&format!("{}{comma}{}.", place.join(" "), caveat.text)))
}

fn size(kind: CaveatKind, trial: &TrialSummary) -> Option<f64> {
    match kind {
        CaveatKind::Pressure => {
            [busy_with_others(trial), trial.machine.waited_for_cpu].into_iter().flatten().reduce(f64::max)
        }
        CaveatKind::Steal => trial.machine.cpu_steal_cores,
        CaveatKind::LateLooks => starved(&trial.generator),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Caveat;
    use crate::run::tests::{judgement, level, trial};
    use observation::CpuTime;

    /// A trial in which others kept such a share of two cores busy, and which says so.
    fn crowded(index: u32, system: &str, others: f64) -> TrialSummary {
        let mut one = trial(index, system, index, 1_000.0);
        (one.machine.cores, one.generator_cpu) = (Some(2), CpuTime::default());
        (one.machine.cpu_user_cores, one.machine.cpu_system_cores) = (Some(2.0 * others), Some(0.0));
        one.label.factors = vec![level("sessions", 8.0)];
        one.caveats.push(Caveat { kind: CaveatKind::Pressure, trial: Some(index), text: format!("others: {others}") });
        one
    }

    #[test]
    fn busy_processors_are_told_of_the_trial_shown_in_which_most_was_taken_and_it_is_named() {
        let mut trials = vec![crowded(0, "a", 0.197), crowded(1, "b", 0.717), crowded(2, "b", 0.3)];
        trials.push(TrialSummary { interrupted: true, ..crowded(3, "b", 0.9) });
        let doubts = |trials: Vec<TrialSummary>| {
            crate::run::judge(observation::RunFacts::default(), trials, &judgement()).doubts
        };
        let told = doubts(trials.clone());
        assert!(told.contains(&"On b at sessions 8 in trial 1, others: 0.717.".to_owned()), "{told:?}");
        trials.remove(1);
        let told = doubts(trials);
        assert!(told.contains(&"On b at sessions 8 in trial 2, others: 0.3.".to_owned()), "{told:?}");
    }
}
