//! Emulated devices: real mounts of real folders, timed by models.

use crate::program::{Going, Program};
use crate::skip;
use rusqlite::Connection;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// A device that `prony emulate` serves in the folder of a test.
pub struct Device<'a> {
    program: &'a Program,
    pub going: Option<Going>,
    at: String,
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
        Some(Device::serve(program, &format!("{model} --backing backing"), at))
    }

    /// What `prony emulate` serves with such words.
    pub fn serve(program: &'a Program, words: &str, at: &str) -> Device<'a> {
        let mut going = program.start(&format!("emulate {words} --at {at}"));
        going.until(&format!(" at {at}, on "), 1);
        Device { program, going: Some(going), at: at.to_owned() }
    }

    /// Two tiers that add no time, whose mover never rests.
    pub fn tiers(program: &'a Program, more: &str) -> Option<Device<'a>> {
        if !Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
            return None;
        }
        for folder in ["fast", "slow", "at"] {
            fs::create_dir_all(program.path(folder)).unwrap();
        }
        let budget = if more.contains("--budget") { "" } else { "--budget 10GiB" };
        let words = format!("--fast fast --slow slow --every 10ms {budget} --half-life 50ms --hysteresis 1");
        Some(Device::serve(program, &format!("tiered {words} {more}"), "at"))
    }

    /// Ends it at once, and takes away the mount that nobody serves any more.
    pub fn kill(mut self) {
        let going = self.going.take().expect("it is mounted");
        going.signal(rustix::process::Signal::KILL);
        going.end();
        rustix::mount::unmount(self.program.path(&self.at), rustix::mount::UnmountFlags::DETACH).unwrap();
    }

    /// Ends it, whoever may still hold it.
    pub fn let_go(mut self) {
        let mut going = self.going.take().expect("it is mounted");
        going.signal(rustix::process::Signal::INT);
        std::thread::sleep(std::time::Duration::from_millis(300));
        if going.runs() {
            going.signal(rustix::process::Signal::INT);
        }
        let (code, told) = going.end();
        assert_eq!(code, Some(0), "{told}");
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.program.path(&self.at).join(name)
    }

    pub fn backing(&self, name: &str) -> PathBuf {
        self.program.path("backing").join(name)
    }

    pub fn fault(&self, fault: &str) {
        let ran = self.program.run(&format!("emulate --at {} --fault '{fault}'", self.at));
        assert_eq!(ran.code, Some(0), "{ran}");
    }

    pub fn unmount(self) {
        self.unmount_by(rustix::process::Signal::INT);
    }

    fn unmount_by(mut self, signal: rustix::process::Signal) {
        let going = self.going.take().expect("it is mounted");
        going.signal(signal);
        let (code, told) = going.end();
        assert_eq!(code, Some(0), "{told}");
        assert!(!told.contains("still mounted"), "nothing held it: {told}");
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        // A server of a test that failed may hold it; the second signal takes the mount away.
        if let Some(mut going) = self.going.take() {
            going.signal(rustix::process::Signal::INT);
            std::thread::sleep(std::time::Duration::from_millis(300));
            if going.runs() {
                going.signal(rustix::process::Signal::INT);
            }
            let _ = going.end();
        }
    }
}

/// The process that serves the device at a folder.
pub fn served(at: &Path) -> rustix::process::Pid {
    let at = at.as_os_str().as_encoded_bytes();
    process(|words| words.contains(&b"emulate".as_slice()) && words.contains(&at)).expect("somebody serves it")
}

/// A process that was started with such words.
fn process(fits: impl Fn(&[&[u8]]) -> bool) -> Option<rustix::process::Pid> {
    let fits = |number: &i32| {
        let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        fits(&line.split(|byte| *byte == 0).collect::<Vec<_>>())
    };
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(fits).find_map(rustix::process::Pid::from_raw)
}

/// Whether something comes true that is looked at for many seconds.
fn comes_true(mut is: impl FnMut() -> bool) -> bool {
    (0..2000).any(|_| {
        let is = is();
        std::thread::sleep(std::time::Duration::from_millis(if is { 0 } else { 10 }));
        is
    })
}

#[test]
fn a_server_that_is_killed_while_it_measures_its_way_ends_and_its_mounts_with_it() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "f5100") else { skip!("mounting needs root and /dev/fuse") };
    device.unmount();
    let temporary = program.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let measures = || {
        let below = |word: &&[u8]| word.starts_with(temporary.as_os_str().as_encoded_bytes());
        process(|words| words.contains(&b"--measure-way".as_slice()) && words.iter().any(below)).is_some()
    };
    for turn in 0..6 {
        let mut command = program.command("emulate f5100 --backing backing --at at");
        let mut server = command.env("TMPDIR", &temporary).stderr(std::process::Stdio::null()).spawn().unwrap();
        assert!(comes_true(measures), "turn {turn}: nobody measures it");
        std::thread::sleep(std::time::Duration::from_millis(turn * 12));
        server.kill().unwrap();
        assert!(comes_true(|| server.try_wait().unwrap().is_some()), "turn {turn}: it cannot be killed");
        assert!(comes_true(|| !measures()), "turn {turn}: who measured goes on");
        // The last turns may find the device itself.
        let _ = rustix::mount::unmount(program.path("at"), rustix::mount::UnmountFlags::empty());
        assert_eq!(fs::read_dir(program.path("at")).unwrap().count(), 0, "turn {turn}");
    }
    program.fine("clean temporary");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

