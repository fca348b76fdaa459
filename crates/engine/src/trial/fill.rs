//! Puts stamped data into every block of the modules, so that no read hits a hole.
//!
//! One thread a module writes from start to end in large pieces, past the page cache where that is possible, and syncs
//! at the end. Writing is counted, so that whoever watches sees progress.

use crate::TrialError;
use crate::port::buffers::Buffers;
use crate::trial::side_by_side::{PIECE_BYTES, each};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use system::{Access, Module};
use units::Bytes;
use workload::block::{self, DataPool};

/// A fill of some modules.
#[derive(Clone, Copy)]
pub(crate) struct Fill<'a> {
    /// Name of the system, for errors.
    pub(crate) system: &'a str,
    /// What the data looks like; carries the seed.
    pub(crate) pool: &'a DataPool,
    /// Generation on every stamp.
    pub(crate) generation: u64,
    /// How much of each module is in use, from its start: a study may ask for a part of a device only.
    pub(crate) limit: Bytes,
    /// How much of each module is written; 1 is all of it, 2 all of it twice.
    pub(crate) times: f64,
    /// Bytes written so far, over all modules.
    pub(crate) written: &'a AtomicU64,
    /// Set from outside to end at once.
    pub(crate) stop: &'a AtomicBool,
}

impl Fill<'_> {
    /// Bytes that the fill of these modules writes.
    pub(crate) fn total_bytes(&self, modules: &[Module]) -> u64 {
        modules.iter().map(|module| self.bytes_of(module)).sum()
    }

    /// Fills the modules side by side.
    pub(crate) fn run(&self, modules: &[Module]) -> Result<(), TrialError> {
        each(modules, |index, module| self.fill_module(index, module)).map(drop)
    }

    fn bytes_of(&self, module: &Module) -> u64 {
        let sector = u64::from(module.sector_bytes());
        ((self.capacity(module) as f64 * self.times) as u64 / sector) * sector
    }

    /// Whole sectors of the part in use: direct I/O takes no others.
    fn capacity(&self, module: &Module) -> u64 {
        let sector = u64::from(module.sector_bytes());
        module.bytes().min(self.limit).0 / sector * sector
    }

    fn fill_module(&self, index: usize, module: &Module) -> Result<(), TrialError> {
        let failed = TrialError::prepare("filling", index, self.system);
        let file = module.file(Access::Direct).or_else(|_| module.file(Access::Buffered));
        let file = file.map_err(|error| failed(std::io::Error::other(error)))?;
        let mut buffers = Buffers::new(1, PIECE_BYTES).map_err(&failed)?;
        let (capacity, mut left, mut offset) = (self.capacity(module), self.bytes_of(module), 0);
        while left > 0 {
            if self.stop.load(Ordering::Relaxed) {
                return Err(TrialError::Stopped);
            }
            let piece = PIECE_BYTES.min(capacity - offset).min(left);
            let data = &mut buffers.slot(0)[..piece as usize];
            block::fill(data, index as u32, offset, self.generation, self.pool);
            file.write_all_at(data, offset).map_err(&failed)?;
            self.written.fetch_add(piece, Ordering::Relaxed);
            left -= piece;
            offset = (offset + piece) % capacity;
        }
        module.sync().map_err(|error| failed(std::io::Error::other(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::file::{Scratch, ScratchSpec};
    use workload::block::DataShape;

    #[test]
    fn only_the_part_in_use_is_written_in_whole_sectors() {
        let dirs = [std::env::temp_dir()];
        let spec = ScratchSpec { dirs: &dirs, run_id: "fill-test", modules: 1, size: Bytes::mib(3) };
        let scratch = Scratch::create(&spec).unwrap();
        let shape = DataShape::default();
        let (pool, written, stop) = (DataPool::new(1, shape), AtomicU64::new(0), AtomicBool::new(false));
        let limit = Bytes((1 << 20) + 100);
        let fill = Fill { system: "s", pool: &pool, generation: 1, limit, times: 2.0, written: &written, stop: &stop };
        fill.run(scratch.modules()).unwrap();
        assert_eq!(written.load(Ordering::Relaxed), 2 << 20);
        let mut beyond = [1; 512];
        scratch.modules()[0].file(Access::Buffered).unwrap().read_exact_at(&mut beyond, 2 << 20).unwrap();
        assert_eq!(beyond, [0; 512], "what is not in use is left alone");
    }

    /// A fill of such scratch files, whose blocks are stamped with this generation.
    fn filled(name: &str, modules: u32, stopped: bool) -> (Scratch, Result<(), TrialError>, u64) {
        let dirs = [std::env::temp_dir()];
        let spec = ScratchSpec { dirs: &dirs, run_id: name, modules, size: Bytes::mib(3) };
        let scratch = Scratch::create(&spec).unwrap();
        let shape = DataShape::default();
        let (pool, written, stop) = (DataPool::new(1, shape), AtomicU64::new(0), AtomicBool::new(stopped));
        let limit = Bytes::mib(3);
        let fill = Fill { system: "s", pool: &pool, generation: 7, limit, times: 1.0, written: &written, stop: &stop };
        let ended = fill.run(scratch.modules());
        assert_eq!(fill.total_bytes(scratch.modules()), u64::from(modules) * (3 << 20));
        (scratch, ended, written.into_inner())
    }

    #[test]
    fn every_block_carries_the_stamp_of_its_module_and_of_the_fill() {
        let (scratch, ended, written) = filled("fill-stamps", 2, false);
        assert!(ended.is_ok());
        assert_eq!(written, 6 << 20);
        for (index, module) in scratch.modules().iter().enumerate() {
            let mut block = [0; 4096];
            let file = module.file(Access::Buffered).unwrap();
            for offset in [0, (3 << 20) - 4096] {
                file.read_exact_at(&mut block, offset).unwrap();
                let expected = |generation| {
                    let generations = block::Acceptable::Exactly(generation);
                    block::Expectation { seed: 1, duplicates: block::Duplicates::default(), generations }
                };
                assert!(block::verify(&block, index as u32, offset, &expected(7)).is_ok());
                assert!(block::verify(&block, index as u32, offset, &expected(8)).is_err(), "an older fill is stale");
                assert!(block::verify(&block, 9, offset, &expected(7)).is_err(), "it is of another module");
            }
        }
    }

    #[test]
    fn a_stop_ends_a_fill_before_its_next_piece() {
        let (_scratch, ended, written) = filled("fill-stop", 1, true);
        assert!(matches!(ended, Err(TrialError::Stopped)), "{ended:?}");
        assert_eq!(written, 0);
    }
}
