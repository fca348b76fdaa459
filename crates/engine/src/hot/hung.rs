//! Operations that hung: that had not come back when the time to drain was over, and what the kernel still holds of them.
//!
//! The one idea: the kernel lets go of an open end of a pipe when it lets go of the operations, and the other end tells. So anybody
//! can ask later whether they are still out, and the memory that they may write to stays until then.

use crate::hot::lane::Out;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::any::Any;
use std::os::fd::OwnedFd;
use units::{Nanos, counted, duration};

/// What came back after the time to drain counts as hung when it had been out for so long. Under overload operations are issued
/// until that time is over.
const LONG: Nanos = Nanos::from_secs(1);

/// What a worker had out when the time to drain was over.
#[derive(Debug)]
pub(crate) struct Hung {
    /// The oldest operation, in words.
    pub(crate) what: String,
    /// How long that had been out.
    out_for: Nanos,
    /// How many there were.
    pub(crate) operations: u32,
    /// When that was, on the trial's clock.
    pub(crate) at: Nanos,
    /// What the kernel held when the worker was through.
    pub(crate) held: Option<Held>,
}

impl Hung {
    pub(crate) fn new(what: String, out: Out) -> Hung {
        Hung { what, out_for: out.oldest, operations: out.operations, at: out.at, held: None }
    }

    /// Whether the kernel still holds any of them.
    pub(crate) fn is_out(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.is_over())
    }

    /// Whether it is more than an operation that was issued late.
    pub(crate) fn is_worth_telling(&self) -> bool {
        self.held.is_some() || self.out_for >= LONG
    }

    /// The same in a sentence.
    pub(crate) fn told(&self) -> String {
        let others = match self.operations {
            0 | 1 => String::new(),
            n => format!(", and {} with it", counted(u64::from(n - 1), "other operations")),
        };
        let since = match &self.held {
            None => "it came back after that".to_owned(),
            Some(held) => format!("{} of them did not come back at all", held.operations),
        };
        let Hung { what, out_for, .. } = self;
        format!(
            "{what} hung: it had been out for {}{others} when the time to drain was over; {since}",
            duration(*out_for)
        )
    }
}

/// Operations in the kernel's hands, with the memory that they may still write to.
pub(crate) struct Held {
    /// How many they were when they were given up.
    pub(crate) operations: u32,
    /// The end of the pipe that tells; nothing when there is no way to know.
    told_by: Option<OwnedFd>,
    memory: Option<Box<dyn Any + Send>>,
}

impl Held {
    pub(crate) fn new(operations: u32, told_by: Option<OwnedFd>, memory: Box<dyn Any + Send>) -> Held {
        Held { operations, told_by, memory: Some(memory) }
    }

    /// Whether the kernel has let go of all of them.
    pub(crate) fn is_over(&self) -> bool {
        self.told_by.as_ref().is_some_and(|end| {
            let mut asked = [PollFd::new(end, PollFlags::empty())];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            poll(&mut asked, Some(&now)).is_ok() && asked[0].revents().contains(PollFlags::HUP)
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.is_over() {
            std::mem::forget(self.memory.take());
        }
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("operations", &self.operations).field("is_over", &self.is_over()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Memory(Arc<AtomicU32>);

    impl Drop for Memory {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn an_operation_that_was_issued_late_did_not_hang_unless_the_kernel_keeps_it() {
        let after =
            |oldest: Nanos| Hung::new("Read".to_owned(), Out { operations: 1, oldest, at: Nanos::from_secs(9) });
        assert!(!after(Nanos::ZERO).is_worth_telling());
        assert!(after(LONG).is_worth_telling());
        let held = Some(Held::new(1, None, Box::new(())));
        assert!(Hung { held, ..after(Nanos::ZERO) }.is_worth_telling());
    }

    #[test]
    fn memory_is_given_up_only_when_the_kernel_has_let_go() {
        let given_up = Arc::new(AtomicU32::new(0));
        let memory = || Box::new(Memory(given_up.clone()));
        let (reader, writer) = std::io::pipe().unwrap();
        let held = Held::new(1, Some(reader.into()), memory());
        assert!(!held.is_over());
        drop(writer);
        assert!(held.is_over());
        drop(held);
        assert_eq!(given_up.load(Ordering::Relaxed), 1);
        let (reader, _writer) = std::io::pipe().unwrap();
        drop(Held::new(1, Some(reader.into()), memory()));
        drop(Held::new(1, None, memory()));
        assert_eq!(given_up.load(Ordering::Relaxed), 1, "it may still be written to");
    }
}
