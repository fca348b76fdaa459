//! What a file workload is, as a study says it.

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
