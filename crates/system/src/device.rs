//! Block devices as modules, and existing files: opened exclusively, judged, and only then handed out; or opened for reading only.
//!
//! The one idea: the judgement that counts is made on a tree that was read after the exclusive open. From then on the
//! kernel lets nobody mount, swap on or claim the device, so what was judged stays true for as long as it is open.
//!
//! A device that is only read needs no judgement: nothing can be written through its descriptors, so it may be in use.
//!
//! What it does not do: it holds no rule; see [`crate::safety`].

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use units::Bytes;

use crate::consent::Consent;
use crate::existing;
use crate::module::{Module, ModuleKind};
use crate::safety::{self, Approved, Obstacle, Refusal};
use crate::stack::{self, DeviceNumber};
use crate::tree::{DeviceTree, look_into, open_in};

/// Why a device was not opened.
/// `path` is as it was given.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum OpenError {
    /// The path leads nowhere, or the kernel refused.
    #[error("open device `{path}`")]
    Kernel { path: PathBuf, source: io::Error },
    /// The path leads to something else.
    #[error("open device `{path}`: a block device or a file is needed, and this is neither")]
    NotADevice { path: PathBuf },
    /// The node was exchanged while it was opened.
    #[error("open device `{path}`: expected device {expected}, and {found} was opened")]
    Exchanged { path: PathBuf, expected: DeviceNumber, found: DeviceNumber },
    /// It has no blocks.
    #[error("open device `{path}`: it has no size; there is no medium or file behind it")]
    Empty { path: PathBuf },
    /// It may not be written.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
}

/// Opens a device for reading and writing, exclusively, if these consents allow it.
///
/// # Errors
/// [`OpenError::Refused`] with every reason and the consent that would be enough, or what the kernel says.
pub fn open(path: &Path, consents: &[Consent]) -> Result<Module, OpenError> {
    if existing::is_file(path) {
        return existing::open(path, consents);
    }
    let at = |source| OpenError::Kernel { path: path.to_path_buf(), source };
    let (real, number) = found(path)?;
    // Judged first from outside: a device that is refused is not even opened for writing.
    judge(path, consents)?;
    let file = open_exclusive(&real, number).map_err(|error| match error {
        Claim::Busy(refusal) => OpenError::Refused(refusal),
        Claim::Failed(source) => at(source),
    })?;
    same_node(path, &file, number)?;
    let approved = judge_open(&file, number, consents)?;
    module(path, file, number, approved.size).map_err(at)
}

/// Whether a device would be opened for writing with these consents, as it is now; it is only read for that.
///
/// # Errors
/// As [`open`].
pub fn judge(path: &Path, consents: &[Consent]) -> Result<Approved, OpenError> {
    if existing::is_file(path) {
        return existing::judge(path, consents);
    }
    let (_, number) = found(path)?;
    Ok(safety::judge(&DeviceTree::read(&[number]), number, consents)?)
}

/// Opens a device for reading only. It may be mounted or held: it is not claimed, and nothing can be written to it.
///
/// # Errors
/// When it is no device or has no blocks, and what the kernel says.
pub fn open_read_only(path: &Path) -> Result<Module, OpenError> {
    if existing::is_file(path) {
        return existing::open_read_only(path);
    }
    let at = |source| OpenError::Kernel { path: path.to_path_buf(), source };
    let (real, number) = found(path)?;
    let flags = OFlags::NOFOLLOW.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(&real).map_err(at)?;
    same_node(path, &file, number)?;
    let size = stack::size_of(&number).filter(|size| size.0 > 0);
    let size = size.ok_or_else(|| OpenError::Empty { path: path.to_path_buf() })?;
    module(path, file, number, size).map_err(at)
}

/// The node that a path leads to. A symbolic link is resolved once; what is opened afterwards must be the node itself.
fn found(path: &Path) -> Result<(PathBuf, DeviceNumber), OpenError> {
    let at = |source| OpenError::Kernel { path: path.to_path_buf(), source };
    let real = fs::canonicalize(path).map_err(at)?;
    let number = DeviceNumber::of(&fs::metadata(&real).map_err(at)?);
    let number = number.ok_or_else(|| OpenError::NotADevice { path: path.to_path_buf() })?;
    Ok((real, number))
}

fn same_node(path: &Path, file: &File, expected: DeviceNumber) -> Result<(), OpenError> {
    let metadata = file.metadata().map_err(|source| OpenError::Kernel { path: path.to_path_buf(), source })?;
    match DeviceNumber::of(&metadata) {
        Some(found) if found == expected => Ok(()),
        found => {
            let found = found.unwrap_or_default();
            Err(OpenError::Exchanged { path: path.to_path_buf(), expected, found })
        }
    }
}

/// Judges again with the device held: the tree is read now, and the device's own signatures through the descriptor.
fn judge_open(file: &File, number: DeviceNumber, consents: &[Consent]) -> Result<Approved, Box<Refusal>> {
    let mut tree = DeviceTree::read(&[number]);
    if let Some(device) = tree.device_mut(number) {
        look_into(device, file);
    }
    safety::judge(&tree, number, consents)
}

fn module(path: &Path, file: File, number: DeviceNumber, size: Bytes) -> io::Result<Module> {
    let kind = ModuleKind::Device { number, sequence: stack::sequence_of(&number) };
    Module::new(path.to_path_buf(), kind, size, file, "none".to_owned())
}

enum Claim {
    Busy(Box<Refusal>),
    Failed(io::Error),
}

/// On a block device `O_EXCL` fails while anybody has mounted, swapped on or claimed it or a part of it (open(2)).
fn open_exclusive(real: &Path, number: DeviceNumber) -> Result<File, Claim> {
    let flags = (OFlags::EXCL | OFlags::NOFOLLOW).bits() as i32;
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(real).map_err(|error| {
        if error.kind() != io::ErrorKind::ResourceBusy {
            return Claim::Failed(error);
        }
        let device = real.file_name().map_or_else(|| number.to_string(), |name| name.to_string_lossy().into_owned());
        Claim::Busy(Box::new(Refusal {
            obstacles: vec![Obstacle::Busy { device: device.clone(), by: open_in(number) }],
            device,
            remedy: None,
            unknown: None,
        }))
    })
}
