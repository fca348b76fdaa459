//! A private PostgreSQL from installed packages.
//!
//! The one idea: everything of it lies in one folder (data, socket, configuration, log), which only its user may enter. So it
//! needs no password and no port, and a second look finds it again: running, stopped or crashed.
//!
//! What it does not do: it touches no server that the system itself runs.

mod configuration;
mod programs;
#[cfg(test)]
mod tests;

use super::owner::Owner;
use super::{folder, process, reach};
use crate::DatabaseError;
use crate::postgres::Connect;
use programs::Programs;
use rustix::process::Signal;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) const ENGINE: &str = "postgres";

/// The superuser of our servers.
const USER: &str = "prony";

/// How long a server may take to end; it writes what its buffers hold.
const END_SECONDS: u64 = 300;

/// How often a start is tried while processes of a killed server still hold its memory, every 20 ms.
const TRIES: u32 = 500;

/// A private server. Dropping the value leaves the server running.
#[derive(Clone, Debug)]
pub struct Server {
    folder: PathBuf,
    programs: Programs,
    owner: Owner,
    stop: Arc<AtomicBool>,
}

/// As whom it runs when we are root.
const USERS: &[&str] = &["postgres"];

impl Server {
    /// The server of this name in a cache folder, whether it runs or not. Starts nothing. A data set has a server for
    /// itself, named after it: copies are of whole servers, and bringing one data set back must not touch another. Where the
    /// user as whom it runs may not pass the cache folder, the server lies in `/var/cache/prony`.
    ///
    /// # Errors
    /// When no package of a server is installed.
    pub fn find(cache: &Path, name: &str, stop: Arc<AtomicBool>) -> Result<Server, DatabaseError> {
        let (programs, owner) = (Programs::find()?, Owner::of(USERS));
        let folder = all(cache, &programs, &owner)?.join(name);
        Ok(Server { folder, programs, owner, stop })
    }

    /// All servers of a cache folder that were ever started, of the version that is installed.
    ///
    /// # Errors
    /// When no package of a server is installed.
    pub fn known(cache: &Path, stop: &Arc<AtomicBool>) -> Result<Vec<Server>, DatabaseError> {
        let (programs, owner) = (Programs::find()?, Owner::of(USERS));
        let Ok(entries) = fs::read_dir(all(cache, &programs, &owner)?) else { return Ok(Vec::new()) };
        let folders = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        let server = |folder| Server { folder, programs: programs.clone(), owner: owner.clone(), stop: stop.clone() };
        Ok(folders.map(server).filter(|server: &Server| server.conf().is_file()).collect())
    }

    /// Starts it with these settings, by the server's own names. One that runs with others is started anew; one that
    /// crashed recovers; one that was never there is made.
    ///
    /// # Errors
    /// When it does not start; the last lines of its log say why.
    pub fn up(&self, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        let conf = configuration::text(&self.folder, settings)?;
        folder::fits(&self.socket())?;
        folder::private(&self.folder, &self.owner)?;
        let _held = folder::hold(&self.folder)?;
        if self.pid().is_some() && fs::read_to_string(self.conf()).is_ok_and(|now| now == conf) {
            // It may still be recovering from a crash, started by somebody else.
            return self.ready();
        }
        self.end(Signal::INT)?;
        fs::write(self.conf(), conf).map_err(|source| DatabaseError::file("write", self.conf(), source))?;
        self.owner.give(&self.conf())?;
        self.make()?;
        self.start()
    }

    /// Ends it in order; it can be started again with all its data.
    ///
    /// # Errors
    /// When it does not end.
    pub fn down(&self) -> Result<(), DatabaseError> {
        if !self.folder.exists() {
            return Ok(());
        }
        let _held = folder::hold(&self.folder)?;
        self.end(Signal::INT)
    }

    /// Ends it and removes all its data.
    ///
    /// # Errors
    /// When it does not end, or a file stays.
    pub fn remove(&self) -> Result<(), DatabaseError> {
        self.down()?;
        folder::remove(&self.folder)
    }

    /// Ends it and all its processes at once, as a crash would: for tests of faults.
    ///
    /// # Errors
    /// When it is still there after a while.
    pub fn kill(&self) -> Result<(), DatabaseError> {
        let _held = folder::hold(&self.folder)?;
        let children = self.pid().map(process::children).unwrap_or_default();
        self.end(Signal::KILL)?;
        // They notice by themselves, but only when they look.
        children.into_iter().for_each(|child| process::signal(child, Signal::KILL));
        Ok(())
    }

    /// Keeps a copy of all data under this name. The server is stopped meanwhile, and runs again afterwards.
    ///
    /// # Errors
    /// When it does not stop or start, or there is no room.
    pub fn keep_copy(&self, name: &str) -> Result<(), DatabaseError> {
        let copies = self.folder.join("copies");
        folder::private(&copies, &self.owner)?;
        self.stopped(|| folder::copy(&self.data(), &copies.join(name)))
    }

    /// Whether a copy of this name was kept.
    pub fn has_copy(&self, name: &str) -> bool {
        self.folder.join("copies").join(name).is_dir()
    }

    /// Brings all data back to the copy of this name. The server is stopped meanwhile, and runs again afterwards.
    ///
    /// # Errors
    /// When there is no such copy, or the server does not stop or start.
    pub fn restore(&self, name: &str) -> Result<(), DatabaseError> {
        if !self.has_copy(name) {
            let reason = format!("no copy of {name} was kept");
            return Err(DatabaseError::NoRestore { place: self.folder.display().to_string(), reason });
        }
        self.stopped(|| folder::copy(&self.folder.join("copies").join(name), &self.data()))
    }

