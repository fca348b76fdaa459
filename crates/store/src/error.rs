//! What can go wrong with a run file. Every error names the file, and says what can be done.

use std::path::{Path, PathBuf};

/// Why a run file could not be made, opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A new run file would have replaced something.
    #[error("`{}` exists already, and a run file never replaces another; give another name with -o", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file, or its folder, cannot be reached.
    #[error("cannot open `{}`", path.display())]
    Unreachable {
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("`{}` is not a run file of Prony", path.display())]
    NotARunFile {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a later Prony.
    #[error(
        "`{}` has schema version {found}, and this Prony reads versions up to {supported}; \
         open it with a Prony as new as the one that wrote it",
        path.display()
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: i64,
        /// The newest version that can be read.
        supported: i64,
    },
    /// The file was written by a Prony before the first release of this form.
    #[error(
        "`{}` has schema version {found}, and this Prony reads versions from {supported} on; \
         open it with the Prony that wrote it",
        path.display()
    )]
    TooOld {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: i64,
        /// The oldest version that can be read.
        supported: i64,
    },
    /// What is in the file contradicts itself.
    #[error(
        "`{}` is damaged: {what}; what `sqlite3 FILE .recover` still finds can be read by hand",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Another process works on the file.
    #[error("`{}` is in use by another process; wait until its run has ended", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// There is no space left. Everything that was acknowledged before is in the file.
    #[error(
        "no space left for `{}` while {action}; every interval that was finished before is kept; \
         make room, then go on with --resume",
        path.display()
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
    },
    /// The run ended; there is nothing to go on with.
    #[error("the run in `{}` has finished, and there is nothing to resume", path.display())]
    Finished {
        /// The file.
        path: PathBuf,
    },
    /// The file was opened for reading.
    #[error("`{}` was opened for reading and cannot be written", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// No such trial.
    #[error("`{}` has no trial {index}", path.display())]
    NoTrial {
        /// The file.
        path: PathBuf,
        /// The trial that was asked for.
        index: u32,
    },
    /// A trial is begun that has ended already, or ended without having begun.
    #[error("trial {index} of `{}` {state}", path.display())]
    WrongState {
        /// The file.
        path: PathBuf,
        /// The trial.
        index: u32,
        /// What is the matter, as the rest of a sentence.
        state: &'static str,
    },
    /// Anything else that the database reports.
    #[error("{action} failed for `{}`", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// Its answer.
        source: rusqlite::Error,
    },
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
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::InUse { path },
        Some(ErrorCode::DiskFull) => StoreError::Full { path, action },
        Some(ErrorCode::NotADatabase) => StoreError::NotARunFile { path },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, what: source.to_string() },
        Some(_) => StoreError::Database { path, action, source },
        // No code of the database: a value in a row has another type or range than the schema promises.
        None => StoreError::Damaged { path, what: source.to_string() },
    }
}
