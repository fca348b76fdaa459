//! Calls that may never end by themselves, and how each is cut.
//!
//! The one idea: a worker in a call sees neither the end of its trial nor a stop. Whoever watches it can do from outside what ends
//! the call, and the worker comes home with its books.

use database::Cut;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How the calls of each worker are cut.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    cut: bool,
    of: BTreeMap<u32, Cut>,
}

impl Calls {
    /// How the calls of a worker are cut from now on; at once, when all others were cut already.
    pub(crate) fn are_cut_by(&self, worker: u32, cut: Option<Cut>) {
        let mut known = self.known();
        known.of.remove(&worker);
        if let Some(cut) = cut {
            if known.cut {
                cut();
            }
            known.of.insert(worker, cut);
        }
    }

    /// Cuts all calls, and those to come.
    pub(crate) fn cut(&self) {
        let mut known = self.known();
        if !std::mem::replace(&mut known.cut, true) {
            known.of.values().for_each(|cut| cut());
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // It is whole at every moment that it is unlocked, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn every_call_is_cut_once_and_what_comes_later_is_cut_as_it_comes() {
        let (calls, count) = (Calls::default(), Arc::new(AtomicU32::new(0)));
        let cut = |weight| -> Option<Cut> {
            let count = count.clone();
            Some(Box::new(move || {
                count.fetch_add(weight, Ordering::Relaxed);
            }))
        };
        calls.are_cut_by(0, cut(1));
        calls.are_cut_by(1, cut(10));
        calls.are_cut_by(0, cut(100));
        calls.are_cut_by(1, None);
        (0..2).for_each(|_| calls.cut());
        assert_eq!(count.load(Ordering::Relaxed), 100, "one was replaced, and one is home");
        calls.are_cut_by(0, cut(1_000));
        assert_eq!(count.load(Ordering::Relaxed), 1_100);
    }
}
