//! The life of a private server, whichever engine it is of: made, found again, ended, copied, removed.
//!
//! The one idea: everything of it lies in one folder (configuration, log, copies), of which the server's user owns `data` and
//! `run` with the socket, which only he may enter. So it needs no password and no port, and a second look finds it again:
//! running, stopped or crashed.
//!
//! What it does not do: it touches no server that the system itself runs.

use super::kind::ServerKind;
use super::laid::{self, Laid};
use super::owner::Owner;
use super::start::{END_SECONDS, End};
use super::{folder, reach};
use crate::DatabaseError;
use crate::claim::free;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Layout, TierFolder};

/// Where the server of a folder keeps what lives as long as its process.
pub(super) fn run(folder: &Path) -> PathBuf {
    folder.join("run")
}

/// Whoever looks for a server that is gone finds another one from now on.
///
/// # Errors
/// When its address cannot be given away.
pub(super) fn stand_in<K: ServerKind>(gone: &Server<K>, other: &Server<K>) -> Result<(), DatabaseError> {
    let (theirs, ours) = (K::socket(&gone.folder), K::socket(&other.folder));
    let new = folder::beside(&theirs, "new");
    let failed = |source| DatabaseError::file("give the address to the mirror", &theirs, source);
    std::os::unix::fs::symlink(ours, &new).map_err(failed)?;
    fs::rename(&new, &theirs).map_err(failed)
}

/// A private server. Dropping the value leaves the server running.
#[derive(Clone, Debug)]
pub struct Server<K> {
    pub(super) folder: PathBuf,
    pub(super) kind: K,
    pub(super) owner: Owner,
    pub(super) stop: Arc<AtomicBool>,
    /// Where its parts lie; none for all of them in its folder.
    pub(super) laid: Option<Laid>,
}

impl<K: ServerKind> Server<K> {
    /// The server of this name in a cache folder, whether it runs or not. Starts nothing. A data set has a server for
    /// itself, named after it: copies are of whole servers, and bringing one data set back must not touch another. Where the
    /// user as whom it runs may not pass the cache folder, or another user may change it, the server lies in `/var/cache/prony`.
    ///
    /// # Errors
    /// When no package of a server is installed.
    pub fn find(cache: &Path, name: &str, stop: Arc<AtomicBool>) -> Result<Server<K>, DatabaseError> {
        let (kind, owner) = (K::find()?, Owner::of(K::USERS));
        let folder = reach::folder(cache, &kind.family(), &owner)?.join(name);
        Ok(Server { folder, kind, owner, stop, laid: None })
    }

    /// The same of which everything lies elsewhere.
    #[must_use]
    pub fn lying_on(mut self, at: Option<&TierFolder>) -> Server<K> {
        self.laid = at.map(|at| Laid::whole(at, &self.folder));
        self
    }

    /// The same of a server with a layout; each layout of a data set has a server for itself.
    ///
    /// # Errors
    /// As [`Server::find`], and when the folder of a tier is not there.
    pub fn laid_out(
        cache: &Path,
        name: &str,
        layout: Option<&Layout>,
        stop: Arc<AtomicBool>,
    ) -> Result<Server<K>, DatabaseError> {
        let Some(layout) = layout else { return Server::find(cache, name, stop) };
        let mut server = Server::find(cache, &laid::name(name, layout)?, stop)?;
        server.laid = Some(Laid::of(layout, &server.folder, K::parts(layout)));
        Ok(server)
    }

    /// All servers of a cache folder that were ever started, of the version that is installed.
    ///
    /// # Errors
    /// When no package of a server is installed.
    pub fn known(cache: &Path, stop: &Arc<AtomicBool>) -> Result<Vec<Server<K>>, DatabaseError> {
        let (kind, owner) = (K::find()?, Owner::of(K::USERS));
        let Ok(entries) = fs::read_dir(reach::folder(cache, &kind.family(), &owner)?) else { return Ok(Vec::new()) };
        let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let server =
            |folder| Server { folder, kind: kind.clone(), owner: owner.clone(), stop: stop.clone(), laid: None };
        Ok(folders.map(server).filter(|server: &Server<K>| server.conf().is_file()).collect())
    }

