//! Folders in which runs mount their devices.
//!
//! The one idea: who may pass the folder above a mount decides who reaches its files, whatever rights the backing folder has there; so
//! each mount has a folder of its user's own above it. That is locked for as long as the run lives, and so one that was killed is known
//! by its lock.

use crate::mounts::unmounted;
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::fs::{File, Permissions, create_dir, read_dir, remove_dir, set_permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// How names of these folders begin.
const PREFIX: &str = "prony-emulated-";

/// Where in it the device is mounted.
const DEVICE: &str = "device";

/// A folder above a mount; dropping it removes it when nothing is mounted there.
#[derive(Debug)]
pub struct Home {
    path: PathBuf,
    _lock: File,
}

impl Home {
    /// A new one in a folder of temporary files, which nobody but this user may pass; or all may, who then meet the rights of the
    /// backing folder: for the server of a run, which root starts as somebody else.
    ///
    /// # Errors
    /// When nothing can be made there.
    pub fn make(folder: &Path, passed: bool) -> io::Result<Home> {
        let alone = Permissions::from_mode(0o700);
        let path = tempfile::Builder::new().prefix(PREFIX).permissions(alone).tempdir_in(folder)?.keep();
        if passed && rustix::process::geteuid().is_root() {
            set_permissions(&path, Permissions::from_mode(0o711))?;
        }
        let home = Home { _lock: locked(&path)?, path };
        create_dir(home.at())?;
        Ok(home)
    }

    /// Where the device is mounted.
    pub fn at(&self) -> PathBuf {
        self.path.join(DEVICE)
    }

    /// Removes the folders above a device that was unmounted when its run was gone.
    pub fn forsaken(at: &Path) {
        let _ = remove_dir(at).and_then(|()| at.parent().map_or(Ok(()), remove_dir));
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Never what is in them: it would be the files of the backing folder.
        Home::forsaken(&self.at());
    }
}

/// A folder above a mount whose run is gone.
#[derive(Debug)]
pub struct Abandoned {
    path: PathBuf,
    _lock: File,
}

impl Abandoned {
    /// Those of this user in a folder of temporary files, sorted by name.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn find(folder: &Path) -> io::Result<Vec<Abandoned>> {
        let ours = |path: PathBuf| {
            path.file_name()?.to_str()?.starts_with(PREFIX).then_some(())?;
            Some(Abandoned { _lock: locked(&path).ok()?, path })
        };
        let mut found: Vec<Abandoned> = read_dir(folder)?.filter_map(|entry| ours(entry.ok()?.path())).collect();
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Unmounts what is mounted there, and removes it.
    ///
    /// # Errors
    /// When a program still uses the device, or something else lies in the folder.
    pub fn remove(self) -> io::Result<()> {
        let at = self.path.join(DEVICE);
        unmounted(&at)?;
        match remove_dir(&at) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        remove_dir(&self.path)
    }
}

/// The lock on a folder of this user's that nobody else holds.
fn locked(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if folder.metadata()?.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
    Ok(folder)
}
