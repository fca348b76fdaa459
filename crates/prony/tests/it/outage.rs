//! A database server that is lost in mid-run, in every way that is easy to make: the run ends with a clear finding, and nothing
//! that was acknowledged is lost. What is lost is found, kept and told.

use crate::house::House;
use database::{OpenOptions, Profiling, Texts};
use observation::EventKind;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use study::{At, DatabaseSpec, Engine, Sessions};
use workload::brokerage::data_set::seeded;
use workload::brokerage::{Preset, Scale};

/// A trial that lasts far longer than the server.
const LONG: &str =
    "--set preset=desk --set customers=50 --set days=1 --set sessions=4 --set measure=60s --set warm_up=0s";

/// The file in which a server keeps its number.
const POSTGRES: &str = "postmaster.pid";
const MARIADB: &str = "pid";

#[test]
fn a_killed_postgres_is_found_gone_and_comes_back_with_all_that_it_acknowledged() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let killed = survives(&house, POSTGRES, |servers| servers.iter().for_each(|server| kill(*server, Signal::KILL)));
    assert!(house.server_processes(POSTGRES).iter().any(|server| !killed.contains(server)), "none was started again");
}

#[test]
fn a_killed_mariadb_is_found_gone_and_comes_back_with_all_that_it_acknowledged() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    let killed = survives(&house, MARIADB, |servers| servers.iter().for_each(|server| kill(*server, Signal::KILL)));
    assert!(house.server_processes(MARIADB).iter().any(|server| !killed.contains(server)), "none was started again");
}

#[test]
fn a_postgres_of_which_every_process_was_killed_comes_back() {
    let Some(house) = House::with_server("local:postgres") else { return };
    survives(&house, POSTGRES, |servers| {
        let all: Vec<i32> = servers.iter().flat_map(|server| children(*server)).chain(servers.to_vec()).collect();
        all.into_iter().for_each(|process| kill(process, Signal::KILL));
    });
}

#[test]
fn a_postgres_that_recovers_because_one_backend_was_killed_is_waited_for() {
    let Some(house) = House::with_server("local:postgres") else { return };
    survives(&house, POSTGRES, |servers| {
        let busy = |process: &i32| {
            let line = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
            line.contains("[local]")
        };
        let backend = servers.iter().flat_map(|server| children(*server)).find(busy).expect("a session");
        kill(backend, Signal::KILL);
    });
}

#[test]
fn a_postgres_that_somebody_restarts_is_waited_for() {
    let Some(house) = House::with_server("local:postgres") else { return };
    survives(&house, POSTGRES, |servers| {
        for server in servers {
            let data = std::fs::read_link(format!("/proc/{server}/cwd")).expect("it runs in its data");
            let program = std::fs::read_link(format!("/proc/{server}/exe")).expect("its program");
            restart(&program, &data);
        }
    });
}

#[test]
fn sessions_wait_for_a_postgres_that_somebody_restarts_and_go_on_where_that_is_asked_for() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let run = "--set preset=desk --set customers=50 --set days=1 --set sessions=4 --set measure=6s --set warm_up=0s \
               --set on_outage=wait";
    let mut going = house.program.start(&house.line("run", &format!("{run} --verbose -o x.prony")));
    going.until("· measure", 1);
    std::thread::sleep(Duration::from_secs(1));
    restart_all(&house);
    let (code, told) = going.end();
    assert_eq!(code, Some(1), "transactions failed: {told}");
    house.holds_after(0);
    let waited = |event: &observation::Event| event.text.contains("its session was opened again after ");
    let events = house.events(0);
    assert!(events.iter().any(waited), "{events:#?}");
    let shown = house.program.json("show x.prony --json");
    let trial = &shown["trials"][0];
    let (failed, done) = (trial["failed"].as_u64(), trial["done"].as_u64());
    assert!((1..=4).contains(&failed.expect("a count")) && done > Some(100), "{trial:#}");
    assert_eq!(trial["interrupted"], false, "{trial:#}");
}

/// The processes that were there before the restart went on being watched, and used nothing.
#[test]
fn behind_a_restart_the_cpu_of_a_server_by_url_is_that_of_its_new_processes() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let found = std::fs::read_dir(house.program.path("cache")).expect("the cache").flatten();
    let folder = found.map(|entry| entry.path().join("server")).find(|path| path.is_dir()).expect("the bare server");
    let on = format!("postgres://prony@/postgres?host={}/run", folder.display());
    let sets = "--set preset=desk --set customers=20 --set days=1 --set sessions=1,2 --set measure=3s --set warm_up=0s \
                --set highest_rate=off --set on_outage=wait";
    let mut going = house.program.start(&format!("run brokerage --on '{on}' {sets} --verbose -o x.prony"));
    going.until("· measure", 1);
    std::thread::sleep(Duration::from_secs(1));
    restart_all(&house);
    let (_, told) = going.end();
    let shown = house.program.json("show x.prony --json");
    let last = shown["trials"].as_array().and_then(|trials| trials.last()).unwrap_or_else(|| panic!("{told}"));
    let each = &last["server"]["per_transaction"];
    assert!(each["cpu_ms"].as_f64().is_some_and(|ms| ms > 0.005) && each["bytes_written"] != 0, "{each:#}");
}

