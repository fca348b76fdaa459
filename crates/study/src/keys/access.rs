//! Keys of the way to a system.

use super::domain::{CPUS_OF, PRIORITIES, READ_BACK, SYNCS, Said};
use super::group;
use crate::{Cpus, Driver, Priority, SyncMode};
use reading::key::{Choice, Count, Flag};

group! { ACCESS, Access;
    /// Past the page cache (O_DIRECT). File work goes through the cache unless it says otherwise.
    Storage DIRECT "direct": Flag = Flag, Is("true");
    /// When written data is made durable: never during the trial, with each write (as by `O_DSYNC`), with each write
    /// and what the file system notes of the file (as by `O_SYNC`), or after every N writes. For files, `each` syncs a
    /// file before it is closed.
    Storage SYNC "sync": Said<SyncMode> = SYNCS, Is("never");
    /// How operations reach files and devices: io_uring or nothing, or threads with pread. `auto` takes io_uring where
    /// it is allowed; where each worker has one outstanding operation, it measures both on the storage, takes pread if
    /// that is faster, or as fast for less CPU, and says so.
    Block DRIVER "driver": Choice<Driver> = Choice(Driver::WORDS), Is("auto");
    /// Poll the device for completions instead of waiting for its interrupt.
    Block POLL "poll": Flag = Flag, Is("false");
    /// Let a thread of the kernel look for operations on the io_uring, so that submitting takes no call; it has a core
    /// for itself while there is work.
    Block SQPOLL "sqpoll": Flag = Flag, Is("false");
    /// Threads of the generator that share the load.
    Block WORKERS "workers": Count = Count { min: 1, max: 1024 }, Is("1");
    /// Keep each worker on a core of its own.
    Always PIN "pin": Flag = Flag, Is("false");
    /// Processors that the threads of the stream run on; with `pin` each has one of them. `node N` are those of a node
    /// of memory, with that memory.
    Always CPUS "cpus": Said<Cpus> = CPUS_OF, Is("any");
    /// I/O priority class and level of the stream; `off` leaves the kernel's choice.
    Storage PRIORITY "priority": Said<Option<Priority>> = PRIORITIES, Is("off");
    /// Check every read against the stamps that Prony wrote, by this trial or by those before it.
    Block VALIDATE "validate": Flag = Flag, Is("false");
    /// When a trial that writes has ended, read the whole range that it wrote to back from its modules, and check it:
    /// `after`, outside of the measured window, or `never`. What an earlier run wrote is read and checked alone,
    /// without a write, by `prony verify RUN`.
    Block VERIFY "verify": Said<bool> = READ_BACK, Is("never");
}
