//! `prony clean DIR`: scratch folders and emulated devices that a killed run left behind.
//!
//! Which folders are Prony's own, and whether a running Prony holds one, is for the system room to say: it looks at
//! the marker in each folder and at its lock. Nothing else in the folder is looked at.

use crate::args::Clean;
use crate::failure::Failure;
use crate::output;
use emulate::Abandoned as Device;
use std::path::PathBuf;
use system::file::{Abandoned, abandoned};

/// Removes what was left behind, or names it.
pub fn run(asked: &Clean) -> Result<(), Failure> {
    let dir = asked.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let found = abandoned(&dir)
        .map_err(|error| Failure::caused(format!("looking for scratch folders in `{}`", dir.display()), &error))?;
    let devices = Device::find(&dir)
        .map_err(|error| Failure::caused(format!("looking for devices in `{}`", dir.display()), &error))?;
    if found.is_empty() && devices.is_empty() {
        output::note_line(&format!("nothing was left behind in {}", dir.display()));
    }
    for folder in found {
        let words = words(&folder);
        if asked.dry_run {
            output::print(&format!("would remove {words}\n"))?;
            continue;
        }
        let doing = format!("removing the scratch folder `{}`", folder.path().display());
        folder.remove().map_err(|error| Failure::caused(doing, &error))?;
        output::print(&format!("removed {words}\n"))?;
    }
    devices.into_iter().try_for_each(|device| unmount(device, asked.dry_run))
}

/// Takes a device away whose run is gone, or names it.
fn unmount(device: Device, dry_run: bool) -> Result<(), Failure> {
    let at = device.path().to_owned();
    let words = format!("{} (a device that nobody serves any more)", at.display());
    if dry_run {
        return output::print(&format!("would remove {words}\n"));
    }
    device.remove().map_err(|error| {
        Failure::caused(format!("unmounting `{}`", at.display()), &error)
            .hint("end what uses it, and say `prony clean` again")
    })?;
    output::print(&format!("removed {words}\n"))
}

fn words(folder: &Abandoned) -> String {
    format!("{} ({}, of the run {})", folder.path().display(), units::bytes(folder.bytes()), folder.run_id())
}
