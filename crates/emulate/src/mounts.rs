//! Devices that are mounted, as another process sees them.
//!
//! The one idea: the kernel's list says what is mounted where, and what is done to a device goes through its root.

use crate::files::{ANSWERS, FAULT, HEAT, KNOWS, LOST};
use rustix::fs::XattrFlags;
use rustix::mount::UnmountFlags;
use std::ffi::OsString;
use std::fs::{canonicalize, read};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use workload::happening::{Happening, Part, known};

/// How the kind and the source of our mounts begin.
const OURS: [&[u8]; 2] = [b"fuse", b"prony-"];

/// What `statfs` says of a folder that is mounted through FUSE.
const FUSE: i64 = 0x6573_5546;

/// Unmounts what is served at a path, if anything, or was by a process that is gone.
///
/// # Errors
/// When a program still holds a file there, or this user may not.
pub fn unmounted(at: &Path) -> io::Result<()> {
    match rustix::mount::unmount(at, UnmountFlags::NOFOLLOW) {
        // Nothing is mounted, or nothing is there.
        Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => Ok(()),
        // Who is not root has it done by the program that mounted it; it fails where nothing is mounted, too.
        Err(rustix::io::Errno::PERM) => Command::new("fusermount3").args(["-q", "-u", "--"]).arg(at).status().map(drop),
        Err(error) => Err(error.into()),
    }
}

