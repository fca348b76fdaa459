//! Space for scratch files: a full disk must be an error before the run, not in the middle of it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use units::Bytes;

use super::{ScratchError, ScratchSpec};

/// Compares what all files take with what is free, filesystem by filesystem: two folders may share one.
pub(super) fn check_free(spec: &ScratchSpec<'_>) -> Result<(), ScratchError> {
    let mut demands: Vec<Demand> = Vec::new();
    for (index, dir) in spec.dirs.iter().enumerate() {
        let device = fs::metadata(dir).map_err(ScratchError::at("look at the folder", dir))?.dev();
        let modules = modules_in(spec, index);
        match demands.iter_mut().find(|demand| demand.device == device) {
            Some(demand) => demand.modules += modules,
            None => demands.push(Demand { device, dir: dir.clone(), modules }),
        }
    }
    demands.iter().try_for_each(|demand| demand.check(spec.size))
}

/// How many modules fall to a folder when they alternate.
fn modules_in(spec: &ScratchSpec<'_>, folder_index: usize) -> u32 {
    let folders = spec.dirs.len() as u32;
    (spec.modules + folders - 1 - folder_index as u32) / folders
}

struct Demand {
    device: u64,
    dir: PathBuf,
    modules: u32,
}

impl Demand {
    fn check(&self, size: Bytes) -> Result<(), ScratchError> {
        let needed = Bytes(size.0.saturating_mul(u64::from(self.modules)));
        let free = free_at(&self.dir).map_err(ScratchError::at("look for free space in", &self.dir))?;
        if needed.0 > free.0 {
            return Err(ScratchError::Full { dir: self.dir.clone(), modules: self.modules, needed, free });
        }
        Ok(())
    }
}

/// What this user may still use at a folder.
pub(crate) fn free_at(dir: &Path) -> io::Result<Bytes> {
    let space = rustix::fs::statvfs(dir)?;
    Ok(Bytes(space.f_bavail.saturating_mul(space.f_frsize)))
}

/// Gives the file its size and, where the filesystem can, its blocks.
pub(super) fn preallocate(file: &File, path: &Path, size: Bytes) -> Result<(), ScratchError> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size.0) {
        Ok(()) => Ok(()),
        // Without preallocation the filling takes the blocks; the free space was compared beforehand.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(size.0).map_err(ScratchError::at("size", path)),
        Err(Errno::NOSPC | Errno::DQUOT) => Err(full(path, size)),
        Err(errno) => Err(ScratchError::at("reserve space for", path)(errno.into())),
    }
}

fn full(path: &Path, size: Bytes) -> ScratchError {
    let dir = path.parent().and_then(Path::parent).unwrap_or(path).to_path_buf();
    let free = free_at(&dir).unwrap_or_default();
    ScratchError::Full { dir, modules: 1, needed: size, free }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_modules_share_out_between_the_folders() {
        let dirs = [PathBuf::from("a"), PathBuf::from("b"), PathBuf::from("c")];
        let spec = ScratchSpec { dirs: &dirs, run_id: "r", modules: 7, size: Bytes(1) };
        let shares: Vec<u32> = (0..3).map(|folder| modules_in(&spec, folder)).collect();
        assert_eq!(shares, [3, 2, 2]);
    }
}
