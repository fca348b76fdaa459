//! What becomes of emulated devices when they end, and who may do what to them.

use crate::emulate::Device;
use crate::program::Program;
use crate::skip;
use crate::small::Small;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Waits until something is so; the test runner ends a test that waits for ever.
fn until(so: impl Fn() -> bool) {
    while !so() {
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn signals_that_come_together_leave_no_mount_without_a_server() {
    let program = Program::new();
    for _ in 0..5 {
        let Some(mut device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
        let going = device.going.take().expect("it is mounted");
        going.signal(Signal::INT);
        going.signal(Signal::TERM);
        let (code, told) = going.end();
        assert_eq!(code, Some(0), "{told}");
        assert_eq!(fs::read_dir(program.path("at")).expect("a folder as before").count(), 0);
    }
}

#[test]
fn a_second_signal_takes_the_mount_away_from_under_who_uses_it() {
    let program = Program::new();
    let Some(mut device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    let held = File::create(device.at("f")).unwrap();
    let mut going = device.going.take().expect("it is mounted");
    going.signal(Signal::INT);
    going.until("press Ctrl-C again", 1);
    assert!(going.runs());
    going.signal(Signal::INT);
    let (code, told) = going.end();
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(fs::read_dir(program.path("at")).expect("a folder as before").count(), 0);
    drop(held);
}

/// The folders of devices of runs in a folder of temporary files.
fn homes(temporary: &Path) -> Vec<PathBuf> {
    fs::read_dir(temporary).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_device_of_a_run_is_its_users_alone_and_ends_with_a_run_that_is_killed() {
    if !Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
        skip!("mounting needs root and /dev/fuse")
    }
    let program = Program::new();
    let temporary = program.path("tmp");
    fs::create_dir(&temporary).unwrap();
    fs::create_dir(program.path("backing")).unwrap();
    let mut command = program.command("run flash --on disk=emulated:nand-device:backing --set size=64MiB");
    let mut run = command.env("TMPDIR", &temporary).stderr(Stdio::null()).spawn().unwrap();
    // Its scratch folder can be seen through the mount.
    let used = |home: &PathBuf| fs::read_dir(home.join("device")).is_ok_and(|files| files.count() > 0);
    until(|| homes(&temporary).iter().any(used));
    for home in homes(&temporary) {
        assert_eq!(fs::metadata(&home).unwrap().permissions().mode() & 0o777, 0o700, "{}", home.display());
    }
    kill_process(Pid::from_child(&run), Signal::KILL).unwrap();
    run.wait().unwrap();
    until(|| homes(&temporary).is_empty());
}

#[test]
fn a_link_to_the_folder_of_a_mount_is_as_good_as_the_folder() {
    let program = Program::new();
    fs::create_dir(program.path("there")).unwrap();
    std::os::unix::fs::symlink("there", program.path("link")).unwrap();
    let Some(mut device) = Device::mount_at(&program, "nothing", "link") else {
        skip!("mounting needs root and /dev/fuse")
    };
    fs::write(device.at("f"), "seen").unwrap();
    let going = device.going.take().expect("it is mounted");
    going.signal(Signal::INT);
    let (code, told) = going.end();
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(fs::read_dir(program.path("there")).expect("a folder as before").count(), 0);
    assert_eq!(fs::read_to_string(program.path("backing/f")).unwrap(), "seen");
}

#[test]
fn a_file_that_the_backing_keeps_from_being_written_is_refused_when_it_is_opened() {
    let program = Program::new();
    let Some(small) = Small::mount(program.path("small"), "1m") else { skip!("mounting a tmpfs needs root") };
    fs::write(small.path.join("f"), "kept").unwrap();
    fs::create_dir(program.path("at")).unwrap();
    let read_only = rustix::mount::MountFlags::RDONLY;
    rustix::mount::mount_remount(&small.path, read_only, c"").unwrap();
    if !Path::new("/dev/fuse").exists() {
        skip!("mounting needs root and /dev/fuse")
    }
    let device = Device::serve(&program, "nothing --backing small", "at");
    let refused = File::options().append(true).open(device.at("f")).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ReadOnlyFilesystem);
    assert_eq!(fs::read_to_string(device.at("f")).unwrap(), "kept");
    device.unmount();
}

#[test]
fn what_a_folder_is_marked_with_is_neither_seen_nor_taken_away_through_its_mount() {
    use rustix::fs::{XattrFlags, getxattr, listxattr, removexattr, setxattr};
    const MARK: &str = "user.prony.tier";
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    let (below, above) = (program.path("backing"), program.path("at"));
    for name in [MARK, "user.other"] {
        setxattr(&below, name, b"/fast", XattrFlags::empty()).unwrap();
    }
    let mut bytes = [0; 256];
    assert_eq!(getxattr(&above, MARK, &mut bytes[..]), Err(rustix::io::Errno::NODATA));
    let length = listxattr(&above, &mut bytes[..]).unwrap();
    assert_eq!(&bytes[..length], b"user.other\0");
    assert_eq!(removexattr(&above, MARK), Err(rustix::io::Errno::PERM));
    assert_eq!(setxattr(&above, MARK, b"/x", XattrFlags::empty()), Err(rustix::io::Errno::PERM));
    removexattr(&above, "user.other").unwrap();
    device.unmount();
    assert_eq!(getxattr(&below, MARK, &mut bytes[..]), Ok(5));
}

#[test]
fn a_fast_tier_that_its_folder_has_no_room_for_or_that_was_cut_short_is_refused_and_so_is_its_folder_alone() {
    let program = Program::new();
    let Some(small) = Small::mount(program.path("small"), "4m") else { skip!("mounting a tmpfs needs root") };
    for folder in ["slow", "at"] {
        fs::create_dir(program.path(folder)).unwrap();
    }
    let tiers = |room: &str| format!("emulate tiered --fast small --slow slow --at at --room {room}");
    let told = program.refused(&tiers("20MiB"));
    assert!(told.contains("a fast tier of 20 MiB in `small`, which has room for 4 MiB"), "{told}");
    assert!(told.contains("give less with --room"), "{told}");
    fs::write(small.path.join("prony-tier.map"), [0; 30]).unwrap();
    let told = program.refused(&tiers("1MiB"));
    assert!(told.contains("the fast folder `small` is damaged: it names extents that it does not hold"), "{told}");
    let told = program.refused("emulate nothing --backing small --at at");
    assert!(told.contains("`small` is the fast folder of two tiers"), "{told}");
    let told = program.refused("emulate nothing --at at");
    assert!(told.contains("emulating `nothing`: a folder that holds the files, got none"), "{told}");
    let told = program.refused("emulate tiered --at at");
    assert!(told.contains("two folders, --fast and --slow, got none"), "{told}");
}

#[test]
fn a_mount_that_nobody_serves_any_more_is_named_and_clean_takes_it_away() {
    let program = Program::new();
    let home = program.path("prony-emulated-x");
    fs::create_dir_all(home.join("device")).unwrap();
    let Some(mut device) = Device::mount_at(&program, "nothing", "prony-emulated-x/device") else {
        skip!("mounting needs root and /dev/fuse")
    };
    let going = device.going.take().expect("it is mounted");
    going.signal(Signal::KILL);
    going.end();
    let told = program.refused("emulate nothing --backing backing --at prony-emulated-x/device");
    assert!(told.contains("is a mount that nobody serves any more"), "{told}");
    assert!(told.contains("`umount prony-emulated-x/device`"), "{told}");
    assert!(program.fine("clean --dry-run").contains("would remove ./prony-emulated-x"));
    assert!(home.exists());
    assert!(program.fine("clean").contains("removed ./prony-emulated-x"));
    assert!(!home.exists());
    assert_eq!(program.fine("clean"), "");
}

#[test]
fn a_fault_is_for_the_root_of_a_device_and_for_who_serves_it() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    fs::create_dir(device.at("d")).unwrap();
    let told = program.refused("emulate --at at/d --fault power-loss");
    assert!(told.contains("that lies on the device at") && told.contains("hint: say `--at"), "{told}");
    // Anybody may write there.
    for folder in [program.dir(), &program.path("at")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    // The program itself may lie where nobody else can pass.
    fs::copy(env!("CARGO_BIN_EXE_prony"), program.path("prony")).unwrap();
    let mut theirs = Command::new(program.path("prony"));
    theirs.args(["emulate", "--at", "at", "--fault", "power-loss"]).current_dir(program.dir()).uid(65_534).gid(65_534);
    let output = theirs.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("only the user who serves it may do that"), "{told}");
    fs::write(device.at("d/f"), "it still has its power").unwrap();
    device.unmount();
}

#[test]
fn two_devices_never_have_the_same_files_or_the_same_place() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    for folder in ["other", "more"] {
        fs::create_dir(program.path(folder)).unwrap();
    }
    let told = program.refused("emulate nothing --backing backing --at other");
    assert!(told.contains("another device has its files in `backing`"), "{told}");
    let told = program.refused("emulate nothing --backing more --at at");
    assert!(told.contains("a device is mounted at `at` already"), "{told}");
    device.unmount();
}

#[test]
fn a_folder_in_or_around_that_of_another_device_is_refused_and_one_beside_it_is_not() {
    let program = Program::new();
    for folder in ["backing/inner", "deep/middle/below", "beside", "other", "more"] {
        fs::create_dir_all(program.path(folder)).unwrap();
    }
    std::os::unix::fs::symlink(program.path("backing/inner"), program.path("link")).unwrap();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    let below = Device::serve(&program, "tiered --fast deep/middle/below --slow beside", "more");
    // Somebody else's lock on a folder is none of a device.
    let foreign = File::open(program.path("deep/middle")).unwrap();
    rustix::fs::flock(&foreign, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    for (words, own, theirs) in [
        ("nothing --backing backing/inner", "backing/inner", "backing"),
        ("nothing --backing link", "link", "backing"),
        ("nothing --backing deep", "deep", "deep/middle/below"),
        ("tiered --fast deep --slow free", "deep", "deep/middle/below"),
    ] {
        fs::create_dir_all(program.path("free")).unwrap();
        let told = program.refused(&format!("emulate {words} --at other"));
        let told_of =
            format!("`{own}` lies in, or around, `[DIR]/{theirs}`, where another device has its files (process ");
        assert!(told.contains(&told_of) && told.contains("end the other `prony emulate`"), "{words}: {told}");
    }
    let beside = Device::serve(&program, "nothing --backing free", "other");
    for device in [beside, below, device] {
        device.unmount();
    }
    // A lock ends with its device.
    fs::create_dir_all(program.path("deep/other")).unwrap();
    Device::serve(&program, "nothing --backing deep", "other").unmount();
}
