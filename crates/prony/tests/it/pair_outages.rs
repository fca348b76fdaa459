//! Outages of a database with a mirror, again and again, and on devices of their own: the ledger of acknowledged work is held against what
//! is there when the pair is whole again.
//!
//! The one idea: a pair that keeps its promise must lose nothing in any outage, and one that was set up to lose must be found out in each.
//! `PRONY_OUTAGES` says how many there are (2).

use crate::house::House;
use crate::skip;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

const BANK: &str =
    "--set accounts=1000 --set sessions=2 --set warm_up=300ms --set interval=100ms --allow-errors --json";

fn outages() -> usize {
    std::env::var("PRONY_OUTAGES").ok().and_then(|text| text.parse().ok()).unwrap_or(2).max(2)
}

/// What outages came to.
struct Judged {
    /// How many there were, and of them those behind which the ledger found acknowledged work missing.
    all: usize,
    lost: usize,
    /// Those behind which the servers held different rows.
    unequal: usize,
    /// What was found missing, in the ledger's words.
    missing: Vec<String>,
}

/// Runs outages and judges each by its finding.
fn judged(house: &House, line: &str) -> Judged {
    let ran = house.program.run(&format!("run mirror-outage {line} {BANK}"));
    assert!(matches!(ran.code, Some(0 | 1)), "{line}\n{ran}");
    let told = ran.json();
    let list = |name: &str| told[name].as_array().cloned().unwrap_or_default();
    let pairs: Vec<Value> = list("findings").into_iter().filter(|found| found["kind"] == "pair").collect();
    // One outage is a trial, whatever it takes: each of its events has a finding.
    let trials = |is: &dyn Fn(&Value) -> bool| {
        let trials = pairs.iter().filter(|found| is(found)).map(|found| found["trial"].to_string());
        trials.collect::<BTreeSet<_>>().len()
    };
    let count = |key: &str| trials(&|found| found[key] == false);
    let missing = list("checks").into_iter().filter(|check| check["kind"] == "ledger" && check["result"] == "failed");
    let missing = missing.map(|check| check["found"].to_string()).collect();
    assert!(pairs.iter().all(|found| !found["acknowledged_kept"].is_null()), "each was judged: {told:#}");
    Judged { all: trials(&|_| true), lost: count("acknowledged_kept"), unequal: count("rows_equal"), missing }
}

/// So many moments of a window of 3 s that are no pattern, as levels of the key `at`.
fn moments(count: usize) -> String {
    let mut all: Vec<u64> = (0..count as u64).map(|turn| 200 + turn.wrapping_mul(0x9e37_79b9) % 1300).collect();
    all.sort_unstable();
    all.dedup();
    all.iter().map(|at| format!("{at}ms")).collect::<Vec<_>>().join(",")
}

fn tell(what: &str, judged: &Judged) {
    let Judged { all, lost, unequal, .. } = judged;
    let told =
        format!("{what}: {all} outages, acknowledged work missing behind {lost}, unequal rows behind {unequal}\n");
    std::io::stderr().write_all(told.as_bytes()).expect("a place for it");
}

#[test]
fn whichever_server_is_killed_at_whatever_moment_nothing_acknowledged_is_missing() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let at = moments(outages().div_ceil(2));
    let line = format!(
        "--set mirror=on --set fault=kill-mirror,kill-primary --set at={at} --set resume=1800ms --set measure=3s --set patience=300ms"
    );
    let found = judged(&house, &line);
    tell("a mirror that commits wait for", &found);
    assert_eq!(found.all, 2 * at.split(',').count());
    assert_eq!((found.lost, found.unequal), (0, 0), "{:#?}", found.missing);
    house.program.fine("db down local:postgres --remove");
}

#[test]
fn a_mirror_that_is_ordered_back_before_its_loss_was_seen_follows_again_and_the_run_ends() {
    let Some(house) = House::with_server("local:postgres") else { return };
    // Patience is lost behind the moment in which the mirror is started again, and before it is there.
    let found = judged(&house, "--set fault=kill-mirror --set measure=3s");
    tell("a mirror that comes back before patience is lost", &found);
    assert_eq!((found.all, found.lost, found.unequal), (1, 0, 0), "{:#?}", found.missing);
    house.program.fine("db down local:postgres --remove");
}

#[test]
fn what_a_mirror_lacks_that_takes_over_is_found_behind_each_outage() {
    let Some(house) = House::with_server("local:postgres") else { return };
    // What is acknowledged behind the cut dies with the first server.
    let line = "--set mirror=off --set fault=none --set events=500ms:cut;1500ms:kill-primary --set measure=3s --set patience=1400ms";
    let found = judged(&house, &format!("{line} --set replicates={}", outages()));
    tell("a mirror that lacks the last second", &found);
    assert_eq!((found.all, found.lost, found.missing.len()), (outages(), outages(), outages()), "{:#?}", found.missing);
    house.program.fine("db down local:postgres --remove");
}

