//! The folder of a private server: made for one user alone, held by one of us at a time, copied as a whole.

use super::owner::Owner;
use crate::DatabaseError;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Longest path of a Unix socket, in bytes (`sun_path` without its closing zero).
const SOCKET: usize = 107;

/// Held while a server is started, stopped or copied; let go when dropped.
pub(super) struct Held(#[allow(dead_code, reason = "the lock ends with the file")] File);

/// Waits for its turn at the folder.
pub(super) fn hold(folder: &Path) -> Result<Held, DatabaseError> {
    let path = folder.join("lock");
    let failed = |source| DatabaseError::file("lock", &path, source);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    flock(&file, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    Ok(Held(file))
}

/// Makes a folder that only the owner of the server may look into; folders above it are made as usual.
pub(super) fn private(folder: &Path, owner: &Owner) -> Result<(), DatabaseError> {
    let failed = |source| DatabaseError::file("make", folder, source);
    fs::create_dir_all(folder).map_err(failed)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).map_err(failed)?;
    owner.give(folder)
}

/// Copies a folder with owners and times; blocks are shared where the filesystem can. What was at `to` goes only when the
/// copy is whole.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), DatabaseError> {
    let half = beside(to, "half");
    remove(&half)?;
    let made = Command::new("cp").args(["-a", "--reflink=auto"]).arg(from).arg(&half).output();
    let made = made.map_err(|source| DatabaseError::file("copy", from, source))?;
    if !made.status.success() {
        remove(&half)?;
        let text = String::from_utf8_lossy(&made.stderr).trim().to_owned();
        return Err(match text.contains("No space left") {
            true => DatabaseError::Full { place: half.display().to_string(), text },
            false => DatabaseError::file("copy", from, std::io::Error::other(text)),
        });
    }
    replace(&half, to)
}

/// Puts `new` in the place of `old`, at once.
pub(super) fn replace(new: &Path, old: &Path) -> Result<(), DatabaseError> {
    let gone = beside(old, "gone");
    remove(&gone)?;
    if old.exists() {
        fs::rename(old, &gone).map_err(|source| DatabaseError::file("move", old, source))?;
    }
    fs::rename(new, old).map_err(|source| DatabaseError::file("move", new, source))?;
    remove(&gone)
}

/// Removes a folder with all that is in it; one that is not there is no error.
pub(super) fn remove(folder: &Path) -> Result<(), DatabaseError> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(DatabaseError::file("remove", folder, source))
        }
        _ => Ok(()),
    }
}

/// The same name with an ending.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.{ending}"))
}

/// Whether a socket of this path can be; the system knows no longer ones.
pub(super) fn fits(socket: &Path) -> Result<(), DatabaseError> {
    let length = socket.as_os_str().len();
    if length <= SOCKET {
        return Ok(());
    }
    let text = format!("the path of a socket has at most {SOCKET} bytes, got {length}; choose a shorter cache folder");
    Err(DatabaseError::file("make", socket, std::io::Error::other(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_replaces_what_was_there_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("deep")).unwrap();
        fs::write(from.join("deep/file"), "new").unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(to.join("old"), "old").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("deep/file")).unwrap(), "new");
        assert!(!to.join("old").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_copy_that_fails_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        fs::create_dir(&to).unwrap();
        assert!(copy(&folder.path().join("missing"), &to).is_err());
        assert!(to.exists());
    }

    #[test]
    fn a_socket_whose_path_is_too_long_is_refused_before_a_server_starts() {
        assert!(fits(Path::new("/run/a.sock")).is_ok());
        assert!(fits(Path::new(&format!("/{}", "a".repeat(120)))).unwrap_err().to_string().contains("make"));
    }
}
