//! A kernel's end of a ring as far as the ports use one, written down for Miri, which knows no io_uring.
//!
//! The one idea: it keeps the addresses that it is given, and reads and writes there as late as it may, so that Miri sees every use of
//! memory that a port should have left alone. What is being sent must also be the same at the end as at the beginning.
//!
//! What it does not do: it stands in for the io_uring crate only under Miri; everywhere else the ports use real rings.

#![allow(unsafe_code)]

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// Calls that an operation stays with the kernel for at least.
const HELD: u32 = 2;

/// Waits in vain after which a receive ends as if its socket had been shut down, because Miri cannot do that to a socket.
const IN_VAIN: u32 = 20;

/// Time that passes between two looks while a call waits.
const LOOK: Duration = Duration::from_millis(5);

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Read,
    Receive,
    Write,
    Sync,
    Timeout,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    kind: Kind,
    file: u32,
    address: *mut u8,
    length: u32,
    user_data: u64,
}

macro_rules! passed_over {
    ($($name:ident)*) => { $(pub(crate) fn $name<T>(self, _: T) -> Entry { self })* };
}

impl Entry {
    fn new(kind: Kind, types::Fixed(file): types::Fixed, address: *mut u8, length: u32) -> Entry {
        Entry { kind, file, address, length, user_data: 0 }
    }

    passed_over!(flags ioprio offset rw_flags);

    pub(crate) fn build(self) -> Entry {
        self
    }

    pub(crate) fn user_data(self, user_data: u64) -> Entry {
        Entry { user_data, ..self }
    }
}

/// An operation in the kernel's hands.
struct Out {
    entry: Entry,
    /// What its memory held when it was handed over, if it is to be sent.
    held: Vec<u8>,
    calls: u32,
}

#[derive(Default)]
struct State {
    files: Vec<RawFd>,
    staged: Vec<Entry>,
    room: usize,
    out: VecDeque<Out>,
    done: VecDeque<cqueue::Entry>,
    in_vain: u32,
}

impl State {
    fn take_staged(&mut self) {
        for entry in self.staged.drain(..) {
            let held = match entry.kind {
                // SAFETY: what is to be sent is there when it is handed over.
                Kind::Write => unsafe { std::slice::from_raw_parts(entry.address, entry.length as usize) }.to_vec(),
                _ => Vec::new(),
            };
            self.out.push_back(Out { entry, held, calls: 0 });
        }
    }

    /// One look at all that is out; the last that came is tried first.
    fn look(&mut self) {
        for _ in 0..self.out.len() {
            let Some(mut out) = self.out.pop_back() else { return };
            out.calls += 1;
            match self.carry_out(&out) {
                Some(result) if out.calls > HELD => {
                    self.done.push_back(cqueue::Entry { user_data: out.entry.user_data, result });
                }
                _ => self.out.push_front(out),
            }
        }
    }

    /// What came of an operation; nothing when it cannot end yet.
    fn carry_out(&self, out: &Out) -> Option<i32> {
        let Entry { kind, file, address, length, .. } = out.entry;
        let fd = self.files[file as usize];
        if out.calls <= HELD && kind != Kind::Timeout {
            return None;
        }
        let moved = match kind {
            Kind::Sync => 0,
            Kind::Timeout => return (out.calls > 8).then_some(-libc::ETIME),
            Kind::Read | Kind::Receive => {
                // SAFETY: whoever handed the memory over keeps it until it is told that the operation has ended.
                unsafe { libc::read(fd, address.cast(), length as usize) }
            }
            Kind::Write => {
                // SAFETY: see above.
                let now = unsafe { std::slice::from_raw_parts(address, length as usize) };
                assert_eq!(now, out.held, "what is being sent was changed meanwhile");
                // SAFETY: see above.
                unsafe { libc::write(fd, address.cast(), length as usize) }
            }
        };
        match moved {
            0.. => Some(moved as i32),
            _ => match io::Error::last_os_error().raw_os_error() {
                Some(libc::EAGAIN) if kind == Kind::Receive && self.in_vain > IN_VAIN => Some(0),
                Some(libc::EAGAIN) => None,
                errno => Some(-errno.unwrap_or(libc::EIO)),
            },
        }
    }

