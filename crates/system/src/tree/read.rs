//! Reads the device tree of this machine: sysfs for the graph, the mount tables and the swap table for use, the devices
//! themselves for their signatures, through descriptors that cannot write.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FileType, OFlags, Statx, StatxFlags, statx};
use units::Bytes;

use super::{Device, DeviceKind, DeviceTree, Signatures, identity};
use crate::blkid;
use crate::mounts::{self, Mount, unescape};
use crate::signature;
use crate::stack::{DeviceNumber, children, read_line};

impl DeviceTree {
    /// Reads every block device. The signatures of `targets` and of their partitions are read too; those of others
    /// are not, because looking would wake sleeping disks.
    pub fn read(targets: &[DeviceNumber]) -> Self {
        let mut tree = Self::read_sysfs(Path::new("/sys"), Path::new("/run/udev/data"));
        tree.put_mounts(&all_mounts());
        tree.put_swaps(&fs::read_to_string("/proc/swaps").unwrap_or_default());
        if !targets.is_empty() {
            tree.put_writers();
        }
        tree.read_signatures(targets);
        tree
    }

    /// The graph alone, from a sysfs tree.
    pub(super) fn read_sysfs(sys: &Path, udev: &Path) -> Self {
        let mut tree = Self::default();
        let mut claims = Vec::new();
        for folder in children(&sys.join("dev/block")) {
            let Ok(folder) = fs::canonicalize(folder) else { continue };
            let Some(device) = device(&folder, udev) else { continue };
            // `holders` is the other end of `slaves`; both are read, because not every driver writes both.
            claims.extend(numbers_in(&folder.join("holders")).map(|holder| (holder, device.number)));
            tree.devices.push(device);
        }
        for (holder, lower) in claims {
            if let Some(holder) = tree.device_mut(holder) {
                holder.lower.push(lower);
            }
        }
        tree.put_btrfs(sys);
        for device in &mut tree.devices {
            device.lower.sort();
            device.lower.dedup();
        }
        tree.devices.sort_by_key(|device| device.number);
        tree
    }

    /// A mounted btrfs names only one of its devices in the mount table; sysfs lists them all.
    fn put_btrfs(&mut self, sys: &Path) {
        for filesystem in children(&sys.join("fs/btrfs")) {
            let name = filesystem.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for number in numbers_in(&filesystem.join("devices")) {
                if let Some(device) = self.device_mut(number) {
                    device.holders.push(format!("btrfs {name}"));
                }
            }
        }
    }

    pub(super) fn put_mounts(&mut self, mounts: &[(DeviceNumber, PathBuf)]) {
        for (number, point) in mounts {
            if let Some(device) = self.device_mut(*number).filter(|device| !device.mounts.contains(point)) {
                device.mounts.push(point.clone());
            }
        }
    }

    /// Reads the text of `/proc/swaps`: a heading, then `PATH TYPE SIZE USED PRIORITY`.
    fn put_swaps(&mut self, text: &str) {
        for path in text.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next()) {
            let number = DeviceNumber::of_path(Path::new(&unescape(path)));
            if let Some(device) = number.and_then(|number| self.device_mut(number)) {
                device.swap = true;
            }
        }
    }

    /// Who opens a device for an instant only looks at it, as programs do that search for a free one.
    fn put_writers(&mut self) {
        for open in writers(block_device) {
            let device = self.device_mut(open.number).filter(|device| !device.writers.contains(&open.process));
            device.into_iter().for_each(|device| device.writers.push(open.process.clone()));
        }
    }

    fn read_signatures(&mut self, targets: &[DeviceNumber]) {
        let wanted = |device: &Device| {
            targets.contains(&device.number) || device.parent.is_some_and(|parent| targets.contains(&parent))
        };
        for device in self.devices.iter_mut().filter(|device| wanted(device)) {
            match open_to_look(device) {
                Ok(file) => look_into(device, &file),
                Err(error) => device.signatures = Signatures::Unreadable(error.to_string()),
            }
        }
    }
}

/// Looks at what an open device says it holds, by our own table and by libblkid's, and at some places of it.
pub(crate) fn look_into(device: &mut Device, file: &File) {
    let size = device.size.0;
    let found = signature::find(file, size).and_then(|mut found| {
        found.extend(blkid::opinion(file)?);
        found.sort_unstable();
        found.dedup();
        Ok((found, signature::probe(file, size)?))
    });
    (device.signatures, device.probed) = match found {
        Ok((found, probed)) => (Signatures::Found(found), Some(probed)),
        Err(error) => (Signatures::Unreadable(error.to_string()), None),
    };
}

/// How long a look takes at most.
const INSTANT: Duration = Duration::from_millis(100);

