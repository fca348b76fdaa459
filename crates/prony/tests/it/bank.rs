//! The studies of a bank from the command line, on every kind of database: small, but whole.

use crate::house::House;
use crate::program::Program;
use crate::schema::hold;
use database::OpenOptions;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::time::Duration;
use study::{At, DatabaseSpec, Engine};

/// A bank that is filled in a moment.
const SMALL: &str = "--set accounts=1000";

/// A short day, on which nobody rests.
const DAY: &str = "--set users=off --set think=0s --set sessions=4 --set measure=1s --set warm_up=0s";

/// The four jobs of a night that does not begin anew.
const NIGHT: &str = "--set sessions=4 --set state=left --set replicates=1";

fn run(house: &House, study: &str, sets: &str) -> Value {
    let line = format!("run {study} --on {} {SMALL} {sets} --json --quiet -o x.prony", house.on);
    let run = house.program.json(&line);
    hold(&run);
    let [trial] = run["trials"].as_array().expect("trials").as_slice() else { panic!("one: {run:#}") };
    trial.clone()
}

fn an_hour(trial: &Value, what: &str) -> f64 {
    let given = trial["yields"].as_array().and_then(|yields| yields.iter().find(|given| given["what"] == what));
    given.and_then(|given| given["per_h"].as_f64()).unwrap_or_else(|| panic!("{what} of {trial:#}"))
}

fn posts(house: &House) {
    let trial = run(house, "bank-day", DAY);
    assert!(an_hour(&trial, "postings") > 0.0, "{trial:#}");
    assert_eq!(trial["failed"], 0, "{trial:#}");
    house.holds_after(0);
}

fn balances(house: &House) {
    std::fs::remove_file(house.program.path("x.prony")).expect("the run of the day");
    let trial =
        run(house, "bank-night", &format!("{NIGHT} --only 'accounts by jobs' --set deadline=1h --allow-inconclusive"));
    assert!(an_hour(&trial, "accounts balanced") > 0.0, "{trial:#}");
    let events = house.events(0);
    let told = |text: &str| events.iter().any(|event| event.text.contains(text));
    assert!(told("checks of the data hold") && told("1000 accounts are settled, as was acknowledged"), "{events:#?}");
}

#[test]
fn a_bank_posts_by_day_and_balances_by_night_on_the_embedded_database() {
    let house = House::new("sqlite:");
    posts(&house);
    balances(&house);
}

#[test]
fn a_bank_posts_by_day_and_balances_by_night_on_a_private_postgres() {
    let Some(house) = House::with_server("local:postgres") else { return };
    posts(&house);
    balances(&house);
}

#[test]
fn a_bank_posts_by_day_and_balances_by_night_on_a_private_mariadb() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    posts(&house);
    balances(&house);
}

#[test]
fn a_ledger_and_a_cut_off_that_are_deleted_after_a_night_are_missed_by_its_run() {
    let house = House::new("sqlite:own.db");
    run(&house, "bank-night", &format!("{NIGHT} --only 'accounts by jobs'"));
    let told = house.program.fine("db check --ledger x.prony");
    assert!(told.contains("closed: 2 branches are totalled and the period is cut off, as was acknowledged"), "{told}");
    let at = At::File(house.program.path("own.db").display().to_string());
    let database = database::open(&DatabaseSpec::new(Engine::Sqlite, at), &looking(&house)).expect("a file");
    database.outside().expect("a session").script("DELETE FROM cut_off; DELETE FROM ledger").expect("they go");
    let told = house.program.run("db check --ledger x.prony");
    let missed = "BROKEN  closed: ";
    assert!(told.code == Some(1) && told.raw.contains(missed) && told.raw.matches("BROKEN").count() == 1, "{told}");
}

/// A day alone and a day beside its night, at both levels at which a server gives conflicts up: what was acknowledged is there.
/// Returns how often something was tried again.
fn kept_apart(house: &House) -> f64 {
    let runs = ["repeatable-read", "serializable"].into_iter().flat_map(|isolation| {
        let how = format!("--set isolation={isolation} --set tries=1000 --set measure=1s --set warm_up=0s");
        let beside = "--only 'the day and the night' --set jobs=2";
        [("bank-day", format!("{DAY} {how}")), ("bank-overrun", format!("{beside} {how}"))]
    });
    let retried = runs.map(|(study, sets)| {
        let _ = std::fs::remove_file(house.program.path("x.prony"));
        let line = format!("run {study} --on {} {SMALL} {sets} --json --quiet -o x.prony", house.on);
        let run = house.program.json(&line);
        let trials = run["trials"].as_array().expect("trials");
        assert!(
            trials.iter().all(|stream| stream["failed"] == 0 && stream["done"].as_u64() > Some(0)),
            "{sets}: {run:#}"
        );
        house.holds_after(0);
        trials.iter().filter_map(|stream| stream["retried"].as_f64()).sum::<f64>()
    });
    retried.sum()
}

