//! The way to cut a conversation of the library's from outside, because the library itself waits for ever.
//!
//! The one idea: the socket has a second descriptor; shutting it down there ends whatever waits on it here. Whether somebody
//! waits is told by a counter that is odd during a call.

use mysql::Conn;
use rustix::net::{Shutdown, shutdown};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// Between two looks. Who waits for so long behind a stop is cut.
const LOOK: Duration = Duration::from_millis(250);

/// One conversation, as it is seen from outside.
#[derive(Debug)]
pub(super) struct Line {
    socket: OwnedFd,
    calls: AtomicU64,
}

impl Line {
    /// None where the system does not let us have a second descriptor.
    pub(super) fn of(connection: &Conn) -> Option<Arc<Line>> {
        let myself = pidfd_open(getpid(), PidfdFlags::empty()).ok()?;
        // The connection is ours for as long as this takes.
        let socket = pidfd_getfd(myself, connection.as_raw_fd(), PidfdGetfdFlags::empty()).ok()?;
        Some(Arc::new(Line { socket, calls: AtomicU64::new(0) }))
    }

    /// Marks the beginning or the end of a call.
    pub(super) fn turn(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the conversation: whoever waits is told that it is lost.
    pub(super) fn cut(&self) {
        let _ = shutdown(&self.socket, Shutdown::Both);
    }

    /// The call that is under way.
    fn call(&self) -> Option<u64> {
        Some(self.calls.load(Ordering::Relaxed)).filter(|calls| calls % 2 == 1)
    }
}

/// All lines of a database, which are cut when it is told to stop and their calls do not end.
#[derive(Debug, Default)]
pub(super) struct Lines(Arc<Mutex<Vec<Weak<Line>>>>);

impl Lines {
    /// Lines that are watched for as long as this value lives.
    pub(super) fn watched(stop: Arc<AtomicBool>) -> Lines {
        let lines = Lines::default();
        let watched = Arc::downgrade(&lines.0);
        // Without the thread a wait ends when the server answers.
        let _ = std::thread::Builder::new().name("lines".to_owned()).spawn(move || {
            let mut before = Vec::new();
            while let Some(lines) = watched.upgrade() {
                if stop.load(Ordering::Relaxed) {
                    before = cut(&lines, &before);
                }
                drop(lines);
                std::thread::sleep(LOOK);
            }
        });
        lines
    }

    pub(super) fn add(&self, line: &Arc<Line>) {
        let Ok(mut lines) = self.0.lock() else { return };
        lines.retain(|line| line.strong_count() > 0);
        lines.push(Arc::downgrade(line));
    }
}

/// Cuts every line whose call was under way at the last look already; answers with the calls that are.
fn cut(lines: &Mutex<Vec<Weak<Line>>>, before: &[(usize, u64)]) -> Vec<(usize, u64)> {
    let Ok(lines) = lines.lock() else { return Vec::new() };
    let mut now = Vec::new();
    for line in lines.iter().filter_map(Weak::upgrade) {
        let Some(call) = line.call() else { continue };
        let waiting = (Arc::as_ptr(&line) as usize, call);
        if before.contains(&waiting) {
            line.cut();
        }
        now.push(waiting);
    }
    now
}
