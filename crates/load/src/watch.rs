//! What a load counts by itself while a window is measured.

use crate::Books;
use units::Nanos;

/// The measured window with the counts that belong to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    from: u64,
    length: u64,
    planned: u64,
    issued: u64,
    think_ns: u128,
}

impl Watch {
    pub(crate) fn new(from: Nanos, to: Nanos) -> Watch {
        Watch { from: from.0, length: to.saturating_sub(from).0, ..Watch::default() }
    }

    /// An operation was handed out to be issued.
    #[inline]
    pub(crate) fn issued(&mut self, intended: u64) {
        self.issued += 1;
        self.planned(intended);
    }

    /// An operation was handed out, to be issued or to be censored.
    #[inline]
    pub(crate) fn planned(&mut self, intended: u64) {
        // One comparison for both borders: what lies before the window wraps to a huge number.
        self.planned += u64::from(intended.wrapping_sub(self.from) < self.length);
    }

    /// A slot has no work from `from` to `to`.
    #[inline]
    pub(crate) fn thinks(&mut self, from: u64, to: u64) {
        self.think_ns += u128::from(self.left(from).saturating_sub(self.left(to)));
    }

    /// What is left of the window from then on.
    #[inline]
    pub(crate) fn left(&self, from: u64) -> u64 {
        (self.from + self.length).saturating_sub(from.max(self.from))
    }

    /// A slot that was to have no work until `due` has some from `now` on: sooner than that, or later.
    pub(crate) fn wakes(&mut self, now: u64, due: u64) {
        if due <= now {
            return self.thinks(due, now);
        }
        let before = self.think_ns;
        self.thinks(now, due);
        self.think_ns = (2 * before).saturating_sub(self.think_ns);
    }

    pub(crate) fn books(&self, slots: u32) -> Books {
        Books {
            planned: self.planned,
            issued: self.issued,
            think_ns: self.think_ns,
            slots_ns: u128::from(slots) * u128::from(self.length),
        }
    }
}
