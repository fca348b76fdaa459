//! From a description to a mount, and back to an empty folder.

use crate::claim::claimed;
use crate::clockwork::Clockwork;
use crate::files::Files;
use crate::operations::{Device, Serves};
use crate::place::Places;
use crate::tiered::{Mover, Tiered, Tiering};
use crate::tree::Tree;
use crate::volatile::Volatile;
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use model::file::Description;
use model::machine::{Ended, Machine};
use recorder::{Clock, WallClock};
use rustix::fs::{Mode, OFlags};
use rustix::mount::UnmountFlags;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Bytes, Nanos};
use workload::{Operation, OperationKind};

/// Operations that a machine holds at once; more wait before it.
const SLOTS: u32 = 1024;

/// Bytes of a module of a model that does not say.
const MODULE_BYTES: u64 = 1 << 40;

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
    /// Whether the kernel keeps no pages of the files.
    pub past_cache: bool,
    /// Seed of what the model draws.
    pub seed: u64,
    /// A fast tier above it, and the device of that.
    pub tier: Option<(Option<Description>, Tiering)>,
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
    /// A mount there has lost the process that served it.
    #[error("`{0}` is a mount that nobody serves any more")]
    Dead(PathBuf),
    /// A device is there already.
    #[error("a device is mounted at `{0}` already")]
    Taken(PathBuf),
    /// The files that are there would be hidden.
    #[error("the folder `{0}` is not empty")]
    Filled(PathBuf),
    /// One of both folders lies in the other, or is the other.
    #[error("the folders `{0}` and `{1}` are the same, or one lies in the other")]
    Nested(PathBuf, PathBuf),
    /// The slow folder is the fast one of tiers.
    #[error("`{0}` is the fast folder of two tiers")]
    Fast(PathBuf),
    /// Another device has the same files, and each would be seen changing by the other.
    #[error("another device has its files in `{0}`")]
    Shared(PathBuf),
    /// The folder of another device, served by a process, lies in this one or around it.
    #[error("`{0}` lies in, or around, `{1}`, where another device has its files (process {2})")]
    Overlapping(PathBuf, PathBuf, u32),
    /// The fast folder holds extents of files of another slow folder.
    #[error("the fast folder `{0}` belongs to another slow folder than `{1}`")]
    OtherTier(PathBuf, PathBuf),
    /// The folder is the slow one of two tiers, and extents of its files lie in the fast one.
    #[error("extents of the files of `{0}` lie in the fast folder `{1}`")]
    Parted(PathBuf, PathBuf),
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
    /// Who moves extents between two tiers.
    mover: Option<Mover>,
    /// Keep other devices away from the files.
    _backing: Vec<File>,
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
        many_files();
        let backing = claimed(settings)?;
        let tree =
            Tree::open(&settings.backing).map_err(|error| MountError::Backing(settings.backing.clone(), error))?;
        // Two tiers have one memory, in which what is kept follows its extent from one to the other.
        let memory = Arc::new(Volatile::new(settings.memory.0 as usize));
        let mut devices = vec![Arc::new(device(settings.model.as_ref(), settings, memory.clone())?)];
        let mut serves: Arc<dyn Serves> = devices[0].clone();
        let mut tiered = None;
        if let Some((model, tiering)) = &settings.tier {
            let fast = Arc::new(device(model.as_ref(), settings, memory)?);
            let both = Tiered::new(devices[0].clone(), fast.clone(), tiering.clone(), &settings.backing);
            let both = Arc::new(both.map_err(|error| untiered(settings, &tiering.fast, error))?);
            devices.push(fast);
            serves = both.clone();
            tiered = Some(both);
        }
        let failed = |error| MountError::Mount(settings.at.clone(), error);
        let session = Session::new(Files::new(tree, serves, settings.past_cache), &settings.at, &config(settings))
            .map_err(failed)?;
        let session = session.spawn().map_err(failed)?;
        let mut mounted = Mounted {
            session: Some(session),
            at: settings.at.clone(),
            way: Nanos::ZERO,
            mover: None,
            _backing: backing,
        };
        if devices.iter().any(|device| device.takes_time()) {
            devices.iter().for_each(|device| device.begin());
            let ways = mounted.measured_ways().map_err(|error| MountError::Way(settings.at.clone(), error))?;
            mounted.way = ways[0];
            devices.iter().for_each(|device| device.go_by(ways));
        }
        devices.iter().for_each(|device| device.ready());
        mounted.mover = tiered.map(Mover::start).transpose().map_err(MountError::Thread)?;
        Ok(mounted)
    }

    /// What a read and a write take beyond the time of a device that is as slow as those that are emulated: the medians of many. With
    /// one that answers at once no core would fall asleep in between.
    fn measured_ways(&self) -> std::io::Result<[Nanos; 2]> {
        let path = self.at.join(format!(".prony-way-{}", std::process::id()));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::DIRECT | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?);
        // Whoever looks into the folder meanwhile finds it empty.
        std::fs::remove_file(&path)?;
        let ways = [OperationKind::Read, OperationKind::Write].map(|kind| -> std::io::Result<Nanos> {
            let alone = alone(kind).ok_or(std::io::ErrorKind::NotFound)?;
            Ok(typical(&file, kind)?.saturating_sub(alone))
        });
        let [read, write] = ways;
        Ok([read?, write?])
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
            match rustix::mount::unmount(&self.at, UnmountFlags::NOFOLLOW) {
                Ok(()) => {}
                // Who is not root has it done by the program that mounted it.
                Err(rustix::io::Errno::PERM) => {
                    return self.session.take().map_or(Ok(()), BackgroundSession::umount_and_join);
                }
                Err(error) => return Err(error.into()),
            }
        }
        // It is gone, so that its thread ends by itself; how it ended changes nothing.
        let _ = self.session.take().map(BackgroundSession::join);
        Ok(())
    }

    /// Takes the mount away from under whoever still holds something open there; for them everything fails when this process ends.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn detach(mut self) -> std::io::Result<()> {
        match rustix::mount::unmount(&self.at, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW) {
            Ok(()) | Err(rustix::io::Errno::INVAL) => Ok(()),
            // The session does the same through the program that mounted it.
            Err(rustix::io::Errno::PERM) => {
                drop(self.session.take());
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// A server of many files holds each of them open.
fn many_files() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    // Where that is refused, some files cannot be opened, and whoever asks for them is told.
    let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, limit);
}

