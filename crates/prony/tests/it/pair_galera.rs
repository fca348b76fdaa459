//! Pairs of two MariaDB that Galera joins: both write, either is lost, parted and brought back, and never a row that only one of them has.

use crate::by_hand::ByHand;
use crate::house::House;
use crate::program::skipped;
use database::server::Member;
use database::server::mariadb::Server;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A pair in the folder of a test, which ends with it.
struct Joined {
    house: House,
}

impl Joined {
    /// One that replicates; none, said and counted, where a package is not installed.
    fn up(options: &str) -> Option<Joined> {
        let joined = Joined { house: House::new("null:") };
        let ran = joined.house.program.run(&format!("pair up galera-pair --dir pair {options} --json"));
        if ran.stderr.contains("is not installed") {
            skipped("no package of MariaDB, galera-4 or galera-arbitrator-4");
            return None;
        }
        assert_eq!(ran.code, Some(0), "{ran}");
        assert_eq!(ran.json()["state"], "replicating", "{ran}");
        Some(joined)
    }

    fn does(&self, line: &str) -> Value {
        self.house.pair(line)
    }

    fn refused(&self, line: &str) -> String {
        self.house.program.refused(&format!("pair {line}"))
    }

    fn server(&self, node: &str) -> Server {
        Server::at(&self.house.program.path("pair").join(node), Default::default()).expect("it is installed")
    }

    /// What a node says to a statement, or why it refuses.
    fn says(&self, node: &str, sql: &str) -> Result<String, String> {
        let mut session = self.server(node).session("").expect("it answers");
        let rows = session.query(sql).map_err(|failure| failure.to_string())?;
        Ok(rows.into_iter().flatten().map(|value| format!("{value:?} ")).collect())
    }

    fn writes(&self, node: &str, number: u32) -> Result<String, String> {
        self.says(node, &format!("INSERT INTO t.kept (v) VALUES ({number})"))
    }

    /// Has a node write a table on which both agree from then on.
    fn begin(&self) {
        for sql in ["CREATE DATABASE t", "CREATE TABLE t.kept (id INT PRIMARY KEY AUTO_INCREMENT, v INT)"] {
            self.says("a", sql).expect("it takes writes");
        }
    }

    fn kill(&self, pid: Option<u32>) {
        let pid = pid.and_then(|pid| Pid::from_raw(pid as i32)).expect("it runs");
        kill_process(pid, Signal::KILL).expect("it is ours");
    }

    fn kill_node(&self, node: &str) {
        self.kill(self.server(node).first_process());
        while self.server(node).first_process().is_some() {
            std::thread::yield_now();
        }
    }

    /// Both nodes hold the same, with so many rows.
    fn is_equal(&self, rows: u64) {
        let checked = self.house.pair("check");
        assert_eq!(
            (&checked["equal"], &checked["tables"][0]["a"]["rows"]),
            (&Value::Bool(true), &rows.into()),
            "{checked:#}"
        );
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let _ = self.house.program.command("pair down --remove").output();
    }
}

