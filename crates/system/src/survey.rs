//! A read-only look at a place before a run is planned: how large, how much is free, how it can be reached.
//!
//! The one idea: planning touches nothing: no file is made and no device is opened.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use units::Bytes;

use crate::file::free_at;
use crate::stack::{self, DeviceNumber};

/// What was seen at a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderSurvey {
    /// The folder, without symbolic links.
    pub path: PathBuf,
    /// What this user may still use.
    pub free: Bytes,
    /// The smallest unit of direct I/O that filesystem and disk can be expected to take; 512 B where there is no disk.
    pub sector: Bytes,
}

/// What was seen at a block device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSurvey {
    /// Its size.
    pub size: Bytes,
    /// Its logical sector.
    pub sector: Bytes,
}

/// Why a place could not be looked at.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum SurveyError {
    /// The path leads nowhere.
    #[error("look at `{path}`")]
    Path { path: PathBuf, source: io::Error },
    /// A folder is needed.
    #[error("look at `{path}`: scratch files need a folder, and this is not one")]
    NotAFolder { path: PathBuf },
    /// A block device is needed.
    #[error("look at `{path}`: a block device, or a file that is not empty, is needed, and this is neither")]
    NotADevice { path: PathBuf },
    /// The kernel knows no such device.
    #[error("look at `{path}`: sysfs has no block device {number} or no size for it")]
    NoSize { path: PathBuf, number: DeviceNumber },
}

/// Looks at a folder in which scratch files are to be made.
///
/// # Errors
/// When the path leads nowhere or not to a folder.
pub fn folder(path: &Path) -> Result<FolderSurvey, SurveyError> {
    let at = |source| SurveyError::Path { path: path.to_path_buf(), source };
    let real = fs::canonicalize(path).map_err(at)?;
    if !fs::metadata(&real).map_err(at)?.is_dir() {
        return Err(SurveyError::NotAFolder { path: path.to_path_buf() });
    }
    Ok(FolderSurvey { free: free_at(&real).map_err(at)?, sector: unit(&real), path: real })
}

/// The unit of direct I/O on files at a place.
fn unit(real: &Path) -> Bytes {
    let filesystem = stack::mount_of(real).map_or_else(|| "unknown".to_owned(), |mount| mount.filesystem);
    let block_bytes = rustix::fs::statvfs(real).map_or(0, |space| space.f_frsize);
    let sector_bytes = stack::sector_bytes(stack::number_behind(real));
    Bytes(u64::from(stack::direct_unit(&filesystem, block_bytes, sector_bytes)))
}

/// Looks at a block device, or an existing file, without opening it.
///
/// # Errors
/// When the path leads nowhere, is neither or empty, or sysfs does not know it.
pub fn device(path: &Path) -> Result<DeviceSurvey, SurveyError> {
    let at = |source| SurveyError::Path { path: path.to_path_buf(), source };
    let real = fs::canonicalize(path).map_err(at)?;
    let found = fs::metadata(&real).map_err(at)?;
    if found.is_file() && found.len() > 0 {
        return Ok(DeviceSurvey { size: Bytes(found.len()), sector: unit(&real) });
    }
    if !found.file_type().is_block_device() {
        return Err(SurveyError::NotADevice { path: path.to_path_buf() });
    }
    let missing = |number| SurveyError::NoSize { path: path.to_path_buf(), number };
    let number = stack::number_behind(&real).ok_or_else(|| missing(DeviceNumber::default()))?;
    let size = stack::size_of(&number).filter(|size| size.0 > 0).ok_or_else(|| missing(number))?;
    let sector = Bytes(u64::from(stack::sector_bytes(Some(number))));
    Ok(DeviceSurvey { size, sector })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_not_a_folder_and_a_folder_is_not_a_device() {
        assert!(matches!(folder(Path::new("/proc/self/status")), Err(SurveyError::NotAFolder { .. })));
        assert!(matches!(device(Path::new("/proc/self")), Err(SurveyError::NotADevice { .. })));
        assert!(matches!(folder(Path::new("/no/such/place")), Err(SurveyError::Path { .. })));
    }
}
