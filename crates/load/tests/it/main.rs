//! What the load machine promises, held through its public door.

mod arrivals;
mod clocked;
mod closed;
mod one_queue;
mod open;

use load::{Arrival, Limit, Load, Machine, Next, Ramp, Spec, whole};
use units::Nanos;

/// A limit that is never reached.
const ENDLESS: Limit = Limit { until: Nanos::MAX, count: None };

/// The arrivals of one worker, each of which ends the moment it is issued.
fn drawn(mut load: impl Load) -> impl Iterator<Item = Arrival> {
    std::iter::from_fn(move || match load.next(Nanos(u64::MAX - 1)) {
        Next::Issue(arrival) => {
            load.completed(arrival.slot, arrival.intended);
            Some(arrival)
        }
        _ => None,
    })
}

/// How many operations are due and not issued.
fn backlog(load: &Machine, now: Nanos) -> usize {
    let mut ended = load.clone();
    std::iter::from_fn(|| ended.unissued(now)).count()
}

/// A load that one worker carries alone, from time zero, without a ramp.
fn alone(spec: Spec, limit: Limit, seed: u64) -> Machine {
    whole(&spec, Ramp::default(), limit, seed, Nanos::ZERO)
}
