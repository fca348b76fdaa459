//! What a database's server counts about itself, as series and events on the trial's clock.

use observation::{Counted, Counter, Event, EventKind, Probe, Series};
use units::Nanos;

/// Counters of checkpoints that began, by what made them begin.
const BEGUN: [Counter; 2] = [Counter::CheckpointsTimed, Counter::CheckpointsRequested];

/// One point of each counter: how much it grew a second, or what it is when it is a level.
pub(crate) fn series(at: Nanos, seconds: f64, before: &Counted, now: &Counted) -> Vec<Series> {
    let point = |(counter, value): &(Counter, f64)| {
        let probe = Probe::Counter(*counter);
        if counter.is_level() {
            return Some(Series { probe, points: vec![(at, *value)] });
        }
        let grown = value - value_of(before, *counter)?;
        // A server that was started anew counts from zero; that is no rate.
        (grown >= 0.0).then(|| Series { probe, points: vec![(at, grown / seconds)] })
    };
    now.iter().filter_map(point).collect()
}

/// The checkpoints that began between two readings.
pub(crate) fn checkpoints(at: Nanos, before: &Counted, now: &Counted) -> Option<Event> {
    let of = |counters: &Counted| -> f64 { BEGUN.iter().filter_map(|counter| value_of(counters, *counter)).sum() };
    let count = of(now) - of(before);
    (count >= 1.0).then(|| Event { at, kind: EventKind::Note, text: format!("checkpoint: {count} began") })
}

fn value_of(counters: &Counted, wanted: Counter) -> Option<f64> {
    counters.iter().find(|(known, _)| *known == wanted).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_becomes_a_rate_and_what_is_stays_as_it_is() {
        let before = vec![(Counter::Commits, 100.0), (Counter::LockWaits, 7.0), (Counter::LogBytes, 9.0)];
        let now = vec![(Counter::Commits, 300.0), (Counter::LockWaits, 3.0), (Counter::LogBytes, 1.0)];
        let found = series(Nanos(5), 2.0, &before, &now);
        let values: Vec<(String, f64)> = found.iter().map(|s| (s.probe.to_string(), s.points[0].1)).collect();
        assert_eq!(values, [("database.commits".to_owned(), 100.0), ("database.lock waits now".to_owned(), 3.0)]);
    }

    #[test]
    fn a_checkpoint_between_two_readings_is_an_event() {
        let before = vec![(Counter::CheckpointsTimed, 4.0), (Counter::CheckpointsRequested, 1.0)];
        let now = vec![(Counter::CheckpointsTimed, 4.0), (Counter::CheckpointsRequested, 2.0)];
        assert_eq!(checkpoints(Nanos(9), &before, &now).map(|event| event.at), Some(Nanos(9)));
        assert_eq!(checkpoints(Nanos(9), &now, &now), None);
    }
}