    fn enter(&mut self, wait: bool, looks: u32) -> io::Result<usize> {
        let count = self.staged.len();
        self.take_staged();
        self.look();
        for _ in 0..looks {
            if !wait || !self.done.is_empty() {
                break;
            }
            // Somebody else has to go on meanwhile.
            std::thread::sleep(LOOK);
            self.look();
        }
        self.in_vain = if wait && self.done.is_empty() { self.in_vain + 1 } else { 0 };
        if wait && self.done.is_empty() { Err(io::Error::from_raw_os_error(libc::ETIME)) } else { Ok(count) }
    }
}

/// A ring.
pub(crate) struct IoUring(RefCell<State>);

impl IoUring {
    pub(crate) fn new(entries: u32) -> io::Result<IoUring> {
        Ok(IoUring(RefCell::new(State { room: entries as usize, ..State::default() })))
    }

    pub(crate) fn builder() -> Builder {
        Builder
    }

    pub(crate) fn params(&self) -> Params {
        Params
    }

    pub(crate) fn submitter(&self) -> Submitter<'_> {
        Submitter(&self.0)
    }

    pub(crate) fn submission(&mut self) -> squeue::SubmissionQueue<'_> {
        squeue::SubmissionQueue(&self.0)
    }

    pub(crate) fn completion(&mut self) -> cqueue::CompletionQueue<'_> {
        cqueue::CompletionQueue(&self.0)
    }

    pub(crate) fn split(&mut self) -> (Submitter<'_>, squeue::SubmissionQueue<'_>, cqueue::CompletionQueue<'_>) {
        (Submitter(&self.0), squeue::SubmissionQueue(&self.0), cqueue::CompletionQueue(&self.0))
    }
}

impl Drop for IoUring {
    fn drop(&mut self) {
        let state = self.0.borrow();
        let only_timeouts = state.out.iter().all(|out| out.entry.kind == Kind::Timeout);
        assert!(only_timeouts, "a ring was given up while the kernel holds memory");
    }
}

/// What it knows.
pub(crate) struct Params;

impl Params {
    pub(crate) fn is_feature_ext_arg(&self) -> bool {
        true
    }
}

/// All that may be asked for when a ring is built is granted, and does nothing here.
pub(crate) struct Builder;

macro_rules! granted {
    ($($name:ident)*) => { $(pub(crate) fn $name(&mut self) -> &mut Builder { self })* };
}

impl Builder {
    granted!(dontfork setup_clamp setup_iopoll setup_coop_taskrun setup_single_issuer setup_defer_taskrun setup_no_sqarray);

    pub(crate) fn build(&self, entries: u32) -> io::Result<IoUring> {
        IoUring::new(entries)
    }
}

/// The calls.
pub(crate) struct Submitter<'r>(&'r RefCell<State>);

impl Submitter<'_> {
    fn state(&self) -> RefMut<'_, State> {
        self.0.borrow_mut()
    }

    pub(crate) fn register_files(&self, files: &[RawFd]) -> io::Result<()> {
        files.iter().for_each(|file| never_waits(*file));
        self.state().files = files.to_vec();
        Ok(())
    }

    pub(crate) fn register_files_update(&self, index: u32, files: &[RawFd]) -> io::Result<usize> {
        for (at, file) in (index as usize..).zip(files) {
            never_waits(*file);
            self.state().files[at] = *file;
        }
        Ok(files.len())
    }

    /// # Safety
    /// As of the ring's.
    pub(crate) unsafe fn register_buffers(&self, _buffers: &[libc::iovec]) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn register_ring_fd(&mut self) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn unregister_ring_fd(&mut self) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn submit_and_wait(&self, want: usize) -> io::Result<usize> {
        self.state().enter(want > 0, u32::MAX)
    }

    pub(crate) fn submit_with_args(&self, want: usize, args: &types::SubmitArgs) -> io::Result<usize> {
        self.state().enter(want > 0, args.0)
    }

    /// # Safety
    /// As of the ring's.
    pub(crate) unsafe fn enter<T>(&self, _: u32, want: u32, _: u32, _: Option<&T>) -> io::Result<usize> {
        self.state().enter(want > 0, 1)
    }
}

/// An empty place is -1.
fn never_waits(file: RawFd) {
    if file == -1 {
        return;
    }
    // SAFETY: a plain system call without pointers.
    let set = unsafe { libc::fcntl(file, libc::F_SETFL, libc::O_NONBLOCK) };
    assert_eq!(set, 0, "a descriptor that can be asked not to wait");
}

pub(crate) mod squeue {
    pub(crate) use super::Entry;
    use super::State;
    use std::cell::RefCell;