fn restart_all(house: &House) {
    for server in house.server_processes(POSTGRES) {
        let data = std::fs::read_link(format!("/proc/{server}/cwd")).expect("it runs in its data");
        let program = std::fs::read_link(format!("/proc/{server}/exe")).expect("its program");
        restart(&program, &data);
    }
}

/// Ends it and starts it again as it was, as an administrator would: by its owner.
fn restart(program: &Path, data: &Path) {
    use std::os::unix::fs::MetadataExt as _;
    use std::os::unix::process::CommandExt as _;
    let owner = std::fs::metadata(data).expect("its data");
    let mut command = Command::new(program.with_file_name("pg_ctl"));
    command.arg("-D").arg(data).args(["-m", "fast", "-w", "-l", "/dev/null", "restart"]);
    if rustix::process::geteuid().is_root() {
        command.uid(owner.uid()).gid(owner.gid());
    }
    // Whoever comes first may start it; that this one finds it running already is no error here.
    let _ = command.current_dir("/").output().expect("pg_ctl runs");
}

fn kill(process: i32, signal: Signal) {
    // One of several may have ended with another.
    let _ = kill_process(Pid::from_raw(process).expect("a process"), signal);
}

fn children(parent: i32) -> Vec<i32> {
    let found = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    found.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// The processes of the server that holds the data set; `lose` makes the run lose it.
fn survives(house: &House, pid_file: &str, lose: impl FnOnce(&[i32])) -> Vec<i32> {
    let mut going = house.program.start(&house.line("run", &format!("{LONG} --verbose --html x.html -o x.prony")));
    going.until("· measure", 1);
    std::thread::sleep(Duration::from_secs(1));
    let servers = house.server_processes(pid_file);
    assert!(!servers.is_empty(), "no server keeps its number in {pid_file}");
    lose(&servers);
    let (code, told) = going.end();
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("is gone") || told.contains("went away"), "{told}");
    assert!(told.contains("after the outage: all ") && told.contains("checks of the data hold"), "{told}");
    assert!(told.contains("after the outage: ledger: ") && told.contains("orders are as acknowledged"), "{told}");
    let checked =
        house.program.json(&house.line("db check", "--set preset=desk --set customers=50 --set days=1 --json"));
    assert_eq!(checked["datasets"][0]["passed"], true, "{checked:#}");
    let shown = house.program.json("show x.prony --json");
    let checks = shown["checks"].as_array().expect("a list");
    assert!(checks.iter().all(|check| check["result"] == "passed" && check["when"] == "after an outage"), "{shown:#}");
    assert!(checks.iter().any(|check| check["kind"] == "ledger") && checks.len() > 5, "{shown:#}");
    assert_eq!((&shown["findings"][0]["kind"], &shown["findings"][0]["recovered"]), (&"outage".into(), &true.into()));
    let page = std::fs::read_to_string(house.program.path("x.html")).expect("a page");
    assert!(page.contains("the server was lost, and it can be asked again"), "the page does not say so");
    let ledger = house.program.run("db check --ledger x.prony");
    assert_eq!(ledger.code, Some(0), "{ledger}");
    assert!(ledger.stdout.contains("orders are as acknowledged"), "{ledger}");
    servers
}

/// Takes the newest orders away from the data set of a run, as a disk that lies about syncs would.
fn lose_orders(house: &House) {
    let scale = Scale { preset: Preset::Desk, customers: 50, days: 1 };
    let profiling = Profiling { on: true, pages: None };
    let cache_dir = house.program.path("cache");
    let dataset = Some(seeded(scale, 1));
    let options = OpenOptions { cache_dir, dataset, settings: Vec::new(), profiling, stop: Default::default() };
    let database = database::open(&DatabaseSpec::new(Engine::Postgres, At::Local), &options).expect("the server runs");
    let sql = "SET session_replication_role = replica; DELETE FROM trade WHERE id > (SELECT MAX(id) - 200 FROM trade)";
    let mut session = database.session(&Texts::none(Engine::Postgres), &Sessions::default()).expect("a session");
    session.script(sql).expect("it may");
}

