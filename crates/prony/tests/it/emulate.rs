//! Emulated devices: real mounts of real folders, timed by models.

use crate::program::{Going, Program};
use crate::skip;
use rusqlite::Connection;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// A device that `prony emulate` serves in the folder of a test.
pub struct Device<'a> {
    program: &'a Program,
    pub going: Option<Going>,
}

impl<'a> Device<'a> {
    /// Mounted at `at` over `backing`; none where this user cannot mount.
    pub fn mount(program: &'a Program, model: &str) -> Option<Device<'a>> {
        Device::mount_at(program, model, "at")
    }

    /// The same at another folder.
    pub fn mount_at(program: &'a Program, model: &str, at: &str) -> Option<Device<'a>> {
        if !Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
            return None;
        }
        for folder in ["backing", at] {
            fs::create_dir_all(program.path(folder)).unwrap();
        }
        let mut going = program.start(&format!("emulate {model} --backing backing --at {at}"));
        going.until(&format!("{model} at {at}, on backing"), 1);
        Some(Device { program, going: Some(going) })
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.program.path("at").join(name)
    }

    pub fn backing(&self, name: &str) -> PathBuf {
        self.program.path("backing").join(name)
    }

    pub fn fault(&self, fault: &str) {
        let ran = self.program.run(&format!("emulate --at at --fault {fault}"));
        assert_eq!(ran.code, Some(0), "{ran}");
    }

    pub fn unmount(mut self) {
        let going = self.going.take().expect("it is mounted");
        going.signal(rustix::process::Signal::INT);
        let (code, told) = going.end();
        assert_eq!(code, Some(0), "{told}");
        assert!(!told.contains("still mounted"), "nothing held it: {told}");
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        // A test that failed holds nothing open any more.
        if let Some(going) = self.going.take() {
            going.signal(rustix::process::Signal::INT);
            let _ = going.end();
        }
    }
}

#[test]
fn a_mounted_folder_is_a_folder_like_any_other() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    fs::create_dir(device.at("d")).unwrap();
    fs::write(device.at("d/f"), "content").unwrap();
    std::os::unix::fs::symlink("f", device.at("d/link")).unwrap();
    fs::hard_link(device.at("d/f"), device.at("d/other")).unwrap();
    fs::rename(device.at("d/f"), device.at("d/g")).unwrap();
    assert_eq!(fs::read_to_string(device.at("d/other")).unwrap(), "content");
    assert_eq!(fs::read_link(device.at("d/link")).unwrap(), Path::new("f"));
    let mut names: Vec<_> = fs::read_dir(device.at("d")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["g", "link", "other"]);
    let mut file = OpenOptions::new().read(true).write(true).open(device.at("d/g")).unwrap();
    file.set_len(3).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(b"!").unwrap();
    file.sync_all().unwrap();
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), file.metadata().unwrap().len()), ("con!", 4));
    drop(file);
    assert_eq!(
        fs::metadata(device.at("d/g")).unwrap().permissions(),
        fs::metadata(device.backing("d/g")).unwrap().permissions()
    );
    fs::remove_file(device.at("d/g")).unwrap();
    assert_eq!(fs::remove_dir(device.at("d")).unwrap_err().kind(), std::io::ErrorKind::DirectoryNotEmpty);
    fs::remove_dir_all(device.at("d")).unwrap();
    assert!(!device.backing("d").exists());
    device.unmount();
}

#[test]
fn a_lost_power_keeps_what_was_flushed_and_nothing_else_and_stops_serving() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nand-device") else { skip!("mounting needs root and /dev/fuse") };
    let file = File::create(device.at("f")).unwrap();
    file.write_all_at(&[1; 65_536], 0).unwrap();
    file.sync_all().unwrap();
    let direct = rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::WRONLY;
    let past = File::from(rustix::fs::open(device.at("f"), direct, rustix::fs::Mode::empty()).unwrap());
    let page = vec![2u8; 16_384];
    let from = page.as_ptr().align_offset(4096);
    for place in [0, 8192] {
        past.write_all_at(&page[from..from + 4096], place).unwrap();
    }
    device.fault("power-loss");
    assert_eq!(past.write_all_at(&page[from..from + 4096], 0).unwrap_err().raw_os_error(), Some(5));
    assert_eq!(fs::read_dir(device.at("")).unwrap_err().raw_os_error(), Some(5));
    drop((file, past));
    let kept = fs::read(device.backing("f")).unwrap();
    device.unmount();
    assert_eq!(kept.len(), 65_536);
    // The last write is torn between two of its sectors; the one before it is gone.
    assert!(kept[..8192].iter().all(|byte| *byte == 1));
    assert!(kept[8192..10_240].iter().all(|byte| *byte == 2));
    assert!(kept[10_240..].iter().all(|byte| *byte == 1));
}