/// The way was measured on the tier that takes no time, and was none: the other tier answered late by it.
#[test]
fn the_way_to_two_tiers_is_that_of_the_tier_that_takes_time() {
    let program = Program::new();
    let Some(device) = Device::tiers(&program, "") else { skip!("mounting needs root and /dev/fuse") };
    let said = device.going.as_ref().expect("it is mounted").said().to_owned();
    assert!(said.contains("no model takes time"), "{said}");
    device.unmount();
    let device = Device::serve(&program, "tiered --fast f5100:fast --slow slow", "at");
    let said = device.going.as_ref().expect("it is mounted").said().to_owned();
    device.unmount();
    assert!(said.contains("a request takes ") && !said.contains("takes 0 ns"), "{said}");
    assert_eq!(
        fs::read_dir(program.path("slow")).unwrap().count(),
        0,
        "nothing is left of the file by which it was measured"
    );
}

#[test]
fn whoever_sees_a_mount_finds_a_device_that_is_ready() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "f5100") else { skip!("mounting needs root and /dev/fuse") };
    device.unmount();
    let at = program.path("at").display().to_string();
    for _ in 0..3 {
        let mut going = program.start("emulate f5100 --backing backing --at at");
        while !fs::read_to_string("/proc/self/mountinfo").unwrap().contains(&at) {
            assert!(going.runs(), "it is mounted");
        }
        assert_eq!(fs::read_dir(&at).unwrap().count(), 0, "nothing lies there that is not the user's");
        program.fine("emulate --at at --fault slow=2");
        going.signal(rustix::process::Signal::INT);
        assert_eq!(going.end().0, Some(0));
    }
}

#[test]
fn a_folder_that_is_read_only_or_on_another_device_has_no_device() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    for folder in ["at/in", "bound", "here"] {
        fs::create_dir(program.path(folder)).unwrap();
    }
    for backing in ["at", "at/in"] {
        let told = program.refused(&format!("emulate nothing --backing {backing} --at here"));
        assert!(told.contains(&format!("`{backing}` lies on the device that is mounted at `")), "{told}");
    }
    device.unmount();
    rustix::mount::mount_bind(program.path("backing"), program.path("bound")).unwrap();
    let read_only = rustix::mount::MountFlags::BIND | rustix::mount::MountFlags::RDONLY;
    rustix::mount::mount_remount(program.path("bound"), read_only, c"").unwrap();
    let told = program.refused("emulate f5100 --backing bound --at here");
    rustix::mount::unmount(program.path("bound"), rustix::mount::UnmountFlags::empty()).unwrap();
    assert!(told.contains("the backing folder `bound` is read-only"), "{told}");
}

#[test]
fn a_fast_tier_that_no_file_can_be_as_large_as_is_refused_by_the_name_of_its_option() {
    let program = Program::new();
    for folder in ["fast", "slow", "at"] {
        fs::create_dir(program.path(folder)).unwrap();
    }
    let ran = program.limited(&["--fsize=1048576"], "emulate tiered --fast fast --slow slow --at at --room 2MiB");
    assert_eq!(ran.code, Some(2), "{ran}");
    for said in ["making room for 2 MiB in the fast folder `fast`", "--room"] {
        assert!(ran.stderr.contains(said), "{ran}");
    }
}

