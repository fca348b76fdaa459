//! Reads modules back and holds every sector against what it should be: when a trial has ended, and long after its run.
//!
//! The one idea: one thread a module reads from start to end in large pieces, past the page cache where that is possible, so
//! that the medium answers. What cannot be read is cut smaller until the part is found that cannot. Nothing is written.

use crate::TrialError;
use crate::hot::noticed::Noticed;
use crate::observer::{Observer, Phase, progress, watch};
use crate::port::buffers::Buffers;
use crate::target::opened::Opened;
use crate::trial::outcome::Outcome;
use crate::trial::side_by_side::{PIECE_BYTES, each};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use study::Trial;
use system::{Access, Module};
use units::{Bytes, Nanos};
use workload::block::{self, Acceptable, Checked, Duplicates, Expectation, Generations, Reading, Stamp};

/// What cannot be read is looked at in pieces of this size.
const SMALL_BYTES: u64 = 4096;

/// How often the progress is told.
const GLANCE: Duration = Duration::from_millis(50);

/// A look at all sectors of some modules.
pub(crate) struct ReadBack<'a> {
    /// Name of the system, for errors.
    pub(crate) system: &'a str,
    /// What each unit may hold.
    pub(crate) map: &'a Generations,
    /// Seed and duplicates of what was written.
    pub(crate) seed: u64,
    pub(crate) duplicates: Duplicates,
    /// How much of each module, from its start.
    pub(crate) range: Bytes,
    /// When damage is noted, on the trial's clock.
    pub(crate) at: Nanos,
    /// Bytes read so far, over all modules.
    pub(crate) read: &'a AtomicU64,
    /// Set from outside to end at once.
    pub(crate) stop: &'a AtomicBool,
}

/// What one module was found to hold.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) noticed: Noticed,
    /// Sectors that are as they should be.
    pub(crate) sectors: u64,
    /// Sectors that could not be judged.
    pub(crate) unjudged: u64,
    /// The oldest and the newest generation on a sound sector.
    pub(crate) generations: Option<(u64, u64)>,
    /// Sectors that are not what they should be, and those in parts that could not be read.
    pub(crate) damaged: u64,
}

