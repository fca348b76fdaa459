//! How a private server comes to run, and how it ends.
//!
//! The one idea: a start is watched until the server serves, ends or hangs, and whatever kept it from serving is told from its
//! log; a full disk and a wrong setting as such.

use super::kind::ServerKind;
use super::life::Server;
use super::private::Private;
use super::{folder, network, process};
use crate::DatabaseError;
use rustix::process::Signal;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// How long a server may take to end; it writes what its buffers hold.
pub(super) const END_SECONDS: u64 = 300;

/// How long one may take to end at once.
const KILL_SECONDS: u64 = 10;

/// How long a server may take to serve: recovery after a crash reads all of its log.
const START_SECONDS: u64 = 1800;

/// How often a start that hangs is begun anew.
const STARTS: u32 = 3;

/// How often a start is tried while processes of a killed server still hold what it needs, every 20 ms.
const TRIES: u32 = 500;

/// What became of one start.
#[derive(Debug)]
pub(super) enum Begun {
    Ready,
    /// It wrote its number, served nobody, and was killed for that.
    Hung,
    /// Its process is gone.
    Ended,
}

/// How a server came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It did not run, or ended by itself before it was told to.
    Before,
    /// In order, when it was told to.
    Told,
    /// At once, since it did not end in order within so many seconds.
    Killed(u64),
}

impl<K: ServerKind> Server<K> {
    /// Makes the first files, when there are none; a making that was cut off is begun anew.
    pub(super) fn make(&self) -> Result<(), DatabaseError> {
        if self.data().is_dir() {
            return Ok(());
        }
        let half = self.half()?;
        let mut text = String::new();
        for command in self.kind.making(&self.owner, &self.folder, &half) {
            folder::remove(&half)?;
            folder::given(&half, &self.owner)?;
            match self.carried_out(command)? {
                None => return self.spread(&half),
                Some(said) => text = said,
            }
        }
        folder::remove(&half)?;
        Err(self.full(&text).unwrap_or_else(|| self.says(format!("its first files were not made: {text}"))))
    }

    /// The place beside the data for new ones, where nobody is at work: who makes or copies files there for a command that was killed
    /// would go on, and is ended.
    pub(super) fn half(&self) -> Result<PathBuf, DatabaseError> {
        let half = folder::beside(&self.data(), "half");
        process::end_all(&[&half.display().to_string()]);
        self.forsaken(&half)?;
        Ok(half)
    }

    /// Ends whoever works in a folder and whom nobody knows by his number, until nobody is left there: what outlived a server that was
    /// killed may wait for ever for what another process of it had locked.
    pub(super) fn forsaken(&self, folder: &Path) -> Result<(), DatabaseError> {
        self.free_of_strangers()?;
        let mut looks = 0;
        loop {
            let all = self.inside(folder);
            let Some((pid, _)) = all.first() else { return Ok(()) };
            if looks > KILL_SECONDS * process::LOOKS_A_SECOND {
                return Err(self.says(format!(
                    "process {pid} is still at work in {} {KILL_SECONDS} s after it was killed; it may wait for a device that does \
                     not answer",
                    folder.display()
                )));
            }
            all.iter().for_each(|(_, process)| process::kill(process));
            looks += 1;
            std::thread::sleep(process::LOOK);
        }
    }

    /// Sees to it that nobody else started a server on its data.
    ///
    /// # Errors
    /// When somebody did: its process.
    pub(super) fn free_of_strangers(&self) -> Result<(), DatabaseError> {
        let folder = self.data();
        let strange = |(pid, _): &(u32, OwnedFd)| process::is_strange(*pid, &self.mark());
        match self.inside(&folder).into_iter().find(strange) {
            Some((pid, _)) => Err(DatabaseError::Occupied { pid, folder }),
            None => Ok(()),
        }
    }

    /// Its processes whose working folder this is.
    pub(super) fn inside(&self, folder: &Path) -> Vec<(u32, OwnedFd)> {
        process::inside(folder, Path::new(self.kind.starting(&self.owner, &self.folder).get_program()))
    }

    /// Ends all its processes at once, as a crash would, those too that outlived the first one, and waits until none is left.
    pub(super) fn end_at_once(&self) -> Result<(), DatabaseError> {
        if let Some(pid) = self.process() {
            let forked = process::halted(pid, &self.mark());
            forked.iter().for_each(process::kill);
            process::signal(pid, &self.mark(), Signal::KILL);
            // A stop waits for that, too: it is at once.
            if !process::gone(pid, &self.mark(), KILL_SECONDS, &AtomicBool::new(false)) {
                return Err(self.says(format!("its process {pid} is still there {KILL_SECONDS} s after it was killed")));
            }
        }
        self.forsaken(&self.data())
    }