/// A block device that a process has open.
#[derive(PartialEq)]
struct Opening {
    /// In words, for refusals.
    process: String,
    ours: bool,
    number: DeviceNumber,
    writes: bool,
}

/// Processes that have something open for writing, those left out that only look at it.
fn writers(of: impl Fn(&Statx) -> Option<DeviceNumber>) -> Vec<Opening> {
    let now = || open_everywhere(&of).into_iter().filter(|open| open.writes && !open.ours);
    let before: Vec<Opening> = now().collect();
    if before.is_empty() {
        return before;
    }
    sleep(INSTANT);
    now().filter(|open| before.contains(open)).collect()
}

/// Which processes other than this one have a file open for writing.
pub(crate) fn writers_of(file: &Metadata) -> Vec<String> {
    let device = DeviceNumber::from_raw(file.dev());
    let same = |found: &Statx| {
        let on = DeviceNumber { major: found.stx_dev_major, minor: found.stx_dev_minor };
        (on == device && found.stx_ino == file.ino()).then_some(device)
    };
    let mut by: Vec<String> = writers(same).into_iter().map(|open| open.process).collect();
    by.dedup();
    by
}

/// Which processes have a device open, as far as this user may look; this one is named as what it is.
pub(crate) fn open_in(number: DeviceNumber) -> Vec<String> {
    let mut by: Vec<String> = open_everywhere(block_device)
        .into_iter()
        .filter(|open| open.number == number)
        .map(|open| if open.ours { "this run, as which it was named twice".to_owned() } else { open.process })
        .collect();
    by.dedup();
    by
}

fn open_everywhere(of: impl Fn(&Statx) -> Option<DeviceNumber>) -> Vec<Opening> {
    let own = std::process::id();
    let mut found = Vec::new();
    for folder in children(Path::new("/proc")) {
        let Some(pid) = folder.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok()) else { continue };
        let name = read_line(&folder.join("comm")).unwrap_or_default();
        let opening = |fd: PathBuf| {
            // Nobody is asked for it: the server of a file that the process has open may be away.
            let number = of(&statx(CWD, &fd, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE | StatxFlags::INO).ok()?)?;
            let flags = fs::read_to_string(folder.join("fdinfo").join(fd.file_name()?)).ok()?;
            Some(Opening {
                process: format!("process {pid} ({name})"),
                ours: pid == own,
                number,
                writes: writes(&flags),
            })
        };
        found.extend(children(&folder.join("fd")).filter_map(opening));
    }
    found
}

/// The block device that a descriptor of a process leads to.
fn block_device(found: &Statx) -> Option<DeviceNumber> {
    let is_block = FileType::from_raw_mode(found.stx_mode.into()) == FileType::BlockDevice;
    is_block.then_some(DeviceNumber { major: found.stx_rdev_major, minor: found.stx_rdev_minor })
}

/// Whether a descriptor writes, by the `flags:` of its fdinfo, which are octal; the last two bits are how it was opened.
fn writes(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| flags & 3 != 0)
}

/// Opens a device for reading, and makes sure that the node is that device's.
fn open_to_look(device: &Device) -> std::io::Result<File> {
    // The kernel writes a slash in a device's name as an exclamation mark in sysfs.
    let path = Path::new("/dev").join(device.name.replace('!', "/"));
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let same = DeviceNumber::of(&file.metadata()?) == Some(device.number);
    if same { Ok(file) } else { Err(std::io::Error::other("the node in /dev is another device's")) }
}

fn device(folder: &Path, udev: &Path) -> Option<Device> {
    let number: DeviceNumber = read_line(&folder.join("dev"))?.parse().ok()?;
    let sectors: u64 = read_line(&folder.join("size"))?.parse().ok()?;
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let partition = read_line(&folder.join("partition"));
    let disk = if partition.is_some() { folder.parent()? } else { folder };
    let parent = partition.is_some().then(|| read_line(&disk.join("dev"))?.parse().ok()).flatten();
    let of_disk = identity::of_disk(disk, parent.unwrap_or(number), udev);
    let backing = read_line(&folder.join("loop/backing_file")).and_then(|path| DeviceNumber::of_path(Path::new(&path)));
    Some(Device {
        kind: kind(folder, &name, partition.is_some()),
        name,
        number,
        // sysfs counts in units of 512 bytes, whatever the sector size.
        size: Bytes(sectors * 512),
        parent,
        lower: numbers_in(&folder.join("slaves")).chain(numbers_in(&folder.join("multipath"))).chain(backing).collect(),
        mounts: Vec::new(),
        swap: false,
        holders: Vec::new(),
        writers: Vec::new(),
        read_only: read_line(&folder.join("ro")).is_some_and(|text| text != "0"),
        signatures: Signatures::NotRead,
        probed: None,
        identities: match partition {
            Some(partition) => identity::of_partition(&of_disk, &partition),
            None => of_disk,
        },
    })
}

