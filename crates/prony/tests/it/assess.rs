//! Assessments of private servers under a load of the test's own.

use crate::house::House;
use crate::program::Program;
use crate::schema::hold;
use crate::tier::open;
use database::{Database, Session};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use study::Engine;

const WRITERS: usize = 3;

/// What a command line says of a server while so many sessions carry out a script again and again.
fn beside(house: &House, database: &Arc<dyn Database>, script: &str, line: &str) -> Value {
    let stop = AtomicBool::new(false);
    let session = || {
        let mut session: Box<dyn Session> = database.outside().expect("a session");
        while !stop.load(Ordering::Relaxed) {
            session.script(script).expect("it may");
        }
    };
    let value = std::thread::scope(|scope| {
        (0..WRITERS).for_each(|_| drop(scope.spawn(session)));
        let ran = house.program.run(line);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(ran.code, Some(0), "{line}\n{ran}");
        ran.json()
    });
    hold(&value);
    value
}

fn figure<'a>(value: &'a Value, what: &str) -> &'a Value {
    let all = value["prediction"].as_array().expect("figures");
    all.iter().find(|one| one["what"] == what).unwrap_or_else(|| panic!("no {what}: {value:#}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// What holds of every assessment of a load that writes.
fn holds(value: &Value) {
    let [low, then, high] = ["low", "value", "high"].map(|end| number(&figure(value, "throughput")[end]));
    let now = number(&figure(value, "throughput")["now"]);
    assert!(0.0 < low && low <= then && then <= high && high <= now * 1.001, "{value:#}");
    assert!(number(&figure(value, "sessions to compensate")["value"]) >= number(&value["mix"]["sessions"]) - 1e-6);
    let says = value["answer"].as_str().expect("an answer");
    assert!(says.starts_with("At 10 km a synchronous mirror") && says.contains("to compensate"), "{says}");
}

fn table<'a>(value: &'a Value, name: &str) -> &'a Value {
    let all = value["mix"]["tables"].as_array().expect("tables");
    &all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name}: {value:#}"))["rows"]
}

fn lacks(value: &Value, what: &str) -> bool {
    value["lacking"].as_array().expect("a list").iter().filter_map(Value::as_str).any(|one| one.contains(what))
}

#[test]
fn a_postgres_under_load_is_assessed_and_who_may_see_less_is_told_the_rest() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let database = open(&house, Engine::Postgres, &[("shared_preload_libraries", "pg_stat_statements")]);
    let folder = database.private().expect("it is private").socket_folder();
    let url = |user: &str| format!("'postgres://{user}@/postgres?host={}'", folder.display());
    let mut session = database.outside().expect("a session");
    session
        .script(
            "CREATE TABLE account (id int PRIMARY KEY, sum int); INSERT INTO account SELECT n, 0 FROM generate_series(1, 1000) n; \
             CREATE TABLE notes (body text); CREATE UNLOGGED TABLE scratch (a int); CREATE ROLE looker LOGIN; \
             ALTER ROLE looker SET synchronous_commit = off; \
             CREATE EXTENSION IF NOT EXISTS pg_stat_statements",
        )
        .expect("it may");
    let work = "BEGIN; SELECT sum FROM account WHERE id <= 5 FOR UPDATE SKIP LOCKED; \
        UPDATE account SET sum = sum + 1 WHERE id = 6 + (random() * 900)::int; INSERT INTO notes VALUES ('x'); COMMIT";
    let line = |user: &str, rest: &str| format!("assess {} --window 2s --distance 10km --json {rest}", url(user));
    let value = beside(&house, &database, work, &line("prony", ""));
    holds(&value);
    assert_eq!((&value["pair"]["kind"], &value["server"]["engine"]), (&"commit".into(), &"postgres".into()));
    assert!(!lacks(&value, "GRANT"), "a superuser has every right: {value:#}");
    let (updated, inserted) =
        (number(&table(&value, "public.account")["updated"]), number(&table(&value, "public.notes")["inserted"]));
    assert!(updated > 0.0 && (updated / inserted - 1.0).abs() < 0.2, "{value:#}");
    let mix = &value["mix"];
    assert!((number(&mix["sessions"]) - WRITERS as f64).abs() < 0.5, "{mix:#}");
    // One in two of these is a transaction that writes; the other is the watcher's, which is taken off.
    assert!((number(&mix["written_per_s"]) / number(&mix["commits_per_s"]) - 1.0).abs() < 0.2, "{mix:#}");
    let named = |list: &Value, name: &str| list.to_string().contains(name);
    assert!(named(&value["obstacles"], "public.notes") && named(&value["left_out"], "public.scratch"), "{value:#}");
    assert!(named(&mix["classes"], "read-for-update"), "{mix:#}");
    assert!(named(&value["changes"], "read without a lock"), "{value:#}");

    let value = beside(&house, &database, work, &line("looker", "--kind row --mirror-flush 1ms -o kept.json"));
    holds(&value);
    assert_eq!((&value["pair"]["flush_from"], &value["mix"]["callers"]), (&"given".into(), &serde_json::json!([])));
    assert!(number(&value["mix"]["hidden"]) >= 2.0 && lacks(&value, "GRANT pg_monitor TO looker"), "{value:#}");
    assert!(lacks(&value, "GRANT pg_read_server_files TO looker"), "{value:#}");
    assert!(lacks(&value, "synchronous_commit is off here"), "{value:#}");
    // Each changed row is a round trip of more than 100 us, and so are both phases of the commit.
    assert!(number(&figure(&value, "added to a commit that writes")["value"]) > 0.4 + 2.0, "{value:#}");
    let kept = std::fs::read_to_string(house.program.path("kept.json")).expect("it was written");
    assert_eq!(serde_json::from_str::<Value>(&kept).expect("JSON"), value);
    let again = house.program.refused(&line("looker", "-o kept.json"));
    assert!(again.contains("existing files are kept as they are"), "{again}");
    let value = beside(&house, &database, work, &line("prony", "--mirror-on same-host --mirror-dir ."));
    let [low, then, high] = ["low", "value", "high"].map(|end| number(&figure(&value, "throughput")[end]));
    let now = number(&figure(&value, "throughput")["now"]);
    assert!(0.0 < low && low <= then && then <= high && high <= now && then < 0.95 * now, "{value:#}");
    assert_eq!((&value["pair"]["home"], &value["pair"]["flush_from"]), (&"same-host".into(), &"timed".into()));
    let left = std::fs::read_dir(house.program.dir()).expect("a folder").flatten();
    assert!(!left.into_iter().any(|one| one.file_name().to_string_lossy().contains("flush")), "it takes its file away");
    let refused = house.program.refused(&line("prony", "--mirror-on same-host --kind row"));
    assert!(refused.contains("a mirror of the kind `row`") && refused.contains("--kind commit"), "{refused}");
    let refused = house.program.refused(&line("prony", "--mirror-dir gone"));
    assert!(refused.contains("timing flushes in `gone` (--mirror-dir)"), "{refused}");
    let text = house.program.fine(&format!("assess {} --window 2s", url("looker")));
    let wide = text.lines().filter(|line| line.chars().count() > 80).count();
    assert!(text.starts_with("At 10 km") && text.contains("Not seen, and what would show it") && wide == 0, "{text}");
}

