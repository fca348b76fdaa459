//! The port over io_uring: one ring a worker, one system call for many operations.
//!
//! A ring has a single issuer, runs its completions only when this worker asks for them (so that no interrupt steals
//! time between two operations), and works on registered files and buffers. Flags that an older kernel does not know
//! are given up one by one; memory that may not be locked is used unregistered. Submitting and waiting is one call.

#![allow(unsafe_code)]

use crate::TrialError;
use crate::hot::storage::StorageWork;
use crate::port::buffers::Buffers;
#[cfg(miri)]
use crate::port::tests::kernel::{IoUring, Submitter, cqueue, opcode, squeue, types};
use crate::worker::assign::Share;
use crate::worker::run::{Return, Start};
#[cfg(not(miri))]
use io_uring::{IoUring, Submitter, cqueue, opcode, squeue, types};
use recorder::Clock;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::RawFd;
use system::{Completion, Outcome, Port, PortError, StoragePort, Wait};
use units::Nanos;
use workload::{Operation, OperationKind};

/// A waiting ring is woken this often, so that a device that hangs cannot keep a worker from seeing the end of the
/// trial or a stop. Ten wake-ups a second cost nothing that can be measured.
static TICK: types::Timespec = types::Timespec::new().nsec(100_000_000);

/// Marks the completion of a tick; no slot has this number.
const TICK_MARK: u64 = u64::MAX;

/// A full ring leaves in this many pieces. With all in one piece the device waits for the last operation to be prepared
/// before it sees the first; with every operation alone the calls cost more than they bring. Measured at 32 outstanding
/// on a virtual disk, pieces of 4 gave the most operations for the least CPU, and pieces of 2 and 16 less.
const PIECES: u32 = 8;

/// No piece is smaller than this: a call for each operation would be paid in CPU.
const PIECE_LEAST: u32 = 4;

/// What a ring needs to know before it is built.
#[derive(Clone, Debug)]
pub(crate) struct RingSpec {
    /// Open descriptors, one a module.
    pub(crate) files: Vec<RawFd>,
    /// Most operations outstanding.
    pub(crate) slots: u32,
    /// Largest transfer.
    pub(crate) transfer_max: u64,
    /// Wait for completions by polling the device.
    pub(crate) poll: bool,
    /// I/O priority in the kernel's encoding, 0 for none.
    pub(crate) priority: u16,
}

/// Drives a worker's operations over a ring of its own.
pub(crate) fn drive(
    spec: RingSpec,
    work: StorageWork,
    mut share: Share,
    start: &Start<'_>,
) -> Result<Return, TrialError> {
    share.batch = (spec.slots / PIECES).max(PIECE_LEAST);
    let resource = |source| TrialError::Resource { action: "building an io_uring", source };
    let mut ring = Ring::new(spec).map_err(resource)?;
    let clock = start.ready()?;
    share.drive(&mut ring.port(clock), work, start.halt)
}

/// A ring with its memory; [`Ring::port`] lends it to a driver.
pub(crate) struct Ring {
    ring: ManuallyDrop<IoUring>,
    buffers: ManuallyDrop<Buffers>,
    /// Set when operations did not come back: the kernel may still write into the buffers, so they are never given up.
    hung: bool,
    fixed_buffers: bool,
    spec: RingSpec,
}

impl Ring {
    /// Builds a ring, registers files and, where the limit on locked memory allows, buffers.
    pub(crate) fn new(spec: RingSpec) -> io::Result<Ring> {
        // One entry more than there are slots: the tick needs one, too.
        let ring = build_ring((spec.slots + 1).next_power_of_two(), spec.poll)?;
        ring.submitter().register_files(&spec.files)?;
        let buffers = Buffers::new(spec.slots, spec.transfer_max)?;
        // SAFETY: the buffers are given up only after every operation came back (see `Drop`).
        let fixed_buffers = unsafe { ring.submitter().register_buffers(&[buffers.whole()]) }.is_ok();
        let (ring, buffers) = (ManuallyDrop::new(ring), ManuallyDrop::new(buffers));
        Ok(Ring { ring, buffers, hung: false, fixed_buffers, spec })
    }

