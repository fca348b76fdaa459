//! What a database's server counts about itself, as series and events on the trial's clock.

use observation::{Event, EventKind, Series};
use units::Nanos;

/// Counters by name, as a server gives them.
type Counters = [(String, f64)];

/// One point of each counter: how much it grew a second, or what it is when its name says `now`.
pub(crate) fn series(at: Nanos, seconds: f64, before: &Counters, now: &Counters) -> Vec<Series> {
    let point = |(name, value): &(String, f64)| {
        let probe = format!("database.{name}");
        if name.ends_with(" now") {
            return Some(Series { probe, unit: String::new(), points: vec![(at, *value)] });
        }
        let grown = value - value_of(before, name)?;
        // A server that was started anew counts from zero; that is no rate.
        (grown >= 0.0).then(|| Series { probe, unit: "1/s".to_owned(), points: vec![(at, grown / seconds)] })
    };
    now.iter().filter_map(point).collect()
}

/// The checkpoints that ended between two readings.
pub(crate) fn checkpoints(at: Nanos, before: &Counters, now: &Counters) -> Option<Event> {
    let of = |counters: &Counters| -> f64 {
        counters.iter().filter(|(name, _)| name.starts_with("checkpoints")).map(|(_, value)| value).sum()
    };
    let count = of(now) - of(before);
    (count >= 1.0).then(|| Event { at, kind: EventKind::Note, text: format!("checkpoint: {count} began") })
}

fn value_of(counters: &Counters, name: &str) -> Option<f64> {
    counters.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(values: &[(&str, f64)]) -> Vec<(String, f64)> {
        values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn what_grows_becomes_a_rate_and_what_is_stays_as_it_is() {
        let before = counters(&[("commits", 100.0), ("lock waits now", 7.0), ("reset", 9.0)]);
        let now = counters(&[("commits", 300.0), ("lock waits now", 3.0), ("reset", 1.0)]);
        let found = series(Nanos(5), 2.0, &before, &now);
        let values: Vec<(&str, f64)> = found.iter().map(|s| (s.probe.as_str(), s.points[0].1)).collect();
        assert_eq!(values, [("database.commits", 100.0), ("database.lock waits now", 3.0)]);
    }

    #[test]
    fn a_checkpoint_between_two_readings_is_an_event() {
        let before = counters(&[("checkpoints timed", 4.0), ("checkpoints requested", 1.0)]);
        let now = counters(&[("checkpoints timed", 4.0), ("checkpoints requested", 2.0)]);
        assert_eq!(checkpoints(Nanos(9), &before, &now).map(|event| event.at), Some(Nanos(9)));
        assert_eq!(checkpoints(Nanos(9), &now, &now), None);
    }
}
