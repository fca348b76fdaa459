//! The safety table: recorded device trees, a target, a consent, and what must come of it.

use super::*;
use crate::consent;

/// A server: a disk with a mounted partition and a free one, an LVM volume group, an array of two, an encrypted
/// partition, swap, loops, a disk of a pool, and empty disks.
const SERVER: &str = r"
disk sda 8:0  size=1000 signatures=gpt serial=A by-path=pci-0000:00:1f.2-ata-1
part sda1 8:1 size=400 parent=8:0 mount=/ signatures=ext4 serial=A-part1
part sda2 8:2 size=500 parent=8:0 signatures=xfs serial=A-part2
part sda3 8:3 size=100 parent=8:0 swap signatures=swap serial=A-part3
disk sdb 8:16 size=2000 signatures=LVM2_member serial=B
dm dm-0 254:0 size=1500 lower=8:16 mount=/srv/db signatures=ext4 uuid=LVM-db
dm dm-1 254:1 size=400 lower=8:16 signatures= uuid=LVM-free
disk sdc 8:32 size=3000 signatures=linux_raid_member serial=C
disk sdd 8:48 size=3000 signatures=linux_raid_member serial=D
md md0 9:0 size=2900 lower=8:32 lower=8:48 signatures= uuid=md-0
disk sde 8:64 size=4000 signatures=gpt serial=E
part sde1 8:65 size=3900 parent=8:64 signatures=crypto_LUKS serial=E-part1
dm dm-2 254:2 size=3800 lower=8:65 signatures=LVM2_member uuid=CRYPT-e
dm dm-3 254:3 size=3700 lower=254:2 mount=/home signatures=ext4 uuid=LVM-home
disk sdf 8:80 size=5000 signatures=zfs_member serial=F
disk sdg 8:96 size=6000 signatures= serial=G wwn=naa.6
disk sdh 8:112 size=6000 read-only signatures= serial=H
disk sdi 8:128 size=7000 signatures=gpt serial=I
part sdi1 8:129 size=6900 parent=8:128 signatures=ext4 serial=I-part1
disk sdj 8:144 size=8000 signatures= serial=J
loop loop0 7:0 size=8000 lower=8:144 signatures= uuid=loop-sdj-9
loop loop1 7:1 size=100 signatures= uuid=loop-a.img-5
loop loop2 7:2 size=100 mount=/mnt signatures= uuid=loop-a.img-5
loop loop3 7:3 size=0
disk sdk 8:160 size=9000 signatures=btrfs holder=btrfs\040uuid serial=K
disk sdl 8:176 size=9000 unreadable=EIO serial=L
disk sdm 8:192 size=9000 signatures=
disk sdn 8:208 size=9500 signatures= serial=N mount=/backup
disk sdo 8:224 size=9600 signatures= holding=3/64 serial=O writer=process\0401\040(qemu)
loop loop4 7:4 size=9500 lower=8:208 signatures= uuid=loop-sdn-9
";

/// Two paths to one disk, with multipath above them, and two to another without; and a drive with two namespaces.
const PATHS: &str = r"
disk sda 8:0 size=1000 wwn=naa.1 signatures=
disk sdb 8:16 size=1000 wwn=naa.1 signatures=
dm dm-0 254:0 size=1000 lower=8:0 lower=8:16 signatures= uuid=mpath-naa.1
dm dm-1 254:1 size=900 lower=254:0 signatures=ext4 uuid=part1-mpath-naa.1
disk sdc 8:32 size=2000 wwn=naa.2 signatures=
disk sdd 8:48 size=2000 wwn=naa.2 signatures=gpt
part sdd1 8:49 size=1900 parent=8:48 wwn=naa.2-part1 mount=/data signatures=xfs
disk nvme0n1 259:0 size=3000 wwn=eui.1 serial=S signatures= mount=/
disk nvme0n2 259:1 size=3000 wwn=eui.2 serial=S signatures=
";

fn judged(text: &str, name: &str, destroy: &str) -> Result<Approved, Box<Refusal>> {
    let tree: DeviceTree = text.parse().expect("a recorded tree");
    let device = tree.devices.iter().find(|device| device.name == name).expect("a device of the tree");
    let consents: Vec<Consent> =
        destroy.split_whitespace().map(|text| consent::parse(text).expect("a consent")).collect();
    judge(&tree, device.number, &consents)
}

