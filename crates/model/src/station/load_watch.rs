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

// Transactions between their begin and their end, and how long they took.

/// Who is inside.
#[derive(Clone, Debug, Default)]
pub struct Inside {
    here: u32,
    /// What was seen.
    pub watch: Watch,
    responses_ns: f64,
}

impl Inside {
    /// The response of somebody begins.
    #[inline]
    pub fn begin(&mut self, now: Nanos) {
        self.here += 1;
        self.watch.turn(now, self.here, 0.0);
    }

    /// Somebody leaves who began then. When all who leave in a moment have, [`Inside::left`] follows.
    #[inline]
    pub fn end(&mut self, now: Nanos, began: u64) {
        self.here -= 1;
        self.watch.done();
        self.responses_ns += (now.0 - began) as f64;
    }

    /// All who leave in this moment have left.
    #[inline]
    pub fn left(&mut self, now: Nanos) {
        self.watch.turn(now, self.here, 0.0);
    }

    /// By how much the mean number inside differs from rate times response, as a share; zero when nobody has ended. Only what
    /// the watched time cuts off at its ends may differ.
    pub fn little(&self, now: Nanos) -> f64 {
        let by_law = self.responses_ns / (now.0.saturating_sub(self.watch.since()) as f64).max(1.0);
        if by_law > 0.0 { self.watch.mean_here(now) / by_law - 1.0 } else { 0.0 }
    }

    /// Forgets what was before.
    pub fn clear(&mut self, now: Nanos) {
        self.watch.clear(now);
        self.responses_ns = 0.0;
    }
}
