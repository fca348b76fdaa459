//! At most against sustained over the trials of a run, and what may be said of a rate that fell.
//!
//! The one idea: a fall that one trial shows may be anything. It is called burst credit where the same fall comes again in
//! another trial after a pause in which credit returns, when among all series of the run hardly any would show it by
//! chance, and in windows of at least a minute. Everything less is told as what it is.

use crate::point::Group;
use crate::trial::STEP_ALPHA;
use crate::{Burst, FallClaim, Finding, StreamSummary, SustainedFinding, TrialSummary};

/// A window shorter than this shows at most what happened in it.
const SUSTAINED_WINDOW_S: f64 = 60.0;

/// A window shorter than this shows hiccups.
const FALL_WINDOW_S: f64 = 2.0;

/// Levels and length of two falls that are the same agree within this share.
const ALIKE: f64 = 0.25;

/// At most against sustained, one a point: the replicate with the longest window tells most, and of several as long one
/// that fell.
pub fn sustained(groups: &[Group]) -> Vec<Finding> {
    let all = groups.iter().flat_map(|group| &group.members);
    let series = all.filter(|(_, stream)| stream.sustained.is_some()).count() as f64;
    groups.iter().filter_map(|group| of_group(group, series)).map(Finding::Sustained).collect()
}

fn of_group(group: &Group, series: f64) -> Option<SustainedFinding> {
    // The course of an open load is that of its arrivals, as long as it is sustained.
    let members = || {
        group.members.iter().filter(|(trial, stream)| {
            stream.sustained.is_some() && stream.offered_per_s.is_none() && seconds(trial) >= FALL_WINDOW_S
        })
    };
    let told = |stream: &StreamSummary| fall(stream, series);
    let rank = |(trial, stream): &(&TrialSummary, &StreamSummary)| (seconds(trial), told(stream).is_some());
    let (trial, stream) = members().max_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    })?;
    let burst = told(stream);
    let again = burst.is_some_and(|burst| {
        let others =
            members().filter(|(other, _)| other.label.index != trial.label.index && other.label.state.settled());
        burst.apart && others.filter_map(|(_, stream)| told(stream)).any(|other| other.apart && alike(&burst, &other))
    });
    let claim = burst.map(|_| match (seconds(trial) >= SUSTAINED_WINDOW_S, again) {
        (false, _) => FallClaim::Fell,
        (true, false) => FallClaim::MayBe,
        (true, true) => FallClaim::Credit,
    });
    let mut sustained = stream.sustained.clone()?;
    sustained.burst = burst;
    claim.is_some().then(|| SustainedFinding { point: group.point.clone(), claim, sustained })
}

fn seconds(trial: &TrialSummary) -> f64 {
    trial.window.length().seconds()
}

/// The fall of a stream when it stands beside all series of the run (Bonferroni).
fn fall(stream: &StreamSummary, series: f64) -> Option<Burst> {
    stream.sustained.as_ref()?.burst.filter(|burst| burst.p_value * series < STEP_ALPHA)
}

fn alike(a: &Burst, b: &Burst) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= ALIKE * a.max(b);
    near(a.before_per_s, b.before_per_s) && near(a.sustained_per_s, b.sustained_per_s) && near(a.lasted_s, b.lasted_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sustained;
    use crate::point::groups;
    use crate::run::tests::trial;
    use observation::{StatePolicy, Window};
    use units::Nanos;

    /// Trials of so many seconds that fell after these.
    fn claim(window_s: u64, falls_s: &[f64], settled: bool, p_value: f64) -> Option<FallClaim> {
        let of = |(index, lasted_s): (usize, &f64)| {
            let mut one = trial(index as u32, "a", index as u32, 1000.0);
            one.window = Window { start: Nanos::ZERO, end: Nanos::from_secs(window_s) };
            one.label.state =
                StatePolicy::read(if settled { "caches as left, 2 min to settle" } else { "caches as left" });
            let burst = Burst {
                before_per_s: 3000.0,
                sustained_per_s: 1000.0,
                credit_operations: 2000.0 * lasted_s,
                lasted_s: *lasted_s,
                p_value,
                apart: true,
            };
            one.streams[0].sustained = Some(Sustained {
                peak_per_s: 3000.0,
                peak_window_s: 60.0,
                late_per_s: 1000.0,
                burst: Some(burst),
                averages: Vec::new(),
            });
            one
        };
        let trials: Vec<TrialSummary> = falls_s.iter().enumerate().map(of).collect();
        let found = sustained(&groups(&trials));
        found.iter().find_map(SustainedFinding::of).and_then(|found| found.claim)
    }

    #[test]
    fn credit_is_what_falls_alike_in_two_settled_trials_of_a_minute() {
        assert_eq!(claim(600, &[150.0, 160.0], true, 1e-6), Some(FallClaim::Credit));
        assert_eq!(claim(600, &[150.0, 160.0], false, 1e-6), Some(FallClaim::MayBe));
        assert_eq!(claim(600, &[150.0, 300.0], true, 1e-6), Some(FallClaim::MayBe));
        assert_eq!(claim(600, &[150.0], true, 1e-6), Some(FallClaim::MayBe));
        assert_eq!(claim(5, &[3.0, 3.0], true, 1e-6), Some(FallClaim::Fell));
    }

    #[test]
    fn among_many_series_a_fall_has_to_be_clearer() {
        assert_eq!(claim(600, &[150.0, 160.0], true, 6e-3), None);
    }
}
