//! What happened in the middle of a trial, and how long a stream felt it.
//!
//! The one idea: what is usual is the range of the intervals of the window before anything happened. An event is felt from when so many
//! intervals one behind the other are worse than all of these that chance alone does it in one trial of twenty, or two are worse by the
//! width of that range once more (by more of it where few intervals know it), and until three are not. Of n intervals before and k behind, alike, the k are the worst with a chance
//! of one in n + k over k; such a run may begin at each interval that is looked at, in the rate, in p99 or in the share that fails. What is left of an event by then may be a tenth of
//! what it did at its worst: behind something that took 98 percent of a rate away, an interval that is 6 percent below is its usual self
//! on a busy machine.
//!
//! What it does not do: an event that comes while another is felt is not told apart from that one. What happens to a pair is told by its
//! phases, with other baselines, and not a second time here.

use super::outages::failed;
use crate::point::Group;
use crate::{Felt, FeltUntil, TimePoint, TrialSummary};
use observation::{Event, EventKind};
use units::Nanos;

/// Fewer intervals before an event say nothing of what is usual.
const BEFORE_MIN: usize = 5;

/// What differs from the range by less than this share of its middle is usual, too: another five intervals would be outside by chance. Of
/// failures it is a share of all that ends.
const SLACK: f64 = 0.05;

/// How often nothing at all may be felt.
const FALSE_ALARM: f64 = 0.05;

/// So many intervals know a range so well that two that are beyond it by its width are no chance.
const WELL_KNOWN: f64 = 30.0;

/// So many intervals one behind the other are felt if they are far worse, and so many are the end of it.
const WORSE: usize = 2;
const USUAL: usize = 3;

/// The share of what an event did at its worst that may be left of it when it is over.
const LEFT: f64 = 0.1;

/// One for each stream and event of every trial that went to its end and had no pair that was looked after.
pub fn felt(groups: &[Group]) -> Vec<Felt> {
    let mut all = Vec::new();
    for group in groups {
        for (trial, stream) in group.members.iter().filter(|(trial, _)| !trial.interrupted && trial.pair.is_none()) {
            let events: Vec<&Event> = trial.events.iter().filter(|event| event.kind == EventKind::Change).collect();
            let Some(first) = events.first() else { continue };
            let course = Course::of(trial, usize::from(stream.stream), first.at);
            for (i, event) in events.iter().enumerate() {
                let next = events.get(i + 1).map_or(trial.window.end, |next| next.at);
                let found = course.felt(trial, event.at, next);
                all.push(Felt {
                    failed: failed(trial, usize::from(stream.stream), (event.at.seconds(), next.seconds())),
                    point: group.point.clone(),
                    trial: trial.label.index,
                    event: event.text.clone(),
                    ..found
                });
            }
        }
    }
    all
}

/// Rate, p99 and failures of each interval of the window, and what was usual of them.
struct Course {
    points: Vec<Interval>,
    interval_s: f64,
    usual: Option<Usual>,
}

/// When an interval begins in the window, its rate, its p99 if anything was done in it, and the share of what ended in it that failed.
type Interval = (f64, f64, Option<f64>, f64);

#[derive(Clone)]
struct Usual {
    /// Intervals that it is known from.
    before: usize,
    rate: f64,
    least_rate: f64,
    p99_ms: Option<f64>,
    most_p99_ms: f64,
    most_failed: f64,
}

impl Usual {
    fn is_worse(&self, &(_, rate, p99, failed): &Interval) -> bool {
        rate < self.least_rate || p99.is_none_or(|p99| p99 > self.most_p99_ms) || failed > self.most_failed
    }

    /// So many intervals one behind the other that chance makes worse somewhere among so many seldom enough.
    fn run_of(&self, among: usize) -> usize {
        let mut chance = 3.0 * among as f64;
        let worse = |k: &usize| {
            chance *= *k as f64 / (self.before + k) as f64;
            chance <= FALSE_ALARM
        };
        (1..=among).find(worse).unwrap_or(among + 1).max(WORSE)
    }

