//! The file of a data set: whose it is, how it is made, copied and removed.
//!
//! The one idea: our number stands in the head of the file, in its first 100 bytes, and is written before anything else. So a file
//! can be recognised without opening it as a database, even when a fill without a journal was cut off.

use super::enter::{enter, head, regular};
use super::session::failure;
use crate::database::origin;
use crate::mark::{self, Found, Mark, State};
use crate::server::ASIDE;
use crate::{DataSet, DatabaseError};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::Engine;
use workload::transaction::Value;

/// What the head of our files says: "Prdb". A run file says something else, since it is no data set.
const OURS: u32 = 0x5072_6462;

/// Where the head of a file holds the number of the program that made it.
const NUMBER: std::ops::Range<usize> = 68..72;

/// Where the head of a file says what one must know to write and to read it: 2 is a write-ahead log.
const VERSIONS: std::ops::Range<usize> = 18..20;

/// Where a data set's file is.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    /// Whether Prony chose the path, and nobody has looked where it leads.
    chosen: bool,
    /// Ends the wait for other processes.
    stop: Arc<AtomicBool>,
}

/// What of a file's content is a table to whoever made it.
const TABLES: &str =
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite^_%' ESCAPE '^'";

impl Place {
    pub(super) fn at(path: PathBuf, stop: Arc<AtomicBool>) -> Place {
        Place { path, chosen: false, stop }
    }

    /// The same for a file in the cache folder, which is read and written only where nobody else can have put anything.
    pub(super) fn in_cache(path: PathBuf, stop: Arc<AtomicBool>) -> Place {
        Place { path, chosen: true, stop }
    }

