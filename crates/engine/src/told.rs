//! What a system tells of a trial beside what was recorded.

use observation::{Check, Event, EventKind, Series};
use units::Nanos;

/// What a system tells of a trial beside what was recorded.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) series: Vec<Series>,
    pub(crate) events: Vec<Event>,
    pub(crate) checks: Vec<Check>,
}

/// A remark about a trial as a whole.
pub(crate) fn remark(text: String) -> Event {
    Event { at: Nanos::ZERO, kind: EventKind::Note, text }
}
