//! The safety rules on real block devices: loop devices, where the machine allows them.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use system::consent::{self, Consent};
use system::device::{self, OpenError};
use system::safety::{self, Obstacle, Refusal};
use system::tree::{DeviceTree, Signatures};
use system::{Access, ModuleError, Trimmed};
use units::Bytes;

use crate::loops::{self, Loop, Mounted, SIZE, run};
use crate::skip::need;

/// Other tests run beside this one, and their `losetup` opens the devices that it finds taken.
fn consent(text: &str) -> Vec<Consent> {
    vec![Consent { in_use: true, ..consent::parse(text).expect("a consent") }]
}

#[track_caller]
fn refused(path: &Path, consents: &[Consent]) -> Refusal {
    match device::open(path, consents) {
        Err(OpenError::Refused(refusal)) => *refusal,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

/// Opens with the very consent that the refusal prints.
fn open_as_told(path: &Path) -> system::Module {
    let option = refused(path, &[]).option().expect("consent would be enough");
    device::open(path, &consent(option.trim_start_matches("--destroy "))).expect("the consent that was asked for")
}

#[test]
fn an_empty_device_is_written_with_consent_and_not_without() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let refusal = refused(&disk.path, &[]);
    assert_eq!(refusal.option(), Some(format!("--destroy {}:{SIZE}", disk.id())));
    let module = open_as_told(&disk.path);
    assert_eq!(module.bytes(), Bytes(SIZE));
    module.file(Access::Buffered).unwrap().write_all_at(&[0xa5; 4096], 8192).unwrap();
    module.drop_cache().unwrap();
    let mut seen = [0; 4];
    File::open(&disk.image).unwrap().read_exact_at(&mut seen, 8192).unwrap();
    assert_eq!(seen, [0xa5; 4]);
    assert!(module.file(Access::Direct).is_ok() && module.sector_bytes() >= 512);
    module.present().unwrap();
}

#[test]
fn a_device_that_is_open_for_a_run_is_not_opened_again() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let consents = consent(&format!("{}:{SIZE}", disk.id()));
    let _held = device::open(&disk.path, &consents).unwrap();
    let refusal = refused(&disk.path, &consents);
    assert!(matches!(refusal.obstacles[..], [Obstacle::Busy { .. }]), "{refusal}");
}

#[test]
fn a_device_that_another_process_has_open_for_writing_is_refused_until_that_is_accepted() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let anyway = consent(&format!("{}:{SIZE}", disk.id()));
    let consents: Vec<Consent> = anyway.iter().map(|one| Consent { in_use: false, ..one.clone() }).collect();
    // Reading claims nothing; `exec` keeps the shell's own number.
    let holder = |mode: &str| {
        let script = format!("exec 3{mode}{}; echo ready; exec sleep 60", disk.text());
        let mut child = Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut ready).unwrap();
        child
    };
    let mut reader = holder("<");
    let read = device::open(&disk.path, &anyway).map(drop);
    let mut writer = holder("<>");
    let refusal = refused(&disk.path, &consents);
    let opened = device::open(&disk.path, &anyway).map(drop);
    let plain = refused(&disk.path, &[]);
    for child in [&mut reader, &mut writer] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let by = format!("process {} (sleep)", writer.id());
    assert!(refusal.obstacles.contains(&Obstacle::Written { device: refusal.device.clone(), by }), "{refusal}");
    assert!(!refusal.to_string().contains(&format!("process {} ", reader.id())), "{refusal}");
    read.and(opened).expect("it was accepted");
    assert!(plain.option().is_some_and(|option| option.ends_with(&SIZE.to_string())), "{plain}");
}

#[test]
fn what_a_refusal_says_of_unknown_data_is_what_is_there() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let told = refused(&disk.path, &[]).to_string();
    assert!(told.contains("it carries no known signature, and none of 64 probed places holds data"), "{told}");
    let image = File::options().write(true).open(&disk.image).unwrap();
    // The first and the last place, and one that is not probed.
    for offset in [0, SIZE - 1, 8192] {
        image.write_all_at(&[0xb7], offset).unwrap();
    }
    let disk = Loop::over(&disk.image, &[]);
    let told = refused(&disk.path, &[]).to_string();
    assert!(told.contains("is not empty: 2 of 64 probed places hold data"), "{told}");
}

