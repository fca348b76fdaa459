//! The folder of a private server: ours, with two folders in it that are given away; held by one of us at a time; its data
//! copied as a whole.
//!
//! The one idea: whoever runs as root must follow nothing that the server's user made. He owns `data` and `run` alone, inside
//! of a folder in which he can make nothing; everything is opened without following links, and given away by its descriptor.

use super::owner::Owner;
use super::process::{self, LOOK};
use crate::DatabaseError;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, RenameFlags, flock, fsync, open, renameat_with, syncfs};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest path of a Unix socket, in bytes (`sun_path` without its closing zero).
const SOCKET: usize = 107;

/// How names of data end that were put aside because a check found them broken.
pub(crate) const ASIDE: &str = "broken";

/// More than this is no file of ours.
const BYTES_MAX: u64 = 1 << 20;

/// Follows no link, and waits for nobody at the other end of a pipe.
const SAFELY: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// Held while a server is started, stopped or copied; let go when dropped.
pub(super) struct Held(#[allow(dead_code, reason = "the lock ends with the file")] File);

/// Waits for its turn at the folder, until it shall stop.
pub(super) fn hold(folder: &Path, stop: &AtomicBool) -> Result<Held, DatabaseError> {
    let path = folder.join("lock");
    let failed = |error: Errno| DatabaseError::file("lock", &path, error.into());
    let file = open(&path, OFlags::RDWR | OFlags::CREATE | SAFELY, Mode::RUSR | Mode::WUSR).map_err(failed)?;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if stop.load(Ordering::Relaxed) => return Err(DatabaseError::Stopped),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(LOOK),
            Err(error) => return Err(failed(error)),
            Ok(()) => return Ok(Held(file.into())),
        }
    }
}

/// Makes the folder of a server, in which nobody but us makes anything; folders above it are made as usual. One of an older
/// version, which the server's user owns, is taken back, and what he may have put in the place of our files goes.
pub(super) fn ours(folder: &Path, owner: &Owner) -> Result<(), DatabaseError> {
    fs::create_dir_all(folder).map_err(|source| DatabaseError::file("make", folder, source))?;
    let failed = |source| DatabaseError::file("take back", folder, source);
    let opened = opened(folder)?;
    let foreign = opened.metadata().map_err(failed)?.uid() != rustix::process::geteuid().as_raw();
    if foreign {
        fchown(&opened, Some(rustix::process::geteuid().as_raw()), Some(rustix::process::getegid().as_raw()))
            .map_err(failed)?;
    }
    // Others pass it to reach `run`, and read nothing in it.
    let mode = if owner.name.is_some() { 0o711 } else { 0o700 };
    opened.set_permissions(fs::Permissions::from_mode(mode)).map_err(failed)?;
    if foreign {
        ["lock", "claim"].iter().try_for_each(|name| gone(&folder.join(name)))?;
    }
    Ok(())
}

/// Makes a folder that only the server's user may look into.
pub(super) fn given(folder: &Path, owner: &Owner) -> Result<(), DatabaseError> {
    let failed = |source| DatabaseError::file("make", folder, source);
    match fs::create_dir(folder) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => return Err(failed(source)),
        _ => {}
    }
    let opened = opened(folder)?;
    opened.set_permissions(fs::Permissions::from_mode(0o700)).map_err(failed)?;
    owner.give(&opened).map_err(|source| DatabaseError::file("hand over", folder, source))
}

/// A folder that is one, and no link to one.
fn opened(folder: &Path) -> Result<File, DatabaseError> {
    let opened = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | SAFELY, Mode::empty());
    opened.map(File::from).map_err(|error| DatabaseError::file("open", folder, error.into()))
}

/// Writes a file of ours anew, in place of whatever is there. Others may read it: the server does.
pub(super) fn write(path: &Path, text: &str) -> Result<(), DatabaseError> {
    let new = beside(path, "new");
    let mut file = made(&new, Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| fs::rename(&new, path));
    written.map_err(|source| DatabaseError::file("write", path, source))
}

/// A new file that only we can read, in place of whatever is there.
pub(super) fn log(path: &Path) -> Result<File, DatabaseError> {
    made(path, Mode::RUSR | Mode::WUSR)
}

fn made(path: &Path, mode: Mode) -> Result<File, DatabaseError> {
    gone(path)?;
    let made = open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::APPEND | SAFELY, mode);
    made.map(File::from).map_err(|error| DatabaseError::file("make", path, error.into()))
}

