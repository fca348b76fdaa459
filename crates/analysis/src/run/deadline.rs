//! Whether a job is over in time: what was measured on a part of the data, held against the whole job and its deadline.
//!
//! The one idea: the time of a job grows with its work, so a pilot tells when the whole one ends. How sure that is follows from its
//! replicates alone; one pilot gives no interval, and decides nothing.
//!
//! What it does not do: it knows no law by which more data makes each piece of work slower; the finding says from how much it was
//! told.

use crate::point::Group;
use crate::{DeadlineFinding, Estimate, InTime};
use study::{Deadline, Judgement, Metric, Yield};

/// One finding for each point whose work ends.
pub fn deadlines(groups: &[Group], judgement: &Judgement) -> Vec<DeadlineFinding> {
    let Some(deadline) = judgement.deadline else { return Vec::new() };
    groups.iter().filter_map(|group| finding(group, &deadline, judgement.confidence)).collect()
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
    let takes_s = elapsed_s.scaled(work / measured);
    Some(DeadlineFinding {
        point: group.point.clone(),
        what: what.word().to_owned(),
        measured,
        work,
        takes_s,
        within_s: deadline.within.seconds(),
        begins_s: deadline.begins.map(|begins| begins.seconds()),
        in_time: in_time(&takes_s, deadline.within.seconds()),
    })
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
            deadline: Some(Deadline { within: units::Nanos::from_secs(3_600), begins: None, work: Some(4_000) }),
            ..crate::run::tests::judgement()
        };
        let findings = crate::judge(observation::RunFacts::default(), trials.into(), &judgement);
        let told = findings.findings.iter().find_map(|finding| match finding {
            crate::Finding::Deadline(told) => Some(told),
            _ => None,
        });
        let told = told.expect("a deadline");
        assert_eq!((told.measured, told.takes_s.value), (2_000.0, 6.0));
    }
}
