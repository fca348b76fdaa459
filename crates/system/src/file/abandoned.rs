//! Scratch folders whose maker is gone: after `kill -9` nobody removed them.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use units::Bytes;

use super::marker::{self, Marker};
use super::{ScratchError, open_own};

/// A scratch folder that no living process holds, either because its process died or because it was kept on request.
/// While this value lives it holds the folder's lock.
#[derive(Debug)]
pub struct Abandoned {
    path: PathBuf,
    marker: Marker,
    lock: File,
}

/// The scratch folders in `dir` that Prony made and no living process holds, in order of name.
///
/// # Errors
/// When `dir` cannot be listed. A folder in it that cannot be read is not reported.
pub fn abandoned(dir: &Path) -> io::Result<Vec<Abandoned>> {
    let mut found: Vec<Abandoned> =
        fs::read_dir(dir)?.filter_map(|entry| Abandoned::look(&entry.ok()?.path())).collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

impl Abandoned {
    /// That of this user at a path, if it is one that no living process holds.
    pub fn look(path: &Path) -> Option<Self> {
        // By its name first: what is not ours may be a mount that never answers.
        path.file_name()?.to_str()?.starts_with(marker::FOLDER_PREFIX).then_some(())?;
        let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir)?;
        // Anybody may copy a marker; what another user's folder holds is his.
        (found.uid() == rustix::process::geteuid().as_raw()).then_some(())?;
        let lock = open_own(&path.join(marker::FILE_NAME)).ok()?;
        lock.metadata().ok()?.is_file().then_some(())?;
        let marker = Marker::read(&lock)?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(Self { path: path.to_path_buf(), marker, lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run that it was made for.
    pub fn run_id(&self) -> &str {
        &self.marker.run_id
    }

    /// The process that made it.
    pub fn pid(&self) -> u32 {
        self.marker.pid
    }

    /// What its files occupy.
    pub fn bytes(&self) -> Bytes {
        Bytes(occupied(&self.path))
    }

    /// What lies in it that Prony did not make: it keeps the folder.
    pub fn foreign(&self) -> Vec<String> {
        marker::foreign(&self.path)
    }

    /// Removes the folder and everything in it.
    ///
    /// # Errors
    /// When something in it cannot be removed or is not Prony's, or the folder was exchanged since it was found.
    pub fn remove(self) -> Result<(), ScratchError> {
        let at = || ScratchError::at("remove the abandoned scratch folder", &self.path);
        let now = fs::symlink_metadata(self.path.join(marker::FILE_NAME)).map_err(at())?;
        let held = self.lock.metadata().map_err(at())?;
        if (now.dev(), now.ino()) != (held.dev(), held.ino()) {
            return Err(at()(io::Error::new(
                io::ErrorKind::NotFound,
                "its marker is no longer the one that was found",
            )));
        }
        if let Some(name) = self.foreign().into_iter().next() {
            return Err(ScratchError::Foreign { dir: self.path.clone(), name });
        }
        fs::remove_dir_all(&self.path).map_err(at())
    }
}

fn occupied(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => occupied(&entry.path()),
        // st_blocks counts units of 512 bytes.
        Ok(metadata) => metadata.blocks() * 512,
        Err(_) => 0,
    };
    entries.map(size).sum()
}
