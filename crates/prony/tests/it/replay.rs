//! What clients say to a server, captured and sent again.

use crate::house::House;
use crate::program::Program;
use crate::schema::hold;
use crate::tier::open;
use database::{Database, OpenOptions, Session};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::{At, DatabaseSpec, Engine};

const CHANGE: &str = "UPDATE shop.counters SET n = n + $1 WHERE id = $2";

/// A server with a table of counters.
struct Shop {
    database: Arc<dyn Database>,
    house: House,
}

impl Shop {
    fn new(on: &'static str, engine: Engine, settings: &[(&str, &str)]) -> Option<Shop> {
        let house = House::with_server(on)?;
        let database = open(&house, engine, settings);
        for sql in [
            "CREATE SCHEMA shop",
            "CREATE TABLE shop.counters (id int PRIMARY KEY, n int)",
            "INSERT INTO shop.counters VALUES (1, 0), (2, 0)",
        ] {
            database.outside().expect("a session").script(sql).expect("it may");
        }
        Some(Shop { database, house })
    }

    fn sockets(&self) -> PathBuf {
        self.database.private().expect("it is private").socket_folder()
    }

    fn counted(&self) -> i64 {
        let mut session = self.database.outside().expect("a session");
        let sum = session.one("SELECT CAST(sum(n) AS DECIMAL(20, 0)) FROM shop.counters").expect("it may");
        sum.and_then(|sum| sum.number()).expect("a number") as i64
    }

    fn works(&self, id: u32, stop: &AtomicBool) {
        let mut session: Box<dyn Session> = self.database.outside().expect("a session");
        let change = format!("UPDATE shop.counters SET n = n + 1 WHERE id = {id}");
        // Of a PostgreSQL that is no word: a session stays in its database.
        let _ = session.script("USE shop");
        while !stop.load(Ordering::Relaxed) {
            for sql in ["BEGIN", "SELECT 'it''s', n FROM shop.counters", &change, "COMMIT"] {
                session.script(sql).expect("it may");
            }
            std::thread::sleep(Duration::from_millis(3));
        }
    }

    /// Captures what two clients say meanwhile, as this line asks for it.
    fn captured(&self, line: &str) -> Value {
        let stop = AtomicBool::new(false);
        let value = std::thread::scope(|scope| {
            for id in 1..=2 {
                let stop = &stop;
                scope.spawn(move || self.works(id, stop));
            }
            let ran = self.house.program.run(line);
            stop.store(true, Ordering::Relaxed);
            assert_eq!(ran.code, Some(0), "{line}\n{ran}");
            ran.json()
        });
        hold(&value);
        value
    }

    /// Sends the trace again; how much was counted by that for each change that was heard, none of which failed.
    fn again(&self, url: &str, rest: &str, heard: u64) -> f64 {
        let before = self.counted();
        let line = format!(
            "run replay --on {url} --set trace=a.trace --set protocol=simple --set sessions=2 --set measure=1s"
        );
        let ran = self.house.program.json(&format!("{line} --json --quiet {rest}"));
        assert_eq!(ran["trials"][0]["failed"], 0, "{ran:#}");
        (self.counted() - before) as f64 / heard as f64
    }
}

/// How often statements with this in them were heard.
fn heard(value: &Value, part: &str) -> u64 {
    let mix = value["mix"].as_array().expect("a list");
    let of = |one: &&Value| one["statement"].as_str().is_some_and(|text| text.contains(part));
    mix.iter().filter(of).filter_map(|one| one["count"].as_u64()).sum()
}

#[test]
fn what_clients_of_a_postgres_say_is_captured_of_its_log_and_done_again() {
    let settings = [("log_min_duration_statement", "0"), ("log_line_prefix", "%m [%p] ")];
    let Some(shop) = Shop::new("local:postgres", Engine::Postgres, &settings) else { return };
    let log = shop.sockets().with_file_name("log");
    let url = format!("'postgres://prony@/postgres?host={}'", shop.sockets().display());
    let value = shop.captured(&format!("capture {url} --window 1s --log {} -o a.trace --json", log.display()));
    let changes = heard(&value, CHANGE);
    assert!(changes > 20 && value["sampled"] == false && value["sessions"] == 2, "{value:#}");
    // The window may begin between the two, in each of the sessions.
    let read = heard(&value, "SELECT $1, n FROM shop.counters") + 2;
    assert!(read >= changes && heard(&value, "COMMIT") > 20, "{value:#}");
    assert!(value["again"].as_str().is_some_and(|again| again.contains("protocol=simple")), "{value:#}");
    let mode = std::fs::metadata(shop.house.program.path("a.trace")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "values of clients are nobody else's business");
    // A slower machine is late, and what is late when the window ends is left out.
    let once = shop.again(&url, "", changes);
    assert!((0.5..=1.01).contains(&once), "{once} of the changes");
    let faster = shop.again(&url, "--set speed=200", changes);
    assert!(faster > 1.2 * once && faster < 2.1, "{faster} beside {once}");
    let refused = shop.house.program.refused(&format!("capture {url} -o a.trace"));
    assert!(refused.contains("a file is there"), "{refused}");
}

