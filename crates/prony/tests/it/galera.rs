//! A private MariaDB and a second one that Galera joins to it, in trials that take turns with those of the same server alone.

use crate::house::House;
use crate::program::{Program, skipped};
use serde_json::Value;
use std::path::PathBuf;

/// A program with a private MariaDB; none, said and counted, where either package is not installed.
fn house() -> Option<House> {
    if !["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so"]
        .iter()
        .any(|path| PathBuf::from(path).exists())
    {
        skipped("no package galera-4");
        return None;
    }
    House::with_server("local:mariadb")
}

/// The folders of servers that hold data sets, and those of servers that were joined to them.
fn servers(house: &House) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let families = std::fs::read_dir(house.program.path("cache")).expect("the cache").flatten();
    let found = families.filter_map(|family| std::fs::read_dir(family.path()).ok()).flatten().flatten();
    found
        .map(|server| server.path())
        .filter(|path| path.join("server.conf").exists())
        .partition(|path| path.extension().is_none())
}

/// Whether no server is left with another, and none is configured as a node.
fn alone(house: &House) -> bool {
    let (first, second) = servers(house);
    let plain =
        |folder: &PathBuf| !std::fs::read_to_string(folder.join("server.conf")).expect("a file").contains("wsrep_on");
    assert!(!first.is_empty(), "{second:?}");
    second.is_empty() && first.iter().all(plain)
}

fn checks<'a>(told: &'a Value, name: &str) -> Vec<&'a Value> {
    let all = told["checks"].as_array().expect("checks");
    assert!(all.iter().all(|check| check["result"] == "passed"), "{all:#?}");
    all.iter().filter(|check| check["name"] == name).collect()
}

#[test]
fn both_servers_take_writes_lose_no_count_and_hold_the_same_rows_wherever_sessions_go() {
    let Some(house) = house() else { return };
    let program = &house.program;
    let told = program.json(
        "run mirror-active-active --only counters --set pair=galera-pair --set rows=200 --set sessions=4 --set warm_up=200ms --set measure=1s \
         --set replicates=1 --json",
    );
    let trials = told["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 6, "{told:#}");
    for trial in trials {
        let paired = trial["system"] == "paired";
        assert_eq!(trial["server"]["mirror_cpu_cores"].is_number(), paired, "{trial:#}");
        let events = trial["events"].to_string();
        assert_eq!(events.contains("Galera joins a second server"), paired, "{events}");
        assert_eq!(
            events.contains("share the network of this machine: Galera joins them at ports"),
            paired,
            "{events}"
        );
        assert_eq!(events.contains("the second server refused"), paired, "{events}");
    }
    assert_eq!(checks(&told, "mirror").len(), 3, "{told:#}");
    assert_eq!(checks(&told, "count").len(), 6, "{told:#}");
    let findings = told["findings"].as_array().expect("findings");
    let mirror = findings.iter().find(|finding| finding["kind"] == "mirror").expect("what the second server gives");
    let spreads = mirror["spreads"].as_array().expect("ways to spread sessions");
    let mut at: Vec<_> = spreads.iter().filter_map(|one| one["at"].as_str()).collect();
    at.sort_unstable();
    assert_eq!(at, ["spread one", "spread random", "spread split"]);
    for one in spreads {
        assert!(one["rate_ratio"]["value"].as_f64() > Some(0.0) && one["cpu_ratio"].as_f64() > Some(0.0), "{one:#}");
    }
    assert!(alone(&house), "the second server and its traces go with the run");
    program.fine("db down local:mariadb --remove");
}

#[test]
fn people_are_split_between_both_servers_and_what_crosses_costs_conflicts_and_no_sum() {
    let Some(house) = house() else { return };
    let small = "--set pair=galera-pair --set spread=split --set sessions=4 --set warm_up=200ms --set measure=1s --set replicates=1 --json";
    for (workload, data) in [("brokerage", "--set customers=100 --set days=1"), ("order-entry", "--set depots=2")] {
        let told =
            house.program.json(&format!("run mirror-active-active --set all=on --only {workload} {data} {small}"));
        assert_eq!(told["trials"].as_array().expect("trials").len(), 2, "{told:#}");
        assert_eq!(checks(&told, "mirror").len(), 1, "{told:#}");
        assert!(checks(&told, "ledger").len() >= 2, "{told:#}");
        let findings = told["findings"].as_array().expect("findings");
        let mirror = findings.iter().find(|finding| finding["kind"] == "mirror").expect("what the second server gives");
        assert!(mirror["spreads"][0]["thrown_away"].as_f64() < Some(0.5), "{mirror:#}");
    }
    house.program.fine("db down local:mariadb --remove");
}

const BANK: &str = "--set accounts=1000 --set sessions=4 --set spread=random --set warm_up=500ms --set measure=14s";

/// What a run with a fault came to, and its finding.
fn outage(program: &Program, sets: &str) -> (Value, Value) {
    let told = program.json(&format!(
        "run mirror-outage --set pair=galera-pair {sets} {BANK} --set at=1s --set resume=10s --allow-errors --allow-damage --json"
    ));
    let pair: Vec<_> = told["findings"].as_array().expect("findings").iter().filter(|f| f["kind"] == "pair").collect();
    let [pair] = pair[..] else { panic!("{told:#}") };
    (told.clone(), pair.clone())
}

/// The sums of the bank hold, and both servers hold the same rows. Nothing that was acknowledged is missing where that is `promised`: a
/// server without the majority throws away what it got while the other one went, which that one may have acknowledged; the ledger tells.
fn whole(told: &Value, pair: &Value, promised: bool) {
    let all = told["checks"].as_array().expect("checks");
    let passed = |check: &&Value| check["result"] == "passed";
    let failed: Vec<&Value> = all.iter().filter(|check| !passed(check)).collect();
    assert!(failed.iter().all(|check| check["name"] == "ledger" && !promised), "{failed:#?}");
    let found = failed.iter().all(|check| check["found"].as_str().is_some_and(|found| found.contains("missing")));
    assert!(found && all.iter().filter(|check| check["name"] == "mirror").count() == 1, "{all:#?}");
    assert!(pair["acknowledged_kept"] == failed.is_empty() && pair["rows_equal"] == true, "{pair:#}");
    assert!(
        pair["rate_before_per_s"].as_f64() > Some(0.0) && pair["rate_alone_per_s"].as_f64() > Some(0.0),
        "{pair:#}"
    );
}

#[test]
fn when_the_second_server_is_killed_the_first_goes_on_with_all_that_was_acknowledged_and_both_are_equal_again() {
    let Some(house) = house() else { return };
    for (voter, promised) in [("weight", true), ("garbd", true), ("none", false)] {
        let (told, pair) = outage(&house.program, &format!("--set fault=kill-mirror --set voter={voter}"));
        whole(&told, &pair, promised);
        assert!(pair["event"] == "kill-mirror" && pair["resync_s"].as_f64() > Some(0.0), "{pair:#}");
        let events = told["trials"][0]["events"].to_string();
        assert!(events.contains("the first server goes on alone"), "{events}");
    }
    assert!(alone(&house) && voters(&house).is_empty());
    house.program.fine("db down local:mariadb --remove");
}

/// Folders of third voters.
fn voters(house: &House) -> Vec<PathBuf> {
    let families = std::fs::read_dir(house.program.path("cache")).expect("the cache").flatten();
    let all = families.filter_map(|family| std::fs::read_dir(family.path()).ok()).flatten().flatten();
    all.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "voter")).collect()
}

