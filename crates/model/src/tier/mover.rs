//! What is moved, and in which pieces.
//!
//! The one idea: after each period the hottest extents on disks change places with the coldest on flash, as long as their
//! counts differ by more than chance would let them. A cold extent leaves first, which makes the room for a hot one; each is
//! read in pieces from where it lies and written to where it goes.

use super::heat::Heat;

/// Bytes that are moved at once.
pub(super) const PIECE: u64 = 1 << 20;

/// A move that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    pub extent: u32,
    /// Whether it goes to flash.
    pub up: bool,
    /// Pieces that are still to be moved, this one included, and whether this one was read.
    left: u64,
    read: bool,
}

/// What the mover has to do.
#[derive(Clone, Debug, Default)]
pub(super) struct Mover {
    /// Extents that go up, and those that make room for them; the greatest gain last.
    waiting: Vec<(u32, u32)>,
    /// The hot extent whose room is being made.
    next: Option<u32>,
    pub now: Option<Move>,
    pieces: u64,
    /// Extents that have arrived.
    pub moved: u64,
}

/// Deviations by which counts must differ: the hottest of thousands and the coldest of others are three apart by chance.
const SURE: f64 = 4.0;

impl Mover {
    pub fn new(extent_bytes: u64) -> Mover {
        Mover { pieces: extent_bytes.div_ceil(PIECE).max(1), ..Mover::default() }
    }

    /// Looks at what was counted, and forgets what it meant to do before.
    pub fn look(&mut self, heat: &Heat) {
        let busy = |extent: &u32| {
            self.now.is_some_and(|now| now.extent == *extent) || self.next.is_some_and(|next| next == *extent)
        };
        let of = |fast: bool| {
            let all = (0..heat.fast.len() as u32).filter(|extent| heat.fast[*extent as usize] == fast && !busy(extent));
            let mut all: Vec<u32> = all.collect();
            all.sort_unstable_by(|a, b| heat.counted(*a).total_cmp(&heat.counted(*b)).then(a.cmp(b)));
            all
        };
        let (slow, fast) = (of(false), of(true));
        let pairs = slow.iter().rev().zip(&fast).map(|(hot, cold)| (*hot, *cold));
        let gains = |(hot, cold): &(u32, u32)| {
            let (hot, cold) = (heat.counted(*hot), heat.counted(*cold));
            hot - cold > SURE * libm::sqrt(hot + cold)
        };
        self.waiting = pairs.take_while(gains).collect();
        self.waiting.reverse();
    }

    /// Begins the next move when none is under way.
    pub fn begin(&mut self) -> Option<Move> {
        if self.now.is_none() {
            let (extent, up) = match self.next.take() {
                Some(hot) => (hot, true),
                None => {
                    let (hot, cold) = self.waiting.pop()?;
                    self.next = Some(hot);
                    (cold, false)
                }
            };
            self.now = Some(Move { extent, up, left: self.pieces, read: false });
        }
        self.now
    }

    /// A piece was read or written. Whether it was written; where that was the last of its extent, the extent has arrived.
    pub fn done(&mut self, heat: &mut Heat) -> bool {
        let Some(now) = &mut self.now else { return false };
        if !now.read {
            now.read = true;
            return false;
        }
        (now.read, now.left) = (false, now.left - 1);
        if now.left == 0 {
            heat.fast[now.extent as usize] = now.up;
            self.moved += 1;
            self.now = None;
        }
        true
    }
}

impl Move {
    /// Whether the next piece is to be done on flash: read there on the way down, written there on the way up.
    pub fn on_flash(&self) -> bool {
        self.up == self.read
    }
}