#[test]
fn a_mariadb_is_assessed_with_what_it_counts_and_told_how_to_count_more() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    let made = "CREATE DATABASE shop; USE shop; CREATE TABLE shop.account (id int PRIMARY KEY, sum int); \
        INSERT INTO shop.account SELECT seq, 0 FROM seq_1_to_1000; CREATE TABLE shop.notes (body text) ENGINE=MyISAM; \
        CREATE USER looker@localhost";
    let work = "BEGIN; UPDATE shop.account SET sum = sum + 1 WHERE id = 1 + floor(rand() * 900); \
        UPDATE shop.account SET sum = sum - 1 WHERE id = 1 + floor(rand() * 900); COMMIT";
    let run = |settings: &[(&str, &str)], user: &str, made: &str| {
        let database = open(&house, Engine::Mariadb, settings);
        database.outside().expect("a session").script(made).expect("it may");
        let socket = database.private().expect("it is private").socket_folder().join("socket");
        beside(
            &house,
            &database,
            work,
            &format!("assess 'mysql://{user}@/?socket={}' --window 2s --json", socket.display()),
        )
    };
    let value = run(&[], "root", made);
    holds(&value);
    assert_eq!((&value["pair"]["kind"], &value["pair"]["flush_from"]), (&"write-set".into(), &"none".into()));
    let mix = &value["mix"];
    assert!((number(&mix["written_per_s"]) / number(&mix["commits_per_s"]) - 1.0).abs() < 0.2, "{mix:#}");
    assert!((number(&mix["sessions"]) - WRITERS as f64).abs() < 0.5, "{mix:#}");
    assert!(lacks(&value, "performance_schema = ON") && lacks(&value, "SET GLOBAL userstat = 1"), "{value:#}");
    assert!(value["obstacles"].to_string().contains("shop.notes"), "{value:#}");

    let value = run(&[("performance_schema", "ON"), ("userstat", "ON")], "root", "DO 1");
    holds(&value);
    assert!(
        number(&table(&value, "shop.account")["updated"]) > 0.0 && !lacks(&value, "performance_schema"),
        "{value:#}"
    );

    let value = run(&[], "looker", "DO 1");
    assert!(lacks(&value, "GRANT PROCESS ON *.* TO 'looker'@'localhost'"), "{value:#}");
    assert!(number(&value["mix"]["written_per_s"]) > 0.0, "{value:#}");
}

#[test]
fn wrong_options_of_an_assessment_are_told_before_anything_is_asked() {
    let program = Program::new();
    let url = "postgres://me@127.0.0.1:1/db";
    for (rest, told) in [
        ("--window 1s", "a time of 2 s at the least, got `1s`"),
        ("--window 10", "`10` has no unit"),
        ("--distance 10", "kilometres of fibre (`10km`), or a time one way (`50us`), got `10`"),
        ("--distance -1km", "kilometres of 0 or more, got `-1km`"),
        ("--distance 99999km", "40000km or 200 ms at the most"),
        ("--mirror-flush 0s", "reading `--mirror-flush`: a time above 0 s"),
        ("--kind block", "possible values: commit, write-set, row"),
        ("", "no connection"),
    ] {
        // A distance that begins with a sign is no option.
        let said = program.refused(&format!("assess {url} {}", rest.replace("--distance ", "--distance=")));
        assert!(said.contains(told), "{rest}\n{said}");
    }
    let said = program.refused("assess sqlite:x.db");
    assert!(said.contains("a mirror is one of a PostgreSQL or a MariaDB"), "{said}");
}
