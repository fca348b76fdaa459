//! The port of transactions over many conversations at once: one thread, one ring, one system call for many sessions.
//!
//! The one idea: a conversation is a machine without I/O; this port moves its bytes. Whatever became ready is answered
//! together, and what the answers lead to leaves together with the next wait. A transaction waits in order until a
//! conversation is free, and that wait is part of its response.

#![allow(unsafe_code)]

use crate::TrialError;
use crate::hot::looks::Looks;
use crate::hot::transactions::TransactionWork;
use crate::port::attempt::{Attempt, Lost, Over, Turn};
use crate::port::reconnect::{Reconnect, Reopening, Unopened};
#[cfg(miri)]
use crate::port::tests::kernel::{IoUring, opcode, squeue, types};
use crate::port::uring::{broken, build_ring, excuse};
use crate::worker::assign::Share;
use crate::worker::rings::RingUse;
use crate::worker::run::{Return, Start};
use crate::worker::transactions::Transactions;
use database::{Conversation, Failure, FailureKind, Progress, Wire};
#[cfg(not(miri))]
use io_uring::{IoUring, opcode, squeue, types};
use observation::Window;
use recorder::Clock;
use rustix::net::SendFlags;
use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use system::{Completion, Port, PortError, TransactionPort, Wait};
use units::Nanos;
use workload::transaction::{Begun, Caused};

/// Bytes that one receive takes: more than nearly every answer.
const INPUT: usize = 16 << 10;

/// Has the kernel wait for the first byte before it looks for one: an answer never is there when its question leaves.
/// Known since Linux 5.19; the io-uring crate has no name for it.
const POLL_FIRST: u16 = 1;

/// No wait is longer, so that a stop is seen.
const NAP: Nanos = Nanos::from_millis(100);

/// Between two looks at what came in so many answers are read at most, and so many transactions begun: what they lead to
/// leaves with the next look.
const BATCH: u32 = 16;
/// No wait is longer while a conversation is opened again, which another thread does.
const GLANCE: Nanos = Nanos::from_millis(1);

/// How long a port that is put away waits for what the kernel still holds.
const LOOKS: u32 = 100;

/// Drives a worker's transactions over many conversations.
pub(crate) fn drive(
    conversations: Vec<Conversation>,
    reconnect: Reconnect,
    mut transactions: Transactions,
    work: TransactionWork,
    mut share: Share,
    start: &Start,
) -> Result<Return, TrialError> {
    let slots = share.slots();
    let wires = Wires::new(conversations);
    let wires = wires.map_err(|source| TrialError::Resource { action: "building an io_uring", source })?;
    let clock = start.ready()?;
    let mut port = ConnectionsPort::new(wires, reconnect, &mut transactions, clock, slots);
    (share.batch, port.looks) = (BATCH, Looks::new(share.window));
    let home = share.drive(&mut port, work, &start.halt)?;
    let ring = Some(RingUse {
        generation: port.generation,
        registered: None,
        polls_first: Some(port.receive_flags != 0),
        looks: port.looks.clone(),
    });
    drop(port);
    Ok(Return { ring, transactions: Some(transactions), ..home })
}

/// A conversation in use.
struct Connection {
    wire: Box<dyn Wire>,
    socket: OwnedFd,
    input: Box<[u8]>,
    attempt: Attempt,
    doing: Doing,
    /// In the kernel's hands.
    sending: bool,
    receiving: bool,
    /// Whether the receive that is out was asked to wait before it looks.
    polls_first: bool,
    /// Bytes of the input that came while others were still being sent. Answers to them could replace what the kernel sends.
    unread: usize,
    /// The transaction that its loss has cost. It keeps its slot until the conversation is open again, so that the load sends
    /// nobody to wait here.
    lost: Option<(u32, Lost, Nanos)>,
}

/// What a conversation is used for.
#[derive(Clone, Copy, PartialEq)]
enum Doing {
    /// It is free.
    Nothing,
    /// The transaction of a slot.
    Transaction(u32),
    /// The connection is gone; a new one is opened as soon as the kernel has let go of the old one's memory.
    Gone,
}

/// Conversations and the ring over them, built by the thread that will use it, before the trial begins.
pub(super) struct Wires {
    ring: IoUring,
    /// As [`RingUse::generation`].
    generation: u8,
    connections: Vec<Connection>,
}