/// Why two folders are no tiers of one mount.
fn untiered(settings: &Settings, fast: &Path, error: std::io::Error) -> MountError {
    match error.kind() {
        std::io::ErrorKind::InvalidData => MountError::OtherTier(fast.to_owned(), settings.backing.clone()),
        _ => MountError::Backing(fast.to_owned(), error),
    }
}

/// The machine by which the way through the kernel is measured: one whose times never vary.
fn steady() -> Option<Box<dyn Machine>> {
    let shipped = model::models().iter().find(|shipped| shipped.name == "f5100")?;
    let model = model::file::read(shipped.name, shipped.text).ok()?;
    let setting = model::Setting { modules: 1, slots: SLOTS, module_bytes: MODULE_BYTES, ..model::Setting::default() };
    model::machine(&model, &setting).ok()
}

/// A core that fell asleep wakes up 20 to 60 us late: within five percent of longer times.
const SHORT: Nanos = Nanos::from_millis(1);

/// Whether a page of such a device takes so short a time to read or write that cores which fall asleep would make it longer.
pub fn is_short(model: &Description) -> bool {
    let setting = model::Setting { modules: 1, slots: 1, module_bytes: MODULE_BYTES, ..model::Setting::default() };
    let takes = |kind| -> Option<Nanos> {
        let operation = Operation { kind, class: 0, module: 0, offset: 0, bytes: 4096 };
        Some(ends(&mut *model::machine(model, &setting).ok()?, &operation, Nanos::ZERO, &mut Vec::new()))
    };
    [OperationKind::Read, OperationKind::Write].into_iter().filter_map(takes).any(|time| time < SHORT)
}

/// How long an operation takes there.
fn alone(kind: OperationKind) -> Option<Nanos> {
    let (mut machine, mut ended) = (steady()?, Vec::new());
    let operation = Operation { kind, class: 0, module: 0, offset: 0, bytes: 4096 };
    // The second follows one of its kind.
    let first = ends(&mut *machine, &operation, Nanos::ZERO, &mut ended);
    Some(ends(&mut *machine, &operation, first, &mut ended) - first)
}

fn ends(machine: &mut dyn Machine, operation: &Operation, at: Nanos, ended: &mut Vec<Ended>) -> Nanos {
    ended.clear();
    machine.submit(at, 0, operation);
    machine.advance(Nanos(u64::MAX - 1), ended)
}

/// The median time of many operations of one page past the page cache.
fn typical(file: &File, kind: OperationKind) -> std::io::Result<Nanos> {
    let mut room = vec![0u8; 8192];
    let from = room.as_ptr().align_offset(4096);
    let page = &mut room[from..from + 4096];
    file.write_all_at(page, 0)?;
    let clock = WallClock::new();
    let mut taken = Vec::with_capacity(WAYS);
    for _ in 0..WAYS {
        let before = clock.now();
        match kind {
            OperationKind::Read => file.read_exact_at(page, 0)?,
            _ => file.write_all_at(page, 0)?,
        }
        taken.push(clock.now() - before);
    }
    taken.sort_unstable();
    Ok(taken[WAYS / 2])
}

fn config(settings: &Settings) -> Config {
    let mut config = Config::default();
    let name = match (&settings.tier, &settings.model) {
        (Some(_), _) => "tiered",
        (None, model) => model.as_ref().map_or("nothing", |model| &model.name),
    };
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

/// A device of a model; one that takes no time of none.
fn device(model: Option<&Description>, settings: &Settings, memory: Arc<Volatile>) -> Result<Device, MountError> {
    let clockwork = model.map(|model| driven(model, settings)).transpose()?;
    let module_bytes = model.and_then(model::module_bytes).unwrap_or(MODULE_BYTES);
    let happens = model.map(|model| model::happenings(model, settings.modules.into())).unwrap_or_default();
    let whole = !model.is_some_and(model::loses);
    Ok(Device::new(clockwork, (happens, whole), Places::new(settings.modules, module_bytes), memory))
}

fn driven(model: &Description, settings: &Settings) -> Result<Clockwork, MountError> {
    if model::transactions(model) {
        return Err(MountError::Server(model.name.clone()));
    }
    let setting = model::Setting {
        modules: settings.modules.into(),
        slots: SLOTS,
        seed: settings.seed,
        module_bytes: model::module_bytes(model).unwrap_or(MODULE_BYTES),
        ..model::Setting::default()
    };
    let machine = model::machine(model, &setting).map_err(|source| MountError::Model(model.name.clone(), source))?;
    let described = model.clone();
    let anew = Box::new(move || model::machine(&described, &setting).ok());
    // Until the way is known it is that by which it is measured.
    let short = is_short(model);
    Clockwork::start(steady().unwrap_or(machine), anew, SLOTS, short).map_err(MountError::Thread)
}