impl ReadBack<'_> {
    /// Reads the modules side by side.
    pub(crate) fn run(&self, modules: &[Module]) -> Result<Vec<Seen>, TrialError> {
        each(modules, |index, module| self.module(index as u32, module))
    }

    /// Whole sectors of the part to be read: direct I/O takes no others.
    pub(crate) fn bytes_of(&self, module: &Module) -> u64 {
        let sector = u64::from(module.sector_bytes());
        let whole = module.bytes().0 / sector * sector;
        self.range.0.next_multiple_of(sector).min(whole)
    }

    fn module(&self, index: u32, module: &Module) -> Result<Seen, TrialError> {
        let failed = TrialError::prepare("reading back", index as usize, self.system);
        let file = self.file(module).map_err(&failed)?;
        let mut buffers = Buffers::new(1, PIECE_BYTES).map_err(failed)?;
        let mut reading = Reading::new(self.map.grid(), Bytes(PIECE_BYTES));
        let (mut seen, bytes) = (Seen::default(), self.bytes_of(module));
        for offset in (0..bytes).step_by(PIECE_BYTES as usize) {
            if self.stop.load(Ordering::Relaxed) {
                return Err(TrialError::Stopped);
            }
            let piece = &mut buffers.slot(0)[..PIECE_BYTES.min(bytes - offset) as usize];
            self.piece(file, index, offset, piece, &mut reading, &mut seen);
            self.read.fetch_add(piece.len() as u64, Ordering::Relaxed);
        }
        Ok(seen)
    }

    /// The way past the page cache; where there is none, what the cache holds is dropped.
    fn file<'m>(&self, module: &'m Module) -> io::Result<&'m Arc<File>> {
        module.file(Access::Direct).or_else(|_| {
            module.drop_cache().map_err(io::Error::other)?;
            module.file(Access::Buffered).map_err(io::Error::other)
        })
    }

    fn piece(&self, file: &File, index: u32, offset: u64, piece: &mut [u8], reading: &mut Reading, seen: &mut Seen) {
        match file.read_exact_at(piece, offset) {
            Ok(()) => self.judge(index, offset, piece, reading, seen),
            Err(_) if piece.len() as u64 > SMALL_BYTES => {
                for (part, at) in piece.chunks_mut(SMALL_BYTES as usize).zip((offset..).step_by(SMALL_BYTES as usize)) {
                    self.piece(file, index, at, part, reading, seen);
                }
            }
            Err(error) => {
                seen.damaged += (piece.len() / block::SECTOR) as u64;
                let words = || format!("unreadable {} B in module {index} at offset {offset}: {error}", piece.len());
                seen.noticed.unreadable(self.at, words);
            }
        }
    }

    fn judge(&self, index: u32, offset: u64, piece: &[u8], reading: &mut Reading, seen: &mut Seen) {
        self.map.begin_read(index, offset, piece.len() as u32, reading);
        self.map.end_read(reading);
        let (seed, duplicates) = (self.seed, self.duplicates);
        let expectation = Expectation { seed, duplicates, generations: Acceptable::During(reading) };
        let Seen { noticed, damaged, .. } = seen;
        noticed.validated += 1;
        let Checked { sectors, unjudged } = block::verify_all(piece, index, offset, &expectation, |damage| {
            *damaged += 1;
            noticed.damage(&damage, self.at);
        });
        seen.sectors += u64::from(sectors);
        seen.unjudged += u64::from(unjudged);
        for sector in piece.as_chunks().0 {
            if let Some(generation) = Stamp::read(sector, self.seed).generation(self.seed) {
                let (oldest, newest) = seen.generations.unwrap_or((generation, generation));
                seen.generations = Some((oldest.min(generation), newest.max(generation)));
            }
        }
    }
}

/// Reads back what a trial wrote, where that is asked for. Answers with a remark.
pub(crate) fn after(
    opened: &Opened,
    trial: &Trial,
    outcome: &mut Outcome,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Option<String>, TrialError> {
    let Some(map) = opened.setting.data.map().filter(|_| trial.read_back() > Bytes(0)) else { return Ok(None) };
    if outcome.hung.iter().any(|hung| hung.is_out()) {
        return Ok(Some("nothing was read back: operations of the trial are still out".to_owned()));
    }
    let modules = opened.backing.modules();
    let modules = &modules[..(trial.modules as usize).min(modules.len())];
    let read = AtomicU64::new(0);
    let back = ReadBack {
        system: &opened.setting.system,
        map: &map,
        seed: opened.setting.seed,
        duplicates: opened.setting.data.duplicates(opened.setting.seed),
        range: trial.read_back(),
        at: outcome.ended,
        read: &read,
        stop,
    };
    let total: u64 = modules.iter().map(|module| back.bytes_of(module)).sum();
    observer.phase(trial, Phase::Check, Nanos::ZERO);
    let mut took = Nanos::ZERO;
    let found = watch(
        GLANCE,
        || back.run(modules),
        |at| {
            took = at;
            progress(observer, trial, Phase::Check, at, (read.load(Ordering::Relaxed), total));
        },
    )?;
    let stream = trial.streams.iter().position(|stream| stream.block().is_some_and(block::Spec::writes));
    let (mut sectors, mut damaged) = (0, 0);
    for seen in found {
        sectors += seen.sectors + seen.damaged;
        damaged += seen.damaged;
        outcome.notice(seen.noticed, stream.unwrap_or_default() as u16, false);
    }
    let (bytes, took) = (units::bytes(Bytes(total)), units::duration(took));
    let sectors = units::counted(sectors, "sectors");
    Ok(Some(match damaged {
        0 => format!("{bytes} were read back in {took} after the window: {sectors}, all as they were written"),
        damaged => format!("{bytes} were read back in {took} after the window: {sectors}, {damaged} of them damaged"),
    }))
}