/// Commits until the device is gone; answers with how many were acknowledged.
fn commits(path: &Path, pragma: &str) -> i64 {
    let database = Connection::open(path).unwrap();
    database.execute_batch(pragma).unwrap();
    database.execute_batch("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, text TEXT)").unwrap();
    let mut acknowledged = 0;
    while database.execute("INSERT INTO t VALUES (?1, ?2)", (acknowledged + 1, "x".repeat(900))).is_ok() {
        acknowledged += 1;
    }
    acknowledged
}

/// How many commits a database holds after the power was lost under it.
fn left(path: &Path) -> Option<i64> {
    let database = Connection::open(path).ok()?;
    let whole: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).ok()?;
    let count = database.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).ok()?;
    (whole == "ok").then_some(count)
}

/// Acknowledged commits, and those that are left, after a cut under SQLite.
fn cut(pragma: &str, lie: bool, after_ms: u64) -> Option<(i64, Option<i64>)> {
    let program = Program::new();
    let device = Device::mount(&program, "nand-device")?;
    let path = device.at("t.db");
    let pragma = pragma.to_owned();
    let writer = std::thread::spawn(move || commits(&path, &pragma));
    if lie {
        std::thread::sleep(std::time::Duration::from_millis(after_ms / 2));
        device.fault("lie");
    }
    std::thread::sleep(std::time::Duration::from_millis(after_ms));
    device.fault("power-loss");
    let acknowledged = writer.join().unwrap();
    let backing = device.backing("t.db");
    let left = left(&backing);
    device.unmount();
    Some((acknowledged, left))
}

#[test]
fn sqlite_that_flushes_loses_no_acknowledged_commit_with_the_power() {
    for (pragma, after_ms) in [
        ("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL", 400),
        ("PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL", 700),
    ] {
        let Some((acknowledged, left)) = cut(pragma, false, after_ms) else {
            skip!("mounting needs root and /dev/fuse")
        };
        // One that was under way may be there, too.
        assert!(
            acknowledged > 0 && left.is_some_and(|left| left == acknowledged || left == acknowledged + 1),
            "{acknowledged} {left:?}"
        );
    }
}

#[test]
fn a_device_that_lies_about_flushes_loses_acknowledged_commits() {
    let Some((acknowledged, left)) = cut("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL", true, 600) else {
        skip!("mounting needs root and /dev/fuse")
    };
    assert!(left.is_none_or(|left| left < acknowledged), "{acknowledged} {left:?}");
}

#[test]
fn faults_do_what_they_say_and_end() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    fs::write(device.at("f"), vec![7; 65_536]).unwrap();
    device.fault("full");
    let file = File::create(device.at("g")).unwrap();
    let full = file.write_all_at(&[1; 4096], 0).and_then(|()| file.sync_all());
    assert!(full.is_err());
    let more = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 1 << 20);
    assert_eq!(more, Err(rustix::io::Errno::NOSPC));
    device.fault("none");
    device.fault("read-error=8192");
    let direct = rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::RDONLY;
    let past = File::from(rustix::fs::open(device.at("f"), direct, rustix::fs::Mode::empty()).unwrap());
    let mut page = vec![0u8; 16_384];
    let from = page.as_ptr().align_offset(4096);
    past.read_exact_at(&mut page[from..from + 4096], 0).unwrap();
    assert_eq!(past.read_exact_at(&mut page[from..from + 4096], 8192).unwrap_err().raw_os_error(), Some(5));
    device.fault("none");
    past.read_exact_at(&mut page[from..from + 4096], 8192).unwrap();
    drop((file, past));
    device.unmount();
}

#[test]
fn what_cannot_be_emulated_is_refused_with_the_next_step() {
    let program = Program::new();
    for folder in ["a", "b", "a/in", "filled"] {
        fs::create_dir(program.path(folder)).unwrap();
    }
    program.write("filled/f", "theirs");
    for (line, said) in [
        ("emulate small-server --backing b --at a/in", "is a server, and no storage"),
        ("emulate disk-15k --backing nowhere --at a/in", "opening the backing folder `nowhere`"),
        ("emulate disk-15k --backing b --at nowhere", "mounting at `nowhere`"),
        ("emulate disk-15q --backing b --at a/in", "did you mean `disk-15k`?"),
        ("emulate nothing --backing b --at b", "are the same, or one lies in the other"),
        ("emulate nothing --backing a --at a/in", "name two folders of which none lies in the other"),
        ("emulate nothing --backing a/in --at ./a", "are the same, or one lies in the other"),
        ("emulate nothing --backing b --at filled", "the folder `filled` is not empty"),
        ("emulate --at b --fault power-loss", "no device is mounted there"),
        ("emulate --at b --fault fire", "a fault is `power-loss`"),
        ("emulate disk-15k --backing b --at a/in --memory lots", "reading `--memory`"),
    ] {
        let ran = program.run(line);
        assert_eq!(ran.code, Some(2), "{line}: {ran}");
        assert!(ran.stderr.contains(said), "{line}: {ran}");
    }
}
