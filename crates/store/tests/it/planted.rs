//! Files that somebody laid beside a run file: nothing that they lead to is touched, and reading leaves everything as it was.

use crate::arbitrary::{cells, plain_cell, plain_facts, plain_label, plain_rest, plain_run};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use store::{RunFile, StoreError, TrialState, redact};
use tempfile::TempDir;

const SUFFIXES: [&str; 3] = ["-journal", "-wal", "-shm"];

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

fn place() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.prony");
    (dir, path)
}

/// What a killed run leaves: a trial that has ended, and another with an interval that is only in the log.
fn make_unclosed(path: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let live = dir.path().join("live");
    plain_run(&live);
    let mut file = RunFile::resume(&live, 32 << 10).unwrap();
    file.begin_trial(&plain_label(1), &plain_rest(3)).unwrap();
    file.append_interval(1, &[plain_cell(5)], &[]).unwrap();
    fs::copy(&live, path).unwrap();
    fs::copy(beside(&live, "-wal"), beside(path, "-wal")).unwrap();
}

/// Names and contents of everything in a folder, without following links.
fn all_of(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            let is_file = fs::symlink_metadata(&path).unwrap().is_file();
            let content = if is_file { fs::read(&path).unwrap() } else { b"not a file".to_vec() };
            (path, content)
        })
        .collect()
}

/// All that may be done with a run file that somebody sent.
fn use_all(dir: &Path, path: &Path) -> Vec<StoreError> {
    let copy = dir.join("copy.prony");
    let noted = || RunFile::open_for_notes(path).and_then(|mut file| file.set_note("seen").and(file.close()));
    let done = [
        RunFile::glance(path).and_then(RunFile::close),
        RunFile::open(path).and_then(RunFile::close),
        redact(path, &copy),
        noted(),
        RunFile::resume(path, 4096).and_then(RunFile::close),
    ];
    let _ = fs::remove_file(copy);
    done.into_iter().filter_map(Result::err).collect()
}

/// A journal that is to be rolled back, and belongs to a change of which `named` tells the other files.
fn journal_that_names(named: &Path) -> Vec<u8> {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let name = named.to_str().unwrap().as_bytes();
    let mut bytes = MAGIC.to_vec();
    for number in [0u32, 7, 1, 512, 4096] {
        bytes.extend(number.to_be_bytes());
    }
    bytes.resize(512, 0);
    bytes.extend((0x4000_0000u32 / 4096 + 1).to_be_bytes());
    bytes.extend(name);
    bytes.extend((name.len() as u32).to_be_bytes());
    bytes.extend(name.iter().map(|byte| u32::from(*byte)).sum::<u32>().to_be_bytes());
    bytes.extend(MAGIC);
    bytes
}

#[test]
fn a_journal_that_names_another_file_does_not_have_it_deleted() {
    let (dir, path) = place();
    let precious = dir.path().join("precious");
    for unclosed in [false, true] {
        fs::write(&precious, "a day of work").unwrap();
        if unclosed {
            make_unclosed(&path)
        } else {
            plain_run(&path)
        }
        fs::write(beside(&path, "-journal"), journal_that_names(&precious)).unwrap();
        let before = all_of(dir.path());
        let refused = use_all(dir.path(), &path);
        assert_eq!(all_of(dir.path()), before);
        let told = refused.iter().filter(|error| error.to_string().contains("names another file")).count();
        // A look at facts and trials goes on without what lies beside the file.
        assert_eq!((refused.len(), told), (4, 4), "{refused:?}");
        fs::remove_file(&path).unwrap();
        fs::remove_file(beside(&path, "-journal")).unwrap();
    }
}

#[test]
fn links_beside_a_run_file_are_not_followed() {
    for (suffix, unclosed) in SUFFIXES.into_iter().flat_map(|suffix| [(suffix, false), (suffix, true)]) {
        let (dir, path) = place();
        let precious = dir.path().join("precious");
        for content in ["a day of work", ""] {
            fs::write(&precious, content).unwrap();
            if unclosed {
                make_unclosed(&path)
            } else {
                plain_run(&path)
            }
            let _ = fs::remove_file(beside(&path, suffix));
            symlink(&precious, beside(&path, suffix)).unwrap();
            let _ = use_all(dir.path(), &path);
            assert_eq!(fs::read(&precious).unwrap(), content.as_bytes(), "{suffix}");
            for name in [path.clone(), beside(&path, "-wal"), beside(&path, "-journal"), beside(&path, "-shm")] {
                let _ = fs::remove_file(name);
            }
        }
    }
}

