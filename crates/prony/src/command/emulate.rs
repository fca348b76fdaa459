//! `prony emulate MODEL`: a device that is not there, for as long as this command runs.
//!
//! The one idea: the mount lives as long as the process. Ctrl-C unmounts; a program that still holds a file there keeps it until it has
//! let go, and a second Ctrl-C takes the mount away from under it.

use crate::args::Emulate;
use crate::failure::Failure;
use crate::run::stop;
use crate::{model_file, output};
use emulate::{Fault, Mounted, Settings, Spared};
use rustix::process::{Pid, Signal};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// How often it looks whether it was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// So many looks it waits for programs that use a device whose run is gone.
const FORSAKEN: u32 = 100;

/// Serves a device, or hands a fault to a device that is served.
pub fn run(asked: &Emulate) -> Result<(), Failure> {
    if let Some(fault) = &asked.fault {
        return inflict(&asked.at, fault);
    }
    let told = stop::listen_on()?;
    let parent = asked.with_parent.map(Parent::follow).transpose()?;
    let settings = settings(asked)?;
    let mounted = Mounted::mount(&settings).map_err(|error| refused(asked, &error))?;
    output::note_line(&format!(
        "{} at {}, on {}; a request takes {} on its way there and back, which is part of its time",
        asked.model.as_deref().unwrap_or_default(),
        asked.at.display(),
        settings.backing.display(),
        units::duration(mounted.way)
    ));
    let ended = serve(mounted, &told, parent.as_ref(), &asked.at);
    if parent.is_some_and(|parent| parent.is_gone()) {
        emulate::Home::forsaken(&asked.at);
    }
    ended
}

/// Serves until it is told to end and nothing holds a file there any more, or until it is told once more.
fn serve(mut mounted: Mounted, told: &AtomicBool, parent: Option<&Parent>, at: &Path) -> Result<(), Failure> {
    let gone = || parent.is_some_and(Parent::is_gone);
    while mounted.serves() && !told.swap(false, Ordering::Relaxed) && !gone() {
        sleep(LOOK);
    }
    let Err(error) = mounted.unmount() else { return Ok(()) };
    let at = at.display();
    output::note_line(&format!("`{at}` is still mounted: {error}; end what uses it, or press Ctrl-C again"));
    let mut left = FORSAKEN;
    while !told.swap(false, Ordering::Relaxed) && left > 0 {
        sleep(LOOK);
        // Nobody can tell it once more when who started it is gone.
        left -= u32::from(gone());
        if mounted.unmount().is_ok() {
            return Ok(());
        }
    }
    mounted
        .detach()
        .map_err(|error| Failure::caused(format!("unmounting `{at}`"), &error).hint("`umount --lazy` takes it away"))
}

/// The process that started this one, and with which it ends.
struct Parent(Pid);

impl Parent {
    fn follow(parent: i32) -> Result<Parent, Failure> {
        let ends = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
        ends.map_err(|error| Failure::caused("asking to end with the parent", &error))?;
        let parent = Pid::from_raw(parent).ok_or_else(|| Failure::new("no process has the number 0"))?;
        Ok(Parent(parent))
    }

    /// Its signal comes once for each of its threads, and not at all when it ended before it was asked for.
    fn is_gone(&self) -> bool {
        rustix::process::getppid() != Some(self.0)
    }
}

fn settings(asked: &Emulate) -> Result<Settings, Failure> {
    let word = asked.model.as_deref().unwrap_or_default();
    let model = if word == "nothing" { None } else { Some(model_file::find(word)?.model) };
    let memory = units::parse_bytes(&asked.memory)
        .map_err(|error| Failure::new(format!("reading `--memory`: {error}")).hint("give a size, such as `16MiB`"))?;
    let backing = asked.backing.clone().unwrap_or_default();
    Ok(Settings { model, modules: asked.modules, memory, backing, at: asked.at.clone(), seed: 1 })
}

fn refused(asked: &Emulate, error: &emulate::MountError) -> Failure {
    let doing = format!("emulating `{}` at `{}`", asked.model.as_deref().unwrap_or_default(), asked.at.display());
    let hint = match error {
        emulate::MountError::Backing(..) => "name a folder that is there with --backing",
        emulate::MountError::Dead(at) => {
            return Failure::caused(doing, error)
                .hint(format!("take it away with `umount {0}` or `fusermount3 -u {0}`", at.display()));
        }
        emulate::MountError::Taken(_) => "end the `prony emulate` that serves there, or name another folder with --at",
        emulate::MountError::Filled(_) => "name an empty folder with --at",
        emulate::MountError::Nested(..) => "name two folders of which none lies in the other",
        emulate::MountError::Shared(_) => "end the other `prony emulate`, or name another folder with --backing",
        emulate::MountError::Mount(..) => {
            "it needs /dev/fuse, an empty folder at --at, and root or the program fusermount3 (package fuse3)"
        }
        emulate::MountError::Server(..) | emulate::MountError::Model(..) => {
            "models of storage: disk-15k, disk-array, nand-device, f5100"
        }
        emulate::MountError::Way(..) | emulate::MountError::Thread(..) => {
            "try again; if it stays so, the machine is out of memory or threads"
        }
    };
    Failure::caused(doing, error).hint(hint)
}

/// Hands a fault to the device that is mounted there.
fn inflict(at: &Path, fault: &str) -> Result<(), Failure> {
    let doing = || format!("handing the fault `{fault}` to the device at `{}`", at.display());
    let fault: Fault = fault.parse().map_err(|error| Failure::caused(doing(), &error))?;
    emulate::inflict(at, fault).map_err(|error| {
        let failure = Failure::caused(doing(), &error);
        match error {
            Spared::Inside(root) => failure.hint(format!("say `--at {}`", root.display())),
            Spared::Foreign => failure,
            _ => failure.hint("name the folder at which `prony emulate` serves with --at"),
        }
    })
}