    /// The range, wider by its own width, and by more of it where few intervals know it.
    fn far(&self) -> Usual {
        let times = (WELL_KNOWN / self.before as f64).max(1.0);
        let most_p99_ms = self.most_p99_ms + times * (self.most_p99_ms - self.p99_ms.unwrap_or(0.0));
        // Nothing at all is far from any rate.
        let least_rate = (self.least_rate - times * (self.rate - self.least_rate)).max(f64::MIN_POSITIVE);
        let most_failed = self.most_failed + times * (self.most_failed - SLACK);
        Usual { least_rate: least_rate.min(self.least_rate), most_p99_ms, most_failed, ..self.clone() }
    }

    /// The range that counts as usual again behind these intervals.
    fn but_for_a_tenth(&self, felt: &[Interval]) -> Usual {
        let before = self.p99_ms.unwrap_or(0.0);
        let p99_ms = most_p99(felt).map_or(before, |most| before + LEFT * (most - before));
        Usual {
            least_rate: self.least_rate.min(self.rate - LEFT * (self.rate - least_rate(felt))),
            most_p99_ms: self.most_p99_ms.max(p99_ms),
            most_failed: felt.iter().map(|(.., failed)| LEFT * failed).fold(self.most_failed, f64::max),
            ..self.clone()
        }
    }
}

fn least_rate(points: &[Interval]) -> f64 {
    points.iter().map(|(_, rate, ..)| *rate).fold(f64::INFINITY, f64::min)
}

fn most_p99(points: &[Interval]) -> Option<f64> {
    points.iter().filter_map(|(_, _, p99, _)| *p99).reduce(f64::max)
}

impl Course {
    fn of(trial: &TrialSummary, stream: usize, first: Nanos) -> Course {
        let start = trial.window.start.seconds();
        let interval_s = trial.timeline.windows(2).next().map_or(0.0, |two| two[1].at_s - two[0].at_s);
        let at = |point: &TimePoint| {
            let p99 = point.p99_ms.get(stream).copied().flatten();
            let rate = point.throughput_per_s.get(stream).copied().unwrap_or(0.0);
            let failed = point.failed.get(stream).map_or(0.0, |failed| *failed as f64);
            (point.at_s - start, rate, p99, failed / (failed + rate * interval_s).max(1.0))
        };
        let inside = trial.timeline.iter().filter(|point| point.at_s >= start - 1e-9);
        let points: Vec<Interval> = inside.map(at).collect();
        let ends = (first - trial.window.start).seconds() - interval_s + 1e-9;
        let before: Vec<_> = points.iter().filter(|(at, ..)| *at <= ends).collect();
        let usual = (before.len() >= BEFORE_MIN).then(|| {
            let rates = before.iter().map(|(_, rate, ..)| *rate);
            let times: Vec<f64> = before.iter().filter_map(|(_, _, p99, _)| *p99).collect();
            let (rate, p99_ms) =
                (middle(rates.clone().collect()), Some(times.clone()).filter(|all| !all.is_empty()).map(middle));
            Usual {
                before: before.len(),
                rate,
                least_rate: rates.fold(f64::INFINITY, f64::min) - SLACK * rate,
                p99_ms,
                most_p99_ms: times.into_iter().fold(0.0, f64::max) + SLACK * p99_ms.unwrap_or(0.0),
                most_failed: before.iter().map(|(.., failed)| *failed).fold(0.0, f64::max) + SLACK,
            }
        });
        Course { points, interval_s, usual }
    }

