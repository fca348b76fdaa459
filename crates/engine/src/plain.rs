//! The plain road: pread and pwrite, one operation at a time, for where io_uring is forbidden.
//!
//! Depth comes from threads: the trial starts as many workers as it has slots.

#![allow(unsafe_code)]

use crate::buffers::Buffers;
use recorder::Clock;
use std::io;
use std::os::fd::RawFd;
use system::{Completion, Port, PortError, Wait};
use units::Nanos;
use workload::{Operation, OperationKind};

/// One thread's road. It holds a single slot.
pub(crate) struct Plain {
    files: Vec<RawFd>,
    buffers: Buffers,
}

impl Plain {
    /// A road over open descriptors, one a module.
    ///
    /// # Errors
    /// When memory for the buffer is short.
    pub(crate) fn new(files: Vec<RawFd>, transfer_max: u64) -> io::Result<Plain> {
        Ok(Plain { files, buffers: Buffers::new(1, transfer_max)? })
    }

    /// The road in use. `clock` is zero at the start of the trial.
    pub(crate) fn port<C: Clock>(&mut self, clock: C) -> PlainPort<'_, C> {
        PlainPort { plain: self, staged: None, clock }
    }

    fn carry_out(&mut self, operation: &Operation, durable: bool) -> i32 {
        let file = self.files[usize::from(operation.module)];
        let vector = libc::iovec { iov_base: self.buffers.address(0).cast(), iov_len: operation.bytes as usize };
        let offset = operation.offset as libc::off_t;
        // SAFETY: the vector lies inside this port's own buffer, which is at least as long as the largest transfer.
        let result = unsafe {
            match operation.kind {
                OperationKind::Read => libc::preadv(file, &vector, 1, offset),
                OperationKind::Write if durable => libc::pwritev2(file, &vector, 1, offset, libc::RWF_DSYNC),
                OperationKind::Write => libc::pwritev(file, &vector, 1, offset),
                OperationKind::Sync => libc::fdatasync(file) as isize,
                OperationKind::Transaction => unreachable!("transactions go to sessions"),
            }
        };
        if result < 0 { -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) } else { result as i32 }
    }
}

/// A plain road with a clock.
pub(crate) struct PlainPort<'p, C> {
    plain: &'p mut Plain,
    staged: Option<(u32, Operation, bool)>,
    clock: C,
}

impl<C: Clock> Port for PlainPort<'_, C> {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        self.plain.buffers.slot(0)
    }

    #[inline]
    fn stage(&mut self, slot: u32, operation: &Operation, durable: bool) {
        debug_assert!(self.staged.is_none(), "a plain road carries one operation at a time");
        self.staged = Some((slot, *operation, durable));
    }

    #[inline]
    fn submit(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        match self.staged.take() {
            Some((slot, operation, durable)) => {
                let result = self.plain.carry_out(&operation, durable);
                into.push(Completion { slot, result, at: self.clock.now() });
            }
            None => {
                if let Wait::Until(at) = wait {
                    // In naps, so that a stop is seen.
                    let nap = self.clock.now().saturating_add(Nanos::from_millis(100));
                    self.clock.pass(at.min(nap));
                }
            }
        }
        Ok(())
    }
}
