//! Operations under way, and what happens to them.

use units::Nanos;

/// What is still to happen. Small, for the agenda moves it about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The host's processor is done.
    Host { slot: u32 },
    /// The I/O processor is done.
    Processor { slot: u32 },
    /// The channel is done.
    Channel { slot: u32 },
    /// The port is done.
    Port { slot: u32 },
    /// It reached its controller.
    Arrived { slot: u32 },
    /// The controller is done.
    Controller { slot: u32 },
    /// Both controllers hold the write.
    Mirrored { slot: u32 },
    /// A module is done with one of a slot's parts.
    Module { module: u16, slot: u32 },
    /// The answer is back at the host.
    Back { slot: u32 },
    /// No path was left for it.
    Refused { slot: u32 },
    /// The rebuild may take its next row.
    Rebuild,
    /// Something that was planned changes.
    Change { number: u32 },
}

/// What a slot is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Work {
    #[default]
    Read,
    Write,
    Sync,
    Destage,
    Rebuild,
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    pub(super) address: u64,
    /// When it was submitted.
    pub(super) since: Nanos,
    pub(super) bytes: u32,
    /// Parts at modules that are not done.
    pub(super) pending: u32,
    pub(super) path: u16,
    /// The losses of its path when it took it: another number says that its answer never comes.
    pub(super) losses: u16,
    pub(super) group: u16,
    pub(super) class: u8,
    pub(super) work: Work,
    /// Whether the reads of a write are done.
    pub(super) writing: bool,
    pub(super) failed: bool,
    /// Whether it is behind the host: it took a path and its answer is not back.
    pub(super) inside: bool,
    /// Whether the write cache holds it. It is promised once, however often its answer is lost.
    pub(super) held: bool,
}

impl Flight {
    /// Bytes that travel to the array, and back.
    pub(super) fn travels(&self) -> (u64, u64) {
        const COMMAND: u64 = 64;
        match self.work {
            Work::Read => (COMMAND, u64::from(self.bytes)),
            Work::Write => (u64::from(self.bytes), COMMAND),
            _ => (COMMAND, COMMAND),
        }
    }

    /// The class at the modules: foreground, destage, rebuild.
    pub(super) fn rank(&self) -> usize {
        match self.work {
            Work::Destage => 1,
            Work::Rebuild => 2,
            _ => 0,
        }
    }
}
