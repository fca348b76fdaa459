//! How a private server comes to run, and how it ends.
//!
//! The one idea: a start is watched until the server serves, ends or hangs, and whatever kept it from serving is told from its
//! log; a full disk and a wrong setting as such.

use super::kind::ServerKind;
use super::life::Server;
use super::private::Private;
use super::{folder, process};
use crate::DatabaseError;
use rustix::process::Signal;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long a server may take to end; it writes what its buffers hold.
const END_SECONDS: u64 = 300;

/// How often a start that hangs is begun anew.
const STARTS: u32 = 3;

/// How often a start is tried while processes of a killed server still hold what it needs, every 20 ms.
const TRIES: u32 = 500;

/// What became of one start.
enum Begun {
    Ready,
    /// It wrote its number, served nobody, and was killed for that.
    Hung,
    /// Its process is gone.
    Ended,
}

impl<K: ServerKind> Server<K> {
    /// Makes the first files, when there are none; a making that was cut off is begun anew.
    pub(super) fn make(&self) -> Result<(), DatabaseError> {
        if self.data().is_dir() {
            return Ok(());
        }
        let half = folder::beside(&self.data(), "half");
        let mut text = String::new();
        for mut command in self.kind.making(&self.owner, &self.folder, &half) {
            folder::remove(&half)?;
            folder::given(&half, &self.owner)?;
            let made = command
                .output()
                .map_err(|source| DatabaseError::file("run", PathBuf::from(command.get_program()), source))?;
            if made.status.success() {
                return folder::replace(&half, &self.data());
            }
            let said =
                [made.stdout, made.stderr].map(|said| String::from_utf8_lossy(&said).trim().replace('\n', " | "));
            text = said.join(" | ");
        }
        folder::remove(&half)?;
        Err(self.full(&text).unwrap_or_else(|| self.says(format!("its first files were not made: {text}"))))
    }

    /// Starts it with the configuration file as it stands.
    pub(crate) fn start(&self) -> Result<(), DatabaseError> {
        let (mut hung, mut tries) = (0, 0);
        loop {
            match self.begin()? {
                Begun::Ready => return Ok(()),
                Begun::Hung if hung + 1 < STARTS => hung += 1,
                Begun::Hung => return Err(self.says(format!("it hung {STARTS} times while it started"))),
                Begun::Ended if tries < TRIES && K::passes(&process::last_words(&self.log(), 4)) => {
                    tries += 1;
                    std::thread::sleep(process::LOOK);
                }
                Begun::Ended => return Err(self.not_started()),
            }
        }
    }

    /// Starts it once.
    fn begin(&self) -> Result<Begun, DatabaseError> {
        for left in K::left_behind(&self.folder) {
            folder::gone(&left)?;
        }
        let log = self.log();
        let opened = folder::log(&log)?;
        let mut command = self.kind.starting(&self.owner, &self.folder);
        command.arg(self.mark());
        let program = PathBuf::from(command.get_program());
        let pid = process::start(command, opened).map_err(|source| DatabaseError::file("run", program, source))?;
        folder::write(&self.begun(), &pid.to_string())?;
        self.watch(pid)
    }

    fn watch(&self, pid: u32) -> Result<Begun, DatabaseError> {
        let mut looks = 0;
        while !(self.pid() == Some(pid) && K::is_ready(&self.folder)) {
            if self.stop.load(Ordering::Relaxed) {
                process::signal(pid, &self.mark(), K::END);
                return Err(DatabaseError::Stopped);
            }
            if !process::runs(pid, &self.mark()) && !process::just_forked(pid) {
                return Ok(Begun::Ended);
            }
            // Recovery, which may take minutes, is over when it has written its number.
            looks += u32::from(self.pid().is_some());
            if K::PATIENCE.is_some_and(|patience| looks >= patience) {
                self.end(Signal::KILL)?;
                return Ok(Begun::Hung);
            }
            std::thread::sleep(process::LOOK);
        }
        Ok(Begun::Ready)
    }

    /// Waits until it is ready, for as long as its process lives: recovery after a crash may take minutes.
    pub(super) fn ready(&self) -> Result<(), DatabaseError> {
        while !(self.pid().is_some() && K::is_ready(&self.folder)) {
            if self.stop.load(Ordering::Relaxed) {
                return Err(DatabaseError::Stopped);
            }
            if self.process().is_none() {
                return Err(self.not_started());
            }
            std::thread::sleep(process::LOOK);
        }
        Ok(())
    }

    /// Why it did not start. A full disk, a setting that it does not know and a value that it does not take are told as such.
    fn not_started(&self) -> DatabaseError {
        let log = String::from_utf8_lossy(&fs::read(self.log()).unwrap_or_default()).into_owned();
        let words = process::last_words(&self.log(), 4);
        let blamed = self.out_of_room().or_else(|| self.kind.blamed(&log));
        blamed.unwrap_or_else(|| self.says(format!("it did not start: {words}")))
    }

    pub(super) fn out_of_room(&self) -> Option<DatabaseError> {
        self.full(&process::full(&self.log())?)
    }

    fn full(&self, words: &str) -> Option<DatabaseError> {
        let place = self.folder.display().to_string();
        process::says_full(words).then(|| DatabaseError::Full { place, text: words.to_owned() })
    }

    /// Its process, even when it has not yet come so far.
    pub(super) fn process(&self) -> Option<u32> {
        let begun = process::number(&self.begun()).filter(|pid| process::runs(*pid, &self.mark()));
        self.pid().or(begun)
    }

    pub(super) fn end(&self, signal: Signal) -> Result<(), DatabaseError> {
        let Some(pid) = self.process() else { return Ok(()) };
        process::signal(pid, &self.mark(), signal);
        // Ending is not interrupted by a stop: a server that ends half is a crash.
        if process::gone(pid, &self.mark(), END_SECONDS, &AtomicBool::new(false)) {
            return Ok(());
        }
        Err(self.says(format!("its process {pid} is still there {END_SECONDS} s after it was told to end")))
    }

    /// What its command line, and no other, holds.
    pub(super) fn mark(&self) -> String {
        K::mark(&self.conf())
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// The number of the process that was started last.
    fn begun(&self) -> PathBuf {
        self.folder.join("begun")
    }
}
