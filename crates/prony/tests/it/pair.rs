//! Mirrored pairs of real PostgreSQL servers: brought up, disturbed, mended, and never a row that only one node has.

use crate::by_hand::ByHand;
use crate::house::House;
use crate::program::{Program, skipped};
use crate::schema::hold;
use database::server::postgres::Server;
use database::server::{Member as _, Private as _};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// A pair in the folder of a test, which ends with it.
struct Mirrored {
    house: House,
}

impl Mirrored {
    /// One that replicates; none, said and counted, where PostgreSQL is not installed.
    fn up(options: &str) -> Option<Mirrored> {
        let mirrored = Mirrored { house: House::new("null:") };
        let via = mirrored.house.program.path("via");
        [via.clone(), mirrored.house.program.path("one"), mirrored.house.program.path("other")]
            .iter()
            .for_each(|folder| std::fs::create_dir(folder).expect("a folder"));
        for node in ["a", "b"] {
            let run = mirrored.house.program.path("pair").join(node).join("run");
            std::os::unix::fs::symlink(run, via.join(node)).expect("a link");
        }
        let ran = mirrored.house.program.run(&format!("pair up postgres-pair --dir pair {options} --json"));
        if ran.stderr.contains("is not installed") {
            skipped("no package of PostgreSQL");
            return None;
        }
        assert_eq!(ran.code, Some(0), "{ran}");
        let status = ran.json();
        hold(&status);
        assert_eq!(status["state"], "replicating", "{status:#}");
        Some(mirrored)
    }

    /// A command that comes to its end with the status.
    fn does(&self, line: &str) -> Value {
        self.house.pair(line)
    }

    fn refused(&self, line: &str) -> String {
        self.house.program.refused(&format!("pair {line}"))
    }

    fn server(&self, node: &str) -> Server {
        Server::at(&self.house.program.path("pair").join(node), Default::default()).expect("it is installed")
    }

    fn asks(&self, node: &str, sql: &str) -> String {
        let mut session = self.server(node).session("postgres").expect("it answers");
        let rows = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        rows.into_iter()
            .flatten()
            .map(|value| value.text().map_or_else(|| format!("{value:?}"), str::to_owned))
            .collect()
    }

    /// `kill -9` of the first process.
    fn kill(&self, node: &str) {
        let pid = self.server(node).pid().and_then(|pid| Pid::from_raw(pid as i32)).expect("it runs");
        kill_process(pid, Signal::KILL).expect("it is ours");
        while self.server(node).pid().is_some() {
            std::thread::yield_now();
        }
    }

    /// Clients write on a node until it is killed; what it acknowledged to them.
    fn killed_under_load(&self, node: &str) -> BTreeSet<u64> {
        self.asks(node, "CREATE TABLE kept (id bigint PRIMARY KEY)");
        let acknowledged = Mutex::new(BTreeSet::new());
        let client = |number: u64| {
            let mut session = self.server(node).session("postgres").expect("it answers");
            for id in (0..).map(|round| round * 4 + number) {
                if session.query(&format!("INSERT INTO kept VALUES ({id})")).is_err() {
                    break;
                }
                acknowledged.lock().expect("no client panics").insert(id);
            }
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|number| {
                drop(scope.spawn({
                    let client = &client;
                    move || client(number)
                }))
            });
            while acknowledged.lock().expect("no client panics").len() < 200 {
                std::thread::yield_now();
            }
            self.kill(node);
        });
        acknowledged.into_inner().expect("no client panics")
    }

    /// Both nodes use the folder of a tablespace, so that what lies in it has one copy: a check compared that with itself.
    fn tells_a_shared_tablespace(&self) {
        use std::os::unix::fs::MetadataExt as _;
        let program = &self.house.program;
        let (space, data) = (program.path("space"), program.path("pair").join("a").join("data"));
        std::fs::create_dir(&space).expect("a folder");
        let owner = std::fs::metadata(data).expect("its data");
        std::os::unix::fs::chown(&space, Some(owner.uid()), Some(owner.gid())).expect("the server's");
        self.asks("a", &format!("CREATE TABLESPACE apart LOCATION '{}'", space.display()));
        self.asks("a", "CREATE TABLE lone TABLESPACE apart AS SELECT 1 AS one");
        let checked = program.run("pair check");
        assert_eq!(checked.code, Some(1), "{checked}");
        assert!(
            checked.stdout.contains("NOT MIRRORED  postgres: public.lone: it lies in the tablespace `apart`"),
            "{checked}"
        );
    }

    /// Both nodes hold the same, told table by table.
    fn is_equal(&self, tables: usize) {
        let checked = self.house.pair("check");
        assert_eq!((&checked["equal"], checked["tables"].as_array().map(Vec::len)), (&Value::Bool(true), Some(tables)));
    }
}

