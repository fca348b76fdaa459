//! The road from a driver to a system, one a worker.

use units::Nanos;
use workload::Operation;
use workload::transaction::{Begun, Caused};

/// How long [`Port::reap`] may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    Poll,
    /// For a completion, but not beyond this moment.
    Until(Nanos),
    /// For a completion.
    Completion,
}

/// An operation that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its slot.
    pub slot: u32,
    /// Bytes moved, or a negative errno. Of a transaction: twice its repeated attempts, and one more when it rolled back on
    /// purpose.
    pub result: i32,
    /// When it was seen to have ended.
    pub at: Nanos,
}

/// Why a port cannot go on. A single failed operation is not one of these: it is a [`Completion`].
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// The kernel refused to take or return operations.
    #[error("{action} failed for `{target}`")]
    Kernel {
        /// What was tried.
        action: &'static str,
        /// On what.
        target: String,
        /// The kernel's answer.
        source: std::io::Error,
    },
}

/// The road of one worker to a system. After it is built, nothing in it allocates or locks.
pub trait Port {
    /// The time on the clock of this road: the machine's, or a simulated one.
    fn now(&mut self) -> Nanos;

    /// The buffer of a slot, to be filled before a write and looked at after a read; empty where no data moves.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Prepares an operation; it is not on its way before [`Port::submit`]. `durable` asks for the write to end only
    /// when its data is on stable media.
    fn stage(&mut self, slot: u32, operation: &Operation, durable: bool);

    /// Which class a transaction of the stream behind a slot is of: only roads that carry transactions know.
    fn class(&mut self, slot: u32, n: u64, payload: u64) -> u16 {
        let _ = (slot, n, payload);
        0
    }

    /// Prepares a transaction, as [`Port::stage`] does an operation.
    fn begin(&mut self, slot: u32, begun: Begun) {
        let _ = (slot, begun);
    }

    /// Takes what the transaction that ended in a slot has caused.
    fn caused(&mut self, slot: u32, into: &mut Vec<Caused>) {
        let _ = (slot, into);
    }

    /// How long the load driver of a machine in virtual time worked for the transaction that ended in a slot. It held the
    /// slot and is no part of the response. A real driver's own work is lateness, and shows as that.
    fn outside(&self, slot: u32) -> Nanos {
        let _ = slot;
        Nanos::ZERO
    }

    /// Why the last operation in a slot failed, when the road knows more than an errno says.
    fn complaint(&mut self, slot: u32) -> Option<String> {
        let _ = slot;
        None
    }

    /// How many operations should leave together at most. A driver that has more to send sends in pieces, so that the
    /// system works on the first while the last are still being prepared.
    fn batch(&self) -> u32 {
        u32::MAX
    }

    /// Sends what was staged, now, because more is to come.
    ///
    /// # Errors
    /// When the kernel takes no more operations at all.
    fn send(&mut self) -> Result<(), PortError> {
        self.submit()
    }

    /// Sends what was staged. A port may delay it until [`Port::reap`] to save a system call; it leaves within that call.
    ///
    /// # Errors
    /// When the kernel takes no more operations at all.
    fn submit(&mut self) -> Result<(), PortError>;

    /// Adds what has ended to `into`, waiting as told. May return with nothing when the wait is over.
    ///
    /// # Errors
    /// When the kernel returns no more operations at all.
    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError>;
}
