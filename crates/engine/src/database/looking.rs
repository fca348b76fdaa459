//! Somebody who looks at a server through a trial, from a thread of his own.
//!
//! What it does not do: it keeps what it saw and judges nothing.

use recorder::{Clock, WallClock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use units::Nanos;

/// Between two looks: 20 a second cost about one percent of a core.
pub(crate) const BETWEEN: Duration = Duration::from_millis(50);

/// Looks until it is asked what was seen, or a look ends it.
pub(crate) struct Looking<S> {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<S>>,
    clock: WallClock,
}

impl<S: Send + 'static> Looking<S> {
    /// Begins, with so long between two looks; a look takes in what it sees at this moment of the looker's clock, and says whether there is to be another.
    pub(crate) fn start(
        between: Duration,
        mut seen: S,
        mut look: impl FnMut(&mut S, Nanos) -> bool + Send + 'static,
    ) -> Looking<S> {
        let (stop, clock) = (Arc::new(AtomicBool::new(false)), WallClock::new());
        let (stopped, own) = (stop.clone(), clock.clone());
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) && look(&mut seen, own.now()) {
                std::thread::park_timeout(between);
            }
            seen
        });
        Looking { stop, thread: Some(thread), clock }
    }

    /// What was seen, and when a trial that started then did so on the looker's clock.
    pub(crate) fn ended(mut self, started_unix_ns: i64) -> Option<(S, Nanos)> {
        let zero = Nanos(u64::try_from(started_unix_ns - self.clock.unix_start_ns()).unwrap_or(0));
        self.end().map(|seen| (seen, zero))
    }
}

impl<S> Looking<S> {
    /// Ends it; what was seen.
    pub(crate) fn end(&mut self) -> Option<S> {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        thread.join().ok()
    }
}

impl<S> Drop for Looking<S> {
    fn drop(&mut self) {
        self.end();
    }
}
