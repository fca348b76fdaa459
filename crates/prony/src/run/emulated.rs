//! Folders of a study that lie on devices that are not there: each is mounted before its system is opened.
//!
//! The one idea: a device is served by a process of its own, this program once more. What loads it can be killed at any moment without
//! waiting for itself, and the device keeps its pace however busy the load is.

use crate::failure::Failure;
use emulate::{Abandoned, Home, Spared};
use engine::Phase;
use observation::Fact;
use recorder::Awake;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use study::{DatabaseSpec, Folder, Layout, Moving, Place, SystemSpec, TierFolder, Way};
use workload::happening::{Fault, Happening};

/// A device that is served; dropping it ends that.
pub struct Device {
    /// What it was started with.
    words: Vec<String>,
    past_cache: bool,
    served: Child,
    /// How many times its time it takes now.
    pace: f64,
    /// Where it is mounted; removed behind it.
    home: Home,
    /// Whether a server keeps its data there.
    of_server: bool,
    /// What of its folders goes with the run.
    scratch: Vec<PathBuf>,
}

/// A device that a trial may unmount and mount again.
type Shared = Arc<Mutex<Device>>;

/// The devices of a run, and folders on devices that somebody else serves. Systems that name one alike share it, as they would one that is
/// there.
#[derive(Default)]
pub struct Devices {
    own: Vec<(Folder, Shared)>,
    /// Those of somebody else.
    others: Vec<PathBuf>,
    /// Keeps cores awake for all of a run that has short times to keep, so that all its trials have the same machine.
    awake: Option<Awake>,
}

impl Devices {
    /// The devices of a run of these systems, none of them mounted yet.
    ///
    /// # Errors
    /// When the model of one cannot be read.
    pub fn of(systems: &[SystemSpec]) -> Result<Devices, Failure> {
        let short = systems.iter().map(is_short).collect::<Result<Vec<bool>, Failure>>()?.contains(&true);
        // Where this user may not have it, answers come late, and the run says how many.
        let awake = short.then(Awake::hold).and_then(Result::ok);
        Ok(Devices { awake, ..Devices::default() })
    }

    /// A system with its folders as they are reached, their devices mounted.
    ///
    /// # Errors
    /// When a device cannot be mounted.
    pub fn reached(&mut self, spec: &SystemSpec) -> Result<SystemSpec, Failure> {
        let mut reached = spec.clone();
        match &mut reached.place {
            Place::File { dirs } => {
                let served = dirs.iter().filter(|dir| dir.device.is_none()).map(|dir| PathBuf::from(&dir.path));
                self.others.extend(served.filter(|at| emulate::is_device(at)));
                for folder in dirs.iter_mut() {
                    *folder = Folder::plain(self.path(folder, false)?);
                }
            }
            Place::Database(DatabaseSpec { layout: Some(layout), .. }) if extents(layout).is_some() => {
                let at = self.tiers(layout)?;
                layout.folders_mut().for_each(|tier| tier.reached.clone_from(&at));
            }
            Place::Database(spec) => {
                let tiers = spec.layout.iter_mut().flat_map(Layout::folders_mut);
                for at in tiers.chain(spec.mirror_on.as_deref_mut()) {
                    at.reached = self.path(&at.folder, true)?;
                }
            }
            _ => {}
        }
        Ok(reached)
    }

    /// Where both tiers of a layout are reached as one, between which extents move.
    fn tiers(&mut self, layout: &Layout) -> Result<String, Failure> {
        let (Some(moving), Some(slow), Some(fast)) = (extents(layout), &layout.slow, &layout.fast) else {
            return Err(Failure::new("mounting both tiers as one: two folders are needed"));
        };
        let doing = || format!("mounting `{}` and `{}` as one, between which extents move", slow.folder, fast.folder);
        let mut words = vec!["tiered".to_owned()];
        let mut scratch = Vec::new();
        for (option, Folder { path, device, .. }) in [("--slow", &slow.folder), ("--fast", &fast.folder)] {
            let own = Path::new(path).join(emulate::EXTENTS);
            database::server::scratch(&own).map_err(|error| Failure::caused(doing(), &error))?;
            let below = own.join("data");
            std::fs::create_dir(&below).map_err(|error| Failure::caused(doing(), &error))?;
            let model = device.as_ref().map(|model| format!("{model}:")).unwrap_or_default();
            words.extend([option.to_owned(), format!("{model}{}", below.display())]);
            scratch.push(own);
        }
        let part = |parts: u64| format!("{}ns", moving.every.0 / parts);
        words.extend(["--room".to_owned(), format!("{}B", moving.room.0)]);
        words.extend(["--every".to_owned(), part(4), "--half-life".to_owned(), part(2)]);
        let mut device = serve(doing, words, slow.folder.past_cache, true)?;
        device.scratch = scratch;
        let path = device.home.at().display().to_string();
        let device = Arc::new(Mutex::new(device));
        self.own.push((Folder { device: Some("tiered".to_owned()), ..slow.folder.clone() }, device));
        Ok(path)
    }

