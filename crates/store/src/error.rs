//! What can go wrong with a run file. Every error names the file, and says what can be done.

use crate::VERSION;
use std::path::{Path, PathBuf};
use system::beside::Planted;

/// Why a run file could not be made, opened, written or read; the first that each of these holds is the path of the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A new run file would have replaced something.
    #[error("`{path}` exists already, and a run file never replaces another; give another name with -o", path = .0.display())]
    Exists(PathBuf),
    /// The file, or its folder, cannot be reached; with the kernel's answer.
    #[error("cannot open `{path}`", path = .0.display())]
    Unreachable(PathBuf, #[source] std::io::Error),
    /// The file is something else.
    #[error("`{path}` is not a run file of Prony", path = .0.display())]
    NotARunFile(PathBuf),
    /// The file was written by a later Prony, in this version.
    #[error(
        "`{path}` has schema version {1}, and this Prony reads versions up to {VERSION}; \
         open it with a Prony as new as the one that wrote it",
        path = .0.display()
    )]
    TooNew(PathBuf, i64),
    /// The file was written by a Prony before the first release of this form, in this version.
    #[error(
        "`{path}` has schema version {1}, and this Prony reads versions from 1 on; open it with the Prony that wrote it",
        path = .0.display()
    )]
    TooOld(PathBuf, i64),
    /// What is in the file contradicts itself; with what was found.
    #[error(
        "`{path}` is damaged: {1}; what `sqlite3 FILE .recover` still finds can be read by hand",
        path = .0.display()
    )]
    Damaged(PathBuf, String),
    /// Another process works on the file.
    #[error("`{path}` is in use by another process; wait until its run has ended", path = .0.display())]
    InUse(PathBuf),
    /// Something lies beside the file that SQLite must not find there: its name, and the rest of a sentence about it.
    #[error(
        "`{name}` lies beside `{path}` and {2}; Prony never leaves such a file, so move it away first",
        path = .0.display(),
        name = .1.display()
    )]
    Strange(PathBuf, PathBuf, &'static str),
    /// A run that was not closed is read from a copy, and this folder did not take it.
    #[error(
        "`{path}` was not closed and is read from a copy, which cannot be made in `{place}`; make room there, or name \
         another folder in TMPDIR",
        path = .0.display(),
        place = .1.display()
    )]
    NoCopy(PathBuf, PathBuf, #[source] std::io::Error),
    /// There is no space left for what was being done; with what is left, and what to do next.
    #[error("no space left for `{path}` while {1}; {2}", path = .0.display())]
    Full(PathBuf, &'static str, &'static str),
    /// The file may not grow as far as what was being done needs: the limit that the process has for files, in bytes.
    #[error(
        "`{path}` may not grow beyond {limit} while {1}: that is the limit on the size of a file (`ulimit -f`); raise it, or plan a \
         shorter run",
        path = .0.display(),
        limit = units::bytes(units::Bytes(*.2))
    )]
    Limited(PathBuf, &'static str, u64),
    /// The run ended; there is nothing to go on with.
    #[error("the run in `{path}` has finished, and there is nothing to resume", path = .0.display())]
    Finished(PathBuf),
    /// The file was opened for reading.
    #[error("`{path}` was opened for reading and cannot be written", path = .0.display())]
    ReadOnly(PathBuf),
    /// No trial of this index.
    #[error("`{path}` has no trial {1}", path = .0.display())]
    NoTrial(PathBuf, u32),
    /// A trial of this index is begun that has ended already, or ended without having begun: the rest of a sentence.
    #[error("trial {1} of `{path}` {2}", path = .0.display())]
    WrongState(PathBuf, u32, &'static str),
    /// Anything else that the database answers to what was being done.
    #[error("{1} failed for `{path}`", path = .0.display())]
    Database(PathBuf, &'static str, #[source] rusqlite::Error),
}

/// Everything that was acknowledged is in the file.
pub(crate) const KEPT: &str = "every interval that was finished before is kept; make room, then go on with --resume";

impl StoreError {
    /// What lies beside a run file and must not.
    pub(crate) fn planted(path: &Path, planted: Planted) -> StoreError {
        match planted {
            Planted::Unreachable(name, error) => StoreError::Unreachable(name, error),
            Planted::Strange(name, why) => StoreError::Strange(path.to_path_buf(), name, why),
        }
    }

    /// The same of a file that was about to be made.
    pub(crate) fn unmade(self) -> StoreError {
        match self {
            StoreError::Full(path, action, _) => {
                StoreError::Full(path, action, "no file is left behind; make room, or name another place")
            }
            other => other,
        }
    }
}

/// Gives a database error the name of the file and of what was being done.
pub(crate) trait During<T> {
    fn during(self, action: &'static str, path: &Path) -> Result<T, StoreError>;
}

impl<T> During<T> for Result<T, rusqlite::Error> {
    fn during(self, action: &'static str, path: &Path) -> Result<T, StoreError> {
        self.map_err(|source| classify(source, action, path))
    }
}

fn classify(source: rusqlite::Error, action: &'static str, path: &Path) -> StoreError {
    use rusqlite::ErrorCode;
    let path = path.to_path_buf();
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::InUse(path),
        Some(ErrorCode::DiskFull) => StoreError::Full(path, action, KEPT),
        Some(ErrorCode::SystemIoFailure) if refused_write(&source) => match file_limit() {
            Some(limit) => StoreError::Limited(path, action, limit),
            None => StoreError::Database(path, action, source),
        },
        Some(ErrorCode::NotADatabase) => StoreError::NotARunFile(path),
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly(path),
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(path, source.to_string()),
        Some(_) => StoreError::Database(path, action, source),
        // No code of the database: a value in a row has another type or range than the schema promises.
        None => StoreError::Damaged(path, source.to_string()),
    }
}

fn refused_write(source: &rusqlite::Error) -> bool {
    source.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_WRITE)
}

/// How large a file of this process may be, where that is limited.
fn file_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}