#[test]
fn a_mount_that_is_busy_at_the_end_says_so_and_serves_until_it_is_let_go_or_told_again() {
    let program = Program::new();
    for again in [false, true] {
        let Some(mut device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
        let mut held = File::create(device.at("held")).unwrap();
        let mut going = device.going.take().unwrap();
        going.signal(rustix::process::Signal::INT);
        going.until("is still mounted: Device or resource busy", 1);
        held.write_all(b"more").unwrap();
        held.sync_all().unwrap();
        let holds = again.then_some(held);
        if again {
            going.signal(rustix::process::Signal::INT);
        }
        let (code, told) = going.end();
        assert!(code == Some(0) && told.contains("end what uses it, or press Ctrl-C again"), "{told}");
        assert_eq!(fs::read_dir(device.at("")).unwrap().count(), 0, "nothing is mounted there any more");
        assert_eq!(fs::read_to_string(device.backing("held")).unwrap(), "more");
        drop(holds);
    }
}

#[test]
fn no_signal_by_which_a_terminal_ends_a_program_leaves_a_mount_behind() {
    use rustix::process::Signal;
    let program = Program::new();
    for signal in [Signal::QUIT, Signal::HUP, Signal::TERM] {
        let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
        device.unmount_by(signal);
        assert!(fs::read_dir(program.path("at")).unwrap().next().is_none());
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
    let told = program.run("emulate --at at --fault none").stderr;
    assert!(told.contains("at has no power: it serves nothing until `--fault power-on`"), "{told}");
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
    let told = program.refused("emulate --at at --fault power-on");
    assert!(told.contains("it would change nothing: its power is on"), "{told}");
    let free = || rustix::fs::statvfs(device.at("")).map(|known| [known.f_bfree, known.f_bavail]).unwrap();
    assert_ne!(free(), [0, 0]);
    device.fault("full");
    assert_eq!(free(), [0, 0]);
    let file = File::create(device.at("g")).unwrap();
    let full = file.write_all_at(&[1; 4096], 0).and_then(|()| file.sync_all());
    assert!(full.is_err());
    let more = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 1 << 20);
    assert_eq!(more, Err(rustix::io::Errno::NOSPC));
    device.fault("none");
    device.fault("read-error=12KiB");
    device.fault("read-error=8192");
    let direct = rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::RDWR;
    let past = File::from(rustix::fs::open(device.at("f"), direct, rustix::fs::Mode::empty()).unwrap());
    let mut page = vec![0u8; 16_384];
    let from = page.as_ptr().align_offset(4096);
    past.read_exact_at(&mut page[from..from + 4096], 0).unwrap();
    for at in [8192, 12_288] {
        let failed = past.read_exact_at(&mut page[from..from + 4096], at).map_err(|error| error.raw_os_error());
        assert_eq!(failed, Err(Some(5)), "the second fault leaves the first: {at}");
    }
    past.write_all_at(&page[from..from + 4096], 8192).unwrap();
    assert!(past.read_exact_at(&mut page[from..from + 4096], 8192).is_err(), "what is written anew stays unreadable");
    device.fault("none");
    for at in [8192, 12_288] {
        past.read_exact_at(&mut page[from..from + 4096], at).unwrap();
    }
    drop((file, past));
    device.unmount();
}

#[test]
fn what_goes_past_the_page_cache_moves_whole_sectors_and_the_rest_any_bytes() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    fs::write(device.at("f"), vec![7; 10_000]).unwrap();
    let opened = |more| {
        let flags = more | rustix::fs::OFlags::RDWR;
        File::from(rustix::fs::open(device.at("f"), flags, rustix::fs::Mode::empty()).unwrap())
    };
    let (past, through) = (opened(rustix::fs::OFlags::DIRECT), opened(rustix::fs::OFlags::empty()));
    let (mut room, from) = page(b"past");
    let mut both = |file: &File, at: u64, bytes: usize| {
        let written = file.write_at(&room[from..from + bytes], at);
        let read = file.read_at(&mut room[from..from + bytes], at);
        [written, read].map(|done| done.map_err(|error| error.raw_os_error()))
    };
    for (at, bytes, sectors) in
        [(0, 512, true), (1536, 1024, true), (511, 512, false), (512, 511, false), (1, 1, false)]
    {
        let whole = if sectors { Ok(bytes) } else { Err(Some(22)) };
        assert_eq!(both(&past, at, bytes), [whole, whole], "{bytes} bytes at {at}");
        assert_eq!(both(&through, at, bytes), [Ok(bytes), Ok(bytes)], "{bytes} bytes at {at}");
    }
    // A program that reads to the end comes there with the offset that it has reached.
    assert_eq!(past.read_at(&mut room[from..from + 4096], 8192).unwrap(), 10_000 - 8192);
    assert_eq!(past.read_at(&mut room[from..from + 4096], 10_000).unwrap(), 0);
    drop((past, through));
    device.unmount();
}

