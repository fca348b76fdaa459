//! Making, opening and closing a run file, and who may hold it.

use crate::StoreError;
use crate::error::During;
use crate::pages::Pages;
use crate::{Reserve, bounds, checksum, facts, recover, reserve, schema, trial};
use observation::RunFacts;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use system::beside::{self, remove_made};

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
    /// Whether another process still writes the run: this is how it stood when it was opened.
    pub(crate) running: bool,
    /// Closed after the connection: closing any handle of a file lets go of all locks that the process holds on it.
    _kept: Option<fs::File>,
}

/// Which pages of a file are looked at before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum All {
    Tables,
    ButRecords,
}

/// The tables that grow with a run, and are the most of its file.
const RECORDS: [&str; 4] = ["cell", "reading", "ledger_page", "reserve"];

impl RunFile {
    /// Makes a new run file with space for its observations.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when there is a file of this name, [`StoreError::Full`] when the reserve does not fit; then
    /// no file is left behind.
    pub fn create(path: &Path, facts: &RunFacts, reserve: impl Into<Reserve>) -> Result<RunFile, StoreError> {
        let reserve = reserve.into();
        make(path, || RunFile::fill_new(path, facts, reserve))
    }

    fn fill_new(path: &Path, facts: &RunFacts, reserve: Reserve) -> Result<RunFile, StoreError> {
        let connection = connect(path, Access::Write, path)?;
        // Before the first table: pages can then be given back without copying the file.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").during("making the file", path)?;
        become_writer(&connection, path)?;
        // All at once: a file that its maker left half-made is no run file, rather than a strange one.
        let transaction = connection.unchecked_transaction().during("making the file", path)?;
        schema::make(&transaction, path)?;
        facts::write(&transaction, facts).during("writing the facts of the run", path)?;
        transaction.commit().during("making the file", path)?;
        reserve::take(&connection, reserve, path)?;
        Ok(RunFile::of(connection, path, true, None))
    }

    fn of(connection: Connection, path: &Path, writable: bool, kept: Option<fs::File>) -> RunFile {
        RunFile { connection, path: path.to_path_buf(), writable, open: None, running: false, _kept: kept }
    }

    /// Opens an unfinished run to go on with it, and reserves space for the rest.
    ///
    /// # Errors
    /// [`StoreError::Finished`] when there is nothing to go on with, [`StoreError::InUse`] when its process still lives.
    pub fn resume(path: &Path, reserve: impl Into<Reserve>) -> Result<RunFile, StoreError> {
        let file = RunFile::open_for_notes(path)?;
        if file.facts()?.finished {
            return Err(StoreError::Finished(path.to_path_buf()));
        }
        trial::interrupt_all(&file.connection).during("marking interrupted trials", path)?;
        reserve::take(&file.connection, reserve.into(), path)?;
        Ok(file)
    }

    /// Opens a run file for reading. A log that a killed run left beside it is read as well, from a copy of both.
    ///
    /// # Errors
    /// When the file is missing, damaged, no run file, or of a version that this Prony does not know. One that a run still writes
    /// is read as it stands.
    pub fn open(path: &Path) -> Result<RunFile, StoreError> {
        match RunFile::reader(path, path, Access::Read, All::Tables) {
            // Something lies beside it that counts, and a reader changes nothing.
            Err(StoreError::ReadOnly(_) | StoreError::Database(..)) => {
                // The folder may go at the end of this: the file in it is open.
                let (_folder, copy) = recover::copy(path)?;
                RunFile::reader(&copy, path, Access::Fixed, All::Tables)
            }
            Err(StoreError::InUse(_)) => {
                let (_folder, copy) = recover::copy_of_running(path)?;
                let mut run = RunFile::reader(&copy, path, Access::Fixed, All::Tables)?;
                run.running = true;
                Ok(run)
            }
            opened => opened,
        }
    }

    /// Opens a run file for a look at its facts and trials, and not at what these recorded. Of a run that was not closed this
    /// sees what was there when its last trial ended.
    ///
    /// # Errors
    /// As [`RunFile::open`].
    pub fn glance(path: &Path) -> Result<RunFile, StoreError> {
        match RunFile::reader(path, path, Access::Read, All::ButRecords) {
            Err(StoreError::ReadOnly(_) | StoreError::Database(..)) => {
                // A run that was cut off while its log was folded in is not whole without it.
                RunFile::reader(path, path, Access::Fixed, All::ButRecords).or_else(|_| RunFile::open(path))
            }
            Err(StoreError::InUse(_)) => RunFile::open(path),
            opened => opened,
        }
    }

    fn reader(at: &Path, path: &Path, access: Access, all: All) -> Result<RunFile, StoreError> {
        must_hold_something(at)?;
        if access == Access::Read {
            let at = fs::canonicalize(at).map_err(|source| StoreError::Unreachable(path.to_path_buf(), source))?;
            beside::must_be_files(&at).map_err(|planted| StoreError::planted(path, planted))?;
        }
        let connection = connect(at, access, path)?;
        schema::check_marks(&connection, path)?;
        let kept = check(&connection, at, path, all)?;
        Ok(RunFile::of(connection, path, false, Some(kept)))
    }

    /// Opens a run file, finished or not, to change its tags or note.
    ///
    /// # Errors
    /// As [`RunFile::open`].
    pub fn open_for_notes(path: &Path) -> Result<RunFile, StoreError> {
        must_hold_something(path)?;
        let at = fs::canonicalize(path).map_err(|source| StoreError::Unreachable(path.to_path_buf(), source))?;
        recover::settle(&at, path)?;
        let connection = connect(&at, Access::Write, path)?;
        schema::check_marks(&connection, path)?;
        let kept = check(&connection, &at, path, All::Tables)?;
        become_writer(&connection, path)?;
        Ok(RunFile::of(connection, path, true, Some(kept)))
    }

