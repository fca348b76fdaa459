//! Damage planted behind Prony's back is found and named; where none was planted, none is reported.

use crate::bench::{Folder, access, blocks, closed, open, stream, trial};
use engine::{Live, Observer, Opened, Unobserved, run_trial};
use observation::{EventKind, Observations};
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use study::{Storage, Trial};
use units::{Bytes, Nanos};

const MODULE: usize = 4 << 20;

/// Damages a file once, when the trial has begun.
struct Vandal<F> {
    folder: PathBuf,
    deed: Option<F>,
}

impl<F: FnOnce(&File)> Observer for Vandal<F> {
    fn live(&mut self, _: &Trial, live: &Live) {
        if live.phase == engine::Phase::Measure
            && let Some(deed) = self.deed.take()
        {
            let scratch = std::fs::read_dir(&self.folder).unwrap().next().unwrap().unwrap().path();
            let file = File::options().read(true).write(true).open(scratch.join("module-0.dat")).unwrap();
            deed(&file);
            file.sync_all().unwrap();
        }
    }
}

fn validated(name: &str, read: f64, deed: impl FnOnce(&File)) -> Observations {
    let folder = Folder::new(name);
    let mut opened: Opened = open(folder.place(), 1);
    let mut checked = stream(Storage::Block(blocks(read)), closed(8));
    access(&mut checked).validate = true;
    let trial = trial(vec![checked], Nanos::from_millis(600));
    let mut vandal = Vandal { folder: folder.path().to_path_buf(), deed: Some(deed) };
    run_trial(&mut opened, &trial, &mut vandal, &AtomicBool::new(false)).expect("the trial ends")
}

fn damages(observations: &Observations) -> Vec<&str> {
    let damage = observations.events.iter().filter(|event| event.kind == EventKind::Damage);
    damage.map(|event| event.text.as_str()).collect()
}

#[test]
fn no_damage_is_reported_where_none_was_planted() {
    for read in [1.0, 0.5] {
        let observations = validated(&format!("clean-{read}"), read, |_| {});
        assert!(observations.validated_reads > 0);
        assert_eq!(damages(&observations), Vec::<&str>::new());
    }
}

#[test]
fn a_flipped_bit_a_misplaced_and_a_zeroed_block_are_found_and_named() {
    type Deed = fn(&File);
    let deeds: [(&str, Deed); 3] = [
        ("flipped", |file| {
            for block in 0..1024 {
                let mut byte = [0];
                file.read_exact_at(&mut byte, block * 4096 + 700).unwrap();
                file.write_all_at(&[byte[0] ^ 4], block * 4096 + 700).unwrap();
            }
        }),
        ("misplaced", |file| {
            let mut block = [0; 4096];
            file.read_exact_at(&mut block, 0).unwrap();
            (1..1024).for_each(|place| file.write_all_at(&block, place * 4096).unwrap());
        }),
        ("zeroed", |file| (0..1024).for_each(|place| file.write_all_at(&[0; 4096], place * 4096).unwrap())),
    ];
    for (kind, deed) in deeds {
        let observations = validated(kind, 1.0, deed);
        let found = damages(&observations);
        assert!(!found.is_empty(), "{kind} was not found");
        assert!(found.iter().all(|text| text.to_lowercase().starts_with(kind)), "{kind}: {found:?}");
    }
}

#[test]
fn a_block_put_back_to_what_it_was_is_stale_and_half_of_one_is_torn() {
    for (kind, bytes) in [("stale", 4096), ("torn", 2048)] {
        let folder = Folder::new(kind);
        let mut opened = open(folder.place(), 1);
        let mut writer = stream(Storage::Block(blocks(0.5)), closed(4));
        access(&mut writer).validate = true;
        let trial = trial(vec![writer], Nanos::from_millis(1500));
        let mut keeper =
            Keeper { folder: folder.path().to_path_buf(), bytes, before: Aligned::new(MODULE), borders: 0 };
        let seen = run_trial(&mut opened, &trial, &mut keeper, &AtomicBool::new(false)).expect("the trial ends");
        let found = damages(&seen);
        let named = found.iter().filter(|text| text.to_lowercase().starts_with(kind)).count();
        assert!(named > 0, "{kind} was not found: {found:?}");
    }
}

