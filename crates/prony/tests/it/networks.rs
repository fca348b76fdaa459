//! Networks of the servers of a pair: what is parted, what is told where nothing is, and that none is left behind.

use crate::house::House;
use crate::program::skipped;
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const UP: &str = "up postgres-pair --dir pair --link plain";

/// A pair that replicates over a relay, and ends with the test.
struct Paired(House);

impl Paired {
    fn up() -> Option<Paired> {
        if !can_be_made() {
            skipped("no networks can be made");
            return None;
        }
        let paired = Paired(House::new("null:"));
        let ran = paired.0.program.run(&format!("pair {UP} --json"));
        if ran.stderr.contains("is not installed") {
            skipped("no package of PostgreSQL");
            return None;
        }
        assert_eq!(ran.code, Some(0), "{ran}");
        Some(paired)
    }

    /// What both nodes have, told by a command of the pair.
    fn networks(&self, line: &str) -> [String; 2] {
        let told = self.0.pair(line);
        let network = |node: &str| told["nodes"][node]["namespace"].as_str().map(str::to_owned);
        let both = ["a", "b"].map(|node| network(node).unwrap_or_else(|| panic!("node {node} has none: {told:#}")));
        assert_eq!(told["networks_shared"], Value::Null);
        both
    }
}

impl Drop for Paired {
    fn drop(&mut self) {
        let _ = self.0.program.command("pair down --remove").output();
    }
}

/// Whether this user may make networks.
pub fn can_be_made() -> bool {
    let made = Command::new("unshare").args(["--net", "true"]).stderr(Stdio::null()).status();
    made.is_ok_and(|made| made.success())
}

/// The networks of processes, other than ours, whose command lines hold this.
fn networks_of(words: &str) -> BTreeSet<String> {
    let link = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net")).ok();
    let network = |process: String| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let found = String::from_utf8_lossy(&line).contains(words).then(|| link(&process))??;
        Some(found.display().to_string())
    };
    let processes =
        std::fs::read_dir("/proc").expect("processes").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ours = link("self").map(|ours| ours.display().to_string());
    processes.filter_map(network).filter(|found| Some(found) != ours.as_ref()).collect()
}

/// Nobody whose command line holds this is in one of them, and nothing is mounted that would keep one. Numbers of networks come again:
/// somebody else's may have that of one that is gone.
fn are_gone(words: &str, networks: &BTreeSet<String>) {
    let left: Vec<_> = networks_of(words).into_iter().filter(|left| networks.contains(left)).collect();
    assert!(left.is_empty(), "{left:?}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    assert!(!networks.iter().any(|network| mounts.contains(network)), "{mounts}");
}

/// Whether a process in the network of another gets a connection to this port of 127.0.0.1.
fn reaches(process: u64, port: u16) -> bool {
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let mut inside = Command::new("nsenter");
    inside.args(["--net", "--target", &process.to_string(), "bash", "-c", &connect]).stderr(Stdio::null());
    inside.status().expect("nsenter is there").success()
}

#[test]
fn a_node_reaches_no_port_of_the_other_or_of_the_machine_while_the_pair_replicates() {
    let Some(pair) = Paired::up() else { return };
    let told = pair.0.pair("status");
    let own = pair.networks("status");
    assert_ne!(own[0], own[1]);
    assert!(told["host"].as_str().is_some_and(|host| host.starts_with("one host, where each node has a network")));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    assert!(reaches(std::process::id().into(), port), "it can be reached from here");
    for node in ["a", "b"] {
        let process = told["nodes"][node]["pid"].as_u64().expect("it runs");
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/net/{name}")).expect("a network");
        assert_eq!(
            read("dev").lines().skip(2).map(|line| line.trim().split(':').next()).collect::<Vec<_>>(),
            [Some("lo")]
        );
        assert_eq!((read("route").lines().count(), read("tcp").lines().count()), (1, 1), "headers alone");
        assert!(!reaches(process, port), "node {node}");
    }
    // What runs goes on in its network; what is started again gets another.
    assert_eq!(pair.networks(UP), own);
    let seen: BTreeSet<String> = own.iter().cloned().collect();
    pair.0.program.fine("pair down");
    let folder = pair.0.program.dir().display().to_string();
    are_gone(&folder, &seen);
    assert_eq!(pair.0.pair("status")["nodes"]["a"]["namespace"], Value::Null);
    let again: BTreeSet<String> = pair.networks(UP).into_iter().collect();
    assert!(pair.0.pair("check")["equal"] == true && pair.0.pair("swap")["state"] == "replicating");
    let swapped = pair.networks("status").into_iter().collect();
    (0..2).for_each(|_| drop(pair.0.program.fine("pair down")));
    are_gone(&folder, &(&again | &swapped));
}

#[test]
fn where_the_kernel_makes_no_network_a_pair_is_as_ever_and_says_why() {
    let house = House::new("null:");
    let line = format!("pair {UP} --json");
    let ran = match can_be_made() {
        true => house.program.under("setpriv", &["--bounding-set=-sys_admin"], &line),
        false => house.program.run(&line),
    };
    if ran.stderr.contains("is not installed") {
        return skipped("no package of PostgreSQL");
    }
    assert_eq!(ran.code, Some(0), "{ran}");
    let told = ran.json();
    crate::schema::hold(&told);
    assert_eq!((&told["state"], &told["nodes"]["a"]["namespace"]), (&"replicating".into(), &Value::Null), "{told:#}");
    let why = told["networks_shared"].as_str().expect("a reason");
    assert!(why.contains("CAP_SYS_ADMIN") && why.contains("Operation not permitted"), "{why}");
    let host = told["host"].as_str().expect("a sentence");
    assert!(
        host.starts_with("shared-host overhead: ") && host.ends_with(&format!("they share its network, too: {why}")),
        "{host}"
    );
    // Whoever may make networks is told that a start makes them.
    let later = house.pair("status")["networks_shared"].as_str().unwrap_or_default().to_owned();
    assert_eq!(later.ends_with("its next start makes one"), can_be_made(), "{later}");
    house.program.fine("pair down --remove");
}

#[test]
fn the_networks_of_a_run_that_was_killed_go_with_its_servers() {
    if !can_be_made() {
        return skipped("no networks can be made");
    }
    let Some(house) = House::with_server("local:postgres") else { return };
    let folder = house.program.dir().display().to_string();
    let line = "run key-value --on local:postgres --set mirror=on --set rows=1000 --set sessions=2 --set measure=60s --set warm_up=0s";
    let mut child = house.program.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let servers = || networks_of(&format!("--config-file={folder}"));
    // The bare server, the one that is loaded, and its mirror.
    while servers().len() < 3 {
        assert!(child.try_wait().expect("it is ours").is_none(), "it ended before it could be killed");
        sleep(Duration::from_millis(20));
    }
    child.kill().and_then(|()| child.wait()).expect("it can be killed");
    let left = servers();
    assert!(left.len() >= 3, "servers outlive who started them: {left:?}");
    house.program.fine("db down local:postgres --remove");
    are_gone(&folder, &left);
}
