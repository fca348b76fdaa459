//! Slots by the time at which they are due.
//!
//! The one idea: with no think time slots become due in the order in which they ended, and a ring is enough. Who thinks needs a
//! heap, also where pauses are all alike: what is left of one may follow what a slot carried meanwhile. Neither allocates
//! after it is built.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
