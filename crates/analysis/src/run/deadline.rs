//! Whether a job is over in time: what was measured on a part of the data, held against the whole job and its deadline.
//!
//! The one idea: the time of a job grows with its work, so a pilot tells when the whole one ends. How sure that is follows from its
//! replicates; one pilot gives no interval, and decides nothing.
//!
//! What it does not do: it does not scale a pilot; the finding says from how much it was told.

use super::answer::primary_points;
use super::pilot::{doubts, whole_job};
use crate::point::Group;
use crate::{DeadlineFinding, Estimate, InTime, PointSummary};
use study::{Deadline, Judgement, Metric, Yield};
use units::{Nanos, duration};

/// One finding for each point whose work ends.
pub fn deadlines(groups: &[Group], points: &[PointSummary], judgement: &Judgement) -> Vec<DeadlineFinding> {
    let Some(deadline) = judgement.deadline else { return Vec::new() };
    let primary = primary_points(points, judgement);
    let all = groups.iter().filter_map(|group| finding(group, &deadline, judgement.confidence));
    all.map(|found| DeadlineFinding { decides: primary.iter().any(|point| point.at == found.point), ..found }).collect()
}

fn finding(group: &Group, deadline: &Deadline, confidence: f64) -> Option<DeadlineFinding> {
    let elapsed_s = group.estimate(Metric::Elapsed, confidence)?;
    let what = Yield::of_word(&group.members.first()?.1.yields.first()?.what)?;
    let measured = group.estimate(Metric::Yield(what), confidence)?.value * elapsed_s.value;
    // Things are whole; what a rate over a time gives back is nearly so.
    let measured = measured.round();
    if measured <= 0.0 {
        return None;
    }
    let work = deadline.work.map_or(measured, |work| work as f64);
    let takes_s = whole_job(group, work / measured, confidence)?;
    Some(DeadlineFinding {
        point: group.point.clone(),
        what: what.word().to_owned(),
        measured,
        work,
        takes_s,
        within_s: deadline.within.seconds(),
        begins_s: deadline.begins.map(|begins| begins.seconds()),
        in_time: in_time(&takes_s, deadline.within.seconds()),
        decides: false,
        doubts: doubts(group, work / measured),
    })
}

impl DeadlineFinding {
    /// `ends at 05:12 (05:02 to 05:21), 48 min before 06:00`, or `ends after 5.2 h (5 h to 5.4 h), 48 min before its deadline of 6 h`.
    pub fn ends(&self) -> String {
        let span = span_text;
        let takes = &self.takes_s;
        // What is told to the minute says nothing of a span of a few.
        let seconds = takes.value.min((self.within_s - takes.value).abs()) < TO_THE_MINUTE_S;
        let moments = [takes.value, takes.low, takes.high, self.within_s];
        let days =
            moments.iter().any(|after_s| self.begins_s.is_some_and(|begins_s| begins_s + after_s >= 2.0 * DAY_S));
        let at = |after_s: f64| match self.begins_s {
            Some(begins_s) => time_of_day(begins_s + after_s, seconds, days),
            None => span(after_s),
        };
        let between = match takes.has_interval() {
            true => format!(" ({} to {})", at(takes.low), at(takes.high)),
            false => String::new(),
        };
        let (how, by) = match self.begins_s {
            Some(_) => ("at", at(self.within_s)),
            None => ("after", format!("its deadline of {}", span(self.within_s))),
        };
        let spare_s = self.within_s - takes.value;
        let side = if spare_s >= 0.0 { "before" } else { "after" };
        format!("ends {how} {}{between}, {} {side} {by}", at(takes.value), span(spare_s.abs()))
    }

    /// What the work is of: accounts, which are balanced when it ends.
    pub fn things(&self) -> &str {
        self.what.trim_end_matches(" balanced")
    }

    /// Why it cannot be told whether it is in time, and what would tell it; nothing where it can.
    pub fn open(&self) -> Option<String> {
        if self.in_time != InTime::CannotTell {
            return None;
        }
        Some(match self.takes_s.n {
            _ if !self.takes_s.has_interval() => "one trial gives no interval: `--set replicates=3`".to_owned(),
            n @ 2..=4 => {
                format!("the deadline lies in the interval, which few trials make wide: `--set replicates={}`", 2 * n)
            }
            _ => "the deadline lies in the interval".to_owned(),
        })
    }
}

/// Spans below this are told with seconds.
const TO_THE_MINUTE_S: f64 = 600.0;

