//! A part that does one thing after the other in the order in which it is asked: a channel, a link, a controller.
//!
//! The one idea: who comes in order is also served in order, so all that must be known is when the part is free again; it
//! needs neither a queue nor an event.

use crate::machine::StationReport;
use units::Nanos;

/// A part without a queue of its own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lane {
    free: u64,
    since: u64,
    busy_ns: u64,
    there_ns: u64,
    done: u64,
}

impl Lane {
    /// Somebody asks for so many nanoseconds; the answer is when he is done.
    #[inline]
    pub fn take(&mut self, now: Nanos, turn_ns: u64) -> Nanos {
        self.free = self.free.max(now.0) + turn_ns;
        self.busy_ns += turn_ns;
        self.there_ns += self.free - now.0;
        self.done += 1;
        Nanos(self.free)
    }

    /// Forgets what was before.
    pub fn clear(&mut self, now: Nanos) {
        // What was promised before and is still to do belongs to the time that now begins.
        let left = self.free.saturating_sub(now.0);
        (self.since, self.busy_ns, self.there_ns, self.done) = (now.0, left, left, 0);
    }

    /// What it did up to now.
    pub fn report(&self, name: String, now: Nanos) -> StationReport {
        let span = now.0.saturating_sub(self.since).max(1) as f64;
        let busy = self.busy_ns.saturating_sub(self.free.saturating_sub(now.0));
        let (utilisation, mean_there) = (busy as f64 / span, self.there_ns as f64 / span);
        StationReport { name, utilisation: utilisation.min(1.0), mean_there, completed: self.done }
    }
}
