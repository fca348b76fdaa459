//! One copy of the loop over whole files, on a real file system: create, copy, read the copy, remove.
//!
//! Steps are closed work of one slot: the next is due when the last has ended. What was read is checked against its
//! stamps, and the bytes that really moved are held against the spec, so that elapsed times of two systems stand for the
//! same work.

use crate::TrialError;
use crate::hot::cpu::ThreadCpu;
use crate::hot::noticed::Noticed;
use crate::port::buffers::Buffers;
use crate::worker::assign::Share;
use crate::worker::run::{Return, Start, close};
use load::{Load, Next};
use recorder::{Clock, Operation, Origin, Outcome};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use units::Nanos;
use workload::block::{self, Acceptable, DataPool, DataShape, Expectation};
use workload::files::{self, Step, Steps};

/// Generation on every stamp: each file is written once.
const GENERATION: u64 = 1;

/// One copy of the loop over whole files.
pub(crate) struct FileWork {
    pub(crate) spec: files::Spec,
    pub(crate) copy: u32,
    /// Number of the worker in the trial: two streams may both have a first copy.
    pub(crate) worker: u32,
    pub(crate) folder: PathBuf,
    pub(crate) seed: u64,
    pub(crate) direct: bool,
}

/// Carries one copy of the loop to its end, one step after the other.
pub(crate) fn drive(work: FileWork, share: Share, start: &Start) -> Result<Return, TrialError> {
    let mut hand = Hand::new(work)?;
    let clock = start.ready()?;
    let Share { stream, mut recorder, mut load, window, deadline, .. } = share;
    let (mut ended_at, mut cpu) = (Nanos::ZERO, ThreadCpu::new(window));
    cpu.look(clock.now(), window);
    let operation = |class, intended, issued, completed, outcome| {
        let (endpoint, origin) = (0, Origin::Planned);
        Operation { class, endpoint, origin, intended, issued, completed, outcome }
    };
    let mut busy = None;
    for step in Steps::new(&hand.work.spec, hand.work.copy) {
        if start.halt.load(Ordering::Relaxed) || clock.now() >= deadline {
            break;
        }
        let Some(class) = step.class() else {
            hand.carry_out(&step, Nanos::ZERO)?;
            continue;
        };
        // Removing what the last round left is part of the work, and nobody's response: the slot is free behind it.
        if let Some(slot) = busy.take() {
            load.completed(slot, clock.now());
        }
        let Next::Issue(arrival) = load.next(clock.now()) else { break };
        let issued = clock.now();
        let moved = hand.carry_out(&step, issued)?;
        ended_at = clock.now();
        busy = Some(arrival.slot);
        recorder.record(operation(class, arrival.intended, Some(issued), ended_at, Outcome::done(moved)));
    }
    if let Some(slot) = busy {
        load.completed(slot, ended_at);
    }
    while let Some(never) = load.unissued(deadline) {
        recorder.record(operation(0, never.intended, None, ended_at, Outcome::Censored));
    }
    let account = close(recorder, &load);
    let noticed = std::mem::take(&mut hand.noticed);
    let (gone, used, ended, last) = (None, cpu.used(), ended_at, ended_at);
    let (worked_until, kept) = (Vec::new(), Vec::new());
    Ok(Return { stream, account, noticed, gone, used, ended, last, worked_until, kept, ring: None, transactions: None })
}

/// What one copy of the loop works with.
struct Hand {
    work: FileWork,
    source: PathBuf,
    target: PathBuf,
    pool: DataPool,
    buffers: Buffers,
    noticed: Noticed,
}

impl Drop for Hand {
    /// A loop that was cut short leaves its files; the next trial makes them anew.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.source);
        let _ = fs::remove_file(&self.target);
    }
}

impl Hand {
    fn new(work: FileWork) -> Result<Hand, TrialError> {
        let shape = DataShape::default();
        let buffers = Buffers::new(1, work.spec.block.0)
            .map_err(|source| TrialError::Resource { action: "allocating a buffer", source })?;
        Ok(Hand {
            source: work.folder.join(format!("copy-{}-source.dat", work.worker)),
            target: work.folder.join(format!("copy-{}-target.dat", work.worker)),
            pool: DataPool::new(work.seed, shape),
            buffers,
            noticed: Noticed::default(),
            work,
        })
    }

    /// Carries a step out and says how many bytes it moved.
    fn carry_out(&mut self, step: &Step, now: Nanos) -> Result<u64, TrialError> {
        let (action, path) = match step {
            Step::Create { .. } => ("creating", self.source.clone()),
            Step::Copy { .. } => ("copying to", self.target.clone()),
            Step::Read { .. } => ("reading", self.target.clone()),
            Step::Remove { path: files::Path::Source } => ("removing", self.source.clone()),
            Step::Remove { path: files::Path::Target } => ("removing", self.target.clone()),
        };
        let moved = match step {
            Step::Create { file } => self.create(*file),
            Step::Copy { .. } => self.copy().map(|bytes| 2 * bytes),
            Step::Read { file } => self.read(*file, now),
            Step::Remove { .. } => fs::remove_file(&path).map(|()| 0),
        };
        moved.map_err(|source| TrialError::File { action, path: path.display().to_string(), source })
    }

    fn create(&mut self, number: u32) -> io::Result<u64> {
        let file = self.open_new(&self.source)?;
        let mut bytes = 0;
        for piece in files::pieces(&self.work.spec) {
            let data = &mut self.buffers.slot(0)[..piece.bytes as usize];
            block::fill(data, number, piece.offset, GENERATION, &self.pool);
            file.write_all_at(data, piece.offset)?;
            bytes += u64::from(piece.bytes);
        }
        self.close(&file)?;
        Ok(bytes)
    }

    fn copy(&mut self) -> io::Result<u64> {
        let (from, to) = (self.open_read(&self.source)?, self.open_new(&self.target)?);
        let mut bytes = 0;
        for piece in files::pieces(&self.work.spec) {
            let data = &mut self.buffers.slot(0)[..piece.bytes as usize];
            from.read_exact_at(data, piece.offset)?;
            to.write_all_at(data, piece.offset)?;
            bytes += u64::from(piece.bytes);
        }
        self.close(&to)?;
        Ok(bytes)
    }

    fn read(&mut self, number: u32, now: Nanos) -> io::Result<u64> {
        let file = self.open_read(&self.target)?;
        let expectation = Expectation {
            seed: self.pool.seed(),
            duplicates: self.pool.duplicates(),
            generations: Acceptable::Exactly(GENERATION),
        };
        let mut bytes = 0;
        for piece in files::pieces(&self.work.spec) {
            let data = &mut self.buffers.slot(0)[..piece.bytes as usize];
            file.read_exact_at(data, piece.offset)?;
            bytes += u64::from(piece.bytes);
            self.noticed.validated += 1;
            if let Err(damage) = block::verify(data, number, piece.offset, &expectation) {
                self.noticed.damage(&damage, now);
            }
        }
        Ok(bytes)
    }

    /// A new file of Prony's own. Direct I/O is used where every piece keeps to the sectors.
    fn open_new(&self, path: &PathBuf) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).custom_flags(self.flags()).open(path)
    }

    fn open_read(&self, path: &PathBuf) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(self.flags()).open(path)
    }

    fn flags(&self) -> i32 {
        libc::O_NOFOLLOW | if self.work.direct { libc::O_DIRECT } else { 0 }
    }

    fn close(&self, file: &File) -> io::Result<()> {
        if self.work.spec.sync { file.sync_data() } else { Ok(()) }
    }
}
