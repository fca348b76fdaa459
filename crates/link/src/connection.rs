//! One connection: what comes on either side is handed over on the other at its moment.
//!
//! The one idea: one thread watches both sides and the clock, and never waits for one side alone, so that a full socket holds nothing up
//! but its own direction. A thread that sleeps wakes up some 30 us late: one connection at a time stays awake for a moment behind a
//! piece, as long as nobody else wants its core; and what came while it slept counts from when it came.

use crate::network::Stream;
use crate::path::{Travel, Way};
use crate::relay::Hub;
use crate::seal::Sealed;
use recorder::{Clock, Lead, Vigil};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::io::{ErrorKind, Result};
use std::net::Shutdown;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Nanos;

/// Bytes that are read at once.
const PIECE: usize = 256 * 1024;

/// Bytes under way before no more are read: 16 MiB fill 1.6 GB/s over 10 ms.
const UNDER_WAY: usize = 16 << 20;

/// How long it stays awake behind a piece: longer than a server on this machine takes for an answer from memory.
const AWAKE: Nanos = Nanos::from_micros(100);

/// Who gave its core away and has it back later than that was in somebody's way.
const IN_THE_WAY: Nanos = Nanos::from_micros(10);

/// Both sides of a connection, and how to have its thread look at the paths again.
pub(crate) struct Connection {
    number: u64,
    ends: [Stream; 2],
    ended: AtomicBool,
    called: OwnedFd,
}

impl Connection {
    pub(crate) fn new(hub: &Hub, near: Stream, far: Stream) -> Result<Connection> {
        let called = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Connection {
            number: hub.served.fetch_add(1, Ordering::Relaxed),
            ends: [near, far],
            ended: AtomicBool::new(false),
            called,
        })
    }

    /// Ends it, and both sides see that it was broken off.
    pub(crate) fn end(&self) {
        self.break_off();
        self.ended.store(true, Ordering::Release);
        self.look();
    }

    fn break_off(&self) {
        self.ends.iter().for_each(Stream::break_off);
    }

    /// Looks again at what it waits for: the paths changed.
    pub(crate) fn look(&self) {
        // What is full already will be read.
        let _ = rustix::io::write(&self.called, &1u64.to_ne_bytes());
    }

    /// Carries until both directions have ended, or the relay.
    pub(crate) fn carry(&self, hub: &Hub, path: usize, sealed: Option<&Sealed>) {
        // The kernel may wake a thread 50 us late by default. Where it refuses, pieces arrive later than they could.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let [near, far] = &self.ends;
        let ends = [(Way::There, near, far), (Way::Back, far, near)];
        let mut directions = ends.map(|ends| Direction::new(self.number, ends, path, sealed));
        let (mut room, mut watch) = (vec![0; PIECE], Watch::new(hub));
        while !hub.stop.load(Ordering::Acquire) && !self.ended.load(Ordering::Acquire) {
            let late = watch.late();
            let mut moved = false;
            for direction in &mut directions {
                moved |= direction.take_in(hub, late, &mut room);
                moved |= direction.hand_over(hub);
            }
            if directions.iter().any(|direction| direction.broken) {
                break;
            }
            if directions.iter().all(|direction| direction.ended) {
                return;
            }
            watch.wait(moved, &directions, &self.called);
        }
        self.break_off();
    }
}

/// How its thread waits.
struct Watch<'a> {
    hub: &'a Hub,
    lead: Lead,
    /// When something moved for the last time.
    moved: Nanos,
    /// Whether it is the connection that stays awake.
    awake: bool,
    /// When the sleep began out of which something woke it; none where it was awake, or woke up by the clock.
    slept: Option<Nanos>,
    /// Keeps cores awake while pieces come.
    vigil: Vigil,
}

