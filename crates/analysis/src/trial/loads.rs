//! Loads beside users: whether they keep up with their own clock, what they leave of the sessions, and whether what users saw was
//! changed often enough to say how old it was.
//!
//! The one idea: each is told from what was counted. Work that saw nothing that was loaded in its trial saw data at least as old as
//! the trial, so that a share of it makes the age a lower bound.
//!
//! What it does not do: it knows no workload but by what its label says.

use super::caveats::{since, window_of};
use super::cut::Cut;
use super::stall::longest;
use crate::{StreamSummary, TrialSummary};
use observation::ClassKind;
use units::{Nanos, counted, duration, percent, significant, things_an_hour};

/// A load that is under way at the end of the window is not behind: three streams may have one each.
const UNDER_WAY: f64 = 3.0;

/// A lag below this share of what was offered is a fluctuation.
const LAG: f64 = 0.05;

/// So many loads must be missing in a time in which none ends: three streams that come by the clock may all rest at once.
const MISSING: f64 = 3.5;

/// A shorter time without a load is a hiccup, seconds.
const STILL_S: f64 = 1.0;

/// It must be so many medians of a load long: what is slow anyhow does not stand still.
const P50_TIMES: f64 = 5.0;

/// Of how much work the age may be unknown before a p99 says less than it seems to.
const UNSEEN: f64 = 0.01;

/// What comes by its own clock and was not loaded as fast as it came.
pub fn behind(cut: &Cut, stream: &StreamSummary) -> Option<String> {
    cut.label.gives.iter().find_map(|gives| {
        let offered_per_s = gives.offered_per_s?;
        let class = cut.label.classes.get(usize::from(gives.class))?;
        let done = stream.classes.iter().find(|known| known.name == class.0).map_or(0.0, |known| known.throughput_per_s);
        let lag = (offered_per_s - done * gives.amount) * cut.seconds();
        let behind = lag > UNDER_WAY * gives.amount && lag > LAG * offered_per_s * cut.seconds();
        let things = gives.what.trim_end_matches(" loaded");
        let loaded = |per_hour: f64| match per_hour > 0.0 {
            true => units::per_hour(per_hour).trim_end_matches("/h").to_owned(),
            false => "none".to_owned(),
        };
        behind.then(|| {
            format!(
                "loads did not keep up: {} were offered and {} loaded; the backlog grew by {} in this window, and what is loaded gets \
                 older with it; lower `load_rate`, or leave loads more sessions (a session for each of three streams beyond `users`)",
                things_an_hour(3_600.0 * offered_per_s, things),
                loaded(3_600.0 * done * gives.amount),
                counted(lag.round() as u64, things),
            )
        })
    })
}

/// Loads that take longer than the warm-up: those that began before the window cannot have ended in its beginning, as many as end later.
pub fn cut_in(cut: &Cut, stream: &StreamSummary) -> Option<String> {
    let warm_up_s = cut.observations.window.start.seconds();
    let (what, takes_s) = cut.label.gives.iter().find_map(|gives| {
        let (name, _) =
            cut.label.classes.get(usize::from(gives.class)).filter(|(_, kind)| *kind == ClassKind::Upkeep)?;
        let class = stream.classes.iter().find(|class| class.name == *name && class.service.count > 0)?;
        Some((&gives.what, class.service.mean_ms / 1e3)).filter(|(_, takes_s)| *takes_s > warm_up_s)
    })?;
    let next =
        window_of((2.0 * takes_s).max(1.0)).map(|warm_up| format!("; --set warm_up={warm_up}")).unwrap_or_default();
    Some(format!(
        "a load takes {} on the mean, longer than the warm-up of {}: the window begins before the first can have ended, and {what} an \
         hour is too low{next}",
        duration(Nanos::from_seconds(takes_s)),
        duration(cut.observations.window.start)
    ))
}

