//! Layouts from the command line: a bank's day with its log on a disk that is not there, layouts side by side, and refusals.

use crate::house::House;
use crate::program::Program;
use crate::schema::hold;
use crate::skip;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A bank that is filled in a moment, and a short day on which nobody rests.
const DAY: &str =
    "--set accounts=1000 --set users=off --set think=0s --set sessions=2 --set measure=1s --set warm_up=0s";

fn tiers(program: &Program) {
    for name in ["slow", "fast"] {
        fs::create_dir(program.path(name)).expect("a tier");
        fs::set_permissions(program.path(name), fs::Permissions::from_mode(0o755)).expect("the folder is ours");
    }
}

/// What lies on a tier, below the one folder that Prony has there.
fn on(program: &Program, tier: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for home in fs::read_dir(program.path(tier)).expect("a tier").flatten() {
        assert!(home.file_name().to_string_lossy().starts_with("prony-"), "{home:?}");
        names.extend(
            fs::read_dir(home.path())
                .expect("a folder")
                .flatten()
                .map(|e| e.file_name().into_string().expect("a name")),
        );
    }
    names.sort();
    names
}

fn fact<'a>(system: &'a Value, key: &str) -> &'a str {
    let facts = system["fingerprint"].as_array().expect("facts");
    facts.iter().find(|fact| fact["key"] == key).and_then(|fact| fact["value"].as_str()).unwrap_or_default()
}

/// Nothing of it runs on, or is mounted, when the run is over.
fn nothing_left(program: &Program) {
    let dir = program.dir().display().to_string();
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("a list");
    let ours = mounts.lines().find(|line| line.contains("prony-disk-15k") && line.contains(&dir));
    assert_eq!(ours, None);
    for entry in fs::read_dir("/proc").expect("processes").flatten() {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        // A plain server, of which the versions were read, stays as it always does.
        assert!(!(line.contains(&dir) && line.contains("prony_bank")), "{line}");
    }
}

#[test]
fn a_banks_day_runs_with_its_log_on_a_disk_that_is_not_there() {
    if !Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
        skip!("mounting needs root and /dev/fuse");
    }
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    tiers(program);
    let line = format!(
        "run bank-day --on local:postgres --set layout=log-apart --set slow=emulated:disk-15k:slow --set fast=fast {DAY} --json"
    );
    let run = program.json(&format!("{line} -o x.prony"));
    hold(&run);
    let system = &run["systems"][0];
    assert_eq!(
        system["place"],
        "local:postgres, log-apart: the log on slow (emulated:disk-15k:slow), the rest on fast (fast)"
    );
    assert_eq!((fact(system, "layout.name"), fact(system, "layout.slow.holds")), ("log-apart", "the log"));
    assert_eq!(fact(system, "layout.slow.device"), "disk-15k");
    assert!(fact(system, "layout.fast.folder").ends_with("/fast"), "{system:#}");
    assert!(run["trials"][0]["streams"][0]["done"].as_u64().or(run["trials"][0]["done"].as_u64()) > Some(0), "{run:#}");
    house.holds_after(0);
    assert_eq!(on(program, "slow"), ["log", "prony-server", "tables"]);
    assert_eq!(on(program, "fast"), ["data", "prony-server"]);
    nothing_left(program);
    // The folders are found again by the next run, wherever the device is mounted then.
    let again = program.run(&format!("{line} -o y.prony"));
    assert_eq!(again.code, Some(0), "{again}");
    assert!(again.stderr.contains("reused as earlier trials left it"), "{again}");
    nothing_left(program);
}

