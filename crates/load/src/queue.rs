//! Slots by the time at which they are due.
//!
//! The one idea: with no think time slots become due in the order in which they ended, and a ring is enough. Who thinks needs a
//! heap, also where pauses are all alike: what is left of one may follow what a slot carried meanwhile. Neither allocates
//! after it is built.

use crate::watch::Watch;
use crate::{Arrival, Next, Unissued};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

#[derive(Clone, Debug)]
pub(crate) enum Queue {
    Ring(Ring),
    Heap(BinaryHeap<Reverse<(u64, u32)>>),
}

/// A ring whose length is a power of two, so that positions wrap by a mask.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    places: Box<[(u64, u32)]>,
    head: usize,
    tail: usize,
}

impl Queue {
    pub(crate) fn new(slots: u32, thinks: bool) -> Queue {
        if thinks {
            return Queue::Heap(BinaryHeap::with_capacity(slots as usize));
        }
        let length = (slots as usize).max(1).next_power_of_two();
        Queue::Ring(Ring { places: vec![(u64::MAX, 0); length].into(), head: 0, tail: 0 })
    }

    /// When the first is due; the end of time when there is none.
    #[inline]
    pub(crate) fn at(&self) -> u64 {
        match self {
            Queue::Ring(ring) => {
                // A place that was emptied holds the end of time, so that an empty ring needs no second question.
                ring.places[ring.head & (ring.places.len() - 1)].0
            }
            Queue::Heap(heap) => heap.peek().map_or(u64::MAX, |Reverse((at, _))| *at),
        }
    }

    /// Takes the first; meaningless when there is none.
    #[inline]
    pub(crate) fn pop(&mut self) -> u32 {
        match self {
            Queue::Ring(ring) => {
                let mask = ring.places.len() - 1;
                let place = &mut ring.places[ring.head & mask];
                place.0 = u64::MAX;
                ring.head += 1;
                place.1
            }
            Queue::Heap(heap) => heap.pop().map_or(0, |Reverse((_, slot))| slot),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, at: u64, slot: u32) {
        match self {
            Queue::Ring(ring) => {
                let mask = ring.places.len() - 1;
                ring.places[ring.tail & mask] = (at, slot);
                ring.tail += 1;
            }
            Queue::Heap(heap) => heap.push(Reverse((at, slot))),
        }
    }
}

// Operations caused by other operations, in the order of their intended times.

/// Room for spawned operations for every slot of a worker. An operation that spawns more than sixteen others at once is
/// told that there is no room; a larger number costs 24 bytes a slot and nothing else.
const ROOM_PER_SLOT: usize = 16;

/// Room at least: a slot that carries out tens of thousands a second has hundreds of them that are not due for a while.
const ROOM: usize = 2048;

/// A bounded queue; it never allocates after it is built.
#[derive(Clone, Debug)]
pub(crate) struct Spawned {
    /// Intended time, number (which keeps equal times in order), payload.
    heap: BinaryHeap<Reverse<(u64, u64, u64)>>,
    room: usize,
    next: u64,
    stride: u64,
}

impl Spawned {
    pub(crate) fn new(share: crate::machine::Share) -> Spawned {
        let room = (share.own as usize * ROOM_PER_SLOT).max(ROOM);
        Spawned {
            heap: BinaryHeap::with_capacity(room),
            room,
            next: crate::SPAWNED + u64::from(share.worker),
            stride: u64::from(share.workers),
        }
    }

    pub(crate) fn push(&mut self, intended: u64, payload: u64) -> bool {
        if self.heap.len() == self.room {
            return false;
        }
        self.heap.push(Reverse((intended, self.next, payload)));
        self.next += self.stride;
        true
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The intended time of the first; the end of time when there is none.
    pub(crate) fn at(&self) -> u64 {
        self.heap.peek().map_or(u64::MAX, |Reverse((at, _, _))| *at)
    }

    pub(crate) fn pop(&mut self) -> Option<Unissued> {
        let Reverse((intended, n, payload)) = self.heap.pop()?;
        Some(Unissued { n, intended: Nanos(intended), payload })
    }

    /// Gives the first to a slot.
    pub(crate) fn issue(&mut self, slot: u32, watch: &mut Watch) -> Next {
        let Some(Unissued { n, intended, payload }) = self.pop() else { return Next::Finished };
        watch.issued(intended.0);
        Next::Issue(Arrival { slot, n, intended, payload })
    }
}
