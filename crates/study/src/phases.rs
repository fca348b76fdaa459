//! How long each phase of a trial takes.
//!
//! The one idea: the window and the warm-up are whole multiples of the interval, so that a window is cut on borders of
//! recorded intervals, and a trial has at most 600 of them, so that memory does not grow with the length of a run.
//!
//! What it does not do: it measures no time.

use crate::keys::phases::{DRAIN, INTERVAL, MEASURE as WINDOW, ROUND, WARM_UP};
use crate::point::{DEFAULTS, Point};
use crate::{Phases, SteadyRule};
use reading::Problems;
use units::Nanos;

/// A trial is recorded in at most so many intervals. More would show no more on a chart, and would grow the run file.
pub(crate) const INTERVALS_MAX: u64 = 600;
/// Window of a trial that nobody set.
const MEASURE: Nanos = Nanos::from_secs(60);
/// Longest time of fixed work that nobody bounded.
const FIXED_WORK_MAX: Nanos = Nanos::from_secs(600);
/// Lengths of intervals that people can read off a chart.
const LADDER_MS: [u64; 18] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 300_000, 600_000];

/// The phases of a point.
pub(crate) fn phases(point: &Point, fixed_work: bool, rule: &SteadyRule, problems: &mut Problems) -> Phases {
    let measure = point.given(&WINDOW, 0).unwrap_or(if fixed_work { FIXED_WORK_MAX } else { MEASURE });
    let given = point.given(&INTERVAL, 0);
    let interval = given.unwrap_or_else(|| if fixed_work { finest(measure) } else { interval_for(measure) });
    let warm_up = match point.given(&WARM_UP, 0) {
        // A warm-up would use up some of the work.
        _ if fixed_work => no_warm_up(point, problems),
        Some(warm_up) => warm_up,
        None => up_to(Nanos((measure.0 / 5).clamp(200_000_000, 10_000_000_000)), interval),
    };
    let phases = Phases {
        warm_up: up_to(warm_up, interval),
        measure: up_to(measure, interval),
        interval,
        round: round(point, measure, interval, rule),
        fixed_work,
        drain: point.get(&DRAIN, 0),
    };
    if given.is_some() {
        check(point, &phases, measure, warm_up, problems);
    } else if !fixed_work && phases.measure != measure && !problems.has_run {
        let message = "a window of whole microseconds, which can be cut into at most 600 equal intervals";
        point.refuse(&WINDOW, 0, format!("{message}, got {} ns", measure.0), problems);
    }
    phases
}

/// Fixed work has no warm-up; one that was asked for by name is refused, one among the defaults is meant for others.
fn no_warm_up(point: &Point, problems: &mut Problems) -> Nanos {
    let asked = point.setting(&WARM_UP, 0).filter(|(rank, _)| *rank < DEFAULTS);
    if asked.is_some() && point.given(&WARM_UP, 0) != Some(Nanos::ZERO) {
        point.refuse(&WARM_UP, 0, "no warm-up before a fixed amount of work", problems);
    }
    Nanos::ZERO
}

fn check(point: &Point, phases: &Phases, measure: Nanos, warm_up: Nanos, problems: &mut Problems) {
    let step = units::duration(phases.interval);
    for (key, time) in [(&WINDOW, measure), (&WARM_UP, warm_up)] {
        if !time.0.is_multiple_of(phases.interval.0) {
            let message = format!("a whole multiple of the interval, {step}, got {}", units::duration(time));
            point.refuse(key, 0, message, problems);
        }
    }
    let count = (phases.warm_up.0 + phases.measure.0) / phases.interval.0;
    if count > INTERVALS_MAX {
        let message = format!("at most {INTERVALS_MAX} intervals in a trial, got {count} of {step}");
        point.refuse(&INTERVAL, 0, message, problems);
    }
}

/// 50 ms up to 1 s of window, 100 ms up to 10 s, then longer. A window that is no multiple of that takes the longest shorter
/// interval of the ladder that divides it, if one does within the cap, else the longest of any length.
fn interval_for(measure: Nanos) -> Nanos {
    let wanted = match measure.0 {
        0..=1_000_000_000 => 50,
        1_000_000_001..=10_000_000_000 => 100,
        10_000_000_001..=30_000_000_000 => 200,
        30_000_000_001..=60_000_000_000 => 500,
        _ => 1_000,
    };
    // A warm-up of up to 10 s stands before the window.
    let fits = |ms: &u64| (measure.0 + measure.0.min(10_000_000_000)).div_ceil(ms * 1_000_000) <= INTERVALS_MAX;
    let longest =
        LADDER_MS.iter().rev().find(|ms| **ms <= wanted && fits(ms) && measure.0.is_multiple_of(**ms * 1_000_000));
    let any = LADDER_MS.iter().find(|ms| **ms >= wanted && fits(ms));
    let exact = LADDER_MS.iter().find(|ms| **ms >= wanted && fits(ms) && measure.0.is_multiple_of(**ms * 1_000_000));
    let ms = longest.or(exact).copied();
    let of_ladder = ms.map(Nanos::from_millis).or_else(|| divided(measure, Nanos::from_millis(wanted)));
    // Beyond the ladder (70 days) the cap alone decides.
    let rounded = || any.map_or(Nanos(measure.0 * 2 / INTERVALS_MAX), |ms| Nanos::from_millis(*ms));
    of_ladder.unwrap_or_else(rounded)
}

