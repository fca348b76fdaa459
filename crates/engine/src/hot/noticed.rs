//! What a worker notices beside its counts: failures and damage, in words.

use crate::hot::hung::Hung;
use observation::{Event, EventKind};
use units::Nanos;
use workload::block;

/// Events kept for one worker; more are counted only, because a device that fails every operation must not fill memory.
const EVENTS_MAX: usize = 16;

/// So many failures without one success between them mean that the system is gone, whatever the errno says.
const FAILURES_IN_A_ROW: u32 = 10_000;

/// Errors after which no further operation can succeed: the device, the connection or the room is gone.
const CANNOT_PASS: [i32; 7] =
    [libc::ENODEV, libc::ENXIO, libc::ENOSPC, libc::EROFS, libc::EBADF, libc::ENOMEDIUM, libc::ENOTCONN];

/// What a worker noticed.
#[derive(Debug)]
pub(crate) struct Noticed {
    /// The first few events.
    pub(crate) events: Vec<Event>,
    /// Reads that were checked.
    pub(crate) validated: u64,
    /// What was out when the time to drain was over.
    pub(crate) hung: Option<Hung>,
    failures_in_a_row: u32,
}

impl Default for Noticed {
    fn default() -> Noticed {
        Noticed { events: Vec::with_capacity(EVENTS_MAX), validated: 0, hung: None, failures_in_a_row: 0 }
    }
}

impl Noticed {
    /// An operation ended well.
    #[inline]
    pub(crate) fn success(&mut self) {
        self.failures_in_a_row = 0;
    }

    /// An operation failed: notes it, and answers with the errno when no further one can succeed.
    #[cold]
    pub(crate) fn failure(&mut self, at: Nanos, errno: i32, text: impl FnOnce() -> String) -> Option<i32> {
        self.failures_in_a_row += 1;
        self.event(at, EventKind::Failure, text);
        (CANNOT_PASS.contains(&errno) || self.failures_in_a_row >= FAILURES_IN_A_ROW).then_some(errno)
    }

    /// A read gave back what was never written there.
    #[cold]
    pub(crate) fn damage(&mut self, damage: &block::Damage, at: Nanos) {
        self.event(at, EventKind::Damage, || damage.to_string());
    }

    fn event(&mut self, at: Nanos, kind: EventKind, text: impl FnOnce() -> String) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(Event { at, kind, text: text() });
        }
    }
}
