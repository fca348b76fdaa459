//! What a private MariaDB, or MySQL, has of its own: its programs, its first files, and the greeting by which one knows that
//! it serves.
//!
//! What it does not do: it lives no life of its own; every server's is the same.

mod configuration;
mod galera;
mod group;
mod paired;
mod programs;
mod voter;

use super::kind::ServerKind;
use super::laid::{self, Laid};
use super::life;
use super::owner::Owner;
use crate::DatabaseError;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::Signal;
use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use study::{Layout, Tier};

pub use galera::Galera;
pub use group::{Group, Ports};
pub use voter::Garbd;

/// A private MariaDB.
pub type Server = life::Server<Mariadb>;

/// The part of a layout that holds the redo log.
const LOG: &str = "log";

/// The part that holds the undo logs.
const UNDO: &str = "undo";

/// Moves the file of a table of a data set, and leaves the path of it.
const MOVE: &str = "for file in \"$1\"/prony_*/\"$3\".ibd; do [ -e \"$file\" ] || continue; \
                    at=\"$2/$(basename \"$(dirname \"$file\")\")\"; mkdir -p \"$at\" && mv -T \"$file\" \"$at/$3.ibd\" \
                    && printf %s \"$at/$3.ibd\" > \"${file%.ibd}.isl\" || exit 1; done";

/// How long one look waits for the greeting.
const GREETING: Duration = Duration::from_millis(500);

/// A MariaDB or MySQL that is installed.
#[derive(Clone, Debug)]
pub struct Mariadb {
    server: PathBuf,
    /// What makes the first files; MySQL's server does that itself.
    install: Option<PathBuf>,
    version: String,
}

impl life::Server<Mariadb> {
    /// Its layout, with the place of the tables that do not lie with the data.
    pub(crate) fn layout(&self) -> Option<(&Layout, Option<PathBuf>)> {
        self.laid.as_ref().map(|laid| (&laid.layout, laid.part(laid::TABLES)))
    }

    /// Whether the undo logs lie where the layout says. A server that was not told to end slowly still has them with the data.
    pub(crate) fn undoes_apart(&self) -> bool {
        let undo = self.laid.as_ref().and_then(|laid| laid.part(UNDO));
        undo.is_none_or(|undo| undo.join("undo001").is_file())
    }

    /// The socket that its sessions come in by.
    pub(crate) fn socket(&self) -> PathBuf {
        Mariadb::socket(&self.folder)
    }
}

