//! What a transaction asks of a server: the profile of a class.
//!
//! The one idea: a profile is amounts a transaction, whoever says them: a model file, or a run that was measured. Amounts are
//! means and need not be whole; how many a single transaction has is drawn around them.

use crate::kind::Values;

/// What a transaction of a class asks for, on the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Profile {
    /// Processor time on a core of its own, milliseconds.
    pub cpu_ms: f64,
    /// Pages that are looked up in buffers.
    pub lookups: f64,
    /// Reads of storage, one after the other.
    pub serial_reads: f64,
    /// Reads of storage that are asked for at once; the last one is waited for.
    pub parallel_reads: f64,
    /// Writes of storage that nobody waits for.
    pub writes: f64,
    /// Hot rows that it holds to its end: 0.2 says that every fifth transaction takes one.
    pub locks: f64,
    /// Bytes that it leaves in the log.
    pub log_bytes: f64,
    /// Rows that it changes; without any it does not wait for the log.
    pub changes: f64,
}

/// What a measured run counted over its window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amounts {
    /// Transactions that were completed.
    pub transactions: u64,
    /// Processor time of the server, seconds.
    pub cpu_s: f64,
    /// Pages that were looked up.
    pub lookups: u64,
    /// Reads of storage.
    pub reads: u64,
    /// Writes of storage beside the log.
    pub writes: u64,
    /// Bytes of the log.
    pub log_bytes: u64,
    /// Rows that were changed.
    pub changes: u64,
}

/// Why a run gives no profile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProfileError {
    /// Nothing to divide by.
    #[error("a profile is amounts a transaction: at least one completed transaction, got none")]
    NoTransactions,
    /// Time that is no time.
    #[error("processor time of a run is a number of seconds above zero, got {got}")]
    NoTime {
        /// What was given.
        got: f64,
    },
}

impl Profile {
    /// The profile of a measured run. A run does not tell which reads were asked for at once, so all are taken for serial,
    /// and it does not tell hot rows, so there are none; the processor time holds whatever ran beside the transactions.
    ///
    /// # Errors
    /// Without transactions or processor time.
    pub fn of_amounts(amounts: &Amounts) -> Result<Profile, ProfileError> {
        if amounts.transactions == 0 {
            return Err(ProfileError::NoTransactions);
        }
        if !(amounts.cpu_s.is_finite() && amounts.cpu_s > 0.0) {
            return Err(ProfileError::NoTime { got: amounts.cpu_s });
        }
        let each = |count: u64| count as f64 / amounts.transactions as f64;
        Ok(Profile {
            cpu_ms: 1e3 * amounts.cpu_s / amounts.transactions as f64,
            lookups: each(amounts.lookups),
            serial_reads: each(amounts.reads),
            parallel_reads: 0.0,
            writes: each(amounts.writes),
            locks: 0.0,
            log_bytes: each(amounts.log_bytes),
            changes: each(amounts.changes),
        })
    }

    /// The transaction of a server on flash.
    pub fn of_flash(values: &Values) -> Profile {
        Profile {
            cpu_ms: values.of("demand"),
            serial_reads: values.of("reads"),
            writes: values.of("writes"),
            changes: 1.0,
            ..Profile::default()
        }
    }

    /// The transaction of a server on disks: processors, cache hits and the log are one delay there.
    pub fn of_disks(values: &Values) -> Profile {
        Profile { cpu_ms: values.of("other"), serial_reads: values.of("disk_reads"), ..Profile::default() }
    }

    /// The same with other memory: misses by a factor, so reads by the same, and never more reads than lookups.
    #[must_use]
    pub fn with_misses(self, factor: f64) -> Profile {
        let reads = self.serial_reads + self.parallel_reads;
        let most = if self.lookups > 0.0 { (self.lookups / reads.max(1e-12)).max(1.0) } else { f64::INFINITY };
        let factor = factor.clamp(0.0, most);
        Profile { serial_reads: self.serial_reads * factor, parallel_reads: self.parallel_reads * factor, ..self }
    }
}