#[test]
fn what_only_blkid_knows_is_named_and_drbd_is_known_without_it() {
    need!("root", "loop devices", "losetup", "blkid");
    let disk = Loop::prepared(&[], |image| {
        let image = File::options().write(true).open(image).unwrap();
        image.write_all_at(&[0x83, 0x74, 0x02, 0x6b], SIZE - 4096 + 60).unwrap();
    });
    let refusal = refused(&disk.path, &[]);
    assert_eq!(refusal.option(), Some(format!("--destroy {}:{SIZE}:drbd", disk.id())), "{refusal}");
    let seen = run("blkid", &["-p", "-o", "export", disk.text()]);
    assert!(seen.contains("TYPE=drbd"), "{seen}");
    let beside = Loop::prepared(&[], |image| {
        let image = File::options().write(true).open(image).unwrap();
        // A Macintosh label, which our own table does not hold.
        image.write_all_at(b"ER\x02\x00", 0).unwrap();
        image.write_all_at(b"PM\x00\x00\x00\x00\x00\x01", 512).unwrap();
    });
    let refusal = refused(&beside.path, &[]);
    let found = Obstacle::Signature { device: refusal.device.clone(), signature: "mac".to_owned() };
    assert!(refusal.obstacles.contains(&found), "{refusal}");
}

#[test]
fn a_claim_that_no_table_shows_is_found_by_the_exclusive_open() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let exclusive = rustix::fs::OFlags::EXCL.bits() as i32;
    let _pool = OpenOptions::new().read(true).custom_flags(exclusive).open(&disk.path).unwrap();
    let refusal = refused(&disk.path, &consent(&format!("{}:{SIZE}", disk.id())));
    assert!(matches!(refusal.obstacles[..], [Obstacle::Busy { .. }]), "{refusal}");
}

#[test]
fn a_mounted_device_is_refused_through_a_symbolic_link_as_well() {
    need!("root", "loop devices", "losetup", "mkfs.ext4");
    let disk = Loop::prepared(&[], |image| drop(run("mkfs.ext4", &["-q", image.to_str().unwrap()])));
    let link = disk.image.with_file_name("link");
    symlink(&disk.path, &link).unwrap();
    let mounted = Mounted::new(&disk.path);
    let consents = consent(&format!("{}:{SIZE}:ext4", disk.id()));
    for path in [disk.path.as_path(), &link] {
        let refusal = refused(path, &consents);
        let point = fs::canonicalize(mounted.point.path()).unwrap();
        assert!(refusal.obstacles.contains(&Obstacle::Mounted { device: refusal.device.clone(), point }), "{refusal}");
        assert_eq!(refusal.remedy, None);
    }
    drop(mounted);
    device::open(&link, &consents).unwrap();
}

#[test]
fn a_mount_that_only_another_namespace_has_is_named() {
    need!("root", "loop devices", "losetup", "mkfs.ext4", "unshare");
    let disk = Loop::prepared(&[], |image| drop(run("mkfs.ext4", &["-q", image.to_str().unwrap()])));
    let point = tempfile::tempdir().unwrap();
    let script = format!("mount {} {} && echo ready && read line", disk.text(), point.path().display());
    let mut child = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut ready).unwrap();
    let refusal = refused(&disk.path, &consent(&format!("{}:{SIZE}:ext4", disk.id())));
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(ready, "ready\n");
    assert!(matches!(refusal.obstacles[..], [Obstacle::Mounted { .. }]), "{refusal}");
}