#[test]
fn both_nodes_write_one_stays_behind_is_parted_and_comes_back_with_what_it_lacked_and_each_command_may_be_said_twice() {
    let Some(pair) = Joined::up("") else { return };
    pair.begin();
    pair.writes("b", 1).expect("both take writes");
    assert!(pair.refused("up two-phase-pair --dir pair").contains("is a galera-pair"));
    assert_eq!(pair.does("up --dir pair")["nodes"]["b"]["writes"], true, "its kind is that of the folder");
    pair.is_equal(1);
    assert!(pair.refused("swap").contains("no roles to swap"));
    let host = pair.does("status")["host"].as_str().unwrap_or_default().to_owned();
    assert!(host.starts_with("shared-host overhead: ") && host.contains("ports of 127.0.0.1"), "{host}");
    assert!(pair.house.program.fine("pair status").ends_with(&format!("{host}\n")));
    let refused = pair.refused("up galera-pair --dir pair --device A,B");
    assert!(refused.contains("has no --device: its nodes copy themselves"), "{refused}");
    assert!(pair.refused("serve --listen 127.0.0.1:0").contains("nobody stands in between"));
    for _ in 0..2 {
        let status = pair.does("suspend");
        assert_eq!((&status["state"], &status["reason"]), (&"tracking".into(), &"it was asked for".into()));
    }
    assert!(pair.writes("b", 2).is_err(), "a node that stays behind takes no writes");
    pair.writes("a", 2).expect("the other goes on");
    assert!(pair.does("status")["behind_bytes"].as_u64() > Some(0));
    assert_eq!(pair.does("resume")["state"], "replicating");
    assert!(pair.refused("resume").contains("not suspended"));
    let refused = pair.refused("take-over");
    assert!(refused.contains("nothing to take over") && refused.contains("of a galera-pair have none"), "{refused}");
    pair.is_equal(2);
    for _ in 0..2 {
        assert_eq!(pair.does("cut")["reason"], "the link was cut");
    }
    assert!(pair.writes("b", 3).is_err(), "half of a pair is no majority");
    pair.writes("a", 3).expect("the other was told to go on");
    assert!(pair.refused("resume").contains("heal it first"));
    for _ in 0..2 {
        pair.does("heal");
    }
    assert_eq!(pair.does("resume")["nodes"]["b"]["writes"], true);
    pair.is_equal(3);
    // A node that was written on past the pair is not taken for equal.
    let mut session = pair.server("b").session("").expect("it answers");
    for sql in ["SET SESSION wsrep_on = OFF", "INSERT INTO t.kept (v) VALUES (9)"] {
        session.script(sql).expect("a row");
    }
    drop(session);
    assert_eq!(pair.house.program.run("pair check").code, Some(1));
    pair.house.program.fine("pair down");
    pair.house.program.fine("pair down");
    let status = pair.does("up galera-pair --dir pair");
    assert_eq!(status["state"], "replicating");
    let differ = serde_json::json!([{ "database": "t", "table": "kept", "a": 3, "b": 4 }]);
    assert_eq!(status["checked"]["differ"], differ, "{status:#}");
    let said = pair.house.program.fine("pair status");
    assert!(
        said.contains("1 of 1 table differs\nDIFFERS") && said.contains("kept: 3 rows on node a, 4 rows on node b"),
        "{said}"
    );
    // The way back that it names.
    pair.does("suspend");
    assert_eq!(pair.house.program.run("pair resume").code, Some(1));
    pair.does("resume");
    pair.is_equal(3);
    assert_eq!(pair.does("status")["checked"]["equal"], true);
}

#[test]
fn without_a_vote_whoever_is_left_waits_for_a_command_and_takes_over_when_the_loss_is_accepted() {
    let Some(pair) = Joined::up("--voter none") else { return };
    pair.begin();
    pair.kill_node("b");
    let status = pair.does("status");
    assert_eq!((&status["state"], &status["next"]), (&"tracking".into(), &"prony pair up galera-pair".into()));
    pair.writes("a", 1).expect("it was let go on");
    pair.does("up galera-pair --dir pair");
    pair.does("resume");
    pair.is_equal(1);
    pair.kill_node("a");
    assert_eq!(pair.does("status")["state"], "blocked");
    assert!(pair.writes("b", 2).is_err(), "nobody decided that it may");
    assert!(pair.refused("take-over").contains("--accept-missing"));
    assert_eq!(pair.does("take-over --accept-missing")["primary"], "b");
    pair.writes("b", 2).expect("it took over");
    pair.does("up galera-pair --dir pair");
    assert_eq!(pair.does("resume")["state"], "replicating");
    pair.is_equal(2);
}

#[test]
fn a_node_that_is_stopped_is_named_and_a_server_that_somebody_started_by_hand_on_its_data_left_alone() {
    let Some(pair) = Joined::up("") else { return };
    pair.begin();
    let process = pair.server("b").first_process().and_then(|pid| Pid::from_raw(pid as i32)).expect("it runs");
    let program = std::fs::read_link(format!("/proc/{process}/exe")).expect("a program");
    kill_process(process, Signal::STOP).expect("it is ours");
    let ran = pair.house.program.run("pair status --json");
    assert_eq!((ran.code, &ran.json()["state"]), (Some(0), &"tracking".into()), "{ran}");
    let says = [format!("though its process {process} is there"), format!("`kill -9 {process}` ends it")];
    assert!(ran.stderr.contains("node b did not answer within "), "{ran}");
    assert!(says.iter().all(|words| ran.stderr.matches(words).count() == 1), "{ran}");
    pair.writes("a", 1).expect("it goes on alone");
    pair.house.program.fine("pair down");

    let data = pair.house.program.path("pair/b/data");
    let socket = format!("--socket={}", data.join("by-hand").display());
    let options = [format!("--datadir={}", data.display()), socket, "--skip-networking".to_owned()];
    let words: Vec<&str> = std::iter::once("--no-defaults").chain(options.iter().map(String::as_str)).collect();
    let mut by_hand = ByHand::start(&program, &data, &words);
    while !data.join("by-hand").exists() {
        assert!(by_hand.runs(), "it serves");
        std::thread::yield_now();
    }
    by_hand.left_alone(&pair.house.program, "galera-pair");
    pair.does("up galera-pair --dir pair");
    pair.does("resume");
    pair.is_equal(1);
}