impl Drop for Mirrored {
    fn drop(&mut self) {
        let _ = self.house.program.command("pair down --remove").output();
    }
}

#[test]
fn a_check_finds_what_lies_in_a_tablespace_that_both_nodes_use() {
    let Some(pair) = Mirrored::up("") else { return };
    pair.asks("a", "CREATE TABLE t AS SELECT g FROM generate_series(1, 1000) g");
    pair.is_equal(1);
    pair.tells_a_shared_tablespace();
}

#[test]
fn a_pair_mirrors_stays_behind_is_sent_what_it_lacks_changes_roles_and_goes_down() {
    let Some(pair) = Mirrored::up("--sync remote_apply --via via") else { return };
    assert!(pair.asks("b", "SHOW primary_conninfo").contains("/via/a' "));
    pair.asks("a", "CREATE TABLE t AS SELECT g FROM generate_series(1, 1000) g");
    assert_eq!(pair.asks("b", "SELECT count(*)::text FROM t"), "1000", "who reads on the mirror sees it");
    pair.is_equal(1);
    let suspended = pair.does("suspend");
    assert_eq!((&suspended["state"], &suspended["reason"]), (&"tracking".into(), &"it was asked for".into()));
    pair.asks("a", "INSERT INTO t SELECT g FROM generate_series(1, 20000) g");
    assert_eq!(pair.asks("b", "SELECT count(*)::text FROM t"), "1000");
    assert_eq!(pair.house.program.run("pair check").code, Some(1), "they differ");
    let again = pair.does("suspend");
    assert_eq!(again["since"], suspended["since"]);
    assert!(again["behind_bytes"].as_u64().expect("a number") > 1_000_000, "{again:#}");
    assert_eq!(again["behind_bytes"], again["list"]["bytes"]);

    assert_eq!(pair.does("resume")["state"], "replicating");
    assert!(pair.refused("resume").contains("not suspended"));
    assert_eq!(pair.asks("b", "SELECT count(*)::text FROM t"), "21000");
    pair.is_equal(1);

    for (primary, mirror) in [("b", "a"), ("a", "b")] {
        let swapped = pair.does("swap");
        assert_eq!((&swapped["state"], &swapped["primary"]), (&"replicating".into(), &primary.into()));
        assert_eq!(
            (&swapped["nodes"][primary]["writes"], &swapped["nodes"][mirror]["writes"]),
            (&true.into(), &false.into())
        );
        pair.asks(primary, "INSERT INTO t VALUES (0)");
        pair.is_equal(1);
    }

    for _ in 0..2 {
        let cut = pair.does("cut");
        assert_eq!((&cut["reason"], &cut["link"]["carries"]), (&"the link was cut".into(), &false.into()));
    }
    assert!(pair.refused("resume").contains("heal it first"));
    pair.does("heal");
    assert_eq!(pair.does("heal")["state"], "tracking");
    assert_eq!(pair.does("resume")["state"], "replicating");

    assert!(pair.house.program.fine("pair down").starts_with("stopped; "));
    assert!(pair.house.program.fine("pair down").starts_with("was down already; "));
    assert_eq!(pair.does("status")["state"], "down");
    let down = pair.refused("suspend");
    assert!(down.contains("is down") && down.contains("prony pair up postgres-pair --dir "), "{down}");
    assert!(pair.refused("add public.t").contains("a postgres-pair has no tables that were left out"));
    assert_eq!(pair.does("up postgres-pair")["state"], "replicating");
    pair.is_equal(1);

    // An empty server in the place of the primary would be copied over what the mirror has.
    pair.house.program.fine("pair down");
    std::fs::remove_dir_all(pair.house.program.path("pair/a")).expect("somebody removes it");
    assert!(pair.refused("up postgres-pair").contains("node a, the primary, has no data any more"));
    assert!(pair.refused("take-over").contains("nobody knows what the mirror lacks"), "its log went with it");
    assert_eq!(pair.does("take-over --accept-missing")["primary"], "b");
    pair.does("up postgres-pair");
    assert_eq!(pair.does("resume")["state"], "replicating");
    pair.is_equal(1);
}

