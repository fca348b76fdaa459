//! What the loss of a mirror came to: how long clients stood still, what one server did alone, and what it took to be two again.
//!
//! The one idea: the phases are known to whoever looked after the pair, and what clients had of them is read from the intervals that lie
//! wholly inside.
//!
//! What it does not do: it tells one event from the next no better than their phases do. What brings a mirror back belongs to what took
//! it away.

use crate::point::Group;
use crate::{PairCourse, PairFinding, PairPhase, TimePoint, TrialSummary};
use observation::{Event, EventKind, MirrorState};

/// What brings a mirror back.
const RESUME: &str = "resume";

/// What changes the roles of both, and what begins when a device only lies: neither takes anything away.
const HARMLESS: [&str; 3] = [SWAP, "lie-mirror", "lie-primary"];
const SWAP: &str = "swap";

/// One for each stream and each thing that happened to a pair.
pub fn outages(groups: &[Group]) -> Vec<PairFinding> {
    let mut all = Vec::new();
    for group in groups {
        for (trial, stream) in group.members.iter().filter(|(trial, _)| !trial.interrupted) {
            let stream = usize::from(stream.stream);
            let found = trial.pair.iter().flat_map(|pair| {
                steps(trial).into_iter().map(move |(event, until)| outage(trial, stream, pair, (event, until)))
            });
            all.extend(found.map(|found| PairFinding { point: group.point.clone(), ..found }));
        }
    }
    all
}

/// What happened, in the order of time, each with when the next thing did or the window ended.
fn steps(trial: &TrialSummary) -> Vec<(&Event, f64)> {
    let change = |event: &&Event| event.kind == EventKind::Change && event.text != RESUME;
    let mut all: Vec<&Event> = trial.events.iter().filter(change).collect();
    all.sort_by_key(|event| event.at);
    let ends = all.iter().skip(1).map(|event| event.at.seconds()).chain([trial.window.end.seconds()]);
    all.iter().copied().zip(ends.collect::<Vec<_>>()).collect()
}

impl TrialSummary {
    /// How long the server that an event took away was away before it was brought back, in seconds; none where it was not.
    pub fn away_s(&self, found: &PairFinding) -> Option<f64> {
        let at = self.window.start.seconds() + found.at_s;
        let back = self.events.iter().filter(|event| event.kind == EventKind::Change && event.text == RESUME);
        back.map(|event| event.at.seconds() - at).find(|s| *s > 0.0)
    }
}

fn outage(trial: &TrialSummary, stream: usize, pair: &PairCourse, (event, end): (&Event, f64)) -> PairFinding {
    let (start, at) = (trial.window.start.seconds(), event.at.seconds());
    let later = |is: &dyn Fn(MirrorState) -> bool| {
        pair.phases.iter().find(|phase| phase.to_s > at && phase.from_s < end && is(phase.state))
    };
    let alone = later(&|state| {
        use MirrorState::{Asked, Gone, Silent, TakenOver};
        matches!(state, Gone | Silent | Asked | TakenOver)
    });
    let tracked = alone.filter(|phase| phase.state != MirrorState::TakenOver);
    let resync = later(&|state| state == MirrorState::CatchesUp);
    let over = resync.filter(|phase| pair.phases.last().is_some_and(|last| last.from_s >= phase.to_s));
    let rate = |phase: &PairPhase| mean_rate(trial, stream, (phase.from_s, phase.to_s.min(end)));
    let interval_s = interval(trial);
    PairFinding {
        trial: trial.label.index,
        event: event.text.clone(),
        at_s: at - start,
        freeze_s: longest_still(trial, stream, (at, end)) as f64 * interval_s,
        interval_s,
        errors: failed(trial, stream, (at, end)),
        alone: alone.map(|phase| ((phase.from_s - at).max(0.0), phase.state)),
        released: tracked.filter(|phase| phase.from_s >= at).map_or(0.0, |phase| phase.waiting) as u64,
        rate_before_per_s: mean_rate(trial, stream, (begins_before(trial, pair, at), at)),
        rate_alone_per_s: alone.and_then(rate),
        kept_bytes: tracked.map(|phase| phase.kept.1),
        kept_per_s: tracked
            .filter(|phase| phase.to_s > phase.from_s)
            .map(|phase| (phase.kept.1 - phase.kept.0) / (phase.to_s - phase.from_s)),
        resync_s: over.map(|phase| phase.to_s - phase.from_s),
        resync_bytes: over.map(|phase| phase.sent).filter(|sent| *sent > 0.0),
        rate_resync_per_s: resync.and_then(rate),
        rate_after_per_s: over.and_then(|phase| mean_rate(trial, stream, (phase.to_s, end))),
        kept: pair.kept,
        equal: pair.equal,
        ..PairFinding::default()
    }
}