impl Wires {
    pub(super) fn new(conversations: Vec<Conversation>) -> io::Result<Wires> {
        let (ring, generation) = build_ring((conversations.len() as u32 * 2 + 2).next_power_of_two(), false, false)?;
        let sockets: Vec<RawFd> = conversations.iter().map(|(socket, _)| socket.as_raw_fd()).collect();
        ring.submitter().register_files(&sockets)?;
        Ok(Wires { ring, generation, connections: conversations.into_iter().map(Connection::new).collect() })
    }
}

/// The port over many conversations.
pub(crate) struct ConnectionsPort<'t, C> {
    ring: ManuallyDrop<IoUring>,
    connections: ManuallyDrop<Vec<Connection>>,
    reopening: Reopening,
    /// Why a lost connection could not be opened again: then nothing can be carried any more.
    lost: Option<Unopened>,
    transactions: &'t mut Transactions,
    clock: C,
    waiting: VecDeque<u32>,
    free: Vec<usize>,
    /// Conversations whose script asked for a pause, and until when.
    asleep: Vec<(Nanos, usize)>,
    ended: Vec<Completion>,
    caused: Vec<Caused>,
    /// How old the data was that transactions saw which ended.
    ages: Vec<Nanos>,
    /// What is to be said of failed transactions, by their slots.
    complaints: Vec<(u32, String)>,
    /// How receives are asked for.
    receive_flags: u16,
    /// Operations in the kernel's hands.
    out: u32,
    looks: Looks,
    /// As [`RingUse::generation`].
    generation: u8,
}

