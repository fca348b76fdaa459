//! The port from a driver to a system, one a worker.

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
    /// What became of it.
    pub outcome: Outcome,
    /// When it was seen to have ended.
    pub at: Nanos,
}

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Data was moved, perhaps less than was asked for.
    Moved {
        /// How much.
        bytes: u32,
    },
    /// A transaction came to its end.
    Transacted {
        /// Attempts beyond the first.
        retried: u32,
        /// Whether it rolled back on purpose.
        rolled_back: bool,
    },
    /// The system refused it, or was lost over it.
    Failed {
        /// Why, as a positive errno.
        errno: i32,
    },
}

/// Why a port cannot go on. A single failed operation is not one of these: it is a [`Completion`].
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum PortError {
    /// The kernel refused to take or return operations.
    #[error("{action} failed for `{target}`")]
    Kernel { action: &'static str, target: String, source: std::io::Error },
}

/// The way of one worker to a system. After it is built, nothing in it allocates or locks.
pub trait Port {
    /// The time on the clock of this port: the machine's, or a simulated one.
    fn now(&mut self) -> Nanos;

    /// Sends what was prepared. A port may leave it to [`Port::reap`], which always follows: one system call for both.
    ///
    /// # Errors
    /// When the kernel takes no more operations at all.
    #[inline]
    fn submit(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    /// Adds what has ended to `into`, waiting as told. May return with nothing when the wait is over.
    ///
    /// # Errors
    /// When the kernel returns no more operations at all.
    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError>;
}

/// A port that moves data of modules.
pub trait StoragePort: Port {
    /// The buffer of a slot, to be filled before a write and looked at after a read; empty where no data moves.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Prepares an operation; it is not on its way before [`Port::submit`]. `durable` asks for the write to end only
    /// when its data is on stable media.
    fn stage(&mut self, slot: u32, operation: &Operation, durable: bool);
}

/// A port that carries transactions.
pub trait TransactionPort: Port {
    /// Which class a transaction of the stream behind a slot is of.
    fn class(&mut self, slot: u32, n: u64, payload: u64) -> u16;

    /// When the next transaction of a slot is due, where the workload says so itself.
    fn due(&mut self, slot: u32) -> Option<Nanos> {
        let _ = slot;
        None
    }

    /// Prepares a transaction; it is not on its way before [`Port::submit`].
    fn begin(&mut self, slot: u32, begun: Begun);

    /// Takes what the transaction that ended in a slot has caused.
    fn caused(&mut self, slot: u32, into: &mut Vec<Caused>);

    /// Takes how old the data was that transactions saw which have ended. A model holds no data, and says nothing.
    fn ages(&mut self, into: &mut Vec<Nanos>) {
        let _ = into;
    }

    /// How much the transaction gave that ended well in a slot; asked once for each class that gives something.
    fn gave(&mut self, slot: u32) -> u64;

    /// How long the load driver of a machine in virtual time worked for the transaction that ended in a slot. It held the
    /// slot and is no part of the response. A real driver's own work is lateness, and shows as that.
    fn outside(&self, _slot: u32) -> Nanos {
        Nanos::ZERO
    }

    /// Why the last transaction in a slot failed, when the port knows more than an errno says.
    fn complaint(&mut self, _slot: u32) -> Option<String> {
        None
    }
}