#[test]
fn conflicts_of_a_day_and_its_night_are_tried_again_on_a_private_postgres_and_nothing_is_lost() {
    let Some(house) = House::with_server("local:postgres") else { return };
    assert!(kept_apart(&house) > 0.0, "postings that meet on hot accounts are in conflict");
}

#[test]
fn conflicts_of_a_day_and_its_night_are_tried_again_on_a_private_mariadb_and_nothing_is_lost() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    // Its sessions wait where others are refused, so that there may be none.
    kept_apart(&house);
}

#[test]
fn a_night_that_is_killed_again_and_again_settles_every_account_once() {
    let house = House::new("sqlite:");
    house.program.fine(&format!("db fill bank-night --on sqlite: {SMALL}"));
    let line = format!("run bank-night --on sqlite: {SMALL} {NIGHT} --only 'accounts by jobs' --set commit_every=1 -o");
    for kill in 0..3 {
        let mut night = house.program.start(&format!("{line} {kill}.prony"));
        night.until("note: data set", 1);
        std::thread::sleep(Duration::from_millis(80 * (kill + 1)));
        if night.runs() {
            night.signal(Signal::KILL);
        }
        night.end();
        house.program.fine(&format!("db check bank-night --on sqlite: {SMALL}"));
    }
    house.program.fine(&format!("{line} last.prony"));
    let last = house.program.json("show last.prony --json");
    let trial = &last["trials"][0];
    // The data says how many accounts were left for it.
    let events = trial["events"].as_array().expect("events").iter().filter_map(|event| event["text"].as_str());
    let mut settled =
        events.filter_map(|text| text.split_once(" accounts are settled, as was acknowledged")?.0.rsplit(' ').next());
    let left: f64 = settled.next_back().expect("how many it settled").parse().expect("a number");
    let given = an_hour(trial, "accounts balanced") * trial["elapsed_s"].as_f64().expect("a time") / 3_600.0;
    assert!((given - left).abs() < 1e-6 * left.max(1.0), "{given} of {left}: {trial:#}");
    let checked = house.program.json(&format!("db check bank-night --on sqlite: {SMALL} --json"));
    assert_eq!(checked["datasets"][0]["passed"], true, "{checked:#}");
}

#[test]
fn a_night_whose_server_is_killed_is_gone_on_with_on_a_private_postgres() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let line = |file: u32| {
        let only = "--only 'accounts by jobs' --set commit_every=1";
        format!("run bank-night --on {} {SMALL} {NIGHT} {only} --verbose -o {file}.prony", house.on)
    };
    for kill in 0..2 {
        let mut night = house.program.start(&line(kill));
        night.until("· measure", 1);
        std::thread::sleep(Duration::from_millis(150 * u64::from(kill) + 50));
        house.server_processes("postmaster.pid").iter().for_each(|server| {
            let _ = kill_process(Pid::from_raw(*server).expect("a process"), Signal::KILL);
        });
        night.end();
    }
    house.program.fine(&line(2));
    let shown = house.program.json("show 2.prony --json");
    assert_eq!((&shown["trials"][0]["failed"], &shown["trials"][0]["censored"]), (&0.into(), &0.into()), "{shown:#}");
    let checked = house.program.json(&format!("db check bank-night --on {} {SMALL} --json", house.on));
    assert_eq!(checked["datasets"][0]["passed"], true, "{checked:#}");
}