/// The words of the refusal, or `written` with the identity.
fn outcome(text: &str, name: &str, destroy: &str) -> String {
    match judged(text, name, destroy) {
        Ok(approved) => format!("written as {}", approved.id),
        Err(refusal) => {
            let obstacles: Vec<String> = refusal.obstacles.iter().map(ToString::to_string).collect();
            let remedy = refusal.option().unwrap_or_else(|| "hopeless".to_owned());
            format!("{} | {remedy}", obstacles.join(" | "))
        }
    }
}

#[track_caller]
fn table(tree: &str, rows: &[(&str, &str, &str)]) {
    let mut wrong = String::new();
    for (device, destroy, expected) in rows {
        let seen = outcome(tree, device, destroy);
        if seen != *expected {
            wrong.push_str(&format!("{device} with `{destroy}`\n  expected {expected}\n  got      {seen}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_in_use_is_refused_whatever_is_consented_to() {
    table(
        SERVER,
        &[
            (
                "sda",
                "A:1000:gpt+ext4+xfs+swap",
                "`sda1` is mounted at `/`; unmount it first | `sda3` is swapped on; run `swapoff /dev/sda3` first | hopeless",
            ),
            ("sda1", "A-part1:400:ext4", "`sda1` is mounted at `/`; unmount it first | hopeless"),
            ("sda3", "A-part3:100:swap", "`sda3` is swapped on; run `swapoff /dev/sda3` first | hopeless"),
            (
                "sdb",
                "B:2000:LVM2_member",
                "`sdb` is held by dm-0 (dm); stop that first, or measure that instead | \
                 `sdb` is held by dm-1 (dm); stop that first, or measure that instead | \
                 `dm-0` is mounted at `/srv/db`; unmount it first | hopeless",
            ),
            (
                "sdc",
                "C:3000:linux_raid_member",
                "`sdc` is held by md0 (md); stop that first, or measure that instead | hopeless",
            ),
            (
                "sde",
                "E:4000:gpt+crypto_LUKS",
                "`sde1` is held by dm-2 (dm); stop that first, or measure that instead | \
                 `dm-2` is held by dm-3 (dm); stop that first, or measure that instead | \
                 `dm-3` is mounted at `/home`; unmount it first | hopeless",
            ),
            (
                "dm-2",
                "CRYPT-e:3800:LVM2_member",
                "`dm-2` is held by dm-3 (dm); stop that first, or measure that instead | \
                 `dm-3` is mounted at `/home`; unmount it first | hopeless",
            ),
            (
                "sdf",
                "F:5000:zfs_member",
                "`sdf` is a member of a ZFS pool; run `zpool labelclear /dev/sdf` first if the pool is gone | hopeless",
            ),
            ("sdh", "H:6000", "`sdh` is read-only | hopeless"),
            ("sdj", "J:8000", "`sdj` is held by loop0 (loop); stop that first, or measure that instead | hopeless"),
            ("sdk", "K:9000:btrfs", "`sdk` is held by btrfs uuid; stop that first, or measure that instead | hopeless"),
        ],
    );
}

#[test]
fn what_is_free_is_written_with_the_consent_that_names_it() {
    table(
        SERVER,
        &[
            ("sda2", "A-part2:500:xfs", "written as A-part2"),
            ("sdg", "G:6000", "written as G"),
            ("sdg", "naa.6:6000", "written as naa.6"),
            ("sdg", "X:1 G:6000:ext4", "written as G"),
            ("sdi", "I:7000:gpt+ext4", "written as I"),
            ("sdi1", "I-part1:6900:ext4", "written as I-part1"),
            ("md0", "md-0:2900", "written as md-0"),
            ("dm-1", "LVM-free:400", "written as LVM-free"),
            ("loop0", "loop-sdj-9:8000", "written as loop-sdj-9"),
        ],
    );
}

#[test]
fn a_lacking_consent_is_told_with_the_one_that_would_do() {
    table(
        SERVER,
        &[
            ("sdg", "", "no consent names `sdg` | --destroy naa.6:6000"),
            ("sdg", "H:6000", "no consent names `sdg` | --destroy naa.6:6000"),
            ("sdg", "G:6001", "the consent for `sdg` says 6001 B, but it has 6000 B | --destroy naa.6:6000"),
            (
                "sda2",
                "A-part2:500:ext4",
                "`sda2` carries a `xfs` signature that the consent does not name | --destroy A-part2:500:xfs",
            ),
            (
                "sdi",
                "I:7000:gpt",
                "`sdi1` carries a `ext4` signature that the consent does not name | --destroy I:7000:ext4+gpt",
            ),
            (
                "sdi",
                "",
                "no consent names `sdi` | `sdi` carries a `gpt` signature that the consent does not name | \
                 `sdi1` carries a `ext4` signature that the consent does not name | --destroy I:7000:ext4+gpt",
            ),
        ],
    );
}

#[test]
fn what_cannot_be_told_apart_or_looked_at_is_refused() {
    table(
        SERVER,
        &[
            (
                "loop1",
                "loop-a.img-5:100",
                "`loop1` is the same disk as `loop2`, which is in use | `loop2` is mounted at `/mnt`; unmount it first | \
                 hopeless",
            ),
            (
                "loop3",
                "",
                "`loop3` has no size: there is no medium or file behind it | `loop3` has no serial number, WWN or path by \
                 which consent could name it | what `loop3` carries could not be read: nobody looked | \
                 no consent names `loop3` | hopeless",
            ),
            ("loop4", "loop-sdn-9:9500", "`sdn` is mounted at `/backup`; unmount it first | hopeless"),
            ("sdl", "L:9000", "what `sdl` carries could not be read: EIO | hopeless"),
            (
                "sdm",
                "sdm:9000",
                "`sdm` has no serial number, WWN or path by which consent could name it | no consent names `sdm` | \
                 hopeless",
            ),
        ],
    );
}

#[test]
fn a_process_that_may_write_is_an_obstacle_to_which_a_word_of_its_own_consents() {
    let told =
        "`sdo` is open for writing in process 1 (qemu); end that first, or say `--in-use-anyway` beside the consent";
    table(
        SERVER,
        &[
            ("sdo", "O:9600", &format!("{told} | --destroy O:9600")),
            ("sdo", "", &format!("{told} | no consent names `sdo` | --destroy O:9600")),
        ],
    );
    let tree: DeviceTree = SERVER.parse().unwrap();
    let device = tree.devices.iter().find(|device| device.name == "sdo").unwrap().number;
    let anyway = |text: &str| [Consent { in_use: true, ..consent::parse(text).unwrap() }];
    judge(&tree, device, &anyway("O:9600")).unwrap();
    assert_eq!(judge(&tree, device, &anyway("P:9600")).unwrap_err().obstacles.len(), 2);
    let told = judge(&tree, device, &[]).unwrap_err().to_string();
    assert!(told.contains("it carries no known signature but is not empty: 3 of 64 probed places hold data"), "{told}");
    let mounted = tree.devices.iter().find(|device| device.name == "sda1").unwrap().number;
    assert_eq!(
        judge(&tree, mounted, &anyway("A-part1:400:ext4")).unwrap_err().remedy,
        None,
        "a mount is no descriptor"
    );
}

#[test]
fn two_paths_to_one_disk_are_one_disk_and_two_namespaces_are_two() {
    table(
        PATHS,
        &[
            (
                "sda",
                "naa.1:1000",
                "`sda` is held by dm-0 (dm); stop that first, or measure that instead | \
                 `dm-0` is held by dm-1 (dm); stop that first, or measure that instead | \
                 `sda` is the same disk as `sdb`, which is in use | \
                 `sdb` is held by dm-0 (dm); stop that first, or measure that instead | hopeless",
            ),
            (
                "dm-0",
                "mpath-naa.1:1000",
                "`dm-0` is held by dm-1 (dm); stop that first, or measure that instead | hopeless",
            ),
            ("dm-1", "part1-mpath-naa.1:900:ext4", "written as part1-mpath-naa.1"),
            (
                "sdc",
                "naa.2:2000",
                "`sdc` is the same disk as `sdd`, which is in use | `sdd1` is mounted at `/data`; unmount it first | \
                 hopeless",
            ),
            ("nvme0n2", "eui.2:3000", "written as eui.2"),
        ],
    );
}

#[test]
fn a_device_that_is_not_in_the_tree_is_refused() {
    let tree: DeviceTree = SERVER.parse().unwrap();
    let refusal = judge(&tree, DeviceNumber { major: 1, minor: 2 }, &[]).unwrap_err();
    assert_eq!(refusal.to_string(), "write to device `1:2`: refused: the kernel knows no block device 1:2");
}

#[test]
fn a_ring_of_devices_ends_the_search() {
    let ring =
        "loop loop0 7:0 size=1 lower=7:1 signatures= uuid=a\nloop loop1 7:1 size=1 lower=7:0 signatures= uuid=b\n";
    assert!(judged(ring, "loop0", "a:1").is_err());
}

#[test]
fn the_consent_that_a_refusal_prints_is_enough() {
    for name in ["sda2", "sdg", "sdi", "sdi1", "md0", "dm-1"] {
        let refusal = judged(SERVER, name, "").unwrap_err();
        let given = refusal.option().unwrap();
        judged(SERVER, name, given.strip_prefix("--destroy ").unwrap()).unwrap();
    }
}
