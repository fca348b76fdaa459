//! Block devices as modules: opened exclusively, judged, and only then handed out.
//!
//! The one idea: the judgement that counts is made on a tree that was read after the exclusive open. From then on the
//! kernel lets nobody mount, swap on or claim the device, so what was judged stays true for as long as it is open.
//!
//! What it does not do: it holds no rule; see [`crate::safety`].

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use units::Bytes;

use crate::consent::Consent;
use crate::module::{Module, ModuleKind};
use crate::safety::{self, Approved, Obstacle, Refusal};
use crate::stack::{self, DeviceNumber};
use crate::tree::{DeviceTree, look};

/// Why a device was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The path leads nowhere, or the kernel refused.
    #[error("open device `{path}`")]
    Kernel {
        /// As given.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The path leads to something else.
    #[error("open device `{path}`: a block device is needed, and this is not one")]
    NotADevice {
        /// As given.
        path: PathBuf,
    },
    /// The node was exchanged while it was opened.
    #[error("open device `{path}`: expected device {expected}, and {found} was opened")]
    Exchanged {
        /// As given.
        path: PathBuf,
        /// What the path led to before.
        expected: DeviceNumber,
        /// What was opened.
        found: DeviceNumber,
    },
    /// It may not be written.
    #[error(transparent)]
    Refused(#[from] Box<Refusal>),
}

/// Opens a device for reading and writing, exclusively, if these consents allow it.
///
/// # Errors
/// [`OpenError::Refused`] with every reason and the consent that would be enough, or what the kernel says.
pub fn open(path: &Path, consents: &[Consent]) -> Result<Module, OpenError> {
    let at = |source| OpenError::Kernel { path: path.to_path_buf(), source };
    // A symbolic link is resolved once; what is opened afterwards must be the node itself.
    let real = fs::canonicalize(path).map_err(at)?;
    let number = block_number(&fs::metadata(&real).map_err(at)?)
        .ok_or_else(|| OpenError::NotADevice { path: path.to_path_buf() })?;
    // Judged first from outside: a device that is refused is not even opened for writing.
    safety::judge(&DeviceTree::read(&[number]), number, consents)?;
    let file = open_exclusive(&real, number).map_err(|error| match error {
        Claim::Busy(refusal) => OpenError::Refused(refusal),
        Claim::Failed(source) => at(source),
    })?;
    let found = block_number(&file.metadata().map_err(at)?);
    if found != Some(number) {
        let found = found.unwrap_or_default();
        return Err(OpenError::Exchanged { path: path.to_path_buf(), expected: number, found });
    }
    let approved = judge_open(&file, number, consents)?;
    module(path, file, &approved).map_err(at)
}

/// Judges again with the device held: the tree is read now, and the device's own signatures through the descriptor.
fn judge_open(file: &File, number: DeviceNumber, consents: &[Consent]) -> Result<Approved, Box<Refusal>> {
    let mut tree = DeviceTree::read(&[number]);
    let size = tree.device(number).map_or(Bytes(0), |device| device.size);
    tree.set_signatures(number, look(file, size));
    safety::judge(&tree, number, consents)
}

fn module(path: &Path, file: File, approved: &Approved) -> io::Result<Module> {
    let kind = ModuleKind::Device { number: approved.number(), sequence: stack::sequence_of(&approved.number()) };
    Module::new(path.to_path_buf(), kind, approved.size(), file, "none".to_owned())
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
            obstacles: vec![Obstacle::Busy { device: device.clone() }],
            device,
            remedy: None,
        }))
    })
}

fn block_number(metadata: &fs::Metadata) -> Option<DeviceNumber> {
    metadata.file_type().is_block_device().then(|| DeviceNumber::from_raw(metadata.rdev()))
}
