//! Work that comes by the clock, where it did not keep up with it.

use crate::trial::outcome::Outcome;
use crate::worker::assign::window;
use load::Kept;
use observation::{Event, EventKind};
use study::Trial;
use units::{Nanos, count, duration};
use workload::kind::Clocked;

/// What was due before the one before had ended, and what had not begun when the window closed. It is counted over the window as it was
/// planned, which is said where jobs were over before and the rates end with them.
pub(crate) fn behind(trial: &Trial, outcome: &Outcome, jobs_ended: Option<Nanos>) -> Vec<Event> {
    let planned = window(trial);
    let over = match jobs_ended {
        Some(ended) => format!(
            "the planned window of {} (the jobs beside them were over after {}, where rates end)",
            duration(planned.length()),
            duration(ended.saturating_sub(planned.start))
        ),
        None => "the window".to_owned(),
    };
    let of_stream = |(stream, kept): &(u16, Vec<Kept>)| {
        let clock = trial.streams[usize::from(*stream)].clock();
        let kept = clock.iter().zip(kept);
        let told = |(clocked, kept): (&Clocked, &Kept)| match absent(clocked, *kept, &over) {
            Some(text) => Some((EventKind::Doubt, text)),
            None => words(clocked, *kept, &clock, &over).map(|text| (EventKind::Backlog, text)),
        };
        kept.filter_map(told).collect::<Vec<_>>()
    };
    let at = planned.end;
    outcome.kept.iter().flat_map(of_stream).map(|(kind, text)| Event { at, kind, text }).collect()
}

/// A job that never came: what it costs is in no figure.
fn absent(clocked: &Clocked, kept: Kept, over: &str) -> Option<String> {
    let Clocked { name, every, key, .. } = *clocked;
    let key = key.filter(|_| kept.due == 0)?;
    Some(format!(
        "no {name} came: one is due every {}, and none was in {over}; figures hold what comes beside them alone; give a longer \
         `measure`, or a shorter `{key}`",
        duration(every)
    ))
}

/// One that had to wait for the one before is told of jobs, which a key of the study makes longer or more seldom; of all others
/// that they pile up. All that comes by the clock has one session, one transaction after the other.
fn words(clocked: &Clocked, kept: Kept, all: &[Clocked], over: &str) -> Option<String> {
    let Clocked { name, every, key, .. } = *clocked;
    let Kept { due, held, waiting } = kept;
    let behind = if key.is_some() { held > 0 } else { waiting > 1 && waiting > due / 100 };
    let longer = |of: &str, key: &str| format!("give {of} a longer `{key}`");
    let before = all.iter().find_map(|other| Some((other.name, other.key?)));
    let next = match (key, before) {
        (Some(key), _) => longer("them", key),
        (None, Some((jobs, key))) => format!("they share one session with {jobs}: {}", longer("these", key)),
        (None, None) => "give the system less beside them".to_owned(),
    };
    behind.then(|| {
        format!(
            "{name} do not end in time: of {} that were due in {over}, one every {}, {} had to wait until the one before \
             had ended, and {} had not begun when it closed; {next}",
            count(due),
            duration(every),
            count(held),
            count(waiting)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_waits_for_the_one_before_is_told_and_single_work_when_it_piles_up() {
        let every = Nanos::from_secs(2);
        let runs = Clocked { name: "payment runs", every, key: Some("run_every"), transactions: 40, payload: 0 };
        let text = words(&runs, Kept { due: 5, held: 3, waiting: 2 }, &[], "the window").unwrap();
        let expected = "payment runs do not end in time: of 5 that were due in the window, one every 2 s, 3 had to wait until the \
                        one before had ended, and 2 had not begun when it closed; give them a longer `run_every`";
        assert_eq!(text, expected);
        assert_eq!(words(&runs, Kept { due: 5, held: 0, waiting: 1 }, &[], "the window"), None);
        let never = absent(&runs, Kept { due: 0, held: 0, waiting: 0 }, "the window").expect("none came");
        assert!(
            never.starts_with("no payment runs came: one is due every 2 s, and none was in the window;"),
            "{never}"
        );
        assert_eq!(absent(&runs, Kept { due: 1, held: 0, waiting: 0 }, "the window"), None);
        let single = Clocked { name: "standing orders", key: None, transactions: 1, ..runs };
        let both = [runs, single];
        assert_eq!(words(&single, Kept { due: 300, held: 40, waiting: 3 }, &both, "the window"), None, "they catch up");
        let text = words(&single, Kept { due: 300, held: 40, waiting: 4 }, &both, "the window").expect("they pile up");
        assert!(text.ends_with("they share one session with payment runs: give these a longer `run_every`"), "{text}");
        let alone =
            words(&single, Kept { due: 300, held: 40, waiting: 4 }, &both[1..], "the window").expect("they pile up");
        assert!(alone.ends_with("give the system less beside them"), "{alone}");
    }
}