    /// The port of one worker. `clock` is zero at the start of the trial.
    pub(crate) fn port<C: Clock>(&mut self, clock: C) -> RingPort<'_, C> {
        let (mut submitter, submission, completion) = self.ring.split();
        // An older kernel looks the descriptor up at every call instead; that costs time but changes nothing else.
        let _ = submitter.register_ring_fd();
        let mut port = RingPort {
            submitter,
            submission,
            completion,
            buffers: &mut self.buffers,
            fixed_buffers: self.fixed_buffers,
            hung: &mut self.hung,
            out: 0,
            asked: vec![None; self.spec.slots as usize],
            again: Vec::new(),
            priority: self.spec.priority,
            poll: self.spec.poll,
            clock,
        };
        port.arm_tick();
        port
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.hung {
            return;
        }
        // SAFETY: dropped once, here, with no operation in flight; the ring before the memory that it has registered.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            ManuallyDrop::drop(&mut self.buffers);
        }
    }
}

/// Whether io_uring carries operations here: the kernel has it, and this process may use it.
pub fn allowed() -> bool {
    probe().is_ok()
}

/// Whether this process may use io_uring at all.
pub(crate) fn probe() -> io::Result<()> {
    let ring = IoUring::new(2)?;
    // Without this (Linux before 5.11) a wait cannot be bounded, and several operations are not there yet.
    if ring.params().is_feature_ext_arg() { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ENOSYS)) }
}

pub(crate) fn build_ring(entries: u32, poll: bool) -> io::Result<IoUring> {
    // From all that helps to the bare minimum: each step drops what came later into the kernel.
    let mut refusal = None;
    for generation in (0..4).rev() {
        let mut builder = IoUring::builder();
        builder.dontfork().setup_clamp();
        if poll {
            builder.setup_iopoll();
        }
        if generation >= 1 {
            builder.setup_coop_taskrun();
        }
        if generation >= 2 {
            builder.setup_single_issuer().setup_defer_taskrun();
        }
        if generation >= 3 {
            builder.setup_no_sqarray();
        }
        match builder.build(entries) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = Some(error),
            other => return other,
        }
    }
    Err(refusal.unwrap_or_else(|| io::Error::from_raw_os_error(libc::EINVAL)))
}

/// The wait is over, a signal came, or completions must be taken first: the caller looks and comes again.
pub(crate) fn excuse(error: io::Error) -> io::Result<()> {
    match error.raw_os_error() {
        Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
        _ => Err(error),
    }
}

/// What the kernel answered to a transfer: bytes, or a negative errno.
#[inline]
pub(crate) fn outcome(result: i32) -> Outcome {
    u32::try_from(result).map_or(Outcome::Failed { errno: -result }, |bytes| Outcome::Moved { bytes })
}

pub(crate) fn broken(source: io::Error) -> PortError {
    PortError::Kernel { action: "submitting and waiting", target: "io_uring".to_owned(), source }
}

/// A ring in use.
pub(crate) struct RingPort<'r, C: Clock> {
    submitter: Submitter<'r>,
    submission: squeue::SubmissionQueue<'r>,
    completion: cqueue::CompletionQueue<'r>,
    buffers: &'r mut Buffers,
    fixed_buffers: bool,
    hung: &'r mut bool,
    /// Operations that were staged and did not come back yet, ticks apart.
    out: u32,
    /// What each slot carries, for when the kernel wants to be asked again.
    asked: Vec<Option<(Operation, bool)>>,
    /// Slots that the kernel wants to be asked for again.
    again: Vec<u32>,
    priority: u16,
    poll: bool,
    clock: C,
}

/// How long a ring that is put away waits for what is still out.
const PATIENCE: Nanos = Nanos::from_secs(5);

impl<C: Clock> Drop for RingPort<'_, C> {
    /// Waits for what is still out: its buffers are in the kernel's hands, and its writes would land in the next trial.
    fn drop(&mut self) {
        let tick = types::Timespec::new().nsec(50_000_000);
        // By the clock: a polled ring does not wait, so that any number of looks is over in no time.
        let until = self.clock.now() + PATIENCE;
        loop {
            self.submission.sync();
            self.completion.sync();
            self.out -= (&mut self.completion).filter(|entry| entry.user_data() != TICK_MARK).count() as u32;
            if self.out == 0 || self.clock.now() >= until {
                break;
            }
            // A refusal leads to the next look.
            let _ = match self.poll {
                true => self.poll_call(),
                false => self.submitter.submit_with_args(1, &types::SubmitArgs::new().timespec(&tick)),
            };
        }
        *self.hung = self.out > 0;
        let _ = self.submitter.unregister_ring_fd();
    }
}

