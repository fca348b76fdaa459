//! Whole runs on scripted systems: exact, because their clock is simulated.

use crate::program::{Program, TWO};
use serde_json::Value;

const RUN: &str = "run LAB --seed 7";

fn with(more: &str) -> String {
    format!("{RUN} {more}")
}

#[test]
fn a_run_prints_its_answer_and_leaves_one_file() {
    let program = Program::new();
    let ran = program.run(RUN);
    insta::assert_snapshot!(ran);
    let files = program.files();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files[0].ends_with("-lab.prony"), "{files:?}");
}

#[test]
fn quiet_says_nothing_beside_the_answer() {
    assert_eq!(Program::new().run(&with("--quiet")).stderr, "");
}

#[test]
fn verbose_names_the_phases_without_a_terminal() {
    let told = Program::new().run(&with("--verbose")).stderr;
    assert!(told.contains("measure"), "{told}");
}

#[test]
fn a_scripted_run_gives_the_throughput_that_arithmetic_gives() {
    let json = Program::new().json(&with("--json"));
    let trials = json["trials"].as_array().expect("trials");
    assert!(!trials.is_empty());
    for trial in trials {
        // Eight servers of 100 us each: 80,000 a second, and 32 outstanding wait for four rounds of them.
        let (rate, p50) = (trial["throughput_per_s"].as_f64(), trial["response_ms"]["p50"].as_f64());
        assert!(rate.is_some_and(|rate| (rate - 80_000.0).abs() < 800.0), "{trial:#}");
        assert!(p50.is_some_and(|p50| (p50 - 0.4).abs() < 0.01), "{trial:#}");
        assert_eq!(trial["backend"], "simulated");
        let count = |key: &str| trial[key].as_u64().expect("a count");
        assert_eq!(count("planned"), count("done") + count("failed") + count("censored"));
        assert!(trial["little_gap_pct"].as_f64().is_some_and(|gap| gap.abs() < 1.0), "{trial:#}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let program = Program::new();
    let once = || {
        let mut json = program.json(&with("--on lab=scripted:service=100us,servers=8,spread=100% --json"));
        // When it was, and what the generator itself cost, is measured and not simulated.
        for trial in json["trials"].as_array_mut().expect("trials") {
            trial["generator_cpu_s"] = Value::Null;
            trial["started_unix_ns"] = Value::Null;
        }
        json["trials"].clone()
    };
    assert_eq!(once(), once());
}

#[test]
fn two_runs_of_one_minute_do_not_share_a_name() {
    let program = Program::new();
    program.fine(&with("--quiet"));
    program.fine(&with("--quiet"));
    let files = program.files();
    assert_eq!(files.len(), 2, "{files:?}");
}

#[test]
fn a_threshold_that_fails_is_named_and_gives_exit_code_1() {
    let ran = Program::new().run(&with("--quiet --fail-if 'throughput < 100k/s'"));
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("throughput < 100k/s"), "{ran}");
}

#[test]
fn a_threshold_that_holds_gives_exit_code_0() {
    let ran = Program::new().run(&with("--quiet --fail-if 'throughput < 10k/s'"));
    assert_eq!(ran.code, Some(0), "{ran}");
}

#[test]
fn a_page_tags_and_a_note_come_with_the_run() {
    let program = Program::new();
    program.fine(&with("--html page.html --tag lab --tag first --note 'after the update' -o x.prony"));
    let page = std::fs::read_to_string(program.path("page.html")).expect("the page");
    assert!(page.contains("<svg") && page.contains("after the update"), "the page lacks a figure or the note");
    let listed = program.json("list --json");
    assert_eq!(listed["runs"][0]["tags"], serde_json::json!(["lab", "first"]));
}

#[test]
fn two_systems_are_compared_in_even_pairs() {
    let program = Program::new();
    let json = program.json(&format!("{TWO} --json"));
    let comparison = json["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .find(|finding| finding["metric"] == "throughput" && finding["system"] == "new")
        .unwrap_or_else(|| panic!("no comparison in {:#}", json["findings"]));
    assert_eq!(comparison["verdict"], "better", "{comparison:#}");
    assert!(comparison["ratio"].as_f64().is_some_and(|ratio| (ratio - 1.25).abs() < 0.02), "{comparison:#}");
    assert_eq!(comparison["interleaved"], true);
}

#[test]
fn a_line_is_said_as_often_as_it_is_asked_for_where_nobody_watches_too() {
    let program = Program::new();
    program.write(
        "one.toml",
        "title = 'o'\nquestion = '?'\n[system.s]\nkind = 'null'\n[workload.w]\nkind = 'block'\n[[experiment]]\nname = 'e'\nworkload = 'w'\n\
         load = { outstanding = 1 }\nmeasure = '1 s'\nwarm_up = '0 s'\nreplicates = 1\n",
    );
    let line = "run ./one.toml";
    let ran = program.run(&format!("{line} --progress 200ms -o x.prony"));
    let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.contains(" left · ")).collect();
    assert!(ran.code == Some(0) && lines.len() >= 3 && lines.iter().all(|line| line.starts_with("1/1 ")), "{ran}");
    let last = lines.last().copied().unwrap_or_default();
    assert!(last.contains("/s, p50 ") && last.contains(", p99 ") && last.ends_with("left · e, w, s"), "{last}");
    let quiet = program.run(&format!("{line} --progress 200ms --quiet"));
    assert!(quiet.code == Some(2) && quiet.stderr.contains("--quiet"), "{quiet}");
    let wrong = program.run(&format!("{line} --progress 1"));
    assert!(wrong.code == Some(2) && wrong.stderr.contains("no unit"), "{wrong}");
}