    /// Refuses a file in a cache folder in which another user may plant files and links, and one that is a link.
    fn untouched(&self) -> Result<(), DatabaseError> {
        let folder = self.path.parent().filter(|folder| self.chosen && folder.exists());
        let Some(folder) = folder else { return Ok(()) };
        let failed = |path: &Path, error| DatabaseError::file("use", path, error);
        let refused = |path: &Path, why: &str| Err(failed(path, std::io::Error::other(why)));
        let data = folder.metadata().map_err(|error| failed(folder, error))?;
        // Where each user has a group of his own, its members are nobody else.
        let others = if data.gid() == rustix::process::getegid().as_raw() { 0o002 } else { 0o022 };
        if data.uid() != rustix::process::geteuid().as_raw() || data.mode() & others != 0 {
            let why = "other users may put files into this cache folder; name one of your own with PRONY_CACHE";
            return refused(folder, why);
        }
        match self.path.symlink_metadata() {
            Ok(data) if data.is_symlink() => refused(&self.path, "it is a link; name its file with --on sqlite:PATH"),
            _ => Ok(()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether Prony chose the path.
    pub(super) fn chosen(&self) -> bool {
        self.chosen
    }

    /// The same path with an ending added.
    pub(super) fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    /// The journal mode that the file itself asks for: its head tells a write-ahead log from a rollback journal, of which
    /// SQLite has `DELETE` when nobody says otherwise.
    pub(super) fn journal(&self) -> &'static str {
        let versions = head(&self.path).ok().and_then(|head| head.get(VERSIONS).map(<[u8]>::to_vec));
        if versions.is_some_and(|versions| versions == [2, 2]) { "WAL" } else { "DELETE" }
    }

    /// What is there. Changes nothing.
    pub(super) fn find(&self, shown: &str) -> Result<Found, DatabaseError> {
        self.untouched()?;
        let head = match head(&self.path) {
            Ok(head) => head,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(DatabaseError::file("read", &self.path, error)),
        };
        if head.is_empty() {
            return Ok(Found::Empty);
        }
        if !ours(&head) {
            return Ok(Found::NotOurs);
        }
        let failed = |failure| DatabaseError::statement(shown, "read the mark", failure);
        let connection = enter(&self.path, false, &self.stop).map_err(failed)?;
        match look(&connection) {
            Ok(Err(what)) => Err(DatabaseError::Planted { place: shown.to_owned(), name: self.name(), what }),
            // A fill without a journal that was cut off may leave pages that do not fit together.
            Ok(Ok(rows)) if rows.is_empty() => Ok(Found::CutOff),
            Ok(Ok(rows)) => Ok(Found::by_mark(&rows)),
            // One that has a write-ahead log was whole when its fill ended.
            Err(error) if unreadable(&error) && self.journal() == "WAL" => Err(self.damaged(shown, &error)),
            Err(error) if cut_off(&error) => Ok(Found::CutOff),
            // A table of that name with other columns, or with other things in them.
            Err(error) if matches!(error.sqlite_error_code(), None | Some(ErrorCode::Unknown)) => Ok(Found::NotOurs),
            Err(error) => Err(failed(failure(&error))),
        }
    }

    /// Refuses to remove or replace a file of the user's in which he has a table, beside those of this data set.
    fn no_foreign(&self, shown: &str, dataset: &DataSet) -> Result<(), DatabaseError> {
        if self.chosen {
            return Ok(());
        }
        let failed = |failure| DatabaseError::statement(shown, "look up tables", failure);
        let connection = enter(&self.path, false, &self.stop).map_err(failed)?;
        // What else is in a file that cannot be read, nobody knows.
        let tables = texts(&connection, TABLES).map_err(|error| match unreadable(&error) {
            true => self.damaged(shown, &error),
            false => failed(failure(&error)),
        })?;
        match mark::foreign(&tables, Engine::Sqlite, dataset) {
            Some(what) => Err(DatabaseError::Foreign { place: shown.to_owned(), name: self.name(), what }),
            None => Ok(()),
        }
    }

    /// Makes the file with the mark that a fill has begun.
    pub(super) fn make(&self, shown: &str, dataset: &DataSet) -> Result<(), DatabaseError> {
        if let Some(folder) = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| DatabaseError::file("make", folder, error))?;
        }
        self.untouched()?;
        let script = mark::script(Engine::Sqlite, mark::TABLE, dataset);
        let script = format!("BEGIN IMMEDIATE; PRAGMA application_id = {OURS}; {script}; COMMIT");
        self.script(shown, "make the file", &script)
    }

    /// Ends a fill: from here on the file has a journal again.
    pub(super) fn settle(&self, shown: &str) -> Result<(), DatabaseError> {
        let file = File::open(&self.path).and_then(|file| file.sync_all());
        file.map_err(|error| DatabaseError::file("write back", &self.path, error))?;
        self.script(shown, "turn the journal on", "PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL")
    }

    fn script(&self, shown: &str, action: &str, sql: &str) -> Result<(), DatabaseError> {
        let done = enter(&self.path, true, &self.stop)
            .and_then(|connection| connection.execute_batch(sql).map_err(|error| failure(&error)));
        done.map_err(|failure| DatabaseError::statement(shown, action, failure))
    }

    /// Removes the file and its copy, after another look at whose they are.
    pub(super) fn clear(&self, shown: &str, dataset: &DataSet) -> Result<(), DatabaseError> {
        match self.find(shown)? {
            Found::Nothing | Found::Empty => {}
            Found::NotOurs => return Err(self.not_ours(shown)),
            Found::OtherFormat(_) if self.chosen => {}
            Found::OtherFormat(format) => {
                return Err(DatabaseError::OtherFormat { place: shown.to_owned(), name: self.name(), format });
            }
            Found::CutOff => self.no_foreign(shown, dataset)?,
            Found::Ours(mark) => self.no_foreign(shown, &mark.dataset)?,
        }
        let kept = self.beside(".kept");
        if head(&kept).is_ok_and(|head| ours(&head)) {
            remove(&kept)?;
        }
        remove(&self.path)?;
        remove(&self.beside("-wal"))?;
        remove(&self.beside("-shm"))
    }

