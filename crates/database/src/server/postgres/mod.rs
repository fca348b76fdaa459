//! What a private PostgreSQL has of its own: its programs, its first files, and the line in which it writes its state.
//!
//! What it does not do: it lives no life of its own; every server's is the same.

mod configuration;
mod lags;
mod mirror;
mod paired;
mod programs;
mod published;
#[cfg(test)]
mod tests;

use super::kind::ServerKind;
use super::laid::{self, Laid};
use super::life;
use super::owner::Owner;
use crate::DatabaseError;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use study::{Layout, Tier};

pub use lags::LagWatch;
pub use mirror::{PREPARED, Standby};
pub use paired::content;

/// A private PostgreSQL.
pub type Server = life::Server<Postgres>;

/// The superuser of our servers.
pub const USER: &str = "prony";

/// The folder of its log, in its data.
const WAL: &str = "pg_wal";

/// The part of a layout that holds it.
const LOG: &str = "log";

/// A PostgreSQL that is installed: the server, what makes its first files, and their version.
#[derive(Clone, Debug)]
pub struct Postgres {
    server: PathBuf,
    initdb: PathBuf,
    version: String,
    major: u32,
}

impl life::Server<Postgres> {
    /// Its version, such as 15.14.
    pub fn version(&self) -> &str {
        &self.kind.version
    }

    /// The first number of its version.
    fn major(&self) -> u32 {
        self.kind.major
    }

    /// Its layout, with the place of the tablespace for what does not lie with the data.
    pub(crate) fn layout(&self) -> Option<(&Layout, Option<PathBuf>)> {
        self.laid.as_ref().map(|laid| (&laid.layout, laid.part(laid::TABLES)))
    }

    /// Whether a library that servers load at their start lies where packages put it; they may split it off.
    pub fn has_library(&self, name: &str) -> bool {
        let Some(above) = self.kind.server.parent().and_then(Path::parent) else { return false };
        let folders = ["lib", "lib64/pgsql", "lib/pgsql", "lib/postgresql", "lib64/postgresql"];
        folders.iter().any(|folder| above.join(folder).join(format!("{name}.so")).is_file())
    }
}

impl ServerKind for Postgres {
    const ENGINE: &'static str = "postgres";
    const PACKAGE: &'static str = "postgresql";
    const USERS: &'static [&'static str] = &["postgres"];
    /// Sessions that are open are ended.
    const END: Signal = Signal::INT;
    const PATIENCE: Option<u32> = None;
    const UNIX_ALONE: bool = true;

    fn find() -> Result<Postgres, DatabaseError> {
        programs::find()
    }

    fn family(&self) -> String {
        format!("postgres-{}", self.major)
    }

    fn configuration(&self, folder: &Path, settings: &[(String, String)]) -> Result<String, DatabaseError> {
        configuration::text(folder, settings, self.major)
    }

    fn mark(conf: &Path) -> String {
        format!("--config-file={}", conf.display())
    }

    fn socket(folder: &Path) -> PathBuf {
        life::run(folder).join(".s.PGSQL.5432")
    }

    fn pid_file(folder: &Path) -> PathBuf {
        folder.join("data/postmaster.pid")
    }

    // It looks after its own.
    fn left_behind(_folder: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    // Not every system knows letters of all languages without a language.
    fn making(&self, owner: &Owner, _folder: &Path, data: &Path) -> Vec<Command> {
        let make = |locale: &str| {
            let mut command = owner.command(&self.initdb);
            // All of it is brought to the disk at once, when it is put in its place.
            command.args(["--encoding=UTF8", "--data-checksums", "--auth=trust", "--no-sync", "--username", USER]);
            command.arg(format!("--locale={locale}")).arg("--pgdata").arg(data);
            command
        };
        ["C.UTF-8", "C"].map(make).into()
    }

    /// The log, and the tablespace of what does not lie with the data: it is there as soon as both tiers are, to be moved to.
    fn parts(layout: &Layout) -> Vec<(&'static str, Tier)> {
        let log = (layout.log != layout.data).then_some((LOG, layout.log));
        let other = layout.data.other();
        log.into_iter().chain(layout.folder(other).map(|_| (laid::TABLES, other))).collect()
    }

    fn places(laid: &Laid) -> String {
        let Layout { data, temporary, .. } = laid.layout;
        if temporary == data { String::new() } else { format!("temp_tablespaces = '{}'\n", temporary.word()) }
    }

    fn spreading(&self, owner: &Owner, data: &Path, laid: &Laid) -> Vec<Command> {
        let Some(log) = laid.part(LOG) else { return Vec::new() };
        let (inside, outside) = (data.join(WAL), log.join(WAL));
        let mut moved = owner.command(Path::new("mv"));
        moved.arg("-T").arg(&inside).arg(&outside);
        let mut linked = owner.command(Path::new("ln"));
        linked.args(["-s", "-T"]).arg(&outside).arg(&inside);
        vec![moved, linked]
    }

    fn starting(&self, owner: &Owner, folder: &Path) -> Command {
        let mut command = owner.command(&self.server);
        command.arg("-D").arg(folder.join("data"));
        command
    }

    /// The server writes its state into the eighth line beside its number; one that follows another is a standby when it serves.
    fn is_ready(folder: &Path) -> bool {
        let text = crate::server::folder::read(&Postgres::pid_file(folder)).unwrap_or_default();
        text.lines().nth(7).is_some_and(|state| matches!(state.trim(), "ready" | "standby"))
    }

    // Processes of a killed server end a moment after it.
    fn passes(words: &str) -> bool {
        // The second: the process was killed, and nobody has waited for it yet.
        words.contains("pre-existing shared memory") || words.contains("lock file \"postmaster.pid\" already exists")
    }

    fn blamed(&self, log: &str) -> Option<DatabaseError> {
        configuration::blamed(log)
    }
}
