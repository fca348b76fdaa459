//! Locks that somebody else holds in the middle of a run: the first page names the statement that waited and the session that held
//! them, and the table of statements tells waits from CPU.

use crate::house::House;
use database::{Database, OpenOptions, Profiling};
use std::collections::BTreeMap;
use std::time::Duration;
use study::{At, DatabaseSpec, Engine};
use workload::brokerage::data_set::seeded;
use workload::brokerage::{Preset, Scale};

const RUN: &str = "--set preset=desk --set customers=50 --set days=1 --set sessions=4 --set measure=6s --set warm_up=0s --set highest_rate=off";

/// The data set of the run, opened beside it with the settings of the run's own server.
fn beside(house: &House, engine: Engine) -> Box<dyn Database> {
    let dataset = Some(seeded(Scale { preset: Preset::Desk, customers: 50, days: 1 }, 1));
    let (cache_dir, profiling) = (house.program.path("cache"), Profiling { on: true, pages: None });
    let options = OpenOptions { cache_dir, dataset, settings: Vec::new(), profiling, stop: Default::default() };
    database::open(&DatabaseSpec::new(engine, At::Local), &options).expect("the server runs")
}

#[test]
fn a_lock_that_somebody_holds_in_postgres_is_named_on_the_first_page() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let shown = held(&house, Engine::Postgres, "Lock:transactionid");
    let again = house.program.json(&house.line("run", &format!("{RUN} --set measure=1s --json --quiet -o y.prony")));
    let kinds = again["trials"][0]["caveats"].as_array().expect("a list");
    assert!(!kinds.iter().any(|kind| kind == "lock-held"), "nobody held any: {kinds:?}");
    // The tables have grown, and the server's own analysis may have come between: a plan may be another, and then it is told.
    let [before, after] = [&shown, &again].map(plans);
    assert!(!before.is_empty(), "{shown:#}");
    let told: Vec<String> = events(&again, "replanned");
    for (name, plan) in &after {
        let Some(was) = before.get(name) else { continue };
        let is_told = told.iter().any(|text| text.contains(&format!("`{name}` is another one")));
        assert_eq!(was != plan, is_told, "{name}: {was} and {plan}, {told:?}");
    }
}

/// Texts of the events of a kind in the first trial of a run.
fn events(run: &serde_json::Value, kind: &str) -> Vec<String> {
    let all = run["trials"][0]["events"].as_array().expect("a list");
    let texts = all.iter().filter(|event| event["kind"] == kind).filter_map(|event| event["text"].as_str());
    texts.map(str::to_owned).collect()
}

/// The plans of a run's dearest statements, by their names.
fn plans(run: &serde_json::Value) -> BTreeMap<String, String> {
    let trimmed = |plan: &str| plan.lines().map(str::trim).collect::<Vec<&str>>().join("\n");
    let split = |text: String| text.split_once('\n').map(|(name, plan)| (name.to_owned(), trimmed(plan)));
    events(run, "plan").into_iter().filter_map(split).collect()
}

#[test]
fn a_lock_that_somebody_holds_in_mariadb_is_named_on_the_first_page_without_its_performance_schema() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    held(&house, Engine::Mariadb, "Lock:row");
}

fn held(house: &House, engine: Engine, event: &str) -> serde_json::Value {
    let mut going = house.program.start(&house.line("run", &format!("{RUN} --verbose -o x.prony")));
    going.until("· measure", 1);
    let database = beside(house, engine);
    let dataset = seeded(Scale { preset: Preset::Desk, customers: 50, days: 1 }, 1);
    let mut session = database.outside().expect("a session");
    std::thread::sleep(Duration::from_millis(500));
    session.script("BEGIN").expect("a transaction");
    session.query(&format!("SELECT id FROM {}.account FOR UPDATE", dataset.schema())).expect("it may");
    std::thread::sleep(Duration::from_secs(3));
    session.script("COMMIT").expect("it may");
    let (code, told) = going.end();
    assert_eq!(code, Some(0), "a wait is no failure: {told}");
    let first = house.program.fine("show x.prony").replace('\n', " ").replace("  ", " ");
    assert!(first.contains(&format!("for a lock ({event})")), "{first}");
    assert!(first.contains("held it (idle in transaction"), "{first}");
    let shown = house.program.json("show x.prony --json");
    // Nobody has to remember what was filled, also where each data set has a server of its own.
    let checked = house.program.json(&house.line("db check", "--json"));
    assert_eq!(checked["datasets"][0]["passed"], true, "{checked:#}");
    let statements = shown["trials"][0]["server"]["profile"]["statements"].as_array().expect("a list");
    let waits = statements.iter().flat_map(|one| one["seen"].as_array().expect("a list"));
    let locks = waits.filter(|seen| seen["event"].as_str().is_some_and(|name| name.starts_with("Lock:")));
    assert!(locks.map(|seen| seen["us"].as_f64().expect("a number")).sum::<f64>() > 0.0, "{statements:#?}");
    shown
}