/// A trial that reads or writes so much at once, and checks what it reads.
fn checked(read: f64, transfer: u64) -> Trial {
    let mut spec = blocks(read);
    spec.transfers[0].size = Bytes::kib(transfer);
    let mut stream = stream(Storage::Block(spec), closed(4));
    access(&mut stream).validate = true;
    trial(vec![stream], Nanos::from_millis(400))
}

/// The scratch file below a folder, past the page cache as the trials are.
fn direct(folder: &Path) -> File {
    let scratch = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let mut options = File::options();
    options.read(true).write(true).custom_flags(libc::O_DIRECT);
    options.open(scratch.join("module-0.dat")).unwrap()
}

/// What the second of two trials finds, when something happens to the file between them. The deed is handed the file as it
/// was filled, too.
fn between(name: &str, trials: [&Trial; 2], deed: impl FnOnce(&File, &mut Aligned)) -> Observations {
    let folder = Folder::new(name);
    let mut opened = open(folder.place(), 1);
    let mut keeper = Keeper { folder: folder.path().to_path_buf(), bytes: 0, before: Aligned::new(MODULE), borders: 0 };
    let first = run_trial(&mut opened, trials[0], &mut keeper, &AtomicBool::new(false)).expect("the trial ends");
    assert_eq!(damages(&first), Vec::<&str>::new(), "{name}");
    deed(&direct(folder.path()), &mut keeper.before);
    let second = run_trial(&mut opened, trials[1], &mut Unobserved, &AtomicBool::new(false));
    second.expect("the second trial ends")
}

