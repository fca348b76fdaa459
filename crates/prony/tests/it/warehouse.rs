//! The studies of the warehouse from the command line, on every kind of database: small, but whole.

use crate::house::House;
use crate::schema::hold;
use serde_json::Value;

/// A warehouse that is filled in a moment, and deltas for it.
const SMALL: &str = "--set rows=10k --set delta=50 --set measure=500ms --set warm_up=200ms";

fn run(house: &House, study: &str, sets: &str) -> Vec<Value> {
    let line = format!("run {study} --on {} {SMALL} {sets} --json --quiet -o x.prony", house.on);
    let run = house.program.json(&line);
    hold(&run);
    run["trials"].as_array().expect("trials").clone()
}

fn an_hour(trial: &Value, what: &str) -> f64 {
    let yields = trial["yields"].as_array().expect("yields");
    let given = yields.iter().find(|given| given["what"] == what).unwrap_or_else(|| panic!("{what} of {trial:#}"));
    given["per_h"].as_f64().expect("a number")
}

/// How often a class was counted.
fn count(trial: &Value, class: &str) -> u64 {
    let classes = trial["classes"].as_array().expect("classes");
    let class = classes.iter().find(|one| one["name"] == class);
    class.and_then(|one| one["count"].as_u64().or(one["done"].as_u64())).unwrap_or(0)
}

/// Users took steps, the data is as it must be, and as many deltas are there as were acknowledged.
fn went_well(house: &House, trial: &Value, number: u32) {
    assert_eq!(trial["failed"], 0, "{trial:#}");
    assert!(an_hour(trial, "dialog steps") > 0.0, "{trial:#}");
    let events = house.events(number);
    let told = |text: &str| events.iter().any(|event| event.text.contains(text));
    assert!(
        told("checks of the data hold")
            && told("acknowledged loads of deltas are in the data (in the whole trial, warm-up included)"),
        "{events:#?}"
    );
}

fn all_at_once(house: &House, sets: &str) {
    let _ = std::fs::remove_file(house.program.path("x.prony"));
    let trials = run(house, "warehouse", &format!("--set users=3 --set sessions=6 --set load_rate=full {sets}"));
    assert_eq!(trials.len(), 1);
    went_well(house, &trials[0], 0);
    assert!(an_hour(&trials[0], "rows loaded") > 0.0, "{:#}", trials[0]);
    assert!(count(&trials[0], "freshness") > 0, "{:#}", trials[0]);
}

#[test]
fn users_walk_while_deltas_are_loaded_into_the_embedded_database() {
    all_at_once(&House::new("sqlite:"), "");
}

#[test]
fn the_frontier_sweeps_the_rate_of_loads() {
    let house = House::new("sqlite:");
    let trials = run(&house, "warehouse-frontier", "--set load_rate=off,full");
    assert_eq!(trials.len(), 2 + 3);
    (0..).zip(&trials).for_each(|(number, trial)| went_well(&house, trial, number));
    let loaded: Vec<f64> = trials.iter().map(|trial| an_hour(trial, "rows loaded")).collect();
    assert!(loaded.contains(&0.0) && loaded.iter().any(|loaded| *loaded > 0.0), "{loaded:?}");
}

/// Users and loads that are kept apart as far as it goes. PostgreSQL takes a look at a small table for one at all of its rows, so
/// that loads of different cubes are in conflict, too.
fn kept_apart(house: &House) {
    for isolation in ["repeatable-read", "serializable"] {
        all_at_once(house, &format!("--set isolation={isolation} --set tries=100 --set delta=200"));
    }
}

#[test]
fn conflicts_of_loads_are_tried_again_on_a_private_postgres_and_nothing_is_lost() {
    let Some(house) = House::with_server("local:postgres") else { return };
    kept_apart(&house);
}

#[test]
fn conflicts_of_loads_are_tried_again_on_a_private_mariadb_and_nothing_is_lost() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    kept_apart(&house);
}
