//! By which names a device can be told from every other one.
//!
//! The kernel's own files come first; the database of udev adds what only it knows; without it, the place in sysfs
//! stands for the path. A loop device has no name of its
//! own; it is told apart by the base name and inode of the file behind it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{Identity, IdentityKind};
use crate::stack::{DeviceNumber, read_line};

/// All identities of a whole disk, the most lasting first, each once.
pub(super) fn of_disk(folder: &Path, number: DeviceNumber, udev: &Path) -> Vec<Identity> {
    let mut found = Vec::new();
    let mut add = |kind, id: Option<String>| {
        let id = id.map(|id| plain(&id)).filter(|id| !id.is_empty());
        found.extend(id.map(|id| Identity { kind, id }));
    };
    let line = |name: &str| read_line(&folder.join(name));
    for name in ["wwid", "device/wwid"] {
        add(IdentityKind::Wwn, line(name));
    }
    for name in ["serial", "device/serial"] {
        add(IdentityKind::Serial, line(name));
    }
    add(IdentityKind::Serial, unit_serial(&folder.join("device/vpd_pg80")));
    for name in ["dm/uuid", "md/uuid"] {
        add(IdentityKind::Uuid, line(name));
    }
    add(IdentityKind::Uuid, loop_identity(folder));
    found.extend(of_udev(&udev.join(format!("b{number}"))));
    if !found.iter().any(|one| one.kind == IdentityKind::ByPath) {
        found.extend(of_place(folder).map(|id| Identity { kind: IdentityKind::ByPath, id }));
    }
    found.sort_by_key(|identity| identity.kind);
    found.dedup();
    found
}

/// A partition's identities: its disk's with the number of the partition, as udev names them.
pub(super) fn of_partition(disk: &[Identity], number: &str) -> Vec<Identity> {
    disk.iter().map(|one| Identity { kind: one.kind, id: format!("{}-part{number}", one.id) }).collect()
}

/// The unit serial number page of a SCSI device: four bytes of header, then text (SPC-4, 7.8.15).
fn unit_serial(page: &Path) -> Option<String> {
    let bytes = fs::read(page).ok()?;
    Some(String::from_utf8_lossy(bytes.get(4..)?).into_owned())
}

/// Where a disk is plugged in, by its place in sysfs, for machines without udev and disks without a serial number:
/// `…/devices/pci0000:00/0000:00:02.0/virtio1/block/vda` is `pci0000:00-0000:00:02.0-virtio1`. A device that is
/// not plugged in anywhere has no place.
fn of_place(folder: &Path) -> Option<String> {
    let text = folder.to_str()?;
    let (_, place) = text.split_once("/devices/")?;
    let (place, _) = place.rsplit_once("/block/")?;
    (!place.starts_with("virtual")).then(|| place.replace('/', "-"))
}

fn loop_identity(folder: &Path) -> Option<String> {
    let backing = read_line(&folder.join("loop/backing_file"))?;
    let backing = Path::new(&backing);
    // A backing file that was deleted cannot be told apart any more, and so cannot be consented to.
    let inode = fs::metadata(backing).ok()?.ino();
    Some(format!("loop-{}-{inode}", backing.file_name()?.to_string_lossy()))
}

/// Reads `/run/udev/data/bMAJOR:MINOR`: `E:KEY=VALUE` for properties and `S:PATH` for links below `/dev`.
fn of_udev(path: &Path) -> Vec<Identity> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(udev_line).collect()
}

fn udev_line(line: &str) -> Option<Identity> {
    if let Some(link) = line.strip_prefix("S:") {
        let by_id = link.strip_prefix("disk/by-id/").map(|id| (IdentityKind::ById, id));
        let (kind, id) = by_id.or_else(|| Some((IdentityKind::ByPath, link.strip_prefix("disk/by-path/")?)))?;
        return Some(Identity { kind, id: plain(id) });
    }
    let (key, value) = line.strip_prefix("E:")?.split_once('=')?;
    let kind = match key {
        "ID_WWN_WITH_EXTENSION" | "ID_WWN" => IdentityKind::Wwn,
        "ID_SERIAL_SHORT" | "ID_SCSI_SERIAL" => IdentityKind::Serial,
        "MD_UUID" | "DM_UUID" => IdentityKind::Uuid,
        _ => return None,
    };
    Some(Identity { kind, id: plain(value) })
}

/// Without spaces, control characters and padding, so that it survives a command line: some makers pad with spaces.
fn plain(id: &str) -> String {
    let words: Vec<&str> = id.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    words.join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, bytes: &[u8]) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn kernel_files_and_udev_together_name_a_disk() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "sda/device/wwid", b"naa.5002538d40878f8e\n");
        put(root.path(), "sda/device/vpd_pg80", b"\0\x80\0\x14      S2RBNX0H606448W");
        let udev = "S:disk/by-path/pci-0000:00:1f.2-ata-1\nS:disk/by-id/wwn-0x5002538d40878f8e\nI:1\n\
            E:ID_WWN=0x5002538d40878f8e\nE:ID_SERIAL_SHORT=S2RBNX0H606448W\nE:ID_MODEL=x\n";
        put(root.path(), "udev/b8:0", udev.as_bytes());
        let number = DeviceNumber { major: 8, minor: 0 };
        let found = of_disk(&root.path().join("sda"), number, &root.path().join("udev"));
        let shown: Vec<String> = found.iter().map(|one| format!("{} {}", one.kind.word(), one.id)).collect();
        let expected = [
            "wwn naa.5002538d40878f8e",
            "wwn 0x5002538d40878f8e",
            "serial S2RBNX0H606448W",
            "by-id wwn-0x5002538d40878f8e",
            "by-path pci-0000:00:1f.2-ata-1",
        ];
        assert_eq!(shown, expected);
        assert_eq!(of_partition(&found, "2")[2].id, "S2RBNX0H606448W-part2");
    }

    #[test]
    fn without_udev_and_serial_number_a_disk_is_named_by_its_place() {
        let virtio = Path::new("/sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda");
        assert_eq!(of_place(virtio).as_deref(), Some("pci0000:00-0000:00:02.0-virtio1"));
        assert_eq!(of_place(Path::new("/sys/devices/virtual/block/zram0")), None);
    }

    #[test]
    fn a_loop_device_is_named_after_its_file_while_that_exists() {
        let root = tempfile::tempdir().unwrap();
        let image = root.path().join("disk image.raw");
        put(root.path(), "disk image.raw", b"x");
        put(root.path(), "loop0/loop/backing_file", image.to_str().unwrap().as_bytes());
        let found = of_disk(&root.path().join("loop0"), DeviceNumber::default(), root.path());
        let inode = fs::metadata(&image).unwrap().ino();
        assert_eq!(found[0].id, format!("loop-disk_image.raw-{inode}"));
        fs::remove_file(&image).unwrap();
        assert_eq!(of_disk(&root.path().join("loop0"), DeviceNumber::default(), root.path()), []);
    }
}