#[test]
fn a_run_says_first_what_jobs_may_take_and_that_a_model_takes_simulated_time() {
    let program = Program::new();
    let first = |line: &str| {
        let ran = program.run(&format!("{line} -o {}.prony", line.len()));
        assert_eq!(ran.code, Some(0), "{ran}");
        let told = ran.stderr.lines().find(|told| told.contains("; seed ")).expect("the first lines").to_owned();
        (told, ran.stdout.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (told, _) = first(
        "run bank-night --on model:small-server --set accounts=1000 --set sessions=1 --set replicates=1 --set measure=1h",
    );
    assert!(told.contains("plus the time of 3 jobs, 60 min at most each of simulated time; seed "), "{told}");
    let (told, said) =
        first("run bank-day --on model:small-server --set users=4 --set sessions=2 --set measure=3s --set warm_up=0s");
    assert!(told.contains(" of simulated time; seed ") && !told.contains("job"), "{told}");
    let (_, request) = said.split_once("request time: ").unwrap_or_else(|| panic!("{said}"));
    assert!(request.contains("requests of a transaction take ") && request.contains("% of its latency"), "{said}");
    let (told, _) = first("run quick --on scripted:service=100us --set measure=100ms --set warm_up=0s");
    assert!(!told.contains("simulated time") && !told.contains("job"), "{told}");
}

/// The options of a look at what a house holds.
fn looking(house: &House) -> OpenOptions {
    let (cache_dir, profiling) = (house.program.path("cache"), Default::default());
    OpenOptions { cache_dir, dataset: None, settings: Vec::new(), profiling, stop: Default::default() }
}

/// Has an account own a cent that nobody posted.
fn spoil(database: &dyn database::Database, schema: &str) {
    let sql = format!("UPDATE {schema}account SET balance_cents = balance_cents + 1 WHERE id = 5");
    database.outside().expect("a session").script(&sql).expect("it can be changed");
}

/// Two trials behind which the data is checked: the exit code, and what is told in all and on the way.
fn two_trials(house: &House, file: &str) -> (Option<i32>, String, String) {
    let how = format!("{SMALL} {DAY} --set measure=200ms --set replicates=2");
    let ran = house.program.run(&format!("run bank-day --on {} {how} -o {file}.prony", house.on));
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    (ran.code, words(format!("{ran}")), words(ran.stderr))
}

/// The trial that finds it says so; it is kept once, and trials and runs behind it have a whole one.
fn is_kept_aside_once(house: &House, files: &[&str], spoil: impl Fn()) {
    let kept = |told: &str| told.matches("the check of an earlier trial found it broken; it is kept in ").count();
    house.program.fine(&format!("db fill bank-day --on {} {SMALL}", house.on));
    for file in files {
        spoil();
        let (code, told, way) = two_trials(house, file);
        assert_eq!((code, kept(&way)), (Some(1), 1), "{told}");
        assert!(
            told.contains("Data is damaged or lost: trial 0 of 2 on ") && !told.contains("trial 1 of 2 on"),
            "{told}"
        );
    }
    let (code, told, way) = two_trials(house, "behind");
    assert_eq!((code, kept(&way)), (Some(0), 0), "{told}");
    let cleaned = |line: &str| house.program.fine(line).matches("(a data set that a check found broken)").count();
    assert_eq!(["clean --dry-run", "clean", "clean"].map(cleaned), [1, 1, 0]);
}

#[test]
fn an_embedded_data_set_that_a_check_found_broken_is_kept_aside_and_filled_anew() {
    let house = House::new("sqlite:");
    is_kept_aside_once(&house, &["broken", "again"], || {
        let mut files = std::fs::read_dir(house.program.path("cache")).expect("the cache").flatten();
        let file =
            files.find(|file| file.path().extension().is_some_and(|ending| ending == "sqlite")).expect("a data set");
        let spec = DatabaseSpec::new(Engine::Sqlite, At::File(file.path().display().to_string()));
        spoil(&*database::open(&spec, &looking(&house)).expect("a file"), "");
    });
}

fn a_private_one_is_kept_aside_once(on: &'static str, engine: Engine) {
    let Some(house) = House::with_server(on) else { return };
    is_kept_aside_once(&house, &["broken"], || {
        for server in database::private_servers(engine, &looking(&house)).expect("servers") {
            let server = server.expect("it starts");
            let sets = server.datasets().expect("they are listed");
            sets.into_iter().for_each(|set| spoil(&*server, &format!("{}.", set.expect("it is whole").schema())));
        }
    });
}

#[test]
fn a_private_postgres_keeps_a_data_set_aside_that_a_check_found_broken() {
    a_private_one_is_kept_aside_once("local:postgres", Engine::Postgres);
}

#[test]
fn a_private_mariadb_keeps_a_data_set_aside_that_a_check_found_broken() {
    a_private_one_is_kept_aside_once("local:mariadb", Engine::Mariadb);
}

#[test]
fn a_data_set_of_the_users_that_a_check_found_broken_stays_and_it_is_said_what_to_do() {
    let house = House::new("sqlite:own.db");
    assert_eq!(two_trials(&house, "whole").0, Some(0));
    let at = At::File(house.program.path("own.db").display().to_string());
    spoil(&*database::open(&DatabaseSpec::new(Engine::Sqlite, at), &looking(&house)).expect("a file"), "");
    let (code, told, _) = two_trials(&house, "broken");
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("it is yours, so nothing is dropped: to have it filled anew, remove the file "), "{told}");
    assert!(house.program.path("own.db").exists() && !house.program.path("own.db.broken").exists());
}
