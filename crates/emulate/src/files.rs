//! What the kernel asks of a mount, handed to the tree and the device.
//!
//! The one idea: names, sizes and rights are those of the backing folder and pass at once; bytes go through the device.
//!
//! What it does not do: locks are the kernel's own business, because all who hold one do so on this machine.

use crate::locked;
use crate::operations::{Serves, errno};
use crate::tree::{Node, Tree, kind_of, stat_of};
use crate::volatile::SECTOR;
use fuser::{
    Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig, LockOwner,
    OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, Timespec, Timestamps, XattrFlags};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use workload::happening::Happening;

/// Nobody else changes the backing folder, so that what the kernel knows stays true.
const KNOWN: Duration = Duration::from_secs(3600);

/// The attribute of the root through which faults come in.
pub(crate) const FAULT: &str = "user.prony.fault";

/// The attribute of the root that names the parts that are lost.
pub(crate) const LOST: &str = "user.prony.lost";

/// The attribute of the root that counts answers, and those that were late.
pub(crate) const ANSWERS: &str = "user.prony.answers";

/// The attribute of the root that says what the model lets happen.
pub(crate) const KNOWS: &str = "user.prony.knows";

/// How the attributes of the root begin through which heat is read, a page behind the other from 0.
pub(crate) const HEAT: &str = "user.prony.heat.";

/// Requests of the page cache that the kernel sends at once.
const BACKGROUND: u16 = 1024;

/// Bytes of a request at most.
const LARGEST: u32 = 1 << 20;

/// What is named in a folder: kind and name.
type Listing = Arc<Vec<(u64, fuser::FileType, OsString)>>;

/// A mounted folder.
pub(crate) struct Files {
    tree: Arc<Tree>,
    device: Arc<dyn Serves>,
    /// Folders that are being listed, by handle.
    listings: Mutex<HashMap<u64, Listing>>,
    handles: AtomicU64,
    /// Whether the kernel keeps its cache true beside files that go past it.
    past_cache: bool,
    /// Whether all files do.
    all_past: bool,
}

impl Files {
    pub(crate) fn new(tree: Arc<Tree>, device: Arc<dyn Serves>, all_past: bool) -> Files {
        Files { tree, device, listings: Mutex::default(), handles: AtomicU64::new(1), past_cache: false, all_past }
    }

    /// How a file is opened. One that goes past the page cache sends its writes side by side; through the cache's code each would first
    /// ask for the file's size, one after the other.
    fn way(&self, flags: i32) -> FopenFlags {
        let direct =
            self.all_past || self.past_cache && OFlags::from_bits_retain(flags as u32).contains(OFlags::DIRECT);
        let past = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        FopenFlags::FOPEN_KEEP_CACHE | if direct { past } else { FopenFlags::empty() }
    }

    fn node(&self, number: INodeNo) -> Result<Arc<Node>, Errno> {
        self.device.alive()?;
        self.tree.node(number).map_err(told)
    }

    /// Makes a name with `make`, gives it to whoever asked, and looks it up.
    fn made(
        &self,
        request: &Request,
        (folder, name): (INodeNo, &OsStr),
        make: impl FnOnce(&Node) -> rustix::io::Result<()>,
    ) -> Result<(Arc<Node>, FileAttr), Errno> {
        let folder = self.node(folder)?;
        make(&folder).map_err(told)?;
        let owner = (Some(rustix::fs::Uid::from_raw(request.uid())), Some(rustix::fs::Gid::from_raw(request.gid())));
        // Who is not root makes what is his own.
        let _ = rustix::fs::chownat(folder.door(), name, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW);
        self.tree.look_up(&folder, name).map_err(told)
    }

    fn removed(&self, folder: INodeNo, name: &OsStr, flags: AtFlags) -> Result<(), Errno> {
        rustix::fs::unlinkat(self.node(folder)?.door(), name, flags).map_err(told)
    }

