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

/// The most that one read or write of Linux moves (`MAX_RW_COUNT`), rounded down to a whole megabyte.
const BLOCK_MAX: Bytes = Bytes::mib(2047);

impl Spec {
    /// Bytes on disk at one moment: a file and its copy for each copy of the loop.
    pub fn footprint(&self) -> Bytes {
        Bytes(self.file.0.saturating_mul(2).saturating_mul(u64::from(self.width)))
    }

    /// Bytes that the whole workload writes.
    pub fn written(&self) -> Bytes {
        Bytes(self.footprint().0.saturating_mul(u64::from(self.loops)))
    }

    /// Everything that keeps the workload from running.
    pub fn problems(&self) -> Vec<SpecError> {
        let mut problems = Vec::new();
        problems.extend((self.width == 0).then_some(SpecError::Width));
        problems.extend((self.loops == 0).then_some(SpecError::Loops));
        if self.block.0 == 0 || self.block > BLOCK_MAX {
            problems.push(SpecError::Block(self.block));
        }
        let files = u64::from(self.width) * u64::from(self.loops);
        if files > u64::from(u32::MAX) {
            problems.push(SpecError::Files(files));
        }
        problems
    }
}

/// Why a file workload cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No copy of the loop.
    #[error("width: at least 1 copy, got 0")]
    Width,
    /// No round.
    #[error("loops: at least 1 round, got 0")]
    Loops,
    /// A block that one system call cannot move.
    #[error("block: between 1 B and {}, got {}", units::bytes(BLOCK_MAX), units::bytes(*.0))]
    Block(Bytes),
    /// More files than a stamp can number.
    #[error("width times loops: at most 4294967295 files, got {0}; use fewer loops")]
    Files(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_problems_of_a_spec_are_named_at_once() {
        let spec = Spec { width: 0, loops: 0, file: Bytes(1), block: Bytes::gib(2), sync: true };
        assert_eq!(spec.problems(), [SpecError::Width, SpecError::Loops, SpecError::Block(Bytes::gib(2))]);
        let spec = Spec { width: 1 << 20, loops: 1 << 12, file: Bytes(1), block: Bytes(1), sync: true };
        assert_eq!(spec.problems(), [SpecError::Files(1 << 32)]);
    }
}
