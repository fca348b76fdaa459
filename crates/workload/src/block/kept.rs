//! A map of generations in a form that a file can hold.
//!
//! The one idea: most units stand as their neighbours do, so that runs of equal units are kept: how many, which write was
//! their latest, and how far behind it an acceptable one may lie.
//!
//! What it does not do: it keeps nothing of what was in flight; such a write may have arrived or not.

use super::Grid;
use super::generations::Generations;
use super::word::{Beginning, Word};
use std::collections::BTreeMap;
use units::Bytes;

/// A map of more units is not kept: it would fill the file of the run.
const UNITS_MAX: u64 = 1 << 19;

/// Units in a page: the largest page stays below 64 KiB.
const PAGE_UNITS: u64 = 1 << 12;

impl Generations {
    /// What is acceptable of each unit, in pages; none of a map that is too large to be kept.
    pub fn pages(&self) -> Option<BTreeMap<u64, Vec<u8>>> {
        let per_module = self.grid().units(self.module_bytes());
        (per_module * u64::from(self.modules()) <= UNITS_MAX).then_some(())?;
        let of_module = |module: u32| (0..per_module).step_by(PAGE_UNITS as usize).map(move |first| (module, first));
        let pages = (0..self.modules()).flat_map(of_module).map(|(module, first)| {
            let units = first..per_module.min(first + PAGE_UNITS);
            (
                (u64::from(module) << 32) | (first / PAGE_UNITS),
                encode(units.map(|unit| self.word(module, unit).settled())),
            )
        });
        Some(pages.collect())
    }

    /// A map as it was kept, over so many modules of a size. None when it cannot have been.
    pub fn of_pages(
        grid: Grid,
        modules: u32,
        module_bytes: Bytes,
        epochs: (u32, u32),
        pages: &BTreeMap<u64, Vec<u8>>,
    ) -> Option<Generations> {
        let units = u64::from(modules).checked_mul(grid.units(module_bytes));
        units.filter(|units| *units <= UNITS_MAX)?;
        let (epoch, since) = epochs;
        let unknown = Beginning::Unknown { since };
        let map = Generations::new(grid, modules, module_bytes, 1, epoch, unknown).ok()?;
        pages.iter().try_for_each(|(place, page)| map.take_over(*place, page))?;
        Some(map)
    }

    fn take_over(&self, place: u64, page: &[u8]) -> Option<()> {
        let (module, mut unit) = ((place >> 32) as u32, (place & u64::from(u32::MAX)) * PAGE_UNITS);
        let per_module = if module < self.modules() { self.grid().units(self.module_bytes()) } else { 0 };
        let mut rest = page;
        while !rest.is_empty() {
            let [count, latest, back] = [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
            (count <= per_module.saturating_sub(unit)).then_some(())?;
            let word = Word::kept(latest, back.checked_sub(1));
            (unit..unit + count).for_each(|unit| self.set(module, unit, word));
            unit += count;
        }
        Some(())
    }
}

fn encode(words: impl Iterator<Item = Word>) -> Vec<u8> {
    let mut runs: Vec<(u64, Word)> = Vec::new();
    for word in words {
        match runs.last_mut() {
            Some((count, last)) if *last == word => *count += 1,
            _ => runs.push((1, word)),
        }
    }
    let mut page = Vec::new();
    for (count, word) in runs {
        for value in [count, word.latest(), word.back().map_or(0, |back| back + 1)] {
            put(value, &mut page);
        }
    }
    page
}

/// Seven bits a byte, the lowest first; the top bit says that more follow.
fn put(mut value: u64, page: &mut Vec<u8>) {
    while value > 0x7f {
        page.push(value as u8 | 0x80);
        value >>= 7;
    }
    page.push(value as u8);
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let length = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (bytes, after) = rest.split_at(length);
    *rest = after;
    (length <= 9).then(|| bytes.iter().rev().fold(0, |value, byte| (value << 7) | u64::from(byte & 0x7f)))
}