    /// What a command said that did not succeed.
    pub(super) fn carried_out(&self, command: Command) -> Result<Option<String>, DatabaseError> {
        let made = process::output(command, &self.stop)?;
        let said = || [made.stdout, made.stderr].map(|said| String::from_utf8_lossy(&said).trim().replace('\n', " | "));
        Ok(if made.status.success() { None } else { Some(said().join(" | ")) })
    }

    /// Puts new data in its place, and its parts on their tiers.
    pub(super) fn spread(&self, half: &Path) -> Result<(), DatabaseError> {
        let Some(laid) = &self.laid else { return folder::replace(half, &self.data()) };
        // Parts without data are those of a server that is still to be made.
        folder::remove(&self.data())?;
        laid.clear(&self.owner)?;
        for command in self.kind.spreading(&self.owner, half, laid) {
            if let Some(text) = self.carried_out(command)? {
                let failed = || self.says(format!("its parts were not laid out: {text}"));
                return Err(self.full(&text).unwrap_or_else(failed));
            }
        }
        laid.apart().try_for_each(|(_, path)| folder::written(&path))?;
        folder::replace(half, &self.data())
    }

    /// Starts it with the configuration file as it stands.
    pub(crate) fn start(&self) -> Result<(), DatabaseError> {
        let (mut hung, mut tries) = (0, 0);
        loop {
            match self.begin(START_SECONDS)? {
                Begun::Ready => return Ok(()),
                Begun::Hung if hung + 1 < STARTS => hung += 1,
                Begun::Hung => return Err(self.says(format!("it hung {STARTS} times while it started"))),
                // Somebody else was first.
                Begun::Ended if self.pid().is_some() => return self.ready(),
                Begun::Ended if tries < TRIES && K::passes(&process::last_words(&self.log(), 4)) => {
                    tries += 1;
                    std::thread::sleep(process::LOOK);
                }
                Begun::Ended => return Err(self.not_started()),
            }
        }
    }