impl<'a> Watch<'a> {
    fn new(hub: &'a Hub) -> Watch<'a> {
        Watch {
            hub,
            lead: Lead::default(),
            moved: Nanos::ZERO,
            awake: false,
            slept: Some(Nanos::ZERO),
            vigil: Vigil::default(),
        }
    }

    /// How long what is read now has been there already: it came no earlier than the sleep began.
    fn late(&self) -> Nanos {
        let asleep = self.slept.map(|begun| self.hub.clock.now().saturating_sub(begun));
        there_for(Nanos(self.hub.own_ns.load(Ordering::Relaxed)), asleep)
    }

    /// Waits until there may be something to do.
    fn wait(&mut self, moved: bool, directions: &[Direction<'_>; 2], called: &OwnedFd) {
        self.slept = None;
        let now = self.hub.clock.now();
        if moved {
            self.moved = now;
            return self.vigil.keep(now);
        }
        let due = directions.iter().filter_map(Direction::due).min();
        let left = due.map(|due| due.saturating_sub(now));
        if left.is_some_and(|left| left <= self.lead.time()) {
            return std::hint::spin_loop();
        }
        if self.stays_awake(now) {
            return;
        }
        self.sleep(left.map(|left| left - self.lead.time()), directions, called);
    }

    /// Whether it need not sleep yet; others had its core meanwhile if they wanted it.
    fn stays_awake(&mut self, now: Nanos) -> bool {
        let recent = now.saturating_sub(self.moved) < AWAKE;
        if recent && !self.awake {
            self.awake = !self.hub.awake.swap(true, Ordering::AcqRel);
        }
        if recent && self.awake {
            std::thread::yield_now();
            if self.hub.clock.now().saturating_sub(now) < IN_THE_WAY {
                return true;
            }
        }
        self.sleeps();
        false
    }

    fn sleeps(&mut self) {
        if std::mem::take(&mut self.awake) {
            self.hub.awake.store(false, Ordering::Release);
        }
    }

    fn sleep(&mut self, time: Option<Nanos>, directions: &[Direction<'_>; 2], called: &OwnedFd) {
        let [there, back] = directions;
        // What is written to one side goes the other way than what is read there.
        let wanted = [there.reads() | back.writes(), back.reads() | there.writes()];
        let mut fds = vec![PollFd::new(called, PollFlags::IN)];
        let sides = [there.from, there.to].into_iter().zip(wanted);
        fds.extend(sides.filter(|(_, wanted)| !wanted.is_empty()).map(|(side, wanted)| PollFd::new(side, wanted)));
        let begun = self.hub.clock.now();
        let longest = [time, self.vigil.rest(begun)].into_iter().flatten().min();
        let limit = longest.and_then(|time| Timespec::try_from(std::time::Duration::from_nanos(time.0)).ok());
        let ready = poll(&mut fds, limit.as_ref());
        if let (Ok(0), Some(time)) = (ready, time.filter(|time| longest == Some(*time))) {
            self.lead.learn(self.hub.clock.now().saturating_sub(begun + time));
        }
        if !fds[0].revents().is_empty() {
            let _ = rustix::io::read(called, &mut [0; 8]);
        }
        self.slept = (ready != Ok(0)).then_some(begun);
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.sleeps();
    }
}

/// How long something has been there that ended a sleep of such a length, where a thread that slept long finds it so late.
fn there_for(own: Nanos, asleep: Option<Nanos>) -> Nanos {
    asleep.map_or(Nanos::ZERO, |asleep| own.min(asleep))
}

/// Bytes with their moments; no bytes are the end.
struct Piece {
    came: Nanos,
    travel: Travel,
    data: Vec<u8>,
    /// Bytes of it on the wire: of records, where it is sealed.
    bytes: usize,
    /// Whether it has left the wire.
    arrived: bool,
    /// Bytes of it that the other side has.
    handed: usize,
}

impl Piece {
    fn is_due(&mut self, hub: &Hub, way: Way) -> bool {
        if !self.arrived {
            hub.hold(&mut self.travel, way, self.bytes);
        }
        self.arrived || self.travel.due.is_some_and(|due| due <= hub.clock.now())
    }

    /// Hands over what the other side takes.
    ///
    /// # Errors
    /// It takes no more, for now or for ever.
    fn hand_over(&mut self, hub: &Hub, way: Way, to: &Stream, sealed: Option<&Sealed>) -> Result<()> {
        let traffic = &hub.traffic[way as usize];
        if !self.arrived {
            // What waits for a path was not carried yet.
            traffic.add(self.bytes);
            if let Some(sealed) = sealed {
                self.data = sealed.open(way, &self.data)?;
            }
            self.arrived = true;
        }
        while self.handed < self.data.len() {
            self.handed += to.write_now(&self.data[self.handed..])?;
        }
        traffic.held(hub.clock.now().saturating_sub(self.came));
        Ok(())
    }
}

/// One direction.
struct Direction<'a> {
    /// That of its connection.
    number: u64,
    way: Way,
    from: &'a Stream,
    to: &'a Stream,
    sealed: Option<&'a Sealed>,
    path: usize,
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// Whether everything that will ever come has come.
    read_all: bool,
    /// Whether whoever sent it broke off.
    cut_short: bool,
    /// Whether the other side takes no more for now.
    full: bool,
    ended: bool,
    /// Whether either side has broken off, and what was on its way has arrived.
    broken: bool,
}

impl<'a> Direction<'a> {
    fn new(
        number: u64,
        (way, from, to): (Way, &'a Stream, &'a Stream),
        path: usize,
        sealed: Option<&'a Sealed>,
    ) -> Direction<'a> {
        let (pieces, bytes) = (VecDeque::new(), 0);
        Direction {
            number,
            way,
            from,
            to,
            sealed,
            path,
            pieces,
            bytes,
            read_all: false,
            cut_short: false,
            full: false,
            ended: false,
            broken: false,
        }
    }

    fn reads(&self) -> PollFlags {
        if self.read_all || self.bytes > UNDER_WAY { PollFlags::empty() } else { PollFlags::IN }
    }

    fn writes(&self) -> PollFlags {
        if self.full && !self.ended { PollFlags::OUT } else { PollFlags::empty() }
    }

    /// When the next piece is to be handed over; none while no path carries it, and while the other side takes nothing.
    fn due(&self) -> Option<Nanos> {
        self.pieces.front().filter(|_| !self.full).and_then(|piece| piece.travel.due)
    }

    /// Takes in what has been there for so long; whether anything was.
    fn take_in(&mut self, hub: &Hub, late: Nanos, room: &mut [u8]) -> bool {
        if self.reads().is_empty() {
            return false;
        }
        let read = match self.from.read_now(room) {
            Ok(read) => read,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return false,
            Err(_) => {
                self.cut_short = true;
                0
            }
        };
        let now = hub.clock.now();
        let came = now.saturating_sub(late);
        self.read_all = read == 0;
        let data = &room[..read];
        if let Some(tap) = hub.tap.as_ref().filter(|_| read > 0) {
            tap(self.number, self.way == Way::There, came, data);
        }
        let at_once = self.pieces.is_empty() && self.sealed.is_none() && hub.is_plain(self.path, self.way);
        let handed = if at_once && read > 0 { self.handed_at_once(hub, now, data) } else { 0 };
        if read == 0 || handed < read {
            self.send(hub, came, &data[handed..]);
        }
        true
    }

    /// Bytes that the other side takes at once.
    fn handed_at_once(&mut self, hub: &Hub, read: Nanos, data: &[u8]) -> usize {
        // What an error leaves is told when it is tried again.
        let handed = self.to.write_now(data).unwrap_or(0);
        if handed > 0 {
            hub.traffic[self.way as usize].add(handed);
            hub.traffic[self.way as usize].held(hub.clock.now().saturating_sub(read));
        }
        handed
    }

    /// Gives data their moment.
    fn send(&mut self, hub: &Hub, came: Nanos, data: &[u8]) {
        let data = match self.sealed {
            Some(sealed) => sealed.seal(self.way, data).unwrap_or_default(),
            None => data.to_vec(),
        };
        let bytes = data.len();
        let travel = hub.send(came, self.path, self.way, bytes);
        (self.path, self.bytes) = (travel.path, self.bytes + bytes);
        self.pieces.push_back(Piece { came, travel, data, bytes, arrived: false, handed: 0 });
    }

    /// Hands over what is due; whether anything was.
    fn hand_over(&mut self, hub: &Hub) -> bool {
        let mut moved = false;
        while !self.ended
            && let Some(piece) = self.pieces.front_mut()
            && piece.is_due(hub, self.way)
        {
            let done = piece.hand_over(hub, self.way, self.to, self.sealed);
            self.full = matches!(&done, Err(error) if error.kind() == ErrorKind::WouldBlock);
            if self.full {
                break;
            }
            moved = true;
            self.bytes -= piece.bytes;
            let last = piece.bytes == 0;
            self.pieces.pop_front();
            if last || done.is_err() {
                self.end(done.is_err() || self.cut_short);
            }
        }
        moved
    }

    fn end(&mut self, broken: bool) {
        (self.ended, self.read_all, self.broken) = (true, true, broken);
        if !broken {
            self.to.end(Shutdown::Write);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_a_short_sleep_came_in_it_and_what_was_found_awake_or_by_the_clock_came_just_now() {
        let own = Nanos::from_micros(30);
        assert_eq!(there_for(own, Some(Nanos::from_millis(2))), own);
        assert_eq!(there_for(own, Some(Nanos::from_micros(7))), Nanos::from_micros(7));
        assert_eq!(there_for(own, None), Nanos::ZERO);
    }
}
