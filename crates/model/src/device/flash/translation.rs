//! Where each page stands, and what must be copied to make room.
//!
//! The one idea: every plane keeps its own part of the pages and writes to one block after the other, what hosts write and
//! what cleaning copies alike. Two maps of 32 bits, one each way, are all the state that a page has.

use super::amplification::decay;
use super::blocks::Blocks;
use super::shape::{Shape, Start};
use random::Draws;

const NONE: u32 = u32::MAX;

/// What a step of cleaning did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cleaned {
    pub copied: u32,
    pub erased: bool,
}

/// One plane beside its maps.
#[derive(Clone, Debug)]
struct Plane {
    blocks: Blocks,
    /// The block that is written to, and how many of its pages are.
    open: (u32, u32),
    /// The block that is emptied, and the first of its pages that was not looked at.
    emptied: Option<(u32, u32)>,
    /// Pages that counted in it when it was chosen.
    held: u32,
    cleaning: bool,
    /// Pages that a rested device of which only a part is simulated still takes before it has to clean.
    unseen: u64,
}

/// The maps of a device.
#[derive(Clone, Debug)]
pub(super) struct Translation {
    shape: Shape,
    units: u32,
    to_flash: Vec<u32>,
    to_page: Vec<u32>,
    planes: Vec<Plane>,
    random: Draws,
    /// Pages that hosts wrote, and pages that were copied.
    pub written: u64,
    pub copied: u64,
}

impl Translation {
    /// A device in the state that it begins in.
    pub fn new(shape: Shape, start: Start, random: Draws) -> Translation {
        let units = shape.units();
        let plane = || Plane {
            blocks: Blocks::new(shape.blocks, shape.pages, shape.wear),
            open: (NONE, shape.pages),
            emptied: None,
            held: 0,
            cleaning: false,
            unseen: 0,
        };
        let mut new = Translation {
            shape,
            units,
            to_flash: vec![NONE; shape.logical() as usize],
            to_page: vec![NONE; (shape.plane_pages() * units) as usize],
            planes: (0..units).map(|_| plane()).collect(),
            random,
            written: 0,
            copied: 0,
        };
        match start {
            Start::Rested(share) => new.fill_in_order(share),
            Start::Worn(share) => (0..units).for_each(|unit| new.wear_in(unit, share)),
        }
        if let (Start::Rested(_), true) = (start, shape.stands_for > 1.0) {
            let unseen = |plane: &Plane| shape.stands_for * plane.blocks.erased.len() as f64;
            new.planes.iter_mut().for_each(|plane| plane.unseen = (unseen(plane) * f64::from(shape.pages)) as u64);
        }
        (new.written, new.copied) = (0, 0);
        new
    }

    /// The plane that a page belongs to.
    #[inline]
    pub fn plane_of(&self, page: u32) -> u32 {
        page % self.units
    }

    /// Whether a page was ever written.
    #[inline]
    pub fn holds(&self, page: u32) -> bool {
        self.to_flash[page as usize] != NONE
    }

    /// Whether a host may write to a plane: a whole block's pages stay back for cleaning.
    #[inline]
    pub fn has_room(&self, unit: u32) -> bool {
        let plane = &self.planes[unit as usize];
        !plane.blocks.erased.is_empty() && (plane.open.1 < self.shape.pages || plane.blocks.erased.len() > 1)
    }

    /// Erased blocks of a plane.
    #[inline]
    pub fn erased(&self, unit: u32) -> u32 {
        self.planes[unit as usize].blocks.erased.len() as u32
    }

    /// A host writes a page.
    #[inline]
    pub fn write(&mut self, page: u32) {
        let unit = self.plane_of(page);
        let old = self.to_flash[page as usize];
        if old != NONE {
            self.lose(unit, old);
        }
        self.place(unit, page);
        self.written += 1;
        self.planes[unit as usize].unseen = self.planes[unit as usize].unseen.saturating_sub(1);
    }

    /// Makes room for nothing as long as the device would still have erased blocks: what is not simulated of it.
    #[inline]
    pub fn spare_unseen(&mut self, unit: u32) {
        while self.planes[unit as usize].unseen > 0 && self.wants_cleaning(unit) {
            let cleaned = self.clean(unit, self.shape.pages);
            self.copied -= u64::from(cleaned.copied);
            // A block of which every page counts makes no room.
            if !cleaned.erased || cleaned.copied == self.shape.pages {
                break;
            }
        }
    }

    /// Whether a plane is to be cleaned: from the lower watermark on, up to the higher.
    #[inline]
    pub fn wants_cleaning(&mut self, unit: u32) -> bool {
        let plane = &mut self.planes[unit as usize];
        let erased = plane.blocks.erased.len() as u32;
        let (low, high) = self.shape.watermarks;
        plane.cleaning = erased <= low || (plane.cleaning && erased < high) || plane.emptied.is_some();
        plane.cleaning
    }

