//! From a description to a mount, and back to an empty folder.

use crate::clockwork::Clockwork;
use crate::fault::Fault;
use crate::files::{FAULT, Files};
use crate::operations::Device;
use crate::place::Places;
use crate::tree::Tree;
use crate::volatile::Volatile;
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use model::file::Description;
use recorder::{Clock, WallClock};
use rustix::fs::{Mode, OFlags, XattrFlags};
use rustix::mount::UnmountFlags;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Bytes, Nanos};

/// Operations that a machine holds at once; more wait before it.
const SLOTS: u32 = 1024;

/// Bytes of a module of a model that does not say.
const MODULE_BYTES: u64 = 1 << 40;

/// What `statfs` says of a folder that is mounted through FUSE.
const FUSE: i64 = 0x6573_5546;

/// Threads that take requests from the kernel.
const SESSIONS: usize = 2;

/// How often the way through the kernel is measured.
const WAYS: usize = 201;

/// What is mounted, and where.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The device; none to add nothing to the folder.
    pub model: Option<Description>,
    /// Modules of it that take part.
    pub modules: u16,
    /// Bytes of the memory that acknowledges writes before they are durable.
    pub memory: Bytes,
    /// The folder that holds the files.
    pub backing: PathBuf,
    /// An empty folder through which they are seen.
    pub at: PathBuf,
    /// Seed of what the model draws.
    pub seed: u64,
}

impl Settings {
    fn module_bytes(&self) -> u64 {
        self.model.as_ref().and_then(model::module_bytes).unwrap_or(MODULE_BYTES)
    }
}

/// Why nothing was mounted.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// The backing folder cannot be opened.
    #[error("opening the backing folder `{0}`")]
    Backing(PathBuf, #[source] std::io::Error),
    /// The kernel has no FUSE, or this user may not mount.
    #[error("mounting at `{0}`")]
    Mount(PathBuf, #[source] std::io::Error),
    /// The mount is there and does not answer as it should.
    #[error("measuring the way through the mount at `{0}`")]
    Way(PathBuf, #[source] std::io::Error),
    /// The model is no storage, or not of this size.
    #[error("building the device `{0}`")]
    Model(String, #[source] model::Unbuilt),
    /// The model carries transactions.
    #[error("the model `{0}` is a server, and no storage")]
    Server(String),
    /// A thread did not start.
    #[error("starting the thread of the device")]
    Thread(#[source] std::io::Error),
}

/// A mount; dropping it unmounts.
pub struct Mounted {
    session: Option<BackgroundSession>,
    at: PathBuf,
    /// What a request takes beyond the device, there and back.
    pub way: Nanos,
}

impl Mounted {
    /// Mounts a folder.
    ///
    /// # Errors
    /// When the model is no storage, the folder cannot be opened, or nothing can be mounted there.
    pub fn mount(settings: &Settings) -> Result<Mounted, MountError> {
        // A device does not wait for a core: all threads that start below inherit this. Where this user may not have it, a busy
        // machine answers late.
        let _ = rustix::process::setpriority_process(None, -20);
        let tree =
            Tree::open(&settings.backing).map_err(|error| MountError::Backing(settings.backing.clone(), error))?;
        let clockwork = settings.model.as_ref().map(|model| driven(model, settings)).transpose()?;
        let places = Places::new(settings.modules, settings.module_bytes());
        let device = Arc::new(Device::new(clockwork, places, Volatile::new(settings.memory.0 as usize)));
        let failed = |error| MountError::Mount(settings.at.clone(), error);
        let session =
            Session::new(Files::new(tree, device.clone()), &settings.at, &config(settings)).map_err(failed)?;
        let session = session.spawn().map_err(failed)?;
        let mut mounted = Mounted { session: Some(session), at: settings.at.clone(), way: Nanos::ZERO };
        if settings.model.is_some() {
            mounted.way = mounted.measured_way().map_err(|error| MountError::Way(settings.at.clone(), error))?;
            device.begin(mounted.way);
        }
        Ok(mounted)
    }

    /// What a read takes that the device adds nothing to: the median of many.
    fn measured_way(&self) -> std::io::Result<Nanos> {
        let path = self.at.join(format!(".prony-way-{}", std::process::id()));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::DIRECT | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?);
        let read = typical_read(&file);
        std::fs::remove_file(&path)?;
        read
    }

    /// Whether it is still mounted: somebody else may have unmounted it.
    pub fn serves(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.guard.is_finished())
    }

    /// Unmounts.
    ///
    /// # Errors
    /// When the kernel refuses, because a program still holds something open there; then it goes on serving.
    pub fn unmount(&mut self) -> std::io::Result<()> {
        if self.serves() {
            match rustix::mount::unmount(&self.at, UnmountFlags::empty()) {
                // Who is not root has it done by the program that mounted it.
                Ok(()) | Err(rustix::io::Errno::PERM) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // The kernel has closed the session, or somebody else has; its thread ends by itself.
        self.session.take().map_or(Ok(()), BackgroundSession::umount_and_join)
    }
}

/// Whether a folder is seen through FUSE.
pub fn is_mounted(at: &Path) -> bool {
    rustix::fs::statfs(at).is_ok_and(|stat| stat.f_type == FUSE)
}

/// Hands a fault to the device that is mounted at a folder.
///
/// # Errors
/// When none is.
pub fn inflict(at: &Path, fault: Fault) -> std::io::Result<()> {
    if !is_mounted(at) {
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, "no device is mounted there"));
    }
    Ok(rustix::fs::setxattr(at, FAULT, fault.to_string().as_bytes(), XattrFlags::empty())?)
}

/// The median time of many reads of one page past the page cache.
fn typical_read(file: &File) -> std::io::Result<Nanos> {
    let mut room = vec![0u8; 8192];
    let from = room.as_ptr().align_offset(4096);
    let page = &mut room[from..from + 4096];
    file.write_all_at(page, 0)?;
    let clock = WallClock::new();
    let mut taken = Vec::with_capacity(WAYS);
    for _ in 0..WAYS {
        let before = clock.now();
        file.read_exact_at(page, 0)?;
        taken.push(clock.now() - before);
    }
    taken.sort_unstable();
    Ok(taken[WAYS / 2])
}

fn config(settings: &Settings) -> Config {
    let mut config = Config::default();
    let name = settings.model.as_ref().map_or("nothing", |model| &model.name);
    config.mount_options = vec![
        MountOption::FSName(format!("prony-{name}")),
        MountOption::Subtype("prony".into()),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
        MountOption::NoSuid,
        MountOption::NoDev,
    ];
    config.acl = if rustix::process::geteuid().is_root() { SessionACL::All } else { SessionACL::Owner };
    config.n_threads = Some(SESSIONS);
    config.clone_fd = true;
    config
}

fn driven(model: &Description, settings: &Settings) -> Result<Clockwork, MountError> {
    if model::transactions(model) {
        return Err(MountError::Server(model.name.clone()));
    }
    let setting = model::Setting {
        modules: settings.modules.into(),
        slots: SLOTS,
        seed: settings.seed,
        module_bytes: settings.module_bytes(),
        ..model::Setting::default()
    };
    let machine = model::machine(model, &setting).map_err(|source| MountError::Model(model.name.clone(), source))?;
    Clockwork::start(machine, SLOTS).map_err(MountError::Thread)
}