    fn resized(&self, node: &Node, size: u64) -> Result<(), Errno> {
        self.device.cut(node, size).map_err(|error| errno(&error))
    }
}

/// Which page of the heat an attribute asks for.
fn page(name: &OsStr) -> Option<usize> {
    name.to_str()?.strip_prefix(HEAT)?.parse().ok()
}

/// A program that goes past the page cache moves whole sectors, as on a device. Where its own memory begins is not seen from here.
fn in_sectors(flags: OpenFlags, offset: u64, bytes: u64) -> Result<(), Errno> {
    let direct = OFlags::from_bits_retain(flags.0 as u32).contains(OFlags::DIRECT);
    let whole = [offset, bytes].iter().all(|number| number.is_multiple_of(SECTOR as u64));
    if direct && !whole { Err(Errno::EINVAL) } else { Ok(()) }
}

fn told(error: rustix::io::Errno) -> Errno {
    Errno::from_i32(error.raw_os_error())
}

fn entry(reply: ReplyEntry, made: Result<(Arc<Node>, FileAttr), Errno>) {
    match made {
        Ok((_, attributes)) => reply.entry(&KNOWN, &attributes, Generation(0)),
        Err(error) => reply.error(error),
    }
}

fn empty(reply: ReplyEmpty, done: Result<(), Errno>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

/// Whether an attribute of the folder is kept there for this program, and is not for whoever uses the mount: without the one that names a
/// fast folder, files would be served with holes.
fn is_own(ino: INodeNo, name: &OsStr) -> bool {
    ino == INodeNo::ROOT && name.as_bytes().starts_with(b"user.prony.")
}

fn xattr(reply: ReplyXattr, size: u32, value: Result<Vec<u8>, Errno>) {
    match value {
        Ok(value) if size == 0 => reply.size(value.len() as u32),
        Ok(value) if value.len() > size as usize => reply.error(Errno::ERANGE),
        Ok(value) => reply.data(&value),
        Err(error) => reply.error(error),
    }
}

fn stamp(time: Option<TimeOrNow>) -> Timespec {
    let whole = |nanoseconds| Timespec { tv_sec: 0, tv_nsec: nanoseconds };
    match time {
        None => whole(rustix::fs::UTIME_OMIT),
        Some(TimeOrNow::Now) => whole(rustix::fs::UTIME_NOW),
        Some(TimeOrNow::SpecificTime(at)) => match at.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => Timespec { tv_sec: since.as_secs() as i64, tv_nsec: i64::from(since.subsec_nanos()) },
            Err(_) => Timespec { tv_sec: 0, tv_nsec: 0 },
        },
    }
}

