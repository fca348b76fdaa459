//! `kill -9` of a database server in mid-run: the run ends with a clear finding, and nothing that was acknowledged is lost.

use crate::house::House;
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

/// A trial that lasts far longer than the server.
const LONG: &str =
    "--set preset=desk --set customers=50 --set days=1 --set sessions=4 --set measure=60s --set warm_up=0s";

#[test]
fn a_killed_postgres_is_found_gone_and_comes_back_with_all_that_it_acknowledged() {
    let Some(house) = House::with_server("local:postgres") else { return };
    survives_a_kill(&house, "postmaster.pid");
}

#[test]
fn a_killed_mariadb_is_found_gone_and_comes_back_with_all_that_it_acknowledged() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    survives_a_kill(&house, "pid");
}

fn survives_a_kill(house: &House, pid_file: &str) {
    let mut going = house.program.start(&house.line("run", &format!("{LONG} --verbose -o x.prony")));
    going.until("· measure", 1);
    std::thread::sleep(Duration::from_secs(1));
    let servers = house.server_processes(pid_file);
    assert!(!servers.is_empty(), "no server keeps its number in {pid_file}");
    for server in &servers {
        kill_process(Pid::from_raw(*server).expect("a process"), Signal::KILL).expect("it is running");
    }
    let (code, told) = going.end();
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("is gone") || told.contains("went away"), "{told}");
    assert!(told.contains("after the outage: all ") && told.contains("invariants hold"), "{told}");
    assert!(told.contains("after the outage: ledger: ") && told.contains("orders are as acknowledged"), "{told}");
    let again = house.server_processes(pid_file);
    assert!(again.iter().any(|server| !servers.contains(server)), "no server was started again");
    let checked =
        house.program.json(&house.line("db check", "--set preset=desk --set customers=50 --set days=1 --json"));
    assert_eq!(checked["datasets"][0]["passed"], true, "{checked:#}");
}