/// Takes a mount away from under whoever still holds a file there.
///
/// # Errors
/// When this user may not.
pub fn detached(at: &Path) -> io::Result<()> {
    Ok(rustix::mount::unmount(at, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?)
}

/// Whether a folder is seen through FUSE.
pub fn is_mounted(at: &Path) -> bool {
    rustix::fs::statfs(at).is_ok_and(|stat| stat.f_type == FUSE)
}

/// Whether a device of Prony's is mounted at a folder.
pub fn is_device(at: &Path) -> bool {
    let root = root_of(at).ok().flatten();
    root.is_some() && root == at.canonicalize().ok()
}

/// Whether a device is mounted at a folder that has not lost its power: one that has answers nothing.
pub fn has_power(at: &Path) -> bool {
    is_device(at) && rustix::fs::statfs(at).is_ok()
}

/// Why a device was handed no fault.
#[derive(Debug, thiserror::Error)]
pub enum Spared {
    /// No device of Prony's is mounted there.
    #[error("no device is mounted there")]
    Nothing,
    /// It is no root of a mount.
    #[error("that lies on the device at `{0}`")]
    Inside(PathBuf),
    /// The device is served by another user.
    #[error("only the user who serves it may do that")]
    Foreign,
    /// It is one device, and no two tiers.
    #[error("one device is mounted there, and no two tiers")]
    Single,
    /// Its model has no such part; what it knows, in words.
    #[error("its model knows no such thing")]
    Unknown(Vec<String>),
    /// It has parts of this kind, and none of this number.
    #[error("the device has {}", numbered(.0, *.1))]
    Beyond(&'static str, u32),
    /// It would take a part that is lost already; which are, in words.
    #[error("it would change nothing: that has failed already; failed so far: {0}")]
    Twice(String),
    /// It would bring back a part that was not lost; which are, in words.
    #[error("it would change nothing: what it brings back has not failed; failed so far: {0}")]
    Idle(String),
    /// The path leads nowhere, or the device does not answer.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Has something happen to the device that is mounted at a folder.
///
/// # Errors
/// When none is, or this user does not serve it.
pub fn inflict(at: &Path, what: Happening) -> Result<(), Spared> {
    let root = root_of(at)?.ok_or(Spared::Nothing)?;
    if root != at.canonicalize()? {
        return Err(Spared::Inside(root));
    }
    match rustix::fs::setxattr(at, FAULT, what.to_string().as_bytes(), XattrFlags::empty()) {
        Err(rustix::io::Errno::PERM | rustix::io::Errno::ACCESS) => Err(Spared::Foreign),
        Err(rustix::io::Errno::INVAL) => Err(unknown(what, &told(at, KNOWS)?)),
        Err(rustix::io::Errno::ALREADY) => {
            let lost = told(at, LOST)?;
            Err(if matches!(what, Happening::Fail(..)) { Spared::Twice(lost) } else { Spared::Idle(lost) })
        }
        done => Ok(done.map_err(io::Error::from)?),
    }
}

/// How many operations the device that is mounted at a folder has answered, and how many of them later than its model says: by more than
/// 50 us, and more than a tenth of their time.
///
/// # Errors
/// When it does not answer.
pub fn answers(at: &Path) -> io::Result<[u64; 2]> {
    let text = told(at, ANSWERS)?;
    let mut counts = text.split(' ').map(|count| count.parse().unwrap_or(0));
    Ok(std::array::from_fn(|_| counts.next().unwrap_or(0)))
}

/// What a device says of itself through an attribute of its root.
fn told(at: &Path, attribute: &str) -> io::Result<String> {
    let mut bytes = vec![0; 1 << 16];
    let length = rustix::fs::getxattr(at, attribute, &mut bytes[..])?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// Why a device whose model knows all that cannot do this.
fn unknown(what: Happening, knows: &str) -> Spared {
    let lines = knows.lines().filter_map(|line| line.split_once('\t'));
    let all: Vec<(String, u32)> =
        lines.filter_map(|(word, count)| Some((word.to_owned(), count.parse().ok()?))).collect();
    let count = all.iter().filter(|(word, _)| *word == what.word()).map(|(_, count)| *count).max();
    match (what, count) {
        // A channel is one inside of the module of that number.
        (Happening::Fail(Part::Channel, _) | Happening::Restore(Part::Channel, _), Some(count)) => {
            Spared::Beyond(Part::Module.word(), count)
        }
        (Happening::Fail(part, _) | Happening::Restore(part, _), Some(count)) => Spared::Beyond(part.word(), count),
        _ => Spared::Unknown(known(&all)),
    }
}

/// `4 modules, 0 to 3`.
fn numbered(part: &str, count: u32) -> String {
    match count {
        1 => format!("1 {part}, number 0"),
        count => format!("{}, 0 to {}", units::counted(count.into(), &format!("{part}s")), count.saturating_sub(1)),
    }
}

/// What the tiers that are mounted at a folder saw: lines with tabs, of which the first counts operations of the fast tier and of
/// the slow one, and moves up and down; each other line is an extent: file, number, tier, heat, reads, writes.
///
/// # Errors
/// When no tiers are mounted there.
pub fn heat(at: &Path) -> Result<String, Spared> {
    if !is_device(at) {
        return Err(Spared::Nothing);
    }
    let mut all = Vec::new();
    for page in 0.. {
        let mut bytes = vec![0; 1 << 16];
        match rustix::fs::getxattr(at, format!("{HEAT}{page}"), &mut bytes[..]) {
            Ok(length) => all.extend_from_slice(&bytes[..length]),
            Err(rustix::io::Errno::NODATA) if page > 0 => break,
            Err(rustix::io::Errno::NODATA) => return Err(Spared::Single),
            Err(error) => return Err(io::Error::from(error).into()),
        }
    }
    Ok(String::from_utf8_lossy(&all).into_owned())
}

/// The root of the device on which a file or folder lies, if it lies on one.
///
/// # Errors
/// When the path leads nowhere, or the kernel does not list its mounts.
pub(crate) fn root_of(path: &Path) -> io::Result<Option<PathBuf>> {
    let path = canonicalize(path)?;
    Ok(deepest(&read("/proc/self/mountinfo")?, &path))
}

/// Of all mounts above a path the last and deepest, if it is one of ours.
fn deepest(list: &[u8], path: &Path) -> Option<PathBuf> {
    let above = list.split(|byte| *byte == b'\n').filter_map(mount).filter(|(at, _)| path.starts_with(at));
    above.max_by_key(|(at, _)| at.components().count()).filter(|(_, ours)| *ours).map(|(at, _)| at)
}

/// Where a line of the list mounts something, and whether that is a device of ours.
fn mount(line: &[u8]) -> Option<(PathBuf, bool)> {
    let mut words = line.split(|byte| *byte == b' ');
    let at = words.nth(4)?;
    let mut behind = words.skip_while(|word| *word != b"-").skip(1);
    let ours = OURS.iter().all(|begins| behind.next().is_some_and(|word| word.starts_with(begins)));
    Some((OsString::from_vec(plain(at)).into(), ours))
}

/// A path as the kernel writes it there, with blanks and the like as three octal digits.
fn plain(written: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some((byte, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| *byte == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(code) => (path.push(code), rest = &behind[3..]),
            None => (path.push(*byte), rest = behind),
        };
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_on_the_deepest_mount_above_it() {
        let list = b"22 1 8:1 / / rw - ext4 /dev/sda rw\n\
            40 22 0:41 / /m/a\\040b rw shared:1 - fuse prony-disk-15k rw\n\
            42 22 0:43 / /m/o rw shared:2 - fuse.sshfs far:/ rw\n\
            41 40 0:42 / /m/a\\040b/c rw - tmpfs tmpfs rw\n";
        let root = |path: &str| deepest(list, Path::new(path));
        for (path, device) in [
            ("/m/a b", true),
            ("/m/a b/d/e", true),
            ("/m/a b/c", false),
            ("/m/a bc", false),
            ("/m/o/x", false),
            ("/m", false),
        ] {
            assert_eq!(root(path), device.then(|| PathBuf::from("/m/a b")), "{path}");
        }
    }
}