/// The longest interval up to the one that is wanted, else the shortest beyond it, that divides a window. With a fifth of the
/// window before it as warm-up, 500 intervals stay within the cap, and 500 divide every window of whole microseconds.
fn divided(measure: Nanos, wanted: Nanos) -> Option<Nanos> {
    let most = INTERVALS_MAX / 6 * 5;
    let divides = |parts: &u64| measure.0.is_multiple_of(*parts);
    let least = measure.0.div_ceil(wanted.0).max(1);
    let parts = (least..=most).find(divides).or_else(|| (1..=most).rev().find(divides));
    parts.filter(|parts| *parts > 1).map(|parts| Nanos(measure.0 / parts))
}

/// Fixed work may end long before its longest time, so its intervals are as short as the cap allows.
fn finest(longest: Nanos) -> Nanos {
    let fits = |ms: &&u64| longest.0.div_ceil(**ms * 1_000_000) <= INTERVALS_MAX;
    let ms = LADDER_MS.iter().filter(|ms| **ms >= 10).find(fits);
    ms.map_or(Nanos(longest.0 / INTERVALS_MAX + 1), |ms| Nanos::from_millis(*ms))
}

/// The same phases with a window of at least `measure`, for a quantile that needs more samples.
pub(crate) fn stretched(phases: &Phases, measure: Nanos) -> Phases {
    if measure <= phases.measure {
        return *phases;
    }
    let fits = (phases.warm_up.0 + measure.0).div_ceil(phases.interval.0) <= INTERVALS_MAX;
    let interval = if fits { phases.interval } else { interval_for(measure).max(phases.interval) };
    Phases {
        warm_up: up_to(phases.warm_up, interval),
        measure: up_to(measure, interval),
        interval,
        round: up_to(Nanos(measure.0 / 5).max(phases.round), interval),
        ..*phases
    }
}

fn round(point: &Point, measure: Nanos, interval: Nanos, rule: &SteadyRule) -> Nanos {
    let round = point.given(&ROUND, 0).unwrap_or(Nanos((measure.0 / 5).max(rule.round_min.0)));
    up_to(round.min(measure), interval)
}

/// The next multiple of a step.
fn up_to(time: Nanos, step: Nanos) -> Nanos {
    Nanos(time.0.div_ceil(step.0.max(1)) * step.0.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fixed_work_is_recorded_finely_however_long_it_may_take() {
        assert_eq!(finest(Nanos::from_secs(10)), Nanos::from_millis(20));
        assert_eq!(finest(Nanos::from_secs(600)), Nanos::from_secs(1));
    }

    #[test]
    fn short_windows_have_short_intervals_and_an_hour_stays_under_the_cap() {
        let of = |seconds| interval_for(Nanos::from_secs(seconds));
        assert_eq!(of(2), Nanos::from_millis(100));
        assert_eq!(of(10), Nanos::from_millis(100));
        assert_eq!(of(60), Nanos::from_millis(500));
        assert_eq!(of(600), Nanos::from_secs(2));
        assert_eq!(of(3600), Nanos::from_secs(10));
    }

    #[test]
    fn a_window_off_the_ladder_is_cut_into_equal_intervals_and_never_made_longer() {
        let of = |ns| interval_for(Nanos(ns));
        assert_eq!(of(350_000_000), Nanos::from_millis(50));
        assert_eq!(of(333_000_000), Nanos(41_625_000));
        assert_eq!(of(100_001_000), Nanos(25_000_250));
        assert_eq!(of(1_000_000_010), Nanos(58_823_530));
        // A prime number of seconds.
        assert_eq!(of(3_607_000_000_000), Nanos(7_214_000_000));
    }

    proptest! {
        #[test]
        fn no_window_has_more_intervals_than_the_cap(ms in 100u64..400_000_000) {
            let measure = Nanos::from_millis(ms);
            let interval = interval_for(measure);
            prop_assert!(interval.0 > 0);
            let warm_up = up_to(Nanos((measure.0 / 5).clamp(200_000_000, 10_000_000_000)), interval);
            let count = (up_to(measure, interval).0 + warm_up.0) / interval.0;
            prop_assert!(count <= INTERVALS_MAX + 1, "{count} intervals of {interval:?} for {measure:?}");
            prop_assert_eq!(up_to(measure, interval), measure);
        }
    }
}
