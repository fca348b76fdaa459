//! What ports do with memory while it is in the kernel's hands. Only under Miri, which sees each use of it.

use super::kernel::{IoUring, Submitter};
use super::{Do, Log, ScriptedDatabase, told, transactions, wire};
use crate::hot::looks::Looks;
use crate::port::connections::{ConnectionsPort, Wires};
use crate::port::uring::{Ring, RingSpec};
use observation::Window;
use recorder::WallClock;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use system::{Outcome, Port, StoragePort, TransactionPort, Wait};
use units::Nanos;
use workload::transaction::Begun;
use workload::{Operation, OperationKind};

/// Two ends of a stream. They are files here: Miri reads and writes those, and knows little of sockets.
fn ends() -> (OwnedFd, File) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    (OwnedFd::from(ours), File::from(OwnedFd::from(theirs)))
}

fn operation(kind: OperationKind, module: u16, bytes: u32) -> Operation {
    Operation { kind, class: 0, module, offset: 0, bytes }
}

#[test]
fn slots_of_a_ring_are_read_and_written_side_by_side() {
    let (first, mut to_first) = ends();
    let (second, mut to_second) = ends();
    let files = vec![first.as_raw_fd(), second.as_raw_fd()];
    let spec = RingSpec { files, slots: 4, transfer_max: 5000, poll: false, priority: 0 };
    let mut ring = Ring::new(spec).unwrap();
    let mut port = ring.port(WallClock::new(), Looks::new(Window::default()));
    for round in 1..4u8 {
        let mut ended = Vec::new();
        port.stage(0, &operation(OperationKind::Read, 0, 512), false);
        port.submit().unwrap();
        port.buffer(2)[..700].fill(round);
        port.stage(2, &operation(OperationKind::Write, 1, 700), round == 2);
        port.stage(3, &operation(OperationKind::Sync, 1, 0), false);
        port.submit().unwrap();
        port.reap(Wait::Poll, &mut ended).unwrap();
        // A slot that nobody holds is filled for its next turn, while the kernel has the others.
        port.buffer(1).fill(0xee);
        to_first.write_all(&[round; 512]).unwrap();
        while ended.len() < 3 {
            port.reap(Wait::Until(Nanos(u64::MAX)), &mut ended).unwrap();
        }
        ended.sort_by_key(|completion| completion.slot);
        let outcomes: Vec<Outcome> = ended.iter().map(|completion| completion.outcome).collect();
        assert_eq!(outcomes, [512, 700, 0].map(|bytes| Outcome::Moved { bytes }));
        assert_eq!(port.buffer(0)[..512], [round; 512]);
        let mut sent = [0; 700];
        to_second.read_exact(&mut sent).unwrap();
        assert_eq!(sent, [round; 700]);
    }
}

#[test]
fn a_ring_that_is_put_away_waits_for_what_the_kernel_holds() {
    let (from, mut to) = ends();
    let spec = RingSpec { files: vec![from.as_raw_fd()], slots: 1, transfer_max: 512, poll: false, priority: 0 };
    let mut ring = Ring::new(spec).unwrap();
    let mut port = ring.port(WallClock::new(), Looks::new(Window::default()));
    port.stage(0, &operation(OperationKind::Read, 0, 512), false);
    port.reap(Wait::Poll, &mut Vec::new()).unwrap();
    let late = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        to.write_all(&[7; 512]).unwrap();
    });
    drop(port);
    drop(ring);
    late.join().unwrap();
}

const ANSWER: &[u8] = b"C\0\0\0\x0aBEGIN\0Z\0\0\0\x05I";

/// What a server does with the next question.
#[derive(Clone, Copy)]
enum Turn {
    Answers,
    /// It says something first, and reads the question afterwards.
    Refuses,
    /// It says nothing more, and goes.
    Goes,
}

