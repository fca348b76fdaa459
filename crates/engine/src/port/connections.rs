//! The road of transactions over many conversations at once: one thread, one ring, one system call for many sessions.
//!
//! The one idea: a conversation is a machine without I/O; this port moves its bytes. Whatever became ready is answered
//! together, and what the answers lead to leaves together with the next wait. A transaction waits in order until a
//! conversation is free, and that wait is part of its response.

#![allow(unsafe_code)]

use crate::port::reconnect::{self, Again};
use crate::port::session::{Work, errno, may_have_committed, open_after};
use crate::port::uring::{build_ring, excuse};
use database::postgres::{Progress, Wire};
use database::{Failure, FailureKind};
use io_uring::{IoUring, opcode, types};
use recorder::Clock;
use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use system::{Completion, Port, PortError, Wait};
use units::Nanos;
use workload::Operation;
use workload::transaction::{Answers, Batch, Begun, Caused, Ending, Step};

/// Bytes that one receive takes: more than nearly every answer.
const INPUT: usize = 16 << 10;

/// Has the kernel wait for the first byte before it looks for one: an answer never is there when its question leaves.
/// Known since Linux 5.19; the io-uring crate has no name for it.
const POLL_FIRST: u16 = 1;

/// No wait is longer, so that a stop is seen.
const NAP: Nanos = Nanos::from_millis(100);

/// How long a port that is put away waits for what the kernel still holds.
const LOOKS: u32 = 100;

/// A conversation with its socket.
pub(crate) struct Line {
    pub(crate) wire: Wire,
    pub(crate) socket: OwnedFd,
}

/// A conversation in use.
struct Talk {
    wire: Wire,
    socket: OwnedFd,
    input: Box<[u8]>,
    batch: Batch,
    answers: Answers,
    doing: Doing,
    /// Whether a transaction is open behind the last batch that was answered.
    open: bool,
    /// In the kernel's hands.
    sending: bool,
    receiving: bool,
    /// What the answers came to while bytes were still being sent.
    held: Option<Progress>,
}

/// What a conversation is used for.
#[derive(Clone, Copy, PartialEq)]
enum Doing {
    /// It is free.
    Nothing,
    /// A transaction and its repeated attempts.
    Transaction { slot: u32, repeated: u32 },
    /// The rollback of a transaction that could not go on by itself.
    Undo { slot: u32 },
    /// The connection is gone; a new one is opened as soon as the kernel has let go of the old one's memory.
    Gone,
}

/// The port over many conversations.
pub(crate) struct WirePort<C> {
    ring: ManuallyDrop<IoUring>,
    talks: ManuallyDrop<Vec<Talk>>,
    again: Again,
    /// Why a lost connection could not be opened again: then nothing can be carried any more.
    lost: Option<String>,
    work: Option<Work>,
    clock: C,
    waiting: VecDeque<u32>,
    free: Vec<usize>,
    /// Conversations whose script asked for a pause, and until when.
    asleep: Vec<(Nanos, usize)>,
    ended: Vec<Completion>,
    caused: Vec<Caused>,
    /// What is to be said of failed transactions, by their slots.
    complaints: Vec<(u32, String)>,
    /// How receives are asked for.
    receive_flags: u16,
    /// Operations in the kernel's hands.
    out: u32,
}

impl<C: Clock> WirePort<C> {
    /// A ring over the conversations, built on the thread that will use it.
    ///
    /// # Errors
    /// When io_uring is forbidden or memory is short.
    pub(crate) fn new((lines, again): (Vec<Line>, Again), work: Work, clock: C, slots: u32) -> io::Result<WirePort<C>> {
        let ring = build_ring((lines.len() as u32 * 2 + 2).next_power_of_two(), false)?;
        let sockets: Vec<RawFd> = lines.iter().map(|line| line.socket.as_raw_fd()).collect();
        ring.submitter().register_files(&sockets)?;
        let free = (0..lines.len()).rev().collect();
        let talks = lines.into_iter().map(Talk::new).collect();
        Ok(WirePort {
            ring: ManuallyDrop::new(ring),
            talks: ManuallyDrop::new(talks),
            again,
            lost: None,
            work: Some(work),
            clock,
            waiting: VecDeque::with_capacity(slots as usize),
            free,
            asleep: Vec::new(),
            ended: Vec::new(),
            caused: Vec::new(),
            complaints: Vec::new(),
            receive_flags: POLL_FIRST,
            out: 0,
        })
    }

    /// Hands back what was worked with.
    pub(crate) fn dismantle(mut self) -> Option<Work> {
        self.work.take()
    }

