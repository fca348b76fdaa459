//! One module of a system: something of a fixed size that can be read and written at offsets.
//!
//! The one idea: a module owns its descriptors. Both ways, past the page cache and through it, are opened when the
//! module is made, from one inode, so that no path is looked up again later and nothing can be swapped underneath.
//!
//! What it does not do: it issues no I/O of a workload. Filling it is the engine's work; the module only remembers
//! whether that was done, because reading a hole measures nothing.

use std::fs::{File, OpenOptions};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Advice, AtFlags, FallocateFlags, OFlags, StatxFlags};
use units::Bytes;

use crate::stack::{self, DeviceNumber};

/// `FALLOC_FL_NO_HIDE_STALE`, which the library names for this kernel alone and not for Miri.
const NO_HIDE_STALE: FallocateFlags = FallocateFlags::from_bits_retain(4);

/// Which way to the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Past the page cache (`O_DIRECT`).
    Direct,
    /// Through the page cache.
    Buffered,
}

/// What direct I/O demands of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// Of offset and length, in bytes.
    pub offset_bytes: u32,
    /// Of the buffer's address, in bytes.
    pub memory_bytes: u32,
}

/// Whether a module is a file of Prony's own or a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleKind {
    /// A scratch file.
    File,
    /// A block device with this number; `sequence` is the kernel's count of disks, which tells a device from
    /// another one that came under the same number later.
    Device {
        /// Major and minor.
        number: DeviceNumber,
        /// `diskseq` of sysfs, where the kernel has it (5.15).
        sequence: Option<u64>,
    },
}

/// Why a way to a module's data is closed.
#[derive(Debug, thiserror::Error)]
#[error(
    "open `{path}` for direct I/O: the {filesystem} filesystem refuses O_DIRECT; use buffered access or another folder"
)]
pub struct NotDirect {
    path: PathBuf,
    filesystem: String,
}

/// Why a module could not be trimmed, flushed or looked at.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum ModuleError {
    /// The kernel refused.
    #[error("{action} `{path}`")]
    Kernel { action: &'static str, path: PathBuf, source: io::Error },
    /// Neither discard nor punching holes is possible here.
    #[error("trim `{path}`: the device or filesystem cannot discard; leave `trim` out of the state policy")]
    CannotTrim { path: PathBuf },
    /// The device is gone, or another one has taken its number.
    #[error("`{path}` has vanished: device {number} is no longer the one that was opened")]
    Vanished { path: PathBuf, number: DeviceNumber },
}

/// What a trim did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trimmed {
    /// The blocks are given back; a device may or may not have told its medium.
    Discarded,
    /// The device was told through its write-zeroes command with the wish to unmap; reads return zeros.
    ZeroedAndUnmapped,
}

/// A module: descriptors, size and what direct I/O demands.
#[derive(Debug)]
pub struct Module {
    path: PathBuf,
    kind: ModuleKind,
    bytes: Bytes,
    sector_bytes: u32,
    filesystem: String,
    buffered: Arc<File>,
    direct: Option<(Arc<File>, Alignment)>,
    filled: bool,
    read_only: bool,
}

impl Module {
    /// Takes over an open descriptor and opens the direct way beside it. What was opened for reading only stays so on
    /// both ways: the kernel then refuses every write, whoever asks for it.
    pub(crate) fn new(
        path: PathBuf,
        kind: ModuleKind,
        bytes: Bytes,
        file: File,
        filesystem: String,
    ) -> io::Result<Self> {
        let alignment = direct_alignment(&file);
        let sector_bytes = stack::sector_bytes(stack::device_of(&file));
        let block_bytes = rustix::fs::fstatvfs(&file).map_or(0, |space| space.f_frsize);
        let read_only = rustix::fs::fcntl_getfl(&file)? & OFlags::RWMODE == OFlags::RDONLY;
        let direct = reopen(&file, OFlags::DIRECT, !read_only).ok().map(|direct| {
            let unit = stack::direct_unit(&filesystem, block_bytes, sector_bytes);
            (Arc::new(direct), alignment.unwrap_or(Alignment { offset_bytes: unit, memory_bytes: unit }))
        });
        let offset_bytes = direct.as_ref().map_or(sector_bytes, |(_, a)| a.offset_bytes);
        Ok(Self {
            path,
            kind,
            bytes,
            sector_bytes: offset_bytes.max(1),
            filesystem,
            buffered: Arc::new(file),
            direct,
            filled: false,
            read_only,
        })
    }

    /// Where it is, for people.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// File or device.
    pub fn kind(&self) -> ModuleKind {
        self.kind
    }

    /// Its size.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Whether it was opened for reading only, and is read as it was found.
    pub fn read_only(&self) -> bool {
        self.read_only
    }

    /// The smallest unit that can be addressed past the page cache, in bytes; the disk's logical sector where there
    /// is no direct way.
    pub fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    /// What direct I/O demands; none where the filesystem refuses it.
    pub fn alignment(&self) -> Option<Alignment> {
        self.direct.as_ref().map(|(_, alignment)| *alignment)
    }

    /// Type of the filesystem below a file (`ext4`), or `none` for a device.
    pub fn filesystem(&self) -> &str {
        &self.filesystem
    }

