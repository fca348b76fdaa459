//! Power that is cut under databases in mid-load: what was acknowledged is held against what is there when it comes back.
//!
//! The one idea: a database lies on an emulated device. The device loses what no flush made durable, is unmounted and mounted again,
//! the server recovers, and the run's own ledger says what is missing. `PRONY_CUTS` says how often (2).

use crate::emulate::Device;
use crate::house::House;
use crate::skip;
use rustix::process::{Pid, Signal, kill_process};
use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

/// An engine: what `--on` names, where its server keeps its number, and the setting with which it does not wait for its log.
struct Engine {
    on: &'static str,
    pid_file: Option<&'static str>,
    hasty: &'static str,
}

const ENGINES: [Engine; 3] = [
    Engine { on: "sqlite:", pid_file: None, hasty: "synchronous=OFF" },
    Engine { on: "local:postgres", pid_file: Some("postmaster.pid"), hasty: "synchronous_commit=off" },
    Engine { on: "local:mariadb", pid_file: Some("pid"), hasty: "innodb_flush_log_at_trx_commit=0" },
];

/// The data set.
const SET: &str = "--set preset=desk --set customers=50 --set days=1";

/// How the engine and the device treat what is to last.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// The engine waits for the device, which tells the truth.
    Waits,
    /// The engine does not wait.
    Hasty,
    /// The device lies.
    Lied,
}

/// What became of what was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Left {
    All,
    /// The ledger names what is missing.
    Less,
    /// An invariant is broken, and the ledger does not say why.
    Broken,
    /// The engine does not open what is left.
    Nothing,
}