    fn work(&mut self) -> &mut Work {
        self.work.as_mut().expect("the work stays until the port is dismantled")
    }

    /// Gives waiting transactions to free conversations, and wakes those that slept long enough.
    fn dispatch(&mut self) {
        if !self.asleep.is_empty() {
            let now = self.clock.now();
            while let Some(at) = self.asleep.iter().position(|(until, _)| *until <= now) {
                let (_, index) = self.asleep.swap_remove(at);
                self.step(index);
            }
        }
        while !self.free.is_empty() {
            let Some(slot) = self.waiting.pop_front() else { return };
            let Some(index) = self.free.pop() else { return };
            self.start(index, slot, 0);
        }
        if self.lost.is_some() {
            self.refuse_waiting();
        }
    }

    /// Opens a new connection in the place of a lost one, once nothing of the old one is in the kernel's hands.
    fn revive(&mut self, index: usize) {
        let talk = &mut self.talks[index];
        if talk.sending || talk.receiving {
            // What still waits for bytes ends now; its completion leads here again.
            let _ = rustix::net::shutdown(&talk.socket, rustix::net::Shutdown::Both);
            return;
        }
        let opened = self.again.line().and_then(|line| {
            let update = self.ring.submitter().register_files_update(index as u32, &[line.socket.as_raw_fd()]);
            update.map(|_| line).map_err(|error| error.to_string())
        });
        match opened {
            Ok(line) => {
                self.talks[index] = Talk::new(line);
                self.free.push(index);
            }
            Err(why) => self.lost = Some(why),
        }
    }

    /// Nobody is left to carry what waits.
    fn refuse_waiting(&mut self) {
        let at = self.clock.now();
        while let Some(slot) = self.waiting.pop_front() {
            let why = self.lost.clone().unwrap_or_default();
            self.complaints.push((slot, reconnect::words("a session of this worker is gone", Err(why))));
            self.close(slot, Ending::Failed, -libc::ENOTCONN, at);
        }
    }

    fn start(&mut self, index: usize, slot: u32, repeated: u32) {
        let talk = &mut self.talks[index];
        talk.doing = Doing::Transaction { slot, repeated };
        talk.open = false;
        talk.answers.clear();
        self.step(index);
    }

    /// Steps a transaction until it has something to send or is over.
    fn step(&mut self, index: usize) {
        let Doing::Transaction { slot, repeated } = self.talks[index].doing else { return };
        let talk = &mut self.talks[index];
        talk.batch.clear();
        let work = self.work.as_mut().expect("the work stays until the port is dismantled");
        match work.business.step(slot, &talk.answers, &mut talk.batch) {
            Step::Send => {
                talk.answers.clear();
                talk.wire.stage(&talk.batch);
                self.send(index);
            }
            Step::Sleep(time) => {
                talk.answers.clear();
                let until = self.clock.now() + time;
                self.asleep.push((until, index));
            }
            Step::Fail => self.fail(index, slot),
            Step::Done { rolled_back } => {
                let result = (repeated << 1 | u32::from(rolled_back)) as i32;
                self.release(index, slot, Ending::Done, result);
            }
        }
    }

    /// The workload could not go on: what it began is undone first.
    fn fail(&mut self, index: usize, slot: u32) {
        let complaint = self.work().business.complaint(slot);
        self.complaints.extend(complaint.map(|words| (slot, words)));
        let talk = &mut self.talks[index];
        if !talk.wire.in_transaction() {
            return self.release(index, slot, Ending::Failed, -libc::EINVAL);
        }
        talk.doing = Doing::Undo { slot };
        talk.batch.clear();
        talk.batch.rollback();
        talk.answers.clear();
        talk.wire.stage(&talk.batch);
        self.send(index);
    }

    fn release(&mut self, index: usize, slot: u32, ending: Ending, result: i32) {
        self.talks[index].doing = Doing::Nothing;
        self.free.push(index);
        let at = self.clock.now();
        self.close(slot, ending, result, at);
    }

    fn close(&mut self, slot: u32, ending: Ending, result: i32, at: Nanos) {
        let work = self.work.as_mut().expect("the work stays until the port is dismantled");
        if ending == Ending::Done {
            work.profile.done();
        }
        work.business.ended(slot, ending, at, &mut self.caused);
        self.ended.push(Completion { slot, result, at });
    }

