//! `prony emulate MODEL`: a device that is not there, for as long as this command runs.
//!
//! The one idea: the mount lives as long as the process. Ctrl-C unmounts; a program that still holds a file there keeps it until it has
//! let go, and a second Ctrl-C takes the mount away from under it.

use crate::args::Emulate;
use crate::failure::Failure;
use crate::run::stop;
use crate::{model_file, output};
use emulate::{Fault, Mounted, Settings};
use rustix::process::Signal;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

/// How often it looks whether it was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// Serves until it is told to end, or hands a fault to a device that is served.
pub fn run(asked: &Emulate) -> Result<(), Failure> {
    if let Some(fault) = &asked.fault {
        return inflict(&asked.at, fault);
    }
    let stop = stop::listen()?;
    if asked.with_parent {
        let ends = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
        ends.map_err(|error| Failure::caused("asking to end with the parent", &error))?;
    }
    let settings = settings(asked)?;
    let mut mounted = Mounted::mount(&settings).map_err(|error| refused(asked, &error))?;
    output::note_line(&format!(
        "{} at {}, on {}; a request takes {} on its way there and back, which is part of its time",
        asked.model.as_deref().unwrap_or_default(),
        asked.at.display(),
        settings.backing.display(),
        units::duration(mounted.way)
    ));
    loop {
        while !stop.load(Ordering::Relaxed) && mounted.serves() {
            sleep(LOOK);
        }
        match mounted.unmount() {
            Ok(()) => return Ok(()),
            Err(error) => {
                let why = format!(
                    "`{}` is still mounted: {error}; end what uses it, or press Ctrl-C again",
                    asked.at.display()
                );
                output::note_line(&why);
                sleep(10 * LOOK);
            }
        }
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
        Failure::caused(doing(), &error).hint("name the folder at which `prony emulate` serves with --at")
    })
}
