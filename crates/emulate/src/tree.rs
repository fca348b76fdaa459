//! The backing folder as the kernel knows it: numbers of nodes, and a door to each.
//!
//! The one idea: a node holds its file open without reading it (`O_PATH`), so that it stays the same file whatever it is called; reads and
//! writes open it once for all handles.

use crate::locked;
use fuser::{FileAttr, FileType, INodeNo};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Advice, AtFlags, Mode, OFlags, Stat, fstat, openat};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

/// A file or folder that the kernel has looked up.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) number: u64,
    /// The number of its file in the backing folder, which it keeps when the folder is mounted anew; 0 of a file on another file system.
    pub(crate) inode: u64,
    door: OwnedFd,
    file: OnceLock<Arc<File>>,
}

impl Node {
    /// A file that nobody has looked up, by its number in the backing folder.
    pub(crate) fn at(path: &Path, inode: u64) -> std::io::Result<Node> {
        let door = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Node { number: 0, inode, door, file: OnceLock::new() })
    }

    /// The same file behind another door.
    pub(crate) fn again(&self) -> std::io::Result<Node> {
        Ok(Node { number: self.number, inode: self.inode, door: self.door.try_clone()?, file: OnceLock::new() })
    }

    /// A path that leads to it whatever it is called.
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.door.as_raw_fd()).into()
    }

    /// Where it lies now, as far as it has a name.
    pub(crate) fn name(&self) -> Option<PathBuf> {
        std::fs::read_link(self.path()).ok()
    }

    pub(crate) fn door(&self) -> &OwnedFd {
        &self.door
    }

    /// Its bytes, to be read and, where this user may, written.
    pub(crate) fn file(&self) -> std::io::Result<Arc<File>> {
        if let Some(file) = self.file.get() {
            return Ok(file.clone());
        }
        let opened = Arc::new(opened(&self.path())?);
        Ok(self.file.get_or_init(|| opened).clone())
    }

    /// Opens it for a program that wants to write: a file that this user may only read is refused then, and not when what was written is
    /// to be kept.
    pub(crate) fn writable(&self) -> std::io::Result<()> {
        let flags = rustix::fs::fcntl_getfl(&*self.file()?)?;
        if flags.contains(OFlags::RDWR) {
            return Ok(());
        }
        Ok(rustix::fs::open(self.path(), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).map(drop)?)
    }

    /// It is written by somebody who may not leave it with the rights of its owner. A file that keeps them is as it was.
    pub(crate) fn drop_privileges(&self) {
        let lent = Mode::SUID | Mode::SGID;
        if let Ok(stat) = fstat(&self.door)
            && Mode::from_raw_mode(stat.st_mode).intersects(lent)
        {
            let _ = rustix::fs::chmod(self.path(), Mode::from_raw_mode(stat.st_mode & 0o7777) - lent);
        }
    }

    pub(crate) fn attributes(&self) -> rustix::io::Result<FileAttr> {
        Ok(attributes(self.number, &fstat(&self.door)?))
    }
}

#[derive(Debug, Default)]
struct Known {
    by_number: HashMap<u64, (Arc<Node>, u64)>,
    by_file: HashMap<(u64, u64), u64>,
    next: u64,
}

/// All nodes that the kernel knows.
#[derive(Debug)]
pub(crate) struct Tree {
    root: Arc<Node>,
    device: u64,
    known: Mutex<Known>,
}

impl Tree {
    /// The tree below a folder.
    pub(crate) fn open(folder: &Path) -> std::io::Result<Tree> {
        let door = rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let stat = fstat(&door)?;
        let root = Arc::new(Node { number: INodeNo::ROOT.0, inode: stat.st_ino, door, file: OnceLock::new() });
        Ok(Tree {
            root,
            device: stat.st_dev,
            known: Mutex::new(Known { next: INodeNo::ROOT.0 + 1, ..Known::default() }),
        })
    }

    pub(crate) fn node(&self, number: INodeNo) -> rustix::io::Result<Arc<Node>> {
        if number == INodeNo::ROOT {
            return Ok(self.root.clone());
        }
        locked(&self.known).by_number.get(&number.0).map(|(node, _)| node.clone()).ok_or(rustix::io::Errno::STALE)
    }

