//! The port over io_uring: one ring a worker, one system call for many operations.
//!
//! A ring has a single issuer, runs its completions only when this worker asks for them (so that no interrupt steals
//! time between two operations), and works on registered files and buffers. Flags that an older kernel does not know
//! are given up one by one; memory that may not be locked is used unregistered. Submitting and waiting is one call.

#![allow(unsafe_code)]

use crate::TrialError;
use crate::hot::hung::Held;
use crate::hot::looks::Looks;
use crate::hot::storage::StorageWork;
use crate::port::buffers::Buffers;
#[cfg(miri)]
use crate::port::tests::kernel::{IoUring, Submitter, cqueue, opcode, squeue, types};
use crate::worker::assign::Share;
use crate::worker::rings::RingUse;
use crate::worker::run::{Return, Start};
#[cfg(not(miri))]
use io_uring::{IoUring, Submitter, cqueue, opcode, squeue, types};
use recorder::Clock;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
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
    /// Let a thread of the kernel look for what was submitted.
    pub(crate) sqpoll: bool,
    /// I/O priority in the kernel's encoding, 0 for none.
    pub(crate) priority: u16,
    /// Flags of a write that ends only when it is durable.
    pub(crate) durable: libc::c_int,
}

/// How long the kernel's thread goes on looking after the last submission, milliseconds; then it sleeps until it is woken.
const SQPOLL_IDLE_MS: u32 = 1_000;

/// What gives a range back: the same on files and on devices, and what was given back reads as zeroes.
pub(crate) const PUNCH: libc::c_int = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// Drives a worker's operations over a ring of its own.
pub(crate) fn drive(spec: RingSpec, work: StorageWork, mut share: Share, start: &Start) -> Result<Return, TrialError> {
    share.batch = (spec.slots / PIECES).max(PIECE_LEAST);
    let resource = |source| TrialError::Resource { action: "building an io_uring", source };
    let mut ring = Ring::new(spec).map_err(resource)?;
    let clock = start.ready()?;
    let mut port = ring.port(clock, Looks::new(share.window));
    let mut home = share.drive(&mut port, work, &start.halt)?;
    let looks = port.looks.clone();
    drop(port);
    let (generation, registered) = (ring.generation, Some(ring.fixed_buffers));
    let held = ring.give_up();
    if let Some(hung) = &mut home.noticed.hung {
        hung.held = held;
    }
    Ok(Return { ring: Some(RingUse { generation, registered, polls_first: None, looks }), ..home })
}

/// A ring with its memory; [`Ring::port`] lends it to a driver.
pub(crate) struct Ring {
    ring: ManuallyDrop<IoUring>,
    buffers: ManuallyDrop<Buffers>,
    /// Operations that did not come back: the kernel may still write into the buffers.
    out: u32,
    fixed_buffers: bool,
    /// As [`RingUse::generation`].
    generation: u8,
    spec: RingSpec,
}

impl Ring {
    /// Builds a ring, registers files and, where the limit on locked memory allows, buffers.
    pub(crate) fn new(spec: RingSpec) -> io::Result<Ring> {
        // One entry more than there are slots: the tick needs one, too.
        let (ring, generation) = build_ring((spec.slots + 1).next_power_of_two(), spec.poll, spec.sqpoll)?;
        // One place more than there are modules, for `give_up`.
        let files: Vec<RawFd> = spec.files.iter().copied().chain([-1]).collect();
        ring.submitter().register_files(&files)?;
        let buffers = Buffers::new(spec.slots, spec.transfer_max)?;
        // SAFETY: the buffers are given up only after every operation came back (see `Drop`).
        let fixed_buffers = unsafe { ring.submitter().register_buffers(&[buffers.whole()]) }.is_ok();
        let (ring, buffers) = (ManuallyDrop::new(ring), ManuallyDrop::new(buffers));
        Ok(Ring { ring, buffers, out: 0, fixed_buffers, generation, spec })
    }