    /// There was no room.
    #[derive(Debug)]
    pub(crate) struct PushError;

    pub(crate) struct SubmissionQueue<'r>(pub(super) &'r RefCell<State>);

    impl SubmissionQueue<'_> {
        /// # Safety
        /// As of the ring's.
        pub(crate) unsafe fn push(&mut self, entry: &Entry) -> Result<(), PushError> {
            let mut state = self.0.borrow_mut();
            if state.staged.len() == state.room {
                return Err(PushError);
            }
            state.staged.push(*entry);
            Ok(())
        }

        pub(crate) fn sync(&mut self) {}

        pub(crate) fn len(&self) -> usize {
            self.0.borrow().staged.len()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.len() == 0
        }
    }
}

pub(crate) mod cqueue {
    use super::State;
    use std::cell::RefCell;

    pub(crate) struct Entry {
        pub(super) user_data: u64,
        pub(super) result: i32,
    }

    impl Entry {
        pub(crate) fn user_data(&self) -> u64 {
            self.user_data
        }

        pub(crate) fn result(&self) -> i32 {
            self.result
        }
    }

    pub(crate) struct CompletionQueue<'r>(pub(super) &'r RefCell<State>);

    impl CompletionQueue<'_> {
        pub(crate) fn sync(&mut self) {}

        pub(crate) fn len(&self) -> usize {
            self.0.borrow().done.len()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.len() == 0
        }
    }

    impl Iterator for CompletionQueue<'_> {
        type Item = Entry;

        fn next(&mut self) -> Option<Entry> {
            self.0.borrow_mut().done.pop_front()
        }
    }
}

pub(crate) mod opcode {
    use super::{Entry, Kind, types};

    macro_rules! transfers {
        ($($name:ident $kind:ident ($address:ty $(, $index:ident)?);)*) => { $(
            pub(crate) struct $name;

            impl $name {
                #[expect(clippy::new_ret_no_self, reason = "called as that of the crate is")]
                pub(crate) fn new(file: types::Fixed, address: $address, length: u32 $(, $index: u16)?) -> Entry {
                    $(let _ = $index;)?
                    Entry::new(Kind::$kind, file, address.cast_mut(), length)
                }
            }
        )* };
    }

    transfers! {
        Send Write(*const u8);
        Recv Receive(*const u8);
        Read Read(*const u8);
        ReadFixed Read(*const u8, index);
        Write Write(*const u8);
        WriteFixed Write(*const u8, index);
    }

    pub(crate) struct Fsync;
    pub(crate) struct Timeout;

    #[expect(clippy::new_ret_no_self, reason = "called as that of the crate is")]
    impl Fsync {
        pub(crate) fn new(file: types::Fixed) -> Entry {
            Entry::new(Kind::Sync, file, std::ptr::null_mut(), 0)
        }
    }

    #[expect(clippy::new_ret_no_self, reason = "called as that of the crate is")]
    impl Timeout {
        pub(crate) fn new(_time: *const types::Timespec) -> Entry {
            Entry::new(Kind::Timeout, types::Fixed(0), std::ptr::null_mut(), 0)
        }
    }
}

pub(crate) mod types {
    use super::LOOK;

    pub(crate) struct Fixed(pub(crate) u32);

    pub(crate) struct FsyncFlags;

    impl FsyncFlags {
        pub(crate) const DATASYNC: FsyncFlags = FsyncFlags;
    }

    #[derive(Clone, Copy, Default)]
    pub(crate) struct Timespec {
        seconds: u64,
        nanoseconds: u32,
    }

    impl Timespec {
        pub(crate) const fn new() -> Timespec {
            Timespec { seconds: 0, nanoseconds: 0 }
        }

        pub(crate) const fn sec(self, seconds: u64) -> Timespec {
            Timespec { seconds, ..self }
        }

        pub(crate) const fn nsec(self, nanoseconds: u32) -> Timespec {
            Timespec { nanoseconds, ..self }
        }
    }

    /// How many looks a call waits for.
    pub(crate) struct SubmitArgs(pub(super) u32);

    impl SubmitArgs {
        pub(crate) fn new() -> SubmitArgs {
            SubmitArgs(u32::MAX)
        }

        pub(crate) fn timespec(self, time: &Timespec) -> SubmitArgs {
            let wait = std::time::Duration::new(time.seconds, time.nanoseconds);
            SubmitArgs((wait.as_nanos() / LOOK.as_nanos()) as u32)
        }
    }
}