#[test]
fn without_a_log_the_list_of_sessions_is_looked_at_and_what_is_missing_is_told() {
    let Some(shop) = Shop::new("local:postgres", Engine::Postgres, &[]) else { return };
    let url = format!("'postgres://prony@/postgres?host={}'", shop.sockets().display());
    let value = shop.captured(&format!("capture {url} --window 1s -o a.trace --json"));
    let lacks = |part: &str| value["lacking"].to_string().contains(part);
    assert!(value["sampled"] == true && lacks("log_min_duration_statement = 0"), "{value:#}");
    shop.database.outside().expect("a session").script("CREATE ROLE few LOGIN").expect("it may");
    let other = format!("'postgres://few@/postgres?host={}'", shop.sockets().display());
    let told = shop.house.program.refused(&format!("capture {other} --window 100ms -o b.trace"));
    assert!(told.contains("pg_read_all_stats") && !shop.house.program.path("b.trace").exists(), "{told}");
    assert!(!lacks("pg_read_all_stats"), "a superuser has it: {value:#}");
    assert!(heard(&value, "shop.counters") > 0 && heard(&value, "BEGIN") == 0, "{value:#}");
}

#[test]
fn who_may_not_read_the_log_is_told_the_right_that_lacks_and_hears_it_once_he_has_it() {
    let Some(mut shop) = Shop::new("local:postgres", Engine::Postgres, &[]) else { return };
    for (setting, value) in
        [("logging_collector", "on"), ("log_destination", "jsonlog"), ("log_min_duration_statement", "0")]
    {
        let sql = format!("ALTER SYSTEM SET {setting} = {value}");
        shop.database.outside().expect("a session").script(&sql).expect("it may");
    }
    // Another setting starts it anew.
    shop.database = open(&shop.house, Engine::Postgres, &[("shared_buffers", "2MB")]);
    let mut session = shop.database.outside().expect("a session");
    session.script("CREATE ROLE few LOGIN").expect("it may");
    let url = format!("'postgres://few@/postgres?host={}'", shop.sockets().display());
    let right = "GRANT EXECUTE ON FUNCTION pg_current_logfile(text), pg_stat_file(text), pg_read_binary_file(text, bigint, bigint) TO few";
    for more in ["SELECT 1", "GRANT EXECUTE ON FUNCTION pg_current_logfile(text) TO few"] {
        session.script(more).expect("it may");
        let told = shop.house.program.refused(&format!("capture {url} --window 100ms -o b.trace"));
        assert!(told.contains(right) && !told.contains("logging_collector"), "{told}");
    }
    session.script(right).expect("it may");
    let value = shop.captured(&format!("capture {url} --window 1s -o b.trace --json"));
    assert!(value["source"].as_str().is_some_and(|source| source.starts_with("the server's log")), "{value:#}");
    assert!(heard(&value, CHANGE) > 0, "{value:#}");
}

#[test]
fn what_clients_of_a_mariadb_say_is_captured_of_its_table_and_done_again() {
    let settings = [("log_output", "TABLE"), ("long_query_time", "0"), ("slow_query_log", "1")];
    let Some(shop) = Shop::new("local:mariadb", Engine::Mariadb, &settings) else { return };
    let url = format!("'mysql://root@/shop?socket={}'", shop.sockets().join("socket").display());
    let value = shop.captured(&format!("capture {url} --window 1s -o a.trace --json"));
    let changes = heard(&value, CHANGE);
    assert!(changes > 20 && value["sampled"] == false && value["sessions"] == 2, "{value:#}");
    let once = shop.again(&url, "", changes);
    assert!((0.5..=1.01).contains(&once), "{once} of the changes");
    // Who may not read the table is told the right, and not to switch on what is on.
    let few = "CREATE USER few@localhost; GRANT SELECT ON shop.* TO few@localhost";
    shop.database.outside().expect("a session").script(few).expect("it may");
    let told =
        shop.house.program.refused(&format!("capture {} --window 100ms -o b.trace", url.replace("root@", "few@")));
    for right in ["GRANT SELECT ON mysql.slow_log TO 'few'@'localhost'", "GRANT PROCESS ON *.* TO 'few'@'localhost'"] {
        assert!(told.contains(right) && !told.contains("SET GLOBAL"), "{told}");
    }
}