#[test]
fn a_filesystem_is_destroyed_only_when_it_is_named() {
    need!("root", "loop devices", "losetup", "mkfs.ext4");
    let disk = Loop::prepared(&[], |image| drop(run("mkfs.ext4", &["-q", image.to_str().unwrap()])));
    let refusal = refused(&disk.path, &consent(&format!("{}:{SIZE}:xfs", disk.id())));
    let expected = Obstacle::Signature { device: refusal.device.clone(), signature: "ext4".to_owned() };
    assert_eq!(refusal.obstacles, [expected]);
    open_as_told(&disk.path);
}

#[test]
fn a_partition_is_free_while_its_sibling_is_mounted_and_the_disk_is_not() {
    need!("root", "loop devices", "losetup", "mkfs.ext4", "addpart");
    let disk = Loop::prepared(&["--partscan"], loops::partition);
    let (first, second) = (disk.partition(1), disk.partition(2));
    if !first.exists() && !disk.add_partitions() {
        return crate::skip::note("this kernel makes no partitions of loop devices");
    }
    run("mkfs.ext4", &["-q", first.to_str().unwrap()]);
    let refusal = refused(&disk.path, &[]);
    assert_eq!(refusal.option(), Some(format!("--destroy {}:{SIZE}:dos+ext4", disk.id())));
    let mounted = Mounted::new(&first);
    for path in [&disk.path, &first] {
        let refusal = refused(path, &consent(&format!("{}:{SIZE}:dos+ext4", disk.id())));
        assert!(matches!(refusal.obstacles[0], Obstacle::Mounted { .. }), "{refusal}");
    }
    let sibling = open_as_told(&second);
    assert_eq!(sibling.bytes(), Bytes(7 << 20));
    drop((sibling, mounted));
    open_as_told(&disk.path);
}

#[test]
fn a_device_that_is_swapped_on_is_refused() {
    need!("root", "loop devices", "losetup", "mkswap", "swapon");
    let disk = Loop::prepared(&[], |image| drop(run("mkswap", &[image.to_str().unwrap()])));
    let swapped = Command::new("swapon").arg(&disk.path).output().unwrap();
    if !swapped.status.success() {
        return crate::skip::note("this kernel does not swap");
    }
    let refusal = refused(&disk.path, &consent(&format!("{}:{SIZE}:swap", disk.id())));
    run("swapoff", &[disk.text()]);
    assert!(matches!(refusal.obstacles[..], [Obstacle::Swap { .. }]), "{refusal}");
    open_as_told(&disk.path);
}

#[test]
fn a_device_under_a_loop_device_is_held_by_it() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let upper = Loop::over(&disk.path, &[]);
    let refusal = refused(&disk.path, &consent(&format!("{}:{SIZE}", disk.id())));
    assert!(matches!(&refusal.obstacles[..], [Obstacle::Held { by, .. }] if by.contains("loop")), "{refusal}");
    let attached = Path::new("/sys/block").join(upper.path.file_name().unwrap()).join("loop/backing_file");
    drop(upper);
    // Who looks at devices at that moment keeps it attached for a moment longer.
    for _ in 0..1_000 {
        if attached.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    open_as_told(&disk.path);
}

#[test]
fn a_device_under_device_mapper_is_held_and_the_mapping_is_free() {
    need!("root", "loop devices", "losetup", "dmsetup", "/sys/class/misc/device-mapper");
    let disk = Loop::empty();
    let name = format!("prony-test-{}", std::process::id());
    let table = format!("0 {} linear {} 0", SIZE / 512, disk.text());
    run("dmsetup", &["create", &name, "--uuid", &name, "--table", &table]);
    let refusal = refused(&disk.path, &consent(&format!("{}:{SIZE}", disk.id())));
    let mapping = refused(&Path::new("/dev/mapper").join(&name), &[]).option();
    run("dmsetup", &["remove", &name]);
    assert!(matches!(&refusal.obstacles[..], [Obstacle::Held { by, .. }] if by.contains("dm")), "{refusal}");
    assert_eq!(mapping, Some(format!("--destroy {name}:{SIZE}")));
}

