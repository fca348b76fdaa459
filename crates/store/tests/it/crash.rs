//! A writer that is killed at any moment loses no interval that it has acknowledged.

use crate::arbitrary::{cells, plain_cell, plain_facts, plain_label, plain_rest};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use store::{RunFile, StoreError, TrialState};

const RESERVE: u64 = 1 << 20;
const INTERVALS: u32 = 6;
const WHERE: &str = "PRONY_STORE_WRITER";

/// Writes trials, or goes on with them, and says so in the file of acknowledgements after each interval.
fn write_trials(dir: &Path, trials: u32) -> Result<(), StoreError> {
    let path = dir.join("run.prony");
    let mut acknowledge = OpenOptions::new().append(true).create(true).open(dir.join("acknowledged")).unwrap();
    let mut file = match path.exists() {
        true => RunFile::resume(&path, RESERVE)?,
        false => RunFile::create(&path, &plain_facts(), RESERVE)?,
    };
    let stored = file.trials()?;
    let (mut index, mut attempt) = stored.last().map_or((0, 0), |last| match last.state {
        TrialState::Finished => (last.label.index + 1, 0),
        TrialState::Interrupted => (last.label.index, last.attempts),
    });
    for _ in 0..trials {
        file.begin_trial(&plain_label(index), &plain_rest(INTERVALS))?;
        for interval in 0..INTERVALS {
            file.append_interval(index, &[plain_cell(interval)], &[])?;
            // One call a line: either all of it is in the page cache when we are killed, or none.
            acknowledge.write_all(format!("{index} {attempt} {interval}\n").as_bytes()).unwrap();
        }
        file.finish_trial(index, &plain_rest(INTERVALS))?;
        (index, attempt) = (index + 1, 0);
    }
    file.close()
}

/// How many intervals of each `(trial, attempt)` were acknowledged.
fn acknowledged(dir: &Path) -> BTreeMap<(u32, u32), u32> {
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(dir.join("acknowledged")).unwrap_or_default().lines() {
        let numbers: Vec<u32> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        counts.insert((numbers[0], numbers[1]), numbers[2] + 1);
    }
    counts
}

fn check(dir: &Path) {
    let file = RunFile::open(&dir.join("run.prony")).unwrap();
    assert_eq!(file.facts().unwrap(), plain_facts());
    for ((index, attempt), count) in acknowledged(dir) {
        let cells = cells(file.cells_of_attempt(index, attempt));
        assert!(cells.len() as u32 >= count, "{} of {count} acknowledged intervals are left", cells.len());
        for (interval, cell) in cells.iter().enumerate() {
            assert_eq!(cell, &plain_cell(interval as u32));
        }
    }
}

/// Runs alone in this process, or, when the killing test below asks for it, as its victim in another one.
#[test]
fn a_writer_that_is_left_alone_keeps_all_it_has_acknowledged() {
    if let Some(dir) = std::env::var_os(WHERE) {
        write_trials(Path::new(&dir), 10_000).unwrap();
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    write_trials(dir.path(), 3).unwrap();
    assert_eq!(acknowledged(dir.path()), BTreeMap::from([((0, 0), 6), ((1, 0), 6), ((2, 0), 6)]));
    check(dir.path());
}

fn spawn_writer(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::a_writer_that_is_left_alone_keeps_all_it_has_acknowledged"])
        .env(WHERE, dir)
        .stdout(Stdio::null())
        .stderr(File::create(dir.join("stderr")).unwrap())
        .spawn()
        .unwrap()
}

/// Waits until the writer has acknowledged something new, then as long as `pause`, and kills it.
fn kill_after(mut writer: Child, dir: &Path, pause: Duration) {
    let length = || std::fs::metadata(dir.join("acknowledged")).map_or(0, |found| found.len());
    let before = length();
    while length() == before {
        let ended = writer.try_wait().unwrap();
        assert!(ended.is_none(), "{}", std::fs::read_to_string(dir.join("stderr")).unwrap_or_default());
        std::thread::sleep(Duration::from_micros(100));
    }
    std::thread::sleep(pause);
    writer.kill().unwrap();
    writer.wait().unwrap();
}

#[test]
fn a_writer_killed_at_random_moments_loses_no_acknowledged_interval() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..6 {
        let dir = tempfile::tempdir().unwrap();
        // Each further writer goes on with what the killed one left.
        for _ in 0..5 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            kill_after(spawn_writer(dir.path()), dir.path(), Duration::from_micros((state >> 33) % 20_000));
            check(dir.path());
        }
    }
}

#[test]
fn a_writer_killed_while_it_makes_the_file_leaves_an_error_and_not_a_crash() {
    for pause in 0..12 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.prony");
        let mut writer = spawn_writer(dir.path());
        while !path.exists() {
            std::thread::sleep(Duration::from_micros(50));
        }
        std::thread::sleep(Duration::from_micros(pause * 400));
        writer.kill().unwrap();
        writer.wait().unwrap();
        match RunFile::open(&path).and_then(RunFile::close) {
            Ok(()) => check(dir.path()),
            Err(error) => assert!(
                matches!(error, StoreError::NotARunFile { .. } | StoreError::Damaged { .. }),
                "{error:?} after {pause}"
            ),
        }
    }
}
