//! Making, opening and closing a run file, and who may hold it.

use crate::StoreError;
use crate::error::During;
use crate::{facts, reserve, schema, trial};
use observation::RunFacts;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Nothing in a run file comes near this; a larger value in a file that was tampered with is refused.
const VALUE_BYTES_MAX: i32 = 64 << 20;

/// A run file, open for one of two things: to write a run into it, or to read it.
///
/// A writer holds the file alone; the kernel lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct RunFile {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) writable: bool,
    /// The trial that is being written.
    pub(crate) open: Option<trial::OpenTrial>,
}

impl RunFile {
    /// Makes a new run file with space for `reserve_bytes` of observations ([`crate::estimate_bytes`]).
    ///
    /// # Errors
    /// [`StoreError::Exists`] when there is a file of this name, [`StoreError::Full`] when the reserve does not fit; then
    /// no file is left behind.
    pub fn create(path: &Path, facts: &RunFacts, reserve_bytes: u64) -> Result<RunFile, StoreError> {
        make_empty(path)?;
        let made = RunFile::fill_new(path, facts, reserve_bytes);
        if made.is_err() {
            remove_made(path);
        }
        made
    }

    fn fill_new(path: &Path, facts: &RunFacts, reserve_bytes: u64) -> Result<RunFile, StoreError> {
        let connection = connect(path, true)?;
        // Both must be set before the first table; pages can then be given back without copying the file.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").during("making the file", path)?;
        become_writer(&connection, path)?;
        // All at once: a file that its maker left half-made is no run file, rather than a strange one.
        let transaction = connection.unchecked_transaction().during("making the file", path)?;
        schema::make(&transaction, path)?;
        facts::write(&transaction, facts).during("writing the facts of the run", path)?;
        transaction.commit().during("making the file", path)?;
        reserve::take(&connection, reserve_bytes, path)?;
        Ok(RunFile { connection, path: path.to_path_buf(), writable: true, open: None })
    }

    /// Opens an unfinished run to go on with it, and reserves space for the rest.
    ///
    /// # Errors
    /// [`StoreError::Finished`] when there is nothing to go on with, [`StoreError::InUse`] when its process still lives.
    pub fn resume(path: &Path, reserve_bytes: u64) -> Result<RunFile, StoreError> {
        let file = RunFile::open_for_notes(path)?;
        if file.facts()?.finished {
            return Err(StoreError::Finished(path.to_path_buf()));
        }
        trial::interrupt_all(&file.connection).during("marking interrupted trials", path)?;
        reserve::take(&file.connection, reserve_bytes, path)?;
        Ok(file)
    }

    /// Opens a run file for reading. A log that a killed run left beside it is read as well.
    ///
    /// # Errors
    /// When the file is missing, in use, damaged, no run file, or of a version that this Prony does not know.
    pub fn open(path: &Path) -> Result<RunFile, StoreError> {
        // What a run did not close must be recovered first, and only somebody who may write can do that.
        let connection = connect(path, is_unclosed(path)?)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").during("opening the file", path)?;
        schema::check(&connection, path)?;
        Ok(RunFile { connection, path: path.to_path_buf(), writable: false, open: None })
    }

