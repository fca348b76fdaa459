//! The files that SQLite keeps beside a file of its own, be it a run or a data set: a log, its index, and a journal.
//!
//! The one idea: SQLite finds them by name and trusts them. It writes into them, deletes them, and deletes whatever other file
//! a journal names. So nobody may plant them: a new run file begins with none, and one that is written again has only regular
//! files there, and a journal that names no other file.
//!
//! What it does not do: it cannot hold off somebody who changes the folder between this look and SQLite's.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The log of a run that is being written.
pub const LOG: &str = "-wal";

/// The journal of a change in place.
pub const JOURNAL: &str = "-journal";

const INDEX: &str = "-shm";

/// What SQLite must not find.
#[derive(Debug)]
pub enum Planted {
    /// The name of what cannot be looked at, with the kernel's answer.
    Unreachable(PathBuf, std::io::Error),
    /// The name of what is there, and the rest of a sentence about it.
    Strange(PathBuf, &'static str),
}

/// A journal that belongs to a change of several files ends with these bytes, and the name of a file before them.
const NAMED: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// The name of a file that SQLite keeps beside another.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// What lies beside a name already, be it a link to nothing.
pub fn taken(path: &Path) -> Option<PathBuf> {
    [LOG, JOURNAL, INDEX].map(|suffix| beside(path, suffix)).into_iter().find(|name| fs::symlink_metadata(name).is_ok())
}

/// Takes back a file that was just made and holds nothing yet: it would only be in the way of the next try.
pub fn remove_made(path: &Path) {
    for name in [path.to_path_buf(), beside(path, LOG), beside(path, INDEX), beside(path, JOURNAL)] {
        // Most of these do not exist, and an error here would hide the one that led here.
        let _ = fs::remove_file(name);
    }
}

/// Refuses what SQLite must not find beside a file that it may change.
///
/// # Errors
/// The first that is no regular file, has a second name, or names another file.
pub fn must_be_ours(path: &Path) -> Result<(), Planted> {
    for suffix in [LOG, INDEX, JOURNAL] {
        let name = beside(path, suffix);
        // They are not opened for that: closing one lets go of the locks that this process may hold on it.
        match fs::symlink_metadata(&name) {
            Ok(found) if found.is_symlink() => return Err(Planted::Strange(name, "is a link")),
            Ok(found) if !found.is_file() => return Err(Planted::Strange(name, "is no regular file")),
            Ok(found) if found.nlink() > 1 => return Err(Planted::Strange(name, "has a second name elsewhere")),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(Planted::Unreachable(name, error)),
            _ => {}
        }
    }
    // No process has a lock on a journal.
    open(path, JOURNAL).map(drop)
}

/// Refuses what a reader would wait for: SQLite looks into a journal, and a pipe gives nothing. `at` follows no link.
///
/// # Errors
/// The first that is no file.
pub fn must_be_files(at: &Path) -> Result<(), Planted> {
    for name in [LOG, INDEX, JOURNAL].map(|suffix| beside(at, suffix)) {
        // Links are not followed, and what cannot be looked at cannot be opened.
        let found = fs::symlink_metadata(&name).map(|found| found.file_type());
        if found.is_ok_and(|kind| !kind.is_file() && !kind.is_symlink() && !kind.is_dir()) {
            return Err(Planted::Strange(name, "is no regular file"));
        }
    }
    Ok(())
}

/// Opens what lies beside the file, if anything does: a regular file, which does not name another.
///
/// # Errors
/// When it is anything else, or cannot be opened.
pub fn open(path: &Path, suffix: &str) -> Result<Option<File>, Planted> {
    let name = beside(path, suffix);
    // Neither a link nor a pipe is followed or waited for.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut file = match File::options().read(true).custom_flags(flags.bits() as i32).open(&name) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(_) if name.is_symlink() => return Err(Planted::Strange(name, "is a link")),
        Err(error) => return Err(Planted::Unreachable(name, error)),
    };
    let looked = file.metadata().and_then(|found| Ok((found.is_file(), suffix == JOURNAL && is_named(&mut file)?)));
    match looked {
        Ok((false, _)) => Err(Planted::Strange(name, "is no regular file")),
        Ok((_, true)) => Err(Planted::Strange(name, "names another file, which would be deleted")),
        Ok(_) => Ok(Some(file)),
        Err(error) => Err(Planted::Unreachable(name, error)),
    }
}

/// Whether a journal names another file.
fn is_named(journal: &mut File) -> Result<bool, std::io::Error> {
    let mut end = [0; NAMED.len()];
    let found = journal.metadata()?;
    if !found.is_file() || found.len() < end.len() as u64 {
        return Ok(false);
    }
    journal.seek(SeekFrom::End(-(end.len() as i64)))?;
    match journal.read_exact(&mut end) {
        // Whoever works with the file has just ended a change.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(false),
        read => read?,
    }
    journal.rewind()?;
    Ok(end == NAMED)
}