/// `48 min`, `5 h 14 min`: hours with minutes, as clocks have them.
fn span_text(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match (minutes / 60, minutes % 60) {
        (0, _) => duration(Nanos::from_seconds(seconds)),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

const DAY_S: f64 = 86_400.0;

/// Seconds after the midnight before a job begins as a time of the day. Without its day it is of the night that follows.
fn time_of_day(after_midnight_s: f64, with_seconds: bool, with_day: bool) -> String {
    let unit = if with_seconds { 1.0 } else { 60.0 };
    let rounded = ((after_midnight_s / unit).round() * unit) as u64;
    let (minutes, seconds) = (rounded / 60, rounded % 60);
    let day = match (with_day, minutes / (24 * 60)) {
        (false, _) => String::new(),
        (true, 0) => " the same day".to_owned(),
        (true, 1) => " the next day".to_owned(),
        (true, days) => format!(" {days} days later"),
    };
    let seconds = if with_seconds { format!(":{seconds:02}") } else { String::new() };
    format!("{:02}:{:02}{seconds}{day}", minutes / 60 % 24, minutes % 60)
}

fn in_time(takes_s: &Estimate, within_s: f64) -> InTime {
    match takes_s.has_interval() {
        true if takes_s.high <= within_s => InTime::Yes,
        true if takes_s.low > within_s => InTime::No,
        _ => InTime::CannotTell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_in_time_only_where_its_whole_interval_is() {
        let takes = |low: f64, high: f64| Estimate { value: 100.0, low, high, n: 3, confidence: 0.95 };
        assert_eq!(in_time(&takes(90.0, 110.0), 110.0), InTime::Yes);
        assert_eq!(in_time(&takes(90.0, 110.0), 89.0), InTime::No);
        assert_eq!(in_time(&takes(90.0, 110.0), 100.0), InTime::CannotTell);
        // One pilot says nothing of how long the next one takes.
        assert_eq!(in_time(&Estimate::single(100.0), 1_000.0), InTime::CannotTell);
    }

    #[test]
    fn a_night_ends_at_a_time_of_the_day_and_a_short_one_to_the_second() {
        let night = |takes: (f64, f64, f64), within_s: f64, begins_s: Option<f64>| DeadlineFinding {
            point: observation::Point::default(),
            what: String::new(),
            measured: 1.0,
            work: 1.0,
            takes_s: Estimate { value: takes.0, low: takes.1, high: takes.2, n: 3, confidence: 0.95 },
            within_s,
            begins_s,
            in_time: InTime::Yes,
            decides: true,
            doubts: Vec::new(),
        };
        let hour = 3_600.0;
        let long = night((6.2 * hour, 6.0 * hour, 6.4 * hour), 7.0 * hour, Some(23.0 * hour));
        assert_eq!(long.ends(), "ends at 05:12 (05:00 to 05:24), 48 min before 06:00");
        let longer = night((20.0 * hour, 4.0 * hour, 30.0 * hour), 50.0 * hour, Some(19.0 * hour));
        assert_eq!(
            longer.ends(),
            "ends at 15:00 the next day (23:00 the same day to 01:00 2 days later), 30 h before 21:00 2 days later"
        );
        let short = night((75.0, 70.0, 80.0), 60.0, Some(23.0 * hour));
        assert_eq!(short.ends(), "ends at 23:01:15 (23:01:10 to 23:01:20), 15 s after 23:01:00");
        let anytime = night((75.0, 70.0, 80.0), 100.0, None);
        assert_eq!(anytime.ends(), "ends after 75 s (70 s to 80 s), 25 s before its deadline of 100 s");
        let wide = DeadlineFinding { in_time: InTime::CannotTell, ..anytime };
        assert!(wide.open().is_some_and(|next| next.ends_with("`--set replicates=6`")));
    }

    #[test]
    fn the_work_of_a_pilot_is_what_was_done_however_its_times_scatter() {
        let night = |index: u32, elapsed_s: f64| {
            let mut trial = crate::run::tests::trial(index, "a", index, 100.0);
            (trial.fixed_work, trial.elapsed_s) = (true, elapsed_s);
            let per_s = Estimate::single(2_000.0 / elapsed_s);
            trial.streams[0].yields =
                vec![crate::YieldSummary { what: Yield::Accounts.word().into(), per_s, most: 100.0 }];
            trial
        };
        let trials = [night(0, 1.0), night(1, 2.0), night(2, 6.0)];
        let judgement = Judgement {
            deadline: Some(Deadline { within: Nanos::from_secs(3_600), begins: None, work: Some(4_000) }),
            ..crate::run::tests::judgement()
        };
        let findings = crate::judge(observation::RunFacts::default(), trials.into(), &judgement);
        let told = findings.findings.iter().find_map(|finding| match finding {
            crate::Finding::Deadline(told) => Some(told),
            _ => None,
        });
        let told = told.expect("a deadline");
        assert_eq!((told.measured, told.takes_s.value, told.decides), (2_000.0, 6.0, true));
        let answer = findings.answer.join(" ");
        assert!(
            answer.contains("The random-read of 4\u{202f}000 accounts ends") && answer.contains("its deadline of 1 h"),
            "{answer}"
        );
    }
}