/// Clients that talk to a URL as long as they may; who loses the connection comes back.
fn talks(engine: Engine, url: &str, stop: &AtomicBool) {
    let options = || OpenOptions {
        cache_dir: PathBuf::new(),
        dataset: None,
        settings: Vec::new(),
        profiling: Default::default(),
        stop: Default::default(),
    };
    let spec = DatabaseSpec::new(engine, At::Url(url.to_owned()));
    while !stop.load(Ordering::Relaxed) {
        let session = database::open(&spec, &options()).and_then(|database| database.outside());
        let Ok(mut session) = session else { continue };
        let mut says = |sql: &str| session.script(sql).is_ok();
        while !stop.load(Ordering::Relaxed)
            && says("SELECT 'it''s', n FROM shop.counters")
            && says("UPDATE shop.counters SET n = n + 1 WHERE id = 2")
        {
            std::thread::sleep(Duration::from_millis(3));
        }
    }
}

#[test]
fn where_no_log_may_be_written_what_clients_say_is_heard_by_a_relay_and_done_again() {
    for (on, engine) in [("local:postgres", Engine::Postgres), ("local:mariadb", Engine::Mariadb)] {
        let Some(shop) = Shop::new(on, engine, &[]) else { return };
        let url = |sockets: PathBuf| match engine {
            Engine::Mariadb => format!("mysql://root@/shop?socket={}", sockets.join("socket").display()),
            _ => format!("postgres://prony@/postgres?host={}", sockets.display()),
        };
        let relay = shop.house.program.path("r");
        std::fs::create_dir(&relay).expect("a folder");
        let socket = relay.join(if engine == Engine::Mariadb { "socket" } else { ".s.PGSQL.5432" });
        let (there, through) = (url(shop.sockets()), url(relay));
        let line = format!("capture '{there}' --listen {} --window 2s -o a.trace --json", socket.display());
        let stop = AtomicBool::new(false);
        let ran = std::thread::scope(|scope| {
            (0..2).for_each(|_| drop(scope.spawn(|| talks(engine, &through, &stop))));
            let ran = shop.house.program.run(&line);
            stop.store(true, Ordering::Relaxed);
            ran
        });
        assert_eq!(ran.code, Some(0), "{line}\n{ran}");
        let value = ran.json();
        hold(&value);
        let changes = heard(&value, CHANGE);
        assert!(changes > 20 && value["sampled"] == false && value["sessions"].as_u64() >= Some(2), "{value:#}");
        assert!(heard(&value, "SELECT $1, n FROM shop.counters") >= changes, "{value:#}");
        assert!(value["source"].as_str().is_some_and(|source| source.starts_with("the relay at")), "{value:#}");
        let server = value["server"].as_str().unwrap_or_default();
        assert!(server.starts_with(if engine == Engine::Mariadb { "MariaDB " } else { "PostgreSQL " }), "{server}");
        // Two seconds of a trace in the one that is measured.
        let once = shop.again(&format!("'{there}'"), "--set speed=200", changes);
        assert!((0.5..=1.01).contains(&once), "{once} of the changes");
        let told = shop.house.program.refused(&format!("capture '{there}' --listen nowhere -o b.trace"));
        assert!(told.contains("reading `--listen`: `nowhere` is no address"), "{told}");
    }
}

#[test]
fn a_trace_that_is_none_or_has_fewer_sessions_is_refused_with_what_to_do() {
    let program = Program::new();
    program.write("bad.trace", "SELECT 1");
    program.write("one.trace", "prony-trace 1\t1000000\tPostgreSQL\n5\t0\t-\ttext\tSELECT 1\n");
    for (sets, told) in [
        ("", "add `--set trace=FILE`"),
        ("--set trace=bad.trace", "the first line is not that of a trace"),
        ("--set trace=gone.trace", "reading the trace `gone.trace`: No such file"),
        ("--set trace=one.trace --set sessions=2", "take 1 or fewer"),
        ("--set trace=one.trace --set rate=5/s", "the workload says itself when each transaction is due"),
    ] {
        let refused = program.refused(&format!("run replay --on sqlite:x.db {sets}"));
        assert!(refused.contains(told) && !refused.contains("tpcb-like"), "{sets}: {refused}");
    }
}
