//! What a station did: how many were there, and how much of it was busy, over the watched time.

use units::Nanos;

/// Sums over time, from the moment it was last cleared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watch {
    since: u64,
    last: u64,
    here: u32,
    busy: f64,
    here_ns: f64,
    busy_ns: f64,
    done: u64,
}

impl Watch {
    /// Notes that from now on so many are here, of whom the station works with this much of itself (1 is all of it).
    #[inline]
    pub fn turn(&mut self, now: Nanos, here: u32, busy: f64) {
        let passed = now.0.saturating_sub(self.last) as f64;
        self.here_ns += passed * f64::from(self.here);
        self.busy_ns += passed * self.busy;
        (self.last, self.here, self.busy) = (now.0, here, busy);
    }

    /// Notes that one was done.
    #[inline]
    pub fn done(&mut self) {
        self.done += 1;
    }

    /// Forgets what was before, at the end of a warm-up.
    pub fn clear(&mut self, now: Nanos) {
        self.turn(now, self.here, self.busy);
        (self.since, self.here_ns, self.busy_ns, self.done) = (now.0, 0.0, 0.0, 0);
    }

    /// Mean number that were here, up to now.
    pub fn mean_here(&self, now: Nanos) -> f64 {
        let tail = now.0.saturating_sub(self.last) as f64 * f64::from(self.here);
        (self.here_ns + tail) / (now.0.saturating_sub(self.since).max(1)) as f64
    }

    /// Share of the station that was busy, up to now.
    pub fn utilisation(&self, now: Nanos) -> f64 {
        let tail = now.0.saturating_sub(self.last) as f64 * self.busy;
        (self.busy_ns + tail) / (now.0.saturating_sub(self.since).max(1)) as f64
    }

    /// When it was last cleared.
    pub fn since(&self) -> u64 {
        self.since
    }

    /// How many were done.
    pub fn count(&self) -> u64 {
        self.done
    }
}
