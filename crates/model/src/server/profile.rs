//! What a transaction asks of a server: the profile of a class.
//!
//! The one idea: a profile is amounts a transaction, as a model file says them; a run that was measured can say them to the
//! file. Amounts are means and need not be whole; how many a single transaction has is drawn around them.

use super::Reads;
use crate::form::processors::Processors;
use workload::Demand;

/// What a transaction of a class asks for, on the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Profile {
    /// Processor time on a core of its own, milliseconds.
    pub cpu_ms: f64,
    /// Reads of storage, one after the other.
    pub reads: f64,
    /// Writes of storage that nobody waits for.
    pub writes: f64,
    /// Bytes that it leaves in the log.
    pub log_bytes: f64,
    /// Rows that it changes; without any it does not wait for the log.
    pub changes: f64,
}

/// How many times what the transaction of a model asks for one of a class asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// Of processor time.
    pub work: f64,
    /// Of reads.
    pub reads: f64,
    /// Of writes, rows changed and bytes of the log.
    pub changes: f64,
}

impl Factors {
    /// Of a class that asks for what the model's transaction does.
    pub const ALIKE: Factors = Factors { work: 1.0, reads: 1.0, changes: 1.0 };

    /// Of a class that asks for so much, where the model's transaction asks for `known`. Where that asks for nothing of
    /// something, nothing is known of it but whether there is any.
    pub fn of(asked: Demand, known: Demand) -> Factors {
        let of = |asked: f64, known: f64| if known > 0.0 { asked / known } else { f64::from(u8::from(asked > 0.0)) };
        Factors {
            work: of(asked.statements, known.statements),
            reads: of(asked.lookups, known.lookups),
            changes: of(asked.changes, known.changes),
        }
    }
}

impl Profile {
    /// The profile of each class; of all together where nothing is known of classes.
    pub fn of_each(self, classes: &[Factors]) -> Vec<Profile> {
        let times = |factors: &Factors| Profile {
            cpu_ms: self.cpu_ms * factors.work,
            reads: self.reads * factors.reads,
            writes: self.writes * factors.changes,
            log_bytes: self.log_bytes * factors.changes,
            changes: self.changes * factors.changes,
        };
        if classes.is_empty() { vec![self] } else { classes.iter().map(times).collect() }
    }
}

units::words! {
    /// What a transaction asks a server for.
    pub enum Amount {
        Cpu = "processor time" "Processor time of the server.",
        SourceMirror = "processor time for the mirror" "What of the server's is added by mirroring.",
        TargetMirror = "processor time of the mirror" "Processor time of a second server that mirrors.",
        Driver = "driver's processor time" "Processor time of the load driver on the same machine.",
        Reads = "reads of storage" "Reads of storage.",
        Writes = "writes of storage" "Writes of storage.",
        LogBytes = "bytes of the log" "Bytes of the log.",
        Changes = "rows changed" "Rows that are changed.",
        Lookups = "pages looked up" "Pages that are looked up in buffers.",
    }
}

impl Amount {
    /// Its unit, which is that of its parameter where there is one.
    pub fn unit(self) -> &'static str {
        match self {
            Amount::Cpu | Amount::SourceMirror | Amount::TargetMirror => "ms",
            Amount::Driver => "us",
            Amount::Reads => "reads",
            Amount::Writes => "writes",
            Amount::LogBytes => "bytes",
            Amount::Changes => "rows",
            Amount::Lookups => "pages",
        }
    }
}

// What a server is built from.

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
