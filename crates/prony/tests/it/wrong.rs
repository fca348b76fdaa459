//! What goes wrong in a run is counted by kind, told everywhere, and decides the exit code.

use crate::house::House;
use crate::program::Program;
use database::{OpenOptions, Profiling, Texts};
use study::{At, DatabaseSpec, Engine, Sessions};

const FAILING: &str = "run LAB --on scripted:service=100us,servers=8,fail_every=50 --seed 7 --quiet";

#[test]
fn failed_operations_end_a_run_with_1_unless_they_are_allowed_or_bounded() {
    let program = Program::new();
    let ran = program.run(&format!("{FAILING} --json -o x.prony"));
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("failed: "), "{ran}");
    let trial = &ran.json()["trials"][0];
    let (failed, mishap) = (&trial["failed"], &trial["mishaps"][0]);
    assert_eq!((&mishap["kind"], &mishap["count"]), (&"failure".into(), failed), "{trial:#}");
    let of_classes: u64 = trial["classes"].as_array().into_iter().flatten().filter_map(|c| c["failed"].as_u64()).sum();
    assert_eq!(Some(of_classes), failed.as_u64(), "by class and in all");
    let code = |options: &str| program.run(&format!("{FAILING} {options}")).code;
    assert_eq!(code("--allow-errors -o a.prony"), Some(0));
    assert_eq!(code("--allow-errors --fail-if 'failed > 5%' --fail-if 'retried > 0' -o b.prony"), Some(0));
    assert_eq!(code("--allow-errors --fail-if 'failed > 1%' -o c.prony"), Some(1));
}

#[test]
fn a_closed_load_that_stands_still_is_named_with_what_arrivals_would_have_felt() {
    let program = Program::new();
    let stalled = "run LAB --on scripted:service=1ms,servers=8,stall=7s/3s --set measure=10s --set warm_up=0s --seed 7";
    let trial = &program.json(&format!("{stalled} --quiet --json -o x.prony"))["trials"][0];
    let figure = |key: &str| trial["stall"][key].as_f64().unwrap_or_default();
    assert!((2.8..3.2).contains(&figure("lasted_s")), "{trial:#}");
    assert!(figure("open_p99_ms") > 2_000.0 && trial["response_ms"]["p99"].as_f64() < Some(100.0), "{trial:#}");
    let told = program.fine("show x.prony");
    assert!(
        told.contains("without a completion from") && told.contains("all 32 operations in flight waited"),
        "{told}"
    );
    // The same stall at the beginning of a window, and at its end.
    for (edge, sets) in
        [("begins", "--set warm_up=4500ms --set measure=4s"), ("ends", "--set warm_up=0s --set measure=6s")]
    {
        let line = "run LAB --on scripted:service=1ms,servers=8,stall=7s/3s --seed 7 --quiet --json";
        let trial = &program.json(&format!("{line} {sets} -o {edge}.prony"))["trials"][0];
        let lasted_s = trial["stall"]["lasted_s"].as_f64().unwrap_or_default();
        assert!((1.5..3.0).contains(&lasted_s), "{edge}: {trial:#}");
    }
    let steady = program.json("run LAB --seed 7 --quiet --json -o y.prony");
    assert!(steady["trials"][0]["stall"].is_null());
}

#[test]
fn a_script_that_never_commits_stops_the_trial_and_says_why() {
    let house = House::new("sqlite:own.db");
    let program = &house.program;
    program.write("open.sql", "BEGIN;\nCREATE TABLE IF NOT EXISTS t (v INTEGER);\n");
    let run = "run sql --on sqlite:own.db --set sessions=1 --set measure=300ms --set warm_up=0s";
    let told = program.refused(&format!("{run} --set script=open.sql -o x.prony"));
    assert!(told.contains("the script ended inside of a transaction, which was rolled back"), "{told}");
}