    /// The port of one worker. `clock` is zero at the start of the trial.
    pub(crate) fn port<C: Clock>(&mut self, clock: C, looks: Looks) -> RingPort<'_, C> {
        let (mut submitter, submission, completion) = self.ring.split();
        // An older kernel looks the descriptor up at every call instead; that costs time but changes nothing else.
        let _ = submitter.register_ring_fd();
        let mut port = RingPort {
            submitter,
            submission,
            completion,
            buffers: &mut self.buffers,
            fixed_buffers: self.fixed_buffers,
            left: &mut self.out,
            out: 0,
            asked: vec![None; self.spec.slots as usize],
            again: Vec::new(),
            priority: self.spec.priority,
            poll: self.spec.poll,
            sqpoll: self.spec.sqpoll,
            durable: self.spec.durable,
            clock,
            read: Nanos::ZERO,
            looks,
        };
        port.arm_tick();
        port
    }

    /// Closes the ring. What did not come back stays in the kernel's hands, together with the memory that it may write to.
    pub(crate) fn give_up(mut self) -> Option<Held> {
        if self.out == 0 {
            return None;
        }
        let told_by = self.watched().ok();
        // SAFETY: each is taken once: with operations out, `Drop` leaves both alone. The memory outlives the operations.
        let (ring, buffers) = unsafe { (ManuallyDrop::take(&mut self.ring), ManuallyDrop::take(&mut self.buffers)) };
        drop(ring);
        Some(Held::new(self.out, told_by, Box::new(buffers)))
    }

    /// One end of a pipe. The other is the ring's alone, and the kernel closes it with the last operation of a closed ring.
    fn watched(&self) -> io::Result<OwnedFd> {
        let (reader, writer) = io::pipe()?;
        self.ring.submitter().register_files_update(self.spec.files.len() as u32, &[writer.as_raw_fd()])?;
        Ok(reader.into())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.out > 0 {
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

/// A ring, and how much of what helps the kernel gave it.
pub(crate) fn build_ring(entries: u32, poll: bool, sqpoll: bool) -> io::Result<(IoUring, u8)> {
    // From all that helps to the bare minimum: each step drops what came later into the kernel.
    let mut refusal = None;
    // Completions that wait to be asked for are no help to a thread that asks for nothing.
    let generations = if sqpoll { 0..1 } else { 0..4 };
    for generation in generations.rev() {
        let mut builder = IoUring::builder();
        builder.dontfork().setup_clamp();
        if poll {
            builder.setup_iopoll();
        }
        if sqpoll {
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
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
            other => return other.map(|ring| (ring, generation)),
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
    /// Where it says how many did not come back.
    left: &'r mut u32,
    /// Operations that were staged and did not come back yet, ticks apart.
    out: u32,
    /// What each slot carries, for when the kernel wants to be asked again.
    asked: Vec<Option<(Operation, bool)>>,
    /// Slots that the kernel wants to be asked for again.
    again: Vec<u32>,
    priority: u16,
    poll: bool,
    sqpoll: bool,
    durable: libc::c_int,
    clock: C,
    /// What the clock said when it was asked last: a look begins right behind that.
    read: Nanos,
    looks: Looks,
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
        *self.left = self.out;
        let _ = self.submitter.unregister_ring_fd();
    }
}

impl<C: Clock> RingPort<'_, C> {
    fn entry(&self, slot: u32, operation: &Operation, durable: bool) -> squeue::Entry {
        let file = types::Fixed(u32::from(operation.module));
        let address = self.buffers.address(slot);
        let (offset, bytes) = (operation.offset, operation.bytes);
        let write_flags = if durable { self.durable } else { 0 };
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
            (OperationKind::Trim, _) => opcode::Fallocate::new(file, bytes.into()).offset(offset).mode(PUNCH).build(),
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
            // Wakes the kernel's thread where it sleeps; completions come by themselves.
            Wait::Poll if self.sqpoll => self.submitter.submit(),
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
        self.read = self.clock.now();
        self.read
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        self.looks.begin(self.read);
        self.completion.sync();
        let ready = !self.completion.is_empty();
        // What is ready already needs no waiting, but staged operations must leave all the same.
        let wait = if ready { Wait::Poll } else { wait };
        if !ready || !self.submission.is_empty() || self.poll {
            self.enter(wait).map_err(broken)?;
            self.completion.sync();
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
        self.looks.end(at, self.out > 0);
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
    use crate::sample;
    use crate::worker::assign::{Carriers, Place, StreamOf, assign};
    use crate::worker::calls::Calls;
    use crate::worker::run::Gate;
    use load::{Spec, Think};
    use observation::Window;
    use recorder::{Collector, WallClock};
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;
    use units::Bytes;

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
        let spec = RingSpec { files, slots: 2, transfer_max: 512, poll: false, sqpoll: false, priority: 0, durable: 0 };
        let mut ring = Ring::new(spec).unwrap();
        let mut port = ring.port(WallClock::new(), Looks::new(Window::default()));
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
        let spec = RingSpec { files, slots: 1, transfer_max: 512, poll: false, sqpoll: false, priority: 0, durable: 0 };
        let mut ring = Ring::new(spec).unwrap();
        let clock = WallClock::new();
        let begun = clock.now();
        let mut port = ring.port(clock.clone(), Looks::new(Window::default()));
        port.stage(0, &READ, false);
        port.reap(Wait::Poll, &mut Vec::new()).unwrap();
        drop(port);
        assert!(clock.now() - begun >= PATIENCE, "nothing ever comes through this socket");
        assert_eq!(ring.out, 1, "the kernel may still write into the buffers");
        // Closing a ring ends what waits for a socket: so the kernel lets go, and says so.
        let held = ring.give_up().expect("one operation is out");
        while !held.is_over() {
            assert!(clock.now() - begun < PATIENCE + Nanos::from_secs(20));
            std::thread::yield_now();
        }
    }

    #[test]
    fn an_operation_that_hangs_is_named_with_its_time_and_with_what_the_kernel_holds() {
        if !allowed() {
            return;
        }
        let (from, _to) = UnixStream::pair().unwrap();
        let spec = RingSpec {
            files: vec![from.as_raw_fd()],
            slots: 2,
            transfer_max: 4096,
            poll: false,
            sqpoll: false,
            priority: 0,
            durable: 0,
        };
        let mut trial = sample::trial(Spec::Closed { slots: 2, think: Think::None }, Nanos::from_millis(1));
        (trial.phases.warm_up, trial.phases.drain) = (Nanos::ZERO, Nanos::from_millis(20));
        // A socket has no place but its beginning.
        trial.module_bytes = Bytes::kib(4);
        let mut collector = Collector::default();
        let carriers = |stream: StreamOf<'_>| {
            let work =
                stream.storage_work(Bytes::gib(1), Place { worker: 0, workers: 1, first: 0, slots: 2, number: 0 })?;
            let mut work = Some(work);
            Ok(Carriers::new(1, move |_| Ok(work.take().expect("there is one worker"))))
        };
        let (share, work) = assign(&trial, &mut collector, carriers).unwrap().remove(0);
        let (clock, gate) = (WallClock::new(), Arc::new(Gate::new()));
        // The ring is built before it opens.
        gate.set(Some(clock.now() + Nanos::from_millis(100))).unwrap();
        let (halt, calls) = (Arc::new(AtomicBool::new(false)), Calls::default());
        let (words, _heard) = channel();
        let home = drive(spec, work, share, &Start { clock, gate, halt, calls, words }).unwrap();
        assert_eq!(home.account.unwrap().censored, 2);
        let hung = home.noticed.hung.expect("both hung");
        let told = hung.told();
        assert!(told.starts_with("Read of 4096 B at offset 0 of module 0 hung: it had been out for "), "{told}");
        assert!(
            told.ends_with(
                " and 1 other operation with it when the time to drain was over; 2 of them did not come back at all"
            ),
            "{told}"
        );
        assert_eq!((hung.operations, hung.at), (2, Nanos::from_millis(21)));
    }
}