    fn damaged(&self, shown: &str, error: &rusqlite::Error) -> DatabaseError {
        DatabaseError::Damaged { place: shown.to_owned(), name: self.name(), text: error.to_string() }
    }

    fn not_ours(&self, shown: &str) -> DatabaseError {
        DatabaseError::NotOurs { place: shown.to_owned(), name: self.name() }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Keeps a copy. The journal has to be written back before.
    pub(super) fn keep_copy(&self) -> Result<(), DatabaseError> {
        copy(&self.path, &self.beside(".kept"))
    }

    /// Moves it out of the way. The journal has to be written back before.
    pub(super) fn put_aside(&self) -> Result<PathBuf, DatabaseError> {
        let aside = self.beside(&format!(".{ASIDE}"));
        std::fs::rename(&self.path, &aside).map_err(|error| DatabaseError::file("put aside", &self.path, error))?;
        remove(&self.beside("-wal"))?;
        remove(&self.beside("-shm"))?;
        Ok(aside)
    }

    /// Whether a copy of that data set, as its fill left it, is there.
    pub(super) fn has_copy(&self, shown: &str, dataset: &DataSet) -> bool {
        let wanted = Found::Ours(Mark { state: State::Ready, dataset: dataset.clone() });
        Place::at(self.beside(".kept"), self.stop.clone()).find(shown).is_ok_and(|found| found == wanted)
    }

    /// Brings the file back to the copy.
    pub(super) fn restore(&self, shown: &str, dataset: &DataSet) -> Result<(), DatabaseError> {
        if !self.has_copy(shown, dataset) {
            let reason = "no copy of it was kept after its fill".to_owned();
            return Err(DatabaseError::NoRestore { place: shown.to_owned(), reason });
        }
        if self.find(shown)? == Found::NotOurs {
            return Err(self.not_ours(shown));
        }
        self.no_foreign(shown, dataset)?;
        // A journal of the old file must never meet the new one.
        remove(&self.beside("-wal"))?;
        remove(&self.beside("-shm"))?;
        copy(&self.beside(".kept"), &self.path)
    }
}

/// The rows of the mark, or what is strange in the file.
fn look(connection: &Connection) -> rusqlite::Result<Result<Vec<Vec<Value>>, String>> {
    let strange = connection.query_row(&origin::query(Engine::Sqlite, ""), [], |row| row.get::<_, String>(0));
    Ok(match strange.optional()? {
        Some(what) => Err(what),
        None => Ok(texts(connection, &mark::query(mark::TABLE))?),
    })
}

/// The rows of a query that gives texts.
fn texts(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<Vec<Value>>> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| Ok(Value::Text(row.get(column)?))).collect();
    statement.query_map([], row)?.collect()
}

fn ours(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0") && head.get(NUMBER).is_some_and(|number| number == OURS.to_be_bytes())
}

fn unreadable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

fn cut_off(error: &rusqlite::Error) -> bool {
    unreadable(error) || (error.sqlite_error_code().is_some() && error.to_string().contains("no such table"))
}

/// Copies under another name first, so that there is never half a copy of that name.
fn copy(from: &Path, to: &Path) -> Result<(), DatabaseError> {
    let mut half = to.as_os_str().to_owned();
    half.push(".half");
    // What lies under that name may be a link: it is not written through.
    let _ = std::fs::remove_file(&half);
    let copied = regular(from).and_then(|mut source| {
        let mut made = File::create_new(&half)?;
        std::io::copy(&mut source, &mut made).and_then(|_| made.sync_all())
    });
    let moved = copied.and_then(|()| std::fs::rename(&half, to));
    moved.map_err(|error| {
        let _ = std::fs::remove_file(&half);
        DatabaseError::file("copy", from, error)
    })
}

fn remove(path: &Path) -> Result<(), DatabaseError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(DatabaseError::file("remove", path, error)),
        _ => Ok(()),
    }
}