#[test]
fn what_a_trial_wrote_is_checked_by_the_next_also_in_smaller_and_larger_transfers() {
    for (written, read) in [(4, 4), (16, 4), (4, 16)] {
        let (writes, reads) = (checked(0.0, written), checked(1.0, read));
        let name = format!("clean-between-{written}-{read}");
        let seen = between(&name, [&writes, &reads], |_, _| {});
        assert!(seen.validated_reads > 0);
        assert_eq!(damages(&seen), Vec::<&str>::new(), "{name}");
        let again = between(&name, [&checked(0.5, written), &checked(0.5, read)], |_, _| {});
        assert_eq!(damages(&again), Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn damage_done_between_a_trial_that_writes_and_one_that_reads_is_found() {
    type Deed = fn(&File, &mut Aligned);
    let deeds: [(&str, Deed); 4] = [
        ("flipped", |file, before| {
            file.read_exact_at(before.bytes(0..MODULE), 0).unwrap();
            (0..MODULE).step_by(4096).for_each(|at| before.bytes(at..at + 4096)[700] ^= 4);
            file.write_all_at(before.bytes(0..MODULE), 0).unwrap();
        }),
        ("misplaced", |file, before| {
            file.read_exact_at(before.bytes(0..4096), 0).unwrap();
            (4096..MODULE).step_by(4096).for_each(|at| file.write_all_at(before.bytes(0..4096), at as u64).unwrap());
        }),
        ("stale", |file, before| file.write_all_at(before.bytes(0..MODULE), 0).unwrap()),
        ("torn", |file, before| {
            let halves = (0..MODULE).step_by(4096);
            halves.for_each(|at| file.write_all_at(before.bytes(at..at + 2048), at as u64).unwrap());
        }),
    ];
    for (kind, deed) in deeds {
        let seen = between(&format!("between-{kind}"), [&checked(0.0, 4), &checked(1.0, 4)], deed);
        let found = damages(&seen);
        assert!(found.iter().any(|text| text.starts_with(kind)), "{kind}: {found:?}");
        assert!(found.iter().all(|text| text.starts_with(kind)), "{kind}: {found:?}");
        let counted: u64 = seen.mishaps.iter().map(|mishap| mishap.count).sum();
        assert!(counted as usize >= found.len() && seen.mishaps[0].what == kind, "{:?}", seen.mishaps);
    }
}

#[test]
fn a_trial_that_was_cut_short_leaves_what_the_next_one_can_judge() {
    for planted in [false, true] {
        let folder = Folder::new(&format!("cut-short-{planted}"));
        let mut opened = open(folder.place(), 1);
        let stop = AtomicBool::new(false);
        let mut stopper = Stopper { stop: &stop, at: engine::Phase::Measure };
        let cut = run_trial(&mut opened, &checked(0.0, 4), &mut stopper, &stop);
        assert!(matches!(cut, Err(engine::TrialError::Stopped)), "{cut:?}");
        if planted {
            let mut block = Aligned::new(4096);
            let file = direct(folder.path());
            file.read_exact_at(block.bytes(0..4096), 0).unwrap();
            (4096..MODULE).step_by(4096).for_each(|at| file.write_all_at(block.bytes(0..4096), at as u64).unwrap());
        }
        let seen = run_trial(&mut opened, &checked(1.0, 4), &mut Unobserved, &AtomicBool::new(false)).unwrap();
        assert_eq!(damages(&seen).is_empty(), !planted, "{:?}", damages(&seen));
    }
}

/// Ends a trial as soon as it is in such a phase.
struct Stopper<'a> {
    stop: &'a AtomicBool,
    at: engine::Phase,
}

impl Observer for Stopper<'_> {
    fn phase(&mut self, _: &Trial, phase: engine::Phase, _: Nanos) {
        if phase == self.at {
            self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }

    fn live(&mut self, trial: &Trial, live: &Live) {
        self.phase(trial, live.phase, Nanos::ZERO);
    }
}

/// A trial that writes half of its module, and has that read back.
fn read_back() -> Trial {
    let mut spec = blocks(0.0);
    spec.range = units::Share(0.5);
    let mut stream = stream(Storage::Block(spec), closed(4));
    access(&mut stream).verify = true;
    trial(vec![stream], Nanos::from_millis(400))
}

fn notes(observations: &Observations) -> String {
    let notes = observations.events.iter().filter(|event| event.kind == EventKind::Note);
    notes.map(|event| event.text.as_str()).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_trial_that_only_writes_is_read_back_after_its_window() {
    let folder = Folder::new("read-back");
    let mut opened = open(folder.place(), 1);
    let seen = run_trial(&mut opened, &read_back(), &mut Unobserved, &AtomicBool::new(false)).unwrap();
    assert!(notes(&seen).contains("2 MiB were read back in "), "{}", notes(&seen));
    assert!(
        notes(&seen).contains("after the window: 4\u{202f}096 sectors, all as they were written"),
        "{}",
        notes(&seen)
    );
    assert_eq!(seen.validated_reads, 2);
    assert_eq!(damages(&seen), Vec::<&str>::new());
}

#[test]
fn damage_to_what_a_trial_wrote_is_its_own_when_it_is_read_back() {
    let folder = Folder::new("read-back-damage");
    let mut opened = open(folder.place(), 1);
    let mut vandal = AtEnd(folder.path().to_path_buf());
    let seen = run_trial(&mut opened, &read_back(), &mut vandal, &AtomicBool::new(false)).unwrap();
    assert!(notes(&seen).contains("4\u{202f}096 sectors, 8 of them damaged"), "{}", notes(&seen));
    let counted: Vec<_> = seen.mishaps.iter().map(|mishap| (mishap.kind, mishap.what.as_str(), mishap.count)).collect();
    assert_eq!(counted, [(EventKind::Damage, "zeroed", 8)]);
}

/// Damages a block of the range and one beyond it, when the trial is about to be read back.
struct AtEnd(PathBuf);

impl Observer for AtEnd {
    fn phase(&mut self, _: &Trial, phase: engine::Phase, _: Nanos) {
        if phase == engine::Phase::Check {
            [1 << 20, 3 << 20].iter().for_each(|at| {
                direct(&self.0).write_all_at(Aligned::new(4096).bytes(0..4096), *at).unwrap();
            });
        }
    }
}

#[test]
fn a_stop_is_heard_while_a_trial_is_read_back() {
    let folder = Folder::new("read-back-stop");
    let mut opened = open(folder.place(), 1);
    let stop = AtomicBool::new(false);
    let mut stopper = Stopper { stop: &stop, at: engine::Phase::Check };
    let cut = run_trial(&mut opened, &read_back(), &mut stopper, &stop);
    assert!(matches!(cut, Err(engine::TrialError::Stopped)), "{cut:?}");
}

/// Memory on a page border, as direct I/O wants it.
struct Aligned(Vec<u8>, usize);

impl Aligned {
    fn new(bytes: usize) -> Aligned {
        let room = vec![0; bytes + 4096];
        let from = room.as_ptr().align_offset(4096);
        Aligned(room, from)
    }

    fn bytes(&mut self, range: std::ops::Range<usize>) -> &mut [u8] {
        &mut self.0[self.1 + range.start..self.1 + range.end]
    }
}

/// Keeps the blocks as the fill left them, and puts them back, whole or in half, long after they were overwritten. It
/// works past the page cache, because the trial does.
struct Keeper {
    folder: PathBuf,
    bytes: usize,
    before: Aligned,
    borders: u32,
}

impl Observer for Keeper {
    fn phase(&mut self, _: &Trial, phase: engine::Phase, _: Nanos) {
        if phase == engine::Phase::Measure {
            self.open().read_exact_at(self.before.bytes(0..MODULE), 0).unwrap();
        }
    }

    fn live(&mut self, _: &Trial, live: &Live) {
        if live.phase != engine::Phase::Measure {
            return;
        }
        self.borders += 1;
        // More than once: on a busy machine the window may end soon after the first.
        if self.bytes > 0 && self.borders >= 6 && self.borders.is_multiple_of(3) {
            let file = self.open();
            for place in (0..MODULE).step_by(4096) {
                file.write_all_at(self.before.bytes(place..place + self.bytes), place as u64).unwrap();
            }
        }
    }
}

impl Keeper {
    fn open(&self) -> File {
        direct(&self.folder)
    }
}

#[test]
fn blocks_that_repeat_others_are_equal_on_the_file_and_their_reads_are_checked() {
    let folder = Folder::new("duplicates");
    let mut opened = open(folder.place(), 1);
    let mut asked = checked(0.5, 4);
    let Storage::Block(spec) = &mut asked.streams[0].operations_mut().unwrap().of else { panic!("blocks") };
    spec.data.duplicate = units::Share(0.5);
    let run = |opened: &mut Opened| run_trial(opened, &asked, &mut Unobserved, &AtomicBool::new(false)).unwrap();
    for _ in 0..2 {
        assert_eq!(damages(&run(&mut opened)), Vec::<&str>::new());
    }
    let mut whole = Aligned::new(MODULE);
    direct(folder.path()).read_exact_at(whole.bytes(0..MODULE), 0).unwrap();
    let mut seen = std::collections::HashMap::<&[u8], u32>::new();
    whole.bytes(0..MODULE).chunks(4096).for_each(|block| *seen.entry(block).or_default() += 1);
    let equal = seen.values().filter(|count| **count > 1).sum::<u32>();
    // Half of 1,024 blocks, of 256 contents: one in seven of these is alone.
    assert!((360..=520).contains(&equal), "{equal}");
    (0..MODULE).step_by(4096).for_each(|at| whole.bytes(at..at + 4096)[700] ^= 4);
    direct(folder.path()).write_all_at(whole.bytes(0..MODULE), 0).unwrap();
    let seen = run(&mut opened);
    assert!(!damages(&seen).is_empty() && damages(&seen).iter().all(|text| text.starts_with("flipped")));
}
