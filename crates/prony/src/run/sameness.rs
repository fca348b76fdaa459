//! Whether a run that goes on is still the run that began: the same plan, on the same systems.
//!
//! The one idea: a trial of another machine or another disk must never stand in one run beside the first; anything smaller
//! that changed is said.

use crate::failure::Failure;
use analysis::TrialSummary;
use observation::SystemFacts;
use study::{Plan, Planner};

/// Ends of keys that are another system when they are another value.
const IDENTITY: [&str; 7] =
    ["host.name", "model.sha256", ".devices", ".filesystem", ".filesystem_bytes", ".serial", ".size_bytes"];

/// Ends of keys that are different in every run: names of scratch folders, and what is free.
const FLEETING: [&str; 2] = [".path", ".free_bytes"];

/// A resumed plan must be the one that the file was begun with, trial by trial.
///
/// # Errors
/// At the first trial of the file that is planned differently now.
pub fn same_plan(id: &str, plan: &Plan, summaries: &[TrialSummary]) -> Result<(), Failure> {
    let planner = Planner::new(plan.clone());
    let mut outcomes = Vec::new();
    for summary in summaries {
        let planned = planner.next(&outcomes).map(|trial| trial.label);
        if planned.as_ref() != Some(&summary.label) {
            let number = summary.label.index + 1;
            return Err(Failure::new(format!(
                "going on with the run `{id}`: trial {number} of the file is planned differently now"
            ))
            .hint("a system has another size than when the run began, or this is another version; begin a new run"));
        }
        outcomes.push(analysis::outcome(summary));
    }
    Ok(())
}

/// The systems must be where they were when the run began; what else changed comes back in words.
///
/// # Errors
/// When a system is on another machine or another disk.
pub fn same_systems(id: &str, before: &[SystemFacts], now: &[SystemFacts]) -> Result<Vec<String>, Failure> {
    let mut changed = Vec::new();
    for (old, new) in before.iter().zip(now) {
        for fact in new.fingerprint.iter().filter(|fact| !ends(&fact.key, &FLEETING)) {
            let known = old.fingerprint.iter().find(|known| known.key == fact.key);
            let Some(known) = known.filter(|known| known.value != fact.value) else { continue };
            let words = format!("`{}` of `{}` was {} and is {}", fact.key, new.name, known.value, fact.value);
            if ends(&fact.key, &IDENTITY) {
                return Err(Failure::new(format!(
                    "going on with the run `{id}`: another system than it began on: {words}"
                ))
                .hint(
                    "go on in the folder and on the machine where it began; its places may be relative to a folder",
                ));
            }
            changed.push(words);
        }
    }
    Ok(changed)
}

fn ends(key: &str, list: &[&str]) -> bool {
    list.iter().any(|end| key.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use observation::Fact;

    fn system(facts: &[(&str, &str)]) -> Vec<SystemFacts> {
        let fact = |(key, value): &(&str, &str)| Fact { key: (*key).into(), value: (*value).into(), private: false };
        vec![SystemFacts { name: "a".into(), fingerprint: facts.iter().map(fact).collect(), ..SystemFacts::default() }]
    }

    #[test]
    fn another_disk_under_the_same_name_is_refused() {
        let before = system(&[("module.0.devices", "vda"), ("kernel.release", "6.1")]);
        let now = system(&[("module.0.devices", "sdb"), ("kernel.release", "6.1")]);
        let Err(Failure::Told(told)) = same_systems("x", &before, &now) else { panic!("not refused") };
        assert!(told.text(false).contains("`module.0.devices` of `a` was vda and is sdb"), "{}", told.text(false));
    }

    #[test]
    fn what_changed_otherwise_is_said_and_what_always_does_is_not() {
        let before = system(&[("module.0.path", "/x-1"), ("module.0.free_bytes", "9"), ("kernel.release", "6.1")]);
        let now = system(&[("module.0.path", "/x-2"), ("module.0.free_bytes", "8"), ("kernel.release", "6.2")]);
        let changed = same_systems("x", &before, &now).ok();
        assert_eq!(changed, Some(vec!["`kernel.release` of `a` was 6.1 and is 6.2".to_owned()]));
    }

    #[test]
    fn a_run_that_had_not_opened_its_systems_yet_has_nothing_to_be_held_to() {
        assert_eq!(same_systems("x", &[], &system(&[("kernel.release", "6.2")])).ok(), Some(vec![]));
    }
}
