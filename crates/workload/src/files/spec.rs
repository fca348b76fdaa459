//! What a file workload is, as a study says it.

use reading::key::{Count, Span};
use reading::{Settings, keys};
use units::Bytes;

/// n copies of a loop, each on files of its own: create a file, copy it, read the copy. The amount of work is fixed, the
/// same on every system, so that elapsed times compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// How many copies of the loop run at once.
    pub width: u32,
    /// Times that each copy goes round.
    pub loops: u32,
    /// Size of the file.
    pub file: Bytes,
    /// Bytes moved by one system call.
    pub block: Bytes,
    /// Whether created and copied files are synced to the device before they are closed.
    pub sync: bool,
}

impl Spec {
    /// Bytes on disk at one moment: a file and its copy for each copy of the loop.
    pub fn footprint(&self) -> Bytes {
        Bytes(self.file.0.saturating_mul(2).saturating_mul(u64::from(self.width)))
    }

    /// Bytes that the whole workload writes.
    pub fn written(&self) -> Bytes {
        Bytes(self.footprint().0.saturating_mul(u64::from(self.loops)))
    }
}

// What a study may say of file work.

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    /// How many copies of the loop run at once, each on files of its own.
    WIDTH "width": Count = Count { min: 1, max: 4096 }, Is("1");
    /// Times that each copy goes round: create a file, copy it, read the copy.
    LOOPS "loops": Count = Count { min: 1, max: 1_000_000 }, Is("1");
    /// Size of a file.
    FILE "file": Span<Bytes> = Span { min: Bytes(1), max: Bytes(1 << 40) }, Is("10 MB");
    /// Bytes that one system call moves.
    BLOCK "block": Span<Bytes> = Span { min: Bytes(512), max: Bytes::mib(64) }, Is("64 KiB");
}

/// The workload that these settings ask for. Whether files are synced is a matter of access.
pub fn read(settings: &mut dyn Settings) -> Spec {
    Spec {
        width: settings.get(&WIDTH) as u32,
        loops: settings.get(&LOOPS) as u32,
        file: settings.get(&FILE),
        block: settings.get(&BLOCK),
        sync: false,
    }
}
