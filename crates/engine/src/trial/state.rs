//! The state policy: what a trial finds when it starts.
//!
//! In this order: give blocks back (trim), fill what is not filled, precondition, set the page cache, let burst credit
//! return. Every step is a phase that the observer sees.

use crate::TrialError;
use crate::observer::{Live, Observer, Phase, progress, watch};
use crate::port::alone;
use crate::target::backing::{Asked, Carried};
use crate::target::opened::Opened;
use crate::trial::coordinator::{self, Watchers};
use crate::trial::discard::discard;
use crate::trial::fill::Fill;
use crate::worker::assign::streams;
use observation::Cell;
use recorder::{Clock, Collector, WallClock};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use study::{Cache, Precondition, SteadyRule, Stream, Trial};
use system::{Access, Module, ModuleError, ModuleKind};
use units::{Bytes, Nanos};
use workload::block::{DataPool, DataShape, Generations};

/// How often a running fill is reported, and a pause looks whether it should end.
const GLANCE: Duration = Duration::from_millis(50);

/// Brings the system into the state that the trial asks for. Answers with remarks for the events of the trial.
pub(crate) fn prepare(
    opened: &mut Opened,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Vec<String>, TrialError> {
    let mut remarks = opened.backing.prepare(trial, observer, stop)?;
    if opened.read_only() {
        only_read(opened, trial)?;
        remarks.push(format!(
            "`{}` was read as it was found: blocks that were never written may have been answered without touching the media",
            opened.setting.system
        ));
        remarks.extend(single_operations(opened, trial));
        set_cache(opened, trial)?;
    } else if !opened.backing.modules().is_empty() || !opened.backing.folders().is_empty() {
        remarks.extend(prepare_modules(opened, trial, observer, stop)?);
        remarks.extend(single_operations(opened, trial));
        set_cache(opened, trial)?;
    }
    settle(trial, observer, stop)?;
    Ok(remarks)
}

/// Brings modules that may be written into the state that the trial asks for.
fn prepare_modules(
    opened: &mut Opened,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Vec<String>, TrialError> {
    let mut remarks = Vec::new();
    write_back(opened)?;
    if trial.state.trim {
        trim(opened)?;
    }
    let used = trial.modules as usize;
    let holes = opened.backing.modules().iter().take(used).any(|module| !module.filled());
    let fresh = trial.state.refill || trial.state.trim || holes;
    let needs_data = trial.streams.iter().any(|stream| stream.block().is_some());
    let unfit = opened.setting.data.unfit(trial, shape(trial)).filter(|_| trial.watched() && !fresh);
    remarks.extend(unfit.map(|why| format!("its modules were filled again, because reads are checked and {why}")));
    if needs_data && (fresh || unfit.is_some()) {
        fill(opened, trial, 1.0, Phase::Fill, observer, stop)?;
    }
    if let Some(precondition) = trial.state.precondition {
        fill(opened, trial, precondition.fills, Phase::Precondition, observer, stop)?;
        if precondition.until_steady {
            remarks.push(run_until_steady(opened, trial, precondition, observer, stop)?);
            write_back(opened)?;
        }
    }
    remarks.extend(note_writes(opened, trial)?);
    Ok(remarks)
}

/// Sees to it that what the trial writes can be told from what was there: in a map where anything is checked, by an epoch of
/// its own otherwise.
fn note_writes(opened: &mut Opened, trial: &Trial) -> Result<Option<String>, TrialError> {
    if trial.watched() {
        return opened.setting.watch(trial);
    }
    opened.setting.epoch += 1;
    let written = trial.streams.iter().filter_map(Stream::block).filter(|spec| spec.writes());
    for spec in written {
        opened.setting.data.overwritten(spec.data);
        if spec.trims.0 > 0.0 {
            opened.setting.data.trimmed();
        }
    }
    Ok(None)
}

/// Learns which driver carries single operations best, where the trial has any and leaves the choice open. Once for a system:
/// its trials must not differ in their driver. A file that cannot be measured is left to the ring.
fn single_operations(opened: &mut Opened, trial: &Trial) -> Option<String> {
    let direct = streams(trial).find(|stream| stream.single())?.access().ok()?.direct;
    let place = usize::from(direct);
    if opened.setting.alone[place].is_none() {
        let module = opened.backing.modules().first()?;
        let file = module.file(if direct { Access::Direct } else { Access::Buffered }).ok()?;
        opened.setting.alone[place] = alone::measure(file.as_raw_fd(), module.bytes()).ok();
    }
    opened.setting.alone[place].as_ref().map(alone::told)
}

/// A plan asks a device that is read as it was found for nothing else. The kernel would refuse it, operation by operation;
/// here it is refused once, and in words.
fn only_read(opened: &Opened, trial: &Trial) -> Result<(), TrialError> {
    let state = &trial.state;
    if trial.writes() || trial.watched() || state.trim || state.refill || state.precondition.is_some() {
        let what = "be changed, or have its reads checked: it was opened for reading only; use `fill = true`";
        return Err(TrialError::Unsupported { system: opened.setting.system.clone(), what: what.to_owned() });
    }
    Ok(())
}

/// Lets nothing of an earlier trial wait in memory: its write-back would be charged to the next one.
fn write_back(opened: &Opened) -> Result<(), TrialError> {
    for (index, module) in opened.backing.modules().iter().enumerate() {
        let failed = TrialError::prepare("writing back", index, &opened.setting.system);
        module.sync().map_err(|error| failed(io::Error::other(error)))?;
    }
    for folder in opened.backing.folders() {
        let synced = File::open(&folder).and_then(|open| Ok(rustix::fs::syncfs(open)?));
        let action = "writing back the filesystem of";
        synced.map_err(|source| TrialError::File { action, path: folder.display().to_string(), source })?;
    }
    Ok(())
}

/// The data that a trial's streams write: the shape of the first block stream decides for the fill.
fn shape(trial: &Trial) -> DataShape {
    trial.streams.iter().find_map(Stream::block).map_or_else(DataShape::default, |spec| spec.data)
}

fn trim(opened: &mut Opened) -> Result<(), TrialError> {
    let (system, limit) = (opened.setting.system.clone(), opened.setting.module_bytes);
    for (index, module) in opened.backing.modules_mut().iter_mut().enumerate() {
        trim_module(module, limit).map_err(TrialError::prepare("trimming", index, &system))?;
    }
    Ok(())
}

/// Newer kernels discard only through an ioctl of block devices, for which there is no safe wrapper.
/// Only the part of a device that the study uses is given up.
fn trim_module(module: &mut Module, limit: Bytes) -> io::Result<()> {
    if limit < module.bytes() {
        return discard(module.file(Access::Buffered).map_err(io::Error::other)?, limit);
    }
    match module.trim() {
        Ok(_) => Ok(()),
        Err(ModuleError::CannotTrim { .. }) if matches!(module.kind(), ModuleKind::Device { .. }) => {
            let file = module.file(Access::Buffered).map_err(io::Error::other)?;
            discard(file, module.bytes())
        }
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Modules that a fill covers: those of the trial where its policy asks for it, else those of every later trial as well, so that
/// none of them needs a fill of its own, and all carry one generation.
fn covered(opened: &Opened, trial: &Trial, phase: Phase) -> usize {
    let own = phase != Phase::Fill || trial.state.refill || trial.state.trim;
    let modules = if own { trial.modules } else { trial.modules.max(opened.setting.filled) };
    (modules as usize).min(opened.backing.modules().len())
}

fn fill(
    opened: &mut Opened,
    trial: &Trial,
    times: f64,
    phase: Phase,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<(), TrialError> {
    opened.setting.epoch += 1;
    let before = opened.setting.data.begin_fill();
    let pool = DataPool::new(opened.setting.seed, shape(trial));
    let written = AtomicU64::new(0);
    let fill = Fill {
        system: &opened.setting.system,
        pool: &pool,
        generation: Generations::filled_with(opened.setting.epoch),
        limit: opened.setting.module_bytes,
        times,
        written: &written,
        stop,
    };
    let modules = &opened.backing.modules()[..covered(opened, trial, phase)];
    let total = fill.total_bytes(modules);
    observer.phase(trial, phase, Nanos::ZERO);
    watch(
        GLANCE,
        || fill.run(modules),
        |at| progress(observer, trial, phase, at, (written.load(Ordering::Relaxed), total)),
    )?;
    let used = modules.len();
    let (epoch, shape) = (opened.setting.epoch, shape(trial));
    if times >= 1.0 {
        opened.setting.data.filled(epoch, used as u32, shape);
    } else {
        opened.setting.data = before;
        opened.setting.data.overwritten(shape);
    }
    opened.backing.modules_mut().iter_mut().take(used).for_each(Module::mark_filled);
    Ok(())
}

/// Runs the trial's own streams in rounds until five of them agree, and says how that went.
fn run_until_steady(
    opened: &mut Opened,
    trial: &Trial,
    precondition: Precondition,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<String, TrialError> {
    // What can be told of what was there is remarked before the trial itself.
    note_writes(opened, trial)?;
    let mut rounds = Rounds::new(precondition);
    let mut rehearsal = trial.clone();
    // Other operations than the trial's own: a replay in the same order would find what a device has just laid out for it.
    rehearsal.seed = !trial.seed;
    rehearsal.streams.iter_mut().filter_map(Stream::operations_mut).for_each(|operations| operations.count = None);
    rehearsal.phases.warm_up = Nanos::ZERO;
    rehearsal.phases.measure = Nanos(precondition.round.0 * u64::from(precondition.rounds_max));
    rehearsal.phases.interval = Nanos(precondition.round.0 / 10);
    observer.phase(trial, Phase::Precondition, rehearsal.phases.measure);
    let interval = rehearsal.phases.interval;
    let (observer, enough) = (&mut Silent { observer, trial }, &mut |cells: &[Cell]| rounds.take(cells, interval));
    let mut collector = Collector::default();
    let asked = Asked { trial: &rehearsal, setting: &opened.setting, collector: &mut collector, stop };
    if let Carried::Workers(shares) = opened.backing.carry(asked)? {
        coordinator::run(opened, &rehearsal, shares, collector, Watchers { observer, stop, enough }).1?;
    }
    Ok(rounds.remark())
}

/// Completions by round, and whether the last rounds agree.
struct Rounds {
    round: Nanos,
    rule: SteadyRule,
    done: Vec<u64>,
    steady: bool,
}

impl Rounds {
    fn new(precondition: Precondition) -> Rounds {
        let rounds = precondition.rounds_max as usize + 2;
        Rounds { round: precondition.round, rule: SteadyRule::default(), done: vec![0; rounds], steady: false }
    }

    /// Adds cells; answers whether the rehearsal may end.
    fn take(&mut self, cells: &[Cell], interval: Nanos) -> bool {
        let mut newest = 0;
        for cell in cells {
            let round = (interval.0 * u64::from(cell.key.interval) / self.round.0) as usize;
            newest = newest.max(round);
            if let Some(done) = self.done.get_mut(round) {
                *done += cell.tally.done;
            }
        }
        // The newest round is still being filled: those before it are whole.
        let whole: Vec<f64> = self.done[..newest.min(self.done.len())].iter().map(|done| *done as f64).collect();
        self.steady = self.steady || self.rule.holds(&whole);
        self.steady
    }

    fn remark(&self) -> String {
        let ran = self.done.iter().filter(|done| **done > 0).count();
        if self.steady {
            format!("preconditioning was steady after {ran} rounds of {}", units::duration(self.round))
        } else {
            format!("preconditioning was not steady after {ran} rounds of {}", units::duration(self.round))
        }
    }
}

/// Shows a rehearsal as preconditioning, and keeps its cells out of the store.
struct Silent<'a> {
    observer: &'a mut dyn Observer,
    trial: &'a Trial,
}

impl Observer for Silent<'_> {
    fn live(&mut self, _: &Trial, live: &Live) {
        self.observer.live(self.trial, &Live { phase: Phase::Precondition, ..*live });
    }

    /// Nobody wants them afterwards: [`Rounds`] has counted what matters.
    fn keeps(&self) -> bool {
        true
    }
}

fn set_cache(opened: &mut Opened, trial: &Trial) -> Result<(), TrialError> {
    for (index, module) in opened.backing.modules().iter().enumerate().take(trial.modules as usize) {
        let (action, done) = match trial.state.cache {
            Cache::AsLeft => return Ok(()),
            Cache::Cold => ("dropping the caches", module.drop_cache().map_err(io::Error::other)),
            Cache::Warm => ("warming the caches", read_through(module, opened.setting.module_bytes)),
        };
        done.map_err(TrialError::prepare(action, index, &opened.setting.system))?;
    }
    Ok(())
}

fn read_through(module: &Module, limit: Bytes) -> io::Result<()> {
    let file = module.file(Access::Buffered).map_err(io::Error::other)?;
    let mut piece = vec![0; 1 << 20];
    let mut offset = 0;
    while offset < module.bytes().min(limit).0 {
        let read = file.read_at(&mut piece, offset)?;
        if read == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        offset += read as u64;
    }
    Ok(())
}

fn settle(trial: &Trial, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), TrialError> {
    if trial.state.settle == Nanos::ZERO {
        return Ok(());
    }
    observer.phase(trial, Phase::Settle, trial.state.settle);
    let clock = WallClock::new();
    let end = clock.now() + trial.state.settle;
    while clock.now() < end {
        if stop.load(Ordering::Relaxed) {
            return Err(TrialError::Stopped);
        }
        std::thread::sleep(GLANCE.min(Duration::from_nanos(end.saturating_sub(clock.now()).0)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, open};
    use load::{Spec, Think};
    use observation::{CellKey, Series};
    use study::Place;

    fn cell(interval: u32, done: u64) -> Cell {
        let mut cell = Cell { key: CellKey { interval, ..CellKey::default() }, ..Cell::default() };
        cell.tally.done = done;
        cell
    }

    #[test]
    fn preconditioning_ends_when_five_whole_rounds_agree() {
        let precondition = Precondition { fills: 1.0, until_steady: true, round: Nanos(100), rounds_max: 25 };
        let mut rounds = Rounds::new(precondition);
        let per_round = [200, 150, 100, 100, 101, 99, 100];
        let ended = per_round.iter().enumerate().position(|(round, done)| {
            rounds.take(&[cell(round as u32 * 10, done / 2), cell(round as u32 * 10 + 9, done - done / 2)], Nanos(10))
        });
        // Five rounds of about 100 are whole when the first cell of the round behind them comes; there is none.
        assert_eq!(ended, None);
        assert!(rounds.take(&[cell(70, 1)], Nanos(10)));
        assert!(rounds.remark().starts_with("preconditioning was steady"));
    }

    /// Notes phases, and whether it was shown any cell.
    #[derive(Default)]
    struct Noted(Vec<Phase>, bool);

    impl Observer for Noted {
        fn phase(&mut self, _: &Trial, phase: Phase, _: Nanos) {
            if self.0.last() != Some(&phase) {
                self.0.push(phase);
            }
        }

        fn interval(&mut self, _: &Trial, _: &[Cell], _: &[Series]) {
            self.1 = true;
        }
    }

    /// A folder that goes with its test.
    struct Folder(std::path::PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Scratch files of 1 MiB in a folder of the test's own, and a trial of reads on them.
    fn on_files(name: &str, modules: u32) -> (Folder, Opened, Trial) {
        let folder = Folder(std::env::temp_dir().join(format!("state-{name}-{}", std::process::id())));
        std::fs::create_dir_all(&folder.0).unwrap();
        let place = Place::File { dirs: vec![study::Folder::plain(folder.0.display().to_string())] };
        let mut trial = sample::trial(Spec::Closed { slots: 2, think: Think::None }, Nanos::from_millis(1));
        trial.module_bytes = Bytes::mib(1);
        (folder, open(place, modules, Bytes::mib(1), None).unwrap(), trial)
    }

    fn prepared(opened: &mut Opened, trial: &Trial) -> (Vec<Phase>, Vec<String>) {
        let mut noted = Noted::default();
        let remarks = prepare(opened, trial, &mut noted, &AtomicBool::new(false)).unwrap();
        assert!(!noted.1, "what comes before a trial is not its own");
        (noted.0, remarks)
    }

    #[test]
    fn files_are_filled_once_and_again_where_the_policy_says_so() {
        let (_folder, mut opened, mut trial) = on_files("filled", 1);
        assert_eq!(prepared(&mut opened, &trial).0, [Phase::Fill]);
        let first = opened.setting.epoch;
        assert_eq!(prepared(&mut opened, &trial).0, []);
        assert!(opened.setting.epoch > first, "what the last trial wrote is older than what this one writes");
        trial.state.refill = true;
        assert_eq!(prepared(&mut opened, &trial).0, [Phase::Fill]);
        (trial.state.refill, trial.state.trim) = (false, true);
        assert_eq!(prepared(&mut opened, &trial).0, [Phase::Fill], "what was given back holds nothing");
    }

    #[test]
    fn a_first_fill_covers_the_modules_of_every_later_trial() {
        for checked in [false, true] {
            let (_folder, mut opened, mut trial) = on_files(&format!("grown-{checked}"), 4);
            trial.streams[0].operations_mut().unwrap().access.validate = checked;
            for (modules, phases) in [(1, vec![Phase::Fill]), (4, vec![]), (2, vec![])] {
                trial.modules = modules;
                assert_eq!(prepared(&mut opened, &trial).0, phases, "{modules} modules");
            }
            trial.state.refill = true;
            assert_eq!(prepared(&mut opened, &trial).0, [Phase::Fill]);
            (trial.modules, trial.state.refill) = (4, false);
            let again = if checked { vec![Phase::Fill] } else { vec![] };
            assert_eq!(prepared(&mut opened, &trial).0, again, "two of four carry a newer generation");
        }
    }

    #[test]
    fn checked_reads_go_on_from_what_the_last_trial_left_unless_a_fill_is_asked_for() {
        let (_folder, mut opened, mut trial) = on_files("validated", 1);
        trial.streams[0].operations_mut().unwrap().access.validate = true;
        assert_eq!(prepared(&mut opened, &trial).0, [Phase::Fill]);
        let epoch = opened.setting.epoch;
        assert_eq!(prepared(&mut opened, &trial), (vec![], vec![]));
        assert_eq!(opened.setting.epoch, epoch, "the fill's own, and no other");
        trial.state.refill = true;
        assert_eq!(prepared(&mut opened, &trial).0, [Phase::Fill]);
        assert_eq!(opened.setting.epoch, epoch + 1);
    }

    #[test]
    fn what_cannot_be_told_after_the_last_trial_is_said_or_filled_again() {
        let (_folder, mut opened, mut trial) = on_files("in-part", 1);
        let mut checked = trial.clone();
        checked.streams[0].operations_mut().unwrap().access.validate = true;
        assert_eq!(prepared(&mut opened, &checked).0, [Phase::Fill]);
        assert_eq!(prepared(&mut opened, &trial).0, []);
        assert_eq!(prepared(&mut opened, &checked), (vec![], vec![]), "reads that nobody checked changed nothing");
        let spec = |trial: &mut Trial, change: fn(&mut workload::block::Spec)| {
            let study::Storage::Block(spec) = &mut trial.streams[0].operations_mut().unwrap().of else { panic!() };
            change(spec);
        };
        spec(&mut trial, |spec| spec.read = units::Share(0.5));
        assert_eq!(prepared(&mut opened, &trial).0, []);
        let (phases, remarks) = prepared(&mut opened, &checked);
        assert_eq!(phases, []);
        assert!(remarks[0].starts_with("trials before this one wrote without `validate`"), "{remarks:?}");
        spec(&mut checked, |spec| spec.data.duplicate = units::Share(0.5));
        let (phases, remarks) = prepared(&mut opened, &checked);
        assert_eq!(phases, [Phase::Fill]);
        let why = "its modules were filled again, because reads are checked and what was there has other duplicates";
        assert_eq!(remarks, [why]);
    }

    #[test]
    fn a_fill_that_was_broken_off_is_made_again_before_reads_are_checked() {
        let (_folder, mut opened, mut trial) = on_files("broken-off", 1);
        trial.streams[0].operations_mut().unwrap().access.validate = true;
        prepared(&mut opened, &trial);
        let refill = study::State { refill: true, ..trial.state };
        let asked = Trial { state: refill, ..trial.clone() };
        let stopped = prepare(&mut opened, &asked, &mut Noted::default(), &AtomicBool::new(true));
        assert!(matches!(stopped, Err(TrialError::Stopped)), "{stopped:?}");
        let (phases, remarks) = prepared(&mut opened, &trial);
        assert_eq!(phases, [Phase::Fill]);
        assert!(remarks[0].ends_with("and what they hold is not known"), "{remarks:?}");
    }

    #[test]
    fn preconditioning_runs_the_trial_itself_and_keeps_its_cells_to_itself() {
        let (_folder, mut opened, mut trial) = on_files("preconditioned", 1);
        let (round, rounds_max) = (Nanos::from_millis(20), 3);
        trial.state.precondition = Some(Precondition { fills: 2.0, until_steady: true, round, rounds_max });
        let (phases, remarks) = prepared(&mut opened, &trial);
        assert_eq!(phases, [Phase::Fill, Phase::Precondition]);
        assert!(remarks[0].starts_with("preconditioning was "), "{remarks:?}");
    }

    #[test]
    fn file_work_needs_no_data_beforehand() {
        let (_folder, mut opened, mut trial) = on_files("folders", 1);
        let spec = workload::files::Spec { width: 1, loops: 1, file: Bytes(1), block: Bytes(1), sync: false };
        trial.streams[0].operations_mut().unwrap().of = study::Storage::Files(spec);
        assert_eq!(prepared(&mut opened, &trial), (vec![], vec![]));
    }

    #[test]
    fn a_pause_is_a_phase_and_ends_when_it_is_told_to() {
        let (_folder, mut opened, mut trial) = on_files("settled", 1);
        trial.state.settle = Nanos::from_secs(600);
        let mut noted = Noted::default();
        let stopped = prepare(&mut opened, &trial, &mut noted, &AtomicBool::new(true));
        assert!(matches!(stopped, Err(TrialError::Stopped)), "{stopped:?}");
        trial.state.settle = Nanos(1);
        assert_eq!(prepared(&mut opened, &trial).0.last(), Some(&Phase::Settle));
    }

    #[test]
    fn what_holds_no_data_is_not_prepared_and_a_model_says_so() {
        let trial = sample::trial(Spec::Closed { slots: 1, think: Think::None }, Nanos(1));
        let mut asked = trial.clone();
        (asked.state.refill, asked.state.cache) = (true, Cache::Cold);
        let mut null = open(Place::Null, 1, Bytes::mib(1), None).unwrap();
        assert_eq!(prepared(&mut null, &asked), (vec![], vec![]));
        let described = sample::described("f5100");
        let place = Place::Model { model: "f5100".to_owned(), changes: Vec::new() };
        let mut model = open(place, 1, Bytes::mib(1), described.as_ref()).unwrap();
        assert_eq!(prepared(&mut model, &trial), (vec![], vec![]));
        let said = "a model begins each trial at rest; it was not refilled or given a cold or warm cache";
        assert_eq!(prepared(&mut model, &asked).1, [said]);
    }
}