#[test]
fn a_file_that_others_look_for_while_it_is_made_is_as_long_as_what_was_written() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    let (path, over) = (device.at("pid"), AtomicBool::new(false));
    let pause = |draw: u64| std::thread::sleep(std::time::Duration::from_micros(random::mix(draw) % 200));
    let wrong = std::thread::scope(|scope| {
        for looker in 0..4u64 {
            let (path, over) = (&path, &over);
            scope.spawn(move || {
                for turn in 0u64.. {
                    let _ = fs::metadata(path);
                    pause(looker << 32 | turn);
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        let turn = |turn: u64| {
            let _ = fs::remove_file(&path);
            pause(turn);
            let written = fs::write(&path, "1234\n");
            pause(!turn);
            written.is_err() || fs::metadata(&path).is_ok_and(|data| data.len() != 5)
        };
        let wrong = (0..1500).filter(|number| turn(*number)).count();
        over.store(true, Ordering::Relaxed);
        wrong
    });
    assert_eq!(wrong, 0);
    device.unmount();
}

#[test]
fn what_hung_is_carried_out_when_the_fault_is_over() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    device.fault("hang");
    // A program of its own: whoever starts others shares his files with them for a moment, and they would wait for the device.
    let mut writer = Command::new("sh").args(["-c", "echo kept > \"$0\""]).arg(device.at("f")).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    let hangs = writer.try_wait().unwrap().is_none();
    device.fault("none");
    assert!(writer.wait().unwrap().success() && hangs);
    assert_eq!(fs::read_to_string(device.backing("f")).unwrap(), "kept\n");
    device.unmount();
}

#[test]
fn what_cannot_be_emulated_is_refused_with_the_next_step() {
    let program = Program::new();
    for folder in ["a", "b", "a/in", "filled", "slots", "fast"] {
        fs::create_dir(program.path(folder)).unwrap();
    }
    program.write("filled/f", "theirs");
    program.write("slots/prony-tier.map", "");
    std::os::unix::fs::symlink("b", program.path("also-b")).unwrap();
    for (line, said) in [
        ("emulate small-server --backing b --at a/in", "is a server, and no storage"),
        ("emulate small-server --backing b --at a/in", "models of storage: f5100, nand-device, disk-15k, tiered,"),
        ("emulate disk-15k --backing nowhere --at a/in", "opening the backing folder `nowhere`"),
        ("emulate disk-15k --backing b --at nowhere", "mounting at `nowhere`"),
        ("emulate disk-15q --backing b --at a/in", "did you mean `disk-15k`?"),
        ("emulate nothing --backing b --at b", "are the same, or one lies in the other"),
        ("emulate nothing --backing a --at a/in", "name two folders of which none lies in the other"),
        ("emulate nothing --backing a/in --at ./a", "are the same, or one lies in the other"),
        ("emulate nothing --backing b --at filled", "the folder `filled` is not empty"),
        ("emulate --at b --fault power-loss", "no device is mounted there"),
        ("emulate --at b --fault fire", "a device knows no such fault"),
        ("emulate --at b --fault kill-mirror", "say power-loss, power-on, lie"),
        ("emulate --at b --fault slow=0.5", "`slow` takes 1 or more, got 0.5"),
        (
            "emulate --at b --fault slow=nan",
            "`slow` takes 1 to 100000, how many times as long everything takes, such as `slow=10`, got `nan`",
        ),
        ("emulate --at b --fault slow=0", "such as `slow=10`, got `0`"),
        ("emulate --at b --fault read-error=x", "`read-error` takes the number of a byte or a size"),
        ("emulate disk-15k --backing b --at a/in --every 5", "'--backing <DIR>' cannot be used with '--every <TIME>'"),
        ("emulate disk-15k --backing b --at a/in --memory lots", "reading `--memory`"),
        (
            "emulate tiered --fast b --slow b --at a/in",
            "the folders `b` and `b` are the same, or one lies in the other",
        ),
        ("emulate tiered --fast b --backing b --at a/in", "--fast and --slow, got --fast and --backing"),
        ("emulate tiered --backing b --at a/in", "--fast and --slow, got --backing"),
        ("emulate tiered --fast also-b --slow b --at a/in", "are the same, or one lies in the other"),
        ("emulate nothing --backing also-b --at b", "are the same, or one lies in the other"),
        ("emulate tiered --fast b --slow slots --at a/in", "`slots` is the fast folder of two tiers"),
        ("emulate nothing --fast filled --slow b --at a/in", "are for `tiered` alone"),
        ("emulate tiered --fast filled --slow b --at a/in --rule hot:all", "a rule is `fast:`"),
        (
            "emulate tiered --fast filled --slow b --at a/in --rule 'fast:name=['",
            "neither sets nor escapes; got `fast:name=[`",
        ),
        (
            "emulate tiered --fast fast --slow b --at a/in --trace nowhere/x",
            "opening `nowhere/x`, for a line for each move",
        ),
        ("emulate tiered --fast nowhere --slow b --at a/in", "name folders that are there with --fast and --slow"),
        ("emulate --at b --heat", "no device is mounted there"),
    ] {
        let ran = program.run(line);
        assert_eq!(ran.code, Some(2), "{line}: {ran}");
        assert!(ran.stderr.contains(said), "{line}: {ran}");
    }
}

#[test]
fn a_folder_that_is_bound_elsewhere_is_the_same_folder() {
    let program = Program::new();
    for folder in ["b", "b/in", "bound", "at"] {
        fs::create_dir(program.path(folder)).unwrap();
    }
    if rustix::mount::mount_bind(program.path("b"), program.path("bound")).is_err() {
        skip!("binding a folder elsewhere needs root")
    }
    for line in [
        "emulate tiered --fast b --slow bound --at at",
        "emulate tiered --fast bound/in --slow b --at at",
        "emulate nothing --backing b --at bound/in",
    ] {
        let said = program.refused(line);
        assert!(said.contains("are the same, or one lies in the other"), "{line}: {said}");
    }
    rustix::mount::unmount(program.path("bound"), rustix::mount::UnmountFlags::empty()).unwrap();
}

/// A page at an address that direct I/O takes.
fn page(text: &[u8]) -> (Vec<u8>, usize) {
    let mut room = vec![0u8; 8192];
    let from = room.as_ptr().align_offset(4096);
    room[from..from + text.len()].copy_from_slice(text);
    (room, from)
}

/// Writes its place and a generation to places of a file, hot ones most, until the file is gone; answers with the generation that was
/// acknowledged of each, and with what may have been written beyond.
fn stamps(path: &Path, seed: u64, known: &mut [u64]) -> Option<(usize, u64)> {
    let flags = rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::RDWR;
    let file = File::from(rustix::fs::open(path, flags, rustix::fs::Mode::empty()).ok()?);
    let places = known.len() as u64;
    for turn in 0u64.. {
        let drawn = random::mix(seed ^ turn);
        // The hot eighth wanders from second to second of work.
        let hot = (turn / 500 + drawn % (places / 8)) % places;
        let place = if drawn >> 60 > 0 { hot } else { (drawn >> 8) % places } as usize;
        let (generation, at) = (known[place] + 1, place as u64 * 4096);
        let (mut room, from) = page(&[(place as u64).to_le_bytes(), generation.to_le_bytes()].concat());
        if file.write_all_at(&room[from..from + 4096], at).is_err() {
            return Some((place, generation));
        }
        known[place] = generation;
        if file.read_exact_at(&mut room[from..from + 4096], at).is_err() {
            return None;
        }
        assert_eq!(room[from + 8..from + 16], generation.to_le_bytes(), "place {place} while it is served");
    }
    None
}

#[test]
fn extents_that_move_under_load_are_whole_whenever_the_process_is_killed() {
    const PLACES: usize = 16 << 8;
    let program = Program::new();
    let Some(device) = Device::tiers(&program, "--room 4MiB") else { skip!("mounting needs root and /dev/fuse") };
    File::create(device.at("f")).unwrap().set_len(PLACES as u64 * 4096).unwrap();
    let (mut known, mut moved, mut device) = (vec![0u64; PLACES], 0, Some(device));
    for turn in 0..20u64 {
        let here = device.take().unwrap();
        let path = here.at("f");
        let (writer, seen) = std::thread::scope(|scope| {
            let known = &mut known;
            let writer = scope.spawn(move || stamps(&path, random::mix(turn), known));
            std::thread::sleep(std::time::Duration::from_millis(60 + random::mix(turn) % 120));
            let heat = program.json("emulate --at at --heat --json");
            let seen = heat["moved"]["up"].as_u64().unwrap() + heat["moved"]["down"].as_u64().unwrap();
            here.kill();
            (writer.join().unwrap(), seen)
        });
        moved += seen;
        let again = Device::tiers(&program, "--room 4MiB").unwrap();
        let file = fs::read(again.at("f")).unwrap();
        for (place, generation) in known.iter_mut().enumerate() {
            let block = &file[place * 4096..][..16];
            let is = u64::from_le_bytes(block[8..].try_into().unwrap());
            let unsure = writer == Some((place, is));
            assert!(is == *generation || unsure, "kill {turn}: place {place} holds {is} and not {generation}");
            assert!(is == 0 || block[..8] == (place as u64).to_le_bytes(), "kill {turn}: place {place} holds another");
            *generation = is;
        }
        device = Some(again);
    }
    assert!(moved > 20, "{moved} moves are no test");
    device.unwrap().unmount();
}

#[test]
fn prony_finds_all_that_it_wrote_where_extents_moved_meanwhile() {
    let program = Program::new();
    let Some(device) = Device::tiers(&program, "--room 4MiB") else { skip!("mounting needs root and /dev/fuse") };
    let study = "title = 'w'\nquestion = '?'\n[system.s]\nkind = 'file'\ndir = 'at'\nsize = '16 MiB'\n[workload.w]\nkind = 'block'\n\
                 read = '50%'\noffsets = 'zipf 0.99'\n[[experiment]]\nname = 'e'\nworkload = 'w'\nload = { outstanding = 4 }\n\
                 validate = true\nverify = 'after'\nmeasure = '1 s'\nwarm_up = '0 s'\n";
    let ran = program.write("w.toml", study).json("run ./w.toml --json -o x.prony");
    assert_eq!(
        (&ran["trials"][0]["failed"], ran["trials"][0]["mishaps"].as_array().map(Vec::len)),
        (&0.into(), Some(0)),
        "{ran:#}"
    );
    let heat = program.json("emulate --at at --heat --json");
    assert!(heat["moved"]["up"].as_u64() > Some(4), "{heat:#}");
    device.unmount();
}

#[test]
fn a_mover_that_looks_often_saves_no_write_that_nobody_flushed_and_a_slow_folder_is_not_mounted_alone() {
    let program = Program::new();
    let Some(device) = Device::tiers(&program, "--room 4MiB") else { skip!("mounting needs root and /dev/fuse") };
    let (room, from) = page(&[2; 4096]);
    let flags = rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::RDWR;
    let names = ["a", "b", "c"];
    for name in names {
        fs::write(device.at(name), [1; 65_536]).unwrap();
        File::open(device.at(name)).unwrap().sync_all().unwrap();
    }
    let held = names.map(|name| {
        let past = File::from(rustix::fs::open(device.at(name), flags, rustix::fs::Mode::empty()).unwrap());
        (0..16).for_each(|place| past.write_all_at(&room[from..from + 4096], place * 4096).unwrap());
        past
    });
    let moved = || program.json("emulate --at at --heat --json")["moved"]["up"].as_u64().unwrap();
    let all_moved = || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        moved() == 3
    };
    assert!((0..60).any(|_| all_moved()));
    device.fault("power-loss");
    drop(held);
    device.let_go();
    let told = program.refused("emulate nothing --backing slow --at at");
    assert!(told.contains("extents of the files of `slow` lie in the fast folder `"), "{told}");
    fs::create_dir(program.path("other")).unwrap();
    let told = program.refused("emulate tiered --fast other --slow slow --at at");
    assert!(told.contains("lie in the fast folder `"), "{told}");
    let device = Device::tiers(&program, "--room 4MiB").unwrap();
    let torn = names.map(|name| {
        let all = fs::read(device.at(name)).unwrap();
        assert_eq!(all.len(), 65_536);
        all.iter().filter(|byte| **byte == 2).count()
    });
    // One write of all was the last.
    assert_eq!(torn, [0, 0, 2048]);
    device.unmount();
}

#[test]
fn what_was_asked_for_as_a_length_outlives_a_lost_power() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    let flags = rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::RDWR;
    let (room, from) = page(&[2; 4096]);
    let names = ["cut", "given", "holed", "grown"];
    for name in names {
        fs::write(device.at(name), [1; 8192]).unwrap();
        File::open(device.at(name)).unwrap().sync_all().unwrap();
    }
    let held = names.map(|name| {
        let past = File::from(rustix::fs::open(device.at(name), flags, rustix::fs::Mode::empty()).unwrap());
        past.write_all_at(&room[from..from + 4096], 8192).unwrap();
        match name {
            "cut" => past.set_len(20_000).unwrap(),
            "given" => rustix::fs::fallocate(&past, rustix::fs::FallocateFlags::empty(), 0, 30_000).unwrap(),
            "holed" => {
                let hole = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
                rustix::fs::fallocate(&past, hole, 4096, 8192).unwrap();
                assert_eq!(fs::read(device.backing(name)).unwrap()[4096..], [0; 8192]);
            }
            // Torn, and the last of all.
            _ => past.write_all_at(&room[from..from + 4096], 0).unwrap(),
        }
        past
    });
    device.fault("power-loss");
    drop(held);
    for (name, bytes) in [("cut", 20_000), ("given", 30_000), ("holed", 8192), ("grown", 8192)] {
        let all = fs::read(device.backing(name)).unwrap();
        assert_eq!(all.len(), bytes, "{name}");
        assert!(all[2048..8192].iter().all(|byte| *byte == 1) && all[8192..].iter().all(|byte| *byte == 0), "{name}");
    }
    device.let_go();
}