#[test]
fn a_node_that_is_killed_is_named_and_nothing_that_was_acknowledged_is_lost() {
    let Some(pair) = Mirrored::up("") else { return };
    pair.asks("a", "CREATE TABLE t AS SELECT g FROM generate_series(1, 1000) g");
    pair.kill("b");
    let lost = pair.does("status");
    assert_eq!(
        (&lost["reason"], &lost["nodes"]["b"]["answers"]),
        (&"the mirror does not answer".into(), &false.into())
    );
    pair.asks("a", "INSERT INTO t VALUES (1)");
    assert!(pair.refused("resume").contains("node b does not answer"));
    assert_eq!(pair.does("up postgres-pair")["state"], "tracking");
    assert_eq!(pair.does("resume")["state"], "replicating");

    let acknowledged = pair.killed_under_load("a");
    assert!(acknowledged.len() > 10, "{acknowledged:?}");
    let blocked = pair.does("status");
    assert_eq!(blocked["state"], "blocked");
    // Those that were under way may be in its log, and nobody was told of them.
    assert!(blocked["says"].as_str().is_some_and(|says| says.contains("in the log that node a left")), "{blocked:#}");
    assert!(blocked["behind_objects"].as_u64().is_some_and(|commits| commits <= 8), "{blocked:#}");
    assert!(pair.refused("swap").contains("not replicating"));
    let taken = pair.does("take-over --accept-missing");
    assert_eq!((&taken["primary"], &taken["nodes"]["b"]["writes"]), (&"b".into(), &true.into()));
    assert!(pair.refused("take-over").contains("swap the roles"));
    let there = |node: &str| {
        let all = pair.asks(node, "SELECT coalesce(string_agg(id::text, ','), '') FROM kept");
        all.split(',').filter_map(|id| id.parse().ok()).collect::<BTreeSet<u64>>()
    };
    assert!(there("b").is_superset(&acknowledged), "lost: {:?}", &acknowledged - &there("b"));
    pair.asks("b", "INSERT INTO t VALUES (3)");
    let back = pair.does("up --dir pair");
    assert_eq!((&back["nodes"]["a"]["answers"], &back["nodes"]["a"]["writes"]), (&true.into(), &false.into()));
    assert_eq!(pair.does("resume")["state"], "replicating");
    assert_eq!(there("a"), there("b"));
    pair.is_equal(2);
}

#[test]
fn commits_that_waited_for_less_than_the_pair_are_counted_when_the_primary_is_lost_and_given_up_only_when_told_so() {
    let Some(pair) = Mirrored::up("") else { return };
    pair.asks("a", "CREATE TABLE kept (id bigint PRIMARY KEY)");
    pair.asks("a", "ALTER ROLE prony IN DATABASE template1 SET synchronous_commit = local");
    let status = pair.does("status");
    assert_eq!(status["not_waited_for"][0], "role prony in database template1 with synchronous_commit = local");
    // The mirror receives nothing until the primary is lost.
    let receiver: i32 = pair.asks("b", "SELECT pid::text FROM pg_stat_wal_receiver").parse().expect("a number");
    let receiver = Pid::from_raw(receiver).expect("a process");
    kill_process(receiver, Signal::STOP).expect("ours");
    let mut session = pair.server("a").session("postgres").expect("it answers");
    session.script("SET synchronous_commit = local").expect("it may");
    (0..200).for_each(|id| session.script(&format!("INSERT INTO kept VALUES ({id})")).expect("it is acknowledged"));
    pair.kill("a");
    let blocked = pair.does("status");
    assert_eq!(blocked["state"], "blocked");
    assert!(blocked["says"].as_str().is_some_and(|says| !says.contains("has ")), "{blocked:#}");
    let refused = pair.refused("take-over");
    assert!(
        refused.contains("in the log of the lost primary that the mirror lacks")
            && refused.contains("--accept-missing"),
        "{refused}"
    );
    let missing = pair.does("status")["behind_objects"].as_u64().expect("the log was read");
    assert!((200..=210).contains(&missing), "{missing} of 200 were told as missing");
    // What waits at the receiver still comes.
    kill_process(receiver, Signal::CONT).expect("ours");
    assert_eq!(pair.does("take-over --accept-missing")["primary"], "b");
    let there: u64 = pair.asks("b", "SELECT count(*)::text FROM kept").parse().expect("a number");
    assert!(there <= 200 && missing >= 200 - there, "{there} of 200 are there, and {missing} were told as missing");
    pair.does("up postgres-pair");
    assert_eq!(pair.does("resume")["state"], "replicating");
    pair.is_equal(1);
    // Whoever has all of the log takes over without a question.
    pair.asks("b", "CHECKPOINT");
    let behind = "SELECT pg_sleep(0.1)::text FROM pg_stat_replication WHERE flush_lsn < pg_current_wal_flush_lsn()";
    while !pair.asks("b", behind).is_empty() {}
    // The log of one that hangs may still be written: it is said who keeps it from being read.
    let hangs = pair.server("b").pid().and_then(|pid| Pid::from_raw(pid as i32)).expect("it runs");
    kill_process(hangs, Signal::STOP).expect("it is ours");
    let refused = pair.refused("take-over");
    assert!(refused.contains("its log cannot be read: end it with `kill -9 "), "{refused}");
    pair.kill("b");
    assert_eq!(pair.does("status")["behind_objects"], 0);
    assert_eq!(pair.does("take-over")["primary"], "a");
}

