//! Waiting for the lock of a file that another process holds, but not beyond a stop.
//!
//! The one idea: SQLite asks a plain function whether to try again, which can be handed nothing. So each thread knows by
//! which stop its connections end.

use rusqlite::Connection;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Milliseconds before each of the first attempts, as SQLite has them itself; later ones wait as long as the last.
const DELAYS_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// Attempts until it is given up, after about ten seconds.
const ATTEMPTS: i32 = 110;

thread_local! {
    static STOP: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Has a connection wait for other processes, as long as `stop` is not set. Statements of other threads wait without a look at
/// it.
pub(super) fn wait_unless(connection: &Connection, stop: &Arc<AtomicBool>) -> rusqlite::Result<()> {
    STOP.set(Some(stop.clone()));
    connection.busy_handler(Some(again))
}

/// Whether nobody wants this thread to wait any more.
pub(super) fn stopped() -> bool {
    STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)))
}

fn again(attempts: i32) -> bool {
    if attempts >= ATTEMPTS || stopped() {
        return false;
    }
    let last = DELAYS_MS.len() - 1;
    let delay = DELAYS_MS[usize::try_from(attempts).unwrap_or(last).min(last)];
    std::thread::sleep(Duration::from_millis(delay));
    true
}