#[test]
fn a_member_of_an_array_is_held_by_it() {
    need!("root", "loop devices", "losetup", "mdadm", "/proc/mdstat");
    let disk = Loop::empty();
    let array = format!("/dev/md/prony-test-{}", std::process::id());
    let options = ["--build", &array, "--level=linear", "--force", "--raid-devices=1", disk.text()];
    run("mdadm", &options);
    let refusal = refused(&disk.path, &consent(&format!("{}:{SIZE}", disk.id())));
    run("mdadm", &["--stop", &array]);
    assert!(matches!(&refusal.obstacles[..], [Obstacle::Held { by, .. }] if by.contains("md")), "{refusal}");
}

#[test]
fn a_read_only_device_is_refused() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::prepared(&["--read-only"], |_| {});
    let refusal = refused(&disk.path, &consent(&format!("{}:{SIZE}", disk.id())));
    assert!(matches!(refusal.obstacles[..], [Obstacle::ReadOnly { .. }]), "{refusal}");
}

#[test]
fn a_mounted_device_is_read_without_consent_and_cannot_be_written() {
    need!("root", "loop devices", "losetup", "mkfs.ext4");
    let disk = Loop::prepared(&[], |image| drop(run("mkfs.ext4", &["-q", image.to_str().unwrap()])));
    let mounted = Mounted::new(&disk.path);
    let mut module = device::open_read_only(&disk.path).unwrap();
    assert!(module.read_only());
    assert_eq!(module.bytes(), Bytes(SIZE));
    // The magic number of ext4, in its superblock at 1 KiB.
    let mut seen = [0; 2];
    module.file(Access::Buffered).unwrap().read_exact_at(&mut seen, 1024 + 56).unwrap();
    assert_eq!(seen, [0x53, 0xef]);
    for access in [Access::Buffered, Access::Direct] {
        let Ok(file) = module.file(access) else { continue };
        let error = file.write_all_at(&[0; 4096], 8192).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::BADF.raw_os_error()), "{access:?}");
    }
    assert!(module.trim().is_err(), "a trim is a write, too");
    drop(mounted);
}

#[test]
fn a_device_that_is_only_read_is_not_claimed_and_its_cache_can_be_dropped() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::prepared(&["--read-only"], |_| {});
    let (first, second) = (device::open_read_only(&disk.path).unwrap(), device::open_read_only(&disk.path).unwrap());
    first.drop_cache().unwrap();
    second.sync().unwrap();
    assert!(matches!(device::open_read_only(Path::new("/dev/null")), Err(OpenError::NotADevice { .. })));
}

#[test]
fn a_trimmed_device_reads_zeros_and_gives_its_blocks_back() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let mut module = open_as_told(&disk.path);
    module.file(Access::Buffered).unwrap().write_all_at(&[1; 65536], 0).unwrap();
    module.sync().unwrap();
    module.mark_filled();
    match module.trim() {
        Ok(Trimmed::ZeroedAndUnmapped | Trimmed::Discarded) => {
            let mut seen = [9; 4096];
            module.file(Access::Buffered).unwrap().read_exact_at(&mut seen, 0).unwrap();
            assert_eq!(seen, [0; 4096]);
        }
        Err(ModuleError::CannotTrim { .. }) => crate::skip::note("the filesystem of /tmp cannot punch holes"),
        Err(other) => panic!("{other}"),
    }
    assert!(!module.filled());
}

#[test]
fn a_device_that_loses_its_blocks_has_vanished() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let module = open_as_told(&disk.path);
    File::options().write(true).open(&disk.image).unwrap().set_len(SIZE / 2).unwrap();
    run("losetup", &["--set-capacity", disk.text()]);
    let error = module.present().unwrap_err();
    assert!(matches!(error, ModuleError::Vanished { .. }), "{error}");
}

