//! From a description to a mount, and back to an empty folder.

use crate::claim::claimed;
use crate::clockwork::Clockwork;
use crate::files::Files;
use crate::home::Home;
use crate::mounts::{detached, unmounted};
use crate::operations::{Device, Serves};
use crate::place::Places;
use crate::tiered::{Mover, Tiered, Tiering};
use crate::tree::Tree;
use crate::volatile::Volatile;
use crate::way::{MODULE_BYTES, Measured, SLOTS, ends, steady};
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use model::file::Description;
use rustix::mount::UnmountFlags;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::{Bytes, Nanos};
use workload::{Operation, OperationKind};

/// Threads that take requests from the kernel.
const SESSIONS: usize = 2;

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
    /// A mount for that cannot be made, or does not answer as it should.
    #[error("measuring the way to the backing folder `{0}` through a mount in `{1}`")]
    Way(PathBuf, PathBuf, #[source] std::io::Error),
    /// What takes time writes to its folder.
    #[error("the backing folder `{0}` is read-only")]
    ReadOnly(PathBuf, #[source] std::io::Error),
    /// A device does not lie on another one, which would take its time of each answer.
    #[error("the backing folder `{0}` lies on the device that is mounted at `{1}`")]
    Stacked(PathBuf, PathBuf),
    /// The file system of the fast folder has no files that are so large.
    #[error("making room for {size} in the fast folder `{0}`", size = units::bytes(*.1))]
    Room(PathBuf, Bytes, #[source] std::io::Error),
    /// The fast folder has not so much room; so much it has.
    #[error("a fast tier of {asked} in `{0}`, which has room for {has}", asked = units::bytes(*.1), has = units::bytes(*.2))]
    Small(PathBuf, Bytes, Bytes),
    /// Something cut the files of a fast folder short.
    #[error("the fast folder `{0}` is damaged: it names extents that it does not hold")]
    Damaged(PathBuf),
    /// The file to which moves are to be added cannot be opened.
    #[error("opening `{0}`, for a line for each move")]
    Trace(PathBuf, #[source] std::io::Error),
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
    /// What a request takes beyond the device, there and back; none where no device takes time.
    pub way: Option<Nanos>,
    /// What lies on the fast of two tiers beyond the room that it was given: the mover brings it back.
    pub beyond_room: Bytes,
    /// Who moves extents between two tiers.
    _mover: Option<Mover>,
    /// Keep other devices away from the files.
    _backing: Vec<File>,
}

impl Mounted {
    /// Mounts a folder. A process other than this one asks [`measure`](crate::measure) for the way through a mount, with `measured`: one
    /// that waits for its own answers cannot be killed.
    ///
    /// # Errors
    /// When the model is no storage, the folder cannot be opened, or nothing can be mounted there.
    pub fn mount(settings: &Settings, measured: Measured) -> Result<Mounted, MountError> {
        // A device does not wait for a core: all threads that start below inherit this. Where this user may not have it, a busy
        // machine answers late.
        let _ = rustix::process::setpriority_process(None, -20);
        many_files();
        let backing = claimed(settings)?;
        // The kernel unmounts no link, and by the end a link may lead to another folder.
        let mounted_at = settings.at.canonicalize().map_err(|error| MountError::Mount(settings.at.clone(), error))?;
        let tree =
            Tree::open(&settings.backing).map_err(|error| MountError::Backing(settings.backing.clone(), error))?;
        let tree = Arc::new(tree);
        // Two tiers have one memory, in which what is kept follows its extent from one to the other.
        let memory = Arc::new(Volatile::new(settings.memory.0 as usize));
        let mut devices = vec![Arc::new(device(settings.model.as_ref(), settings, memory.clone())?)];
        let mut serves: Arc<dyn Serves> = devices[0].clone();
        let mut tiered = None;
        if let Some((model, tiering)) = &settings.tier {
            let fast = Arc::new(device(model.as_ref(), settings, memory)?);
            roomy(tiering)?;
            let both = Tiered::new(devices[0].clone(), fast.clone(), tiering.clone(), &settings.backing);
            let both = Arc::new(both.map_err(|error| untiered(settings, (&tiering.fast, tiering.room), error))?);
            devices.push(fast);
            serves = both.clone();
            tiered = Some(both);
        }
        let failed = |error| MountError::Mount(settings.at.clone(), error);
        let seen_at = |at: &Path, serves: Arc<dyn Serves>| {
            let files = Files::new(tree.clone(), serves, settings.past_cache);
            Session::new(files, at, &config(settings)).and_then(Session::spawn).map_err(failed)
        };
        let mut way = None;
        if let Some(timed) = devices.iter().find(|device| device.takes_time()) {
            devices.iter().for_each(|device| device.begin());
            // Of two tiers one may take no time, and a new file would lie there: then there is nothing to measure the way by.
            let ways = measured_aside(&settings.backing, |at| seen_at(at, timed.clone()), measured)?;
            way = Some(ways[0]);
            devices.iter().for_each(|device| device.go_by(ways));
        }
        let beyond_room = tiered.as_ref().map_or(Bytes(0), |tiered| tiered.beyond_room());
        let mover = tiered.map(moved).transpose()?;
        // Whoever sees it finds a device that is ready.
        let session = Some(seen_at(&mounted_at, serves)?);
        Ok(Mounted { session, at: mounted_at, way, beyond_room, _mover: mover, _backing: backing })
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

/// The ways to a backing folder through a mount that `seen_at` makes, and that is gone afterwards.
fn measured_aside(
    backing: &Path,
    seen_at: impl Fn(&Path) -> Result<BackgroundSession, MountError>,
    measured: Measured,
) -> Result<[Nanos; 2], MountError> {
    let temporary = std::env::temp_dir();
    let failed = |error| MountError::Way(backing.to_owned(), temporary.clone(), error);
    let home = Home::make(&temporary, false).map_err(failed)?;
    let session = seen_at(&home.at())?;
    let ways = measured(&home.at()).map_err(failed);
    // Somebody who looks around there as root keeps it for as long as he does.
    unmounted(&home.at()).or_else(|_| detached(&home.at())).map_err(failed)?;
    drop(session);
    ways
}

/// A server of many files holds each of them open.
fn many_files() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    // Where that is refused, some files cannot be opened, and whoever asks for them is told.
    let _ = rustix::process::setrlimit(rustix::process::Resource::Nofile, limit);
}

/// Who moves extents, with the file to which he adds a line for each.
fn moved(tiered: Arc<Tiered>) -> Result<Mover, MountError> {
    let trace = tiered.trace().map(|path| {
        let file = File::options().append(true).create(true).open(path);
        file.map_err(|error| MountError::Trace(path.to_owned(), error))
    });
    let trace = trace.transpose()?;
    Mover::start(tiered, trace).map_err(MountError::Thread)
}

/// Refuses a fast tier of more than its folder has room for, with what lies there already.
fn roomy(tiering: &Tiering) -> Result<(), MountError> {
    let Ok(stat) = rustix::fs::statvfs(&tiering.fast) else { return Ok(()) };
    let has = Bytes(stat.f_bavail * stat.f_frsize + crate::tiered::taken(&tiering.fast));
    if tiering.room > has { Err(MountError::Small(tiering.fast.clone(), tiering.room, has)) } else { Ok(()) }
}

/// Why two folders are no tiers of one mount.
fn untiered(settings: &Settings, (fast, room): (&Path, Bytes), error: std::io::Error) -> MountError {
    match error.kind() {
        std::io::ErrorKind::InvalidData => MountError::OtherTier(fast.to_owned(), settings.backing.clone()),
        std::io::ErrorKind::UnexpectedEof => MountError::Damaged(fast.to_owned()),
        std::io::ErrorKind::FileTooLarge => MountError::Room(fast.to_owned(), room, error),
        _ => MountError::Backing(fast.to_owned(), error),
    }
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