#[test]
fn a_file_that_filled_the_backing_folder_gives_its_room_back_when_it_is_gone() {
    let program = Program::new();
    let Some(small) = crate::small::Small::mount(program.path("backing"), "40m") else {
        skip!("mounting a tmpfs needs root")
    };
    let Some(device) = Device::mount(&program, "nothing") else { skip!("mounting needs root and /dev/fuse") };
    let free = || rustix::fs::statfs(device.backing("").as_path()).unwrap().f_bfree;
    let before = free();
    for turn in 0..2 {
        let mut file = File::create(device.at("x")).unwrap();
        let full = file.write_all(&vec![7; 60 << 20]).and_then(|()| file.sync_all());
        assert_eq!(full.unwrap_err().raw_os_error(), Some(28), "turn {turn}");
        drop(file);
        fs::remove_file(device.at("x")).unwrap();
        // The kernel tells the device behind the end of the call that it has forgotten the file.
        let all_free = || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            free() == before
        };
        assert!((0..1000).any(|_| all_free()), "turn {turn}: {} blocks of {before} are free", free());
    }
    device.unmount();
    drop(small);
}

#[test]
fn rules_place_new_files_and_a_cut_file_grows_back_as_zeros() {
    let program = Program::new();
    let rules = "--room 4MiB --rule keep-fast:name=*.hot --rule keep-slow:class=temp --budget 0B";
    let Some(device) = Device::tiers(&program, rules) else { skip!("mounting needs root and /dev/fuse") };
    for name in ["a.hot", "b.tmp", "c"] {
        fs::write(device.at(name), vec![7; 1 << 20]).unwrap();
        File::open(device.at(name)).unwrap().sync_all().unwrap();
    }
    let fast = |name: &str| {
        let heat = program.json("emulate --at at --heat --json");
        let file = heat["files"].as_array().unwrap().iter().find(|file| file["file"] == name).cloned().unwrap();
        file["fast_bytes"].as_u64().unwrap()
    };
    assert_eq!(["a.hot", "b.tmp", "c"].map(fast), [1 << 20, 0, 0]);
    let file = OpenOptions::new().read(true).write(true).open(device.at("a.hot")).unwrap();
    file.set_len(1000).unwrap();
    file.set_len(3000).unwrap();
    drop(file);
    let wanted = [vec![7; 1000], vec![0; 2000]].concat();
    assert_eq!(fs::read(device.at("a.hot")).unwrap(), wanted);
    device.kill();
    let Some(device) = Device::tiers(&program, rules) else { unreachable!("it was mounted") };
    assert_eq!(fs::read(device.at("a.hot")).unwrap(), wanted);
    fs::remove_file(device.at("a.hot")).unwrap();
    fs::write(device.at("a.hot"), "new").unwrap();
    assert_eq!(fs::read(device.at("a.hot")).unwrap(), b"new");
    device.unmount();
}

