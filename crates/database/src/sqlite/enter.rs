//! The one way into a SQLite file.
//!
//! The one idea: SQLite trusts what lies beside a file, and lets a statement name others. So each connection is opened here: the
//! file and what lies beside it are looked at first, and no statement of the connection reaches another file.
//!
//! What it does not do: it cannot hold off somebody who changes the folder between this look and SQLite's.

use super::lock;
use crate::Failure;
use crate::session::ANSWER_MAX;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use system::beside::{Planted, must_be_ours};

/// Pragmas by which a statement has SQLite write into folders of its choice.
const ELSEWHERE: [&str; 3] = ["temp_store_directory", "data_store_directory", "lock_proxy_file"];

/// Opens a connection to a file, which is made where there is none and it is to be `made`. It waits for other processes
/// until `stop` is set.
///
/// # Errors
/// When the file or what lies beside it is not what SQLite leaves, or it cannot be opened.
pub(super) fn enter(path: &Path, made: bool, stop: &Arc<AtomicBool>) -> Result<Connection, Failure> {
    let at = safe(path).map_err(Failure::refused)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let flags = if made { flags | OpenFlags::SQLITE_OPEN_CREATE } else { flags };
    let opened = Connection::open_with_flags(at, flags).and_then(|connection| {
        // A script that attaches a file, or vacuums into one, writes where nobody has looked.
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        // As much as a server may answer.
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, ANSWER_MAX as i32)?;
        connection.authorizer(Some(allowed))?;
        lock::wait_unless(&connection, stop)?;
        Ok(connection)
    });
    opened.map_err(|error| super::session::failure(&error))
}

fn allowed(asked: AuthContext<'_>) -> Authorization {
    match asked.action {
        AuthAction::Pragma { pragma_name, .. }
            if ELSEWHERE.iter().any(|name| pragma_name.eq_ignore_ascii_case(name)) =>
        {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }
}

/// The name of the file behind all links, beside which nothing lies that SQLite did not leave there.
fn safe(path: &Path) -> Result<PathBuf, String> {
    let said = |error: io::Error| format!("{}: {error}", path.display());
    // SQLite follows links before it looks beside the file. Nothing that begins with a folder is a URI to it.
    let at = match fs::canonicalize(path) {
        Ok(at) => at,
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => Path::new(".").join(path),
        Err(error) => return Err(said(error)),
    };
    // It is not opened for that: closing it would let go of the locks that other connections of this process hold on it.
    if fs::metadata(&at).is_ok_and(|found| !found.is_file()) {
        return Err(format!("{} is no regular file", at.display()));
    }
    must_be_ours(&at).map_err(|planted| match planted {
        Planted::Unreachable(name, error) => format!("{}: {error}", name.display()),
        Planted::Strange(name, why) => {
            format!("{} {why}; it was not made by Prony or SQLite, so move it away first", name.display())
        }
    })?;
    Ok(at)
}

/// Opens a regular file to be read; nobody waits for a pipe.
pub(super) fn regular(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no regular file")) }
}

/// The first 100 bytes of a file, or what there is of them.
pub(super) fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(100);
    regular(path)?.take(100).read_to_end(&mut head)?;
    Ok(head)
}
