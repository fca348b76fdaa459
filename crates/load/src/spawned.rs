//! Operations caused by other operations, in the order of their intended times.

use crate::watch::Watch;
use crate::{Arrival, Next, Unissued};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

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
