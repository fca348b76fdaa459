//! What a mirror is waited for, looked at through a trial.
//!
//! The one idea: whoever looks tells levels and sums; sums become rates, so that the mean of each over the window is what a second of it
//! had. A look that fails ends the looking, and what was seen until then stands.
//!
//! What it does not do: it splits no time; that is analysis.

use crate::database::looking::{BETWEEN, Looking};
use database::DatabaseError;
use database::server::WatchLags;
use database::server::postgres::LagWatch;
use link::Relay;
use observation::{Series, Whole};
use std::sync::Arc;
use units::Nanos;

/// What was seen at once.
type Look = Vec<(Whole, f64)>;

/// What only grows.
const GROWS: [Whole; 2] = [Whole::MirrorChanging, Whole::MirrorTrips];

/// Somebody who looks until he is asked what he saw.
pub(crate) struct Sampling(Looking<Vec<(Nanos, Look)>>);

impl Sampling {
    /// Looks at commits that wait for a mirror, and at the wire to it.
    pub(crate) fn of_commits(mut watch: Box<dyn WatchLags>, mut wire: Carried) -> Sampling {
        Sampling::start(move || Ok(wire.look().into_iter().chain(commits(&mut *watch)?).collect()))
    }

    /// Looks at commits that wait for somebody's mirror, over a wire that nobody measures.
    pub(crate) fn of_any(mut watch: LagWatch) -> Sampling {
        Sampling::start(move || commits(&mut watch))
    }

    /// Looks at round trips to a server in lock step, and at the wire to it.
    pub(crate) fn of_trips(trips: impl Fn() -> u64 + Send + 'static, mut wire: Carried) -> Sampling {
        Sampling::start(move || {
            let trips = (Whole::MirrorTrips, trips() as f64);
            Ok(wire.look().into_iter().chain([trips]).collect())
        })
    }

    fn start(mut look: impl FnMut() -> Result<Look, DatabaseError> + Send + 'static) -> Sampling {
        Sampling(Looking::start(BETWEEN, Vec::new(), move |all: &mut Vec<(Nanos, Look)>, now| {
            look().map(|seen| all.push((now, seen))).is_ok()
        }))
    }

    /// Ends it; what was seen, on the clock of a trial that started then.
    pub(crate) fn ended(self, started_unix_ns: i64) -> Vec<Series> {
        self.0.ended(started_unix_ns).map_or_else(Vec::new, |(looks, zero)| series(&looks, zero))
    }
}

/// What commits waited for, as the primary tells it.
fn commits(watch: &mut dyn WatchLags) -> Result<Look, DatabaseError> {
    let lags = watch.look()?;
    let heard = [Whole::MirrorWritten, Whole::MirrorFlushed, Whole::MirrorApplied].into_iter().zip(lags.heard);
    let heard = heard.filter_map(|(probe, seconds)| Some((probe, 1e3 * seconds?)));
    Ok(heard.chain([(Whole::MirrorWaiting, lags.waiting), (Whole::MirrorChanging, lags.changing)]).collect())
}

/// What a wire carries, between two looks.
pub(crate) struct Carried {
    relay: Arc<Relay>,
    before: [(u64, Nanos); 2],
}

impl Carried {
    pub(crate) fn new(relay: &Arc<Relay>) -> Carried {
        Carried { relay: relay.clone(), before: [(0, Nanos::ZERO); 2] }
    }

    /// How long the way there and back was, milliseconds, on the mean of the pieces since the last look; none without any.
    fn look(&mut self) -> Option<(Whole, f64)> {
        let (pieces, held) = (self.relay.told().1.map(|(_, pieces)| pieces), self.relay.held());
        let now = [(pieces[0], held[0]), (pieces[1], held[1])];
        let before = std::mem::replace(&mut self.before, now);
        let each = [0, 1].map(|way| {
            let count = now[way].0 - before[way].0;
            (count > 0).then(|| now[way].1.saturating_sub(before[way].1).seconds() / count as f64)
        });
        Some((Whole::MirrorWire, 1e3 * (each[0]? + each[1]?)))
    }
}

/// What was seen from a moment on, one series for each thing; of what grows, its rate since the look before.
fn series(looks: &[(Nanos, Look)], zero: Nanos) -> Vec<Series> {
    let mut all: Vec<(Whole, Vec<(Nanos, f64)>)> = Vec::new();
    let mut last: Vec<(Whole, (Nanos, f64))> = Vec::new();
    for (at, seen) in looks {
        for (probe, value) in seen {
            let before = last.iter_mut().find(|(known, _)| known == probe);
            let since = match before {
                Some((_, before)) => Some(std::mem::replace(before, (*at, *value))),
                None => {
                    last.push((*probe, (*at, *value)));
                    None
                }
            };
            let told = match (GROWS.contains(probe), since) {
                (false, _) => *value,
                (true, Some((then, was))) => (value - was) / at.saturating_sub(then).seconds().max(1e-9),
                (true, None) => continue,
            };
            if *at < zero {
                continue;
            }
            match all.iter_mut().find(|(known, _)| known == probe) {
                Some((_, points)) => points.push((*at - zero, told)),
                None => all.push((*probe, vec![(*at - zero, told)])),
            }
        }
    }
    all.into_iter().map(|(probe, points)| Series { probe: probe.into(), points }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_stay_sums_become_rates_and_what_was_before_the_trial_is_left_out() {
        let look = |ms: u64, changing: f64, waiting: f64| {
            (Nanos::from_millis(ms), vec![(Whole::MirrorChanging, changing), (Whole::MirrorWaiting, waiting)])
        };
        let looks = [look(900, 100.0, 7.0), look(1_000, 150.0, 3.0), look(1_500, 400.0, 5.0)];
        let told: Vec<(String, Vec<(Nanos, f64)>)> =
            series(&looks, Nanos::from_secs(1)).into_iter().map(|one| (one.probe.to_string(), one.points)).collect();
        let half = Nanos::from_millis(500);
        assert_eq!(
            told,
            [
                ("mirror.changing".to_owned(), vec![(Nanos::ZERO, 500.0), (half, 500.0)]),
                ("mirror.waiting now".to_owned(), vec![(Nanos::ZERO, 3.0), (half, 5.0)]),
            ]
        );
    }
}