    /// Sees to it that nothing of a killed server works in its data any more, and takes its lock file away: as long as its number is
    /// some zombie's, the server itself would take it for running.
    fn clear_remains(&self) -> Result<(), DatabaseError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(DatabaseError::Stopped);
        }
        // Somebody else has just started it: that one is waited for, and not killed.
        if self.inside(&self.data()).iter().any(|(pid, _)| process::runs(*pid, &self.mark())) {
            return Ok(());
        }
        self.forsaken(&self.data())?;
        let file = K::pid_file(&self.folder);
        let number = process::number(&file);
        if number.is_some_and(|pid| !process::ended(pid, &self.mark())) {
            return Ok(());
        }
        if number.is_some() {
            folder::gone(&file)?;
        }
        // The lock of the socket has a number of its own, which another process may have got since.
        let mut lock = K::socket(&self.folder).into_os_string();
        lock.push(".lock");
        let lock = Path::new(&lock);
        // What is no file of a server's stays for whoever put it there.
        if folder::read(lock).is_some() { folder::gone(lock) } else { Ok(()) }
    }

    /// Starts it once, and waits for it as long as that.
    pub(super) fn begin(&self, seconds: u64) -> Result<Begun, DatabaseError> {
        self.clear_remains()?;
        for left in K::left_behind(&self.folder) {
            folder::gone(&left)?;
        }
        let log = self.log();
        let opened = folder::log(&log)?;
        let mut command = self.kind.starting(&self.owner, &self.folder);
        command.arg(self.mark());
        let program = PathBuf::from(command.get_program());
        let start = || process::start(command, opened);
        let begun = if K::UNIX_ALONE { network::apart(start) } else { start() };
        let pid = begun.map_err(|source| DatabaseError::file("run", program, source))?;
        folder::write(&self.begun(), &pid.to_string())?;
        self.watch(pid, seconds)
    }

    fn watch(&self, pid: u32, seconds: u64) -> Result<Begun, DatabaseError> {
        let (mut looks, mut wait) = (0, self.patience(seconds));
        while !(self.pid() == Some(pid) && K::is_ready(&self.folder)) {
            if let Err(over) = wait() {
                process::signal(pid, &self.mark(), K::END);
                process::gone(pid, &self.mark(), 1, &AtomicBool::new(false));
                return self.end_at_once().and(Err(over));
            }
            if !process::runs(pid, &self.mark()) && !process::just_forked(pid) {
                return Ok(Begun::Ended);
            }
            // Recovery, which may take minutes, is over when it has written its number.
            looks += u32::from(self.pid().is_some());
            if K::PATIENCE.is_some_and(|patience| looks >= patience) {
                self.end_at_once()?;
                return Ok(Begun::Hung);
            }
        }
        Ok(Begun::Ready)
    }

    /// Sleeps until the next look at a server that is about to serve; an error when it shall stop, or when that took too long.
    fn patience(&self, seconds: u64) -> impl FnMut() -> Result<(), DatabaseError> {
        let mut looks = 0;
        move || {
            if self.stop.load(Ordering::Relaxed) {
                return Err(DatabaseError::Stopped);
            }
            looks += 1;
            if looks > seconds * process::LOOKS_A_SECOND {
                return Err(self.says(format!("it did not serve within {seconds} s of its start")));
            }
            std::thread::sleep(process::LOOK);
            Ok(())
        }
    }

    /// Waits until something is so; when that took too long, says what was not.
    pub(super) fn until(
        &self,
        seconds: u64,
        late: &str,
        mut is_so: impl FnMut() -> Result<bool, DatabaseError>,
    ) -> Result<(), DatabaseError> {
        for _ in 0..seconds * process::LOOKS_A_SECOND {
            if is_so()? {
                return Ok(());
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(DatabaseError::Stopped);
            }
            std::thread::sleep(process::LOOK);
        }
        Err(self.says(format!("{late} within {seconds} s")))
    }

    /// Waits until it is ready, for as long as its process lives: recovery after a crash may take minutes.
    pub(super) fn ready(&self) -> Result<(), DatabaseError> {
        let mut wait = self.patience(START_SECONDS);
        while !(self.pid().is_some() && K::is_ready(&self.folder)) {
            wait()?;
            if self.process().is_none() {
                return Err(self.not_started());
            }
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

    pub(super) fn full(&self, words: &str) -> Option<DatabaseError> {
        let place = self.folder.display().to_string();
        process::says_full(words).then(|| DatabaseError::Full { place, text: words.to_owned() })
    }

    /// Its process, even when it has not yet come so far.
    pub(super) fn process(&self) -> Option<u32> {
        let begun = process::number(&self.begun()).filter(|pid| process::runs(*pid, &self.mark()));
        self.pid().or(begun)
    }

    /// Whether it runs without its data: they lay on a mount that was taken away, and what lies at their place now has no server.
    pub(super) fn is_astray(&self) -> bool {
        let works = self.pid().and_then(|pid| fs::read_link(format!("/proc/{pid}/cwd")).ok());
        works.is_some_and(|works| fs::canonicalize(self.data()).is_ok_and(|data| data != works))
    }

    /// Ends it in order, and waits until it is gone.
    pub(super) fn end(&self) -> Result<(), DatabaseError> {
        let Some(pid) = self.tell() else { return self.forsaken(&self.data()) };
        if process::gone(pid, &self.mark(), END_SECONDS, &self.stop) {
            return Ok(());
        }
        if self.stop.load(Ordering::Relaxed) {
            // It goes on ending, and nobody waits for that.
            return Err(DatabaseError::Stopped);
        }
        Err(self.says(format!("its process {pid} is still there {END_SECONDS} s after it was told to end; `kill -9 {pid}` ends it, and its next start recovers its data")))
    }

    /// The same in order within so many seconds, else at once.
    pub(super) fn end_within(&self, seconds: u64) -> Result<End, DatabaseError> {
        let Some(pid) = self.tell() else { return self.forsaken(&self.data()).map(|()| End::Before) };
        if process::gone(pid, &self.mark(), seconds, &self.stop) {
            return Ok(End::Told);
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(self.says(format!("its process {pid} was told to end, and had not when the wait was stopped")));
        }
        self.end_at_once().map(|()| End::Killed(seconds))
    }

    /// Tells its process to end in order; none when it is gone.
    fn tell(&self) -> Option<u32> {
        self.process().filter(|pid| process::signal(*pid, &self.mark(), K::END))
    }

    /// Ends it at once where somebody stopped it: it hears of no other end, and its next start recovers its data.
    pub(super) fn end_stopped(&self) -> Result<(), DatabaseError> {
        if self.process().is_some_and(process::is_stopped) { self.kill() } else { Ok(()) }
    }

    /// What its command line, and no other, holds.
    pub(super) fn mark(&self) -> String {
        K::mark(&self.conf())
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// The number of the process that was started last.
    fn begun(&self) -> PathBuf {
        self.folder.join("begun")
    }
}
