//! `prony clean DIR`: scratch folders, emulated devices and reserved space that a killed run left behind; and of the cache folder what
//! checks found broken.
//!
//! Which folders are Prony's own, and whether a running Prony holds one, is for the system room to say: it looks at
//! the marker in each folder and at its lock. Nothing else in the folder is looked at.

use crate::args::Clean;
use crate::failure::Failure;
use crate::folder::ENDING;
use crate::{cache, output};
use emulate::Abandoned as Device;
use std::fs;
use std::path::{Path, PathBuf};
use store::RunFile;
use system::file::{Abandoned, abandoned};
use units::Bytes;

/// Removes what was left behind, or names it.
pub fn run(asked: &Clean) -> Result<(), Failure> {
    let dir = asked.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let found = abandoned(&dir)
        .map_err(|error| Failure::caused(format!("looking for scratch folders in `{}`", dir.display()), &error))?;
    let devices = Device::find(&dir)
        .map_err(|error| Failure::caused(format!("looking for devices in `{}`", dir.display()), &error))?;
    let (runs, aside) = (unclosed(&dir), database::server::put_aside(&cache::folder()));
    if found.is_empty() && devices.is_empty() && runs.is_empty() && aside.is_empty() {
        output::note_line(&format!("nothing was left behind in {}", dir.display()));
    }
    for folder in found {
        let words = words(&folder);
        // What somebody laid there is his, and keeps the folder.
        if let Some(name) = folder.foreign().first() {
            output::note_line(&format!(
                "`{}` holds `{name}`, which Prony did not make, and stays; move that away, and clean again",
                folder.path().display()
            ));
            continue;
        }
        if asked.dry_run {
            output::print(&format!("would remove {words}\n"))?;
            continue;
        }
        let doing = format!("removing the scratch folder `{}`", folder.path().display());
        folder.remove().map_err(|error| Failure::caused(doing, &error))?;
        output::print(&format!("removed {words}\n"))?;
    }
    devices.into_iter().try_for_each(|device| unmount(device, asked.dry_run))?;
    aside.iter().try_for_each(|data| forget(data, asked.dry_run))?;
    runs.iter().try_for_each(|run| give_back(run, asked.dry_run))
}

/// Removes a data set that was kept because a check found it broken, or names it.
fn forget(data: &Path, dry_run: bool) -> Result<(), Failure> {
    let words = format!("{} (a data set that a check found broken)", data.display());
    if dry_run {
        return output::print(&format!("would remove {words}\n"));
    }
    let removed = if data.is_dir() { fs::remove_dir_all(data) } else { fs::remove_file(data) };
    removed.map_err(|error| Failure::caused(format!("removing `{}`", data.display()), &error))?;
    output::print(&format!("removed {words}\n"))
}

/// Run files beside which a log lies: nobody has closed them, or their run goes on.
fn unclosed(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let ours = |path: &PathBuf| path.extension().is_some_and(|ending| ending == ENDING);
    let mut found: Vec<PathBuf> = files.filter(ours).filter(|path| store::unclosed(path).is_some()).collect();
    found.sort();
    found
}

/// Closes the file of a run that was cut off, or names it. One whose run goes on is left alone.
fn give_back(run: &Path, dry_run: bool) -> Result<(), Failure> {
    let shown = run.display();
    if dry_run {
        let bytes = units::bytes(Bytes(store::unclosed(run).unwrap_or_default()));
        return output::print(&format!("would close {shown} ({bytes} with its log), unless its run goes on\n"));
    }
    let given =
        RunFile::give_back(run).map_err(|error| Failure::caused(format!("closing the run file `{shown}`"), &error))?;
    given.map_or(Ok(()), |bytes| {
        let bytes = units::bytes(Bytes(bytes));
        output::print(&format!("gave {bytes} back that {shown} had reserved\n"))
    })
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
