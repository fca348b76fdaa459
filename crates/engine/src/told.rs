//! What a system tells of a trial beside what was recorded.

use crate::worker::transactions::Transactions;
use observation::{Check, CheckResult, Event, EventKind, Series};
use recorder::WallClock;
use std::sync::Arc;
use study::Trial;
use units::Nanos;
use workload::happening::Happening;

/// Has something happen to the devices of a system that runs in real time.
pub type Happens = Arc<dyn Fn(Happening) -> std::io::Result<()> + Send + Sync>;

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

/// Whether a mirror is the same as what it follows.
pub(crate) fn of_mirror(result: CheckResult, found: String) -> Check {
    let says = "the mirror holds the same rows as the first server".to_owned();
    Check { name: "mirror".to_owned(), says, result, found, ..Check::default() }
}

/// A trial whose load has ended.
#[derive(Clone, Copy)]
pub(crate) struct Ended<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) clock: &'a WallClock,
    /// When it began, nanoseconds since 1970 in UTC; none where it never did.
    pub(crate) started_unix_ns: Option<i64>,
    /// What its workers carried out.
    pub(crate) transactions: &'a [Transactions],
    /// On the trial's clock.
    pub(crate) at: Nanos,
}

/// An error with its causes, on one line.
pub(crate) fn whole(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
