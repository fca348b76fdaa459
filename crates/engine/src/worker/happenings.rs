//! What happens to a system in the middle of a trial, and when: a study counts from the beginning of the window, a trial from its own.

use crate::worker::assign::window;
use observation::{Event, EventKind};
use study::Trial;
use units::Nanos;
use workload::happening::Happening;

/// What happens in a trial, on its clock.
pub(crate) fn happenings(trial: &Trial) -> impl Iterator<Item = (Nanos, Happening)> {
    let start = window(trial).start;
    trial.events.iter().map(move |(at, what)| (start + *at, *what))
}

/// It did, for the observations.
pub(crate) fn happened(at: Nanos, what: Happening) -> Event {
    Event { at, kind: EventKind::Change, text: what.to_string() }
}