/// A server on a thread of its own, which Miri does not wake when our end is closed; so nobody waits for it.
fn server(turns: &'static [Turn]) -> OwnedFd {
    let (ours, mut theirs) = ends();
    std::thread::spawn(move || {
        let mut asked = [0; 256];
        for turn in turns {
            match turn {
                Turn::Goes => return,
                Turn::Answers => {
                    assert_eq!(theirs.read(&mut asked).unwrap(), b"Q\0\0\0\x0aBEGIN\0".len());
                    // In two pieces, so that a message is cut.
                    theirs.write_all(&ANSWER[..7]).unwrap();
                    theirs.write_all(&ANSWER[7..]).unwrap();
                }
                Turn::Refuses => {
                    theirs.write_all(b"E\0\0\0\x17SERROR\0C42601\0Mno\0\0Z\0\0\0\x05I").unwrap();
                    let _ = theirs.read(&mut asked);
                }
            }
        }
        let _ = theirs.read(&mut asked);
    });
    ours
}

/// Carries out so many transactions over such connections, with others to be had when one is lost.
fn carried(begun: u32, first: Vec<OwnedFd>, later: Vec<OwnedFd>) -> Vec<Outcome> {
    let log = Log::default();
    let database = ScriptedDatabase::default();
    database.conversations.lock().unwrap().extend(later.into_iter().map(|socket| Some(UnixStream::from(socket))));
    let conversations = first.into_iter().map(|socket| (socket, wire())).collect();
    let mut transactions = transactions(&[Do::Begin, Do::Done], 1, &log);
    let wires = Wires::new(conversations).unwrap();
    let mut port = ConnectionsPort::new(wires, database.reconnect(), &mut transactions, WallClock::new(), begun);
    (0..begun).for_each(|slot| port.begin(slot, Begun { n: 0, payload: 0, at: Nanos::ZERO }));
    let mut ended = Vec::new();
    while (ended.len() as u32) < begun {
        port.reap(Wait::Completion, &mut ended).unwrap();
    }
    drop(port);
    assert!(!told(&log).is_empty());
    ended.sort_by_key(|completion| completion.slot);
    ended.into_iter().map(|completion| completion.outcome).collect()
}

const DONE: Outcome = Outcome::Transacted { retried: 0, rolled_back: false };

#[test]
fn conversations_take_turns_on_one_ring() {
    let servers = (0..2).map(|_| server(&[Turn::Answers; 4])).collect();
    assert_eq!(carried(4, servers, Vec::new()), [DONE; 4]);
}

#[test]
fn what_is_being_sent_stays_while_an_answer_is_there_already() {
    let outcomes = carried(2, vec![server(&[Turn::Refuses, Turn::Answers])], Vec::new());
    assert!(matches!(outcomes[..], [Outcome::Failed { .. }, DONE]), "{outcomes:?}");
}

#[test]
fn the_memory_of_a_lost_conversation_is_given_up_when_the_kernel_has_let_go() {
    let outcomes = carried(3, vec![server(&[Turn::Answers, Turn::Goes])], vec![server(&[Turn::Answers; 2])]);
    assert_eq!(outcomes, [DONE, Outcome::Failed { errno: libc::ECONNRESET }, DONE]);
}

/// The kernel that is written down here must see what it is there for.
#[test]
#[should_panic = "what is being sent was changed meanwhile"]
fn a_port_that_changes_what_is_being_sent_is_caught() {
    use super::kernel::{opcode, types};
    let (ours, _theirs) = ends();
    let mut ring = IoUring::new(2).unwrap();
    ring.submitter().register_files(&[ours.as_raw_fd()]).unwrap();
    let mut bytes = vec![1u8; 4];
    let entry = opcode::Send::new(types::Fixed(0), bytes.as_ptr(), 4).build();
    #[expect(unsafe_code, reason = "it is what is tried")]
    // SAFETY: the memory lives for as long as the ring.
    unsafe { ring.submission().push(&entry) }.unwrap();
    let submit = |submitter: Submitter<'_>| submitter.submit_and_wait(0).map(drop);
    submit(ring.submitter()).unwrap();
    bytes[0] = 2;
    while ring.completion().next().is_none() {
        submit(ring.submitter()).unwrap();
    }
}