/// A pair on devices of its own: a place for each, in the words of keys.
fn on_devices() -> Option<(House, String)> {
    if !Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
        return None;
    }
    let house = House::with_server("local:postgres")?;
    for folder in ["one", "other"] {
        std::fs::create_dir(house.program.path(folder)).expect("the folder is ours");
    }
    let [one, other] =
        ["one", "other"].map(|folder| format!("emulated:nand-device:{}", house.program.path(folder).display()));
    Some((
        house,
        format!("--set mirror=on --set slow={one} --set mirror_device={other} --set measure=4s --set patience=400ms"),
    ))
}

#[test]
fn a_device_that_is_full_or_loses_its_power_takes_its_server_away_and_nothing_that_was_acknowledged() {
    let Some((house, devices)) = on_devices() else { skip!("mounting needs root, /dev/fuse and PostgreSQL") };
    for (fault, alone) in [
        ("full-mirror", "alone, connection ended"),
        ("power-loss-mirror", "alone, connection ended"),
        ("full-primary", "taken over"),
        ("power-loss-primary", "taken over"),
    ] {
        let told = house.program.json(&format!("run mirror-outage --set fault={fault} {devices} {BANK}"));
        let pair = told["findings"].as_array().expect("findings").iter().find(|found| found["kind"] == "pair");
        let pair = pair.unwrap_or_else(|| panic!("{told:#}"));
        assert!(pair["event"] == fault && pair["alone"] == alone, "{pair:#}");
        assert!(pair["acknowledged_kept"] == true, "{pair:#}");
        // One that took over goes with what only it has.
        assert_eq!(pair["rows_equal"] == true, fault.ends_with("mirror"), "{pair:#}");
        let out = if fault.ends_with("mirror") { "second" } else { "first" };
        let who = format!("When the {out} server was out, clients stood still for ");
        assert!(told["answer"].to_string().contains(&who), "{told:#}");
    }
    house.program.fine("db down local:postgres --remove");
}

#[test]
fn what_a_lying_device_of_a_mirror_loses_with_the_power_of_both_is_found() {
    let Some((house, devices)) = on_devices() else { skip!("mounting needs root, /dev/fuse and PostgreSQL") };
    let events = |first: &str| {
        format!(
            "{devices} --set fault=none --set events=100ms:{first};2s:power-loss-mirror;2s:power-loss-primary --set replicates=2"
        )
    };
    let found = judged(&house, &events("lie-mirror"));
    tell("a mirror on a device that lies", &found);
    assert_eq!((found.all, found.lost, found.missing.len()), (2, 2, 2), "{:#?}", found.missing);
    // The same where the device of the first server lies, which is not asked for what it has.
    let found = judged(&house, &events("lie-primary"));
    assert_eq!(found.lost, 0, "{:#?}", found.missing);
    house.program.fine("db down local:postgres --remove");
}

#[test]
fn faults_of_a_device_are_refused_where_there_is_none_and_a_device_where_no_mirror_is() {
    let house = House::new("null:");
    let refused = |line: &str, words: &str| {
        let told = house.program.refused(line);
        assert!(told.contains(words), "{line}: {told}");
    };
    refused("plan mirror-outage --set fault=full-mirror", "--set mirror_device=emulated:MODEL:DIR");
    refused("plan mirror-outage --set fault=power-loss-primary", "--set slow=emulated:MODEL:DIR");
    refused("plan mirror-outage --set mirror_device=.  --set fault=full-mirror", "full-mirror");
    refused("plan key-value --on local:postgres --set mirror_device=.", "add `--set mirror=on`");
    refused("plan mirror-oltp --set pair=galera-pair --set mirror_device=.", "whose servers copy themselves");
    refused(
        "plan mirror-outage --set mirror_device=. --set slow=. --set layout=all-slow",
        "another folder than that of the first server",
    );
    refused("plan mirror-outage --set mirror_device=emulated:disk-16k:. --set fault=none", "no such model ships");
    refused("plan mirror-outage --set mirror_device=./missing --set fault=none", "mkdir -p ./missing");
}

#[test]
fn a_list_of_devices_is_a_system_for_each_and_one_without_a_mirror() {
    let house = House::new("null:");
    for folder in ["a", "b"] {
        std::fs::create_dir(house.program.path(folder)).expect("the folder is ours");
    }
    let plan = house.program.fine(
        "plan key-value --on local:postgres --set mirror=none,on --set mirror_device=emulated:disk-15k,settle=0.001:a,emulated:nand-device:b",
    );
    assert!(plan.contains("postgres none") && plan.contains("it lies on emulated:disk-15k,settle=0.001:a"), "{plan}");
    assert!(plan.contains("postgres on nand-device 2") && plan.contains("it lies on emulated:nand-device:b"), "{plan}");
    assert!(!plan.contains("postgres none disk"), "{plan}");
}
