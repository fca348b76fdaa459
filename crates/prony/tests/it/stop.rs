//! Ctrl-C: the run ends well, keeps what was finished, and can go on.

use crate::program::Program;
use rustix::process::Signal;
use serde_json::Value;

/// Ten trials of half a second each on the null system, in real time.
const LONG: &str =
    "run LAB --on null: --set measure=500ms --set warm_up=0s --set replicates=5 --seed 7 --verbose -o x.prony";

#[test]
fn ctrl_c_keeps_what_was_finished_and_says_how_to_go_on() {
    let program = Program::new();
    let mut going = program.start(LONG);
    going.until("measure", 3);
    going.signal(Signal::INT);
    let (code, told) = going.end();
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("stopped") && told.contains("prony run --resume x.prony"), "{told}");
    let listed = program.json("list --json");
    assert_eq!(listed["runs"][0]["finished"], false);
    let before = listed["runs"][0]["trials"].as_u64().expect("a number");
    assert!((2..10).contains(&before), "{before} trials were finished");
    let json = program.json("run --resume x.prony --json --quiet");
    assert_eq!(json["trials"].as_array().expect("trials").len(), 10);
    assert_eq!(program.files(), ["x.prony"], "one file remains");
}

#[test]
fn a_run_that_goes_on_is_shown_reported_and_listed_as_it_stands_and_not_disturbed() {
    let program = Program::new();
    let mut going = program.start(LONG);
    going.until("measure", 4);
    let json = program.json("show x.prony --json");
    let ended = json["trials"].as_array().expect("trials").len();
    assert!((1..10).contains(&ended), "{ended} trials had ended");
    let doubts = json["card"]["doubts"].as_array().expect("doubts");
    let told = |doubt: &Value| doubt.as_str().is_some_and(|text| text.contains("it is still going on"));
    assert!(doubts.iter().any(told), "{doubts:?}");
    program.fine("report x.prony -o now.html");
    assert!(program.fine("list").contains("running"));
    let (code, told) = going.end();
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(program.json("show x.prony --json")["trials"].as_array().expect("trials").len(), 10);
}

#[test]
fn a_resumed_run_keeps_what_it_had_and_repeats_nothing() {
    let program = Program::new();
    let mut going = program.start(LONG);
    going.until("measure", 4);
    going.signal(Signal::TERM);
    let (code, told) = going.end();
    assert_eq!(code, Some(2), "{told}");
    let trials = |mut json: Value| {
        let trials = json["trials"].as_array_mut().expect("trials");
        // The trial that was stopped is run again.
        trials.retain(|trial| trial["interrupted"] == false);
        // Some doubts come from all trials together, and there are more of those at the end.
        trials.iter_mut().for_each(|trial| trial["caveats"] = Value::Null);
        trials.clone()
    };
    let before = trials(program.json("show x.prony --json"));
    let after = trials(program.json("run --resume x.prony --json --quiet"));
    assert!((3..10).contains(&before.len()), "{} trials were finished", before.len());
    for (was, is) in before.iter().zip(&after) {
        assert_eq!(was, is, "a finished trial changed");
    }
}

#[test]
fn a_run_that_was_cut_short_is_shown_with_that_doubt() {
    let program = Program::new();
    let mut going = program.start(LONG);
    going.until("measure", 2);
    going.signal(Signal::INT);
    going.end();
    let json = program.json("show x.prony --json");
    let caveats = json["caveats"].as_array().expect("a list");
    assert!(caveats.iter().any(|caveat| caveat["kind"] == "unfinished"), "{caveats:#?}");
}

#[test]
fn transactions_that_a_stop_ends_are_unfinished_and_did_not_fail() {
    let program = Program::new();
    let sets = "--set rows=1000 --set mix=A --set sessions=4 --set measure=5s --set interval=10ms --set warm_up=0s";
    let mut going = program.start(&format!("run key-value --on sqlite: {sets} --verbose -o x.prony"));
    going.until("· measure", 1);
    // Once the load is there, sessions stand in line to write.
    std::thread::sleep(std::time::Duration::from_millis(500));
    going.signal(Signal::INT);
    let (code, told) = going.end();
    assert_eq!(code, Some(2), "{told}");
    let json = program.json("show x.prony --json");
    let trial = &json["trials"][0];
    assert_eq!((&trial["interrupted"], &trial["failed"]), (&Value::Bool(true), &Value::from(0)), "{trial:#}");
    assert!(trial["done"].as_u64().expect("a number") > 0, "{trial:#}");
}

#[test]
fn a_run_that_was_stopped_before_anything_was_recorded_leaves_no_file() {
    let program = Program::new();
    let mut going = program.start("run LAB --on null: --set measure=60s --set interval=10s --verbose -o x.prony");
    going.until("measure", 1);
    going.signal(Signal::INT);
    let (code, told) = going.end();
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("stopped after 0 finished trials") && told.contains("no run file is left"), "{told}");
    assert_eq!(program.files(), [""; 0]);
}

#[test]
fn a_finished_run_cannot_be_resumed() {
    let program = Program::new();
    program.fine("run LAB --seed 7 --quiet -o x.prony");
    insta::assert_snapshot!(program.refused("run --resume x.prony"));
}

#[test]
fn the_first_signal_ends_the_wait_for_a_server_that_says_nothing() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    for on in
        [format!("postgres://me@127.0.0.1:{port}/db?connect_timeout=600"), format!("mysql://me@127.0.0.1:{port}/db")]
    {
        let program = Program::new();
        let mut going = program.start(&format!("run brokerage --on '{on}' --verbose -o x.prony"));
        // The server takes the connection and is silent.
        going.until("seed", 1);
        let guest = listener.accept().expect("somebody comes");
        going.signal(Signal::TERM);
        let (code, told) = going.end();
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains("stopped"), "{told}");
        drop(guest);
    }
}
