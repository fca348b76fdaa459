//! `prony compare`: systems of one run, and two runs.

use crate::program::Program;

/// Runs the study on these systems into a file.
fn run(program: &Program, systems: &[&str], replicates: u32, file: &str) {
    let on: Vec<String> = systems.iter().map(|system| format!("--on {system}")).collect();
    program.fine(&format!("run LAB {} --set replicates={replicates} --seed 7 --quiet -o {file}", on.join(" ")));
}

const OLD: &str = "old=scripted:service=100us,servers=8";
const SLOWER: &str = "new=scripted:service=125us,servers=8";
const SAME: &str = "new=scripted:service=100us,servers=8";

#[test]
fn a_slower_system_is_worse_and_gives_exit_code_1() {
    let program = Program::new();
    run(&program, &[OLD, SLOWER], 4, "x.prony");
    let ran = program.run("compare x.prony --baseline old");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stdout.contains("worse"), "{ran}");
}

#[test]
fn the_baseline_can_be_chosen() {
    let program = Program::new();
    run(&program, &[OLD, SLOWER], 4, "x.prony");
    let ran = program.run("compare x.prony --baseline new --json");
    assert_eq!(ran.code, Some(0), "{ran}");
    let json = ran.json();
    assert_eq!(json["baseline"], "new");
    assert!(json["findings"].as_array().expect("a list").iter().all(|finding| finding["system"] == "old"));
}

#[test]
fn equal_systems_are_equivalent() {
    let program = Program::new();
    run(&program, &[OLD, SAME], 4, "x.prony");
    let ran = program.run("compare x.prony");
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.stdout.contains("equivalent"), "{ran}");
}

#[test]
fn two_runs_without_known_variance_between_runs_are_inconclusive() {
    let program = Program::new();
    run(&program, &[OLD], 4, "a.prony");
    run(&program, &["old=scripted:service=125us,servers=8"], 4, "b.prony");
    let ran = program.run("compare a.prony b.prony");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stdout.contains("inconclusive"), "{ran}");
    assert_eq!(program.run("compare a.prony b.prony --allow-inconclusive").code, Some(0));
}

#[test]
fn runs_of_the_same_system_teach_how_much_two_runs_differ() {
    let program = Program::new();
    let spread = |service: &str| format!("old=scripted:service={service},servers=8,spread=20%");
    for (number, name) in ["a", "b", "c", "d"].iter().enumerate() {
        let line = format!("run LAB --on {} --seed {number} --quiet -o {name}.prony", spread("100us"));
        program.fine(&line);
    }
    program.fine(&format!("run LAB --on {} --seed 9 --quiet -o slow.prony", spread("200us")));
    let ran = program.run("compare a.prony slow.prony");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stdout.contains("worse"), "{ran}");
}

#[test]
fn a_run_is_not_compared_with_itself() {
    let program = Program::new();
    run(&program, &[OLD], 1, "x.prony");
    insta::assert_snapshot!(program.refused("compare x.prony x.prony"));
}

#[test]
fn one_system_alone_cannot_be_compared() {
    let program = Program::new();
    run(&program, &[OLD], 1, "x.prony");
    insta::assert_snapshot!(program.refused("compare x.prony"));
}

#[test]
fn a_baseline_that_is_not_in_the_run_is_refused_with_those_that_are() {
    let program = Program::new();
    run(&program, &[OLD, SAME], 4, "x.prony");
    insta::assert_snapshot!(program.refused("compare x.prony --baseline older"));
}

#[test]
fn systems_that_were_searched_are_not_said_to_be_unfinished() {
    let program = Program::new();
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/lab.toml")).expect("the study");
    let (head, _) = text.split_once("[[experiment]]").expect("an experiment");
    let head = head.replace("primary", "# primary");
    let search =
        "load = { slots = 8 }\nsearch = { highest_rate = { p99 = \"5 ms\", to = \"10k/s\" } }\nmeasure = \"2 s\"";
    program.write("search.toml", &format!("{head}[[experiment]]\nname = \"s\"\nworkload = \"reads\"\n{search}\n"));
    program.fine(&format!("run search.toml --on {OLD} --on {SLOWER} --seed 7 --quiet -o x.prony"));
    let told = program.refused("compare x.prony");
    assert!(told.contains("each system had a search of its own") && !told.contains("--resume"), "{told}");
}