/// Loads of which none ended for a while, though they came: users who only ask may go on as if nothing were.
pub fn stood_still(cut: &Cut, stream: &StreamSummary, summary: &TrialSummary) -> Option<String> {
    let interval_s = cut.observations.interval.seconds();
    // What users give, too, says nothing of loads.
    let alone = |what: &str| {
        let mut same = cut.label.gives.iter().filter(|gives| gives.what == what);
        same.all(|gives| cut.label.kind(gives.class) == ClassKind::Upkeep)
    };
    cut.label.gives.iter().filter(|gives| alone(&gives.what)).find_map(|gives| {
        let (name, _) = cut.label.classes.get(usize::from(gives.class))?;
        let load = stream.classes.iter().find(|class| class.name == *name)?;
        let given = cut.given.iter().find(|given| given.what == gives.what)?;
        let counts: Vec<u64> = given.counts.iter().map(|count| count.ceil() as u64).collect();
        let (at, length) = longest(&counts)?;
        // What ends with a trial that was cut off may be the end of the loads.
        if length == counts.len() || (summary.interrupted && at + length == counts.len()) {
            return None;
        }
        let (at_s, lasted_s) = (at as f64 * interval_s, length as f64 * interval_s);
        let else_per_s = given.counts.iter().sum::<f64>() / gives.amount / ((counts.len() - length) as f64 * interval_s);
        let came_per_s = gives.offered_per_s.map_or(else_per_s, |rows| rows / gives.amount);
        let missing = came_per_s.min(else_per_s) * lasted_s;
        let stood = missing > MISSING && lasted_s >= STILL_S && lasted_s > P50_TIMES * load.service.p50_ms / 1e3;
        stood.then(|| {
            format!(
                "loads stood still for {} {}: none ended then, and {} a second at other times; users who only ask may not \
                 feel it, but what they see gets older; look for a lock, a checkpoint or a pause of the device then",
                duration(Nanos::from_seconds(lasted_s)),
                since(at_s),
                significant(else_per_s),
            )
        })
    })
}

/// Loads that take more than half of the sessions that users should have.
pub fn users_starved(cut: &Cut, stream: &StreamSummary) -> Option<String> {
    let (users, sessions) = (cut.label.slots?, cut.label.sessions()?);
    ages(cut)?;
    let upkeep = |name: &str| cut.label.classes.iter().any(|(known, kind)| known == name && *kind == ClassKind::Upkeep);
    let loads = stream.classes.iter().filter(|class| upkeep(&class.name));
    let busy: f64 = loads.map(|class| class.throughput_per_s * class.service.mean_ms / 1e3).sum();
    let users_own = f64::from(users.min(sessions));
    let taken = busy - (f64::from(sessions) - users_own);
    (taken > 0.5 * users_own).then(|| {
        format!(
            "loads had {} of {} on the mean, and users what was left: what queries lose here is sessions, not the database; leave \
             loads three of their own: --set users={users} --set sessions={}",
            significant(busy),
            counted(u64::from(sessions), "sessions"),
            users + 3
        )
    })
}

/// Work that saw data of which no load of the trial had brought anything.
pub fn unseen(cut: &Cut, stream: &StreamSummary, summary: &TrialSummary) -> Option<String> {
    let (age, _) = &cut.label.classes[ages(cut)?];
    let class = stream.classes.iter().find(|class| class.name == *age)?;
    let censored = class.response.count - class.done.min(class.response.count);
    let share = censored as f64 / class.response.count.max(1) as f64;
    // A part of the data is loaded at a time; from what was never seen by the end follows when all of it would have been.
    let seen = 1.0 - cut.unseen?;
    let ended = summary.window.end.seconds();
    let next = match window_of((1.2 * ended / seen).max(1.0)) {
        Some(warm_up) if seen > 0.0 => {
            format!("a warm-up in which all is loaded once tells it: --set warm_up={warm_up}")
        }
        _ => "no load came in time: raise `load_rate`, or measure longer".to_owned(),
    };
    (share > UNSEEN && !loads_are_off(cut)).then(|| {
        format!(
            "{} of {} saw data of which nothing was loaded in this trial: it was at least as old as the trial, which lasted {} with \
             its window, so that {age} is a lower bound; {next}",
            percent(share),
            counted(class.response.count, "queries"),
            duration(summary.window.end),
        )
    })
}

fn loads_are_off(cut: &Cut) -> bool {
    let mut loads = cut.label.gives.iter().filter(|gives| cut.label.kind(gives.class) == ClassKind::Upkeep).peekable();
    loads.peek().is_some() && loads.all(|gives| gives.offered_per_s == Some(0.0))
}

fn ages(cut: &Cut) -> Option<usize> {
    cut.label.classes.iter().position(|(_, kind)| *kind == ClassKind::Age)
}