/// Removes a file or a link; one that is not there is no error.
pub(super) fn gone(path: &Path) -> Result<(), DatabaseError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(DatabaseError::file("remove", path, source)),
        _ => Ok(()),
    }
}

/// The beginning of a file; nothing of a link, a pipe, or what is not there.
pub(super) fn read(path: &Path) -> Option<String> {
    let file = File::from(open(path, OFlags::RDONLY | SAFELY, Mode::empty()).ok()?);
    file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Copies a folder of the server's user with modes and times; blocks are shared where the filesystem can. He carries it out
/// himself: what he puts in its way meanwhile leads to nothing that he may not read and write. What was at `to` goes only when
/// the copy is whole and on the disk: whoever measures next meets no pages of it that are still to be written.
pub(super) fn copy(from: &Path, to: &Path, owner: &Owner, stop: &AtomicBool) -> Result<(), DatabaseError> {
    let half = beside(to, "half");
    remove(&half)?;
    given(&half, owner)?;
    match copied(from, &half, owner, stop) {
        Ok(()) => replace(&half, to),
        Err(error) => remove(&half).and(Err(error)),
    }
}

/// Copies into a folder that is there and empty.
pub(super) fn copied(from: &Path, to: &Path, owner: &Owner, stop: &AtomicBool) -> Result<(), DatabaseError> {
    let mut command = owner.command(Path::new("cp"));
    command.args(["-a", "--reflink=auto", "-T"]).arg(from).arg(to).env("LC_ALL", "C");
    let made = process::output(command, stop)?;
    if made.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&made.stderr).trim().to_owned();
    Err(match text.contains("No space left") {
        true => DatabaseError::Full { place: to.display().to_string(), text },
        false => DatabaseError::file("copy", from, io::Error::other(text)),
    })
}

/// Puts `new` in the place of `old` at once, when all of it is on the disk. What is cut off leaves `old` as it was, or `new`
/// whole.
pub(super) fn replace(new: &Path, old: &Path) -> Result<(), DatabaseError> {
    let failed = |error: Errno| DatabaseError::file("move", new, error.into());
    written(new)?;
    match renameat_with(CWD, new, CWD, old, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(Errno::NOENT) => fs::rename(new, old).map_err(|source| DatabaseError::file("move", new, source))?,
        // A filesystem that cannot exchange, such as NFS.
        Err(Errno::INVAL | Errno::NOSYS | Errno::XDEV) => {
            let gone = beside(old, "gone");
            remove(&gone)?;
            let moved = fs::rename(old, &gone).and_then(|()| fs::rename(new, old));
            moved.map_err(|source| DatabaseError::file("move", new, source))?;
            remove(&gone)?;
        }
        Err(error) => return Err(failed(error)),
    }
    let above = opened(old.parent().unwrap_or(Path::new("/")))?;
    fsync(&above).map_err(failed)?;
    // What was at `old` lies there now.
    remove(new)
}

/// Sees to it that a folder is on the disk.
pub(super) fn written(path: &Path) -> Result<(), DatabaseError> {
    let folder = opened(path)?;
    syncfs(&folder).and_then(|()| fsync(&folder)).map_err(|error| DatabaseError::file("write", path, error.into()))
}

/// Removes a folder with all that is in it; one that is not there is no error.
pub(super) fn remove(folder: &Path) -> Result<(), DatabaseError> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(DatabaseError::file("remove", folder, source)),
        _ => Ok(()),
    }
}

/// The same name with an ending.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.{ending}"))
}