impl Filesystem for Files {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let wanted = [
            InitFlags::FUSE_WRITEBACK_CACHE,
            InitFlags::FUSE_ASYNC_DIO,
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_BIG_WRITES,
            InitFlags::FUSE_MAX_PAGES,
            // Or else the kernel asks before each write whether there are rights to be taken away.
            InitFlags::FUSE_HANDLE_KILLPRIV_V2,
            InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
        ];
        // What a kernel does not know, it does without.
        wanted.into_iter().for_each(|flag| {
            let _ = config.add_capabilities(flag);
        });
        self.past_cache = config.capabilities().contains(InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP);
        let _ = config.set_max_write(LARGEST);
        let _ = config.set_max_background(BACKGROUND);
        let _ = config.set_congestion_threshold(BACKGROUND);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.node(parent).and_then(|folder| match self.tree.look_up(&folder, name) {
            // That it leads nowhere is told as something that lasts. A name that may come to lead somewhere at any time is asked for
            // again and again, and while somebody makes a file there the kernel drops its note of the name. Then it forgets the file as
            // soon as he has closed it, and believes an answer that is still on its way, with the size that the file had when it was empty.
            Err(rustix::io::Errno::NOENT) => {
                let nothing = FileAttr { ino: INodeNo(0), ..folder.attributes().map_err(told)? };
                Ok((folder, nothing))
            }
            found => found.map_err(told),
        });
        entry(reply, found);
    }

    fn forget(&self, _: &Request, ino: INodeNo, times: u64) {
        if let Some(gone) = self.tree.forget(ino, times) {
            self.device.forget(&gone);
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.node(ino).and_then(|node| node.attributes().map_err(told)) {
            Ok(attributes) => reply.attr(&KNOWN, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let set = || {
            let node = self.node(ino)?;
            if let Some(mode) = mode {
                rustix::fs::chmod(node.path(), Mode::from_raw_mode(mode & 0o7777)).map_err(told)?;
            }
            if uid.is_some() || gid.is_some() {
                let owner = (uid.map(rustix::fs::Uid::from_raw), gid.map(rustix::fs::Gid::from_raw));
                rustix::fs::chownat(node.door(), "", owner.0, owner.1, AtFlags::EMPTY_PATH).map_err(told)?;
            }
            if let Some(size) = size {
                self.resized(&node, size)?;
            }
            if atime.is_some() || mtime.is_some() {
                let times = Timestamps { last_access: stamp(atime), last_modification: stamp(mtime) };
                let at = rustix::fs::CWD;
                rustix::fs::utimensat(at, node.path(), &times, AtFlags::empty()).map_err(told)?;
            }
            node.attributes().map_err(told)
        };
        match set() {
            Ok(attributes) => reply.attr(&KNOWN, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let leads = self.node(ino).and_then(|node| rustix::fs::readlinkat(node.door(), "", Vec::new()).map_err(told));
        match leads {
            Ok(target) => reply.data(target.as_bytes()),
            Err(error) => reply.error(error),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        rdev: u32,
        reply: ReplyEntry,
    ) {
        let kind = rustix::fs::FileType::from_raw_mode(mode);
        let rights = Mode::from_raw_mode(mode & !umask & 0o7777);
        let make = |folder: &Node| rustix::fs::mknodat(folder.door(), name, kind, rights, rdev.into());
        entry(reply, self.made(request, (parent, name), make));
    }

    fn mkdir(&self, request: &Request, parent: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        let rights = Mode::from_raw_mode(mode & !umask & 0o7777);
        let make = |folder: &Node| rustix::fs::mkdirat(folder.door(), name, rights);
        entry(reply, self.made(request, (parent, name), make));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.removed(parent, name, AtFlags::empty()));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.removed(parent, name, AtFlags::REMOVEDIR));
    }

    fn symlink(&self, request: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let make = |folder: &Node| rustix::fs::symlinkat(target, folder.door(), name);
        entry(reply, self.made(request, (parent, name), make));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let flags = rustix::fs::RenameFlags::from_bits_retain(flags.bits());
        let renamed = || {
            let (from, to) = (self.node(parent)?, self.node(newparent)?);
            rustix::fs::renameat_with(from.door(), name, to.door(), newname, flags).map_err(told)
        };
        empty(reply, renamed());
    }

    fn link(&self, _: &Request, ino: INodeNo, newparent: INodeNo, newname: &OsStr, reply: ReplyEntry) {
        let linked = || {
            let (node, folder) = (self.node(ino)?, self.node(newparent)?);
            let (from, follow) = (node.path(), AtFlags::SYMLINK_FOLLOW);
            rustix::fs::linkat(rustix::fs::CWD, from, folder.door(), newname, follow).map_err(told)?;
            self.tree.look_up(&folder, newname).map_err(told)
        };
        entry(reply, linked());
    }

    fn open(&self, _: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let writes = flags.acc_mode() != OpenAccMode::O_RDONLY;
        let opened = |node: Arc<Node>| if writes { node.writable() } else { node.file().map(drop) };
        match self.node(ino).and_then(|node| opened(node).map_err(|error| errno(&error))) {
            Ok(()) => reply.opened(FileHandle(0), self.way(flags.0)),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let way = self.way(flags);
        let flags = OFlags::from_bits_retain(flags as u32) & (OFlags::EXCL | OFlags::TRUNC);
        let flags = flags | OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let rights = Mode::from_raw_mode(mode & !umask & 0o7777);
        let make = |folder: &Node| rustix::fs::openat(folder.door(), name, flags, rights).map(drop);
        match self.made(request, (parent, name), make) {
            Ok((_, attributes)) => {
                reply.created(&KNOWN, &attributes, Generation(0), FileHandle(0), way);
            }
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let answer = |read: Result<Vec<u8>, Errno>| match read {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(error),
        };
        // Behind the end nothing is read, from wherever that is asked for.
        let ends = |node: &Node| node.attributes().is_ok_and(|known| known.size <= offset);
        let whole = |node: &Arc<Node>| {
            in_sectors(flags, offset, size.into()).or_else(|error| ends(node).then_some(()).ok_or(error))
        };
        match self.node(ino).and_then(|node| whole(&node).map(|()| node)) {
            Ok(node) => self.device.read(&node, offset, size, Box::new(answer)),
            Err(error) => answer(Err(error)),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        how: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let answer = |written: Result<u32, Errno>| match written {
            Ok(bytes) => reply.written(bytes),
            Err(error) => reply.error(error),
        };
        let durable = OFlags::from_bits_retain(flags.0 as u32).intersects(OFlags::DSYNC);
        // What the page cache gives up ends where its file does.
        let cached = how.contains(WriteFlags::FUSE_WRITE_CACHE);
        let whole = if cached { Ok(()) } else { in_sectors(flags, offset, data.len() as u64) };
        match whole.and_then(|()| self.node(ino)) {
            Ok(node) => {
                if how.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID) {
                    node.drop_privileges();
                }
                self.device.write(&node, offset, data, durable, Box::new(answer));
            }
            Err(error) => answer(Err(error)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        empty(reply, self.device.alive());
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.device.flush(Box::new(|done| empty(reply, done)));
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.device.flush(Box::new(|done| empty(reply, done)));
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let listed = || -> Result<_, Errno> {
            let node = self.node(ino)?;
            let mut names =
                vec![(ino.0, fuser::FileType::Directory, ".".into()), (1, fuser::FileType::Directory, "..".into())];
            for name in std::fs::read_dir(node.path()).map_err(|error| errno(&error))? {
                let name = name.map_err(|error| errno(&error))?.file_name();
                if let Ok(stat) = stat_of(&node, &name) {
                    names.push((stat.st_ino, kind_of(stat.st_mode), name));
                }
            }
            Ok(names)
        };
        match listed() {
            Ok(names) => {
                let handle = self.handles.fetch_add(1, Ordering::Relaxed);
                locked(&self.listings).insert(handle, Arc::new(names));
                reply.opened(FileHandle(handle), FopenFlags::empty());
            }
            Err(error) => reply.error(error),
        }
    }

    fn readdir(&self, _: &Request, _: INodeNo, handle: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let listing = locked(&self.listings).get(&handle.0).cloned();
        let Some(listing) = listing else { return reply.error(Errno::EBADF) };
        for (at, (number, kind, name)) in listing.iter().enumerate().skip(offset as usize) {
            if reply.add(INodeNo(*number), at as u64 + 1, *kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        locked(&self.listings).remove(&handle.0);
        reply.ok();
    }

    fn statfs(&self, _: &Request, ino: INodeNo, reply: ReplyStatfs) {
        let known = self.node(ino).and_then(|node| {
            let folder = File::open(node.path()).map_err(|error| errno(&error))?;
            rustix::fs::fstatfs(folder).map_err(told)
        });
        let free = |blocks| if self.device.room().is_ok() { blocks } else { 0 };
        match known {
            Ok(known) => reply.statfs(
                known.f_blocks,
                free(known.f_bfree),
                free(known.f_bavail),
                known.f_files,
                known.f_ffree,
                known.f_bsize as u32,
                known.f_namelen as u32,
                known.f_frsize as u32,
            ),
            Err(error) => reply.error(error),
        }
    }

    fn setxattr(
        &self,
        request: &Request,
        ino: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        if name == FAULT {
            // Whoever may write in a folder may set its attributes; a device's faults are for who serves it.
            let theirs = ![0, rustix::process::geteuid().as_raw()].contains(&request.uid());
            if ino != INodeNo::ROOT || theirs {
                return reply.error(if theirs { Errno::EPERM } else { Errno::EINVAL });
            }
            let what = std::str::from_utf8(value).ok().and_then(|text| text.parse::<Happening>().ok());
            return empty(reply, what.ok_or(Errno::EINVAL).and_then(|what| self.device.happen(what)));
        }
        if is_own(ino, name) {
            return reply.error(Errno::EPERM);
        }
        let flags = XattrFlags::from_bits_retain(flags as u32);
        let set = self.node(ino).and_then(|node| rustix::fs::setxattr(node.path(), name, value, flags).map_err(told));
        empty(reply, set);
    }

    fn getxattr(&self, _: &Request, ino: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        if let Some(page) = page(name).filter(|_| ino == INodeNo::ROOT) {
            return xattr(reply, size, self.device.heat(page).ok_or(Errno::ENODATA));
        }
        match name.to_str().filter(|_| ino == INodeNo::ROOT) {
            Some(LOST) => return xattr(reply, size, Ok(self.device.lost().into_bytes())),
            Some(ANSWERS) => {
                let [all, late] = self.device.answers();
                return xattr(reply, size, Ok(format!("{all} {late}").into_bytes()));
            }
            Some(KNOWS) => return xattr(reply, size, Ok(self.device.knows().into_bytes())),
            _ if is_own(ino, name) => return xattr(reply, size, Err(Errno::ENODATA)),
            _ => {}
        }
        let value = self.node(ino).and_then(|node| {
            let mut value = vec![0; 65_536];
            let length = rustix::fs::getxattr(node.path(), name, &mut value[..]).map_err(told)?;
            value.truncate(length);
            Ok(value)
        });
        xattr(reply, size, value);
    }

    fn listxattr(&self, _: &Request, ino: INodeNo, size: u32, reply: ReplyXattr) {
        let names = self.node(ino).and_then(|node| {
            let mut names = vec![0; 65_536];
            let length = rustix::fs::listxattr(node.path(), &mut names[..]).map_err(told)?;
            names.truncate(length);
            let seen = names.split_inclusive(|byte| *byte == 0);
            let theirs = seen.filter(|name| !is_own(ino, OsStr::from_bytes(name)));
            Ok(theirs.flatten().copied().collect())
        });
        xattr(reply, size, names);
    }

    fn removexattr(&self, _: &Request, ino: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        if is_own(ino, name) {
            return reply.error(Errno::EPERM);
        }
        empty(reply, self.node(ino).and_then(|node| rustix::fs::removexattr(node.path(), name).map_err(told)));
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        let given = self.node(ino).and_then(|node| {
            // Holes give room back.
            if !mode.contains(FallocateFlags::PUNCH_HOLE) {
                self.device.room()?;
            }
            let file = node.file().map_err(|error| errno(&error))?;
            if mode.difference(FallocateFlags::KEEP_SIZE).is_empty() {
                rustix::fs::fallocate(&*file, mode, offset, length).map_err(told)?;
            } else {
                // The kernel lets holes and zeros through, and nothing that moves bytes about.
                self.device.hollow(&file, (offset, length), mode).map_err(|error| errno(&error))?;
            }
            if !mode.contains(FallocateFlags::KEEP_SIZE) {
                self.device.reserved(&file, offset + length);
            }
            Ok(())
        });
        empty(reply, given);
    }
}
