//! One direction of one connection: what is read on one side and handed over on the other at its moment.
//!
//! The one idea: where a path changes nothing, the thread that reads also writes, and the relay costs one wake-up. Elsewhere pieces
//! stand in a queue, and a second thread sleeps until shortly before each is due, and waits for the rest awake.

use crate::locked;
use crate::network::Stream;
use crate::path::{Travel, Way};
use crate::relay::Hub;
use crate::seal::Sealed;
use recorder::{Clock, Lead};
use std::collections::VecDeque;
use std::io::{Read, Result, Write};
use std::net::Shutdown;
use std::num::NonZeroU64;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use units::Nanos;

/// Bytes that are read at once.
const PIECE: usize = 256 * 1024;

/// Bytes under way before no more are read: 16 MiB fill 1.6 GB/s over 10 ms.
const UNDER_WAY: usize = 16 << 20;

/// Bytes with their moments; no bytes are the end.
struct Piece {
    came: Nanos,
    travel: Travel,
    data: Vec<u8>,
}

#[derive(Default)]
struct Queue {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// Whether a piece was taken out and is not handed over yet.
    writing: bool,
    path: usize,
    broken: bool,
}

/// The queue between both threads.
pub(crate) struct Pipe {
    way: Way,
    /// That of its connection.
    number: u64,
    /// What seals and opens all that it carries, where the wire is under TLS.
    sealed: Option<Arc<Sealed>>,
    queue: Mutex<Queue>,
    came: Condvar,
    room: Condvar,
}

impl Pipe {
    pub(crate) fn new(way: Way, number: u64, path: usize, sealed: Option<Arc<Sealed>>) -> Arc<Pipe> {
        let queue = Mutex::new(Queue { path, ..Queue::default() });
        Arc::new(Pipe { way, number, sealed, queue, came: Condvar::new(), room: Condvar::new() })
    }

    /// Looks again at what it waits for: the paths changed.
    pub(crate) fn look(&self) {
        drop(locked(&self.queue));
        self.came.notify_all();
    }

    /// Reads until the end. Pieces that need no clock are handed over at once.
    pub(crate) fn read(&self, hub: &Hub, from: &Stream, to: &Stream) {
        let mut room = vec![0; PIECE];
        let mut from = from;
        loop {
            let read = from.read(&mut room).unwrap_or(0);
            let now = hub.clock.now();
            if read > 0
                && let Some(tap) = &hub.tap
            {
                tap(self.number, self.way == Way::There, now, &room[..read]);
            }
            if read > 0 && self.is_plain(hub) {
                if self.carried(hub, now, &room[..read], to).is_ok() {
                    continue;
                }
                from.end(Shutdown::Both);
                return self.push(hub, now, Vec::new());
            }
            let piece = match &self.sealed {
                Some(sealed) => sealed.seal(self.way, &room[..read]).unwrap_or_default(),
                None => room[..read].to_vec(),
            };
            self.push(hub, now, piece);
            if read == 0 || locked(&self.queue).broken {
                return;
            }
        }
    }

    /// Hands over at once what came then.
    fn carried(&self, hub: &Hub, came: Nanos, data: &[u8], mut to: &Stream) -> Result<()> {
        let traffic = &hub.traffic[self.way as usize];
        let handed_over = match &self.sealed {
            None => {
                traffic.add(data.len());
                to.write_all(data)
            }
            Some(sealed) => {
                let records = sealed.seal(self.way, data)?;
                traffic.add(records.len());
                to.write_all(&sealed.open(self.way, &records)?)
            }
        };
        traffic.held(hub.clock.now().saturating_sub(came));
        handed_over
    }

    fn is_plain(&self, hub: &Hub) -> bool {
        let queue = locked(&self.queue);
        queue.pieces.is_empty() && !queue.writing && locked(&hub.paths).is_plain(queue.path, self.way)
    }

    fn push(&self, hub: &Hub, now: Nanos, data: Vec<u8>) {
        let mut queue = locked(&self.queue);
        while queue.bytes > UNDER_WAY && !queue.broken {
            queue = self.room.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let travel = locked(&hub.paths).send(now, queue.path, self.way, data.len());
        (queue.path, queue.bytes) = (travel.path, queue.bytes + data.len());
        queue.pieces.push_back(Piece { came: now, travel, data });
        if queue.pieces.len() == 1 {
            self.came.notify_all();
        }
    }

    /// Hands over until the end.
    pub(crate) fn write(&self, hub: &Hub, to: &Stream) {
        // The kernel may wake a thread 50 us late by default. Where it refuses, pieces arrive later than they could.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut lead = Lead::default();
        while let Some(Piece { came, data, .. }) = self.next(hub, &mut lead) {
            // What waits for a path was not carried yet.
            hub.traffic[self.way as usize].add(data.len());
            let ended = data.is_empty() || self.handed_over(&data, to).is_err();
            hub.traffic[self.way as usize].held(hub.clock.now().saturating_sub(came));
            let mut queue = locked(&self.queue);
            (queue.writing, queue.bytes) = (false, queue.bytes - data.len());
            self.room.notify_all();
            if ended {
                break;
            }
        }
        locked(&self.queue).broken = true;
        self.room.notify_all();
        to.end(Shutdown::Write);
    }

    fn handed_over(&self, data: &[u8], mut to: &Stream) -> Result<()> {
        match &self.sealed {
            Some(sealed) => to.write_all(&sealed.open(self.way, data)?),
            None => to.write_all(data),
        }
    }

    /// The next piece, when it is due; none when the relay ends.
    fn next(&self, hub: &Hub, lead: &mut Lead) -> Option<Piece> {
        let mut queue = locked(&self.queue);
        loop {
            if hub.stop.load(Ordering::Acquire) {
                return None;
            }
            let now = hub.clock.now();
            let left = queue.pieces.front_mut().and_then(|piece| self.left(hub, now, piece));
            match left {
                None => queue = self.came.wait(queue).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left > lead.time() => {
                    let sleep = left - lead.time();
                    let waited = self.came.wait_timeout(queue, Duration::from_nanos(sleep.0));
                    let (again, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                    queue = again;
                    if timeout.timed_out() {
                        lead.learn(hub.clock.now().saturating_sub(now + sleep));
                    }
                }
                Some(left) => {
                    // Nobody else takes pieces out.
                    drop(queue);
                    while hub.clock.now() < now + left {
                        std::hint::spin_loop();
                    }
                    queue = locked(&self.queue);
                    queue.writing = true;
                    return queue.pieces.pop_front();
                }
            }
        }
    }

    /// How long it is until a piece is handed over; none while no path carries it.
    fn left(&self, hub: &Hub, now: Nanos, piece: &mut Piece) -> Option<Nanos> {
        let mut paths = locked(&hub.paths);
        if !paths.holds(piece.travel, self.way) {
            piece.travel = paths.send(now, piece.travel.path, self.way, piece.data.len());
        }
        let own = Nanos(hub.own_ns.load(Ordering::Relaxed));
        piece.travel.due.map(|due| due.saturating_sub(own).saturating_sub(now))
    }
}
