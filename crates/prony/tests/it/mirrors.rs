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
fn a_mirror_of_what_is_no_private_postgresql_is_refused() {
    let told = Program::new().refused("plan key-value --on sqlite: --set mirror=on");
    assert!(told.contains("a mirror is made of a server that Prony starts"), "{told}");
    let told = Program::new().refused("plan key-value --on local:postgres --set mirror=perhaps");
    assert!(told.contains("`remote_apply`") && told.contains("`perhaps`"), "{told}");
}