#[test]
fn a_loss_is_found_kept_and_told_everywhere_and_outlasts_the_run_that_goes_on() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let short = "--set preset=desk --set customers=50 --set days=1 --set sessions=4 --set measure=5s --set warm_up=0s";
    let program = &house.program;
    let mut going = program.start(&house.line("run", &format!("{short} --verbose --html x.html -o x.prony")));
    going.until("· measure", 1);
    std::thread::sleep(Duration::from_secs(1));
    let servers = house.server_processes(POSTGRES);
    lose_orders(&house);
    servers.iter().for_each(|server| kill(*server, Signal::KILL));
    let (code, told) = going.end();
    assert_eq!(code, Some(1), "what was lost decides the exit code\n{told}");
    assert!(told.contains("missing, the first is trade"), "{told}");
    let lost = |shown: &serde_json::Value| {
        let first = &shown["findings"][0];
        assert_eq!((&first["kind"], &first["trial"]), (&"damage".into(), &0.into()), "{shown:#}");
        let told = |check: &serde_json::Value| check["kind"] == "ledger" && check["result"] == "failed";
        assert!(shown["checks"].as_array().is_some_and(|checks| checks.iter().any(told)), "{shown:#}");
        assert!(
            shown["answer"][0].as_str().is_some_and(|text| text.starts_with("Data is damaged or lost: ")),
            "{shown:#}"
        );
    };
    lost(&program.json("show x.prony --json"));
    assert!(program.fine("show x.prony").starts_with("Data is damaged or lost: "));
    program.fine("report x.prony -o y.html");
    for page in ["x.html", "y.html"] {
        let page = std::fs::read_to_string(program.path(page)).expect("a page");
        assert!(page.contains("Data is damaged or lost: "), "the page does not say so");
    }
    assert!(house.events(0).iter().any(|event| event.kind == EventKind::Damage && event.text.contains("missing")));
    let ledger = program.run("db check --ledger x.prony");
    assert_eq!(ledger.code, Some(1), "{ledger}");
    assert!(ledger.stdout.contains("BROKEN  ledger: ") && ledger.stdout.contains("are missing"), "{ledger}");
    let again = program.run("run --resume x.prony --json");
    assert_eq!(again.code, Some(1), "{again}");
    lost(&again.json());
    assert_eq!(program.run("run --resume x.prony").code, Some(2), "there is nothing to go on with");
}

#[test]
fn a_sqlite_file_that_vanishes_in_mid_run_or_between_trials_is_named_and_not_made_anew() {
    for check in ["true", "false"] {
        let house = House::new("sqlite:own.db");
        let sets =
            "--set preset=desk --set customers=50 --set days=1 --set sessions=2 --set measure=1s --set warm_up=0s";
        let line = house.line("run", &format!("{sets} --set replicates=2 --set check={check} --verbose -o x.prony"));
        let mut going = house.program.start(&line);
        going.until("· measure", 1);
        for file in ["own.db", "own.db-wal", "own.db-shm"] {
            std::fs::remove_file(house.program.path(file)).expect("it is there");
        }
        let (code, told) = going.end();
        assert_eq!(code, Some(2), "check={check}\n{told}");
        assert!(told.contains("own.db is not there: it vanished"), "check={check}\n{told}");
        assert!(!house.program.path("own.db").exists(), "check={check}: an empty file was made");
    }
}

#[test]
fn commits_that_a_power_cut_may_lose_are_a_caveat_and_so_is_an_index_of_somebody_else() {
    let house = House::new("sqlite:own.db");
    let sets =
        "--set preset=desk --set customers=50 --set days=1 --set sessions=2 --set measure=500ms --set warm_up=0s";
    let others = |more: &str| {
        let run = house.program.json(&house.line("run", &format!("{sets} {more} --json --quiet")));
        let caveats = run["caveats"].as_array().expect("caveats").clone();
        let other = caveats.into_iter().filter(|caveat| caveat["kind"] == "other");
        other.map(|caveat| caveat["text"].as_str().expect("a text").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(others(""), [""; 0]);
    let told = others("--set server=synchronous=normal");
    assert!(
        told.len() == 1
            && told[0]
                .starts_with("synchronous=NORMAL: a power cut may lose acknowledged commits, and commits do not wait"),
        "{told:?}"
    );
    script(&house, "CREATE INDEX mine ON trade (quantity)");
    let told = others("");
    assert!(told.len() == 1 && told[0].starts_with("index trade(quantity) was not made by the fill"), "{told:?}");
}

/// What somebody else does to the file of a house.
fn script(house: &House, sql: &str) {
    let cache_dir = house.program.path("cache");
    let profiling = Profiling { on: false, pages: None };
    let options = OpenOptions { cache_dir, dataset: None, settings: Vec::new(), profiling, stop: Default::default() };
    let at = At::File(house.program.path("own.db").display().to_string());
    let database = database::open(&DatabaseSpec::new(Engine::Sqlite, at), &options).expect("it is there");
    let session = database.session(&Texts::none(Engine::Sqlite), &Sessions::default());
    session.expect("a session").script(sql).expect("it may");
}

#[test]
fn what_others_changed_is_listed_by_a_check_and_has_not_passed() {
    let house = House::new("sqlite:own.db");
    house.program.fine(&house.line("db fill", "--set preset=desk --set customers=50 --set days=1"));
    script(&house, "CREATE INDEX mine ON trade (quantity)");
    let told = house.program.run(&house.line("db check", ""));
    assert_eq!(told.code, Some(1), "{told}");
    assert!(told.stdout.contains("BROKEN  additions: nothing was added"), "{told}");
    assert!(told.stdout.contains("index trade(quantity) was not made by the fill"), "{told}");
    script(&house, "CREATE VIEW theirs AS SELECT id FROM trade");
    let told = house.program.run(&house.line("db check", ""));
    assert_eq!(told.code, Some(1), "{told}");
    assert!(told.stdout.contains("BROKEN  not checked"), "{told}");
    assert!(told.stdout.contains("the view theirs was not made by Prony; it was left untouched"), "{told}");
}