impl<C: Clock> RingPort<'_, C> {
    fn entry(&self, slot: u32, operation: &Operation, durable: bool) -> squeue::Entry {
        let file = types::Fixed(u32::from(operation.module));
        let address = self.buffers.address(slot);
        let (offset, bytes) = (operation.offset, operation.bytes);
        let write_flags = if durable { libc::RWF_DSYNC } else { 0 };
        let entry = match (operation.kind, self.fixed_buffers) {
            (OperationKind::Read, true) => {
                opcode::ReadFixed::new(file, address, bytes, 0).offset(offset).ioprio(self.priority).build()
            }
            (OperationKind::Read, false) => {
                opcode::Read::new(file, address, bytes).offset(offset).ioprio(self.priority).build()
            }
            (OperationKind::Write, true) => opcode::WriteFixed::new(file, address, bytes, 0)
                .offset(offset)
                .ioprio(self.priority)
                .rw_flags(write_flags)
                .build(),
            (OperationKind::Write, false) => opcode::Write::new(file, address, bytes)
                .offset(offset)
                .ioprio(self.priority)
                .rw_flags(write_flags)
                .build(),
            (OperationKind::Sync, _) => opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build(),
        };
        entry.user_data(u64::from(slot))
    }

    #[inline]
    fn push(&mut self, slot: u32, operation: &Operation, durable: bool) {
        let entry = self.entry(slot, operation, durable);
        // SAFETY: the buffer belongs to the slot, which the driver leaves alone until the completion.
        let pushed = unsafe { self.submission.push(&entry) };
        // The ring has at least as many entries as there are slots, and each slot is pushed once between two calls.
        pushed.expect("the submission queue holds an entry for every slot");
    }

    /// Asks the kernel again for operations that it did not begin: it was interrupted, or had no room at that moment. That is no
    /// failure of the device, and the wait is part of the service.
    #[cold]
    fn ask_again(&mut self) {
        for slot in std::mem::take(&mut self.again) {
            if let Some((operation, durable)) = self.asked[slot as usize] {
                self.push(slot, &operation, durable);
            }
        }
    }

    /// Asks to be woken. A polled ring takes no timers: it never sleeps, so it needs none.
    fn arm_tick(&mut self) {
        if !self.poll {
            let entry = opcode::Timeout::new(&TICK).build().user_data(TICK_MARK);
            // SAFETY: the time it points to is a static.
            let pushed = unsafe { self.submission.push(&entry) };
            pushed.expect("the submission queue holds an entry for the tick");
        }
    }

    fn enter(&mut self, wait: Wait) -> io::Result<()> {
        // A polled ring spins in the kernel and knows no timeout, so it must never be asked to wait.
        let wait = if self.poll { Wait::Poll } else { wait };
        self.submission.sync();
        let entered = match wait {
            // Deferred completions are only posted by a call that asks for events, so polling is a call, too.
            Wait::Poll => self.poll_call(),
            Wait::Completion => self.submitter.submit_and_wait(1),
            Wait::Until(at) => {
                let left = at.saturating_sub(self.clock.now());
                let time = types::Timespec::new().sec(left.0 / 1_000_000_000).nsec((left.0 % 1_000_000_000) as u32);
                self.submitter.submit_with_args(1, &types::SubmitArgs::new().timespec(&time))
            }
        };
        // The kernel has taken the entries: only a fresh look at its end of the queue makes room for the next ones.
        self.submission.sync();
        entered.map(drop).or_else(excuse)
    }

    fn send(&mut self) -> io::Result<()> {
        self.submission.sync();
        // SAFETY: no argument is passed, and the count of entries is the ring's own.
        let sent = unsafe { self.submitter.enter::<libc::sigset_t>(self.submission.len() as u32, 0, 0, None) };
        self.submission.sync();
        // What the kernel could not take now leaves with the next call.
        sent.map(drop).or_else(excuse)
    }

    fn poll_call(&self) -> io::Result<usize> {
        const GET_EVENTS: u32 = 1;
        // SAFETY: no argument is passed, and the count of entries is the ring's own.
        unsafe { self.submitter.enter::<libc::sigset_t>(self.submission.len() as u32, 0, GET_EVENTS, None) }
    }
}

