//! A database, whichever it is.
//!
//! The one idea: every engine is one implementation of [`Database`]. Sessions are opened through it; the data set's place is
//! looked up, made, copied and dropped through it.

pub(crate) mod origin;
pub(crate) mod place;

use crate::DataSet;
use crate::Wire;
use crate::claim::Claim;
use crate::mark::Found;
use crate::server::{Mirror, Private};
use crate::{DatabaseError, Profiling, Session, StatementCost, Texts};
use observation::Counted;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{DatabaseSpec, Engine, Sessions};

/// What a database is opened with, beside its spec.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Where Prony keeps data sets and private servers.
    pub cache_dir: PathBuf,
    /// The data set that sessions find themselves in; without one they are where the address leads.
    pub dataset: Option<DataSet>,
    /// Settings of the server or of SQLite, by their own names.
    pub settings: Vec<(String, String)>,
    /// Whether costs of statements are counted.
    pub profiling: Profiling,
    /// Ends every wait when it becomes true.
    pub stop: Arc<AtomicBool>,
}

/// A conversation that somebody else moves the bytes of.
pub type Conversation = (OwnedFd, Box<dyn Wire>);

/// Servers, each as it was opened, or why it was not.
pub type Servers = Vec<Result<Box<dyn Database>, DatabaseError>>;

/// What could change a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Which engine.
    pub engine: Engine,
    /// Its version.
    pub version: String,
    /// Where it is, without a password.
    pub place: String,
    /// Settings that matter, by name.
    pub settings: Vec<(String, String)>,
}

impl Facts {
    /// The settings with which an acknowledged commit may be lost, each with what loses it.
    pub fn volatile(&self) -> Vec<String> {
        let value = |name: &str| self.settings.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value);
        // What the binary log lacks is rolled back by a recovery.
        let unlogged = value("log_bin") == "ON" && !matches!(value("sync_binlog"), "" | "1");
        let checkpointed = value("synchronous") == "NORMAL" && value("journal_mode").starts_with("WAL");
        let lossy = value("innodb_flush_log_at_trx_commit");
        let all = [
            ("fsync", value("fsync") == "off", "a power cut may lose the whole database"),
            ("synchronous_commit", value("synchronous_commit") == "off", "a crash may lose acknowledged commits"),
            ("innodb_flush_log_at_trx_commit", lossy == "0", "a crash may lose acknowledged commits"),
            ("innodb_flush_log_at_trx_commit", lossy == "2", "a power cut may lose acknowledged commits"),
            ("sync_binlog", unlogged, "a power cut may lose acknowledged commits"),
            ("synchronous", value("synchronous") == "OFF", "a power cut may damage the file"),
            ("synchronous", checkpointed, "a power cut may lose acknowledged commits"),
        ];
        let told = all.into_iter().filter(|(_, volatile, _)| *volatile);
        told.map(|(name, _, what)| format!("{name}={}: {what}", value(name))).collect()
    }
}

/// A database. It is shared by all who open sessions on it.
pub trait Database: Send + Sync {
    /// Which engine.
    fn engine(&self) -> Engine;

    /// A session in the data set, or where the address leads when there is none. Its statements are made known (and
    /// prepared, when the protocol says so).
    ///
    /// # Errors
    /// When it cannot be opened, or a statement is refused.
    fn session(&self, texts: &Texts, sessions: &Sessions) -> Result<Box<dyn Session>, DatabaseError>;

    /// The same session as a conversation without I/O, with its socket, for one who serves many of them by one thread. None
    /// where the engine or a secured connection has no such.
    ///
    /// # Errors
    /// As [`Database::session`].
    fn conversation(&self, texts: &Texts, sessions: &Sessions) -> Result<Option<Conversation>, DatabaseError> {
        let _ = (texts, sessions);
        Ok(None)
    }

    /// What could change a number.
    fn facts(&self) -> Facts;

    /// Where it is, without a password.
    fn place(&self) -> String {
        self.facts().place
    }

    /// The server, where it is a private one.
    fn private(&self) -> Option<&dyn Private> {
        None
    }

    /// Has sessions that are opened from now on use the second server too, in the way of its pair, or this one alone again.
    fn on_both(&self, _spec: Option<&DatabaseSpec>) {}

    /// How often sessions in lock step have waited for an answer of the second server.
    fn round_trips(&self) -> u64 {
        0
    }

    /// This server with its mirror of such a pair, whether that is there or not; none where there can be none.
    fn mirror(&self, _spec: &DatabaseSpec) -> Option<Arc<dyn Mirror>> {
        None
    }

    /// Where a server with a layout gets its data set from: the same server without one. It is filled once for all layouts, and
    /// never asked for a transaction. Starts it.
    ///
    /// # Errors
    /// When it does not start.
    fn seed(&self) -> Result<Option<Box<dyn Database>>, DatabaseError> {
        Ok(None)
    }