    /// Gives back what a run that was cut off had reserved, and tells how many bytes those were; none of a file that was closed, or
    /// whose run goes on. What the run acknowledged stays, and it can be gone on with.
    ///
    /// # Errors
    /// When the file is damaged or no run file, or the device fails.
    pub fn give_back(path: &Path) -> Result<Option<u64>, StoreError> {
        let Some(before) = unclosed(path) else { return Ok(None) };
        match RunFile::open_for_notes(path) {
            Err(StoreError::InUse(_)) => return Ok(None),
            file => file?.close()?,
        }
        Ok(Some(before.saturating_sub(fs::metadata(path).map_or(0, |file| file.len()))))
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
        let facts = facts::read(&self.connection).during("reading the facts of the run", &self.path)?;
        Ok(RunFacts { running: self.running, ..facts })
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
            checksum::close(&self.connection).during("writing checksums", &self.path)?;
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

/// Bytes of a file and of the log that lies beside it, as one does that nobody closed; none where there is no log.
pub fn unclosed(path: &Path) -> Option<u64> {
    let log = fs::symlink_metadata(beside::beside(path, beside::LOG)).ok().filter(|log| log.is_file())?;
    Some(fs::metadata(path).ok()?.len().saturating_add(log.len()))
}

/// Looks at the pages of a file and at its tables.
fn check(connection: &Connection, at: &Path, path: &Path, all: All) -> Result<fs::File, StoreError> {
    let mut pages = Pages::of(at)?;
    // Not even the list of tables is read before its pages were looked at.
    pages.walk(1, path)?;
    for (table, root) in schema::check_tables(connection, path)? {
        if all == All::Tables || !RECORDS.contains(&table.as_str()) {
            pages.walk(root, path)?;
        }
    }
    bounds::check(connection, path, pages.bytes(), all == All::Tables)?;
    let but: &[&str] = if all == All::Tables { &[] } else { &RECORDS };
    checksum::check(connection, path, but, pages.closed())?;
    Ok(pages.into_file())
}

/// Makes a file of a name that nothing has yet, and leaves none behind when that fails.
pub(crate) fn make<T>(path: &Path, fill: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    make_empty(path)?;
    fill().map_err(|error| {
        remove_made(path);
        error.unmade()
    })
}

fn make_empty(path: &Path) -> Result<(), StoreError> {
    if let Some(name) = beside::taken(path) {
        return Err(StoreError::Exists(name));
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(StoreError::Exists(path.to_path_buf())),
        Err(source) => Err(StoreError::Unreachable(path.to_path_buf(), source)),
    }
}

/// Refuses what is no file, or nothing: SQLite waits for a pipe, and deletes the log beside an empty file. One of a single byte
/// is as empty to SQLite, which writes such a byte itself where a file system cannot lock an empty file.
fn must_hold_something(path: &Path) -> Result<(), StoreError> {
    let found = fs::metadata(path).map_err(|source| StoreError::Unreachable(path.to_path_buf(), source))?;
    if found.is_file() && found.len() > 1 { Ok(()) } else { Err(StoreError::NotARunFile(path.to_path_buf())) }
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// To change it, alone.
    Write,
    /// To read it while nobody writes it. What lies beside it is neither followed nor changed: where it would count, this fails.
    Read,
    /// To read a file that nobody changes, whatever lies beside it.
    Fixed,
}

/// Opens the database `at` a place with everything shut that a run file does not need; errors call it `path`.
pub(crate) fn connect(at: &Path, access: Access, path: &Path) -> Result<Connection, StoreError> {
    const ACTION: &str = "opening the file";
    let at = fs::canonicalize(at).map_err(|source| StoreError::Unreachable(path.to_path_buf(), source))?;
    let (at, flags) = match access {
        Access::Write => (at, OpenFlags::SQLITE_OPEN_READ_WRITE),
        Access::Read => (at, OpenFlags::SQLITE_OPEN_READ_ONLY),
        Access::Fixed => (as_fixed(&at), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI),
    };
    let connection = Connection::open_with_flags(at, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).during(ACTION, path)?;
    // The file may come from anybody: no code in it runs, and no value in it is larger than ours can be.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).during(ACTION, path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).during(ACTION, path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).during(ACTION, path)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX).during(ACTION, path)?;
    connection.pragma_update(None, "cell_size_check", true).during(ACTION, path)?;
    // Another look at the file takes milliseconds; a run takes hours, and waiting for its end would look like a hang.
    connection.busy_timeout(std::time::Duration::from_millis(200)).during(ACTION, path)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE").during(ACTION, path)?;
    Ok(connection)
}

/// The file as a URI that says that nobody changes it.
fn as_fixed(at: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in at.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    PathBuf::from(uri + "?immutable=1")
}

/// Takes the file alone and moves it to a log that is folded in only when told.
fn become_writer(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    const ACTION: &str = "preparing the file for a run";
    // It is open alone, so that the index of the log lives in memory and not in a third file on the disk.
    connection.pragma_update(None, "journal_mode", "WAL").during(ACTION, path)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0).during(ACTION, path)?;
    connection.pragma_update(None, "synchronous", "OFF").during(ACTION, path)?;
    // Statements that sort or vacuum must not need a second file either.
    connection.pragma_update(None, "temp_store", "MEMORY").during(ACTION, path)?;
    // In exclusive mode the lock is taken by the first write and kept.
    connection.execute_batch("BEGIN IMMEDIATE; COMMIT;").during(ACTION, path)?;
    checksum::reopen(connection).during(ACTION, path)
}
