//! What an earlier run left on modules, held against what its file knows of them.

use crate::TrialError;
use crate::observer::watch;
use crate::target::known::{Known, unwatched};
use crate::trial::read_back::ReadBack;
use observation::{EventKind, Ledger, Mishap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use system::Module;
use units::{Bytes, Nanos};
use workload::block::{Duplicates, SECTOR};

/// How often the progress is told.
const GLANCE: Duration = Duration::from_millis(250);

/// Modules as an earlier run left them.
#[derive(Clone, Copy, Debug)]
pub struct Left<'a> {
    /// Name of the system, for errors.
    pub system: &'a str,
    /// The modules that are still there, in the order of the run. Nothing is written to them.
    pub modules: &'a [Module],
    /// How many the run had.
    pub count: usize,
    /// Seed of the run.
    pub seed: u64,
    /// What the last trial that checked its writes knew of them.
    pub ledger: Option<&'a Ledger>,
    /// Whether more may have been written after that.
    pub newer: bool,
    /// How much of each module the run used, where no ledger says.
    pub range: Option<Bytes>,
}

/// What was found there.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Bytes that were looked at.
    pub bytes: Bytes,
    /// Sectors that are as they should be.
    pub sectors: u64,
    /// Sectors that could not be judged.
    pub unjudged: u64,
    /// Sectors that are damaged.
    pub damaged: u64,
    /// The oldest and the newest generation that a sound sector carries.
    pub generations: Option<(u64, u64)>,
    /// Whether the record knows single writes, so that one that was lost is found.
    pub by_write: bool,
    /// What is damaged, by kind.
    pub damage: Vec<Mishap>,
}

/// Reads all that a run used of the modules, and checks it; `told` is how much has been read of how much.
///
/// # Errors
/// [`TrialError::Stopped`] when `stop` was set, and whatever keeps the modules from being read at all.
pub fn hold_left(left: &Left<'_>, stop: &AtomicBool, told: &mut dyn FnMut(Bytes, Bytes)) -> Result<Held, TrialError> {
    let Left { system, modules, count, seed, ledger, newer, range } = *left;
    let largest = modules.iter().map(Module::bytes).max().unwrap_or_default();
    let known = ledger.and_then(|ledger| Known::of_ledger(ledger, seed));
    let nothing = || (unwatched(modules.len() as u32, largest, (u32::MAX, 0)), false, Duplicates::any());
    let (map, by_write, duplicates) = known.unwrap_or_else(nothing);
    let map = if newer { map.or_newer() } else { map };
    let used = if ledger.is_some() { Some(map.module_bytes()) } else { range };
    let missing = used.map_or_else(Vec::new, |each| gone(modules, count, each));
    let modules = &modules[..modules.len().min(map.modules() as usize)];
    let range = used.unwrap_or(largest);
    let read = AtomicU64::new(0);
    let back = ReadBack { system, map: &map, seed, duplicates, range, at: Nanos::ZERO, read: &read, stop };
    let total = Bytes(modules.iter().map(|module| back.bytes_of(module)).sum());
    let found = watch(GLANCE, || back.run(modules), |_| told(Bytes(read.load(Ordering::Relaxed)), total))?;
    let mut held = Held { bytes: total, by_write, ..Held::default() };
    for seen in found {
        held.sectors += seen.sectors;
        held.unjudged += seen.unjudged;
        held.damaged += seen.damaged;
        held.generations = match (held.generations, seen.generations) {
            (Some((oldest, newest)), Some((old, new))) => Some((oldest.min(old), newest.max(new))),
            (one, other) => one.or(other),
        };
        seen.noticed.mishaps(0, false).into_iter().for_each(|mishap| mishap.add_to(&mut held.damage));
    }
    for mishap in missing {
        held.damaged += mishap.count;
        mishap.add_to(&mut held.damage);
    }
    Ok(held)
}

/// Data that is not there any more is damage like any other: of a module that was cut off, or that is no more.
fn gone(modules: &[Module], count: usize, each: Bytes) -> Vec<Mishap> {
    let of = |index: usize| {
        let module = modules.get(index);
        let here = module.map_or(Bytes(0), Module::bytes);
        let sectors = each.0.saturating_sub(here.0).div_ceil(SECTOR as u64);
        let first = match module {
            Some(module) => format!("{} has {} of {}", module.path().display(), units::bytes(here), units::bytes(each)),
            None => format!("module {index} of {count}, {}, is not there", units::bytes(each)),
        };
        let (kind, what) = (EventKind::Damage, "missing".to_owned());
        (sectors > 0).then_some(Mishap { stream: 0, kind, what, count: sectors, first })
    };
    (0..count).filter_map(of).collect()
}
