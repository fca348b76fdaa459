//! The third voter of a pair: `garbd`, which has a vote and no data, so that whoever is left with it is the majority.

use super::Mariadb;
use super::group::{Group, NAME};
use crate::DatabaseError;
use crate::server::kind::ServerKind as _;
use crate::server::owner::Owner;
use crate::server::{folder, process, program};
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// How long it may take to leave.
const END_SECONDS: u64 = 10;

/// One voter, whether it runs or not.
#[derive(Clone, Debug)]
pub struct Garbd {
    folder: PathBuf,
    owner: Owner,
}

impl Garbd {
    pub(super) fn of(folder: PathBuf, owner: Owner) -> Garbd {
        Garbd { folder, owner }
    }

    /// The voter of the pair in a folder.
    pub fn at(folder: &Path) -> Garbd {
        Garbd::of(folder.to_owned(), Owner::of(Mariadb::USERS))
    }

    /// No other process has it in its command line.
    fn mark(&self) -> String {
        format!("--workdir={}", self.run().display())
    }

    fn run(&self) -> PathBuf {
        self.folder.join("run")
    }

    /// Its process, when it runs.
    pub fn process(&self) -> Option<u32> {
        process::number(&self.folder.join("pid")).filter(|pid| process::runs(*pid, &self.mark()))
    }

    /// Starts it, unless it runs. A pair that runs gives it its vote a second or two later.
    ///
    /// # Errors
    /// When its package is not installed, or it cannot be started.
    pub fn start(&self, group: &Group) -> Result<(), DatabaseError> {
        if self.process().is_some() {
            return Ok(());
        }
        self.end()?;
        let (engine, package) = ("mariadb of a pair", "galera-arbitrator-4");
        let missing = || DatabaseError::MissingPackage { engine, program: "garbd".to_owned(), package };
        let program = program::find(&["garbd"], &[]).ok_or_else(missing)?;
        folder::ours(&self.folder, &self.owner)?;
        folder::given(&self.run(), &self.owner)?;
        let peers = group.ports.nodes.map(|[port, ..]| format!("127.0.0.1:{port}")).join(",");
        let mut command = self.owner.command(&program);
        command.arg(self.mark()).args(["--name", "voter", "--group", NAME, "--options", &group.voter_options()]);
        command.arg("--address").arg(format!("gcomm://{peers}"));
        let log = folder::log(&self.folder.join("log"))?;
        let pid = process::start(command, log).map_err(|source| DatabaseError::file("start", &program, source))?;
        folder::write(&self.folder.join("pid"), &pid.to_string())
    }

    /// Has it leave, in order.
    ///
    /// # Errors
    /// When it is still there after it was killed.
    pub fn end(&self) -> Result<(), DatabaseError> {
        let Some(pid) = self.process() else {
            // Whoever started it may have been killed before its number was written down.
            process::end_all(&[&self.mark()]);
            return Ok(());
        };
        for signal in [Signal::TERM, Signal::KILL] {
            process::signal(pid, &self.mark(), signal);
            if process::gone(pid, &self.mark(), END_SECONDS, &AtomicBool::new(false)) {
                return Ok(());
            }
        }
        let text = format!("process {pid} is still there");
        Err(DatabaseError::Server { engine: "garbd", folder: self.folder.clone(), text })
    }

    /// Ends it and removes its files.
    ///
    /// # Errors
    /// As [`Garbd::end`], and when a file stays.
    pub fn remove(&self) -> Result<(), DatabaseError> {
        self.end()?;
        folder::remove(&self.folder)
    }

    /// What it says is wrong, at the end of its log.
    pub fn last_words(&self) -> String {
        process::last_words(Path::new(&self.folder.join("log")), 1)
    }
}
