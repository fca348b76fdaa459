//! What analysis says of transactions: the mix of their classes, and the server that carried them out.
//!
//! The one idea: what the generator counted and what the server spent are put side by side, so that each transaction has
//! its price. What was not observed stays unknown.

use crate::{Checkpoints, WorkingSet};

/// A class against its plan. Storage plans no shares; then only the share itself is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassMix {
    /// Its completions as a share of all work of the stream; none of upkeep, and where nothing ended.
    pub share: Option<f64>,
    /// The share that is planned.
    pub planned_share: Option<f64>,
    /// Whether the share is within the tolerance of the planned one.
    pub mix_ok: Option<bool>,
    /// Seconds within which nine of ten should answer.
    pub limit_s: Option<f64>,
    /// Whether the 90th percentile of response is within that limit.
    pub response_ok: Option<bool>,
}

/// The server of a database over the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerSummary {
    /// Whether the database runs inside the generator's process: their CPU and I/O cannot be told apart.
    pub embedded: bool,
    /// Cores that the server's processes kept busy in user mode.
    pub cpu_user_cores: Option<f64>,
    /// The same in the kernel.
    pub cpu_system_cores: Option<f64>,
    /// Bytes a second that its processes read from disks.
    pub bytes_read_per_s: Option<f64>,
    /// Bytes a second that they wrote.
    pub bytes_written_per_s: Option<f64>,
    /// How many processes it has.
    pub processes: Option<f64>,
    /// What it counted itself, by name, as rates a second over the window.
    pub counters: Vec<(String, f64)>,
    /// Pages that were found in its buffer, as a share of all that were asked for.
    pub buffer_hit_share: Option<f64>,
    /// What one transaction took.
    pub per_transaction: PerTransaction,
    /// Transactions a second for each core of the machine.
    pub per_machine_core_per_s: Option<f64>,
    /// Transactions a second for each core that the server kept busy.
    pub per_server_core_per_s: Option<f64>,
    /// Its checkpoints and the window; none where nothing is known of them.
    pub checkpoints: Option<Checkpoints>,
    /// The data beside the memories that may hold it.
    pub working_set: Option<WorkingSet>,
}

/// What one transaction took of the server, on average over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerTransaction {
    /// CPU time, milliseconds.
    pub cpu_ms: Option<f64>,
    /// Bytes read from disks.
    pub bytes_read: Option<f64>,
    /// Bytes written to disks.
    pub bytes_written: Option<f64>,
    /// Bytes written to the log.
    pub log_bytes: Option<f64>,
}

impl ServerSummary {
    /// User and kernel together, where both were observed.
    pub fn cpu_cores(&self) -> Option<f64> {
        Some(self.cpu_user_cores? + self.cpu_system_cores?)
    }
}
