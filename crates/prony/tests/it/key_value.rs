//! The study `key-value` from the command line: small, but whole.

use crate::program::Program;
use crate::schema::hold;
use serde_json::Value;

/// A run of half a second without warm-up on such a system, in JSON.
fn run(program: &Program, on: &str, sets: &str) -> Value {
    let short = "--set rows=1000 --set measure=500ms --set warm_up=0s";
    program.json(&format!("run key-value --on {on} {short} {sets} --json --quiet -o x.prony"))
}

/// Classes of a trial, with how often each was done.
fn classes(trial: &Value) -> Vec<(&str, u64)> {
    let classes = trial["classes"].as_array().expect("classes");
    classes.iter().map(|class| (class["name"].as_str().unwrap(), class["done"].as_u64().unwrap())).collect()
}

fn fine(run: &Value, trials: usize) {
    hold(run);
    let all = run["trials"].as_array().expect("trials");
    assert_eq!(all.len(), trials);
    for trial in all {
        assert_eq!(trial["failed"], 0, "{trial:#}");
        assert!(trial["done"].as_u64().unwrap() > 0, "{trial:#}");
    }
}

#[test]
fn every_mix_runs_on_the_embedded_database() {
    let program = Program::new();
    let run = run(&program, "sqlite:", "--set mix=A,B,C,D,E,F --set sessions=2");
    fine(&run, 6);
}

#[test]
fn a_mix_of_reads_reads_and_nothing_else() {
    let program = Program::new();
    let run = run(&program, "sqlite:", "--set mix=C --set keys=zipfian --set sessions=1");
    fine(&run, 1);
    let trial = &run["trials"][0];
    assert_eq!(classes(trial), [("read", trial["done"].as_u64().unwrap())]);
}

#[test]
fn the_latest_records_are_there_after_a_trial_that_inserted() {
    let program = Program::new();
    let insert =
        "run key-value --on sqlite: --set rows=201 --set mix=D --set sessions=8 --set measure=300ms --set warm_up=0s";
    program.fine(&format!("{insert} --quiet -o inserted.prony"));
    let change = insert.replace("mix=D", "mix=A --set keys=latest");
    let run = program.json(&format!("{change} --json --quiet -o changed.prony"));
    fine(&run, 1);
    assert!(!run.to_string().contains("do not trust"), "{run:#}");
}
