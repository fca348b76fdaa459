//! A disk that fills up during a run takes nothing from it, as long as the reserve lasts, and says so afterwards.

use crate::arbitrary::{cells, plain_cell, plain_facts, plain_label, plain_rest};
use crate::skip::skipped;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use store::{RunFile, StoreError, TrialState};
use tempfile::TempDir;

/// A small filesystem of its own, gone when the test ends.
struct Small {
    dir: TempDir,
}

impl Small {
    fn tmpfs(test: &str) -> Option<Small> {
        Small::mount(test, &["-t", "tmpfs", "-o", "size=8m", "tmpfs"])
    }

    fn ext4(test: &str) -> Option<Small> {
        let image = tempfile::NamedTempFile::new().unwrap();
        image.as_file().set_len(16 << 20).unwrap();
        let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(image.path()).output();
        if !made.as_ref().is_ok_and(|output| output.status.success()) {
            skipped(&format!("{test}: mkfs.ext4 is not installed"));
            return None;
        }
        // The kernel keeps the image open while it is mounted, so its name may go.
        Small::mount(test, &["-o", "loop", image.path().to_str().unwrap()])
    }

    fn mount(test: &str, arguments: &[&str]) -> Option<Small> {
        let dir = tempfile::tempdir().unwrap();
        let output = Command::new("mount").args(arguments).arg(dir.path()).output().ok();
        if let Some(output) = output.filter(|output| !output.status.success()) {
            let why = String::from_utf8_lossy(&output.stderr);
            skipped(&format!("{test}: cannot mount a small filesystem ({})", why.trim().replace('\n', " ")));
            return None;
        }
        Some(Small { dir })
    }

    fn run(&self) -> PathBuf {
        self.dir.path().join("run.prony")
    }

    /// Fills what is left to the last block.
    fn fill(&self) {
        let mut file = File::create(self.dir.path().join("filler")).unwrap();
        let mut piece = 1 << 20;
        while piece > 0 {
            if file.write(&vec![1; piece]).is_err() {
                piece /= 2;
            }
        }
        let _ = file.sync_all();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.dir.path()).output();
    }
}

/// Two trials of 40 intervals on a disk that is full from the start of the first.
fn write_on_full_disk(small: &Small) {
    let mut file = RunFile::create(&small.run(), &plain_facts(), 2 << 20).unwrap();
    small.fill();
    for index in 0..2 {
        file.begin_trial(&plain_label(index), &plain_rest(40)).unwrap();
        for interval in 0..40 {
            file.append_interval(index, &[plain_cell(interval)], &[]).unwrap();
        }
        file.finish_trial(index, &plain_rest(40)).unwrap();
    }
    file.set_finished().unwrap();
    file.close().unwrap();
    check(&small.run(), 2);
}

fn check(path: &Path, trials: u32) {
    let file = RunFile::open(path).unwrap();
    assert!(file.facts().unwrap().finished);
    for index in 0..trials {
        assert_eq!(cells(file.cells(index)), (0..40).map(plain_cell).collect::<Vec<_>>());
    }
}

#[test]
fn a_full_tmpfs_takes_nothing_from_a_run_with_a_reserve() {
    if let Some(small) = Small::tmpfs("full tmpfs") {
        write_on_full_disk(&small);
    }
}

#[test]
fn a_full_ext4_takes_nothing_from_a_run_with_a_reserve() {
    if let Some(small) = Small::ext4("full ext4") {
        write_on_full_disk(&small);
    }
}

#[test]
fn a_run_beyond_its_reserve_on_a_full_disk_keeps_every_finished_interval() {
    let Some(small) = Small::tmpfs("full disk beyond the reserve") else { return };
    let mut file = RunFile::create(&small.run(), &plain_facts(), 256 << 10).unwrap();
    small.fill();
    file.begin_trial(&plain_label(0), &plain_rest(40)).unwrap();
    let mut kept = Vec::new();
    let error = loop {
        let cell = plain_cell(kept.len() as u32);
        match file.append_interval(0, std::slice::from_ref(&cell), &[]) {
            Ok(()) => kept.push(cell),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(kept.len() > 10);
    // Even the lock is let go and the file is closed without room for one more block.
    let _ = file.close();
    let file = RunFile::open(&small.run()).unwrap();
    assert_eq!(file.trials().unwrap()[0].state, TrialState::Interrupted);
    assert_eq!(cells(file.cells(0)), kept);
}

#[test]
fn a_reserve_that_does_not_fit_is_refused_before_the_run_and_leaves_no_file() {
    let Some(small) = Small::tmpfs("reserve that does not fit") else { return };
    let error = RunFile::create(&small.run(), &plain_facts(), 32 << 20).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    let told = error.to_string();
    assert!(told.contains("no file is left behind; make room") && !told.contains("kept"), "{told}");
    assert_eq!(std::fs::read_dir(small.dir.path()).unwrap().count(), 0);
}
