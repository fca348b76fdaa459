//! Transactions between their begin and their end, and how long they took.

use super::Watch;
use units::Nanos;

/// Who is inside.
#[derive(Clone, Debug, Default)]
pub struct Inside {
    here: u32,
    watch: Watch,
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

    /// What was seen.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }
}