    /// Acts on what the bytes of a conversation came to.
    fn progress(&mut self, index: usize, progress: Progress) {
        let talk = &mut self.talks[index];
        if talk.sending && progress != Progress::More {
            // The kernel still reads the bytes that a next batch would replace.
            talk.held = Some(progress);
            return;
        }
        match (progress, talk.doing) {
            (Progress::More, _) => self.receive(index),
            (Progress::SendMore, _) => self.send(index),
            (Progress::Complete, Doing::Transaction { .. }) => {
                talk.open = open_after(&talk.batch, talk.open);
                if let Some(work) = &mut self.work {
                    work.profile.add(&talk.batch, &talk.answers);
                }
                self.step(index);
            }
            (Progress::Complete | Progress::Failed(_), Doing::Undo { slot }) => {
                self.release(index, slot, Ending::Failed, -libc::EINVAL);
            }
            (Progress::Failed(failure), Doing::Transaction { slot, repeated }) => {
                self.failed(index, slot, repeated, failure);
            }
            (Progress::Complete | Progress::Failed(_), Doing::Nothing | Doing::Gone) => {}
        }
    }

    fn failed(&mut self, index: usize, slot: u32, repeated: u32, failure: Failure) {
        if failure.retryable() && repeated + 1 < self.work().tries {
            self.work().business.restart(slot);
            return self.start(index, slot, repeated + 1);
        }
        let lost = failure.kind == FailureKind::Lost;
        let talk = &self.talks[index];
        let unknown = lost && may_have_committed(&talk.batch, talk.open);
        let (ending, result) = (if unknown { Ending::Unknown } else { Ending::Failed }, -errno(failure.kind));
        if !lost {
            self.complaints.push((slot, failure.text));
            return self.release(index, slot, ending, result);
        }
        self.talks[index].doing = Doing::Gone;
        let at = self.clock.now();
        self.revive(index);
        let (opened, result) = match self.lost.clone() {
            None => (Ok(()), -libc::ECONNRESET),
            Some(why) => (Err(why), result),
        };
        self.complaints.push((slot, reconnect::words(&failure.text, opened)));
        self.close(slot, ending, result, at);
    }

    fn send(&mut self, index: usize) {
        let talk = &mut self.talks[index];
        let bytes = talk.wire.outgoing();
        let entry = opcode::Send::new(types::Fixed(index as u32), bytes.as_ptr(), bytes.len() as u32)
            .flags(libc::MSG_NOSIGNAL)
            .build()
            .user_data(index as u64 * 2);
        talk.sending = true;
        // SAFETY: the bytes stay as they are until the send has ended: nothing is staged while `sending` is set, and a
        // port that is dropped waits for the kernel or gives the memory up for good.
        unsafe { self.push(&entry) };
        if !self.talks[index].receiving {
            self.receive(index);
        }
    }

    fn receive(&mut self, index: usize) {
        let talk = &mut self.talks[index];
        let entry = opcode::Recv::new(types::Fixed(index as u32), talk.input.as_mut_ptr(), INPUT as u32)
            .ioprio(self.receive_flags)
            .build()
            .user_data(index as u64 * 2 + 1);
        talk.receiving = true;
        // SAFETY: the buffer is the conversation's own and is read only after the receive has ended.
        unsafe { self.push(&entry) };
    }

    /// # Safety
    /// The memory that the entry names must stay until its completion was seen.
    unsafe fn push(&mut self, entry: &io_uring::squeue::Entry) {
        // SAFETY: see above; the ring has an entry for each send and each receive of every conversation.
        let pushed = unsafe { self.ring.submission().push(entry) };
        pushed.expect("the submission queue holds a send and a receive of every conversation");
        self.out += 1;
    }

    /// Takes what the kernel has ended.
    fn take_completions(&mut self) {
        loop {
            let Some(entry) = self.ring.completion().next() else { return };
            self.out -= 1;
            let (index, result) = (entry.user_data() as usize / 2, entry.result());
            if entry.user_data() % 2 == 0 { self.sent(index, result) } else { self.received(index, result) }
        }
    }

    fn sent(&mut self, index: usize, result: i32) {
        let talk = &mut self.talks[index];
        talk.sending = false;
        if talk.doing == Doing::Gone {
            return self.revive(index);
        }
        if result < 0 {
            let text = format!("sending failed: {}", io::Error::from_raw_os_error(-result));
            return self.progress(index, Progress::Failed(Failure::new(FailureKind::Lost, text)));
        }
        talk.wire.advance(result as usize);
        if let Some(held) = talk.held.take() {
            return self.progress(index, held);
        }
        if !talk.wire.outgoing().is_empty() {
            self.send(index);
        }
    }