#[test]
fn when_the_first_server_is_killed_the_second_goes_on_and_the_first_comes_back_with_what_it_missed() {
    let Some(house) = house() else { return };
    for (voter, promised) in [("none", false), ("garbd", true)] {
        let (told, pair) = outage(&house.program, &format!("--set fault=kill-primary --set voter={voter}"));
        whole(&told, &pair, promised);
        assert_eq!(pair["alone"], "taken over", "{pair:#}");
        let events = told["trials"][0]["events"].to_string();
        assert!(events.contains("the first server came back and got what it missed"), "{events}");
    }
    assert!(alone(&house));
    house.program.fine("db down local:mariadb --remove");
}

#[test]
fn a_run_that_is_killed_with_a_pair_leaves_nothing_that_hinders_the_next() {
    let Some(house) = house() else { return };
    let program = &house.program;
    let line = "key-value --on local:mariadb --set rows=1000 --set sessions=4";
    let pair = "--set pair=galera-pair --set mirror=on --set spread=random --set tries=1000";
    let going = program.start(&format!("run {line} {pair} --set measure=30s"));
    while servers(&house).1.iter().all(|second| !second.join("run/pid").exists()) {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // Both carry a load a moment later.
    std::thread::sleep(std::time::Duration::from_secs(4));
    going.signal(rustix::process::Signal::KILL);
    going.end();
    let short = "--set warm_up=100ms --set measure=500ms --set replicates=1 --json";
    program.json(&format!("run {line} {short}"));
    assert!(alone(&house), "the second server goes when the first is opened next");
    let told = program.json(&format!("run {line} {pair} {short}"));
    assert_eq!(checks(&told, "mirror").len(), 1, "{told:#}");
    assert!(alone(&house));
    program.fine("db down local:mariadb --remove");
}

#[test]
fn what_a_pair_cannot_do_is_refused_by_name_before_anything_is_started() {
    let program = Program::new();
    for (line, words) in [
        (
            "key-value --on local:mariadb --set pair=galera-pair --set mirror=remote_apply",
            "`none` or `on` with `galera-pair`",
        ),
        ("key-value --on local:postgres --set pair=galera-pair --set mirror=on", "`local:mariadb` without a layout"),
        ("key-value --on local:mariadb --set mirror=on", "`local:postgres` without a mover"),
        ("key-value --on local:postgres --set mirror=on --set spread=random", "a pair on which both servers write"),
        ("key-value --on local:mariadb --set spread=split", "a pair on which both servers write"),
        (
            "bank-night --on local:mariadb --set pair=galera-pair --set mirror=on --set spread=split",
            "whose keys are not split",
        ),
        ("mirror-outage --set pair=galera-pair --set fault=cut", "`cut`"),
        ("mirror-outage --set pair=galera-pair --set fault=suspend", "`suspend`"),
        ("mirror-oltp --set voter=weight", "`none` without `galera-pair`"),
    ] {
        let told = program.refused(&format!("plan {line}"));
        assert!(told.contains(words), "{line}: {told}");
    }
}