#[test]
fn what_a_study_lets_happen_to_an_emulated_device_is_felt_and_over_before_the_next_trial() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "nand-device") else { skip!("mounting needs root and /dev/fuse") };
    device.unmount();
    let study = "title = 'e'\nquestion = '?'\n[system.s]\nkind = 'file'\ndir = '.'\nsize = '4 MiB'\n[workload.w]\nkind = 'block'\n\
                 [[experiment]]\nname = 'e'\nworkload = 'w'\nmeasure = '3 s'\nwarm_up = '0 s'\nreplicates = 2\n\
                 events = '1 s: slow=50; 2 s: none'\n";
    program.write("e.toml", study);
    let on = "--on emulated:nand-device:backing";
    let ran = program.json(&format!("run ./e.toml {on} --json -o x.prony"));
    let felt: Vec<_> = ran["findings"].as_array().unwrap().iter().filter(|found| found["kind"] == "felt").collect();
    assert_eq!(felt.len(), 4, "{ran:#}");
    let (mut before_each, mut least_of_all) = (Vec::new(), 0.0_f64);
    for slow in felt.iter().filter(|found| found["event"] == "slow=50") {
        // It ends with the next event. Whether the rate is back within its usual spread a second later is up to the
        // neighbours of this machine, so both answers will do; that it is back before the next trial is held below.
        assert!(slow["felt"] != "not felt", "{slow:#}");
        assert!(slow["felt_s"].is_null() || slow["felt_s"].as_f64() > Some(0.9), "{slow:#}");
        let (least, before) = (slow["rate_least_per_s"].as_f64().unwrap(), slow["rate_before_per_s"].as_f64().unwrap());
        assert!(least < before / 5.0, "{slow:#}");
        least_of_all = least_of_all.max(least);
        before_each.push(before);
    }
    assert!(before_each[1] > 5.0 * least_of_all, "the second trial begins at full speed: {ran:#}");
    assert!(program.fine("show x.prony").contains("`slow=50` at 1 s"), "the report says so");
    let refused = program.refused(&format!("plan ./e.toml {on} --set 'events=1 s: fail controller 0'"));
    assert!(refused.contains("fail controller 0") && refused.contains("slow"), "{refused}");
    let late = program.refused(&format!("plan ./e.toml {on} --set 'events=3 s: slow=2'"));
    assert!(late.contains("before the end of the window"), "{late}");
    let plain = program.refused("plan ./e.toml --on file:.");
    assert!(plain.contains("needs an emulated device"), "{plain}");
}

