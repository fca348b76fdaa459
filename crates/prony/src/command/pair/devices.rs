//! The devices of the nodes of a pair: a folder for each, or a device that is not there, served by a process that outlives the command.
//!
//! The one idea: a node keeps its own folder, with a way to where its data lie; so a device that is gone is mounted again at the same
//! place by the next `up`, and the node finds what it has kept.

use crate::failure::Failure;
use mirror::Home;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use study::{Folder, TierFolder};

/// How often it is looked for a device that starts, and how many times: it measures itself first.
const LOOKS: (Duration, u32) = (Duration::from_millis(20), 1000);

/// Where the device of a node is seen.
fn at(home: &Home, node: usize) -> PathBuf {
    home.folder().join("devices").join(["a", "b"][node])
}

/// The two folders that `--device A,B` names.
pub fn given(text: &str) -> Result<[String; 2], Failure> {
    let refused = |why: String| {
        Failure::new(format!("reading --device: {why}, got `{text}`")).hint(
            "give a place of node a and one of node b: `--device emulated:disk-15k:DIR1,emulated:nand-device:DIR2`",
        )
    };
    let all = Folder::listed(text);
    let [a, b] = &all[..] else { return Err(refused("two folders with a comma between".to_owned())) };
    let absolute = |text: &String| -> Result<Folder, Failure> {
        let folder = Folder::read(text).map_err(|error| Failure::new(format!("reading --device: {error}")))?;
        let doing = || format!("reading --device: looking at `{}`", folder.path);
        let path = std::fs::canonicalize(&folder.path).map_err(|error| {
            Failure::caused(doing(), &error).hint(format!("make it with `mkdir -p {}`", folder.path))
        })?;
        folder.device.as_deref().map_or(Ok(None), crate::model_file::device)?;
        Ok(Folder { path: path.display().to_string(), ..folder })
    };
    let [a, b] = [absolute(a)?, absolute(b)?];
    let (one, other) = (Path::new(&a.path), Path::new(&b.path));
    if one.starts_with(other) || other.starts_with(one) {
        return Err(refused("two folders of which none lies in the other".to_owned()));
    }
    Ok([a.to_string(), b.to_string()])
}

/// Where both nodes lie, as they are reached.
pub fn places(home: &Home, devices: Option<&[String; 2]>) -> Option<[TierFolder; 2]> {
    let place = |node: usize, text: &String| {
        let folder = Folder::read(text).unwrap_or_else(|_| Folder::plain(text));
        let seen = folder.device.is_some().then(|| at(home, node).display().to_string());
        TierFolder { reached: seen.unwrap_or_else(|| folder.path.clone()), folder }
    };
    devices.map(|[a, b]| [place(0, a), place(1, b)])
}

/// Mounts what is not mounted.
pub fn start(home: &Home, devices: Option<&[String; 2]>) -> Result<(), Failure> {
    for (node, place) in places(home, devices).iter().flatten().enumerate() {
        let (Some(model), at) = (&place.folder.device, at(home, node)) else { continue };
        if emulate::is_device(&at) && emulate::is_mounted(&at) {
            continue;
        }
        let doing = || format!("mounting `{}` for a node at `{}`", place.folder, at.display());
        let failed = |error: std::io::Error| Failure::caused(doing(), &error);
        // That of a process that is gone; a server that still holds it has lost its data, and is started anew.
        emulate::unmounted(&at).or_else(|_| emulate::detached(&at)).map_err(failed)?;
        for made in [at.parent().unwrap_or(Path::new(".")), &at] {
            database::server::house(made).map_err(|error| Failure::caused(doing(), &error))?;
        }
        let mut served = Command::new(std::env::current_exe().map_err(failed)?);
        served.args(["emulate", model, "--backing", &place.folder.path, "--at"]).arg(&at);
        served.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut served = served.spawn().map_err(failed)?;
        let runs = (0..LOOKS.1).any(|_| {
            sleep(LOOKS.0);
            emulate::is_device(&at) || !matches!(served.try_wait(), Ok(None))
        });
        if !runs || !emulate::is_device(&at) {
            return Err(Failure::new(format!("{}: it does not come up", doing())).hint(format!(
                "see why: prony emulate {model} --backing {} --at {}",
                units::for_shell(&place.folder.path),
                units::for_shell(at.display())
            )));
        }
    }
    Ok(())
}

/// Unmounts the devices of a pair whose nodes are down; those who serve them end with that.
pub fn end(home: &Home) -> Result<(), Failure> {
    for at in [at(home, 0), at(home, 1)] {
        emulate::unmounted(&at).map_err(|error| {
            Failure::caused(format!("unmounting the device of a node at `{}`", at.display()), &error)
        })?;
    }
    Ok(())
}