impl<C: Clock> StoragePort for RingPort<'_, C> {
    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline]
    fn stage(&mut self, slot: u32, operation: &Operation, durable: bool) {
        self.asked[slot as usize] = Some((*operation, durable));
        self.push(slot, operation, durable);
        self.out += 1;
    }
}

impl<C: Clock> Port for RingPort<'_, C> {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn submit(&mut self, more: bool) -> Result<(), PortError> {
        // Without more to come it leaves with the wait in `reap`: one system call for both.
        if more { self.send().map_err(broken) } else { Ok(()) }
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        self.completion.sync();
        let ready = !self.completion.is_empty();
        // What is ready already needs no waiting, but staged operations must leave all the same.
        let wait = if ready { Wait::Poll } else { wait };
        if !ready || !self.submission.is_empty() || self.poll {
            self.enter(wait).map_err(broken)?;
            self.completion.sync();
        }
        if self.completion.is_empty() {
            return Ok(());
        }
        let at = self.clock.now();
        let mut ticked = false;
        for entry in &mut self.completion {
            match entry.user_data() {
                TICK_MARK => ticked = true,
                slot if matches!(-entry.result(), libc::EAGAIN | libc::EINTR) => self.again.push(slot as u32),
                slot => {
                    self.out -= 1;
                    into.push(Completion { slot: slot as u32, outcome: outcome(entry.result()), at });
                }
            }
        }
        if ticked {
            self.arm_tick();
        }
        if !self.again.is_empty() {
            self.ask_again();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recorder::WallClock;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    const READ: Operation = Operation { kind: OperationKind::Read, class: 0, module: 0, offset: 0, bytes: 512 };

    #[test]
    fn an_operation_that_the_kernel_could_not_begin_is_asked_for_again_and_does_not_fail() {
        if !allowed() {
            return;
        }
        // A socket that does not wait says at once that there is nothing yet.
        let (from, mut to) = UnixStream::pair().unwrap();
        from.set_nonblocking(true).unwrap();
        let files = vec![from.as_raw_fd()];
        let spec = RingSpec { files, slots: 2, transfer_max: 512, poll: false, priority: 0 };
        let mut ring = Ring::new(spec).unwrap();
        let mut port = ring.port(WallClock::new());
        let mut ended = Vec::new();
        port.stage(1, &READ, false);
        for _ in 0..5 {
            port.reap(Wait::Poll, &mut ended).unwrap();
            assert!(ended.is_empty(), "{ended:?}");
        }
        to.write_all(&[7; 512]).unwrap();
        while ended.is_empty() {
            port.reap(Wait::Completion, &mut ended).unwrap();
        }
        assert_eq!((ended.len(), ended[0].slot, ended[0].outcome), (1, 1, Outcome::Moved { bytes: 512 }));
        assert_eq!(port.buffer(1)[..512], [7; 512]);
    }

    #[test]
    fn a_ring_that_is_put_away_waits_by_the_clock_for_what_is_out() {
        if !allowed() {
            return;
        }
        let (from, _to) = UnixStream::pair().unwrap();
        let files = vec![from.as_raw_fd()];
        let spec = RingSpec { files, slots: 1, transfer_max: 512, poll: false, priority: 0 };
        let mut ring = Ring::new(spec).unwrap();
        let clock = WallClock::new();
        let begun = clock.now();
        let mut port = ring.port(clock.clone());
        port.stage(0, &READ, false);
        port.reap(Wait::Poll, &mut Vec::new()).unwrap();
        drop(port);
        assert!(clock.now() - begun >= PATIENCE, "nothing ever comes through this socket");
        assert!(ring.hung, "the kernel may still write into the buffers");
    }
}
