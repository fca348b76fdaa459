//! The peer of an emulated device that adds nothing: a plain pass-through of the files of one folder, on the same library.
//!
//! The one idea: what it does is the least that a mount can do, so that what a device costs beyond the kernel's way shows.

use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::{Duration, SystemTime};

/// The word by which this program is asked to serve.
pub const SERVE: &str = "serve-plain";

const KNOWN: Duration = Duration::from_secs(3600);

/// Serves a folder at another until that is unmounted.
pub fn serve(below: &Path, at: &Path) {
    let mut config = Config::default();
    config.n_threads = Some(2);
    config.clone_fd = true;
    let plain = Plain { folder: below.to_owned(), open: RwLock::default() };
    fuser::mount(plain, at, &config).expect("mounting a plain pass-through");
}

/// Files by their numbers, which begin behind that of the root.
struct Plain {
    folder: PathBuf,
    open: RwLock<Vec<Arc<File>>>,
}

impl Plain {
    fn file(&self, number: INodeNo) -> Option<Arc<File>> {
        self.open.read().expect("whole").get(number.0.checked_sub(2)? as usize).cloned()
    }

    fn opened(&self, file: File) -> io::Result<FileAttr> {
        let metadata = file.metadata()?;
        let mut open = self.open.write().expect("whole");
        open.push(Arc::new(file));
        Ok(attributes(open.len() as u64 + 1, &metadata))
    }
}

fn attributes(number: u64, metadata: &Metadata) -> FileAttr {
    let time = SystemTime::UNIX_EPOCH;
    FileAttr {
        ino: INodeNo(number),
        size: metadata.len(),
        blocks: metadata.blocks(),
        atime: time,
        mtime: time,
        ctime: time,
        crtime: time,
        kind: if metadata.is_dir() { FileType::Directory } else { FileType::RegularFile },
        perm: (metadata.mode() & 0o7777) as u16,
        nlink: 1,
        uid: metadata.uid(),
        gid: metadata.gid(),
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

const PAST: FopenFlags = FopenFlags::FOPEN_DIRECT_IO.union(FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);

impl Filesystem for Plain {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        for flag in
            [InitFlags::FUSE_ASYNC_DIO, InitFlags::FUSE_HANDLE_KILLPRIV_V2, InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP]
        {
            let _ = config.add_capabilities(flag);
        }
        let _ = config.set_max_background(1024);
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let file = File::options().read(true).write(true).open(self.folder.join(name));
        match file.and_then(|file| self.opened(file)) {
            Ok(attributes) => reply.entry(&KNOWN, &attributes, Generation(0)),
            Err(_) => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let metadata = match self.file(ino) {
            Some(file) => file.metadata(),
            None => self.folder.metadata(),
        };
        match metadata {
            Ok(metadata) => reply.attr(&KNOWN, &attributes(ino.0, &metadata)),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if let (Some(size), Some(file)) = (size, self.file(ino)) {
            let _ = file.set_len(size);
        }
        self.getattr(request, ino, handle, reply);
    }

    fn create(&self, _: &Request, _: INodeNo, name: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(self.folder.join(name));
        match file.and_then(|file| self.opened(file)) {
            Ok(attributes) => reply.created(&KNOWN, &attributes, Generation(0), FileHandle(0), PAST),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), PAST);
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match std::fs::remove_file(self.folder.join(name)) {
            Ok(()) => reply.ok(),
            Err(_) => reply.error(Errno::ENOENT),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut data = vec![0; size as usize];
        match self.file(ino).ok_or(io::ErrorKind::NotFound.into()).and_then(|file| file.read_at(&mut data, offset)) {
            Ok(length) => reply.data(&data[..length]),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.file(ino).ok_or(io::ErrorKind::NotFound.into()).and_then(|file| file.write_at(data, offset)) {
            Ok(length) => reply.written(length as u32),
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }
}