#[test]
fn with_garbd_whoever_is_left_goes_on_by_itself_and_a_voter_that_was_killed_is_started_again() {
    let Some(pair) = Joined::up("--voter garbd") else { return };
    pair.begin();
    let pid = |status: &Value| status["voter_pid"].as_u64().map(|pid| pid as u32);
    pair.kill_node("a");
    let status = pair.does("status");
    assert_eq!((&status["state"], &status["primary"]), (&"tracking".into(), &"b".into()), "{status:#}");
    pair.writes("b", 1).expect("it has the majority");
    pair.does("up galera-pair --dir pair");
    pair.does("resume");
    pair.is_equal(1);
    pair.kill(pid(&pair.does("status")));
    while pid(&pair.does("status")).is_some() {
        std::thread::yield_now();
    }
    assert!(pair.house.program.run("pair status").stdout.contains("which does not run: prony pair up galera-pair"));
    assert!(pid(&pair.does("up galera-pair --dir pair")).is_some());
    assert_eq!(pair.does("up galera-pair --dir pair --voter none")["voter_pid"], Value::Null);
    pair.house.program.fine("pair down --remove");
    assert!(!pair.house.program.path("pair").exists());
}

#[test]
fn a_node_that_took_over_while_the_link_was_cut_is_put_back_when_that_is_healed() {
    let Some(pair) = Joined::up("--voter garbd") else { return };
    pair.begin();
    pair.does("cut");
    pair.kill_node("a");
    assert_eq!(pair.does("take-over --accept-missing")["primary"], "b");
    pair.writes("b", 1).expect("it took over");
    // The voter does not reach it, and a node that is started is behind the cut, too.
    let status = pair.does("up galera-pair --dir pair");
    assert_eq!((&status["state"], &status["link"]["carries"]), (&"tracking".into(), &false.into()), "{status:#}");
    pair.does("heal");
    assert_eq!(pair.does("resume")["state"], "replicating");
    pair.is_equal(1);
}

#[test]
fn a_full_list_means_a_copy_and_a_node_that_goes_on_by_itself_is_named_and_thrown_away_only_when_told() {
    let Some(pair) = Joined::up("--list 32MiB") else { return };
    pair.begin();
    pair.does("suspend");
    pair.says("a", "CREATE TABLE t.large (id INT PRIMARY KEY AUTO_INCREMENT, v LONGTEXT)").expect("a table");
    for _ in 0..36 {
        pair.says("a", "INSERT INTO t.large (v) VALUES (repeat('x', 1000000))").expect("a row");
    }
    assert_eq!(pair.does("status")["state"], "copy-needed");
    assert_eq!(pair.does("resume")["state"], "replicating");
    pair.is_equal(0);
    pair.does("cut");
    pair.says("b", "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'").expect("somebody's own will");
    while pair.writes("b", 1).is_err() {
        std::thread::yield_now();
    }
    pair.writes("a", 2).expect("it goes on as well");
    assert_eq!(pair.does("status")["state"], "split-brain");
    assert!(pair.refused("resume").contains("split brain: node b"));
    // The link is still cut, and what it wrote is gone by then.
    assert!(pair.refused("resume --discard-mirror").contains("heal it first"));
    pair.does("heal");
    assert_eq!(pair.does("resume")["state"], "replicating");
    pair.is_equal(1);
}

/// Writes on a node until it refuses; numbers that were acknowledged.
fn writes_until_it_is_lost(mut session: Box<dyn database::Session>, from: u32) -> Vec<u32> {
    let write =
        |number: u32| session.script(&format!("INSERT INTO t.kept (v) VALUES ({number})")).is_ok().then_some(number);
    (from..).map_while(write).collect()
}

#[test]
fn a_primary_that_is_killed_under_load_and_started_again_does_not_undo_what_the_other_node_acknowledged() {
    let Some(pair) = Joined::up("--voter none") else { return };
    pair.begin();
    let acknowledged: Vec<u32> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let node = if writer % 2 == 0 { "a" } else { "b" };
                let session = pair.server(node).session("").expect("it answers");
                scope.spawn(move || writes_until_it_is_lost(session, writer * 1_000_000))
            })
            .collect();
        while pair.says("a", "SELECT count(*) FROM t.kept WHERE v > 7000500").expect("it answers") == "Int(0) " {
            std::thread::yield_now();
        }
        pair.kill_node("a");
        writers.into_iter().flat_map(|writer| writer.join().expect("a writer")).collect()
    });
    assert!(acknowledged.len() > 2_000, "{}", acknowledged.len());
    pair.does("up galera-pair --dir pair");
    assert_eq!(pair.does("resume")["state"], "replicating");
    for node in ["a", "b"] {
        let list = acknowledged.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let kept = pair.says(node, &format!("SELECT count(*) FROM t.kept WHERE v IN ({list})")).expect("it answers");
        assert!(kept.contains(&acknowledged.len().to_string()), "{node}: {kept} of {}", acknowledged.len());
    }
}
