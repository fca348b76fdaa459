//! What a worker notices beside its counts: failures and damage, in words.

use crate::hot::hung::Hung;
use observation::{Event, EventKind, Mishap};
use units::{Nanos, first_bytes};
use workload::block;

/// Events kept for one worker; more are counted only, because a device that fails every operation must not fill memory.
const EVENTS_MAX: usize = 16;

/// So many failures without one success between them mean that the system is gone, whatever the errno says.
const FAILURES_IN_A_ROW: u32 = 10_000;

/// Errors after which no further operation can succeed: the device, the connection or the room is gone, or a script cannot
/// be carried out.
const CANNOT_PASS: [i32; 8] = [
    libc::ENODEV,
    libc::ENXIO,
    libc::ENOSPC,
    libc::EROFS,
    libc::EBADF,
    libc::ENOMEDIUM,
    libc::ENOTCONN,
    libc::ENOTRECOVERABLE,
];

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
    /// Failures are asked for, and what fails now may pass later.
    pub(crate) patient: bool,
    /// What went wrong, by kind, and which of them was the last to fail.
    wrong: Vec<Wrong>,
    last: usize,
}

/// What went wrong in one way.
#[derive(Debug)]
struct Wrong {
    how: How,
    count: u64,
    first: String,
}

/// In which way it went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Failed(i32),
    Damaged(block::DamageKind),
    Unreadable,
}

/// Kinds that a worker tells apart; there are no more in practice.
const KINDS: usize = 16;

/// Bytes of the words of the first of a kind.
const FIRST_MAX: usize = 4 << 10;

impl Default for Noticed {
    fn default() -> Noticed {
        Noticed {
            events: Vec::with_capacity(EVENTS_MAX),
            validated: 0,
            hung: None,
            failures_in_a_row: 0,
            patient: false,
            wrong: Vec::with_capacity(KINDS),
            last: 0,
        }
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
        self.last = self.went_wrong(How::Failed(errno), at, text);
        let gone = CANNOT_PASS.contains(&errno) || self.failures_in_a_row >= FAILURES_IN_A_ROW;
        (gone && !self.patient).then_some(errno)
    }

    /// A read gave back what was never written there.
    #[cold]
    pub(crate) fn damage(&mut self, damage: &block::Damage, at: Nanos) {
        let place = self.went_wrong(How::Damaged(damage.kind), at, || damage.to_string());
        self.wrong[place].count += 1;
    }

    /// A part of a module could not be read back.
    #[cold]
    pub(crate) fn unreadable(&mut self, at: Nanos, text: impl FnOnce() -> String) {
        let place = self.went_wrong(How::Unreadable, at, text);
        self.wrong[place].count += 1;
    }

    /// The operation that failed last was one of the measured window.
    #[cold]
    pub(crate) fn count_failure(&mut self) {
        if let Some(wrong) = self.wrong.get_mut(self.last) {
            wrong.count += 1;
        }
    }

    /// The first few are events, and the first of each kind is remembered; all others are counted only.
    fn went_wrong(&mut self, how: How, at: Nanos, text: impl FnOnce() -> String) -> usize {
        let known = self.wrong.iter().position(|wrong| wrong.how == how);
        if known.is_some() && self.events.len() >= EVENTS_MAX {
            return known.unwrap_or_default();
        }
        let text = text();
        let place = known.unwrap_or_else(|| {
            let first = first_bytes(&text, FIRST_MAX).to_owned();
            self.wrong.push(Wrong { how, count: 0, first });
            self.wrong.len() - 1
        });
        if self.events.len() < EVENTS_MAX {
            let kind = if matches!(how, How::Failed(_)) { EventKind::Failure } else { EventKind::Damage };
            self.events.push(Event { at, kind, text });
        }
        place
    }

    /// What went wrong, by kind. `transactions` says that errnos stand for what a database said.
    pub(crate) fn mishaps(&self, stream: u16, transactions: bool) -> Vec<Mishap> {
        let mishap = |wrong: &Wrong| {
            let (kind, what) = match wrong.how {
                How::Damaged(kind) => (EventKind::Damage, kind.to_string()),
                How::Unreadable => (EventKind::Damage, "unreadable".to_owned()),
                How::Failed(errno) if transactions => (EventKind::Failure, said(errno)),
                How::Failed(errno) => (EventKind::Failure, std::io::Error::from_raw_os_error(errno).to_string()),
            };
            Mishap { stream, kind, what, count: wrong.count, first: wrong.first.clone() }
        };
        self.wrong.iter().filter(|wrong| wrong.count > 0).map(mishap).collect()
    }
}

/// What the errno of a transaction stands for.
fn said(errno: i32) -> String {
    match errno {
        libc::ECONNRESET => "connection lost".to_owned(),
        libc::ENOTCONN => "server gone".to_owned(),
        libc::ENOSPC => "disk full".to_owned(),
        libc::EIO => "page damaged, or disk failing".to_owned(),
        libc::EAGAIN => "conflict or deadlock at the last try".to_owned(),
        libc::EPROTO => "refused by the server".to_owned(),
        libc::EDOM => "ended by its own steps".to_owned(),
        errno => std::io::Error::from_raw_os_error(errno).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_wrong_is_counted_by_kind_and_failures_only_in_the_window() {
        let mut noticed = Noticed::default();
        for n in 0..100 {
            noticed.failure(Nanos(n), libc::EIO, || format!("read {n}"));
            if n >= 10 {
                noticed.count_failure();
            }
        }
        noticed.failure(Nanos(200), libc::ENOENT, || "another".to_owned());
        noticed.count_failure();
        noticed.failure(Nanos(201), libc::EPERM, || "before the window".to_owned());
        let told: Vec<_> =
            noticed.mishaps(3, false).into_iter().map(|m| (m.stream, m.what, m.count, m.first)).collect();
        let expected = [
            ("Input/output error (os error 5)", 90, "read 0"),
            ("No such file or directory (os error 2)", 1, "another"),
        ];
        assert_eq!(told, expected.map(|(what, count, first)| (3, what.to_owned(), count, first.to_owned())));
        assert_eq!(noticed.events.len(), EVENTS_MAX, "a device that fails every operation must not fill memory");
        assert_eq!(noticed.mishaps(0, true)[0].what, "page damaged, or disk failing");
    }
}
