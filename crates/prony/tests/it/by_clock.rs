//! A bank's payment runs and standing orders, which come by the clock: beside users, on databases and on described servers.

use crate::program::Program;
use crate::schema::hold;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, got {value}"))
}

/// A bank's day on a described server, with so many users on so many sessions: one trial.
fn simulated(program: &Program, model: &str, (users, sessions): (u32, u32), sets: &str) -> Value {
    let run = program.json(&format!(
        "run bank-day --on model:{model} --set users={users} --set sessions={sessions} --set warm_up=2s --set replicates=1 {sets} \
         --seed 5 --json"
    ));
    hold(&run);
    assert_eq!(run["trials"].as_array().map(Vec::len), Some(1), "{run:#}");
    run
}

fn done(run: &Value, class: &str) -> f64 {
    let classes = run["trials"][0]["classes"].as_array().expect("classes");
    number(&classes.iter().find(|one| one["name"] == class).unwrap_or_else(|| panic!("{class}"))["done"])
}

/// Texts of the caveats of a kind.
fn caveats<'a>(run: &'a Value, kind: &str) -> Vec<&'a str> {
    let caveats = run["caveats"].as_array().expect("caveats").iter().filter(|caveat| caveat["kind"] == kind);
    caveats.filter_map(|caveat| caveat["text"].as_str()).collect()
}

#[test]
fn the_clock_brings_as_much_whether_users_are_more_or_fewer_than_sessions_and_on_every_described_server() {
    let program = Program::new();
    for model in ["small-server", "s824-fs840"] {
        for at in [(8, 8), (4, 8), (64, 8)] {
            let run = simulated(&program, model, at, "--set measure=20s --set run_every=5s --set run_orders=500");
            let (standing, runs) = (done(&run, "standing-order"), done(&run, "payment-run"));
            assert!((199.0..=201.0).contains(&standing), "{model} {at:?}: {standing} in 20 s, ten a second");
            // Each run is ten transactions; one may lie across either end of the window.
            assert!((31.0..=49.0).contains(&runs), "{model} {at:?}: {runs} transactions of 4 runs");
            assert_eq!(caveats(&run, "little-gap"), [""; 0], "{model} {at:?}");
            assert_eq!(caveats(&run, "not-sustained"), [""; 0], "{model} {at:?}");
        }
    }
}

#[test]
fn a_prediction_of_a_banks_day_holds_what_a_long_simulation_gives_whether_users_are_more_than_sessions_or_not() {
    let program = Program::new();
    for (model, at) in [("small-server", (8, 8)), ("small-server", (64, 8)), ("s824-fs840", (64, 8))] {
        let long = simulated(&program, model, at, "--set measure=200s");
        let predicted = program.json(&format!(
            "predict bank-day --on model:{model} --set users={} --set sessions={} --set measure=15s --json",
            at.0, at.1
        ));
        let rows = predicted["rows"].as_array().expect("rows");
        let row = |metric: &str| rows.iter().find(|row| row["metric"] == metric).expect("it is answered");
        let rate = row("throughput");
        let (rate_per_s, response_ms) =
            (number(&long["trials"][0]["throughput_per_s"]), number(&long["trials"][0]["response_ms"]["mean"]));
        assert!(
            (number(&rate["low"])..=number(&rate["high"])).contains(&rate_per_s),
            "{model} {at:?} {rate_per_s}: {rate:#}"
        );
        let postings = row("postings");
        let given = number(&long["trials"][0]["yields"][0]["per_h"]);
        assert!((number(&postings["low"])..=number(&postings["high"])).contains(&given), "{given}: {postings:#}");
        let response = row("response");
        let interval = number(&response["low"])..=number(&response["high"]);
        assert!(interval.contains(&response_ms), "{model} {at:?} {response_ms} ms: {response:#}");
    }
}

#[test]
fn payment_runs_that_do_not_end_in_time_are_told_with_their_number() {
    let program = Program::new();
    let run = simulated(
        &program,
        "s824-fs840",
        (8, 8),
        "--set measure=10s --set run_every=1s --set run_orders=100000 --set payments=1",
    );
    let told = caveats(&run, "not-sustained");
    let [runs] = told.iter().filter(|text| text.contains("payment runs")).collect::<Vec<_>>()[..] else {
        panic!("{told:?}")
    };
    assert!(runs.contains("of 10 that were due in the window, one every 1 s") && runs.contains("run_every"), "{runs}");
    let trial = &run["trials"][0];
    assert!(number(&trial["censored"]) > 0.0, "runs that never began are not forgotten: {trial:#}");
    let events = trial["events"].as_array().expect("events");
    assert!(events.iter().any(|event| event["kind"] == "backlog"), "{events:#?}");
}

#[test]
fn a_window_that_may_hold_no_payment_run_is_told_before_and_after() {
    let program = Program::new();
    let line = "bank-day --on model:small-server --set users=8 --set sessions=8 --set run_every=10s";
    let note = "payment runs of `day` come every 10 s, and the window of 5 s holds one at most: take measure=20s or run_every=2s";
    let plan = program.fine(&format!("plan {line} --set measure=5s"));
    assert!(plan.contains(note), "{plan}");
    let run = program.json(&format!("run {line} --set measure=5s --set replicates=1 --json"));
    let events = run["trials"][0]["events"].as_array().expect("events");
    assert!(events.iter().any(|event| event["text"] == note), "{events:#?}");
    let plan = program.fine(&format!("plan {line} --set measure=10s"));
    assert!(!plan.contains("holds one at most"), "{plan}");
    let none = program
        .json(&format!("run {line} --set run_every=1h --set warm_up=500ms --set measure=1s --set replicates=1 --json"));
    let told = caveats(&none, "other");
    assert!(told.iter().any(|text| text.starts_with("no payment runs came: one is due every 1 h")), "{told:?}");
}

/// With one thread for each session nobody carried what was due while the sessions beyond the users slept.
#[test]
fn standing_orders_come_ten_times_a_second_on_an_embedded_database_with_more_sessions_than_users() {
    let program = Program::new();
    let run = program.json(
        "run bank-day --on sqlite: --set accounts=1000 --set users=4 --set sessions=8 --set measure=2s --set warm_up=500ms \
         --set replicates=1 --set run_every=1s --set run_orders=100 --json --quiet",
    );
    assert!(done(&run, "standing-order") >= 15.0 && done(&run, "payment-run") >= 2.0, "{run:#}");
    assert_eq!(run["trials"][0]["failed"], 0);
}