    /// Where a folder is reached; one of a `server` by the user as whom that runs.
    fn path(&mut self, folder: &Folder, server: bool) -> Result<String, Failure> {
        let Some(model) = &folder.device else { return Ok(folder.path.clone()) };
        let at = |device: &Device| device.home.at().display().to_string();
        if let Some((_, device)) = self.own.iter().find(|(known, _)| known == folder) {
            return Ok(at(&held(device)));
        }
        let doing = || format!("mounting `{}` as the device `{model}`", folder.path);
        let words = [model, "--backing", &folder.path].map(str::to_owned).into();
        let device = serve(doing, words, folder.past_cache, server)?;
        let path = at(&device);
        self.own.push((folder.clone(), Arc::new(Mutex::new(device))));
        Ok(path)
    }

    /// Whether cores are kept awake, as a fact of a system that is measured then.
    pub fn kept_awake(&self) -> Option<Fact> {
        self.awake.as_ref().map(|_| Fact::cores_awake())
    }

    /// How many operations all of them have answered, and how many of them later than their models say.
    pub fn answers(&self) -> [u64; 2] {
        let own = self.own.iter().map(|(_, device)| held(device).home.at());
        // One that does not answer has counted nothing that anybody could tell.
        let counts = own.chain(self.others.iter().cloned()).filter_map(|at| emulate::answers(&at).ok());
        counts.fold([0, 0], |[all, late], [more, of_them]| [all + more, late + of_them])
    }

    /// How faults are made on the devices of a database's mirror and of itself, where all of one lies on such devices.
    pub fn of_nodes(&self, spec: &SystemSpec) -> [Option<engine::Happens>; 2] {
        let Place::Database(database) = &spec.place else { return [None, None] };
        let known = |folder: &Folder| Some(self.own.iter().find(|(known, _)| known == folder)?.1.clone());
        let of = |folders: &mut dyn Iterator<Item = &TierFolder>, emulated: bool| {
            let devices: Vec<Shared> = folders.filter_map(|at| known(&at.folder)).collect();
            emulated.then(|| -> engine::Happens {
                Arc::new(move |what| devices.iter().try_for_each(|device| held(device).happens(what)))
            })
        };
        let [mirror, first] = database.emulated();
        let tiers = database.layout.iter().flat_map(Layout::used).map(|(_, at)| at);
        [of(&mut database.mirror_on.as_deref().into_iter(), mirror), of(&mut { tiers }, first)]
    }
}

fn held(device: &Shared) -> MutexGuard<'_, Device> {
    device.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How much of their time devices take while nothing is measured, and while something is.
const HURRY: f64 = 0.01;
const OWN: f64 = 1.0;

impl Devices {
    /// What a server does before and behind the load of a trial (it copies, lays out, restores, checks, ends) is not measured: its
    /// devices hurry then, and keep their own pace from the warm-up on.
    ///
    /// # Errors
    /// When a device does not take its pace again.
    pub fn pace(&self, phase: Phase) -> Result<(), Spared> {
        let pace = match phase {
            Phase::Fill | Phase::Check => HURRY,
            Phase::WarmUp | Phase::Measure => OWN,
            Phase::Precondition | Phase::Settle | Phase::Drain => return Ok(()),
        };
        for (_, device) in &self.own {
            let mut device = held(device);
            if device.of_server {
                device.pace = pace;
                device.paced()?;
            }
        }
        Ok(())
    }
}

