//! What a server is built from.

use super::{Profile, Reads};
use crate::form::processors::Processors;

/// Where the work of processors is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// On processors that all who are ready share.
    Shared(Processors),
    /// As a delay: the processors are far from busy.
    Delay,
}

/// The log, which one write after the other fills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log {
    /// A write, microseconds.
    pub write_us: f64,
    /// Bytes a second beyond that; infinite when size does not matter.
    pub bytes_per_s: f64,
}

/// A server with its classes of transactions.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The processors.
    pub work: Work,
    /// Where reads go.
    pub reads: Reads,
    /// The log; none when the profile has it in its times.
    pub log: Option<Log>,
    /// The load driver's own work for each transaction, microseconds: where the processors' work is done, before the
    /// response begins.
    pub driver_us: f64,
    /// Transactions that are inside at once; others wait for one to leave, as a part of their response. With 0 all are.
    pub jobs: u32,
    /// What transactions of each class ask for; a class beyond them is taken for the last.
    pub classes: Vec<Profile>,
}
