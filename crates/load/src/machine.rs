//! The interface of the state machine, shared by all loads.

use units::Nanos;

/// An operation that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The slot that carries it until [`Load::completed`]; below the number of slots of this worker.
    pub slot: u32,
    /// Its number in the stream, over all workers.
    pub n: u64,
    /// When it was meant to start; response time counts from here.
    pub intended: Nanos,
    /// What a spawning operation handed over; 0 for a scheduled arrival.
    pub payload: u64,
}

/// What a driver should do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Issue this operation now, and ask again.
    Issue(Arrival),
    /// Nothing is due before this moment; completions may change that.
    WaitUntil(Nanos),
    /// Nothing can start before something completes.
    Blocked,
    /// Nothing will ever be due again.
    Finished,
}

/// One worker's share of a stream's load.
pub trait Load {
    /// What to do at `now`. Time never runs backwards between calls.
    fn next(&mut self, now: Nanos) -> Next;

    /// The operation in `slot` ended at `at`.
    fn completed(&mut self, slot: u32, at: Nanos);

    /// Adds an operation caused by another, due at `intended`. Returns whether there was room for it.
    fn spawn(&mut self, intended: Nanos, payload: u64) -> bool;

    /// Think time that the slots of this worker spent inside the span, summed; 0 for an open load.
    fn think_within(&self, from: Nanos, to: Nanos) -> u128;
}