impl Device {
    /// Takes so many times its time as it is to.
    fn paced(&self) -> Result<(), Spared> {
        match emulate::inflict(&self.home.at(), Happening::Fault(Fault::Slow(self.pace))) {
            // What adds no time to its folder has no pace.
            Ok(()) | Err(Spared::Unknown(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Something happens to it. With the power of a node the kernel's pages of its files are gone, and so it comes back as another mount.
    fn happens(&mut self, what: Happening) -> std::io::Result<()> {
        if what != Happening::Fault(Fault::PowerOn) {
            return emulate::inflict(&self.home.at(), what).map_err(std::io::Error::other);
        }
        self.end();
        self.served = served(&self.home, &self.words, self.past_cache).map_err(std::io::Error::other)?;
        self.paced().map_err(std::io::Error::other)
    }

    /// Ends it, and takes it away from whoever has still something open there after a while.
    fn end(&mut self) {
        for _ in 0..2 {
            // One that has ended by itself needs no signal.
            let _ = kill_process(Pid::from_child(&self.served), Signal::TERM);
            for _ in 0..LOOKS {
                if !matches!(self.served.try_wait(), Ok(None)) {
                    return;
                }
                std::thread::sleep(LOOK);
            }
        }
        let _ = self.served.wait();
    }
}

/// How often it is looked whether a device has ended before it is told once more.
const LOOKS: u32 = 250;
const LOOK: Duration = Duration::from_millis(20);

/// The model of the device that a folder lies on; of one that somebody else mounted only that it is one.
pub fn model(folder: &Folder) -> Option<String> {
    let mounted = || emulate::is_device(Path::new(&folder.path)).then(|| "device".to_owned());
    folder.device.clone().or_else(mounted)
}

/// How events are made on the devices of a system, where all of its folders are such devices.
pub fn happens(reached: &SystemSpec) -> Option<engine::Happens> {
    let Place::File { dirs } = &reached.place else { return None };
    let devices: Vec<PathBuf> = dirs.iter().map(|dir| PathBuf::from(&dir.path)).collect();
    devices.iter().all(|at| emulate::is_device(at)).then(|| -> engine::Happens {
        Arc::new(move |what| {
            devices.iter().try_for_each(|at| emulate::inflict(at, what).map_err(std::io::Error::other))
        })
    })
}

/// Whether a system has times to keep that are short beside how late a core wakes up: those of a device, or of a wire.
fn is_short(spec: &SystemSpec) -> Result<bool, Failure> {
    let mut folders: Vec<&Folder> = Vec::new();
    match &spec.place {
        Place::File { dirs } => folders.extend(dirs),
        Place::Database(spec) if spec.mirror.is_some() => return Ok(true),
        Place::Database(spec) => folders.extend(spec.layout.iter().flat_map(Layout::used).map(|(_, at)| &at.folder)),
        _ => {}
    }
    for word in folders.into_iter().filter_map(|folder| folder.device.as_deref()) {
        if crate::model_file::device(word)?.is_some_and(|model| emulate::is_short(&model)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The layout's mover, where it is one under the server.
fn extents(layout: &Layout) -> Option<Moving> {
    layout.moving.filter(|moving| moving.way == Way::Extents)
}

fn serve(doing: impl Fn() -> String, words: Vec<String>, past_cache: bool, of_server: bool) -> Result<Device, Failure> {
    let failed = |error| Failure::caused(doing(), &error);
    let temporary = std::env::temp_dir();
    // Those that are still used stay.
    for left in Abandoned::find(&temporary).into_iter().flatten() {
        let _ = left.remove();
    }
    let home = Home::make(&temporary, of_server).map_err(failed)?;
    let served = served(&home, &words, past_cache).map_err(|said| Failure::new(format!("{}: {said}", doing())))?;
    Ok(Device { words, past_cache, served, pace: OWN, home, of_server, scratch: Vec::new() })
}

/// The process that serves a device; in words, why there is none.
fn served(home: &Home, words: &[String], past_cache: bool) -> Result<Child, String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg("emulate").args(words).args(["--with-parent", &std::process::id().to_string(), "--at"]);
    command.arg(home.at());
    if past_cache {
        command.arg("--no-page-cache");
    }
    // Ctrl-C is for the run, which ends its devices when nothing is open on them any more.
    command.process_group(0);
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut served = started.map_err(failed)?;
    let mut said = String::new();
    if let Some(told) = served.stderr.take() {
        let mut told = BufReader::new(told);
        told.read_line(&mut said).map_err(failed)?;
        // It says one line when it is ready, and otherwise why it is not.
        if !emulate::is_mounted(&home.at()) {
            told.read_to_string(&mut said).map_err(failed)?;
            let _ = served.wait();
            return Err(said.trim_start_matches("error: ").trim().to_owned());
        }
        // What it says later, when it cannot unmount, is read by nobody; it must not block on it.
        served.stderr = Some(told.into_inner());
    }
    Ok(served)
}

impl Drop for Device {
    fn drop(&mut self) {
        self.end();
        for left in &self.scratch {
            // What stays carries our mark, and the next run empties it.
            let _ = std::fs::remove_dir_all(left);
        }
    }
}
