//! Whether a run that goes on is still the run that began: the same plan, on the same systems.
//!
//! The one idea: a trial of another machine, disk, kernel or server must never stand in one run beside the first; anything
//! smaller that changed is said.

use crate::failure::Failure;
use analysis::TrialSummary;
use observation::SystemFacts;
use study::{Plan, Planner, Trial};

/// Ends of keys that are another system when they are another value.
const IDENTITY: [&str; 12] = [
    "host.name",
    "kernel.release",
    "kernel.version",
    "model.sha256",
    "database.version",
    ".devices",
    ".filesystem",
    ".filesystem_bytes",
    ".loop_backing_file",
    ".serial",
    ".size_bytes",
    ".wwn",
];

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

/// The trials of a run, planned again: those that ended, and the one that comes next.
pub fn trials_again<'a>(plan: Plan, ended: impl IntoIterator<Item = &'a TrialSummary>) -> Vec<Trial> {
    let planner = Planner::new(plan);
    let (mut outcomes, mut trials) = (Vec::new(), Vec::new());
    for summary in ended {
        trials.extend(planner.next(&outcomes));
        outcomes.push(analysis::outcome(summary));
    }
    trials.extend(planner.next(&outcomes));
    trials
}

/// The systems must be where they were when the run began; what else changed comes back in words.
///
/// # Errors
/// When a system is on another machine or another disk.
pub fn same_systems(id: &str, before: &[SystemFacts], now: &[SystemFacts]) -> Result<Vec<String>, Failure> {
    let mut changed = Vec::new();
    for (old, new) in before.iter().zip(now) {
        for known in old.fingerprint.iter().filter(|known| !ends(&known.key, &FLEETING)) {
            let fact = new.fingerprint.iter().find(|fact| fact.key == known.key);
            let value = fact.map_or("not observed", |fact| fact.value.as_str());
            let identity = ends(&known.key, &IDENTITY);
            // What else is not observed any more says nothing of what is measured.
            if value == known.value || (fact.is_none() && !identity) {
                continue;
            }
            let words = format!("`{}` of `{}` was {} and is {value}", known.key, new.name, known.value);
            if identity {
                return Err(Failure::new(format!(
                    "going on with the run `{id}`: another system than it began on: {words}"
                ))
                .hint(
                    "go on in the folder, on the machine and with the kernel and server where it began, or begin a new run; its \
                     places may be relative to a folder",
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

    /// A device that was exchanged, a kernel or a server that was updated were said, and measured beside the first.
    #[test]
    fn another_kernel_server_or_backing_file_is_refused_and_so_is_a_disk_that_lost_its_name() {
        let began = [
            ("kernel.release", "6.1"),
            ("database.version", "15.18"),
            ("module.0.disk.loop0.loop_backing_file", "/a"),
            ("module.0.disk.sda.wwn", "naa.5"),
        ];
        for (at, (key, _)) in began.iter().enumerate() {
            let mut now = began;
            now[at].1 = "another";
            assert!(same_systems("x", &system(&began), &system(&now)).is_err(), "{key}");
            let lost: Vec<_> = began.into_iter().filter(|(other, _)| other != key).collect();
            assert!(same_systems("x", &system(&began), &system(&lost)).is_err(), "{key}");
        }
    }

    #[test]
    fn what_changed_otherwise_is_said_and_what_always_does_is_not() {
        let before = system(&[("module.0.path", "/x-1"), ("module.0.free_bytes", "9"), ("cpu.governor", "schedutil")]);
        let now = system(&[("module.0.path", "/x-2"), ("module.0.free_bytes", "8"), ("cpu.governor", "performance")]);
        let changed = same_systems("x", &before, &now).ok();
        assert_eq!(changed, Some(vec!["`cpu.governor` of `a` was schedutil and is performance".to_owned()]));
    }

    #[test]
    fn a_run_that_had_not_opened_its_systems_yet_has_nothing_to_be_held_to() {
        assert_eq!(same_systems("x", &[], &system(&[("kernel.release", "6.2")])).ok(), Some(vec![]));
    }
}
