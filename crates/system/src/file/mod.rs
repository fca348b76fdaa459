//! Scratch files: the modules of a `file` system, made by Prony and by nobody else.
//!
//! The one idea: Prony writes only into files that it has just created, in folders that it has just created. Both are
//! made exclusively and reached through held descriptors, so that no symbolic link and no file of the same name can
//! stand in their place. A locked marker says whose the folder is and whether its maker still lives.
//!
//! What it does not do: it does not fill the files. A preallocated file has no data, and reading it measures nothing;
//! each module says whether it was filled.

mod abandoned;
mod marker;
mod reserve;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use units::Bytes;

pub use abandoned::{Abandoned, abandoned};
pub(crate) use reserve::free_at;

use crate::module::{Module, ModuleKind};
use crate::stack;
use marker::Marker;

/// What scratch files to make.
#[derive(Clone, Copy, Debug)]
pub struct ScratchSpec<'a> {
    /// Folders that exist; modules alternate between them.
    pub dirs: &'a [PathBuf],
    /// The run that the files are for; part of the folder's name.
    pub run_id: &'a str,
    /// How many files; zero makes the folders only, for workloads that make files of their own.
    pub modules: u32,
    /// Size of each file.
    pub size: Bytes,
}

/// Why scratch files could not be made.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum ScratchError {
    /// No folder was given.
    #[error("make scratch files: at least one folder is needed, got none")]
    NoFolder,
    /// A file of no size cannot be measured.
    #[error("make scratch files in `{dir}`: the size must be at least 512 B, got {size} B")]
    Size { dir: PathBuf, size: u64 },
    /// Less is free than is asked for.
    #[error(
        "make {modules} scratch files in `{dir}`: {} needed, {} free; give a smaller size, fewer modules or another folder",
        units::bytes(*needed), units::bytes(*free)
    )]
    Full { dir: PathBuf, modules: u32, needed: Bytes, free: Bytes },
    /// Somebody put something of his own into a folder of ours.
    #[error("the scratch folder `{dir}` holds `{name}`, which Prony did not make, and stays as it is")]
    Foreign { dir: PathBuf, name: String },
    /// The kernel refused.
    #[error("{action} `{path}`")]
    Kernel { action: &'static str, path: PathBuf, source: io::Error },
}

impl ScratchError {
    fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Kernel { action, path, source }
    }
}

/// Scratch folders with their files. Dropping it removes them, after an error as well, unless [`Scratch::keep`] was
/// called.
#[derive(Debug)]
pub struct Scratch {
    folders: Vec<Folder>,
    modules: Vec<Module>,
    kept: bool,
}

impl Scratch {
    /// Makes a folder in each of the given ones and the files in them, preallocated.
    ///
    /// # Errors
    /// [`ScratchError::Full`] before anything is made when the free space is known to be too small, and whatever the
    /// kernel refuses; nothing is left behind then.
    pub fn create(spec: &ScratchSpec<'_>) -> Result<Self, ScratchError> {
        let first = spec.dirs.first().ok_or(ScratchError::NoFolder)?;
        if spec.modules > 0 && spec.size.0 < 512 {
            return Err(ScratchError::Size { dir: first.clone(), size: spec.size.0 });
        }
        reserve::check_free(spec)?;
        let mut scratch = Self { folders: Vec::new(), modules: Vec::new(), kept: false };
        for dir in spec.dirs {
            scratch.folders.push(Folder::create(dir, spec.run_id)?);
        }
        for index in 0..spec.modules {
            let folder = &scratch.folders[index as usize % scratch.folders.len()];
            let module = folder.create_module(index, spec.size)?;
            scratch.modules.push(module);
        }
        Ok(scratch)
    }

    /// The files, in order.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The files, to be trimmed or marked as filled.
    pub fn modules_mut(&mut self) -> &mut [Module] {
        &mut self.modules
    }

    /// The folders that were made, one for each that was given. A workload may make files of its own in them; they
    /// are removed with the rest.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(|folder| folder.path.as_path())
    }

    /// Keeps folders and files beyond this value and names them.
    pub fn keep(&mut self) -> Vec<PathBuf> {
        self.kept = true;
        self.folders().map(Path::to_path_buf).collect()
    }

    /// Removes everything now and says what could not be removed, which a drop cannot.
    ///
    /// # Errors
    /// The first folder that could not be removed; the others are removed all the same.
    pub fn remove(mut self) -> Result<(), ScratchError> {
        self.kept = true;
        self.modules.clear();
        let results: Vec<_> = self.folders.iter().map(Folder::remove).collect();
        results.into_iter().collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.kept {
            self.modules.clear();
            for folder in &self.folders {
                // Nobody can be told here; the marker lets a later call find what is left.
                let _ = folder.remove();
            }
        }
    }
}

/// How many scratch folders of one process may stand side by side in a folder.
const NAMES_MAX: u32 = 1000;

