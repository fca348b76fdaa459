//! Puts stamped data into every block of the modules, so that no read hits a hole.
//!
//! One thread a module writes from start to end in large pieces, past the page cache where that is possible, and syncs
//! at the end. Writing is counted, so that whoever watches sees progress.

use crate::TrialError;
use crate::buffers::Buffers;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use system::{Access, Module};
use workload::block::{self, DataPool};

/// Large enough to reach the rate of the device, small enough to stop soon.
const PIECE_BYTES: u64 = 1 << 20;

/// A fill of some modules.
#[derive(Clone, Copy)]
pub(crate) struct Fill<'a> {
    /// Name of the system, for errors.
    pub(crate) system: &'a str,
    /// What the data looks like; carries the seed.
    pub(crate) pool: &'a DataPool,
    /// Generation on every stamp.
    pub(crate) generation: u64,
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
    ///
    /// # Errors
    /// The first module that could not be written, or that it was told to stop.
    pub(crate) fn run(&self, modules: &[Module]) -> Result<(), TrialError> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = modules
                .iter()
                .enumerate()
                .map(|(index, module)| scope.spawn(move || self.fill_module(index, module)))
                .collect();
            let results: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            results.into_iter().try_for_each(|result| match result {
                Ok(outcome) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    }

    fn bytes_of(&self, module: &Module) -> u64 {
        let sector = u64::from(module.sector_bytes());
        ((module.bytes().0 as f64 * self.times) as u64 / sector) * sector
    }

    fn fill_module(&self, index: usize, module: &Module) -> Result<(), TrialError> {
        let failed =
            |source| TrialError::Prepare { action: "filling", module: index, system: self.system.to_owned(), source };
        let file = module.file(Access::Direct).or_else(|_| module.file(Access::Buffered));
        let file = file.map_err(|error| failed(std::io::Error::other(error)))?;
        let mut buffers = Buffers::new(1, PIECE_BYTES).map_err(failed)?;
        let (capacity, mut left, mut offset) = (module.bytes().0, self.bytes_of(module), 0);
        while left > 0 {
            if self.stop.load(Ordering::Relaxed) {
                return Err(TrialError::Stopped);
            }
            let piece = PIECE_BYTES.min(capacity - offset).min(left);
            let data = &mut buffers.slot(0)[..piece as usize];
            block::fill(data, index as u32, offset, self.generation, self.pool);
            file.write_all_at(data, offset).map_err(failed)?;
            self.written.fetch_add(piece, Ordering::Relaxed);
            left -= piece;
            offset = (offset + piece) % capacity;
        }
        module.sync().map_err(|error| failed(std::io::Error::other(error)))
    }
}