#[cfg(test)]
mod tests {
    use crate::trial::tests::{label, summarise};
    use crate::{CaveatKind, StreamSummary, TrialSummary};
    use observation::{Cell, CellKey, ClassKind, Gives, Histogram, Observations, Provenance, Tally, Window};
    use units::Nanos;

    const SECOND: u64 = 1_000_000_000;

    fn cell(interval: u32, class: u16, times: Vec<u64>) -> Cell {
        let tally = Tally { done: times.len() as u64, ..Tally::default() };
        let times = Histogram::from_values(times);
        let key = CellKey { interval, class, ..CellKey::default() };
        Cell { key, tally, response: times.clone(), service: times, ..Cell::default() }
    }

    /// Ten seconds behind a warm-up of two: a hundred steps a second, of which as many saw what was loaded as `seen` says; and loads
    /// of half a second each.
    fn trial(words: &str, users: u32, loads_a_second: usize, seen: impl Fn(u32) -> usize) -> TrialSummary {
        observed(words, users, Provenance::Measured, Some(2_000.0), loads_a_second, seen)
    }

    fn observed(
        words: &str,
        users: u32,
        provenance: Provenance,
        offered_per_s: Option<f64>,
        loads_a_second: usize,
        seen: impl Fn(u32) -> usize,
    ) -> TrialSummary {
        of_loads((words, users), provenance, offered_per_s, (|_| loads_a_second, SECOND / 2), seen)
    }

    /// Four loads a second of such a length.
    fn lasting(words: &str, load_ns: u64) -> TrialSummary {
        of_loads((words, 4), Provenance::Measured, Some(2_000.0), (|_| 4, load_ns), |_| 100)
    }

    /// Loads by second, each of such a length.
    fn of_loads(
        (words, users): (&str, u32),
        provenance: Provenance,
        offered_per_s: Option<f64>,
        (loads, load_ns): (impl Fn(u32) -> usize, u64),
        seen: impl Fn(u32) -> usize,
    ) -> TrialSummary {
        let mut label = label();
        let kinds = [("open", ClassKind::Work), ("load", ClassKind::Upkeep), ("freshness", ClassKind::Age)];
        let offered = Gives { class: 1, amount: 500.0, what: "rows loaded".into(), offered_per_s };
        let stream = &mut label.streams[0];
        (stream.slots, stream.load, stream.gives) = (Some(users), words.into(), vec![offered]);
        stream.classes = kinds.map(|(name, kind)| (name.to_owned(), kind)).into();
        let cells = (0..12).flat_map(|at| {
            let ages = vec![SECOND / 2; seen(at)];
            [cell(at, 0, vec![1_000_000; 100]), cell(at, 1, vec![load_ns; loads(at)]), cell(at, 2, ages)]
        });
        let observations = Observations {
            provenance,
            window: Window { start: Nanos(2 * SECOND), end: Nanos(12 * SECOND) },
            interval: Nanos(SECOND),
            generators: 1,
            cells: cells.collect(),
            ..Observations::default()
        };
        summarise(&label, &observations, &crate::run::tests::judgement())
    }

    fn told(trial: &TrialSummary, kind: CaveatKind) -> Option<&str> {
        trial.caveats.iter().find(|caveat| caveat.kind == kind).map(|caveat| caveat.text.as_str())
    }

    fn freshness(stream: &StreamSummary) -> (u64, f64, Option<f64>) {
        let class = stream.classes.iter().find(|class| class.name == "freshness").expect("its class");
        (class.done, class.response.p90_ms, class.bound_from)
    }

    #[test]
    fn what_saw_nothing_that_was_loaded_is_as_old_as_the_trial_and_a_warm_up_is_named_in_which_all_is() {
        let all_seen = trial("4 users, 0 s mean think time, 7 sessions", 4, 4, |_| 100);
        assert_eq!(freshness(&all_seen.streams[0]), (1_000, 500.0, None));
        assert_eq!(told(&all_seen, CaveatKind::Unseen), None);
        // Of ten parts of the data one more is loaded every four seconds.
        let few = trial("4 users, 0 s mean think time, 7 sessions", 4, 4, |at| 10 * (at as usize / 4));
        let (known, p90, from) = freshness(&few.streams[0]);
        assert!(known == 120 && p90 > 10_000.0 && from.is_some_and(|from| from < 0.5), "{known} {p90} {from:?}");
        let text = told(&few, CaveatKind::Unseen).expect("it is told");
        assert!(text.starts_with("88% of ") && text.ends_with("--set warm_up=72s"), "{text}");
    }

