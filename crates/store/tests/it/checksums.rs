//! A bit that flips in a file is found, or changes nothing that is read.

use crate::arbitrary::{cells, plain_cell, plain_facts, plain_label, plain_rest};
use observation::{Cell, Observations, RunFacts};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use store::{RunFile, StoreError, StoredTrial, redact};

/// A closed run of two trials, of which the second was interrupted.
fn closed(path: &Path) {
    let mut file = RunFile::create(path, &plain_facts(), 16 << 10).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(3)).unwrap();
    file.append_interval(0, &(0..3).map(plain_cell).collect::<Vec<_>>(), &[]).unwrap();
    file.finish_trial(0, &plain_rest(3)).unwrap();
    file.begin_trial(&plain_label(1), &plain_rest(3)).unwrap();
    file.append_interval(1, &[plain_cell(0)], &[]).unwrap();
    file.close().unwrap();
}

type Content = (RunFacts, Vec<(StoredTrial, Observations, Vec<Cell>)>);

fn content(path: &Path) -> Result<Content, StoreError> {
    let file = RunFile::open(path)?;
    let mut trials = Vec::new();
    for trial in file.trials()? {
        let index = trial.label.index;
        trials.push((trial, file.observations(index)?, cells(file.cells(index))));
    }
    Ok((file.facts()?, trials))
}

/// The first of these changed 72 of 250 files without a word.
#[test]
fn a_flipped_bit_is_found_or_changes_nothing_that_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.prony");
    closed(&path);
    let (whole, good) = (fs::read(&path).unwrap(), content(&path).unwrap());
    let mut found = 0;
    // Steps without a common factor with pages and bytes, so that every kind of place has its turn.
    for bit in (0..whole.len() * 8).step_by(1_409) {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &flipped).unwrap();
        match content(&path) {
            Ok(read) => assert_eq!(read, good, "bit {bit} changed what is read, and nobody noticed"),
            Err(error) => {
                assert!(error.to_string().contains("run.prony"), "{error}");
                found += 1;
            }
        }
    }
    assert!(found > 60, "only {found} were found");
}

fn said_after(sql: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.prony");
    closed(&path);
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    content(&path).unwrap_err().to_string()
}

#[test]
fn what_was_changed_is_named_with_its_trial() {
    for (sql, names) in [
        ("UPDATE cell SET done = done + 1 WHERE id = (SELECT max(id) FROM cell WHERE trial = 1)", "`cell` of trial 0"),
        ("UPDATE reading SET value = 0 WHERE id = (SELECT min(id) FROM reading)", "`reading` of trial 0"),
        ("DELETE FROM cell WHERE trial = 2", "`cell` of trial 1"),
        ("UPDATE account SET done = done + 1, planned = planned + 1", "`account` of trial 0"),
        ("UPDATE run SET seed = seed + 1", "the table `run`"),
        ("UPDATE system_fact SET value = 'a better one'", "the table `system_fact`"),
        ("DELETE FROM trial WHERE id = 2", "the list of trials"),
        ("DELETE FROM checksum WHERE part = 'run'; UPDATE run SET title = 'x'", "the table `run`"),
        ("DELETE FROM checksum WHERE trial = 0; UPDATE run SET title = 'x'", "the table `about`"),
        ("DELETE FROM checksum", "the table `about`"),
        ("UPDATE checksum SET crc32c = 0 WHERE part = 'cell' AND trial = 2", "the table `checksum`"),
    ] {
        let said = said_after(sql);
        assert!(said.contains(names) && said.contains("checksum differs"), "{sql}: {said}");
    }
}

#[test]
fn tags_a_note_and_a_copy_without_names_have_sums_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let [path, copy] = ["run.prony", "copy.prony"].map(|name| dir.path().join(name));
    closed(&path);
    let mut file = RunFile::open_for_notes(&path).unwrap();
    file.set_note("seen").unwrap();
    file.set_tags(&["kept".to_owned()]).unwrap();
    file.close().unwrap();
    redact(&path, &copy).unwrap();
    for path in [path, copy] {
        let sums = |path: &Path| {
            let all = "SELECT count(*) FROM checksum WHERE trial = 0";
            Connection::open(path).unwrap().query_row(all, (), |row| row.get::<_, i64>(0)).unwrap()
        };
        assert_eq!(sums(&path), 7);
        assert_eq!(content(&path).unwrap().0.note, "seen");
    }
}

/// What a killed run left has the sums of its trials, and none of the run.
#[test]
fn a_run_that_was_not_closed_is_read_by_the_sums_of_its_trials() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.prony");
    closed(&path);
    drop(RunFile::resume(&path, 4096).unwrap());
    assert_eq!(content(&path).unwrap().1.len(), 2);
    Connection::open(&path).unwrap().execute_batch("UPDATE cell SET failed = 7").unwrap();
    assert!(content(&path).unwrap_err().to_string().contains("`cell` of trial 0"));
}
