//! What a database's server tells about itself, under names that mean the same for every engine.

/// Whether a counter only grows, and is read as a rate, or is what it is at the moment.
#[derive(PartialEq)]
enum Reads {
    Grows,
    Level,
}

/// What a counter is told in.
#[derive(PartialEq)]
enum Unit {
    Count,
    Bytes,
    Seconds,
}

macro_rules! counters {
    ($($variant:ident $name:literal $reads:ident $unit:ident,)+) => {
        $crate::words! {
            /// What a server counts, or how it stands.
            pub enum Counter {
                $(#[doc = concat!("`", $name, "`.")] $variant = $name,)+
            }
        }

        impl Counter {
            fn told(self) -> (Reads, Unit) {
                match self {
                    $(Counter::$variant => (Reads::$reads, Unit::$unit),)+
                }
            }
        }
    };
}

impl Counter {
    /// Whether it is a level, such as a size; all others only grow, and are read as rates.
    pub fn is_level(self) -> bool {
        self.told().0 == Reads::Level
    }

    /// Whether it is told in bytes.
    pub fn in_bytes(self) -> bool {
        self.told().1 == Unit::Bytes
    }
}

counters! {
    Commits "commits" Grows Count,
    Rollbacks "rollbacks" Grows Count,
    Statements "statements" Grows Count,
    Deadlocks "deadlocks" Grows Count,
    BufferHits "buffer hits" Grows Count,
    BufferReads "buffer reads" Grows Count,
    BufferRequests "buffer requests" Grows Count,
    BufferWaits "buffer waits" Grows Count,
    BuffersByCheckpoints "buffers written by checkpoints" Grows Count,
    BuffersInBackground "buffers written in background" Grows Count,
    BuffersBySessions "buffers written by sessions" Grows Count,
    CheckpointsTimed "checkpoints timed" Grows Count,
    CheckpointsRequested "checkpoints requested" Grows Count,
    PagesFlushed "pages flushed" Grows Count,
    DataBytesRead "data bytes read" Grows Bytes,
    DataBytesWritten "data bytes written" Grows Bytes,
    DataSyncs "data syncs" Grows Count,
    LogBytes "log bytes" Grows Bytes,
    LogRecords "log records" Grows Count,
    LogPageImages "log page images" Grows Count,
    LogBuffersFull "log buffers full" Grows Count,
    LogWrites "log writes" Grows Count,
    LogWriteRequests "log write requests" Grows Count,
    LogSyncs "log syncs" Grows Count,
    LogWriteSeconds "log write seconds" Grows Seconds,
    LogSyncSeconds "log sync seconds" Grows Seconds,
    LogWaits "log waits" Grows Count,
    RowLockWaits "row lock waits" Grows Count,
    RowLockSeconds "row lock seconds" Grows Seconds,
    LockSeconds "lock seconds, sampled" Grows Seconds,
    RowsScanned "rows scanned" Grows Count,
    RowsLookedUp "rows looked up" Grows Count,
    RowsInserted "rows inserted" Grows Count,
    RowsUpdated "rows updated" Grows Count,
    RowsDeleted "rows deleted" Grows Count,
    TemporaryBytes "temporary bytes" Grows Bytes,
    LockWaits "lock waits now" Level Count,
    PagesDirty "pages dirty now" Level Count,
    HistoryOfChanges "history of changes now" Level Count,
    ThreadsRunning "threads running now" Level Count,
    CheckpointAge "checkpoint age bytes now" Level Bytes,
    CheckpointTimeout "checkpoint timeout seconds now" Level Seconds,
    LogBeforeCheckpoint "log before a checkpoint bytes now" Level Bytes,
    LogCapacity "log capacity bytes now" Level Bytes,
    Buffer "buffer bytes now" Level Bytes,
    BufferOfEachSession "buffer of each session bytes now" Level Bytes,
    Buffered "buffered bytes now" Level Bytes,
    Data "data bytes now" Level Bytes,
}

/// Counters as a server gives them.
pub type Counted = Vec<(Counter, f64)>;