fn kind(folder: &Path, name: &str, partition: bool) -> DeviceKind {
    if partition {
        DeviceKind::Part
    } else if folder.join("dm").exists() {
        DeviceKind::Dm
    } else if folder.join("md").exists() {
        DeviceKind::Md
    } else if name.starts_with("loop") {
        DeviceKind::Loop
    } else if folder.join("device").exists() {
        DeviceKind::Disk
    } else {
        DeviceKind::Other
    }
}

fn numbers_in(folder: &Path) -> impl Iterator<Item = DeviceNumber> + use<> {
    children(folder).filter_map(|entry| read_line(&entry.join("dev"))?.parse().ok())
}

/// Mounts of every mount namespace whose processes can be seen: a device that only a container has mounted is in use
/// all the same.
fn all_mounts() -> Vec<(DeviceNumber, PathBuf)> {
    let mut namespaces = BTreeSet::new();
    let mut found: Vec<Mount> = mounts::read();
    for process in children(Path::new("/proc")) {
        let is_process = process.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.parse::<u32>().is_ok());
        let Some(namespace) = is_process.then(|| fs::read_link(process.join("ns/mnt")).ok()).flatten() else {
            continue;
        };
        if namespaces.insert(namespace) {
            found.extend(mounts::parse(&fs::read_to_string(process.join("mountinfo")).unwrap_or_default()));
        }
    }
    found.into_iter().map(|mount| (number_of(&mount), mount.point)).collect()
}

/// Filesystems with numbers of their own (btrfs, zfs, overlay) are traced to a device by what was mounted.
fn number_of(mount: &Mount) -> DeviceNumber {
    if mount.number.major != 0 {
        return mount.number;
    }
    DeviceNumber::of_path(Path::new(&mount.source)).unwrap_or(mount.number)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A sysfs with the partition sda1 on sda, and dm-0 on sda1 whose `slaves` is empty, as some drivers leave it.
    fn recorded_sysfs(root: &Path) {
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for (path, dev, size, ro) in [
            ("devices/block/sda", "8:0", "2000", "0"),
            ("devices/block/sda/sda1", "8:1", "1000", "1"),
            ("devices/block/dm-0", "254:0", "900", "0"),
        ] {
            put(&format!("{path}/dev"), dev);
            put(&format!("{path}/size"), size);
            put(&format!("{path}/ro"), ro);
            fs::create_dir_all(root.join("dev/block")).unwrap();
            symlink(root.join(path), root.join("dev/block").join(dev)).unwrap();
        }
        put("devices/block/sda/device/serial", "S 1\n");
        put("devices/block/sda/sda1/partition", "1\n");
        put("devices/block/dm-0/dm/uuid", "LVM-abc\n");
        fs::create_dir_all(root.join("devices/block/sda/sda1/holders")).unwrap();
        symlink(root.join("devices/block/dm-0"), root.join("devices/block/sda/sda1/holders/dm-0")).unwrap();
        fs::create_dir_all(root.join("fs/btrfs/1234/devices")).unwrap();
        symlink(root.join("devices/block/dm-0"), root.join("fs/btrfs/1234/devices/dm-0")).unwrap();
    }

    #[test]
    fn a_recorded_sysfs_becomes_a_tree() {
        let root = tempfile::tempdir().unwrap();
        recorded_sysfs(root.path());
        let mut tree = DeviceTree::read_sysfs(root.path(), root.path());
        tree.put_mounts(&[(DeviceNumber { major: 8, minor: 0 }, "/srv".into())]);
        let expected = "disk sda 8:0 size=1024000 mount=/srv serial=S_1\n\
            part sda1 8:1 size=512000 parent=8:0 read-only serial=S_1-part1\n\
            dm dm-0 254:0 size=460800 lower=8:1 holder=btrfs\\0401234 uuid=LVM-abc\n";
        assert_eq!(tree.to_string(), expected);
    }

    #[test]
    fn a_descriptor_writes_unless_it_was_opened_for_reading() {
        let of = |flags: &str| writes(&format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t9\n"));
        assert_eq!([of("0100000"), of("0100001"), of("02100002"), of("x")], [false, true, true, false]);
        assert!(!writes(""));
    }

    #[test]
    fn the_tree_of_this_machine_reads_back_as_it_prints() {
        let tree = DeviceTree::read(&[]);
        assert_eq!(tree.to_string().parse::<DeviceTree>(), Ok(tree));
    }
}