#[test]
fn no_consent_frees_what_the_root_filesystem_stands_on() {
    let below = system::stack::below(Path::new("/"));
    if below.is_empty() {
        return crate::skip::note("no block device is behind the root of this container");
    }
    for layer in below {
        let tree = DeviceTree::read(&[layer.number]);
        let device = tree.device(layer.number).expect("it was found in the same sysfs");
        let consents: Vec<Consent> = device
            .identities
            .iter()
            .map(|one| Consent { id: one.id.clone(), size: device.size, signatures: Vec::new(), in_use: false })
            .collect();
        // Even if nothing were on it, it is in use.
        let mut bare = tree.clone();
        bare.device_mut(layer.number).unwrap().signatures = Signatures::Found(Vec::new());
        let refusal = safety::judge(&bare, layer.number, &consents).unwrap_err();
        assert_eq!(refusal.remedy, None, "{refusal}");
    }
}

#[test]
fn an_existing_file_is_written_with_consent_and_keeps_its_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("an image.raw");
    fs::write(&path, vec![7; 1_000_000]).unwrap();
    let refusal = refused(&path, &[]);
    let told = refusal.to_string();
    assert!(told.contains("is not empty: 64 of 64 probed places hold data"), "{told}");
    let option = refusal.option().unwrap();
    assert!(option.starts_with("--destroy file-an_image.raw-") && option.ends_with(":1000000"), "{option}");
    let given = consent(option.trim_start_matches("--destroy "));
    fs::write(&path, vec![7; 1_000_001]).unwrap();
    assert!(matches!(refused(&path, &given).obstacles[..], [Obstacle::OtherSize { .. }]));
    File::options().write(true).open(&path).unwrap().set_len(1_000_000).unwrap();
    let module = device::open(&path, &given).unwrap();
    assert_eq!((module.bytes(), module.read_only()), (Bytes(1_000_000), false));
    module.file(Access::Buffered).unwrap().write_all_at(&[9; 512], 4096).unwrap();
    drop(module);
    let held = fs::read(&path).unwrap();
    assert_eq!((held.len(), held[4095], held[4096], held[4608]), (1_000_000, 7, 9, 7), "nothing is truncated");
    let module = device::open_read_only(&path).unwrap();
    assert!(module.read_only() && module.file(Access::Buffered).unwrap().write_all_at(&[1], 0).is_err());
    let seen = system::survey::device(&path).unwrap();
    assert_eq!(seen.size, Bytes(1_000_000));
    fs::write(&path, "").unwrap();
    assert!(system::survey::device(&path).is_err() && device::open(&path, &given).is_err());
}

#[test]
fn a_file_that_a_process_writes_or_a_loop_device_shows_is_refused() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let id = format!("file-image.raw-{}:{SIZE}", disk.id().rsplit('-').next().unwrap());
    let refusal = refused(&disk.image, &consent(&id));
    assert!(matches!(&refusal.obstacles[..], [Obstacle::Held { by, .. }] if by.contains("(loop)")), "{refusal}");
    let path = disk.image.with_file_name("other.raw");
    fs::write(&path, [0; 8192]).unwrap();
    let script = format!("exec 3>>{}; echo ready; exec sleep 60", path.display());
    let mut writer = Command::new("sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(writer.stdout.take().unwrap()), &mut ready).unwrap();
    // What it has open cannot be read while it becomes another program.
    let name = || fs::read_to_string(format!("/proc/{}/comm", writer.id())).unwrap_or_default();
    let becomes = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        name() == "sleep\n"
    });
    assert!(becomes, "{}", name());
    let refusal = refused(&path, &[]);
    writer.kill().unwrap();
    writer.wait().unwrap();
    let by = format!("process {} (sleep)", writer.id());
    assert!(refusal.obstacles.contains(&Obstacle::Written { device: "other.raw".to_owned(), by }), "{refusal}");
}

#[test]
fn what_is_neither_a_device_nor_a_file_is_refused() {
    assert!(matches!(device::open(Path::new("/dev/null"), &[]), Err(OpenError::NotADevice { .. })));
}

#[test]
fn a_survey_tells_the_size_of_a_device_without_opening_it() {
    need!("root", "loop devices", "losetup");
    let disk = Loop::empty();
    let seen = system::survey::device(&disk.path).unwrap();
    assert_eq!((seen.size, seen.sector), (Bytes(SIZE), Bytes(512)));
}