impl<'t, C: Clock> ConnectionsPort<'t, C> {
    pub(super) fn new(
        wires: Wires,
        reconnect: Reconnect,
        transactions: &'t mut Transactions,
        clock: C,
        slots: u32,
    ) -> ConnectionsPort<'t, C> {
        let Wires { ring, generation, connections } = wires;
        ConnectionsPort {
            ring: ManuallyDrop::new(ring),
            free: (0..connections.len()).rev().collect(),
            connections: ManuallyDrop::new(connections),
            reopening: Reopening::new(reconnect),
            lost: None,
            transactions,
            clock,
            waiting: VecDeque::with_capacity(slots as usize),
            asleep: Vec::new(),
            ended: Vec::new(),
            caused: Vec::new(),
            ages: Vec::new(),
            complaints: Vec::new(),
            receive_flags: POLL_FIRST,
            out: 0,
            looks: Looks::new(Window::default()),
            generation,
        }
    }

    /// Gives waiting transactions to free conversations, and wakes those that slept long enough.
    fn dispatch(&mut self) {
        self.take_reopened();
        if !self.asleep.is_empty() {
            let now = self.clock.now();
            while let Some(at) = self.asleep.iter().position(|(until, _)| *until <= now) {
                let (_, index) = self.asleep.swap_remove(at);
                if let Doing::Transaction(slot) = self.connections[index].doing {
                    let turn = self.connections[index].attempt.step(slot, self.transactions);
                    self.take(index, slot, turn);
                }
            }
        }
        while !self.free.is_empty() {
            let Some(slot) = self.waiting.pop_front() else { return };
            let Some(index) = self.free.pop() else { return };
            self.connections[index].doing = Doing::Transaction(slot);
            let turn = self.connections[index].attempt.start(slot, self.transactions);
            self.take(index, slot, turn);
        }
        if let Some(why) = self.lost.clone() {
            self.refuse_waiting(&why);
        }
    }

    /// Has a new connection opened in the place of a lost one, once nothing of the old one is in the kernel's hands.
    fn revive(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        if connection.sending || connection.receiving {
            // What still waits for bytes ends now; its completion leads here again.
            let _ = rustix::net::shutdown(&connection.socket, rustix::net::Shutdown::Both);
            return;
        }
        self.reopening.ask(index);
    }

    /// Takes up conversations that are open again; whatever became of it, the transactions that their loss has cost end now.
    fn take_reopened(&mut self) {
        while let Some((index, opened)) = self.reopening.next() {
            let opened = opened.and_then(|conversation| {
                let socket = [conversation.0.as_raw_fd()];
                let update = self.ring.submitter().register_files_update(index as u32, &socket);
                update.map(|_| conversation).map_err(|error| Unopened::Refused(error.to_string()))
            });
            let lost = self.connections[index].lost.take();
            let opened = opened.map(|conversation| {
                self.connections[index] = Connection::new(conversation);
                self.free.push(index);
            });
            self.lost = self.lost.take().or(opened.clone().err());
            if let Some((slot, lost, since)) = lost {
                let now = self.clock.now();
                self.close(slot, lost.over(opened).after(now.saturating_sub(since)), now);
            }
        }
    }

    /// Nobody is left to carry what waits.
    fn refuse_waiting(&mut self, why: &Unopened) {
        let at = self.clock.now();
        while let Some(slot) = self.waiting.pop_front() {
            let lost = Lost { text: "a session of this worker is gone".to_owned(), unknown: false };
            self.close(slot, lost.over(Err(why.clone())), at);
        }
    }

    /// Does what a transaction asks for next.
    fn take(&mut self, index: usize, slot: u32, turn: Turn) {
        let now = self.clock.now();
        let connection = &mut self.connections[index];
        match turn {
            Turn::Send => {
                connection.wire.stage(&connection.attempt.batch);
                self.send(index);
            }
            Turn::Sleep(time) => self.asleep.push((now + time, index)),
            Turn::Over(over) => {
                connection.doing = Doing::Nothing;
                self.free.push(index);
                self.close(slot, over, now);
            }
            Turn::Lost(lost) => {
                (connection.doing, connection.lost) = (Doing::Gone, Some((slot, lost, now)));
                self.revive(index);
            }
        }
    }

    fn close(&mut self, slot: u32, over: Over, at: Nanos) {
        self.transactions.ended(slot, over.ending, at, &mut self.caused);
        self.ages.extend(self.transactions.business.age(slot));
        self.complaints.extend(over.complaint.map(|words| (slot, words)));
        self.ended.push(Completion { slot, outcome: over.outcome, at });
    }

    /// Acts on what the bytes of a conversation came to.
    fn progress(&mut self, index: usize, progress: Progress) {
        let connection = &mut self.connections[index];
        let turn = match (progress, connection.doing) {
            (Progress::More, _) => return self.receive(index),
            (Progress::SendMore, _) => return self.send(index),
            (Progress::Complete, Doing::Transaction(slot)) => {
                let open = connection.wire.in_transaction();
                (slot, connection.attempt.answered(slot, Some(open), self.transactions))
            }
            (Progress::Failed(failure), Doing::Transaction(slot)) => {
                (slot, connection.attempt.refused(slot, failure, self.transactions))
            }
            (Progress::Complete | Progress::Failed(_), Doing::Nothing | Doing::Gone) => return,
        };
        self.take(index, turn.0, turn.1);
    }

    fn send(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let bytes = connection.wire.outgoing();
        let entry = opcode::Send::new(types::Fixed(index as u32), bytes.as_ptr(), bytes.len() as u32)
            .flags(libc::MSG_NOSIGNAL)
            .build()
            .user_data(index as u64 * 2);
        connection.sending = true;
        // SAFETY: the bytes stay as they are until the send has ended: while `sending` is set nothing is staged and nothing that
        // came in is read, and a port that is dropped waits for the kernel or gives the memory up for good.
        unsafe { self.push(&entry) };
        let Connection { receiving, unread, .. } = self.connections[index];
        if !receiving && unread == 0 {
            self.receive(index);
        }
    }

    fn receive(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        let entry = opcode::Recv::new(types::Fixed(index as u32), connection.input.as_mut_ptr(), INPUT as u32)
            .ioprio(self.receive_flags)
            .build()
            .user_data(index as u64 * 2 + 1);
        connection.receiving = true;
        connection.polls_first = self.receive_flags != 0;
        // SAFETY: the buffer is the conversation's own and is read only after the receive has ended.
        unsafe { self.push(&entry) };
    }

    /// # Safety
    /// The memory that the entry names must stay until its completion was seen.
    unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: see above; the ring has an entry for each send and each receive of every conversation.
        let pushed = unsafe { self.ring.submission().push(entry) };
        pushed.expect("the submission queue holds a send and a receive of every conversation");
        self.out += 1;
    }

    /// Takes what the kernel has ended, up to a batch of answers.
    fn take_completions(&mut self) {
        let mut answers = 0;
        while answers < BATCH {
            let Some(entry) = self.ring.completion().next() else { return };
            self.out -= 1;
            let (index, result) = (entry.user_data() as usize / 2, entry.result());
            answers += entry.user_data() as u32 % 2;
            if entry.user_data() % 2 == 0 { self.sent(index, result) } else { self.received(index, result) }
        }
    }

    fn sent(&mut self, index: usize, result: i32) {
        let connection = &mut self.connections[index];
        connection.sending = false;
        if connection.doing == Doing::Gone {
            return self.revive(index);
        }
        if result < 0 {
            let text = format!("sending failed: {}", io::Error::from_raw_os_error(-result));
            return self.progress(index, Progress::Failed(Failure::new(FailureKind::Lost, text)));
        }
        connection.wire.advance(result as usize);
        if !connection.wire.outgoing().is_empty() {
            return self.send(index);
        }
        let count = std::mem::take(&mut connection.unread);
        if count > 0 {
            self.feed(index, count);
        }
    }

    /// Reads what came in. Nothing is being sent meanwhile.
    fn feed(&mut self, index: usize, count: usize) {
        let Connection { wire, input, attempt, .. } = &mut self.connections[index];
        let progress = wire.feed(&input[..count], &mut attempt.answers);
        self.progress(index, progress);
    }

    fn received(&mut self, index: usize, result: i32) {
        let connection = &mut self.connections[index];
        connection.receiving = false;
        if connection.doing == Doing::Gone {
            return self.revive(index);
        }
        let progress = match usize::try_from(result) {
            Ok(0) => Progress::Failed(Failure::new(FailureKind::Lost, "the server closed the connection")),
            Ok(count) if connection.sending => {
                connection.unread = count;
                return;
            }
            Ok(count) => return self.feed(index, count),
            // An older kernel knows nothing of waiting first, and has refused all that were out.
            Err(_) if -result == libc::EINVAL && connection.polls_first => {
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

    /// Sends what is prepared, and waits for something to end, but not beyond `until`. Answers with when it was over.
    fn enter(&mut self, until: Nanos) -> io::Result<Nanos> {
        let now = self.clock.now();
        self.looks.begin(now);
        let left = until.saturating_sub(now);
        let time = types::Timespec::new().sec(left.0 / 1_000_000_000).nsec((left.0 % 1_000_000_000) as u32);
        let entered = self.ring.submitter().submit_with_args(1, &types::SubmitArgs::new().timespec(&time));
        entered.map(drop).or_else(excuse)?;
        let at = self.clock.now();
        // Of several answers the last waits until the others are read.
        let ended = self.ring.completion().len() as u32;
        self.looks.end(at, ended > 1 || self.out > ended);
        Ok(at)
    }

    /// When the wait must be over at the latest.
    fn patience(&self, wait: Wait) -> Nanos {
        let now = self.clock.now();
        let nap = now.saturating_add(NAP);
        match wait {
            Wait::Poll => now,
            Wait::Until(at) => at.min(nap),
            Wait::Completion => nap,
        }
    }

    /// When something may be due before `until` that does not end in the kernel: a pause, or a conversation that is opened again.
    fn next_look(&self, until: Nanos) -> Nanos {
        let glance = self.reopening.any().then(|| self.clock.now().saturating_add(GLANCE));
        self.asleep.iter().map(|(until, _)| *until).chain(glance).fold(until, Nanos::min)
    }
}

impl Connection {
    fn new((socket, wire): Conversation) -> Connection {
        Connection {
            wire,
            socket,
            input: vec![0; INPUT].into_boxed_slice(),
            attempt: Attempt::default(),
            doing: Doing::Nothing,
            sending: false,
            receiving: false,
            polls_first: false,
            unread: 0,
            lost: None,
        }
    }
}

impl<C> Drop for ConnectionsPort<'_, C> {
    /// Ends every conversation and waits until the kernel holds none of its memory any more.
    fn drop(&mut self) {
        for connection in self.connections.iter() {
            // A socket that is gone already refuses; there is nothing left to end then.
            let farewell = connection.wire.farewell();
            if connection.doing == Doing::Nothing && !farewell.is_empty() {
                let _ = rustix::net::send(&connection.socket, farewell, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            }
            let _ = rustix::net::shutdown(&connection.socket, rustix::net::Shutdown::Both);
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
                ManuallyDrop::drop(&mut self.connections);
            }
        }
    }
}

impl<C: Clock> TransactionPort for ConnectionsPort<'_, C> {
    fn class(&mut self, _slot: u32, n: u64, payload: u64) -> u16 {
        self.transactions.business.class(n, payload)
    }

    fn due(&mut self, slot: u32) -> Option<Nanos> {
        self.transactions.business.due(slot)
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        self.transactions.business.begin(slot, begun);
        self.waiting.push_back(slot);
    }

    fn caused(&mut self, _slot: u32, into: &mut Vec<Caused>) {
        into.append(&mut self.caused);
    }

    fn ages(&mut self, into: &mut Vec<Nanos>) {
        into.append(&mut self.ages);
    }

    fn gave(&mut self, slot: u32) -> u64 {
        self.transactions.business.gave(slot)
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        let at = self.complaints.iter().position(|(of, _)| *of == slot)?;
        Some(self.complaints.swap_remove(at).1)
    }
}

