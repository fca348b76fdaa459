//! The gate at which workers wait until all are ready, so that a trial has one beginning.

use std::sync::{Condvar, Mutex, PoisonError};
use units::Nanos;

/// What the gate says when it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    /// The trial's clock is zero at this moment of the machine's clock.
    At(Nanos),
    /// Someone could not get ready: everybody goes home.
    Home,
}

/// Opens once.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    word: Mutex<Option<Go>>,
    opened: Condvar,
}

impl Gate {
    /// Opens the gate for all.
    pub(crate) fn open(&self, go: Go) {
        *self.word.lock().unwrap_or_else(PoisonError::into_inner) = Some(go);
        self.opened.notify_all();
    }

    /// Sends everybody home who still waits; without effect once it is open.
    pub(crate) fn give_up(&self) {
        self.word.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(Go::Home);
        self.opened.notify_all();
    }

    /// Waits until it opens.
    pub(crate) fn pass(&self) -> Go {
        let mut word = self.word.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *word {
                Some(go) => return go,
                None => word = self.opened.wait(word).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}