    /// Copies for each page that a host writes with which the block that is emptied is empty when the room it makes is
    /// needed. More would only come in a rush and hold up one die while others wait for nothing.
    pub fn copies_due(&self, unit: u32) -> u32 {
        let plane = &self.planes[unit as usize];
        let held = plane.held.min(self.shape.pages - 1);
        held.div_ceil(self.shape.pages - held).max(1)
    }

    /// Copies up to so many pages out of the block that is emptied, and erases it behind the last.
    pub fn clean(&mut self, unit: u32, copies: u32) -> Cleaned {
        let mut done = Cleaned::default();
        let plane = &mut self.planes[unit as usize];
        let picked = plane.emptied.or_else(|| plane.blocks.pick().map(|block| (block, 0)));
        let Some((block, mut at)) = picked else { return done };
        if at == 0 {
            plane.held = plane.blocks.counts(block);
        }
        let base = unit * self.shape.plane_pages() + block * self.shape.pages;
        while at < self.shape.pages && done.copied < copies {
            let page = self.to_page[(base + at) as usize];
            if page != NONE {
                self.lose(unit, base + at);
                self.place(unit, page);
                done.copied += 1;
            }
            at += 1;
        }
        self.copied += u64::from(done.copied);
        done.erased = at == self.shape.pages;
        let plane = &mut self.planes[unit as usize];
        plane.emptied = (!done.erased).then_some((block, at));
        if done.erased {
            plane.blocks.erase(block);
        }
        done
    }

    /// Erase counts of the least and of the most worn block of all planes.
    pub fn wear_span(&self) -> (u32, u32) {
        let spans = self.planes.iter().map(|plane| plane.blocks.wear_span());
        spans.fold((u32::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    #[inline]
    fn lose(&mut self, unit: u32, flash: u32) {
        self.to_page[flash as usize] = NONE;
        let block = (flash - unit * self.shape.plane_pages()) / self.shape.pages;
        self.planes[unit as usize].blocks.lose(block);
    }

    /// Puts a page to the next place of its plane.
    #[inline]
    fn place(&mut self, unit: u32, page: u32) {
        let flash = self.next_place(unit);
        self.to_flash[page as usize] = flash;
        self.to_page[flash as usize] = page;
        let plane = &mut self.planes[unit as usize];
        plane.blocks.fill(plane.open.0);
        if plane.open.1 == self.shape.pages {
            plane.blocks.close(plane.open.0);
        }
    }

    #[inline]
    fn next_place(&mut self, unit: u32) -> u32 {
        let plane = &mut self.planes[unit as usize];
        if plane.open.1 == self.shape.pages {
            // Room was seen to before, so there is an erased block.
            plane.open = (plane.blocks.erased.pop_front().unwrap_or(0), 0);
        }
        let place = plane.open.0 * self.shape.pages + plane.open.1;
        plane.open.1 += 1;
        unit * self.shape.plane_pages() + place
    }

    fn fill_in_order(&mut self, share: f64) {
        let pages = (f64::from(self.shape.logical()) * share) as u32;
        (0..pages).for_each(|page| self.write(page));
    }

    /// Lays a plane out as if it had been written at random for long; the share `exp(-c a)` of a block of age `a` counts.
    fn wear_in(&mut self, unit: u32, share: f64) {
        let (pages, units) = (self.shape.pages, self.units);
        let in_use = (f64::from(self.shape.plane_logical()) * share) as u32;
        let mut order: Vec<u32> = (0..in_use).map(|number| number * units + unit).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, self.random.below(last as u64 + 1) as usize);
        }
        let kept = self.shape.watermarks.0 + 1;
        let blocks = self.shape.blocks - kept;
        let decay = decay(f64::from(blocks * pages) / f64::from(in_use.max(1)));
        // Pages that all blocks up to one hold together; the oldest are first.
        let scale = f64::from(in_use) / (1.0 - libm::exp(-decay)).max(1e-12);
        let younger = |block: u32| scale * (1.0 - libm::exp(-decay * f64::from(block) / f64::from(blocks)));
        let mut taken = 0usize;
        for block in 0..blocks {
            let end = in_use as f64 - younger(blocks - 1 - block);
            let count = (libm::round(end) as usize).min(order.len()).saturating_sub(taken).min(pages as usize);
            self.lay(unit, &order[taken..taken + count]);
            taken += count;
        }
        for page in order.split_off(taken) {
            self.write(page);
        }
    }

    /// Fills a block with these pages at places drawn by chance, and nothing between them.
    fn lay(&mut self, unit: u32, pages: &[u32]) {
        let mut left = pages.len() as u64;
        for place in 0..self.shape.pages {
            let still = u64::from(self.shape.pages - place);
            if self.random.below(still) < left {
                left -= 1;
                self.place(unit, pages[left as usize]);
            } else {
                self.leave(unit);
            }
        }
    }

    /// Leaves the next place of a plane without a page.
    fn leave(&mut self, unit: u32) {
        self.next_place(unit);
        let plane = &mut self.planes[unit as usize];
        if plane.open.1 == self.shape.pages {
            plane.blocks.close(plane.open.0);
        }
    }
}