#[test]
fn a_new_run_file_follows_and_removes_nothing_that_lies_beside_its_name() {
    for suffix in SUFFIXES {
        let (dir, path) = place();
        fs::write(dir.path().join("precious"), "a day of work").unwrap();
        symlink(dir.path().join("precious"), beside(&path, suffix)).unwrap();
        let before = all_of(dir.path());
        let error = RunFile::create(&path, &plain_facts(), 4096).unwrap_err();
        assert!(error.to_string().contains(suffix), "{error}");
        assert_eq!(all_of(dir.path()), before);
    }
}

/// SQLite takes a single byte for nothing.
#[test]
fn an_empty_file_keeps_the_log_beside_it() {
    for content in ["", "S", "\0"] {
        let (dir, path) = place();
        make_unclosed(&path);
        fs::write(&path, content).unwrap();
        let before = all_of(dir.path());
        for error in use_all(dir.path(), &path) {
            assert!(matches!(error, StoreError::NotARunFile(_)), "{error:?}");
        }
        assert_eq!(all_of(dir.path()), before);
    }
}

/// What SQLite deletes depends on how much of a file there is.
#[test]
fn a_file_that_was_cut_off_keeps_the_log_beside_it() {
    for length in [2, 15, 16, 17, 99, 100, 511, 512, 513, 4095, 4096, 4097] {
        let (dir, path) = place();
        make_unclosed(&path);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len().min(length)]).unwrap();
        let before = all_of(dir.path());
        for read in [RunFile::glance, RunFile::open] {
            let _ = read(&path).and_then(RunFile::close);
            assert_eq!(all_of(dir.path()), before, "{length}");
        }
    }
}

#[test]
fn a_pipe_is_no_run_file_and_is_not_waited_for() {
    let (_dir, path) = place();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    assert!(matches!(RunFile::open(&path), Err(StoreError::NotARunFile(_))));
    fs::remove_file(&path).unwrap();
    make_unclosed(&path);
    fs::remove_file(beside(&path, "-wal")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(beside(&path, "-wal")).status().unwrap().success());
    assert!(matches!(RunFile::open(&path), Err(StoreError::Strange(..))));
}

#[test]
fn a_pipe_beside_a_run_file_is_not_waited_for() {
    for suffix in ["-wal", "-shm", "-journal"] {
        for closed in [true, false] {
            let (dir, path) = place();
            if closed {
                plain_run(&path)
            } else {
                make_unclosed(&path)
            }
            let _ = fs::remove_file(beside(&path, suffix));
            let made = std::process::Command::new("mkfifo").arg(beside(&path, suffix)).status().unwrap();
            assert!(made.success());
            let errors = use_all(dir.path(), &path);
            assert!(errors.iter().all(|error| error.to_string().contains("is no regular file")), "{errors:?}");
        }
    }
}

#[test]
fn reading_a_run_that_was_not_closed_changes_nothing() {
    let (dir, path) = place();
    make_unclosed(&path);
    for name in [path.clone(), beside(&path, "-wal")] {
        fs::set_permissions(name, fs::Permissions::from_mode(0o444)).unwrap();
    }
    let before = all_of(dir.path());
    let file = RunFile::open(&path).unwrap();
    assert_eq!(cells(file.cells(1)), [plain_cell(5)]);
    assert_eq!(file.trials().unwrap()[1].state, TrialState::Interrupted);
    drop(file);
    let glanced = RunFile::glance(&path).unwrap();
    assert_eq!((glanced.facts().unwrap(), glanced.trials().unwrap().len()), (plain_facts(), 1));
    drop(glanced);
    assert_eq!(all_of(dir.path()), before);
}

#[test]
fn a_run_that_is_being_written_is_changed_by_nobody_else() {
    let (_dir, path) = place();
    let file = RunFile::create(&path, &plain_facts(), 4096).unwrap();
    assert!(matches!(RunFile::open_for_notes(&path), Err(StoreError::InUse(_))));
    drop(file);
}

#[test]
fn a_file_of_holes_is_refused_and_not_copied() {
    let (_dir, path) = place();
    make_unclosed(&path);
    // SQLite takes the size from the header; what is behind are holes.
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    RunFile::open(&path).and_then(RunFile::close).unwrap();
}

#[test]
fn names_with_signs_that_mean_something_to_sqlite_are_names() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a?mode=memory", "b#c", "50%20", "ä b", "x?immutable=1&vfs=unix-none"] {
        let path = dir.path().join(name);
        make_unclosed(&path);
        assert_eq!(RunFile::open(&path).unwrap().trials().unwrap().len(), 2);
        assert_eq!(RunFile::glance(&path).unwrap().trials().unwrap().len(), 1);
        RunFile::resume(&path, 4096).unwrap().close().unwrap();
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 5);
}
