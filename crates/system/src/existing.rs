//! Existing files as modules, by their names: written with consent, as a device is, and never made longer or shorter.
//!
//! The one idea: to be judged, a file is a tree of one device. Its name and inode are its identity, loop devices and swap that
//! stand on it hold it, and what it carries is looked for as on a disk. So the rules of [`crate::safety`] hold for it as they are.
//!
//! What it does not do: the kernel knows no exclusive claim on a file. Who opens it later is not kept away.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use units::Bytes;

use crate::consent::Consent;
use crate::device::OpenError;
use crate::module::{Module, ModuleKind};
use crate::mounts::unescape;
use crate::safety::{self, Approved};
use crate::stack::{self, DeviceNumber, children, read_line};
use crate::tree::{self, Device, DeviceKind, DeviceTree, Identity, IdentityKind, Signatures};

/// Whether a path leads to a file, and not to a device.
pub(crate) fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Whether a file would be opened for writing with these consents.
///
/// # Errors
/// As of a device.
pub(crate) fn judge(path: &Path, consents: &[Consent]) -> Result<Approved, OpenError> {
    let at = |source| OpenError::Kernel { path: path.to_path_buf(), source };
    let file = File::open(path).map_err(at)?;
    judge_open(path, &file, consents)
}

/// Opens a file for reading and writing if these consents allow it.
///
/// # Errors
/// As of a device.
pub(crate) fn open(path: &Path, consents: &[Consent]) -> Result<Module, OpenError> {
    judge(path, consents)?;
    let at = |source| OpenError::Kernel { path: path.to_path_buf(), source };
    let flags = OFlags::NOFOLLOW.bits() as i32;
    let real = fs::canonicalize(path).map_err(at)?;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&real).map_err(at)?;
    // What was opened may be another one by now.
    judge_open(path, &file, consents)?;
    module(path, file).map_err(at)
}

/// Opens a file for reading only.
///
/// # Errors
/// What the kernel says.
pub(crate) fn open_read_only(path: &Path) -> Result<Module, OpenError> {
    let at = |source| OpenError::Kernel { path: path.to_path_buf(), source };
    module(path, File::open(path).map_err(at)?).map_err(at)
}

fn module(path: &Path, file: File) -> io::Result<Module> {
    let filesystem = stack::mount_of(path).map_or_else(|| "unknown".to_owned(), |mount| mount.filesystem);
    let size = Bytes(file.metadata()?.len());
    Module::new(path.to_path_buf(), ModuleKind::File, size, file, filesystem)
}

fn judge_open(path: &Path, file: &File, consents: &[Consent]) -> Result<Approved, OpenError> {
    let at = |source| OpenError::Kernel { path: path.to_path_buf(), source };
    let device = device(path, file).map_err(at)?;
    let number = device.number;
    Ok(safety::judge(&DeviceTree { devices: vec![device] }, number, consents)?)
}

fn device(path: &Path, file: &File) -> io::Result<Device> {
    let found = file.metadata()?;
    let name = fs::canonicalize(path)?.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let id = format!("file-{}-{}", name.replace(char::is_whitespace, "_"), found.ino());
    let mut device = Device {
        name,
        number: DeviceNumber::default(),
        kind: DeviceKind::Other,
        size: Bytes(found.len()),
        parent: None,
        lower: Vec::new(),
        mounts: Vec::new(),
        swap: false,
        holders: holders(&found),
        writers: tree::writers_of(&found),
        read_only: false,
        signatures: Signatures::NotRead,
        probed: None,
        identities: vec![Identity { kind: IdentityKind::Uuid, id }],
    };
    tree::look_into(&mut device, file);
    Ok(device)
}

/// Loop devices that show the file as a disk, and swap in it.
fn holders(file: &Metadata) -> Vec<String> {
    let same = |path: &Path| fs::metadata(path).is_ok_and(|one| (one.dev(), one.ino()) == (file.dev(), file.ino()));
    let shown = |disk: &std::path::PathBuf| {
        read_line(&disk.join("loop/backing_file")).is_some_and(|path| same(Path::new(&path)))
    };
    let disks = children(Path::new("/sys/block")).filter(shown);
    let mut by: Vec<String> =
        disks.map(|disk| format!("{} (loop)", disk.file_name().unwrap_or_default().to_string_lossy())).collect();
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let paths = swaps.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next());
    by.extend(
        paths.filter(|path| same(Path::new(&unescape(path)))).map(|_| "the kernel, which swaps to it".to_owned()),
    );
    by
}