#[test]
fn layouts_run_side_by_side_from_one_fill_with_their_copies_restored_and_their_footprints_compared() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    let program = &house.program;
    tiers(program);
    let run = program.json(&format!(
        "run bank-day --on local:mariadb --set layout=all-slow,all-fast --set slow=slow --set fast=fast --set replicates=2 \
         --set state=restore {DAY} --set 'slow_footprint=drives=96 watts=1440' --set 'fast_footprint=drives=22 watts=150 price=4400' \
         --allow-inconclusive --json -o x.prony"
    ));
    hold(&run);
    let names: Vec<&str> =
        run["systems"].as_array().expect("systems").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["mariadb all-slow", "mariadb all-fast"]);
    assert_eq!(run["systems"][0]["footprint"]["drives"], 96);
    let found = run["findings"].as_array().expect("findings").iter().find(|one| one["kind"] == "footprint");
    let found = found.unwrap_or_else(|| panic!("no footprint: {run:#}"));
    assert_eq!((&found["system"], &found["baseline"]), (&names[1].into(), &names[0].into()));
    let drives = &found["amounts"][0];
    assert_eq!(
        (&drives["amount"], &drives["of_system"], &drives["of_baseline"]),
        (&"drives".into(), &22.into(), &96.into())
    );
    let events = house.events(3);
    assert!(events.iter().any(|event| event.text.contains("restored to what it was after the fill")), "{events:#?}");
    let caveats = run["caveats"].to_string();
    assert!(!caveats.contains("mariadb all-slow and mariadb all-fast stand on the same device"), "{caveats}");
}

#[test]
fn what_a_run_would_refuse_of_a_layout_is_refused_by_check_and_plan_too() {
    let house = House::new("local:postgres");
    let program = &house.program;
    tiers(program);
    fs::create_dir_all(program.path("full/theirs")).expect("a folder");
    fs::create_dir_all(program.path("fast/inner")).expect("a folder");
    std::os::unix::fs::symlink("../fast/inner", program.path("full/link")).expect("a link");
    for (sets, says) in [
        (
            "layout=log-apart --set slow=slow",
            "a folder for what the layout `log-apart` puts there (the rest), got none",
        ),
        ("layout=all-slow --set slow=nowhere", "make it with `mkdir -p nowhere`"),
        ("layout=all-slow --set slow=full", "theirs exists and was not made by Prony"),
        ("layout=all-slow --set slow=emulated:disk-16k:slow", "no such model ships"),
        ("layout=all-slow --set slow=emulated:s824-fs840:slow", "the model of a device that stores, got `s824-fs840`"),
        ("layout=all-slow --set slow=slow --set fast=fast --set fast_objects=balanc", "did you mean `balance`?"),
    ] {
        for command in ["check", "plan", "run"] {
            let refused = program.refused(&format!("{command} bank-day --on local:postgres --set {sets}"));
            assert!(refused.contains(says), "{command} {sets}: {refused}");
        }
    }
    fs::remove_dir(program.path("fast/inner")).expect("it is empty");
    fs::create_dir(program.path("slow/prony-x")).expect("a folder");
    fs::write(program.path("slow/prony-x/prony-server"), "elsewhere").expect("a mark");
    let nested = "--set layout=log-fast --set fast=slow/prony-x/../../fast --set slow=fast";
    for command in ["check", "plan", "run"] {
        let refused = program.refused(&format!("{command} bank-day --on local:postgres {nested}"));
        assert!(refused.contains("a folder that lies apart from `fast`"), "{command}: {refused}");
    }
    let told = program.run("check bank-day --on local:postgres --set layout=all-slow --set slow=full --json");
    assert_eq!(told.code, Some(2), "{told}");
    assert!(told.json()["problems"][0]["message"].as_str().expect("text").contains("theirs exists"), "{told}");
    let plan = program.fine("plan bank-day --on local:postgres --set layout=log-fast --set slow=slow --set fast=fast");
    assert!(plan.contains("by the layout log-fast: the rest on slow (slow), the log on fast (fast)"), "{plan}");
    assert!(
        plan.contains(" for trials; the fill, a copy of it for each layout, and starts of servers come on top"),
        "{plan}"
    );
    let listed = || {
        let names = fs::read_dir(program.dir()).expect("a folder").map(|entry| entry.expect("a name").file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let before = listed();
    let tier = "run tier --set slow=emulated:disk-15k:nowhere --set fast=emulated:nand-device:fast";
    let refused = program.refused(tier);
    assert!(refused.contains("make it with `mkdir -p nowhere`, or name another with `--set slow=..`"), "{refused}");
    assert_eq!(listed(), before, "no run, no device, no server");
    let plain = program.fine("plan bank-day --on sqlite:");
    assert!(plain.contains(" for trials; fills come on top"), "{plain}");
    assert_eq!(fs::read_dir(program.path("fast")).expect("a folder").count(), 0, "nothing is touched");
}
