//! From a path down to the disks: which block devices stand behind a file, a folder or a device.
//!
//! The one idea: the kernel's own graph in sysfs is followed (partition to disk, device mapper and md to their members,
//! loop to its backing file, multipath to its paths), never a name. A root other than `/sys` can be given, so that
//! recorded trees are test input.
//!
//! What it does not do: it opens no block device and decides nothing.

use std::fmt;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use units::Bytes;

use crate::mounts::{self, Mount};

/// Major and minor number of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl DeviceNumber {
    /// From the kernel's combined form (`st_dev`, `st_rdev`).
    pub fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// Of a block device; none of anything else.
    pub(crate) fn of(metadata: &fs::Metadata) -> Option<Self> {
        metadata.file_type().is_block_device().then(|| Self::from_raw(metadata.rdev()))
    }

    /// The same of what a path leads to.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        Self::of(&fs::metadata(path).ok()?)
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DeviceNumber {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (major, minor) = text.trim().split_once(':').unwrap_or((text, ""));
        Ok(Self { major: major.parse()?, minor: minor.parse()? })
    }
}

/// One block device on the way down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Kernel name: `sda1`, `dm-0`.
    pub name: String,
    /// Its number.
    pub number: DeviceNumber,
    /// Its folder in sysfs.
    pub sysfs: PathBuf,
    /// The folder of the whole disk: its own, or its disk's when it is a partition. `queue/` is there.
    pub disk: PathBuf,
    /// How many steps below the path that was asked about; 0 is the device itself.
    pub depth: u32,
}

/// The block devices behind a path, the nearest first, each once. Empty when no block device stands behind it
/// (tmpfs, a network filesystem) or it cannot be found out.
pub fn below(path: &Path) -> Vec<Layer> {
    let mut layers = Vec::new();
    if let Some(number) = number_behind(path) {
        descend(Path::new("/sys"), number, 0, &mut layers);
    }
    layers
}

/// A chain of more than this many layers is a loop through backing files, which the kernel does not forbid.
const DEPTH_MAX: u32 = 16;

fn descend(sys: &Path, number: DeviceNumber, depth: u32, into: &mut Vec<Layer>) {
    if depth > DEPTH_MAX || into.iter().any(|layer| layer.number == number) {
        return;
    }
    let Some(layer) = layer(sys, number, depth) else { return };
    let (folder, disk) = (layer.sysfs.clone(), layer.disk.clone());
    into.push(layer);
    if folder != disk {
        follow(sys, &disk, depth + 1, into);
    }
    for lower in children(&folder.join("slaves")).chain(children(&folder.join("multipath"))) {
        follow(sys, &lower, depth + 1, into);
    }
    let backing = read_line(&folder.join("loop/backing_file"));
    if let Some(number) = backing.and_then(|path| number_behind(Path::new(&path))) {
        descend(sys, number, depth + 1, into);
    }
}

fn follow(sys: &Path, folder: &Path, depth: u32, into: &mut Vec<Layer>) {
    if let Some(number) = read_line(&folder.join("dev")).and_then(|text| text.parse().ok()) {
        descend(sys, number, depth, into);
    }
}

fn layer(sys: &Path, number: DeviceNumber, depth: u32) -> Option<Layer> {
    let sysfs = fs::canonicalize(sys.join("dev/block").join(number.to_string())).ok()?;
    let disk = if sysfs.join("partition").exists() { sysfs.parent()?.to_path_buf() } else { sysfs.clone() };
    let name = sysfs.file_name()?.to_string_lossy().into_owned();
    Some(Layer { name, number, sysfs, disk, depth })
}

/// The number of the block device that a path is on, or is.
pub fn number_behind(path: &Path) -> Option<DeviceNumber> {
    number_of(&fs::metadata(path).ok()?, path)
}

/// The block device behind an open file, or the device itself.
pub fn device_of(file: &File) -> Option<DeviceNumber> {
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
    number_of(&file.metadata().ok()?, &path)
}

