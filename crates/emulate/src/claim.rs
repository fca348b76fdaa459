//! Which folders a device may have: those of no other device, and none that lies in, or around, one of those.
//!
//! The one idea: a device holds a lock on its folders for as long as it serves, and the kernel lists who holds locks; which folder a
//! lock is on is read from the open files of its holder. Each locks first and looks then, so that of two that begin at once one is refused.
//!
//! What it does not do: it asks no mount, because one that hangs never answers. The open files of another user's process only root sees.

use crate::mount::{MountError, Settings};
use crate::mounts::root_of;
use crate::tiered::{elsewhere, is_fast};
use rustix::fs::{Access, FlockOperation};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::{File, read_dir, read_link, read_to_string};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What every device has open.
const FUSE: &str = "/dev/fuse";

/// A folder of a run below that of a device, for extents that move: no user of that device goes there.
pub const EXTENTS: &str = "prony-extents";

/// Files of a process that are looked at: a device holds its folders before it opens the files in them.
const LOOKED_AT: usize = 4096;

/// The backing folders, held for this device alone, when all folders are fit for it.
pub(crate) fn claimed(settings: &Settings) -> Result<Vec<File>, MountError> {
    let fast = settings.tier.iter().map(|(_, tiering)| &tiering.fast);
    let folders: Vec<&PathBuf> = [&settings.backing].into_iter().chain(fast).collect();
    if let [slow, fast] = folders[..] {
        let whole = |path: &PathBuf| path.canonicalize().map_err(|error| MountError::Backing(path.clone(), error));
        if nested(&whole(slow)?, &whole(fast)?) {
            return Err(MountError::Nested(slow.clone(), fast.clone()));
        }
        if is_fast(slow) {
            return Err(MountError::Fast(slow.clone()));
        }
    }
    if settings.tier.is_none() && is_fast(&settings.backing) {
        return Err(MountError::Fast(settings.backing.clone()));
    }
    let mut held = folders.iter().map(|backing| claim(backing, &settings.at)).collect::<Result<Vec<_>, _>>()?;
    // By this a device is known before it is mounted, too. Where it cannot be opened nothing is mounted.
    held.extend(File::open(FUSE));
    for backing in &folders {
        apart(backing)?;
        if settings.model.is_some() || settings.tier.is_some() {
            writable(backing)?;
        }
    }
    match elsewhere(&settings.backing, folders.get(1).map(|fast| fast.as_path())) {
        Some(fast) => Err(MountError::Parted(settings.backing.clone(), fast)),
        None => Ok(held),
    }
}

/// Whether one of two folders is the other or lies in it, also under another name: what is bound elsewhere has the same number.
fn nested(one: &Path, other: &Path) -> bool {
    let lies_in = |inner: &Path, outer: &Path| {
        let outer = number(outer);
        outer.is_some() && inner.ancestors().any(|folder| number(folder) == outer)
    };
    lies_in(one, other) || lies_in(other, one)
}

/// What no other folder of this machine has.
fn number(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|known| (known.dev(), known.ino()))
}

/// What takes time is measured by a file, and tiers have files of their own.
fn writable(backing: &Path) -> Result<(), MountError> {
    match rustix::fs::access(backing, Access::WRITE_OK) {
        Err(error @ (Errno::ROFS | Errno::ACCESS)) => Err(MountError::ReadOnly(backing.to_owned(), error.into())),
        _ => Ok(()),
    }
}