#[test]
fn a_folder_whose_path_no_socket_or_address_can_have_is_refused_with_what_to_do() {
    let program = Program::new();
    for sign in ["\"", ",", "&", "?", "#", "%"] {
        let refused = program.refused(&format!("pair up postgres-pair --dir 'a{sign}b'"));
        assert!(
            refused.contains(&format!("has the sign `{sign}` in its path")) && refused.contains("with --dir"),
            "{refused}"
        );
    }
    assert_eq!(program.files(), [""; 0], "nothing is made");
    for link in ["", "--link plain"] {
        let refused = program.run(&format!("pair up postgres-pair {link} --dir {}", "l".repeat(100))).stderr;
        if refused.contains("is not installed") {
            return skipped("no package of PostgreSQL");
        }
        assert!(refused.contains("and that of a socket 107 at most"), "{refused}");
        assert!(refused.contains("choose a shorter folder: --dir") && !refused.contains("PRONY_CACHE"), "{refused}");
    }
}

#[test]
fn a_full_list_means_a_copy_and_a_second_primary_is_named_and_thrown_away_only_when_told() {
    let Some(pair) = Mirrored::up("--list 32MiB") else { return };
    let list = pair.does("suspend")["list"].clone();
    assert_eq!(list["limit_bytes"], 32 << 20);
    assert!(list["when_full"].as_str().is_some_and(|says| says.contains("copies everything")));
    pair.asks("a", "CREATE TABLE t AS SELECT g, repeat('x', 500) FROM generate_series(1, 150000) g");
    pair.asks("a", "CHECKPOINT");
    pair.asks("a", "CHECKPOINT");
    let full = pair.does("status");
    assert_eq!(full["state"], "copy-needed");
    assert!(full["reason"].as_str().is_some_and(|reason| reason.contains("was full")), "nobody asked: {full:#}");
    assert_eq!(pair.does("resume")["state"], "replicating");
    pair.is_equal(1);

    pair.asks("b", "SELECT pg_promote()::text");
    let split = pair.does("status");
    assert_eq!((&split["state"], &split["nodes"]["b"]["writes"]), (&"split-brain".into(), &true.into()));
    assert!(pair.refused("check").contains("split brain: node b"), "it answers");
    let mut session = pair.server("b").session("postgres").expect("it answers");
    session.script("SET default_transaction_read_only = off").expect("it may");
    session.script("INSERT INTO t VALUES (0, 'only here')").expect("it is a primary");
    drop(session);
    assert!(pair.refused("resume").contains("split brain: node b"));
    assert!(pair.refused("swap").contains("--discard-mirror"));
    assert_eq!(pair.does("resume --discard-mirror")["state"], "replicating");
    assert_eq!(pair.asks("b", "SELECT count(*)::text FROM t"), "150000");
    pair.is_equal(1);
}