    /// Looks a name up in a folder. The kernel knows the node once more from now on.
    pub(crate) fn look_up(&self, folder: &Node, name: &OsStr) -> rustix::io::Result<(Arc<Node>, FileAttr)> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let door = openat(&folder.door, name, flags, Mode::empty())?;
        let stat = fstat(&door)?;
        let mut known = locked(&self.known);
        let key = (stat.st_dev, stat.st_ino);
        let number = match known.by_file.get(&key) {
            Some(number) => *number,
            None => {
                let number = known.next;
                known.next += 1;
                let inode = if stat.st_dev == self.device { stat.st_ino } else { 0 };
                let node = Arc::new(Node { number, inode, door, file: OnceLock::new() });
                known.by_number.insert(number, (node, 0));
                known.by_file.insert(key, number);
                number
            }
        };
        let (node, count) = known.by_number.get_mut(&number).ok_or(rustix::io::Errno::STALE)?;
        *count += 1;
        Ok((node.clone(), attributes(number, &stat)))
    }

    /// The kernel forgets a node so many times; answers with a node that nobody knows any more, if its file has no name either.
    pub(crate) fn forget(&self, number: INodeNo, times: u64) -> Option<Arc<Node>> {
        let mut known = locked(&self.known);
        let (node, count) = known.by_number.get_mut(&number.0)?;
        *count = count.saturating_sub(times);
        if *count > 0 {
            return None;
        }
        let stat = fstat(node.door.as_fd()).ok()?;
        let (node, _) = known.by_number.remove(&number.0)?;
        known.by_file.remove(&(stat.st_dev, stat.st_ino));
        (stat.st_nlink == 0).then_some(node)
    }
}

/// Opens a backing file as a device has its medium: for both ways where this user may, with no time of access to keep where that can
/// be left out, and without reading ahead, which is for whoever sits above the device. The kernel reads ahead into pages of up to 2 MiB,
/// and then each write of 4 KiB has to look through the whole page.
fn opened(path: &Path) -> rustix::io::Result<File> {
    let open = |flags: OFlags| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
    let file =
        open(OFlags::RDWR | OFlags::NOATIME).or_else(|_| open(OFlags::RDWR)).or_else(|_| open(OFlags::RDONLY))?;
    // Without it, a device is only slower.
    let _ = rustix::fs::fadvise(&file, 0, None, Advice::Random);
    Ok(File::from(file))
}

/// Reads until the buffer is full or the file ends; answers with how much there was.
pub(crate) fn filled(file: &File, data: &mut [u8], offset: u64) -> std::io::Result<usize> {
    let mut length = 0;
    while length < data.len() {
        match file.read_at(&mut data[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Whether a name in a folder leads to something, links not followed.
pub(crate) fn stat_of(folder: &Node, name: &OsStr) -> rustix::io::Result<Stat> {
    rustix::fs::statat(&folder.door, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// A kind as the kernel numbers it.
pub(crate) fn kind_of(mode: u32) -> FileType {
    use rustix::fs::FileType as Mode;
    match Mode::from_raw_mode(mode) {
        Mode::Directory => FileType::Directory,
        Mode::Symlink => FileType::Symlink,
        Mode::Fifo => FileType::NamedPipe,
        Mode::Socket => FileType::Socket,
        Mode::CharacterDevice => FileType::CharDevice,
        Mode::BlockDevice => FileType::BlockDevice,
        _ => FileType::RegularFile,
    }
}

fn attributes(number: u64, stat: &Stat) -> FileAttr {
    FileAttr {
        ino: INodeNo(number),
        size: stat.st_size as u64,
        blocks: stat.st_blocks as u64,
        atime: time(stat.st_atime, stat.st_atime_nsec),
        mtime: time(stat.st_mtime, stat.st_mtime_nsec),
        ctime: time(stat.st_ctime, stat.st_ctime_nsec),
        crtime: SystemTime::UNIX_EPOCH,
        kind: kind_of(stat.st_mode),
        perm: (stat.st_mode & 0o7777) as u16,
        nlink: stat.st_nlink as u32,
        uid: stat.st_uid,
        gid: stat.st_gid,
        rdev: stat.st_rdev as u32,
        blksize: 4096,
        flags: 0,
    }
}

fn time(seconds: i64, nanoseconds: u64) -> SystemTime {
    let of = Duration::new(seconds.unsigned_abs(), 0);
    let whole = if seconds < 0 { SystemTime::UNIX_EPOCH - of } else { SystemTime::UNIX_EPOCH + of };
    whole + Duration::from_nanos(nanoseconds)
}