fn number_of(metadata: &fs::Metadata, path: &Path) -> Option<DeviceNumber> {
    if let Some(device) = DeviceNumber::of(metadata) {
        return Some(device);
    }
    let number = DeviceNumber::from_raw(metadata.dev());
    if number.major != 0 {
        return Some(number);
    }
    // Btrfs and overlay give files numbers of their own, btrfs one for each subvolume, which the mount table does not
    // even show; the table does name the device of the mount that the path lies in, if there is one.
    DeviceNumber::of_path(Path::new(&mount_of(path)?.source))
}

/// The mount that a path lies in: the longest mount point among those of its filesystem's number.
pub fn mount_of(path: &Path) -> Option<Mount> {
    let number = DeviceNumber::from_raw(fs::metadata(path).ok()?.dev());
    let real = fs::canonicalize(path).ok()?;
    let all = mounts::read();
    let inside = |mount: &&Mount| real.starts_with(&mount.point);
    // A later line of the table covers an earlier one at the same point, hence the last of the longest.
    let longest = |found: Vec<&Mount>| found.into_iter().max_by_key(|m| m.point.as_os_str().len()).cloned();
    longest(all.iter().filter(inside).filter(|m| m.number == number).collect())
        .or_else(|| longest(all.iter().filter(inside).collect()))
}

/// The unit of direct I/O on a filesystem that does not say it itself: filesystems that check sums over whole blocks
/// take nothing smaller, and would quietly go through the page cache; the others take the disk's sector.
pub fn direct_unit(filesystem: &str, block_bytes: u64, sector_bytes: u32) -> u32 {
    let whole_blocks = matches!(filesystem, "btrfs" | "bcachefs" | "zfs");
    if whole_blocks { u32::try_from(block_bytes).unwrap_or(sector_bytes).max(sector_bytes) } else { sector_bytes }
}

/// The smallest unit that can be addressed on a device, or on the disk of a partition, in bytes; 512 where nobody says.
pub fn sector_bytes(number: Option<DeviceNumber>) -> u32 {
    let disk = number.and_then(|number| layer(Path::new("/sys"), number, 0));
    let said = disk.and_then(|disk| read_line(&disk.disk.join("queue").join("logical_block_size"))?.parse().ok());
    said.unwrap_or(512)
}

/// Size of a device as sysfs has it now.
pub fn size_of(number: &DeviceNumber) -> Option<Bytes> {
    let folder = Path::new("/sys/dev/block").join(number.to_string());
    // sysfs counts in units of 512 bytes, whatever the sector size.
    Some(Bytes(read_line(&folder.join("size"))?.parse::<u64>().ok()? * 512))
}

/// Whether a device zeroes ranges by itself, which is how the kernel trims one to what is known.
pub fn zeroes(number: &DeviceNumber) -> bool {
    let disk = layer(Path::new("/sys"), *number, 0).map(|layer| layer.disk);
    let most = disk.and_then(|disk| read_line(&disk.join("queue/write_zeroes_max_bytes"))?.parse::<u64>().ok());
    most.is_some_and(|most| most > 0)
}

/// The kernel's running count of disks, which no two devices of one boot share.
pub fn sequence_of(number: &DeviceNumber) -> Option<u64> {
    let disk = layer(Path::new("/sys"), *number, 0)?.disk;
    read_line(&disk.join("diskseq"))?.parse().ok()
}

/// The entries of a folder, in order of name; none when it is missing.
pub fn children(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.sort();
    found.into_iter()
}

/// The text of a small file without the space around it; none when it is missing or empty.
pub(crate) fn read_line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_number_reads_back_as_it_prints() {
        let number = DeviceNumber { major: 259, minor: 1_048_575 };
        assert_eq!(number.to_string().parse(), Ok(number));
        assert!("8".parse::<DeviceNumber>().is_err());
    }

    #[test]
    fn a_filesystem_with_check_sums_takes_whole_blocks_only() {
        assert_eq!(direct_unit("btrfs", 4096, 512), 4096);
        assert_eq!(direct_unit("btrfs", 4096, 8192), 8192);
        assert_eq!(direct_unit("xfs", 4096, 512), 512);
    }

    #[test]
    fn a_memory_filesystem_has_no_block_device_behind_it() {
        assert_eq!(below(Path::new("/proc/self/status")), []);
    }
}