/// One folder of Prony's own, held open.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    descriptor: OwnedFd,
    filesystem: String,
    /// Its lock is the sign of life; it ends with the process, however that ends.
    _marker: File,
}

impl Folder {
    fn create(dir: &Path, run_id: &str) -> Result<Self, ScratchError> {
        let dir = fs::canonicalize(dir).map_err(ScratchError::at("find the folder", dir))?;
        let parent = rustix::fs::open(&dir, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|e| ScratchError::at("open the folder", &dir)(e.into()))?;
        let path = Self::make(&parent, &dir, run_id)?;
        // From here on the folder exists: an error below must take it away again.
        let made = Self::occupy(&parent, &path, run_id);
        if made.is_err() {
            let _ = fs::remove_dir_all(&path);
        }
        made
    }

    /// Makes a folder under a name that is free: two systems of one run may lie in one place.
    fn make(parent: &OwnedFd, dir: &Path, run_id: &str) -> Result<PathBuf, ScratchError> {
        let plain = format!("{}{}-{}", marker::FOLDER_PREFIX, safe_name(run_id), std::process::id());
        let mut name = plain.clone();
        for attempt in 2.. {
            match rustix::fs::mkdirat(parent, &name, Mode::RWXU) {
                Err(Errno::EXIST) if attempt < NAMES_MAX => name = format!("{plain}-{attempt}"),
                Err(errno) => return Err(ScratchError::at("make the scratch folder", &dir.join(name))(errno.into())),
                Ok(()) => break,
            }
        }
        Ok(dir.join(name))
    }

    fn occupy(parent: &OwnedFd, path: &Path, run_id: &str) -> Result<Self, ScratchError> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(parent, path.file_name().unwrap_or_default(), flags, Mode::empty())
            .map_err(|e| ScratchError::at("open the scratch folder", path)(e.into()))?;
        let marker = create_exclusive(&descriptor, marker::FILE_NAME)
            .and_then(|file| Marker::of_this_process(run_id).write_locked(file))
            .map_err(ScratchError::at("write the marker of", path))?;
        let filesystem = stack::mount_of(path).map_or_else(|| "unknown".to_owned(), |mount| mount.filesystem);
        Ok(Self { path: path.to_path_buf(), descriptor, filesystem, _marker: marker })
    }

    fn create_module(&self, index: u32, size: Bytes) -> Result<Module, ScratchError> {
        let name = format!("module-{index}.dat");
        let path = self.path.join(&name);
        let file = create_exclusive(&self.descriptor, &name).map_err(ScratchError::at("make", &path))?;
        reserve::preallocate(&file, &path, size)?;
        Module::new(path.clone(), ModuleKind::File, size, file, self.filesystem.clone())
            .map_err(ScratchError::at("open", &path))
    }

    /// Removes the folder if it is still the one that was made. What somebody laid there is his, and keeps the folder: then only the files
    /// of ours go, and the marker stays for `clean`.
    fn remove(&self) -> Result<(), ScratchError> {
        let at = || ScratchError::at("remove the scratch folder", &self.path);
        let own = rustix::fs::fstat(&self.descriptor).map_err(|e| at()(e.into()))?;
        match fs::symlink_metadata(&self.path) {
            Ok(found) if found.ino() == own.st_ino && found.dev() == own.st_dev => {
                let Some(name) = marker::foreign(&self.path).into_iter().next() else {
                    return fs::remove_dir_all(&self.path).map_err(at());
                };
                let mut ours =
                    marker::names(&self.path).filter(|name| marker::is_ours(name) && name != marker::FILE_NAME);
                ours.try_for_each(|name| fs::remove_file(self.path.join(name)).map_err(at()))?;
                Err(ScratchError::Foreign { dir: self.path.clone(), name })
            }
            // Somebody moved or removed it: what stands there now is not ours.
            _ => Ok(()),
        }
    }
}

/// Opens a file that an earlier run left, for reading only: nothing can be written to it.
///
/// # Errors
/// When it is no file, or the kernel refuses.
pub fn open_read_only(path: &Path) -> Result<Module, ScratchError> {
    let at = || ScratchError::at("open", path);
    let file = open_own(path).map_err(at())?;
    let metadata = file.metadata().map_err(at())?;
    if !metadata.is_file() {
        return Err(at()(io::Error::from(io::ErrorKind::InvalidInput)));
    }
    let filesystem = stack::mount_of(path).map_or_else(|| "unknown".to_owned(), |mount| mount.filesystem);
    Module::new(path.to_path_buf(), ModuleKind::File, Bytes(metadata.len()), file, filesystem).map_err(at())
}

/// Makes a file that was not there, in a held folder.
fn create_exclusive(folder: impl AsFd, name: &str) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?))
}

/// Opens a file for reading that must not be a symbolic link.
fn open_own(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::NOFOLLOW.bits() as i32).open(path)
}

/// A run id as part of a file name: letters, digits, dot, dash and underscore.
fn safe_name(run_id: &str) -> String {
    run_id.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect()
}