    /// Puts every object of the data set where the layout says that it lies; what lies there already stays.
    ///
    /// # Errors
    /// When the database refuses.
    fn lay_out(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Whether nobody but Prony keeps anything there: a private server, or a file in the cache.
    fn alone(&self) -> bool {
        self.private().is_some()
    }

    /// Root processes of the server, when it runs on this machine and may be observed.
    fn server_processes(&self) -> Vec<u32> {
        self.private().and_then(Private::pid).into_iter().collect()
    }

    /// The folder or file that holds the data, when it is on this machine: the disks below it are watched.
    fn folder(&self) -> Option<PathBuf> {
        self.private().map(|server| server.folder().to_path_buf())
    }

    /// Counters of the server at this moment.
    fn counters(&self) -> Counted {
        Vec::new()
    }

    /// How the database stands at this moment: its data, its buffer and what is in it, and what makes a checkpoint
    /// due. Asked once when a trial has ended: it may take a second.
    fn standing(&self) -> Counted {
        Vec::new()
    }

    /// The files that hold the data set, without the log, when they are on this machine and may be looked at.
    fn data_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// What statements have cost since the database began to count. Nothing is made in a database
    /// that is not ours. One that has nothing to cost answers with nothing.
    ///
    /// # Errors
    /// In words, what is missing for it and how to get it.
    fn statement_costs(&self) -> Result<Vec<StatementCost>, String> {
        Ok(Vec::new())
    }

    /// Writes what the server still has to write, so that a trial begins or ends on a checkpoint.
    ///
    /// # Errors
    /// When the server refuses.
    fn checkpoint(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// A session outside of the data set, for making and dropping it.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn outside(&self) -> Result<Box<dyn Session>, DatabaseError> {
        self.session(&Texts::none(self.engine()), &Sessions::default())
    }

    /// The same for one who asks catalogues and names everything in full: no function or operator of anybody's stands in the way of
    /// the server's.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn catalogue(&self) -> Result<Box<dyn Session>, DatabaseError> {
        self.outside()
    }

    /// A session in the data set for filling it, with what makes that fast.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn fill_session(&self, _dataset: &DataSet) -> Result<Box<dyn Session>, DatabaseError> {
        self.session(&Texts::none(self.engine()), &Sessions::default())
    }

    /// How many sessions a fill uses side by side.
    fn fill_sessions(&self) -> usize {
        std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4))
    }

    /// Makes the role that sessions of foreign statements have on a private server ([`Texts::foreign`]): it may do everything with
    /// what it makes, read and write the rows of other tables, and neither run commands nor touch files. On any other database
    /// such sessions have the role that its address names, and nothing is made.
    ///
    /// # Errors
    /// When the server refuses.
    fn admit_scripts(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// A failure of work on this database, with what can be learnt beside the conversation: from the log of a private server.
    fn explain(&self, error: DatabaseError) -> DatabaseError {
        match self.private() {
            Some(server) => server.explain(error),
            None => error,
        }
    }

    /// Keeps every other Prony away from a data set for as long as the answer lives: for one who fills it, restores it or
    /// changes what is in it.
    ///
    /// # Errors
    /// [`DatabaseError::Claimed`] when somebody else was first.
    fn claim(&self, dataset: &DataSet) -> Result<Claim, DatabaseError> {
        match self.private() {
            // A restore ends the server, and a session's lock with it.
            Some(server) => server.claim(&dataset.schema()),
            None => {
                let (place, outside) = (self.place(), || self.catalogue());
                Claim::session((self.engine(), &place), &self.name_of(dataset), outside)
            }
        }
    }

    /// What is in the place of a data set. Changes nothing.
    ///
    /// # Errors
    /// When it cannot be looked up.
    fn find(&self, dataset: &DataSet) -> Result<Found, DatabaseError> {
        place::find(self, dataset)
    }

    /// The data sets that are filled here, whatever was asked for when it was opened; and, of what carries our mark and was changed
    /// by somebody else or made by another version, why it is not looked at.
    ///
    /// # Errors
    /// When they cannot be looked up.
    fn datasets(&self) -> Result<Vec<Result<DataSet, DatabaseError>>, DatabaseError> {
        place::all(self)
    }

    /// Makes the place of a data set, with the mark that a fill has begun. Called only when there is nothing.
    ///
    /// # Errors
    /// When it cannot be made.
    fn make(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        place::make(self, dataset)
    }

    /// Drops the place of a data set with all that is in it. Called only when it carries our mark.
    ///
    /// # Errors
    /// When it is not ours after all, holds a table of somebody else's where others may keep some, or cannot be dropped.
    fn clear(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        place::clear(self, dataset)
    }

    /// Ends a fill: brings settings that made it fast back to those of a run.
    ///
    /// # Errors
    /// When the database refuses.
    fn settle(&self, _dataset: &DataSet) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// What the place of a data set is called there: a schema, a database or a file.
    fn name_of(&self, dataset: &DataSet) -> String {
        dataset.schema()
    }

    /// Whether a copy was kept for [`Database::restore`].
    fn has_copy(&self, dataset: &DataSet) -> bool {
        self.private().is_some_and(|server| server.has_copy(&dataset.name()))
    }

    /// Keeps a copy of the filled data set, for [`Database::restore`]. No session may be open.
    ///
    /// # Errors
    /// When there is no way to, or no room.
    fn keep_copy(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        self.private().ok_or_else(|| no_copies(self.place()))?.keep_copy(&dataset.name())
    }

    /// Puts the data aside, in the place of what was put aside before, and answers with where they are now. A private server ends; the
    /// next one who opens it finds nothing.
    ///
    /// # Errors
    /// When they cannot be moved.
    fn put_aside(&self) -> Result<PathBuf, DatabaseError> {
        self.private().ok_or_else(|| no_copies(self.place()))?.put_aside()
    }

    /// Brings the data set back to the copy that was kept. No session may be open.
    ///
    /// # Errors
    /// When no copy was kept, or it cannot be brought back.
    fn restore(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        self.private().ok_or_else(|| no_copies(self.place()))?.restore(&dataset.name())
    }
}

pub(crate) fn no_copies(place: String) -> DatabaseError {
    DatabaseError::NoRestore { place, reason: "copies are kept only of private servers".to_owned() }
}