    /// Starts it with these settings, by the server's own names. One that runs with others is started anew; one that
    /// crashed recovers; one that was never there is made.
    ///
    /// # Errors
    /// When it does not start; the last lines of its log say why. When another Prony uses it with other settings.
    pub fn up(&self, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        let mut conf = self.kind.configuration(&self.folder, settings)?;
        conf.extend(self.laid.as_ref().map(K::places));
        self.may_be_reached()?;
        folder::ours(&self.folder, &self.owner)?;
        let _held = folder::hold(&self.folder, &self.stop)?;
        let there = self.laid.as_ref().is_none_or(Laid::is_reached);
        let runs = self.process().is_some() && !self.is_astray();
        if there && runs && folder::read(&self.conf()).is_some_and(|now| now == conf) {
            // It may still be recovering from a crash, started by somebody else.
            return self.ready();
        }
        // It would be ended under whoever uses it.
        free(&self.claimed(), &self.shown(), "the private server")?;
        self.end()?;
        folder::write(&self.conf(), &conf)?;
        folder::given(&run(&self.folder), &self.owner)?;
        self.laid.as_ref().map_or(Ok(()), |laid| laid.reach(&self.owner))?;
        self.make()?;
        self.brought_back()?;
        self.start()
    }

    pub(super) fn may_be_reached(&self) -> Result<(), DatabaseError> {
        folder::fits(&K::socket(&self.folder))?;
        if let Some(open) = self.owner.unsafe_above(&self.folder) {
            return Err(self.says(format!(
                "root starts it, and another user may change {}; choose a cache folder in which only root makes files",
                open.display()
            )));
        }
        let Some(barred) = self.owner.barred(&self.folder) else { return Ok(()) };
        Err(self.says(format!(
            "it runs as the user {}, who may not pass {}; choose a cache folder that others may pass",
            self.owner.name.as_deref().unwrap_or_default(),
            barred.display()
        )))
    }

    /// Whether no other Prony uses it.
    ///
    /// # Errors
    /// When one does: which.
    pub(super) fn free(&self) -> Result<(), DatabaseError> {
        free(&self.claimed(), &self.shown(), "the private server")
    }

    /// Ends it in order, or at once when that takes too long; it can be started again with all its data.
    ///
    /// # Errors
    /// When it does not end, or nobody shall wait for that any more.
    pub fn down(&self) -> Result<End, DatabaseError> {
        self.down_within(END_SECONDS)
    }

    /// The same, at once when it takes longer than so many seconds.
    pub(super) fn down_within(&self, seconds: u64) -> Result<End, DatabaseError> {
        if !self.folder.exists() {
            return Ok(End::Before);
        }
        let _held = folder::hold(&self.folder, &self.stop)?;
        self.end_within(seconds)
    }

    /// Ends it and removes all its data.
    ///
    /// # Errors
    /// When it does not end, or a file stays.
    pub fn remove(&self) -> Result<End, DatabaseError> {
        let end = self.down()?;
        if self.folder.exists() {
            self.half()?;
            self.forsaken(&self.data())?;
        }
        laid::remove(&self.folder)?;
        folder::remove(&self.folder)?;
        Ok(end)
    }

    /// Ends it and all its processes at once, as a crash would: for tests of faults.
    ///
    /// # Errors
    /// When one is still there after a while: which.
    pub fn kill(&self) -> Result<(), DatabaseError> {
        let _held = folder::hold(&self.folder, &self.stop)?;
        self.end_at_once()
    }

    pub(super) fn stopped(&self, work: impl FnOnce() -> Result<(), DatabaseError>) -> Result<(), DatabaseError> {
        let _held = folder::hold(&self.folder, &self.stop)?;
        self.end()?;
        let worked = work();
        // Some of its parts may be of another time.
        if worked.is_ok() || !self.restoring().exists() {
            self.start()?;
        }
        worked
    }

    /// Ends it in order, and starts it again.
    pub(crate) fn begun_anew(&self) -> Result<(), DatabaseError> {
        self.stopped(|| Ok(()))
    }

    pub(super) fn copy(&self, from: &Path, to: &Path) -> Result<(), DatabaseError> {
        folder::copy(from, to, &self.owner, &self.stop)
    }

    pub(super) fn shown(&self) -> String {
        format!("local:{}", K::ENGINE)
    }

    pub(super) fn claimed(&self) -> PathBuf {
        self.folder.join("claim")
    }

    pub(super) fn copies(&self) -> PathBuf {
        self.folder.join("copies")
    }

    pub(super) fn conf(&self) -> PathBuf {
        self.folder.join("server.conf")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.laid.as_ref().map_or_else(|| self.folder.join(laid::DATA), Laid::data)
    }

    /// Where the sockets of its sessions lie.
    pub fn run(&self) -> PathBuf {
        run(&self.folder)
    }

    pub(super) fn says(&self, text: String) -> DatabaseError {
        DatabaseError::Server { engine: K::ENGINE, folder: self.folder.clone(), text }
    }
}