/// When the state began that an event ended: with the window, the event before it, or the phase in which it came. A rate since the window
/// began would mix a pair with a server alone.
fn begins_before(trial: &TrialSummary, pair: &PairCourse, at: f64) -> f64 {
    let changes = trial.events.iter().filter(|event| event.kind == EventKind::Change).map(|event| event.at.seconds());
    let earlier = pair.phases.iter().map(|phase| phase.from_s).chain(changes).filter(|from| *from < at - 1e-9);
    earlier.fold(trial.window.start.seconds(), f64::max)
}

/// What failed by an event, until the next one or the end.
pub(super) fn failed(trial: &TrialSummary, stream: usize, (from, to): (f64, f64)) -> u64 {
    let counts: Vec<u64> = trial.timeline.iter().map(|point| point.failed.get(stream).copied().unwrap_or(0)).collect();
    let end = if to < trial.window.end.seconds() { begins(trial, stream, &counts, to) } else { counts.len() };
    counts.get(begins(trial, stream, &counts, from)..end).unwrap_or_default().iter().sum()
}

/// The first interval whose failures are an event's. A failure counts where its operation was meant to start, and what is in flight when
/// something happens began before it, by a response or by the interval in which that is seen. Where operations fail already, they go on
/// to do so until the event ends that.
fn begins(trial: &TrialSummary, stream: usize, counts: &[u64], at_s: f64) -> usize {
    let interval = interval(trial).max(f64::MIN_POSITIVE);
    let response_s = trial.streams.get(stream).map_or(0.0, |stream| stream.response.p99_ms / 1e3);
    let own = (at_s / interval + 1e-9) as usize;
    let flies = own.saturating_sub((response_s / interval).ceil().max(1.0) as usize);
    let count = |at: usize| counts.get(at).copied().unwrap_or(0);
    match flies.checked_sub(1).map_or(0, count) {
        0 => flies,
        _ if count(own) <= count(own.saturating_sub(1)) => own + 1,
        _ => own,
    }
}

/// Seconds between two points of the timeline.
fn interval(trial: &TrialSummary) -> f64 {
    trial.timeline.windows(2).next().map_or(0.0, |two| two[1].at_s - two[0].at_s)
}

