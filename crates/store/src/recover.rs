//! A run file that was not closed, made whole again.
//!
//! The one idea: only who goes on with a run may change its file. Everybody else reads a copy of it that nobody else can reach, in
//! which SQLite folds the log in and rolls a journal back, and which is gone before it is read: its names are taken away while it
//! is open.
//!
//! What it does not do: it asks for no table, because those have not been looked at yet.

use crate::StoreError;
use crate::error::{During, KEPT};
use crate::file::{Access, connect};
use rustix::fs::{SeekFrom, seek};
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Seek as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use system::beside::{self, JOURNAL, LOG};
use tempfile::TempDir;

const ACTION: &str = "opening the file";

/// Folds a log in and rolls a journal back. No table is read. Errors call the file by the name that the user knows.
pub(crate) fn settle(at: &Path, path: &Path) -> Result<(), StoreError> {
    beside::must_be_ours(at).map_err(|planted| StoreError::planted(path, planted))?;
    let connection = connect(at, Access::Write, path)?;
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT;").during(ACTION, path)?;
    connection.close().map_err(|(_, error)| error).during(ACTION, path)?;
    // SQLite says nothing when it cannot fold the log in, and leaves it.
    match fs::metadata(beside::beside(at, LOG)) {
        Ok(log) if log.len() > 0 => Err(StoreError::Full(path.to_path_buf(), "folding the log into the file", KEPT)),
        _ => Ok(()),
    }
}

/// How often a run that is going on is copied anew because a trial ended meanwhile, and the pause before that.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(100);

/// A copy of a run that somebody still writes, as it stands. While a trial is measured only the log grows, and a copy of a part of
/// it is a shorter log; when the log is folded into the file, both are copied anew.
pub(crate) fn copy_of_running(path: &Path) -> Result<(TempDir, PathBuf), StoreError> {
    let mut left = ATTEMPTS;
    loop {
        match copied(path, Written::Meanwhile) {
            Err(StoreError::InUse(_)) if left > 1 => std::thread::sleep(PAUSE),
            done => return done,
        }
        left -= 1;
    }
}

/// A copy of an unclosed run, made whole, in a folder that goes with the returned value.
pub(crate) fn copy(path: &Path) -> Result<(TempDir, PathBuf), StoreError> {
    copied(path, Written::No)
}

/// Whether somebody writes a run while it is copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    No,
    Meanwhile,
}

fn copied(path: &Path, written: Written) -> Result<(TempDir, PathBuf), StoreError> {
    let unreachable = |error| StoreError::Unreachable(path.to_path_buf(), error);
    let mut run = File::open(path).map_err(unreachable)?;
    let mut others = Vec::new();
    for suffix in [LOG, JOURNAL] {
        let found = beside::open(path, suffix).map_err(|planted| StoreError::planted(path, planted))?;
        others.extend(found.map(|file| (suffix, file)));
    }
    let before = look(&run, &others, written).map_err(unreachable)?;
    let copied = |error| StoreError::NoCopy(path.to_path_buf(), place(), error);
    let folder = tempfile::Builder::new().prefix("prony-").tempdir_in(place()).map_err(copied)?;
    let copy = folder.path().join("run");
    copy_data(&mut run, &copy).map_err(copied)?;
    for (suffix, file) in &mut others {
        copy_data(file, &beside::beside(&copy, suffix)).map_err(copied)?;
    }
    if look(&run, &others, written).map_err(unreachable)? != before {
        return Err(StoreError::InUse(path.to_path_buf()));
    }
    settle(&copy, path).map_err(|error| match error {
        StoreError::Full(..) => copied(io::ErrorKind::StorageFull.into()),
        other => other,
    })?;
    Ok((folder, copy))
}

/// Where copies are made: a folder on a disk unless the user names another, because that for temporary files is often memory.
fn place() -> PathBuf {
    let disk = PathBuf::from("/var/tmp");
    if std::env::var_os("TMPDIR").is_none() && disk.is_dir() { disk } else { std::env::temp_dir() }
}

/// Sizes and times of files, and the heads of logs that may grow.
type Look = (Vec<(u64, i64, i64)>, Vec<u8>);

/// The head of a log, in which its salts stand: another one is another log.
const LOG_HEAD: usize = 32;

/// What changes when somebody writes: sizes and times; of a log that may grow, its head.
fn look(run: &File, others: &[(&str, File)], written: Written) -> Result<Look, io::Error> {
    let seen = |found: Metadata| (found.len(), found.mtime(), found.mtime_nsec());
    let still = |suffix: &str| written == Written::No || suffix != LOG;
    let others_still = others.iter().filter(|(suffix, _)| still(suffix)).map(|(_, file)| file);
    let times =
        [run].into_iter().chain(others_still).map(|file| file.metadata().map(seen)).collect::<Result<_, _>>()?;
    let mut heads = Vec::new();
    for (_, log) in others.iter().filter(|(suffix, _)| !still(suffix)) {
        let mut head = [0; LOG_HEAD];
        let held = log.read_at(&mut head, 0)?;
        heads.extend_from_slice(&head[..held]);
    }
    Ok((times, heads))
}

/// Copies what a file holds. A hole stays a hole, so that a file of holes takes no space.
fn copy_data(source: &mut File, target: &Path) -> Result<(), io::Error> {
    let mut target = File::options().write(true).create_new(true).open(target)?;
    let length = source.metadata()?.len();
    target.set_len(length)?;
    let mut at = 0;
    while at < length {
        let Ok(start) = seek(&*source, SeekFrom::Data(at)) else { break };
        let end = seek(&*source, SeekFrom::Hole(start)).unwrap_or(length).min(length);
        source.seek(io::SeekFrom::Start(start))?;
        target.seek(io::SeekFrom::Start(start))?;
        io::copy(&mut source.take(end - start), &mut target)?;
        at = end;
    }
    Ok(())
}
