//! A doubt of trials says in how many of them it is, and is told of that in which it is greatest.

use crate::trial::{busy_with_others, starved};
use crate::{Caveat, CaveatKind, PointSummary, TrialSummary};
use units::capital;

/// `Tasks waited .. (in all 5 trials; the figure is the highest, at 8 sessions); ..`: `main`, which is of a trial that the answer rests on, or the caveat of
/// its kind where it is greatest; `answered` are the points of the answer. None of what is no single trial's, or where there is one.
pub(super) fn worst(
    main: &Caveat,
    answered: &[&PointSummary],
    points: &[PointSummary],
    trials: &[TrialSummary],
) -> Option<String> {
    let ended = || trials.iter().filter(|trial| !trial.interrupted);
    // What a generator was kept waiting comes behind what its looks were late.
    let of = |trial: &'_ TrialSummary| trial.caveats.iter().rposition(|caveat| caveat.kind == main.kind);
    let affected: Vec<(&TrialSummary, usize)> = ended().filter_map(|trial| Some((trial, of(trial)?))).collect();
    // Where the answer's own trials have it, theirs is what is asked.
    let own = |trial: &TrialSummary| answered.iter().any(|point| point.trials.contains(&trial.label.index));
    let hit = affected.iter().filter(|(trial, _)| own(trial)).count();
    let sized = affected.iter().filter(|(trial, _)| hit == 0 || own(trial));
    let sized = sized.filter_map(|(trial, at)| Some((size(main.kind, trial)?, trial, &trial.caveats[*at])));
    let greatest = sized.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, trial, caveat)| (trial.label.index, caveat));
    let worst = match hit {
        0 => "; the figure is the highest",
        _ if hit == affected.len() => "; the figure is the highest",
        1 => "; the figure is of the answer's trial",
        _ => "; the figure is the highest of the answer's trials",
    };
    let (told, words) = greatest.map_or((main.trial?, ", for example"), |(index, _)| (index, worst));
    let text = greatest.map_or(&main.text, |(_, caveat)| &caveat.text);
    let (all, count) = (ended().count(), affected.len());
    let among = match count == all {
        true if all == 2 => "in both trials".to_owned(),
        true => format!("in all {all} trials"),
        false => format!("in {count} of {all} trials{}", of_the_answer(&affected, answered, all)),
    };
    // Of what is alike in all of them one is no better an example than another.
    let wanted = greatest.is_some() || count < all;
    let place = place(told, points).filter(|_| wanted).unwrap_or_default();
    let place = match count {
        _ if place.is_empty() && (count == 1 || greatest.is_none()) => place,
        1 => format!(",{place}"),
        _ if place.is_empty() => words.to_owned(),
        _ if greatest.is_none() => format!("{words}{place}"),
        _ => format!("{words},{place}"),
    };
    (all > 1).then(|| {
        // What to do about it comes behind, and is not meant for some trials alone.
        let (what, next) =
            text.split_once("; ").map_or((text.as_str(), String::new()), |(what, next)| (what, format!("; {next}")));
        format!("{} ({among}{place}){next}.", capital(what))
    })
}

/// Whether the answer rests on some of these trials; of all there is nothing to tell apart.
fn of_the_answer(affected: &[(&TrialSummary, usize)], answered: &[&PointSummary], all: usize) -> String {
    let own: Vec<u32> = answered.iter().flat_map(|point| &point.trials).copied().collect();
    match affected.iter().filter(|(trial, _)| own.contains(&trial.label.index)).count() {
        _ if own.len() >= all => String::new(),
        0 => String::new(),
        hit if hit == own.len() => ", the answer's among them".to_owned(),
        hit => format!(", {hit} of the answer's {} among them", own.len()),
    }
}

/// ` on b at 8 sessions`, as far as that tells a trial from others.
fn place(trial: u32, points: &[PointSummary]) -> Option<String> {
    let point = points.iter().find(|point| point.trials.contains(&trial))?;
    let several = points.iter().any(|other| other.at.system != point.at.system);
    let on = if several { format!(" on {}", point.at.system) } else { String::new() };
    let place = format!("{on}{}", point.at.at());
    // Where nothing is varied inside of experiments, these are what differs.
    let elsewhere = points.iter().any(|other| other.at.experiment != point.at.experiment);
    let experiment = format!(" in {}", point.at.experiment);
    Some(if place.is_empty() && elsewhere { experiment } else { place }).filter(|place| !place.is_empty())
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
    fn busy_processors_are_told_of_the_trial_in_which_most_was_taken_and_of_how_many_that_is_said() {
        let mut trials = vec![crowded(0, "a", 0.197), crowded(1, "b", 0.717), crowded(2, "b", 0.3)];
        trials.push(TrialSummary { interrupted: true, ..crowded(3, "b", 0.9) });
        let doubts = |trials: Vec<TrialSummary>| {
            crate::run::judge(observation::RunFacts::default(), trials, &judgement()).doubts
        };
        let told = doubts(trials.clone());
        let all = "Others: 0.717 (in all 3 trials; the figure is the highest, on b at 8 sessions).";
        assert!(told.contains(&all.to_owned()), "{told:?}");
        trials[0].caveats.clear();
        trials[1].caveats.clear();
        let told = doubts(trials.clone());
        let one = "Others: 0.3 (in 1 of 3 trials, on b at 8 sessions).";
        assert!(told.contains(&one.to_owned()), "{told:?}");
        trials.drain(..2);
        let told = doubts(trials);
        assert!(told.contains(&"Others: 0.3.".to_owned()), "of a single trial there is nothing to count: {told:?}");
    }

    #[test]
    fn where_nothing_is_varied_the_experiment_says_which_trial_is_worst() {
        let mut trials = vec![crowded(0, "a", 0.2), crowded(1, "a", 0.7)];
        trials.iter_mut().for_each(|one| one.label.factors.clear());
        trials[1].label.experiment = "day and night".into();
        let told = crate::run::judge(observation::RunFacts::default(), trials, &judgement()).doubts;
        let all = "Others: 0.2 (in both trials; the figure is of the answer's trial, in rates).";
        assert!(told.contains(&all.to_owned()), "{told:?}");
    }

    #[test]
    fn a_doubt_without_a_size_says_in_how_many_trials_it_is_and_names_one_for_example() {
        let unsteady = |index, system| {
            let mut one = crowded(index, system, 0.5);
            one.caveats[0].kind = CaveatKind::NotSteady;
            one
        };
        let mut quiet = vec![unsteady(0, "a"), unsteady(1, "b"), crowded(2, "b", 0.6), crowded(3, "b", 0.6)];
        quiet[3].label.factors = vec![level("sessions", 4.0)];
        quiet[3].caveats.clear();
        quiet[2].caveats.clear();
        let judged = |trials| crate::run::judge(observation::RunFacts::default(), trials, &judgement()).doubts;
        let told = judged(quiet.clone());
        let some = "Others: 0.5 (in 2 of 4 trials, 2 of the answer's 3 among them, for example on a at 8 sessions).";
        assert!(told.contains(&some.to_owned()), "{told:?}");
        quiet.truncate(2);
        let told = judged(quiet);
        assert!(told.contains(&"Others: 0.5 (in both trials).".to_owned()), "{told:?}");
    }
}
