//! A workload of transactions, as the one who carries them out sees it.

use super::{Answers, Batch};
use std::any::Any;
use units::Nanos;

/// What a transaction wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Carry out the calls of the batch, and step again with their answers.
    Send,
    /// Wait so long, then step again with no answers: a pause that the user's own script asked for.
    Sleep(Nanos),
    /// It cannot go on for a reason of its own (a division by zero in a script); [`Business::complaint`] says which.
    Fail,
    /// It is over. What it began is committed or rolled back.
    Done {
        /// Whether it rolled back on purpose.
        rolled_back: bool,
    },
}

/// How a transaction ended, for the one who began it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It went to its end, and its commit was acknowledged.
    Done,
    /// It failed and nothing of it was kept.
    Failed,
    /// The connection was lost after the commit had left: whether it was kept is not known.
    Unknown,
}

/// An operation that another one caused, such as the fill of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caused {
    /// When it is due.
    pub due: Nanos,
    /// What [`Business::class`] and [`Business::begin`] are given back.
    pub payload: u64,
}

/// Which transaction is to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Number of the arrival in the stream; caused ones are numbered apart, from 2^63.
    pub n: u64,
    /// What the causing transaction handed over; 0 for an arrival of the schedule.
    pub payload: u64,
    /// When it begins, on the trial's clock. For what depends on the calendar of the data, not for measuring.
    pub at: Nanos,
}

/// One worker's share of a workload of transactions: draws them, steps them, and hears how they ended. A slot carries one
/// transaction at a time.
pub trait Business: Any + Send {
    /// The class of an arrival, an index into the classes of the workload. Scheduled arrivals have payload 0.
    fn class(&mut self, n: u64, payload: u64) -> u16;

    /// When the next transaction of a slot is due, on the trial's clock, where the workload paces itself
    /// ([`Transactions::paces_itself`](crate::kind::Transactions::paces_itself)).
    fn due(&mut self, _slot: u32) -> Option<Nanos> {
        None
    }

    /// Begins a transaction in a slot.
    fn begin(&mut self, slot: u32, begun: Begun);

    /// The next step of the transaction in a slot. `batch` is empty and to be filled; `answers` are those to the batch
    /// before, none at the first step.
    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step;

    /// Why the transaction in a slot could not go on, after [`Step::Fail`].
    fn complaint(&mut self, _slot: u32) -> Option<String> {
        None
    }

    /// What may be kept of a server's words about a statement that failed: all of them, unless they repeat values of somebody's clients.
    fn answered(&self, words: String) -> String {
        words
    }

    /// The transaction was rolled back by the engine (a serialisation failure, a deadlock) and begins anew with the same
    /// inputs.
    fn restart(&mut self, slot: u32);

    /// The transaction ended at `at`. What it causes is added to `caused`.
    fn ended(&mut self, slot: u32, ending: Ending, at: Nanos, caused: &mut Vec<Caused>);

    /// How much the transaction gave that has just ended well in a slot, in the words of its class.
    fn gave(&mut self, _slot: u32) -> u64 {
        1
    }

    /// How old the data was that the transaction saw which has just ended in a slot; none where it looked at no mark.
    fn age(&mut self, _slot: u32) -> Option<Nanos> {
        None
    }
}