/// Whether a socket of this path can be.
///
/// # Errors
/// When it is longer than the system knows any.
pub fn fits(socket: &Path) -> Result<(), DatabaseError> {
    let length = socket.as_os_str().len();
    if length <= SOCKET {
        return Ok(());
    }
    Err(DatabaseError::LongPath { path: socket.to_owned(), length, most: SOCKET })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    fn myself() -> Owner {
        Owner::of(&["nobody"])
    }

    /// A copy of what belongs to whoever asks for it.
    fn copy(from: &Path, to: &Path) -> Result<(), DatabaseError> {
        let owner = Owner { name: None, ..myself() };
        super::copy(from, to, &owner, &AtomicBool::new(false))
    }

    #[test]
    fn nothing_that_the_servers_user_may_not_read_comes_into_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let other = myself();
        if other.name.is_none() {
            return crate::tests::skip::skipped("only root copies what belongs to somebody else");
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let copy = || super::copy(&from, &to, &other, &AtomicBool::new(false));
        given(&from, &other).unwrap();
        fs::write(from.join("file"), "his").unwrap();
        other.give(&File::open(from.join("file")).unwrap()).unwrap();
        copy().unwrap();
        let (file, given) = (fs::metadata(to.join("file")).unwrap(), fs::metadata(&to).unwrap());
        assert_eq!((file.uid(), given.uid(), given.mode() & 0o777), (other.uid, other.uid, 0o700));
        // As what a name in his folder may lead to by the time that it is read.
        fs::write(from.join("secret"), "root's").unwrap();
        fs::set_permissions(from.join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        let refused = copy().unwrap_err();
        assert!(format!("{refused:?}").contains("Permission denied"), "{refused:?}");
        assert!(to.join("file").exists() && !to.join("secret").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no half of a copy is left");
    }

    #[test]
    fn what_is_removed_takes_nothing_with_it_that_a_link_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let (removed, kept) = (folder.path().join("removed/deep"), folder.path().join("kept"));
        fs::create_dir_all(&removed).unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "kept").unwrap();
        symlink(&kept, removed.join("link")).unwrap();
        remove(&folder.path().join("removed")).unwrap();
        assert!(kept.join("file").exists() && !removed.exists());
    }

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
        // One that was cut off before is begun anew.
        fs::create_dir(folder.path().join("more.half")).unwrap();
        fs::write(folder.path().join("more.half/part"), "part").unwrap();
        copy(&from, &folder.path().join("more")).unwrap();
        assert!(!folder.path().join("more/part").exists() && folder.path().join("more/deep/file").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_copy_that_fails_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        fs::create_dir(&to).unwrap();
        assert!(copy(&folder.path().join("missing"), &to).is_err());
        assert!(to.exists());
    }

    /// The filesystem tells of a file which of its extents have no place on the disk yet, because nothing of them was written.
    #[test]
    fn a_copy_is_on_the_disk_when_it_stands_in_its_place() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("file"), vec![7; 8 << 20]).unwrap();
        let unwritten = |file: &Path| {
            let said = Command::new("filefrag").arg("-v").arg(file).output().ok()?;
            said.status.success().then(|| String::from_utf8_lossy(&said.stdout).contains("delalloc"))
        };
        if unwritten(&from.join("file")) != Some(true) {
            return crate::tests::skip::skipped("no filesystem here that tells what it has not written yet");
        }
        copy(&from, &to).unwrap();
        assert_eq!(unwritten(&to.join("file")), Some(false));
    }

    #[test]
    fn no_link_is_followed_and_no_pipe_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link) = (folder.path().join("victim"), folder.path().join("link"));
        fs::write(&victim, "1\n").unwrap();
        for work in [(|link| write(link, "x")) as fn(&Path) -> Result<(), DatabaseError>, |link| {
            log(link)?.write_all(b"x").map_err(|source| DatabaseError::file("write", link, source))
        }] {
            symlink(&victim, &link).unwrap();
            work(&link).unwrap();
            assert!(!link.is_symlink() && fs::read_to_string(&link).unwrap() == "x");
            fs::remove_file(&link).unwrap();
        }
        symlink(&victim, &link).unwrap();
        assert_eq!(read(&link), None);
        symlink(&victim, folder.path().join("lock")).unwrap();
        assert!(hold(folder.path(), &AtomicBool::new(false)).is_err());
        let other = folder.path().join("other");
        fs::create_dir(&other).unwrap();
        symlink(&other, folder.path().join("data")).unwrap();
        assert!(given(&folder.path().join("data"), &myself()).is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "1\n");
        assert_eq!(fs::metadata(&other).unwrap().uid(), fs::metadata(folder.path()).unwrap().uid());
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert_eq!(read(&pipe), None);
    }

    #[test]
    fn a_socket_whose_path_is_too_long_is_refused_before_a_server_starts() {
        assert!(fits(Path::new("/run/a.sock")).is_ok());
        let refused = fits(Path::new(&format!("/{}", "a".repeat(120)))).unwrap_err();
        assert!(refused.to_string().ends_with("has 121 bytes, and that of a socket 107 at most"), "{refused}");
    }
}