#[test]
fn a_refused_statement_fails_its_transaction_or_stops_the_trial() {
    let house = House::new("sqlite:own.db");
    let program = &house.program;
    let options = OpenOptions {
        cache_dir: program.path("cache"),
        dataset: None,
        settings: Vec::new(),
        profiling: Profiling::default(),
        stop: Default::default(),
    };
    let at = At::File(program.path("own.db").display().to_string());
    let database = database::open(&DatabaseSpec::new(Engine::Sqlite, at), &options).expect("a file");
    database.outside().expect("a session").script("CREATE TABLE t (v INTEGER NOT NULL)").expect("a table");
    drop(database);
    program.write("bad.sql", "INSERT INTO t VALUES (NULL);\n");
    let run = "run sql --on sqlite:own.db --set script=bad.sql --set sessions=2 --set measure=300ms --set warm_up=0s";
    let ran = program.run(&format!("{run} --json --quiet -o x.prony"));
    assert_eq!(ran.code, Some(1), "{ran}");
    let mishap = &ran.json()["trials"][0]["mishaps"][0];
    assert_eq!(mishap["what"], "refused by the server", "{ran}");
    assert!(mishap["first"].as_str().is_some_and(|text| text.contains("NOT NULL")), "{ran}");
    let told = program.fine("show x.prony");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("refused by the server; rates count only"), "{told}");
    let stopped = program.refused(&format!("{run} --set on_error=stop --quiet -o y.prony"));
    assert!(stopped.contains("was stopped after 0 transactions") && stopped.contains("NOT NULL"), "{stopped}");
}

#[test]
fn levels_of_isolation_that_sqlite_does_not_have_are_refused() {
    let program = Program::new();
    for level in ["read-committed", "repeatable-read"] {
        for command in ["check", "plan"] {
            let told = program.refused(&format!("{command} brokerage --on sqlite: --set isolation={level}"));
            assert!(told.contains("whose transactions are always serializable") && told.contains(level), "{told}");
        }
    }
    program.fine("check brokerage --on sqlite: --set isolation=serializable");
    program.fine("check brokerage --on local:postgres --set isolation=read-committed");
}

#[test]
fn a_data_set_that_was_altered_is_noticed_before_the_trial() {
    let house = House::new("sqlite:");
    let sets =
        "--set preset=desk --set customers=50 --set days=1 --set sessions=2 --set measure=300ms --set warm_up=0s";
    house.program.fine(&house.line("db fill", sets));
    let scale = workload::brokerage::Scale { preset: workload::brokerage::Preset::Desk, customers: 50, days: 1 };
    let options = OpenOptions {
        cache_dir: house.program.path("cache"),
        dataset: Some(workload::brokerage::data_set::seeded(scale, 1)),
        settings: Vec::new(),
        profiling: Profiling::default(),
        stop: Default::default(),
    };
    let database = database::open(&DatabaseSpec::new(Engine::Sqlite, At::Cache), &options).expect("it is there");
    let mut session = database.session(&Texts::none(Engine::Sqlite), &Sessions::default()).expect("a session");
    session.script("DROP INDEX trade_symbol_at").expect("it goes");
    drop((session, database));
    let ran = house.program.run(&house.line("run", &format!("{sets} --json -o x.prony")));
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("altered before the trial: schema: index trade(symbol,at) is missing"), "{ran}");
    let told = ran.json();
    let first = &told["checks"][0];
    assert_eq!((&first["when"], &first["result"]), (&"before the trial".into(), &"failed".into()), "{told:#}");
    let again = house.program.run(&house.line("run", &format!("{sets} --allow-damage --quiet -o y.prony")));
    assert_eq!(again.code, Some(0), "{again}");
}

#[test]
fn a_file_with_another_data_set_or_without_a_server_says_what_helps() {
    let house = House::new("sqlite:own.db");
    let program = &house.program;
    let of = |customers: u32| format!("--set preset=desk --set days=1 --set customers={customers}");
    program.fine(&house.line("db fill", &of(20)));
    let told = program.refused(&house.line("db check", &of(30)));
    assert!(told.contains("ask for brokerage-desk-20-1-1, or remove ") && told.contains("own.db yourself"), "{told}");
    let told = program.refused("db down sqlite:own.db --remove");
    assert!(told.contains("is a file and has none") && told.contains("remove the file"), "{told}");
    std::fs::remove_file(program.path("own.db")).expect("it is there");
    let told = program.fine(&house.line("db fill", &of(30)));
    assert!(told.contains("was filled with "), "{told}");
}

#[test]
fn a_run_without_a_ledger_says_which_runs_have_none() {
    let house = House::new("sqlite:");
    let sets =
        "--set preset=desk --set customers=20 --set days=1 --set sessions=1 --set measure=300ms --set warm_up=0s";
    house.run(&format!("{sets} --set check=false"));
    let told = house.program.refused("db check --ledger x.prony");
    assert!(told.contains("got none") && told.contains("killed in mid trial"), "{told}");
}