    /// Opens a run file, finished or not, to change its tags or note.
    ///
    /// # Errors
    /// As [`RunFile::open`].
    pub fn open_for_notes(path: &Path) -> Result<RunFile, StoreError> {
        must_exist(path)?;
        let connection = connect(path, true)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").during("opening the file", path)?;
        schema::check(&connection, path)?;
        become_writer(&connection, path)?;
        Ok(RunFile { connection, path: path.to_path_buf(), writable: true, open: None })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The facts of the run.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn facts(&self) -> Result<RunFacts, StoreError> {
        facts::read(&self.connection).during("reading the facts of the run", &self.path)
    }

    /// Replaces the facts of the run: its systems and ceiling are known only after the first trial is prepared.
    ///
    /// # Errors
    /// When the file was opened for reading, or is full.
    pub fn set_facts(&mut self, facts: &RunFacts) -> Result<(), StoreError> {
        self.change("writing the facts of the run", |connection| facts::write(connection, facts))
    }

    /// Replaces the tags.
    ///
    /// # Errors
    /// When the file was opened for reading, or is full.
    pub fn set_tags(&mut self, tags: &[String]) -> Result<(), StoreError> {
        self.change("writing the tags", |connection| facts::write_words(connection, "tag", tags))
    }

    /// Replaces the note.
    ///
    /// # Errors
    /// When the file was opened for reading, or is full.
    pub fn set_note(&mut self, note: &str) -> Result<(), StoreError> {
        self.change("writing the note", |connection| connection.execute("UPDATE run SET note = ?1", [note]).map(|_| ()))
    }

    /// Says that every planned trial has ended.
    ///
    /// # Errors
    /// When the file was opened for reading, or is full.
    pub fn set_finished(&mut self) -> Result<(), StoreError> {
        self.change("marking the run as finished", |connection| {
            connection.execute("UPDATE run SET finished = 1", ()).map(|_| ())
        })
    }

    /// Ends the work on the file, whether or not the run has finished: gives unused space back, and leaves one file.
    ///
    /// # Errors
    /// When the device fails; what was acknowledged is then still in the file and its log.
    pub fn close(self) -> Result<(), StoreError> {
        if self.writable {
            trial::interrupt_all(&self.connection).during("marking interrupted trials", &self.path)?;
            reserve::release(&self.connection, &self.path)?;
        }
        self.connection.close().map_err(|(_, error)| error).during("closing the file", &self.path)
    }

    /// Runs `work` in one transaction: all of it is in the file when this returns, or none.
    pub(crate) fn change<T>(
        &mut self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, StoreError> {
        if !self.writable {
            return Err(StoreError::ReadOnly(self.path.clone()));
        }
        let transaction = self.connection.transaction().during(action, &self.path)?;
        let value = work(&transaction).during(action, &self.path)?;
        transaction.commit().during(action, &self.path)?;
        Ok(value)
    }
}

/// Takes back a file that was just made and holds nothing yet: it would only be in the way of the next try.
pub(crate) fn remove_made(path: &Path) {
    for name in [path.to_path_buf(), beside(path, "-wal"), beside(path, "-shm"), beside(path, "-journal")] {
        // Most of these do not exist, and an error here would hide the one that led here.
        let _ = fs::remove_file(name);
    }
}

/// Makes an empty file of a name that nothing has yet.
pub(crate) fn make_empty(path: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(StoreError::Exists(path.to_path_buf())),
        Err(source) => Err(StoreError::Unreachable(path.to_path_buf(), source)),
    }
}

fn must_exist(path: &Path) -> Result<(), StoreError> {
    fs::File::open(path).map(|_| ()).map_err(|source| StoreError::Unreachable(path.to_path_buf(), source))
}

/// Whether the file is in the form with a log (byte 18 of the header is then 2), or was left while it was made.
fn is_unclosed(path: &Path) -> Result<bool, StoreError> {
    let mut header = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(20).read_to_end(&mut header))
        .map_err(|source| StoreError::Unreachable(path.to_path_buf(), source))?;
    Ok(header.get(18) == Some(&2) || beside(path, "-journal").exists())
}

/// The name of a file that SQLite keeps beside the run file.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Opens the database with everything shut that a run file does not need.
pub(crate) fn connect(path: &Path, write: bool) -> Result<Connection, StoreError> {
    const ACTION: &str = "opening the file";
    let access = if write { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let connection =
        Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX).during(ACTION, path)?;
    // The file may come from anybody: no code in it runs, and no value in it is larger than ours can be.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).during(ACTION, path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).during(ACTION, path)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX).during(ACTION, path)?;
    connection.pragma_update(None, "cell_size_check", true).during(ACTION, path)?;
    // Another look at the file takes milliseconds; a run takes hours, and waiting for its end would look like a hang.
    connection.busy_timeout(std::time::Duration::from_millis(200)).during(ACTION, path)?;
    Ok(connection)
}

/// Takes the file alone and moves it to a log that is folded in only when told.
fn become_writer(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    const ACTION: &str = "preparing the file for a run";
    // Exclusive before the log is first touched: its index then lives in memory, not in a third file on the disk.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE").during(ACTION, path)?;
    connection.pragma_update(None, "journal_mode", "WAL").during(ACTION, path)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0).during(ACTION, path)?;
    connection.pragma_update(None, "synchronous", "OFF").during(ACTION, path)?;
    // Statements that sort or vacuum must not need a second file either.
    connection.pragma_update(None, "temp_store", "MEMORY").during(ACTION, path)?;
    // In exclusive mode the lock is taken by the first write and kept.
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT;").during(ACTION, path)
}