    /// Its first process, when it runs.
    pub fn pid(&self) -> Option<u32> {
        process::number(&self.pid_file()).filter(|pid| process::runs(*pid, &self.mark()))
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its version, such as 15.14.
    pub fn version(&self) -> &str {
        &self.programs.version
    }

    /// How sessions reach it.
    pub fn connect(&self) -> Connect {
        Connect::socket_in(&self.folder, USER, "postgres")
    }

    /// Starts it with the configuration file as it stands.
    #[cfg(test)]
    pub(crate) fn start_as_configured(&self) -> Result<(), DatabaseError> {
        self.start()
    }

    fn socket(&self) -> PathBuf {
        self.connect().socket().unwrap_or_default()
    }

    fn conf(&self) -> PathBuf {
        self.folder.join("server.conf")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn pid_file(&self) -> PathBuf {
        self.data().join("postmaster.pid")
    }

    /// What its command line, and no other, holds.
    fn mark(&self) -> String {
        format!("--config-file={}", self.conf().display())
    }

    fn says(&self, text: String) -> DatabaseError {
        DatabaseError::Server { engine: ENGINE, folder: self.folder.clone(), text }
    }

    fn stopped(&self, work: impl FnOnce() -> Result<(), DatabaseError>) -> Result<(), DatabaseError> {
        let _held = folder::hold(&self.folder)?;
        self.end(Signal::INT)?;
        let worked = work();
        self.start()?;
        worked
    }

    /// Makes the first files, when there are none; a making that was cut off is begun anew.
    fn make(&self) -> Result<(), DatabaseError> {
        if self.data().is_dir() {
            return Ok(());
        }
        let half = folder::beside(&self.data(), "half");
        // Not every system knows letters of all languages without a language.
        let made = self.initialise(&half, "C.UTF-8").or_else(|_| self.initialise(&half, "C"));
        made?;
        fs::rename(&half, self.data()).map_err(|source| DatabaseError::file("move", half, source))
    }

    fn initialise(&self, half: &Path, locale: &str) -> Result<(), DatabaseError> {
        folder::remove(half)?;
        folder::private(half, &self.owner)?;
        let mut command = self.owner.command(&self.programs.initdb);
        command.args(["--encoding=UTF8", "--data-checksums", "--auth=trust", "--username", USER]);
        command.arg(format!("--locale={locale}")).arg("--pgdata").arg(half);
        let made = command.output().map_err(|source| DatabaseError::file("run", &self.programs.initdb, source))?;
        if made.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&made.stderr).trim().replace('\n', " | ");
        Err(self.says(format!("its first files were not made: {text}")))
    }

    fn start(&self) -> Result<(), DatabaseError> {
        for _ in 0..TRIES {
            match self.started() {
                Err(DatabaseError::Server { text, .. }) if text.contains("pre-existing shared memory") => {
                    std::thread::sleep(process::LOOK);
                }
                other => return other,
            }
        }
        self.started()
    }

    fn started(&self) -> Result<(), DatabaseError> {
        let log = self.log();
        let opened = File::create(&log).map_err(|source| DatabaseError::file("make", &log, source))?;
        self.owner.give(&log)?;
        let mut command = self.owner.command(&self.programs.server);
        command.arg("-D").arg(self.data()).arg(self.mark());
        let pid = process::start(command, opened)
            .map_err(|source| DatabaseError::file("run", &self.programs.server, source))?;
        while !(self.pid() == Some(pid) && self.is_ready()) {
            if self.stop.load(Ordering::Relaxed) {
                process::signal(pid, Signal::INT);
                return Err(DatabaseError::Stopped);
            }
            if !process::runs(pid, &self.mark()) && !process::just_forked(pid) {
                return Err(self.not_started());
            }
            std::thread::sleep(process::LOOK);
        }
        Ok(())
    }

    /// Waits until it is ready, for as long as its process lives: recovery after a crash may take minutes.
    fn ready(&self) -> Result<(), DatabaseError> {
        while !self.is_ready() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(DatabaseError::Stopped);
            }
            if self.pid().is_none() {
                return Err(self.not_started());
            }
            std::thread::sleep(process::LOOK);
        }
        Ok(())
    }

    /// The server writes its state into the eighth line beside its number.
    fn is_ready(&self) -> bool {
        let text = fs::read_to_string(self.pid_file()).unwrap_or_default();
        text.lines().nth(7).is_some_and(|state| state.trim() == "ready")
    }

    fn not_started(&self) -> DatabaseError {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        configuration::blamed(&log)
            .unwrap_or_else(|| self.says(format!("it did not start: {}", process::last_words(&self.log(), 4))))
    }

    fn end(&self, signal: Signal) -> Result<(), DatabaseError> {
        let Some(pid) = self.pid() else { return Ok(()) };
        process::signal(pid, signal);
        // Ending is not interrupted by a stop: a server that ends half is a crash.
        if process::gone(pid, &self.mark(), END_SECONDS, &AtomicBool::new(false)) {
            return Ok(());
        }
        Err(self.says(format!("its process {pid} is still there {END_SECONDS} s after it was told to end")))
    }
}

/// The folder of all servers of one version, whose files are no other version's.
fn all(cache: &Path, programs: &Programs, owner: &Owner) -> Result<PathBuf, DatabaseError> {
    reach::folder(cache, &format!("postgres-{}", programs.major), owner)
}
