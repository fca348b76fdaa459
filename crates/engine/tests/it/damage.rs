//! Damage planted behind Prony's back is found and named; where none was planted, none is reported.

use crate::bench::{Folder, access, blocks, closed, open, stream, trial};
use engine::{Live, Observer, Opened, run_trial};
use observation::{EventKind, Observations};
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use study::{Storage, Trial};
use units::Nanos;

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
        if self.borders == 12 {
            let file = self.open();
            for place in (0..MODULE).step_by(4096) {
                file.write_all_at(self.before.bytes(place..place + self.bytes), place as u64).unwrap();
            }
        }
    }
}

impl Keeper {
    fn open(&self) -> File {
        let scratch = std::fs::read_dir(&self.folder).unwrap().next().unwrap().unwrap().path();
        let mut options = File::options();
        options.read(true).write(true).custom_flags(libc::O_DIRECT);
        options.open(scratch.join("module-0.dat")).unwrap()
    }
}