    #[test]
    fn of_loads_that_are_off_none_is_doubted_and_none_is_called_too_slow() {
        let off = observed("closed, 4 sessions", 4, Provenance::Measured, Some(0.0), 0, |_| 0);
        let per_s = off.streams[0].yields[0].per_s;
        assert_eq!((per_s.value, per_s.low, per_s.high, off.streams[0].yields[0].most), (0.0, 0.0, 0.0, 0.0));
        assert_eq!(told(&off, CaveatKind::Unseen), None);
    }

    #[test]
    fn of_the_freshness_of_data_that_a_model_does_not_hold_nothing_is_said() {
        let on_model = observed("closed, 4 sessions", 4, Provenance::Simulated, Some(2_000.0), 4, |_| 0);
        assert!(on_model.streams[0].classes.iter().all(|class| class.name != "freshness"));
        assert_eq!(told(&on_model, CaveatKind::Unseen), None);
    }

    #[test]
    fn loads_behind_what_was_offered_are_told_with_their_backlog() {
        let kept = trial("4 users, 0 s mean think time, 7 sessions", 4, 4, |_| 100);
        assert_eq!(told(&kept, CaveatKind::NotSustained), None);
        let behind = trial("4 users, 0 s mean think time, 7 sessions", 4, 1, |_| 100);
        let text = told(&behind, CaveatKind::NotSustained).expect("it is told");
        assert!(text.contains("7.2 M rows an hour were offered and 1.8 M loaded"), "{text}");
        assert!(text.contains("the backlog grew by 15"), "{text}");
        let load = behind.streams[0].classes.iter().find(|class| class.name == "load").expect("its class");
        assert_eq!(load.offered_per_s, Some(4.0));
    }

    #[test]
    fn a_load_that_takes_longer_than_the_warm_up_is_told_with_one_that_does() {
        let short = trial("4 users, 0 s mean think time, 7 sessions", 4, 4, |_| 100);
        assert_eq!(told(&short, CaveatKind::WindowTooShort), None);
        let long = lasting("4 users, 0 s mean think time, 7 sessions", 5 * SECOND / 2);
        let text = told(&long, CaveatKind::WindowTooShort).expect("it is told");
        assert!(text.starts_with("a load takes 2.5 s on the mean, longer than the warm-up of 2 s"), "{text}");
        assert!(text.contains("rows loaded an hour is too low; --set warm_up=5s"), "{text}");
    }

    #[test]
    fn loads_that_stand_still_beside_users_who_go_on_are_told_with_when_and_how_long() {
        // Ten seconds of a window behind two of warm-up; loads of half a second, four a second but for five seconds.
        let with = |loads: fn(u32) -> usize| {
            let words = "4 users, 0 s mean think time, 7 sessions";
            of_loads((words, 4), Provenance::Measured, Some(2_000.0), (loads, SECOND / 2), |_| 100)
        };
        let still = with(|at| if (5..10).contains(&at) { 0 } else { 4 });
        let text = told(&still, CaveatKind::Stalled).expect("it is told");
        assert!(
            text.starts_with("loads stood still for 5 s from 3 s into the window: none ended then, and 4 a second"),
            "{text}"
        );
        for (loads, why) in [
            ((|_| 4) as fn(u32) -> usize, "they go on"),
            (|at| if at == 5 { 0 } else { 3 }, "one second is a pause between two"),
            (|at| if at < 2 { 4 } else { 0 }, "that they did not come at all is told with their backlog"),
        ] {
            assert_eq!(told(&with(loads), CaveatKind::Stalled), None, "{why}");
        }
    }

    #[test]
    fn loads_that_take_the_sessions_of_users_are_told_and_those_with_sessions_of_their_own_are_not() {
        let own = trial("4 users, 0 s mean think time, 7 sessions", 4, 6, |_| 100);
        assert_eq!(told(&own, CaveatKind::Starved), None);
        let shared = trial("closed, 4 sessions", 4, 6, |_| 100);
        let text = told(&shared, CaveatKind::Starved).expect("it is told");
        assert!(
            text.starts_with("loads had 3 of 4 sessions") && text.ends_with("--set users=4 --set sessions=7"),
            "{text}"
        );
    }
}