/// Completions a second over the intervals wholly inside; none where there is none.
fn mean_rate(trial: &TrialSummary, stream: usize, (from, to): (f64, f64)) -> Option<f64> {
    let rates = rates(trial, stream, (from, to));
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

/// The most intervals one behind the other in which nothing ended.
fn longest_still(trial: &TrialSummary, stream: usize, within: (f64, f64)) -> usize {
    let rates = rates(trial, stream, within);
    rates.split(|rate| *rate > 0.0).map(<[f64]>::len).max().unwrap_or(0)
}

fn rates(trial: &TrialSummary, stream: usize, within: (f64, f64)) -> Vec<f64> {
    inside(trial, within).map(|point| point.throughput_per_s.get(stream).copied().unwrap_or(0.0)).collect()
}

fn inside(trial: &TrialSummary, (from, to): (f64, f64)) -> impl Iterator<Item = &TimePoint> {
    let interval = interval(trial);
    trial.timeline.iter().filter(move |point| point.at_s >= from - 1e-9 && point.at_s + interval <= to + 1e-9)
}

/// What takes the mirror away, and what the first server.
const AT_MIRROR: [&str; 7] =
    ["kill-mirror", "stop-mirror", "cut", "half-open", "suspend", "full-mirror", "power-loss-mirror"];
const AT_PRIMARY: [&str; 3] = ["kill-primary", "full-primary", "power-loss-primary"];

impl PairFinding {
    /// Which server is out, the first or the second, as one of all that happened in its trial; none where none is, or nobody knows.
    pub(super) fn out(&self, all: &[&PairFinding]) -> Option<usize> {
        let trial = |one: &&&PairFinding| (one.trial, &one.point) == (self.trial, &self.point) && one.at_s < self.at_s;
        // Whoever takes over from the other has changed roles with it.
        let changes = |one: &&&PairFinding| {
            one.event == SWAP || one.alone.is_some_and(|(_, state)| state == MirrorState::TakenOver)
        };
        let mirror = (all.iter().filter(trial).filter(changes).count() + 1) % 2;
        let at = |known: &[&str]| known.contains(&self.event.as_str());
        at(&AT_MIRROR).then_some(mirror).or(at(&AT_PRIMARY).then_some(1 - mirror))
    }

    /// Whether it takes one of both servers away; a swap of roles ends with both.
    pub fn takes_away(&self) -> bool {
        !HARMLESS.contains(&self.event.as_str())
    }

    /// Which failures look the same to whoever looks after the pair.
    pub fn alike(&self) -> Option<&'static str> {
        match self.alone?.1 {
            MirrorState::Gone => Some(
                "The first server saw the connection end: a mirror that was killed or ended, and one whose disk is full, look alike; on a \
                 machine of its own, one whose power is lost ends no connection and looks like a cut wire",
            ),
            MirrorState::Silent => Some(
                "The first server saw a connection that stands and confirms nothing: a cut wire, one that carries one way only and a \
                 mirror that hangs look alike",
            ),
            MirrorState::TakenOver => Some(
                "A first server that is lost in whatever way and one that cannot be reached look alike to the mirror",
            ),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::trial;
    use observation::Window;
    use units::Nanos;

    /// A window of 10 s behind 1 s of warm-up with such rates in its intervals of 100 ms, and such phases; a fault comes at 3 s.
    fn found(rates: impl Fn(f64) -> f64, phases: &[(MirrorState, f64, f64, f64, f64)]) -> PairFinding {
        let mut one = trial(0, "a", 0, 1000.0);
        one.window = Window { start: Nanos::from_secs(1), end: Nanos::from_secs(11) };
        let point = |at: u32| {
            let at_s = f64::from(at) / 10.0;
            TimePoint {
                at_s,
                throughput_per_s: vec![rates(at_s - 1.0)],
                failed: vec![u64::from(at == 42)],
                p99_ms: vec![None],
            }
        };
        one.timeline = (0..110).map(point).collect();
        let event = |at, text: &str| Event { at: Nanos::from_seconds(at), kind: EventKind::Change, text: text.into() };
        // Out of order, as they come from two who saw them.
        one.events = vec![event(7.0, "resume"), event(4.0, "cut")];
        let phase = |&(state, from_s, to_s, kept, sent)| PairPhase {
            state,
            from_s: from_s + 1.0,
            to_s: to_s + 1.0,
            kept: (0.0, kept),
            sent,
            waiting: 3.0,
        };
        let phases = phases.iter().map(phase).collect();
        one.pair = Some(PairCourse { phases, kept: Some(true), equal: Some(true) });
        let all = outages(&crate::point::groups(&[one]));
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    #[test]
    fn of_several_things_each_is_told_until_the_next_one() {
        use MirrorState::{Asked, CatchesUp, Follows, Unserved};
        let mut one = trial(0, "a", 0, 1000.0);
        one.window = Window { start: Nanos::ZERO, end: Nanos::from_secs(10) };
        // Nobody serves from 6 s to 7 s, and two fail.
        let point = |at: u32| {
            let served = !(60..70).contains(&at);
            let rate = if served { 1000.0 } else { 0.0 };
            TimePoint {
                at_s: f64::from(at) / 10.0,
                throughput_per_s: vec![rate],
                failed: vec![if at == 60 { 2 } else { 0 }],
                p99_ms: vec![None],
            }
        };
        one.timeline = (0..100).map(point).collect();
        let event = |at, text: &str| Event { at: Nanos::from_secs(at), kind: EventKind::Change, text: text.into() };
        one.events = vec![event(2, "suspend"), event(6, "swap"), event(3, "stop-mirror"), event(4, "resume")];
        let phase = |state, from_s, to_s, sent| PairPhase { state, from_s, to_s, kept: (0.0, 4e6), sent, waiting: 0.0 };
        let phases = vec![
            phase(Follows, 0.0, 2.0, 0.0),
            phase(Asked, 2.0, 4.0, 0.0),
            phase(CatchesUp, 4.0, 4.5, 5e6),
            phase(Follows, 4.5, 6.0, 0.0),
            phase(Unserved, 6.0, 7.0, 0.0),
            phase(Follows, 7.0, 10.0, 0.0),
        ];
        one.pair = Some(PairCourse { phases, kept: Some(true), equal: Some(true) });
        let all = outages(&crate::point::groups(&[one]));
        let told: Vec<(&str, f64, u64)> =
            all.iter().map(|one| (one.event.as_str(), one.freeze_s, one.errors)).collect();
        assert_eq!(told.iter().map(|one| one.0).collect::<Vec<_>>(), ["suspend", "stop-mirror", "swap"]);
        assert!(told[0].1 == 0.0 && told[1].1 == 0.0 && (told[2].1 - 1.0).abs() < 1e-9, "{told:?}");
        assert_eq!(told.iter().map(|one| one.2).collect::<Vec<_>>(), [0, 0, 2]);
        assert!(all[0].resync_s.is_none() && all[1].resync_bytes == Some(5e6) && all[2].alone.is_none(), "{all:?}");
    }

    #[test]
    fn the_rate_before_an_event_is_that_of_the_state_which_it_ends() {
        use MirrorState::{Asked, CatchesUp, Follows};
        let mut one = trial(0, "a", 0, 1000.0);
        one.window = Window { start: Nanos::ZERO, end: Nanos::from_secs(10) };
        // Alone it is three times as fast, and the mirror catches up until 5 s.
        let rate = |at: u32| match at {
            20..40 => 3000.0,
            40..50 => 500.0,
            _ => 1000.0,
        };
        let point = |at: u32| TimePoint {
            at_s: f64::from(at) / 10.0,
            throughput_per_s: vec![rate(at)],
            failed: vec![0],
            p99_ms: vec![None],
        };
        one.timeline = (0..100).map(point).collect();
        let event = |at, text: &str| Event { at: Nanos::from_secs(at), kind: EventKind::Change, text: text.into() };
        one.events = vec![event(2, "suspend"), event(3, "stop-mirror"), event(4, "resume"), event(7, "suspend")];
        let phase = |state, from_s, to_s| PairPhase { state, from_s, to_s, kept: (0.0, 4e6), sent: 0.0, waiting: 0.0 };
        let phases = vec![
            phase(Follows, 0.0, 2.0),
            phase(Asked, 2.0, 4.0),
            phase(CatchesUp, 4.0, 5.0),
            phase(Follows, 5.0, 7.0),
            phase(Asked, 7.0, 10.0),
        ];
        one.pair = Some(PairCourse { phases, kept: Some(true), equal: Some(true) });
        let before: Vec<Option<f64>> =
            outages(&crate::point::groups(&[one])).iter().map(|one| one.rate_before_per_s).collect();
        assert_eq!(before, [Some(1000.0), Some(3000.0), Some(1000.0)]);
    }

    #[test]
    fn what_fails_in_the_interval_in_which_it_happens_belongs_to_it() {
        let mut one = trial(0, "a", 0, 1000.0);
        let point = |at: u32, failed: u64| TimePoint {
            at_s: f64::from(at) / 10.0,
            throughput_per_s: vec![1000.0],
            failed: vec![failed],
            p99_ms: vec![None],
        };
        one.timeline = (0..100)
            .map(|at| point(at, [(40, 5), (41, 1), (60, 7)].iter().find(|one| one.0 == at).map_or(0, |one| one.1)))
            .collect();
        one.window = Window { start: Nanos::ZERO, end: Nanos::from_secs(10) };
        assert_eq!(failed(&one, 0, (4.03, 6.03)), 6, "what fails with the next event is told there");
        assert_eq!(failed(&one, 0, (6.03, 10.0)), 7);
    }

    #[test]
    fn sessions_that_are_lost_in_the_middle_of_what_they_began_before_an_event_belong_to_it() {
        let mut one = trial(0, "a", 0, 1000.0);
        one.window = Window { start: Nanos::from_secs(1), end: Nanos::from_secs(10) };
        let fails = [(30, 9), (39, 3), (40, 2), (69, 4), (99, 1)];
        one.timeline = (0..100)
            .map(|at| TimePoint {
                at_s: f64::from(at) / 10.0,
                throughput_per_s: vec![1000.0],
                failed: vec![fails.iter().find(|one| one.0 == at).map_or(0, |one| one.1)],
                p99_ms: vec![None],
            })
            .collect();
        // All but what failed long before it: 3 began in the interval before, 2 in its own, and 4 fail with the next event.
        assert_eq!((failed(&one, 0, (4.0001, 7.0001)), failed(&one, 0, (7.0001, 10.0))), (5, 5));
        // Where a response takes a second, what began a second before was in flight.
        one.streams[0].response.p99_ms = 1_000.0;
        assert_eq!(failed(&one, 0, (4.0001, 10.0)), 19);
        // What goes on to fail until something is mended is not what mended it.
        one.streams[0].response.p99_ms = 20.0;
        one.timeline
            .iter_mut()
            .for_each(|point| point.failed[0] = if (2.95..4.05).contains(&point.at_s) { 70 } else { 0 });
        one.timeline[40].failed[0] = 35;
        assert_eq!((failed(&one, 0, (3.01, 4.05)), failed(&one, 0, (4.05, 10.0))), (735, 0));
        // More than before is of what happened then.
        one.timeline[40].failed[0] = 90;
        assert_eq!((failed(&one, 0, (3.01, 4.05)), failed(&one, 0, (4.05, 10.0))), (700, 90));
    }

    #[test]
    fn a_freeze_what_was_kept_and_the_way_back_are_told_in_figures() {
        use MirrorState::{CatchesUp, Follows, Silent};
        let rates = |at: f64| match at {
            at if at < 2.95 => 1000.0,
            at if at < 4.15 => 0.0,
            at if at < 5.95 => 1500.0,
            at if at < 7.95 => 800.0,
            _ => 1000.0,
        };
        let phases = [
            (Follows, 0.0, 4.2, 0.0, 9e6),
            (Silent, 4.2, 6.0, 36e6, 0.0),
            (CatchesUp, 6.0, 8.0, 0.0, 48e6),
            (Follows, 8.0, 10.5, 0.0, 9e6),
        ];
        let one = found(rates, &phases);
        assert!(one.event == "cut" && one.at_s == 3.0 && (one.freeze_s - 1.2).abs() < 1e-9, "{one:?}");
        let (after, state) = one.alone.unwrap();
        assert!((after - 1.2).abs() < 1e-9 && state == Silent && one.released == 3, "{one:?}");
        assert_eq!(one.rate_before_per_s, Some(1000.0));
        assert_eq!((one.rate_alone_per_s, one.rate_resync_per_s), (Some(1500.0), Some(800.0)));
        assert_eq!((one.rate_after_per_s, one.kept_bytes), (Some(1000.0), Some(36e6)));
        assert!((one.kept_per_s.unwrap() - 20e6).abs() < 1.0 && one.resync_bytes == Some(48e6), "{one:?}");
        assert!((one.resync_s.unwrap() - 2.0).abs() < 1e-9 && one.alike().unwrap().contains("a cut wire"), "{one:?}");
    }

    #[test]
    fn a_mirror_that_is_back_before_patience_is_lost_leaves_nobody_alone() {
        let still = |at: f64| if (2.95..3.65).contains(&at) { 0.0 } else { 1000.0 };
        let one = found(still, &[(MirrorState::Follows, 0.0, 10.5, 0.0, 9e6)]);
        assert!(one.alone.is_none() && one.resync_s.is_none() && one.alike().is_none(), "{one:?}");
        assert!((one.freeze_s - 0.7).abs() < 1e-9 && one.kept_bytes.is_none(), "{one:?}");
    }

    #[test]
    fn a_way_back_that_does_not_end_has_no_length() {
        use MirrorState::{CatchesUp, Follows, Gone};
        let phases = [(Follows, 0.0, 4.0, 0.0, 0.0), (Gone, 4.0, 6.0, 5e6, 0.0), (CatchesUp, 6.0, 10.0, 9e6, 2e6)];
        let one = found(|_| 1000.0, &phases);
        assert!(one.resync_s.is_none() && one.resync_bytes.is_none() && one.rate_after_per_s.is_none(), "{one:?}");
        assert!(one.rate_resync_per_s == Some(1000.0) && one.freeze_s == 0.0, "{one:?}");
    }
}
