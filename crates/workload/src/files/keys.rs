//! What a study may say of file work.

use super::Spec;
use reading::key::{Count, Span};
use reading::{Settings, keys};
use units::Bytes;

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    WIDTH "width": Count = Count { min: 1, max: 4096 }, Is("1"),
        "How many copies of the loop run at once, each on files of its own.";
    LOOPS "loops": Count = Count { min: 1, max: 1_000_000 }, Is("1"),
        "Times that each copy goes round: create a file, copy it, read the copy.";
    FILE "file": Span<Bytes> = Span { min: Bytes(1), max: Bytes(1 << 40) }, Is("10 MB"), "Size of a file.";
    BLOCK "block": Span<Bytes> = Span { min: Bytes(512), max: Bytes::mib(64) }, Is("64 KiB"),
        "Bytes that one system call moves.";
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