fn claim(backing: &Path, at: &Path) -> Result<File, MountError> {
    let failed = |error| MountError::Backing(backing.to_owned(), error);
    let files = File::open(backing).map_err(failed)?;
    if let Some(root) = root_of(backing).map_err(failed)? {
        return Err(MountError::Stacked(backing.to_owned(), root));
    }
    let unfit = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotConnected => MountError::Dead(at.to_owned()),
        _ => MountError::Mount(at.to_owned(), error),
    };
    let (below, above) = (backing.canonicalize().map_err(failed)?, at.canonicalize().map_err(unfit)?);
    if nested(&below, &above) {
        return Err(MountError::Nested(at.to_owned(), backing.to_owned()));
    }
    if root_of(at).map_err(unfit)?.is_some_and(|root| root == above) {
        // What the kernel knows of a root it answers for one that is dead, too; this goes to the process.
        return Err(match rustix::fs::statfs(at) {
            Err(Errno::NOTCONN) => MountError::Dead(at.to_owned()),
            _ => MountError::Taken(at.to_owned()),
        });
    }
    if at.read_dir().map_err(unfit)?.next().is_some() {
        return Err(MountError::Filled(at.to_owned()));
    }
    match rustix::fs::flock(&files, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(MountError::Shared(backing.to_owned())),
        // A file system without locks goes without.
        _ => Ok(files),
    }
}

/// Refuses a folder that lies in, or around, one of another device.
fn apart(backing: &Path) -> Result<(), MountError> {
    let own = backing.canonicalize().map_err(|error| MountError::Backing(backing.to_owned(), error))?;
    for (process, locks) in holders(&read_to_string("/proc/locks").unwrap_or_default()) {
        let of = PathBuf::from(format!("/proc/{process}"));
        let open = open_files(&of);
        let held = open.iter().filter(|number| holds(&of, **number)).take(locks);
        let other = held.filter_map(|number| file(&of, *number)).find(|other| {
            // The lock on the same folder is our own: nobody else has it beside us.
            number(other) != number(&own) && nested(&own, other) && !spared(&own, other) && !spared(other, &own)
        });
        let Some(other) = other else { continue };
        if open.iter().any(|number| file(&of, *number).is_some_and(|path| path == Path::new(FUSE))) {
            return Err(MountError::Overlapping(backing.to_owned(), other, process));
        }
    }
    Ok(())
}

/// Whether the inner folder is one that a run made for one device below that of another, who never reaches it there.
fn spared(inner: &Path, outer: &Path) -> bool {
    inner.strip_prefix(outer).is_ok_and(|rest| rest.starts_with(EXTENTS))
}

/// Who holds locks for himself on whole files or folders, and how many, by the list of the kernel.
fn holders(list: &str) -> BTreeMap<u32, usize> {
    let mut found = BTreeMap::new();
    for line in list.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if let [_, "FLOCK", _, "WRITE", process, ..] = words[..]
            && let Ok(process) = process.parse()
        {
            *found.entry(process).or_default() += 1;
        }
    }
    found
}

/// The numbers of the files that a process has open, the first ones first.
fn open_files(process: &Path) -> Vec<u32> {
    let entries = read_dir(process.join("fdinfo")).into_iter().flatten();
    let mut numbers: Vec<u32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.truncate(LOOKED_AT);
    numbers
}

/// Whether an open file of a process holds a lock for itself.
fn holds(process: &Path, number: u32) -> bool {
    let known = read_to_string(process.join(format!("fdinfo/{number}"))).unwrap_or_default();
    known.lines().filter_map(|line| line.strip_prefix("lock:")).any(|lock| !holders(lock).is_empty())
}

fn file(process: &Path, number: u32) -> Option<PathBuf> {
    read_link(process.join(format!("fd/{number}"))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_hold_a_whole_file_for_themselves_are_told_from_those_who_share_it_or_wait() {
        let list = "1: FLOCK  ADVISORY  WRITE 42 fe:00:131 0 EOF\n\
            2: FLOCK  ADVISORY  READ 43 fe:00:132 0 EOF\n\
            3: POSIX  ADVISORY  WRITE 44 00:19:9 0 EOF\n\
            4: FLOCK  ADVISORY  WRITE 45 fe:00:133 0 EOF\n\
            4: -> FLOCK  ADVISORY  WRITE 46 fe:00:133 0 EOF\n\
            5: FLOCK  ADVISORY  WRITE 42 fe:00:134 0 EOF\n";
        assert_eq!(holders(list), BTreeMap::from([(42, 2), (45, 1)]));
    }
}