#[test]
fn what_is_no_pair_left_alone_and_what_cannot_be_is_refused_with_a_reason() {
    let house = House::new("null:");
    let program = &house.program;
    let refused = |line: &str| program.refused(&format!("pair {line}"));
    assert!(refused("status").contains("none was brought up, or"));
    let unsaid = refused("up --dir pair");
    assert!(unsaid.contains("got none, and no pair in") && unsaid.contains("say one of `postgres-pair`"), "{unsaid}");
    assert!(refused("up twin --dir pair").contains("say one of `postgres-pair`, `two-phase-pair`, `galera-pair`"));
    for option in ["--sync on", "--link km=1", "--leave-out public.*"] {
        let told = refused(&format!("up galera-pair --dir pair {option}"));
        assert!(told.contains("a galera-pair has no --") && told.contains("hint: "), "{told}");
    }
    assert!(refused("up postgres-pair --dir pair --voter garbd").contains("has no --voter"));
    assert!(refused("up galera-pair --dir pair --voter dice").contains("none, weight, garbd"));
    assert!(refused("up two-phase-pair --dir pair --sync on").contains("has no --sync"));
    assert!(
        refused("up postgres-pair --dir pair --leave-out public.*").contains("mirrors the log of the whole cluster")
    );
    assert!(refused("serve --listen 0.0.0.0:0").contains("nobody is asked for a password"));
    assert!(refused("serve postgres-pair --listen 127.0.0.1:0").contains("only a two-phase-pair is served"));
    assert!(refused("up postgres-pair --dir pair --sync maybe").contains("remote_apply"));
    assert!(refused("up postgres-pair --dir pair --cores 1").contains("--cores 0.5,1"));
    assert!(refused("up postgres-pair --dir pair --list 1MiB").contains("at least 32 MiB"));
    assert!(!program.path("pair").exists());
    std::fs::create_dir(program.path("mine")).expect("a folder");
    program.write("mine/file", "mine");
    let strange = refused("up postgres-pair --dir mine");
    assert!(strange.contains("holds `file`") && strange.contains("left untouched"), "{strange}");
    for command in ["status", "down", "down --remove", "check", "swap"] {
        let text = refused(&format!("{command} --dir mine"));
        assert!(text.contains("holds no pair") && text.contains("name the folder of one with --dir"), "{text}");
    }
    assert_eq!(std::fs::read_to_string(program.path("mine/file")).expect("it is there"), "mine");
}

#[test]
fn a_server_that_somebody_started_by_hand_on_a_nodes_data_is_named_and_left_alone() {
    let Some(pair) = Mirrored::up("") else { return };
    pair.asks("a", "CREATE TABLE t AS SELECT 1 AS g");
    let process = pair.server("a").pid().expect("it runs");
    let program = std::fs::read_link(format!("/proc/{process}/exe")).expect("a program");
    pair.house.program.fine("pair down");
    let data = pair.house.program.path("pair/a/data");
    let shown = data.display().to_string();
    let words = ["-D", &shown, "-k", &shown, "-c", "listen_addresses="];
    let mut by_hand = ByHand::start(&program, &data, &words);
    let serves = || std::fs::read_to_string(data.join("postmaster.pid")).is_ok_and(|text| text.contains("ready"));
    while !serves() {
        assert!(by_hand.runs(), "it serves");
        std::thread::yield_now();
    }
    by_hand.left_alone(&pair.house.program, "postgres-pair");
    assert_eq!(pair.does("up postgres-pair")["state"], "replicating");
    pair.is_equal(1);
}

#[test]
fn a_wire_between_both_nodes_is_cut_and_healed_with_the_pair_and_ends_with_it() {
    let Some(pair) = Mirrored::up("--link km=10") else { return };
    let program = &pair.house.program;
    let told = || program.json("link --orders pair/wires/a/orders --order tell --json");
    assert_eq!(told()["paths"][0]["shape"], "delay=50us");
    assert!(told()["back"]["bytes"].as_u64() > Some(0), "the log travels over it");
    pair.asks("a", "CREATE TABLE t AS SELECT g FROM generate_series(1, 100) g");
    assert_eq!(pair.does("cut --dir pair")["state"], "tracking");
    assert_eq!(told()["paths"][0]["there"], false);
    pair.asks("a", "INSERT INTO t SELECT g FROM generate_series(1, 100) g");
    pair.does("heal --dir pair");
    assert_eq!(pair.does("resume --dir pair")["state"], "replicating");
    assert_eq!(pair.asks("b", "SELECT count(*)::text FROM t"), "200");
    // Another shape, while it runs.
    let again = program.json("pair up postgres-pair --dir pair --link plain --json");
    assert_eq!((&again["state"], &told()["paths"][0]["shape"]), (&"replicating".into(), &"delay=0us".into()));
    std::fs::write(program.path("pair/notes.txt"), "mine").expect("a file of somebody's");
    program.fine("pair down --dir pair");
    assert!(program.refused("link --orders pair/wires/a/orders --order tell").contains("telling the link"));
    program.fine("pair down --dir pair --remove");
    let left: Vec<_> =
        std::fs::read_dir(program.path("pair")).expect("the folder").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["notes.txt"], "what is not the pair's stays");
}

