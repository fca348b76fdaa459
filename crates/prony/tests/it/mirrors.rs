//! A private PostgreSQL with a mirror, in trials that take turns with those of the same server alone.

use crate::house::House;
use crate::program::Program;
use serde_json::Value;

const SMALL: &str = "--set rows=1000 --set sessions=2 --set warm_up=100ms --set measure=500ms --set replicates=1";

#[test]
fn a_mirror_follows_in_its_trials_holds_the_same_rows_and_is_gone_with_the_run() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    let told = program.json(&format!(
        "run key-value --on local:postgres --set mirror=none,on,remote_apply --set distance=0,100 {SMALL} --json"
    ));
    let trials = told["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 6, "{told}");
    for trial in trials {
        let mirrored = trial["system"] != "postgres none";
        let cpu = &trial["server"]["mirror_cpu_cores"];
        assert_eq!(cpu.is_number(), mirrored, "{trial}");
        let checks = told["checks"].as_array().expect("checks");
        let of_mirror = |check: &&Value| check["name"] == "mirror" && check["trial"] == trial["trial"];
        let equal: Vec<_> = checks.iter().filter(of_mirror).collect();
        assert_eq!(equal.len(), usize::from(mirrored), "{checks:?}");
        assert!(equal.iter().all(|check| check["result"] == "passed"), "{checks:?}");
        let events = trial["events"].to_string();
        assert_eq!(events.contains("the wire carried"), mirrored, "{events}");
    }
    let far = trials.iter().find(|trial| trial["events"].to_string().contains("over a wire of delay=500us each way"));
    assert!(far.is_some(), "{told}");
    assert!(!program.files().iter().any(|name| name.ends_with("mirror")));
    let family =
        std::fs::read_dir(program.path("cache")).expect("the cache").filter_map(|entry| Some(entry.ok()?.path()));
    let servers: Vec<_> = family.filter_map(|family| std::fs::read_dir(family).ok()).flatten().flatten().collect();
    assert!(!servers.iter().any(|server| server.file_name().to_string_lossy().ends_with("mirror")), "{servers:?}");
    program.fine("db down local:postgres --remove");
}

#[test]
fn two_servers_in_lock_step_hold_the_same_rows_and_nothing_stays_prepared() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    let line =
        format!("run key-value --on local:postgres --set pair=two-phase-pair --set mirror=none,on {SMALL} --json");
    let told = program.json(&line);
    let checks = told["checks"].as_array().expect("checks");
    let equal: Vec<_> = checks.iter().filter(|check| check["name"] == "mirror").collect();
    assert!(equal.len() == 1 && equal[0]["result"] == "passed", "{checks:?}");
    assert!(checks.iter().all(|check| check["result"] == "passed"), "{checks:?}");
    let trials = told["trials"].as_array().expect("trials");
    let second = trials.iter().find(|trial| trial["system"] == "postgres on").expect("a trial on both");
    assert!(second["events"].to_string().contains("; 0 transactions were left prepared and ended"), "{second}");
    // What a transaction that writes says to the second server: begin, the change, prepare, commit.
    assert!(second["server"]["mirror_cpu_cores"].as_f64() > Some(0.0), "{second}");
    program.fine("db down local:postgres --remove");
}

#[test]
fn a_mirror_of_what_is_no_private_postgresql_is_refused() {
    let told = Program::new().refused("plan key-value --on sqlite: --set mirror=on");
    assert!(told.contains("a mirror is made of a server that Prony starts"), "{told}");
    let told = Program::new().refused("plan key-value --on local:postgres --set mirror=perhaps");
    assert!(told.contains("`remote_apply`") && told.contains("`perhaps`"), "{told}");
}