#[test]
fn a_device_that_answers_later_than_its_model_makes_the_numbers_doubtful() {
    let program = Program::new();
    let Some(device) = Device::mount(&program, "disk-15k") else { skip!("mounting needs root and /dev/fuse") };
    let study = "title = 'e'\nquestion = '?'\n[system.s]\nkind = 'file'\ndir = 'at'\nsize = '4 MiB'\n[workload.w]\nkind = 'block'\n\
                 [[experiment]]\nname = 'e'\nworkload = 'w'\nload = { outstanding = 32 }\nmeasure = '2 s'\nwarm_up = '0 s'\n";
    program.write("e.toml", study);
    let mut going = program.start("run ./e.toml -o x.prony");
    let serving = device.going.as_ref().expect("it is mounted");
    // Whoever serves it stands still every now and then, and so has 32 answers that are late.
    let nap = std::time::Duration::from_millis(100);
    while going.runs() {
        for signal in [rustix::process::Signal::STOP, rustix::process::Signal::CONT] {
            serving.signal(signal);
            std::thread::sleep(nap);
        }
    }
    let (code, told) = going.end();
    assert_eq!(code, Some(0), "{told}");
    let shown = program.json("show x.prony --json");
    let mut doubts = shown["caveats"].as_array().expect("a list").iter().filter(|one| one["kind"] == "device-late");
    let doubt = doubts.next().unwrap_or_else(|| panic!("no doubt: {shown:#}"))["text"].as_str().expect("a text");
    assert!(doubt.starts_with("emulated devices answered ") && doubt.contains(" late, by more than 50 us"), "{doubt}");
    device.unmount();
}