impl ServerKind for Mariadb {
    const ENGINE: &'static str = "mariadb";
    const PACKAGE: &'static str = "mariadb-server";
    const USERS: &'static [&'static str] = &["mysql"];
    const END: Signal = Signal::TERM;
    /// MariaDB 10.11 may wait for ever for a thread of its own before it serves anybody. This is half a minute.
    const PATIENCE: Option<u32> = Some(60);
    const UNIX_ALONE: bool = false;

    fn find() -> Result<Mariadb, DatabaseError> {
        programs::find()
    }

    fn family(&self) -> String {
        format!("mariadb-{}", self.version)
    }

    fn configuration(&self, folder: &Path, settings: &[(String, String)]) -> Result<String, DatabaseError> {
        configuration::text(folder, settings, self.install.is_none())
    }

    fn mark(conf: &Path) -> String {
        format!("--defaults-file={}", conf.display())
    }

    fn socket(folder: &Path) -> PathBuf {
        life::run(folder).join("socket")
    }

    fn pid_file(folder: &Path) -> PathBuf {
        life::run(folder).join("pid")
    }

    fn left_behind(folder: &Path) -> Vec<PathBuf> {
        vec![Mariadb::pid_file(folder), Mariadb::socket(folder)]
    }

    fn making(&self, owner: &Owner, folder: &Path, data: &Path) -> Vec<Command> {
        let mut command = owner.command(self.install.as_deref().unwrap_or(&self.server));
        command.arg("--no-defaults").arg(format!("--datadir={}", data.display()));
        // Servers that share a folder for temporary tables take away each other's when they start.
        command.arg(format!("--tmpdir={}", life::run(folder).display()));
        match self.install {
            Some(_) => {
                command.args(["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"])
            }
            None => command.arg("--initialize-insecure"),
        };
        vec![command]
    }

    /// The redo log, the undo logs, temporary files, and the tables that do not lie with the data.
    fn parts(layout: &Layout) -> Vec<(&'static str, Tier)> {
        let other = layout.data.other();
        let apart = |part, tier| (tier != layout.data).then_some((part, tier));
        let parts = [apart(LOG, layout.log), apart(UNDO, layout.undo), Some((laid::TEMPORARY, layout.temporary))];
        parts.into_iter().flatten().chain(layout.folder(other).map(|_| (laid::TABLES, other))).collect()
    }

    fn places(laid: &Laid) -> String {
        let line = |key: &str, part: &str, rest: &str| {
            laid.part(part).map(|at| format!("{key}={}{rest}\n", at.display())).unwrap_or_default()
        };
        let undo = if laid.part(UNDO).is_some() { "innodb_undo_tablespaces=3\n" } else { "" };
        [
            line("innodb_log_group_home_dir", LOG, ""),
            line("innodb_undo_directory", UNDO, ""),
            undo.to_owned(),
            line("tmpdir", laid::TEMPORARY, ""),
            line("innodb_temp_data_file_path", laid::TEMPORARY, "/ibtmp1:12M:autoextend"),
        ]
        .concat()
    }

    /// A table lies elsewhere when its file does and a file beside the others says where: as `DATA DIRECTORY` leaves them.
    fn spreading(&self, owner: &Owner, data: &Path, laid: &Laid) -> Vec<Command> {
        let script = |script: &str, words: &[&OsStr]| {
            let mut command = owner.command(Path::new("sh"));
            command.args(["-c", script, "sh"]).arg(data).args(words);
            command
        };
        let mut moves = Vec::new();
        if let Some(log) = laid.part(LOG) {
            moves.push(script("mv \"$1\"/ib_logfile* \"$2\"", &[log.as_os_str()]));
        }
        if let Some(tables) = laid.part(laid::TABLES) {
            let elsewhere = laid.layout.objects.iter().filter(|(_, tier)| *tier != laid.layout.data);
            moves.extend(elsewhere.map(|(name, _)| script(MOVE, &[tables.as_os_str(), name.as_ref()])));
        }
        moves
    }

    // The mark must be its first argument.
    fn starting(&self, owner: &Owner, _folder: &Path) -> Command {
        owner.command(&self.server)
    }

    /// It takes connections long before it serves them; who is served is greeted first.
    fn is_ready(folder: &Path) -> bool {
        let greeted = |mut stream: UnixStream| {
            stream.set_nonblocking(false)?;
            stream.set_read_timeout(Some(GREETING))?;
            stream.read(&mut [0; 1])
        };
        entered(&Mariadb::socket(folder)).and_then(greeted).is_ok_and(|bytes| bytes > 0)
    }

    fn passes(_words: &str) -> bool {
        false
    }

    fn blamed(&self, log: &str) -> Option<DatabaseError> {
        let (key, value, problem) = configuration::blamed(log)?;
        let problem = format!("MariaDB {} {problem}", self.version);
        Some(DatabaseError::Setting { key: key.to_owned(), value: value.to_owned(), problem })
    }
}

/// A connection, without a wait for a server that lets nobody in.
fn entered(socket: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let stream = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    net::connect(&stream, &SocketAddrUnix::new(socket)?)?;
    Ok(stream.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_lets_nobody_in_is_not_ready_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(life::run(folder.path())).unwrap();
        let address = SocketAddrUnix::new(Mariadb::socket(folder.path())).unwrap();
        let door = net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        net::bind(&door, &address).unwrap();
        net::listen(&door, 0).unwrap();
        let _first = entered(&Mariadb::socket(folder.path())).unwrap();
        assert!(!Mariadb::is_ready(folder.path()));
    }
}
