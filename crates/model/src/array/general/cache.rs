//! The write cache: what was promised and is not on modules yet.
//!
//! The one idea: a write takes room when it comes and gives it back when it is destaged, so that a full cache makes writes
//! wait for modules. What it holds survives the loss of power and of one controller.

use super::array::Flight;
use super::spec;
use std::collections::VecDeque;

/// Writes that wait to be destaged.
#[derive(Clone, Debug)]
pub(super) struct WriteCache {
    room: u64,
    high: u64,
    low: u64,
    /// Bytes promised, with those that are being destaged.
    pub(super) dirty: u64,
    /// Bytes that were destaged.
    pub(super) gone: u64,
    destaging: bool,
    entries: VecDeque<Entry>,
    waiting: VecDeque<u32>,
}

/// A write that is promised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) group: u16,
}

/// The least that an entry takes of the room, so that the number of entries is bounded by it.
const PAGE: u64 = 4_096;

/// Whole pages.
fn pages(bytes: u32) -> u64 {
    u64::from(bytes).div_ceil(PAGE).max(1) * PAGE
}

impl WriteCache {
    pub(super) fn new(spec: &spec::Cache, slots: usize) -> WriteCache {
        let part = |share: f64| (spec.write_bytes as f64 * share) as u64;
        WriteCache {
            room: spec.write_bytes,
            high: part(spec.high),
            low: part(spec.low),
            dirty: 0,
            gone: 0,
            destaging: false,
            entries: VecDeque::with_capacity((spec.write_bytes / PAGE) as usize + 1),
            waiting: VecDeque::with_capacity(slots),
        }
    }

    /// Whether a write of this size can ever be in it.
    pub(super) fn takes(&self, bytes: u32) -> bool {
        pages(bytes) <= self.room
    }

    /// Takes a write if there is room; else its slot waits.
    pub(super) fn admit(&mut self, slot: u32, flight: &Flight) -> bool {
        if !self.waiting.is_empty() || self.dirty + pages(flight.bytes) > self.room {
            self.waiting.push_back(slot);
            return false;
        }
        self.hold(flight);
        true
    }

    pub(super) fn hold(&mut self, flight: &Flight) {
        self.dirty += pages(flight.bytes);
        let Flight { address, bytes, group, .. } = *flight;
        self.entries.push_back(Entry { address, bytes, group });
    }

    /// The next write to destage, between the watermarks and as long as somebody waits.
    pub(super) fn next(&mut self) -> Option<Entry> {
        if self.dirty >= self.high.max(1) || !self.waiting.is_empty() {
            self.destaging = true;
        } else if self.dirty <= self.low {
            self.destaging = false;
        }
        if self.destaging { self.entries.pop_front() } else { None }
    }

    /// A write is on its modules. Who waited and has room now is taken in, one at a call.
    pub(super) fn destaged(&mut self, bytes: u32) {
        self.dirty -= pages(bytes);
        self.gone += pages(bytes);
    }

    /// The first who waits, if there is room for him. Whoever asks for him holds him, or sends him elsewhere.
    pub(super) fn relieve(&mut self, flights: &[Flight]) -> Option<u32> {
        let flight = &flights[*self.waiting.front()? as usize];
        if self.dirty + pages(flight.bytes) > self.room { None } else { self.waiting.pop_front() }
    }

    /// Takes back a write whose destage came to nothing; it is the next one.
    pub(super) fn put_back(&mut self, entry: Entry) {
        self.entries.push_front(entry);
    }

    /// What it has room for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity() + self.waiting.capacity()
    }

    /// Nobody waits any more.
    pub(super) fn abandon(&mut self) {
        self.waiting.clear();
    }
}