    fn received(&mut self, index: usize, result: i32) {
        let talk = &mut self.talks[index];
        talk.receiving = false;
        if talk.doing == Doing::Gone {
            return self.revive(index);
        }
        let progress = match usize::try_from(result) {
            Ok(0) => Progress::Failed(Failure::new(FailureKind::Lost, "the server closed the connection")),
            Ok(count) => talk.wire.feed(&talk.input[..count], &mut talk.answers),
            // An older kernel knows nothing of waiting first.
            Err(_) if -result == libc::EINVAL && self.receive_flags != 0 => {
                self.receive_flags = 0;
                Progress::More
            }
            Err(_) if matches!(-result, libc::EINTR | libc::EAGAIN) => Progress::More,
            Err(_) => {
                let text = format!("receiving failed: {}", io::Error::from_raw_os_error(-result));
                Progress::Failed(Failure::new(FailureKind::Lost, text))
            }
        };
        self.progress(index, progress);
    }

    /// Sends what is prepared, and waits for something to end, but not beyond `until`.
    fn enter(&mut self, until: Nanos) -> io::Result<()> {
        let left = until.saturating_sub(self.clock.now());
        let time = types::Timespec::new().sec(left.0 / 1_000_000_000).nsec((left.0 % 1_000_000_000) as u32);
        let entered = self.ring.submitter().submit_with_args(1, &types::SubmitArgs::new().timespec(&time));
        entered.map(drop).or_else(excuse)
    }

    /// When the wait must be over at the latest.
    fn patience(&self, wait: Wait) -> Nanos {
        let now = self.clock.now();
        let nap = now.saturating_add(NAP);
        let asked = match wait {
            Wait::Poll => now,
            Wait::Until(at) => at.min(nap),
            Wait::Completion => nap,
        };
        self.asleep.iter().map(|(until, _)| *until).fold(asked, Nanos::min)
    }
}

impl Talk {
    fn new(line: Line) -> Talk {
        Talk {
            wire: line.wire,
            socket: line.socket,
            input: vec![0; INPUT].into_boxed_slice(),
            batch: Batch::default(),
            answers: Answers::default(),
            doing: Doing::Nothing,
            open: false,
            sending: false,
            receiving: false,
            held: None,
        }
    }
}

impl<C> Drop for WirePort<C> {
    /// Ends every conversation and waits until the kernel holds none of its memory any more.
    fn drop(&mut self) {
        for talk in self.talks.iter() {
            // A socket that is gone already refuses; there is nothing left to end then.
            let _ = rustix::net::shutdown(&talk.socket, rustix::net::Shutdown::Both);
        }
        let tick = types::Timespec::new().nsec(50_000_000);
        for _ in 0..LOOKS {
            if self.out == 0 {
                break;
            }
            // A refusal leads to the next look; the number of looks is bounded.
            let _ = self.ring.submitter().submit_with_args(1, &types::SubmitArgs::new().timespec(&tick));
            self.out -= self.ring.completion().count() as u32;
        }
        if self.out == 0 {
            // SAFETY: dropped once, here, with nothing in flight; the ring before the memory that it was handed.
            unsafe {
                ManuallyDrop::drop(&mut self.ring);
                ManuallyDrop::drop(&mut self.talks);
            }
        }
    }
}

impl<C: Clock> Port for WirePort<C> {
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }

    fn stage(&mut self, _slot: u32, _operation: &Operation, _durable: bool) {
        unreachable!("a session carries transactions only")
    }

    fn class(&mut self, _slot: u32, n: u64, payload: u64) -> u16 {
        self.work().business.class(n, payload)
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        self.work().business.begin(slot, begun);
        self.waiting.push_back(slot);
    }

    fn caused(&mut self, _slot: u32, into: &mut Vec<Caused>) {
        into.append(&mut self.caused);
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        let at = self.complaints.iter().position(|(of, _)| *of == slot)?;
        Some(self.complaints.swap_remove(at).1)
    }

    fn submit(&mut self) -> Result<(), PortError> {
        // Leaves with the wait in `reap`: one system call for both.
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        self.dispatch();
        let until = self.patience(wait);
        self.take_completions();
        while self.ended.is_empty() {
            let broken =
                |source| PortError::Kernel { action: "submitting and waiting", target: "io_uring".to_owned(), source };
            self.enter(until).map_err(broken)?;
            self.take_completions();
            self.dispatch();
            if self.clock.now() >= until {
                break;
            }
        }
        into.append(&mut self.ended);
        Ok(())
    }
}
