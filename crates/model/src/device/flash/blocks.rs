//! The blocks of a plane: which are erased, which is being filled, and which is emptied next.
//!
//! The one idea: full blocks stand in chains by how many of their pages still count, so the emptiest is found at once and a
//! page that is overwritten moves its block by one chain.

use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// Blocks of one plane, by number.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    valid: Vec<u16>,
    full: Vec<bool>,
    next: Vec<u32>,
    before: Vec<u32>,
    erases: Vec<u32>,
    /// First and last block of each chain.
    chains: Vec<(u32, u32)>,
    /// No chain below holds a block.
    lowest: usize,
    pub erased: VecDeque<u32>,
    wear: u32,
    /// Erases until wear is looked at again.
    until_look: u32,
}

impl Blocks {
    /// Erased blocks.
    pub fn new(blocks: u32, pages: u32, wear: u32) -> Blocks {
        let count = blocks as usize;
        Blocks {
            valid: vec![0; count],
            full: vec![false; count],
            next: vec![NONE; count],
            before: vec![NONE; count],
            erases: vec![0; count],
            chains: vec![(NONE, NONE); pages as usize + 1],
            lowest: 0,
            erased: (0..blocks).collect(),
            wear,
            until_look: blocks,
        }
    }

    /// One more page of a block counts.
    #[inline]
    pub fn fill(&mut self, block: u32) {
        self.valid[block as usize] += 1;
    }

    /// One page less of a block counts.
    #[inline]
    pub fn lose(&mut self, block: u32) {
        let moves = self.full[block as usize];
        if moves {
            self.unlink(block);
        }
        self.valid[block as usize] -= 1;
        if moves {
            self.link(block);
        }
    }

    /// Pages of a block that count.
    pub fn counts(&self, block: u32) -> u32 {
        u32::from(self.valid[block as usize])
    }

    /// A block is full: it can be emptied from now on.
    pub fn close(&mut self, block: u32) {
        self.full[block as usize] = true;
        self.link(block);
    }

    /// A block was emptied.
    pub fn erase(&mut self, block: u32) {
        debug_assert_eq!(self.valid[block as usize], 0, "nothing is lost");
        self.erases[block as usize] += 1;
        self.until_look = self.until_look.saturating_sub(1);
        self.erased.push_back(block);
    }

    /// The block that is emptied next: the one with the fewest pages that count, unless wear is uneven. It leaves its chain.
    pub fn pick(&mut self) -> Option<u32> {
        let block = self.worn_least().unwrap_or_else(|| self.emptiest());
        if block == NONE {
            return None;
        }
        self.unlink(block);
        self.full[block as usize] = false;
        Some(block)
    }

    /// Erase counts of the least and of the most worn block.
    pub fn wear_span(&self) -> (u32, u32) {
        self.erases.iter().fold((u32::MAX, 0), |(low, high), count| (low.min(*count), high.max(*count)))
    }

    fn emptiest(&mut self) -> u32 {
        while self.lowest + 1 < self.chains.len() && self.chains[self.lowest].0 == NONE {
            self.lowest += 1;
        }
        self.chains[self.lowest].0
    }

    /// The least worn full block, when blocks are worn too unevenly. A look at all blocks is taken as often as all were
    /// erased once in the mean; while they are uneven, one block in four is chosen so.
    fn worn_least(&mut self) -> Option<u32> {
        if self.until_look > 0 {
            return None;
        }
        let (low, high) = self.wear_span();
        let uneven = high - low > self.wear;
        self.until_look = if uneven { 4 } else { self.full.len() as u32 };
        let full = (0..self.full.len() as u32).filter(|block| self.full[*block as usize]);
        uneven.then(|| full.min_by_key(|block| self.erases[*block as usize])).flatten()
    }

    #[inline]
    fn link(&mut self, block: u32) {
        let chain = usize::from(self.valid[block as usize]);
        let last = std::mem::replace(&mut self.chains[chain].1, block);
        self.before[block as usize] = last;
        self.next[block as usize] = NONE;
        match last {
            NONE => self.chains[chain].0 = block,
            last => self.next[last as usize] = block,
        }
        self.lowest = self.lowest.min(chain);
    }

    #[inline]
    fn unlink(&mut self, block: u32) {
        let chain = usize::from(self.valid[block as usize]);
        let (before, next) = (self.before[block as usize], self.next[block as usize]);
        match before {
            NONE => self.chains[chain].0 = next,
            before => self.next[before as usize] = next,
        }
        match next {
            NONE => self.chains[chain].1 = before,
            next => self.before[next as usize] = before,
        }
    }
}
