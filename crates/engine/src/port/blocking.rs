//! The blocking port: pread and pwrite, one operation at a time, for where io_uring is forbidden.
//!
//! Depth comes from threads: the trial starts as many workers as it has slots.

#![allow(unsafe_code)]

use crate::TrialError;
use crate::hot::storage::StorageWork;
use crate::port::buffers::Buffers;
use crate::port::uring::{PUNCH, outcome};
use crate::worker::assign::Share;
use crate::worker::run::{Return, Start};
use recorder::Clock;
use std::io;
use std::os::fd::RawFd;
use system::{Completion, Outcome, Port, PortError, StoragePort, Wait};
use units::{Bytes, Nanos};
use workload::{Operation, OperationKind};

/// Drives a worker's operations over open descriptors, one a module; each ends before the next begins.
pub(crate) fn drive(
    (files, transfer_max, durable): (Vec<RawFd>, u64, libc::c_int),
    work: StorageWork,
    share: Share,
    start: &Start,
) -> Result<Return, TrialError> {
    let resource = |source| TrialError::Resource { action: "allocating a buffer", source };
    let buffers = Buffers::new(1, transfer_max).map_err(resource)?;
    share.drive(&mut BlockingPort { files, buffers, staged: None, durable, clock: start.ready()? }, work, &start.halt)
}

/// The port of one thread. It holds a single slot.
pub(crate) struct BlockingPort<C> {
    files: Vec<RawFd>,
    buffers: Buffers,
    staged: Option<(u32, Operation, bool)>,
    /// Flags of a write that ends only when it is durable.
    durable: libc::c_int,
    clock: C,
}

impl<C: Clock> BlockingPort<C> {
    pub(crate) fn new(files: Vec<RawFd>, transfer_max: Bytes, clock: C) -> io::Result<BlockingPort<C>> {
        Ok(BlockingPort {
            files,
            buffers: Buffers::new(1, transfer_max.0)?,
            staged: None,
            durable: libc::RWF_DSYNC,
            clock,
        })
    }

    fn carry_out(&mut self, operation: &Operation, durable: bool) -> Outcome {
        let file = self.files[usize::from(operation.module)];
        let (address, length) = (self.buffers.address(0).cast::<libc::c_void>(), operation.bytes as usize);
        let vector = libc::iovec { iov_base: address, iov_len: length };
        let offset = operation.offset as libc::off_t;
        // SAFETY: the memory lies inside this port's own buffer, which is at least as long as the largest transfer.
        let result = unsafe {
            match operation.kind {
                OperationKind::Read => libc::pread(file, address, length, offset),
                OperationKind::Write if durable => libc::pwritev2(file, &vector, 1, offset, self.durable),
                OperationKind::Write => libc::pwrite(file, address, length, offset),
                OperationKind::Trim => libc::fallocate(file, PUNCH, offset, length as libc::off_t) as isize,
                OperationKind::Sync => libc::fdatasync(file) as isize,
            }
        };
        match result {
            0.. => outcome(result as i32),
            _ => Outcome::Failed { errno: io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO) },
        }
    }
}

impl<C: Clock> StoragePort for BlockingPort<C> {
    #[inline]
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        self.buffers.slot(0)
    }

    #[inline]
    fn stage(&mut self, slot: u32, operation: &Operation, durable: bool) {
        debug_assert!(self.staged.is_none(), "a blocking port carries one operation at a time");
        self.staged = Some((slot, *operation, durable));
    }
}

impl<C: Clock> Port for BlockingPort<C> {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        match self.staged.take() {
            Some((slot, operation, durable)) => {
                let outcome = self.carry_out(&operation, durable);
                into.push(Completion { slot, outcome, at: self.clock.now() });
            }
            None => idle(&self.clock, wait),
        }
        Ok(())
    }
}

/// Nobody sleeps longer, so that a stop is seen.
pub(crate) const NAP: Nanos = Nanos::from_millis(100);

/// Waits where nothing is out, in naps.
pub(crate) fn idle(clock: &impl Clock, wait: Wait) {
    if let Wait::Until(at) = wait {
        clock.pass(at.min(clock.now().saturating_add(NAP)));
    }
}
