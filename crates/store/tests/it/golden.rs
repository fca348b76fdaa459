//! A run file of every version that was ever written opens for ever.

use crate::arbitrary::{cells, plain_cell, plain_facts, plain_label, plain_rest, whole};
use observation::{Check, Ledger, RunFacts};
use std::path::{Path, PathBuf};
use store::{RunFile, TrialState};

const INTERVALS: u32 = 3;

fn golden(version: i64) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/v{version}.prony"))
}

/// The run that is in the golden file: trial 0 finished at its second attempt, trial 1 interrupted.
fn write(path: &Path) {
    let meta = plain_rest(INTERVALS);
    let mut file = RunFile::create(path, &plain_facts(), 16 << 10).unwrap();
    file.begin_trial(&plain_label(0), &meta).unwrap();
    file.append_interval(0, &[plain_cell(9)], &[]).unwrap();
    file.discard_trial(0).unwrap();
    file.begin_trial(&plain_label(0), &meta).unwrap();
    file.append_interval(0, &(0..INTERVALS).map(plain_cell).collect::<Vec<_>>(), &[]).unwrap();
    file.finish_trial(0, &plain_rest(INTERVALS)).unwrap();
    file.begin_trial(&plain_label(1), &meta).unwrap();
    file.append_interval(1, &[plain_cell(0)], &[]).unwrap();
    file.close().unwrap();
}

fn check(path: &Path) {
    let file = RunFile::open(path).unwrap();
    assert_eq!(file.facts().unwrap(), RunFacts { finished: false, ..plain_facts() });
    let trials = file.trials().unwrap();
    let states: Vec<_> = trials.iter().map(|trial| (trial.state, trial.attempts)).collect();
    assert_eq!(states, [(TrialState::Finished, 2), (TrialState::Interrupted, 1)]);
    assert_eq!(trials[0].label, plain_label(0));
    let mut expected = plain_rest(INTERVALS);
    expected.cells = (0..INTERVALS).map(plain_cell).collect();
    assert_eq!(whole(&file, 0), expected);
    assert_eq!(cells(file.cells(1)), [plain_cell(0)]);
}

#[test]
fn a_run_of_every_version_opens() {
    for version in 1..=store::VERSION {
        // A copy: a reader must not depend on write access, and must not leave anything beside the committed file.
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("run.prony");
        std::fs::copy(golden(version), &copy).unwrap();
        check(&copy);
        RunFile::resume(&copy, 4096).unwrap().close().unwrap();
        check(&copy);
    }
}

#[test]
fn a_run_from_before_checks_were_kept_has_none_and_takes_some() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("v1.prony");
    std::fs::copy(golden(1), &copy).unwrap();
    let file = RunFile::open(&copy).unwrap();
    assert_eq!((file.checks().unwrap(), file.ledgers(0).unwrap()), (Vec::new(), Vec::new()));
    drop(file);
    let mut file = RunFile::resume(&copy, 4096).unwrap();
    file.begin_trial(&plain_label(1), &plain_rest(INTERVALS)).unwrap();
    file.append_checks(1, &[Check::default()]).unwrap();
    file.set_ledger(1, &Ledger::default()).unwrap();
    file.close().unwrap();
    assert_eq!(RunFile::open(&copy).unwrap().checks().unwrap().len(), 1);
}

#[test]
fn the_version_that_is_written_has_a_golden_file() {
    let path = golden(store::VERSION);
    if std::env::var_os("PRONY_BLESS").is_some() && !path.exists() {
        write(&path);
    }
    assert!(path.exists(), "set PRONY_BLESS=1 once to write {}, and commit it", path.display());
}

#[test]
fn the_writer_still_writes_what_the_golden_file_holds() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("run.prony"));
    check(&dir.path().join("run.prony"));
}