    /// How an event was felt until the next one and beyond.
    fn felt(&self, trial: &TrialSummary, at: Nanos, next: Nanos) -> Felt {
        let seconds = |at: Nanos| at.saturating_sub(trial.window.start).seconds();
        let mut felt = Felt { at_s: seconds(at), ..Felt::default() };
        let Some(usual) = &self.usual else { return felt };
        let from = (felt.at_s / self.interval_s + 1e-9) as usize;
        (felt.rate_before_per_s, felt.p99_before_ms) = (usual.rate, usual.p99_ms);
        let after = self.points.get(from..).unwrap_or_default();
        let run_of =
            |range: &Usual, run| after.windows(run).position(|some| some.iter().all(|one| range.is_worse(one)));
        let begins = [run_of(usual, usual.run_of(after.len())), run_of(&usual.far(), WORSE)];
        let begins = begins.into_iter().flatten().min();
        let Some(begins) = begins.filter(|begins| (from + begins) as f64 * self.interval_s < seconds(next)) else {
            felt.until = FeltUntil::Never;
            return felt;
        };
        let lasts = ((seconds(next) / self.interval_s + 1e-9) as usize).saturating_sub(from).max(begins + 1);
        let over = usual.but_for_a_tenth(&after[begins..lasts.min(after.len())]);
        let back = after[begins..].windows(USUAL).position(|some| !some.iter().any(|one| over.is_worse(one)));
        let back = back.map(|back| begins + back);
        let during = &after[begins..back.unwrap_or(after.len())];
        (felt.rate_least_per_s, felt.p99_most_ms) = (Some(least_rate(during)), most_p99(during));
        felt.until = match back {
            Some(back) => FeltUntil::After(((from + back) as f64 * self.interval_s - felt.at_s).max(0.0)),
            None => FeltUntil::NotInTheWindow,
        };
        felt
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::trial;
    use observation::Window;

    /// A trial whose window of 10 s, behind 1 s of warm-up, has such rates in its intervals of 100 ms; p99 is 1,000 over the rate.
    fn course(rates: impl Fn(f64) -> f64, events: &[f64]) -> Vec<Felt> {
        failing(rates, |_| 0, events)
    }

    /// The same with so many failures in its intervals.
    fn failing(rates: impl Fn(f64) -> f64, fails: impl Fn(f64) -> u64, events: &[f64]) -> Vec<Felt> {
        felt(&crate::point::groups(&[disturbed(rates, fails, events)]))
    }

    fn disturbed(rates: impl Fn(f64) -> f64, fails: impl Fn(f64) -> u64, events: &[f64]) -> TrialSummary {
        let mut one = trial(0, "a", 0, 1000.0);
        one.window = Window { start: Nanos::from_secs(1), end: Nanos::from_secs(11) };
        one.timeline = (0..110u32)
            .map(|at| {
                let at_s = f64::from(at) / 10.0;
                let rate = rates(at_s - 1.0) + f64::from(at % 3);
                TimePoint {
                    at_s,
                    throughput_per_s: vec![rate],
                    failed: vec![fails(at_s - 1.0)],
                    p99_ms: vec![(rate > 10.0).then(|| 1000.0 / rate)],
                }
            })
            .collect();
        one.events = events
            .iter()
            .map(|at| Event { at: Nanos::from_seconds(at + 1.0), kind: EventKind::Change, text: "fail path 0".into() })
            .collect();
        one
    }

    #[test]
    fn what_happened_to_a_pair_is_told_once_by_its_phases() {
        let mut one = disturbed(|at| if (3.0..6.0).contains(&at) { 400.0 } else { 1000.0 }, |_| 0, &[3.0]);
        let told = |one: &TrialSummary| {
            let groups = crate::point::groups(std::slice::from_ref(one));
            (felt(&groups).len(), super::super::outages::outages(&groups).len())
        };
        assert_eq!(told(&one), (1, 0));
        one.pair = Some(crate::PairCourse { phases: Vec::new(), kept: None, equal: None });
        assert_eq!(told(&one), (0, 1));
    }

    #[test]
    fn an_event_is_felt_until_the_rate_is_back_where_it_was() {
        let found = course(|at| if (3.0..6.45).contains(&at) { 400.0 } else { 1000.0 }, &[3.0]);
        let [one] = &found[..] else { panic!("{found:?}") };
        let FeltUntil::After(lasted) = one.until else { panic!("{one:?}") };
        assert!((lasted - 3.5).abs() < 1e-6, "{lasted}");
        assert!(one.rate_least_per_s == Some(400.0) && (999.0..1003.0).contains(&one.rate_before_per_s), "{one:?}");
        assert!(one.p99_most_ms > Some(2.4) && one.p99_before_ms < Some(1.1), "{one:?}");
    }

    #[test]
    fn what_a_busy_machine_does_to_a_rate_that_is_back_is_not_the_event() {
        let noisy = |at: f64| 930.0 + f64::from((at * 10.0) as u32 % 7) * 10.0;
        let rates = |at: f64| if at < 3.0 { 1000.0 } else { noisy(at) };
        let found = course(|at| if (3.0..6.0).contains(&at) { 20.0 } else { rates(at) }, &[3.0]);
        let FeltUntil::After(lasted) = found[0].until else { panic!("{found:?}") };
        assert!((lasted - 3.0).abs() < 1e-6 && found[0].rate_least_per_s == Some(20.0), "{found:?}");
        // The same intervals behind a small event are still that event.
        let small =
            course(|at| if at < 6.0 { rates(at).min(if at < 3.0 { 1000.0 } else { 850.0 }) } else { 930.0 }, &[3.0]);
        assert_eq!(small[0].until, FeltUntil::NotInTheWindow, "{small:?}");
    }

    #[test]
    fn noise_is_felt_in_one_trial_of_twenty_and_what_takes_most_of_a_rate_for_a_third_of_a_second_always() {
        let mut draws = crate::statistics::bootstrap::Draws::new(7);
        let mut share = |worst: f64, at: f64| {
            let runs = 400;
            let felt = (0..runs).filter(|_| {
                let noise: Vec<f64> = (0..110).map(|_| (0.2 * draws.normal()).exp()).collect();
                let rates = |at: f64| {
                    1000.0 * noise[((at + 1.05) * 10.0) as usize] * if (5.0..5.35).contains(&at) { worst } else { 1.0 }
                };
                course(rates, &[at])[0].until != FeltUntil::Never
            });
            felt.count() as f64 / f64::from(runs)
        };
        let (nothing, half, soon) = (share(1.0, 5.0), share(0.3, 5.0), share(1.0, 0.5));
        assert!(nothing < 0.07 && soon < 0.07 && half > 0.95, "{nothing} {soon} {half}");
    }

    #[test]
    fn what_fails_is_felt_where_rate_and_p99_are_as_before() {
        // Three of four fail, and those that end well come as fast as ever.
        let fails = |at: f64| if (3.0..4.95).contains(&at) { 300 } else { 0 };
        let found = failing(|_| 1000.0, fails, &[3.0]);
        let FeltUntil::After(lasted) = found[0].until else { panic!("{found:?}") };
        assert!((lasted - 2.0).abs() < 1e-6 && found[0].failed == 20 * 300, "{found:?}");
        // One that fails now and then is told as a number.
        let few = failing(|_| 1000.0, |at| u64::from(((at * 10.0).round() as u32).is_multiple_of(10)), &[3.0]);
        assert_eq!((few[0].until, few[0].failed), (FeltUntil::Never, 7), "{few:?}");
        // What failed as often before is usual.
        let usual = failing(|_| 1000.0, |_| 40, &[3.0]);
        assert_eq!(usual[0].until, FeltUntil::Never, "{usual:?}");
    }

    #[test]
    fn a_part_that_stays_away_is_felt_to_the_end_and_its_return_is_told_beside_it() {
        let stays = course(|at| if at >= 3.0 { 400.0 } else { 1000.0 }, &[3.0]);
        assert_eq!(stays[0].until, FeltUntil::NotInTheWindow);
        let returns = course(|at| if (3.0..7.0).contains(&at) { 0.0 } else { 1000.0 }, &[3.0, 6.0]);
        let after = |felt: &Felt| if let FeltUntil::After(lasted) = felt.until { lasted } else { f64::NAN };
        assert!((after(&returns[0]) - 4.0).abs() < 1e-6 && (after(&returns[1]) - 1.0).abs() < 1e-6, "{returns:?}");
    }

    #[test]
    fn what_is_within_the_range_of_before_is_not_felt_and_too_short_a_before_says_nothing() {
        assert_eq!(course(|_| 1000.0, &[3.0])[0].until, FeltUntil::Never);
        // One interval alone is a hiccup.
        assert_eq!(
            course(|at| if (3.0..3.05).contains(&at) { 100.0 } else { 1000.0 }, &[3.0])[0].until,
            FeltUntil::Never
        );
        assert_eq!(course(|_| 1000.0, &[0.4])[0].until, FeltUntil::CannotTell);
    }
}
