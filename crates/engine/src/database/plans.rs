//! How the dearest statements of a trial are planned, and whether that is still so.
//!
//! The one idea: behind the load the server is asked for the plan of each, without carrying it out and without its estimates of
//! costs, so that a plan is the same text for as long as it is the same plan. The last one of each statement stays in the cache folder,
//! by server, data set and settings, from trial to trial and from run to run.
//!
//! What it does not do: for some values a server may take another plan.

use crate::told::remark;
use database::{Database, DatabaseError, Facts, Texts};
use observation::{Event, EventKind, OfStatement, Probe, Series};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use units::Nanos;

/// Statements whose plans are looked at.
const DEAREST: usize = 3;

/// What stands between two plans of a file; no plan holds it.
const NEXT: &str = "\u{1e}";

/// The plans of the dearest statements of a trial, by what was counted or seen of them, as events at its end.
pub(crate) fn events(
    database: &dyn Database,
    texts: &[Texts],
    series: &[Series],
    (cache, data, at): (&Path, &str, Nanos),
) -> Vec<Event> {
    let found: Result<Vec<_>, DatabaseError> = dearest(series)
        .into_iter()
        .filter_map(|name| {
            let of = texts.iter().find_map(|texts| Some((texts, texts.iter().find(|text| text.name == name)?)))?;
            database::plan(database, of.0, of.1).map(|plan| plan.map(|plan| (name.to_owned(), plan))).transpose()
        })
        .collect();
    let plans = match found {
        Ok(plans) => plans,
        Err(error) => return vec![remark(format!("plans of the costliest statements are not known: {error}"))],
    };
    let file = file(cache, &database.facts(), data, texts);
    let before = std::fs::read_to_string(&file).map(|text| read(&text)).unwrap_or_default();
    let changed = plans.iter().filter_map(|(name, plan)| Some((name, changed(before.get(name)?, plan)?)));
    let changed = changed.map(|(name, how)| {
        (
            EventKind::Replanned,
            format!("the plan of `{name}` is another one than when it was last looked at here: {how}"),
        )
    });
    let shown = plans.iter().map(|(name, plan)| (EventKind::Plan, format!("{name}\n{plan}")));
    let events = changed.chain(shown).map(|(kind, text)| Event { at, kind, text }).collect();
    // What cannot be kept is not missed before the next trial, which has nothing to compare with then.
    let kept: BTreeMap<String, String> = before.into_iter().chain(plans.iter().cloned()).collect();
    let _ = file.parent().map(std::fs::create_dir_all).map(|_| std::fs::write(&file, written(&kept)));
    events
}

/// The names of the statements that took most of the time.
fn dearest(series: &[Series]) -> Vec<&str> {
    let mut counted = BTreeMap::<&str, f64>::new();
    let mut seen = BTreeMap::<&str, f64>::new();
    let mut sampled = BTreeMap::<&str, f64>::new();
    for one in series {
        let Some((_, value)) = one.points.last() else { continue };
        match &one.probe {
            Probe::Statement(name, OfStatement::ExecutionSeconds) => *counted.entry(name).or_default() += value,
            Probe::Statement(name, OfStatement::CpuSeconds) => *sampled.entry(name).or_default() += value,
            Probe::Wait(name, _) => *seen.entry(name).or_default() += value,
            _ => {}
        }
    }
    // A database in this process times nothing but its CPU.
    let took = [counted, seen, sampled].into_iter().find(|known| !known.is_empty()).unwrap_or_default();
    let mut took: Vec<(&str, f64)> = took.into_iter().filter(|(name, _)| *name != observation::COMMIT).collect();
    took.sort_by(|a, b| b.1.total_cmp(&a.1));
    took.into_iter().take(DEAREST).map(|(name, _)| name).collect()
}

/// The first step in which two plans differ.
fn changed(before: &str, now: &str) -> Option<String> {
    let lines = |plan: &str| plan.lines().map(|line| line.trim().to_owned()).collect::<Vec<String>>();
    let (before, now) = (lines(before), lines(now));
    let at = (0..before.len().max(now.len())).find(|at| before.get(*at) != now.get(*at))?;
    let step = |plan: &[String]| plan.get(at).map_or("nothing more".to_owned(), |line| format!("`{line}`"));
    Some(format!("{} instead of {}", step(&now), step(&before)))
}

/// Where the plans of a server, a data set and settings are kept.
fn file(cache: &Path, facts: &Facts, data: &str, texts: &[Texts]) -> PathBuf {
    let mut hash = DefaultHasher::new();
    (&facts.place, &facts.settings, data).hash(&mut hash);
    texts.iter().flat_map(Texts::iter).for_each(|text| (&text.name, &text.sql).hash(&mut hash));
    cache.join("plans").join(format!("{:016x}", hash.finish()))
}

fn read(text: &str) -> BTreeMap<String, String> {
    let one = |one: &str| {
        let mut lines = one.lines();
        Some((lines.next()?.to_owned(), lines.collect::<Vec<&str>>().join("\n")))
    };
    text.split(NEXT).filter_map(one).collect()
}

fn written(plans: &BTreeMap<String, String>) -> String {
    plans.iter().map(|(name, plan)| format!("{name}\n{plan}")).collect::<Vec<String>>().join(NEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearest_are_those_that_a_server_timed_or_that_were_seen_and_no_commit() {
        let series = |probe: Probe, value: f64| Series { probe, points: vec![(Nanos(1), value)] };
        let seen = |name: &str, event: &str, value| series(Probe::Wait(name.into(), event.into()), value);
        let cpu = |name: &str, value| series(Probe::Statement(name.into(), OfStatement::CpuSeconds), value);
        assert_eq!(dearest(&[cpu("c", 0.1), cpu("d", 0.2), cpu("(commit)", 9.0)]), ["d", "c"]);
        let mut all = vec![
            cpu("c", 8.0),
            seen("a", "CPU", 0.2),
            seen("b", "CPU", 0.3),
            seen("a", "Lock:tuple", 0.2),
            seen("(commit)", "CPU", 9.0),
        ];
        assert_eq!(dearest(&all), ["a", "b"]);
        let timed = ["w", "x", "y", "z"].iter().zip([0.1, 0.4, 0.2, 0.3]);
        all.extend(
            timed.map(|(name, value)| series(Probe::Statement((*name).into(), OfStatement::ExecutionSeconds), value)),
        );
        assert_eq!(dearest(&all), ["x", "z", "y"]);
    }

    #[test]
    fn a_plan_that_was_kept_is_read_back_and_one_that_differs_is_told_by_its_first_step() {
        let (index, scan) = (
            "Update on t\n  ->  Index Scan using t_key on t",
            "Update on t\n  ->  Seq Scan on t\n        Filter: (id = $1)",
        );
        let plans = BTreeMap::from([("one: a".to_owned(), index.to_owned()), ("two".to_owned(), scan.to_owned())]);
        assert_eq!(read(&written(&plans)), plans);
        assert_eq!(read(""), BTreeMap::new());
        assert_eq!(changed(index, index), None);
        assert_eq!(changed(index, scan).unwrap(), "`->  Seq Scan on t` instead of `->  Index Scan using t_key on t`");
        assert_eq!(
            changed(scan, "Update on t\n  ->  Seq Scan on t").unwrap(),
            "nothing more instead of `Filter: (id = $1)`"
        );
    }
}