    /// The descriptor for a way, which stays open for as long as anybody has it.
    ///
    /// # Errors
    /// [`NotDirect`] where the filesystem refuses `O_DIRECT`.
    pub fn file(&self, access: Access) -> Result<&Arc<File>, NotDirect> {
        match (access, &self.direct) {
            (Access::Buffered, _) => Ok(&self.buffered),
            (Access::Direct, Some((file, _))) => Ok(file),
            (Access::Direct, None) => Err(NotDirect { path: self.path.clone(), filesystem: self.filesystem.clone() }),
        }
    }

    /// Whether every block was written since the module was made or last trimmed.
    pub fn filled(&self) -> bool {
        self.filled
    }

    /// To be called once every block was written.
    pub fn mark_filled(&mut self) {
        self.filled = true;
    }

    /// Gives all blocks back. The module counts as not filled afterwards.
    ///
    /// A block device is asked for a discard first (`FALLOC_FL_NO_HIDE_STALE`, kernels before 6.12), then for
    /// write-zeroes with unmap (`FALLOC_FL_PUNCH_HOLE` on a block device). A file keeps its size and loses its blocks.
    ///
    /// # Errors
    /// [`ModuleError::CannotTrim`] where neither is possible, [`ModuleError::Kernel`] for anything else.
    pub fn trim(&mut self) -> Result<Trimmed, ModuleError> {
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        self.filled = false;
        if let ModuleKind::Device { .. } = self.kind {
            match self.deallocate(punch | NO_HIDE_STALE) {
                Err(ModuleError::CannotTrim { .. }) => {}
                done => return done.map(|()| Trimmed::Discarded),
            }
            return self.deallocate(punch).map(|()| Trimmed::ZeroedAndUnmapped);
        }
        self.deallocate(punch).map(|()| Trimmed::Discarded)
    }

    fn deallocate(&self, flags: FallocateFlags) -> Result<(), ModuleError> {
        match rustix::fs::fallocate(&self.buffered, flags, 0, self.bytes.0) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => {
                Err(ModuleError::CannotTrim { path: self.path.clone() })
            }
            Err(errno) => Err(self.failed("trim", errno)),
        }
    }

    /// Whether ranges of it can be given back, so that they read as zeroes. A file is asked for one behind its end; of a device
    /// only the kernel knows, by its limit for zeroes.
    pub fn punches(&self) -> bool {
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match self.kind {
            ModuleKind::Device { number, .. } => stack::zeroes(&number),
            _ => rustix::fs::fallocate(&self.buffered, punch, self.bytes.0.next_multiple_of(1 << 20), 1 << 20).is_ok(),
        }
    }

    /// Makes what was written durable. Where nothing can have been written nothing is asked: flushing what others have
    /// written is not reading.
    ///
    /// # Errors
    /// Whatever the device or filesystem reports; data may be lost then.
    pub fn sync(&self) -> Result<(), ModuleError> {
        if self.read_only {
            return Ok(());
        }
        rustix::fs::fsync(&self.buffered).map_err(|errno| self.failed("sync", errno))
    }

    /// Writes back and drops what the page cache holds of this module. Other caches (of the device, of the host
    /// below a virtual machine) are out of reach, and a page that another process has mapped stays.
    ///
    /// # Errors
    /// When the write-back or the advice fails.
    pub fn drop_cache(&self) -> Result<(), ModuleError> {
        self.sync()?;
        let length = NonZeroU64::new(self.bytes.0);
        rustix::fs::fadvise(&self.buffered, 0, length, Advice::DontNeed)
            .map_err(|errno| self.failed("drop the caches of", errno))
    }

    /// Whether the device is still the one that was opened. To be asked when an operation failed, so that the error
    /// can say that the device is gone and not only that I/O failed.
    ///
    /// # Errors
    /// [`ModuleError::Vanished`].
    pub fn present(&self) -> Result<(), ModuleError> {
        let ModuleKind::Device { number, sequence } = self.kind else { return Ok(()) };
        let gone = || ModuleError::Vanished { path: self.path.clone(), number };
        let size = stack::size_of(&number).ok_or_else(gone)?;
        // A removed loop device stays in sysfs with the size zero.
        let same = sequence.is_none() || stack::sequence_of(&number) == sequence;
        if size.0 < self.bytes.0 || !same { Err(gone()) } else { Ok(()) }
    }

    fn failed(&self, action: &'static str, errno: rustix::io::Errno) -> ModuleError {
        ModuleError::Kernel { action, path: self.path.clone(), source: errno.into() }
    }
}

/// Opens the same inode again with more flags. Through `/proc/self/fd` no path is walked, so the file cannot have
/// been exchanged, and no second exclusive claim is made on a block device.
fn reopen(file: &File, flags: OFlags, writable: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(writable)
        .custom_flags(flags.bits() as i32)
        .open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// `STATX_DIOALIGN` (Linux 6.1); none where the kernel or the filesystem does not say.
fn direct_alignment(file: &File) -> Option<Alignment> {
    let statx = rustix::fs::statx(file.as_fd(), c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let known = statx.stx_mask & StatxFlags::DIOALIGN.bits() != 0 && statx.stx_dio_offset_align > 0;
    known
        .then_some(Alignment { offset_bytes: statx.stx_dio_offset_align, memory_bytes: statx.stx_dio_mem_align.max(1) })
}
