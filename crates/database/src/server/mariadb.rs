//! A private MariaDB, or MySQL, from installed packages.
//!
//! The one idea: everything of it lies in one folder (data, socket, configuration, log), which only its user may enter. So it
//! needs no password and no port, and a second look finds it again: running, stopped or crashed.
//!
//! What it does not do: it touches no server that the system itself runs.

use super::owner::Owner;
use super::{folder, process, program, reach};
use crate::DatabaseError;
use crate::mariadb::Place;
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const ENGINE: &str = "mariadb";
const PACKAGE: &str = "mariadb-server";

/// As whom servers run when root asks for them: the user that the package makes.
const USERS: &[&str] = &["mysql"];

/// How long a server may take to end; it writes what its buffer holds.
const END_SECONDS: u64 = 300;

/// How often a start that hangs is begun anew.
const STARTS: u32 = 3;

/// Looks at a server that has written its number and greets nobody, before it is taken for hung: half a minute.
const PATIENCE: u32 = 60;

/// How long one look waits for the greeting.
const GREETING: std::time::Duration = std::time::Duration::from_millis(500);

/// Settings that keep the server private and findable; a study may not change them.
const OURS: &[&str] = &[
    "basedir",
    "bind-address",
    "datadir",
    "defaults-file",
    "init-file",
    "lc-messages-dir",
    "log-error",
    "networking",
    "pid-file",
    "plugin-dir",
    "port",
    "skip-grant-tables",
    "skip-networking",
    "socket",
    "tmpdir",
    "user",
];

/// What our servers have beside a study's settings. Everything that makes a server faster or less safe is the study's.
const SETTINGS: &[(&str, &str)] = &[
    ("character-set-server", "utf8mb4"),
    ("local-infile", "1"),
    ("max-connections", "2000"),
    ("max-prepared-stmt-count", "1000000"),
    ("skip-name-resolve", "1"),
];

/// A private server. Dropping the value leaves the server running.
#[derive(Clone, Debug)]
pub struct Server {
    folder: PathBuf,
    programs: Programs,
    owner: Owner,
    stop: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
struct Programs {
    server: PathBuf,
    /// What makes the first files; MySQL's server does that itself.
    install: Option<PathBuf>,
    version: String,
}

impl Server {
    /// The server of this name in a cache folder, whether it runs or not. Starts nothing. A data set has a server for
    /// itself, named after it: copies are of whole servers, and bringing one data set back must not touch another.
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
        let conf = self.configuration(settings)?;
        if let Some(barred) = self.owner.barred(&self.folder) {
            let user = self.owner.name.as_deref().unwrap_or_default();
            return Err(self.says(format!(
                "it runs as the user {user}, who may not pass {}; choose a cache folder that others may pass",
                barred.display()
            )));
        }
        folder::private(&self.folder, &self.owner)?;
        let _held = folder::hold(&self.folder)?;
        folder::fits(&self.socket())?;
        if self.process().is_some() && fs::read_to_string(self.conf()).is_ok_and(|now| now == conf) {
            // It may still be recovering from a crash, started by somebody else.
            return self.ready();
        }
        self.end(Signal::TERM)?;
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
        self.end(Signal::TERM)
    }

    /// Ends it and removes all its data.
    ///
    /// # Errors
    /// When it does not end, or a file stays.
    pub fn remove(&self) -> Result<(), DatabaseError> {
        self.down()?;
        folder::remove(&self.folder)
    }

    /// Ends it at once, as a crash would: for tests of faults.
    ///
    /// # Errors
    /// When it is still there after a while.
    pub fn kill(&self) -> Result<(), DatabaseError> {
        let _held = folder::hold(&self.folder)?;
        self.end(Signal::KILL)
    }

    /// Keeps a copy of all data. The server is stopped meanwhile, and runs again afterwards.
    ///
    /// # Errors
    /// When it does not stop or start, or there is no room.
    pub fn keep_copy(&self) -> Result<(), DatabaseError> {
        self.stopped(|| folder::copy(&self.data(), &self.kept()))
    }

    /// Whether a copy was kept.
    pub fn has_copy(&self) -> bool {
        self.kept().is_dir()
    }

    /// Removes the copy, if there is one.
    ///
    /// # Errors
    /// When a file stays.
    pub fn forget_copy(&self) -> Result<(), DatabaseError> {
        folder::remove(&self.kept())
    }

    /// Brings all data back to the copy. The server is stopped meanwhile, and runs again afterwards.
    ///
    /// # Errors
    /// When no copy was kept, or the server does not stop or start.
    pub fn restore(&self) -> Result<(), DatabaseError> {
        if !self.has_copy() {
            let reason = "no copy was kept".to_owned();
            return Err(DatabaseError::NoRestore { place: self.folder.display().to_string(), reason });
        }
        self.stopped(|| folder::copy(&self.kept(), &self.data()))
    }