impl<C: Clock> Port for ConnectionsPort<'_, C> {
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        self.dispatch();
        let until = self.patience(wait);
        while self.ended.is_empty() {
            let at = self.enter(self.next_look(until)).map_err(broken)?;
            self.take_completions();
            self.dispatch();
            if at >= until {
                break;
            }
        }
        into.append(&mut self.ended);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::tests::{Do, Log, ScriptedDatabase, told, transactions, wire};
    use crate::port::uring::probe;
    use crate::sample;
    use crate::worker::assign::{Carriers, assign};
    use crate::worker::calls::Calls;
    use crate::worker::run::Gate;
    use load::{Spec, Think};
    use recorder::{Collector, WallClock};
    use std::io::{Read, Write};
    use std::os::unix::fs::OpenOptionsExt;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;
    use system::Outcome;

    const STEPS: [Do; 2] = [Do::Begin, Do::Done];

    /// What a server says to a begin: that it was carried out, and that it is ready for the next.
    const ANSWER: &[u8] = b"C\0\0\0\x0aBEGIN\0Z\0\0\0\x05I";

    /// A server that answers so many batches and then closes the connection.
    fn server(answers: usize) -> UnixStream {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            let mut asked = [0; 256];
            for _ in 0..answers {
                if theirs.read(&mut asked).is_ok_and(|count| count > 0) {
                    let _ = theirs.write_all(ANSWER);
                }
            }
            // Takes the next question, and goes without a word.
            let _ = theirs.read(&mut asked);
        });
        ours
    }

    /// Carries out so many transactions, begun together, over such connections; with the servers to be had afterwards.
    fn carried(begun: u32, first: Vec<UnixStream>, later: Vec<UnixStream>) -> (Vec<(u32, Outcome)>, Vec<String>) {
        carried_by(begun, first, later, POLL_FIRST)
    }

    /// The same, where receives are asked for with such flags.
    fn carried_by(
        begun: u32,
        first: Vec<UnixStream>,
        later: Vec<UnixStream>,
        receive_flags: u16,
    ) -> (Vec<(u32, Outcome)>, Vec<String>) {
        let log = Log::default();
        let database = ScriptedDatabase::default();
        database.conversations.lock().unwrap().extend(later.into_iter().map(Some));
        let conversations = first.into_iter().map(|socket| (OwnedFd::from(socket), wire())).collect();
        let mut transactions = transactions(&STEPS, 1, &log);
        let clock = WallClock::new();
        let wires = Wires::new(conversations).unwrap();
        let mut port = ConnectionsPort::new(wires, database.reconnect(), &mut transactions, clock, begun);
        port.receive_flags = receive_flags;
        (0..begun).for_each(|slot| port.begin(slot, Begun { n: 0, payload: 0, at: Nanos::ZERO }));
        let mut ended = Vec::new();
        while (ended.len() as u32) < begun {
            port.reap(Wait::Completion, &mut ended).unwrap();
        }
        let mut words = told(&log);
        words.extend((0..begun).filter_map(|slot| port.complaint(slot)));
        (ended.iter().map(|completion| (completion.slot, completion.outcome)).collect(), words)
    }

    const DONE: Outcome = Outcome::Transacted { retried: 0, rolled_back: false };

    #[test]
    fn transactions_wait_in_order_for_a_connection() {
        if probe().is_err() {
            return;
        }
        let (ended, _) = carried(3, vec![server(3)], Vec::new());
        assert_eq!(ended, [(0, DONE), (1, DONE), (2, DONE)]);
    }

    #[test]
    fn a_lost_connection_costs_its_transaction_and_is_opened_again() {
        if probe().is_err() {
            return;
        }
        let (ended, words) = carried(3, vec![server(1)], vec![server(1)]);
        let lost = Outcome::Failed { errno: libc::ECONNRESET };
        assert_eq!(ended, [(0, DONE), (1, lost), (2, DONE)]);
        let said = "connection lost: the server closed the connection; its session was opened again";
        assert_eq!(words.last().map(String::as_str), Some(said));
    }

    #[test]
    fn while_one_session_is_opened_again_by_a_server_that_says_nothing_the_others_go_on() {
        if probe().is_err() {
            return;
        }
        let (log, database) = (Log::default(), ScriptedDatabase::default());
        let silent = database.silent.clone();
        let silence = silent.lock().unwrap();
        database.conversations.lock().unwrap().push(Some(server(9)));
        let lives = vec![server(0), server(9)];
        let wires = Wires::new(lives.into_iter().map(|socket| (OwnedFd::from(socket), wire())).collect()).unwrap();
        let mut transactions = transactions(&STEPS, 1, &log);
        let mut port = ConnectionsPort::new(wires, database.reconnect(), &mut transactions, WallClock::new(), 2);
        let begin = |port: &mut ConnectionsPort<'_, WallClock>, slot| {
            port.begin(slot, Begun { n: 0, payload: 0, at: Nanos::ZERO });
        };
        let mut ended = Vec::new();
        begin(&mut port, 1);
        while port.connections[0].doing != Doing::Gone {
            port.reap(Wait::Poll, &mut ended).unwrap();
        }
        for round in 1..=8 {
            begin(&mut port, 0);
            while ended.len() < round {
                port.reap(Wait::Completion, &mut ended).unwrap();
            }
        }
        assert!(ended.iter().all(|completion| (completion.slot, completion.outcome) == (0, DONE)), "{ended:?}");
        drop(silence);
        while ended.len() < 9 {
            port.reap(Wait::Completion, &mut ended).unwrap();
        }
        assert_eq!((ended[8].slot, ended[8].outcome), (1, Outcome::Failed { errno: libc::ECONNRESET }));
        begin(&mut port, 1);
        while ended.len() < 10 {
            port.reap(Wait::Completion, &mut ended).unwrap();
        }
        assert_eq!((ended[9].slot, ended[9].outcome), (1, DONE), "its session is there again");
    }

    #[test]
    fn a_connection_that_is_lost_while_a_transaction_is_undone_serves_nobody_any_more() {
        if probe().is_err() {
            return;
        }
        let (log, database) = (Log::default(), ScriptedDatabase::default());
        database.conversations.lock().unwrap().push(Some(server(9)));
        // Its begin is answered, and so is nothing behind it.
        let begun = b"C\0\0\0\x0aBEGIN\0Z\0\0\0\x05T";
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            let mut asked = [0; 256];
            let _ = theirs.read(&mut asked);
            let _ = theirs.write_all(begun);
            let _ = theirs.read(&mut asked);
        });
        let wires = Wires::new(vec![(OwnedFd::from(ours), wire())]).unwrap();
        let mut transactions = transactions(&[Do::Begin, Do::Fail], 1, &log);
        let mut port = ConnectionsPort::new(wires, database.reconnect(), &mut transactions, WallClock::new(), 2);
        (0..2).for_each(|slot| port.begin(slot, Begun { n: 0, payload: 0, at: Nanos::ZERO }));
        let mut ended = Vec::new();
        while ended.len() < 2 {
            port.reap(Wait::Completion, &mut ended).unwrap();
        }
        let outcomes: Vec<Outcome> = ended.iter().map(|completion| completion.outcome).collect();
        assert_eq!(outcomes[0], Outcome::Failed { errno: libc::ECONNRESET }, "lost with its session");
        assert_eq!(
            outcomes[1],
            Outcome::Failed { errno: libc::EDOM },
            "another session took the next, which failed by itself"
        );
    }

    /// It was waited for as long as nothing else ended, up to a tenth of a second.
    #[test]
    fn a_pause_that_begins_during_a_wait_ends_before_the_wait_does() {
        if probe().is_err() {
            return;
        }
        let (log, database) = (Log::default(), ScriptedDatabase::default());
        let wires = Wires::new(vec![(OwnedFd::from(server(9)), wire())]).unwrap();
        let mut transactions = transactions(&STEPS, 1, &log);
        let mut port = ConnectionsPort::new(wires, database.reconnect(), &mut transactions, WallClock::new(), 1);
        let until = port.patience(Wait::Completion);
        assert_eq!(port.next_look(until), until);
        port.asleep.push((Nanos(5), 0));
        assert_eq!(port.next_look(until), Nanos(5));
    }

    #[test]
    fn a_ring_that_cannot_be_built_is_told_before_the_trial_begins() {
        if probe().is_err() {
            return;
        }
        // No ring takes a descriptor that stands for a place only.
        let place = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH).open("/").unwrap();
        let conversations = vec![(OwnedFd::from(place), wire())];
        let (log, trial) = (Log::default(), sample::trial(Spec::Closed { slots: 1, think: Think::None }, Nanos(1)));
        let shares = assign(&trial, &mut Collector::default(), |_| Ok(Carriers::new(1, Ok)));
        let (share, _) = shares.unwrap().remove(0);
        let (gate, words) = (Arc::new(Gate::new()), channel());
        gate.set(Some(Nanos::ZERO)).unwrap();
        let (clock, halt, calls) = (WallClock::new(), Arc::new(AtomicBool::new(true)), Calls::default());
        let start = Start { clock, gate, halt, calls, words: words.0 };
        let reconnect = ScriptedDatabase::default().reconnect();
        let (transactions, work) = (transactions(&STEPS, 1, &log), TransactionWork::default());
        let driven = drive(conversations, reconnect, transactions, work, share, &start);
        assert!(matches!(driven, Err(TrialError::Resource { action: "building an io_uring", .. })));
        assert!(words.1.try_recv().is_err(), "it never stood at the gate");
    }

    #[test]
    fn a_kernel_that_cannot_wait_first_costs_no_conversation() {
        if probe().is_err() {
            return;
        }
        // No kernel knows this flag: all receives that are out are refused.
        let servers = (0..8).map(|_| server(8)).collect();
        let (mut ended, words) = carried_by(8, servers, Vec::new(), 1 << 15);
        ended.sort_by_key(|(slot, _)| *slot);
        assert_eq!(ended, (0..8).map(|slot| (slot, DONE)).collect::<Vec<_>>(), "{words:?}");
    }

    /// A server that refuses a question before it has read it, and reads and answers like any other afterwards.
    fn hasty(answers: usize) -> UnixStream {
        const REFUSED: &[u8] = b"E\0\0\0\x17SERROR\0C42601\0Mno\0\0Z\0\0\0\x05I";
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        // Nothing more fits into the socket before somebody reads.
        ours.set_nonblocking(true).unwrap();
        let filler = [0u8; 4096];
        let mut filled = 0;
        while let Ok(count) = (&ours).write(&filler) {
            filled += count;
        }
        while (&ours).write(&[0]).is_ok() {
            filled += 1;
        }
        ours.set_nonblocking(false).unwrap();
        std::thread::spawn(move || {
            theirs.write_all(REFUSED).unwrap();
            // Until the refusal has come in while the question is still on its way out.
            std::thread::sleep(std::time::Duration::from_millis(200));
            let mut asked = vec![0; filled + b"Q\0\0\0\x0aBEGIN\0".len()];
            theirs.read_exact(&mut asked).unwrap();
            for _ in 0..answers {
                if theirs.read(&mut asked).is_ok_and(|count| count > 0) {
                    let _ = theirs.write_all(ANSWER);
                }
            }
            let _ = theirs.read(&mut asked);
        });
        ours
    }

    #[test]
    fn an_answer_that_comes_before_its_question_has_left_waits_until_it_has() {
        if probe().is_err() {
            return;
        }
        let (ended, words) = carried(2, vec![hasty(1)], Vec::new());
        assert!(matches!(ended[0], (0, Outcome::Failed { .. })), "{ended:?} {words:?}");
        assert_eq!(ended[1], (1, DONE), "{words:?}");
    }

    #[test]
    fn without_a_new_connection_whoever_waits_is_refused() {
        if probe().is_err() {
            return;
        }
        let (ended, words) = carried(3, vec![server(1)], Vec::new());
        let gone = Outcome::Failed { errno: libc::ENOTCONN };
        assert_eq!(ended, [(0, DONE), (1, gone), (2, gone)]);
        let why = "no new one: nowhere: no connection: full";
        assert!(words.iter().filter(|words| words.ends_with(why)).count() == 2, "{words:?}");
    }
}
