//! The files that SQLite keeps beside a run file: a log while a run is written, a journal while the form of the file changes.
//!
//! The one idea: SQLite finds them by name and trusts them. It writes into them, deletes them, and deletes whatever other file
//! a journal names. So nobody may plant them: a new run file begins with none, and one that is written again has only regular
//! files there, and a journal that names no other file.
//!
//! What it does not do: it cannot hold off somebody who changes the folder between this look and SQLite's.

use crate::StoreError;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The log of a run that is being written.
pub(crate) const LOG: &str = "-wal";

/// The journal of a change in place.
pub(crate) const JOURNAL: &str = "-journal";

const INDEX: &str = "-shm";

/// A journal that belongs to a change of several files ends with these bytes, and the name of a file before them.
const NAMED: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// The name of a file that SQLite keeps beside the run file.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Refuses names beside which something lies already.
pub(crate) fn must_be_free(path: &Path) -> Result<(), StoreError> {
    match [LOG, JOURNAL, INDEX].map(|suffix| beside(path, suffix)).into_iter().find(|name| is_there(name)) {
        Some(name) => Err(StoreError::Exists(name)),
        None => Ok(()),
    }
}

/// Takes back a file that was just made and holds nothing yet: it would only be in the way of the next try.
pub(crate) fn remove_made(path: &Path) {
    for name in [path.to_path_buf(), beside(path, LOG), beside(path, INDEX), beside(path, JOURNAL)] {
        // Most of these do not exist, and an error here would hide the one that led here.
        let _ = fs::remove_file(name);
    }
}

/// Refuses what SQLite must not find beside a file that it may change.
pub(crate) fn must_be_ours(path: &Path) -> Result<(), StoreError> {
    for suffix in [LOG, INDEX, JOURNAL] {
        let found = open(path, suffix)?.map(|file| file.metadata()).transpose();
        if found.map_err(|error| StoreError::Unreachable(beside(path, suffix), error))?.is_some_and(|it| it.nlink() > 1)
        {
            return Err(StoreError::Strange(path.to_path_buf(), beside(path, suffix), "has a second name elsewhere"));
        }
    }
    Ok(())
}

/// Refuses what a reader would wait for: SQLite looks into a journal, and a pipe gives nothing.
pub(crate) fn must_be_files(at: &Path, path: &Path) -> Result<(), StoreError> {
    let at = fs::canonicalize(at).map_err(|source| StoreError::Unreachable(path.to_path_buf(), source))?;
    for name in [LOG, INDEX, JOURNAL].map(|suffix| beside(&at, suffix)) {
        // Links are not followed, and what cannot be looked at cannot be opened.
        let found = fs::symlink_metadata(&name).map(|found| found.file_type());
        if found.is_ok_and(|kind| !kind.is_file() && !kind.is_symlink() && !kind.is_dir()) {
            return Err(StoreError::Strange(path.to_path_buf(), name, "is no regular file"));
        }
    }
    Ok(())
}

/// Opens what lies beside the file, if anything does: a regular file, which does not name another.
pub(crate) fn open(path: &Path, suffix: &str) -> Result<Option<File>, StoreError> {
    let name = beside(path, suffix);
    let strange = |why| Err(StoreError::Strange(path.to_path_buf(), name.clone(), why));
    // Neither a link nor a pipe is followed or waited for.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut file = match File::options().read(true).custom_flags(flags.bits() as i32).open(&name) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(_) if name.is_symlink() => return strange("is a link"),
        Err(error) => return Err(StoreError::Unreachable(name, error)),
    };
    let found = file.metadata().map_err(|error| StoreError::Unreachable(name.clone(), error))?;
    if !found.is_file() {
        return strange("is no regular file");
    }
    if suffix == JOURNAL && is_named(&mut file).map_err(|error| StoreError::Unreachable(name.clone(), error))? {
        return strange("names another file, which would be deleted");
    }
    Ok(Some(file))
}

/// Whether a journal names another file.
fn is_named(journal: &mut File) -> Result<bool, std::io::Error> {
    let mut end = [0; NAMED.len()];
    if journal.metadata()?.len() < end.len() as u64 {
        return Ok(false);
    }
    journal.seek(SeekFrom::End(-(end.len() as i64)))?;
    journal.read_exact(&mut end)?;
    journal.rewind()?;
    Ok(end == NAMED)
}

/// Whether anything has this name, even a link to nothing.
fn is_there(name: &Path) -> bool {
    fs::symlink_metadata(name).is_ok()
}
