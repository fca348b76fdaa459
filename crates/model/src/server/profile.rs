//! What a transaction asks of a server: the profile of a class.
//!
//! The one idea: a profile is amounts a transaction, as a model file says them; a run that was measured can say them to the
//! file. Amounts are means and need not be whole; how many a single transaction has is drawn around them.

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

/// What a transaction asks a server for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Processor time of the server.
    Cpu,
    /// Processor time of the load driver on the same machine.
    Driver,
    /// Reads of storage.
    Reads,
    /// Writes of storage.
    Writes,
    /// Bytes of the log.
    LogBytes,
    /// Rows that are changed.
    Changes,
    /// Pages that are looked up in buffers.
    Lookups,
}

impl Amount {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Amount::Cpu => "processor time",
            Amount::Driver => "driver's processor time",
            Amount::Reads => "reads of storage",
            Amount::Writes => "writes of storage",
            Amount::LogBytes => "bytes of the log",
            Amount::Changes => "rows changed",
            Amount::Lookups => "pages looked up",
        }
    }

    /// Its unit, which is that of its parameter where there is one.
    pub fn unit(self) -> &'static str {
        match self {
            Amount::Cpu => "ms",
            Amount::Driver => "us",
            Amount::Reads => "reads",
            Amount::Writes => "writes",
            Amount::LogBytes => "bytes",
            Amount::Changes => "rows",
            Amount::Lookups => "pages",
        }
    }
}