#[test]
fn parts_of_a_model_fail_and_come_back_on_a_mount_and_what_it_does_not_have_is_refused() {
    let refused = |program: &Program, fault: &str, why: &str| {
        let told = program.refused(&format!("emulate --at at --fault '{fault}'"));
        assert!(told.contains(why), "{fault}: {told}");
        told
    };
    let works = |device: &Device<'_>| {
        let flags = rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CREATE;
        let file = File::from(rustix::fs::open(device.at("f"), flags, rustix::fs::Mode::RWXU).unwrap());
        let (mut room, from) = page(b"kept");
        let written = file.write_all_at(&room[from..from + 4096], 0);
        written.and_then(|()| file.read_exact_at(&mut room[from..from + 4096], 0)).map_err(|error| error.raw_os_error())
    };
    let program = Program::new();
    // Of its 80 modules one takes part; all of its ports may take over.
    let Some(device) = Device::mount(&program, "f5100") else { skip!("mounting needs root and /dev/fuse") };
    for (fault, why) in [
        ("fail module 1", "the device has 1 module, number 0"),
        ("fail channel 1", "the device has 1 module, number 0"),
        ("fail port 16", "the device has 16 ports, 0 to 15"),
        ("restore module 1", "the device has 1 module, number 0"),
    ] {
        let told = refused(&program, fault, why);
        assert!(told.contains("name a part that it has"), "{told}");
    }
    for fault in ["fail controller 0", "spare", "firmware=1s"] {
        let told = refused(&program, fault, "its model knows no such thing");
        assert!(told.contains("it knows `fail port 0..15`, `restore port 0..15`"), "{told}");
    }
    device.fault("fail module 0");
    let told = refused(&program, "fail module 0", "that has failed already; failed so far: module 0");
    assert!(told.contains("name a part that works"), "{told}");
    assert_eq!(works(&device), Err(Some(5)));
    device.fault("restore module 0");
    device.fault("fail channel 0");
    assert_eq!(works(&device), Ok(()));
    for port in 0..16 {
        assert_eq!(works(&device), Ok(()), "port {port}");
        device.fault(&format!("fail port {port}"));
    }
    assert_eq!(works(&device), Err(Some(5)));
    device.fault("none");
    assert_eq!(works(&device), Ok(()));
    device.unmount();
    let device = Device::mount(&program, "disk-array").unwrap();
    for fault in ["fail port 0", "restore module 0"] {
        refused(&program, fault, "its model knows no such thing");
    }
    for (fault, why) in [
        ("fail path 4", "4 paths, 0 to 3"),
        ("fail controller 2", "2 controllers, 0 to 1"),
        ("fail module 1000", "modules, 0 to "),
    ] {
        refused(&program, fault, why);
    }
    // Nothing has failed, so that nothing comes back.
    for fault in ["spare", "restore controller 1"] {
        let told = refused(&program, fault, "failed so far: nothing");
        assert!(told.contains("device at `at`") && told.contains("--fault 'fail PART N'"), "{told}");
    }
    for fault in ["fail path 0", "restore path 0", "fail controller 1", "fail module 0", "spare", "firmware=50ms"] {
        device.fault(fault);
        assert_eq!(works(&device), Ok(()), "{fault}");
    }
    device.fault("fail controller 0");
    refused(&program, "spare", "failed so far: controller 1, controller 0");
    device.fault("restore controller 1");
    assert_eq!(works(&device), Ok(()));
    device.fault("none");
    refused(&program, "restore controller 0", "failed so far: nothing");
    device.unmount();
    // A module that is lost from the beginning may have its spare.
    let device = Device::mount(&program, "disk-array,failed_modules=1").unwrap();
    device.fault("spare");
    device.unmount();
    let study = "title = 'e'\nquestion = '?'\n[system.s]\nkind = 'file'\ndir = '.'\nsize = '4 MiB'\n[workload.w]\nkind = 'block'\n\
                 [[experiment]]\nname = 'e'\nworkload = 'w'\nmeasure = '3 s'\nwarm_up = '0 s'\n";
    program.write("e.toml", study);
    let none = program.refused("emulate f5100 --backing backing --at at --modules 0");
    assert!(none.contains("`--modules` of at least 1, got 0"), "{none}");
    program.fine("plan ./e.toml --on emulated:f5100:backing --set 'events=1 s: fail module 0; 2 s: restore module 0'");
    for (model, event) in
        [("f5100", "fail module 1"), ("f5100", "fail port 16"), ("disk-array", "fail path 4"), ("nand-device", "spare")]
    {
        let told = program.refused(&format!("plan ./e.toml --on emulated:{model}:backing --set 'events=1 s: {event}'"));
        assert!(told.contains(event), "{told}");
    }
}

/// The processes that a process has started and that keep cores awake.
fn keepers_of(server: rustix::process::Pid) -> usize {
    // The parent stands behind the name, which is in parentheses, and the state.
    let parent = format!(" {} ", server.as_raw_nonzero());
    let is = |number: &i32| {
        let words = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        words.ends_with(b"\0keep-awake\0")
            && stat.rsplit_once(") ").is_some_and(|(_, rest)| rest[1..].starts_with(&parent))
    };
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(is).count()
}

#[test]
fn a_device_of_short_times_keeps_cores_awake_while_it_is_asked_and_its_keeper_ends_with_it() {
    let driver = fs::read_to_string("/sys/devices/system/cpu/cpuidle/current_driver").unwrap_or_default();
    if !matches!(driver.trim(), "" | "none") {
        skip!("the kernel of this machine keeps cores awake itself");
    }
    if probe::Quota::refused().is_some() {
        skip!("control groups of the processor need root");
    }
    let program = Program::new();
    let at = "kept-awake";
    let Some(device) = Device::mount_at(&program, "f5100", at) else {
        skip!("mounting needs root and /dev/fuse");
    };
    let server = served(Path::new(at));
    let ask = || fs::write(device.at("file"), [1; 4096]).unwrap();
    assert!(comes_true(|| {
        ask();
        keepers_of(server) == 1
    }));
    assert!(comes_true(|| keepers_of(server) == 0), "a second behind the last request");
    ask();
    assert!(comes_true(|| {
        ask();
        keepers_of(server) == 1
    }));
    device.kill();
    assert!(comes_true(|| keepers_of(server) == 0), "its input ended");
}