/// What each of many cuts left; none where nothing can be mounted, or no server is installed.
fn cuts(engine: &Engine, way: Way) -> Option<Vec<Left>> {
    let times: u64 = std::env::var("PRONY_CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let (mut kept, mut house) = (Vec::new(), None);
    for turn in 0..times {
        let here = match &mut house {
            Some(here) => here,
            none => none.insert(filled(engine)?),
        };
        let left = cut(engine, way, turn, here)?;
        kept.push(left);
        if kept.len().is_multiple_of(10) || kept.len() as u64 == times {
            tell(engine, &kept);
        }
        // What has lost something is no place for the next, which begins at the copy.
        if left != Left::All {
            std::fs::remove_dir_all(here.program.path("backing")).expect("nothing holds it");
            copied(here, "filled", "backing");
        }
    }
    Some(kept)
}

fn tell(engine: &Engine, kept: &[Left]) {
    let count = |left: Left| kept.iter().filter(|kept| **kept == left).count();
    let [whole, less, broken, shut] = [Left::All, Left::Less, Left::Broken, Left::Nothing].map(count);
    let (on, all) = (engine.on, kept.len());
    let told = format!("{on}: {all} cuts: {whole} left all, {less} less, {broken} broken, {shut} nothing that opens\n");
    std::io::stderr().write_all(told.as_bytes()).expect("a place for it");
}

/// A place with a data set that is durable, so that a cut takes what came later. What a device acknowledged outlives its process.
fn filled(engine: &Engine) -> Option<House> {
    let house = House::new(engine.on);
    let device = Device::mount_at(&house.program, "nothing", "cache")?;
    let filled = house.program.run(&house.line("db fill", SET));
    if filled.stderr.contains("is not installed") {
        return None;
    }
    assert_eq!(filled.code, Some(0), "{filled}");
    let _ = house.program.run(&format!("db down {}", engine.on));
    device.let_go();
    copied(&house, "backing", "filled");
    Some(house)
}

/// Folders with their owners, by a copy of them.
fn copied(house: &House, from: &str, to: &str) {
    let mut copy = Command::new("cp");
    copy.args(["-a", "--reflink=auto", from, to]).current_dir(house.program.dir());
    assert!(copy.status().expect("cp").success(), "{from} to {to}");
}

/// Loads a database, cuts the power, mounts the device again and holds the ledger against the data.
fn cut(engine: &Engine, way: Way, turn: u64, house: &House) -> Option<Left> {
    let device = Device::mount_at(&house.program, "nothing", "cache")?;
    let hasty = if way == Way::Hasty { format!("--set server={}", engine.hasty) } else { String::new() };
    // An engine that does not wait hears nothing of the loss for as long as the kernel keeps its pages: then its window ends the run.
    let window = if way == Way::Hasty { "8s" } else { "60s" };
    let load = format!("{SET} --set sessions=4 --set measure={window} --set warm_up=0s --set recovery=1s");
    let mut going = house.program.start(&house.line("run", &format!("{load} {hasty} --verbose -o {turn}.prony")));
    going.until("· measure", 1);
    if way == Way::Lied {
        device.fault("lie");
    }
    // Moments that are no pattern, from 0.4 s to 1.4 s behind the beginning.
    std::thread::sleep(Duration::from_millis(400 + turn.wrapping_mul(0x9e37_79b9) % 1000));
    let servers = engine.pid_file.map(|file| house.server_processes(file)).unwrap_or_default();
    device.fault("power-loss");
    // A server without its disk is of no use, and would hold the mount.
    servers.into_iter().filter_map(Pid::from_raw).for_each(|server| {
        let _ = kill_process(server, Signal::KILL);
    });
    let (code, told) = going.end();
    assert_ne!(code, Some(0), "the run lost its disk: {told}");
    device.let_go();
    let device = Device::mount_at(&house.program, "nothing", "cache")?;
    let held = house.program.run(&format!("db check --ledger {turn}.prony"));
    let left = match held.code {
        Some(0) => Left::All,
        Some(1) if held.stdout.contains("BROKEN  ledger: ") => Left::Less,
        Some(1) if held.stdout.contains("BROKEN") => Left::Broken,
        Some(2) => Left::Nothing,
        _ => panic!("cut {turn} on {}: {held}", engine.on),
    };
    assert!(way != Way::Waits || left == Left::All, "cut {turn} on {}: {held}", engine.on);
    let _ = house.program.run(&format!("db down {}", engine.on));
    device.let_go();
    Some(left)
}

fn each(way: Way, holds: impl Fn(&[Left]) -> bool) {
    // Engines have nothing to do with one another.
    let all = std::thread::scope(|scope| {
        let cuts = ENGINES.each_ref().map(|engine| scope.spawn(move || cuts(engine, way)));
        cuts.map(|cuts| cuts.join().unwrap_or_else(|why| std::panic::resume_unwind(why)))
    });
    for (engine, kept) in ENGINES.iter().zip(all) {
        let Some(kept) = kept else { skip!("it needs root, /dev/fuse and {}", engine.on) };
        assert!(holds(&kept), "{}: {kept:?}", engine.on);
    }
}

#[test]
fn an_engine_that_waits_for_its_log_loses_nothing_with_the_power() {
    each(Way::Waits, |kept| kept.iter().all(|left| *left == Left::All));
}

#[test]
fn what_an_engine_loses_that_does_not_wait_is_found() {
    // The ledger names it, unless so much is lost that the data does not open any more.
    each(Way::Hasty, |kept| kept.iter().any(|left| *left != Left::All));
}

#[test]
fn a_device_that_lies_makes_every_engine_lose_and_it_is_found() {
    each(Way::Lied, |kept| kept.iter().all(|left| *left != Left::All));
}

#[test]
fn a_server_whose_device_was_taken_away_is_ended_and_started_anew_on_what_is_there() {
    for engine in &ENGINES[1..] {
        let file = engine.pid_file.expect("it is a server");
        let house = House::new(engine.on);
        let Some(device) = Device::mount_at(&house.program, "nothing", "cache") else {
            skip!("mounting needs root and /dev/fuse")
        };
        let up = || house.program.run(&format!("db up {}", engine.on));
        let ran = up();
        if ran.stderr.contains("is not installed") {
            skip!("no package of {}", engine.on);
        }
        assert_eq!(ran.code, Some(0), "{ran}");
        let before = house.server_processes(file);
        device.kill();
        let device = Device::mount_at(&house.program, "nothing", "cache").expect("it was mounted before");
        let ran = up();
        assert_eq!(ran.code, Some(0), "{ran}");
        assert_ne!(house.server_processes(file), before, "it is another server");
        let there = |pid: &i32| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty());
        assert!(before.len() == 1 && !there(&before[0]), "the one without a disk is gone");
        let _ = house.program.run(&format!("db down {} --remove", engine.on));
        device.let_go();
    }
}