    /// Its process, when it runs.
    pub fn pid(&self) -> Option<u32> {
        process::number(&self.pid_file()).filter(|pid| process::runs(*pid, &self.mark()))
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How sessions reach it.
    pub fn place(&self) -> Place {
        Place::behind(&self.socket().to_string_lossy(), "root")
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    fn pid_file(&self) -> PathBuf {
        self.folder.join("pid")
    }

    /// The number of the process that was started last.
    fn begun(&self) -> PathBuf {
        self.folder.join("begun")
    }

    fn conf(&self) -> PathBuf {
        self.folder.join("server.conf")
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn kept(&self) -> PathBuf {
        self.folder.join("copy")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// What its command line, and no other, holds.
    fn mark(&self) -> String {
        format!("--defaults-file={}", self.conf().display())
    }

    fn says(&self, text: String) -> DatabaseError {
        DatabaseError::Server { engine: ENGINE, folder: self.folder.clone(), text }
    }

    fn stopped(&self, work: impl FnOnce() -> Result<(), DatabaseError>) -> Result<(), DatabaseError> {
        let _held = folder::hold(&self.folder)?;
        self.end(Signal::TERM)?;
        let worked = work();
        self.start()?;
        worked
    }

    fn configuration(&self, settings: &[(String, String)]) -> Result<String, DatabaseError> {
        let mut all: Vec<(String, &str)> = SETTINGS.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
        for (key, value) in settings {
            let name = key.trim().to_lowercase().replace('_', "-");
            let bad = |problem: &str| {
                Err(DatabaseError::Setting { key: key.clone(), value: value.clone(), problem: problem.to_owned() })
            };
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
                return bad("a name is letters, digits and hyphens");
            }
            if OURS.contains(&name.trim_start_matches("loose-")) {
                return bad("it keeps the private server private, so that a study cannot change it");
            }
            if value.chars().any(char::is_control) {
                return bad("a value is one line");
            }
            all.retain(|(other, _)| *other != name);
            all.push((name, value));
        }
        let path = |path: PathBuf| path.display().to_string();
        let mut conf = format!(
            "[mysqld]\nskip-networking\ntmpdir={}\ndatadir={}\nsocket={}\npid-file={}\n",
            path(self.folder.clone()),
            path(self.data()),
            path(self.socket()),
            path(self.pid_file()),
        );
        if self.programs.install.is_none() {
            conf.push_str("mysqlx=OFF\ndisable-log-bin\n");
        }
        all.sort();
        conf.extend(all.iter().map(|(key, value)| format!("{key}={value}\n")));
        Ok(conf)
    }

    /// Makes the first files, when there are none; a making that was cut off is begun anew.
    fn make(&self) -> Result<(), DatabaseError> {
        if self.data().is_dir() {
            return Ok(());
        }
        let half = folder::beside(&self.data(), "half");
        folder::remove(&half)?;
        folder::private(&half, &self.owner)?;
        let mut command = self.owner.command(self.programs.install.as_deref().unwrap_or(&self.programs.server));
        command.arg("--no-defaults").arg(format!("--datadir={}", half.display()));
        // Servers that share a folder for temporary tables take away each other's when they start.
        command.arg(format!("--tmpdir={}", self.folder.display()));
        match self.programs.install {
            Some(_) => {
                command.args(["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"])
            }
            None => command.arg("--initialize-insecure"),
        };
        let made = command.output().map_err(|source| DatabaseError::file("run", &self.programs.server, source))?;
        if !made.status.success() {
            let text =
                [made.stdout, made.stderr].map(|said| String::from_utf8_lossy(&said).trim().to_owned()).join(" | ");
            let text = text.replace('\n', " | ");
            return Err(self.says(format!("its first files were not made: {text}")));
        }
        fs::rename(&half, self.data()).map_err(|source| DatabaseError::file("move", half, source))
    }

    /// Starts it, again when it hangs: MariaDB 10.11 may wait for ever for a thread of its own before it serves anybody.
    fn start(&self) -> Result<(), DatabaseError> {
        for _ in 0..STARTS {
            if self.begin()? {
                return Ok(());
            }
        }
        Err(self.says(format!("it hung {STARTS} times while it started")))
    }

    /// Starts it once; false when it took connections, served none, and was killed for that.
    fn begin(&self) -> Result<bool, DatabaseError> {
        // What a crashed one left would be taken for the new one's.
        for left in [self.pid_file(), self.socket(), self.log()] {
            match fs::remove_file(&left) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(DatabaseError::file("remove", left, source));
                }
                _ => {}
            }
        }
        let log = self.log();
        let opened = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .map_err(|source| DatabaseError::file("make", &log, source))?;
        self.owner.give(&log)?;
        let mut command = self.owner.command(&self.programs.server);
        command.arg(self.mark());
        let pid = process::start(command, opened)
            .map_err(|source| DatabaseError::file("run", &self.programs.server, source))?;
        fs::write(self.begun(), pid.to_string())
            .map_err(|source| DatabaseError::file("write", self.begun(), source))?;
        let mut patience = PATIENCE;
        while !self.answers() {
            if self.stop.load(Ordering::Relaxed) {
                process::signal(pid, Signal::TERM);
                return Err(DatabaseError::Stopped);
            }
            if !process::runs(pid, &self.mark()) {
                return Err(self.not_started());
            }
            // Recovery, which may take minutes, is over when it has written its number.
            patience -= u32::from(self.pid().is_some());
            if patience == 0 {
                self.end(Signal::KILL)?;
                return Ok(false);
            }
            std::thread::sleep(process::LOOK);
        }
        Ok(true)
    }

    /// Waits until it answers, for as long as its process lives: recovery after a crash may take minutes.
    fn ready(&self) -> Result<(), DatabaseError> {
        while !self.answers() {
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

    /// Whether it is ready. It takes connections long before it serves them; who is served is greeted first.
    fn answers(&self) -> bool {
        let greeted = |mut stream: UnixStream| {
            stream.set_read_timeout(Some(GREETING))?;
            stream.read(&mut [0; 1])
        };
        self.pid().is_some() && UnixStream::connect(self.socket()).and_then(greeted).is_ok_and(|bytes| bytes > 0)
    }

    /// Why it did not start. A setting that it does not know, or a value that it does not take, is named as such.
    fn not_started(&self) -> DatabaseError {
        let words = process::last_words(&self.log(), 4);
        match blamed(&words) {
            Some((key, value, problem)) => {
                let problem = format!("MariaDB {} {problem}", self.programs.version);
                DatabaseError::Setting { key: key.to_owned(), value: value.to_owned(), problem }
            }
            None => self.says(format!("it did not start: {words}")),
        }
    }

    /// Its process, even when it has not yet come so far as to write its number.
    fn process(&self) -> Option<u32> {
        let begun = process::number(&self.begun()).filter(|pid| process::runs(*pid, &self.mark()));
        self.pid().or(begun)
    }

    fn end(&self, signal: Signal) -> Result<(), DatabaseError> {
        let Some(pid) = self.process() else { return Ok(()) };
        process::signal(pid, signal);
        // Ending is not interrupted by a stop: a server that ends half is a crash.
        if process::gone(pid, &self.mark(), END_SECONDS, &AtomicBool::new(false)) {
            return Ok(());
        }
        Err(self.says(format!("its process {pid} is still there {END_SECONDS} s after it was told to end")))
    }
}

/// The setting that a log blames, its value, and what is wrong with it.
fn blamed(words: &str) -> Option<(&str, &str, &'static str)> {
    let quoted = |text: &'_ str| text.split('\'').next().map(str::len);
    if let Some(rest) = words.split("unknown variable '").nth(1) {
        let (key, value) = rest[..quoted(rest)?].split_once('=')?;
        return Some((key, value, "does not know it"));
    }
    let rest = words.split("Error while setting value '").nth(1)?;
    let (value, rest) = rest.split_once("' to '")?;
    Some((&rest[..quoted(rest)?], value, "does not take this value"))
}

/// The folder of all servers of this version.
fn all(cache: &Path, programs: &Programs, owner: &Owner) -> Result<PathBuf, DatabaseError> {
    reach::folder(cache, &format!("mariadb-{}", programs.version), owner)
}

impl Programs {
    fn find() -> Result<Programs, DatabaseError> {
        let missing = |program: &str| DatabaseError::MissingPackage {
            engine: ENGINE,
            program: program.to_owned(),
            package: PACKAGE,
        };
        let server = program::find(&["mariadbd", "mysqld"], &[]).ok_or_else(|| missing("mariadbd"))?;
        let said = Command::new(&server).args(["--no-defaults", "--version"]).output();
        let said = said.map_err(|source| DatabaseError::file("run", &server, source))?;
        let words = String::from_utf8_lossy(&said.stdout).into_owned();
        let version = version(&words).ok_or_else(|| missing("mariadbd"))?;
        let maria = words.contains("MariaDB");
        let install = program::find(&["mariadb-install-db", "mysql_install_db"], &[]).filter(|_| maria);
        if maria && install.is_none() {
            return Err(missing("mariadb-install-db"));
        }
        Ok(Programs { server, install, version })
    }
}

/// The number behind `Ver`, such as 10.11.19.
fn version(words: &str) -> Option<String> {
    let rest = words.split("Ver ").nth(1)?;
    let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    Some(number).filter(|number| number.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_a_log_blames_is_found() {
        let unknown = "x | [ERROR] mariadbd: unknown variable 'no-such=1' | [ERROR] Aborting";
        assert_eq!(blamed(unknown), Some(("no-such", "1", "does not know it")));
        let bad = "[ERROR] mariadbd: Error while setting value 'abc' to 'innodb-io-capacity' | [ERROR] Aborting";
        assert_eq!(blamed(bad), Some(("innodb-io-capacity", "abc", "does not take this value")));
        assert_eq!(blamed("[ERROR] Aborting"), None);
    }

    #[test]
    fn the_version_stands_behind_its_word() {
        assert_eq!(version("mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian"), Some("10.11.19".to_owned()));
        assert_eq!(version("/usr/sbin/mysqld  Ver 8.0.36-0ubuntu for Linux"), Some("8.0.36".to_owned()));
        assert_eq!(version("what"), None);
    }
}