#[test]
fn each_node_lies_on_a_device_of_its_own_that_comes_back_with_what_it_has_kept() {
    if !std::path::Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
        return skipped("mounting needs root and /dev/fuse");
    }
    let Some(pair) = Mirrored::up("--device emulated:nand-device:one,other") else { return };
    let status = pair.does("status");
    let [a, b] = ["a", "b"].map(|node| status["nodes"][node]["device"].as_str().unwrap_or_default().to_owned());
    assert!(a.starts_with("emulated:nand-device:/") && a.ends_with("/one") && b.ends_with("/other"), "{status:#}");
    assert!(status["host"].as_str().is_some_and(|host| !host.contains("disk")), "{status:#}");
    let acknowledged = pair.killed_under_load("a");
    // What serves the device is killed, too; what was acknowledged lies in its folder.
    let device = crate::emulate::served(&pair.house.program.path("pair/devices/a"));
    kill_process(device, Signal::KILL).expect("it is ours");
    assert_eq!(pair.does("status")["state"], "blocked");
    assert!(pair.refused("up postgres-pair --device one,other").contains("lie where they were made"));
    assert_eq!(pair.does("up postgres-pair")["state"], "tracking");
    assert_eq!(pair.does("resume")["state"], "replicating");
    let kept: usize = pair.asks("a", "SELECT count(*)::text FROM kept").parse().expect("a number");
    assert!(kept >= acknowledged.len(), "{kept} of {}", acknowledged.len());
    pair.is_equal(1);
    pair.house.program.fine("pair down --remove");
    let left = |name: &str| std::fs::read_dir(pair.house.program.path(name)).expect("it is there").count();
    assert_eq!((left("one"), left("other")), (0, 0), "nothing stays on a device");
}

#[test]
fn a_pair_that_runs_is_measured_as_it_is_by_the_urls_of_both() {
    let Some(pair) = Mirrored::up("--sync on") else { return };
    let program = &pair.house.program;
    let status = pair.does("status");
    let url = |node: &str| status["nodes"][node]["url"].as_str().expect("a URL").to_owned();
    let line = format!(
        "run key-value --on {} --set mirror_url={} --set rows=1000 --set sessions=2 --set warm_up=200ms --set measure=1s \
         --set replicates=1 --json",
        url("a"),
        url("b")
    );
    let told = program.json(&line);
    let server = &told["trials"][0]["server"];
    assert!(server["mirror"]["flushed_ms"].as_f64() > Some(0.0), "{server:#}");
    assert!(server["mirror_cpu_cores"].as_f64() > Some(0.0), "it runs on this machine: {server:#}");
    let checks = told["checks"].as_array().expect("checks");
    let mirror = checks.iter().find(|check| check["name"] == "mirror").expect("both are compared");
    assert_eq!(mirror["result"], "passed", "{checks:#?}");
    // Nothing of both is changed: the pair is as it was.
    assert_eq!(pair.does("status")["state"], "replicating");
    assert_eq!(pair.asks("a", "SHOW synchronous_commit"), "on");
    let refused = program.refused(&format!("plan key-value --on {} --set mirror_url=mysql://h/d", url("a")));
    assert!(refused.contains("a mirror of the same engine"), "{refused}");
    let refused = program.refused("plan key-value --on local:postgres --set mirror_url=postgres://h/d");
    assert!(refused.contains("server that runs already"), "{refused}");
    let refused =
        program.refused(&format!("plan key-value --on {} --set mirror_url=postgres://u:secret@h/d", url("a")));
    assert!(refused.contains("without a password") && !refused.contains("secret"), "{refused}");
}
