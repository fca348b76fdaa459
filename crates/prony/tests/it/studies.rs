//! Every study that ships goes through check and plan; nothing is written by either.

use crate::program::Program;
use serde_json::Value;

fn names(program: &Program) -> Vec<String> {
    let listed = program.json("studies --json");
    let studies = listed["studies"].as_array().expect("a list").iter();
    studies.map(|study| study["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn the_list_of_studies_has_one_line_each() {
    let program = Program::new();
    let text = program.fine("studies");
    assert_eq!(text.lines().count(), names(&program).len());
    insta::assert_snapshot!(text);
}

#[test]
fn every_shipped_study_passes_its_check() {
    let program = Program::new();
    for name in names(&program) {
        let text = program.fine(&format!("check {name}"));
        assert!(text.starts_with(&format!("{name}: no problems")), "{text}");
        assert_eq!(program.json(&format!("check {name} --json"))["ok"], Value::Bool(true));
    }
}

#[test]
fn a_shipped_study_saved_to_a_file_is_the_same_study() {
    let program = Program::new();
    for name in names(&program) {
        program.write(&format!("{name}.toml"), &program.fine(&format!("studies {name}")));
        let shipped = program.json(&format!("plan {name} --on null: --seed 5 --json"));
        let saved = program.json(&format!("plan ./{name}.toml --on null: --seed 5 --json"));
        assert_eq!(shipped, saved);
    }
}

#[test]
fn every_shipped_study_has_a_plan_that_its_seed_decides_and_that_touches_nothing() {
    let program = Program::new();
    for name in names(&program) {
        let plan = |seed: &str| program.json(&format!("plan {name} --on scripted: --seed {seed} --json"));
        let (one, same, other) = (plan("7"), plan("7"), plan("8"));
        assert_eq!(one, same);
        assert_eq!(one["seed"], 7);
        let trials = |plan: &Value| plan["trials"].as_array().expect("a list").len();
        let searches = one["searches"].as_array().expect("a list").len();
        assert!(trials(&one) + searches > 0, "{name} plans nothing");
        assert_eq!(trials(&one), trials(&other), "{name}");
        assert!(one["estimated_s"].as_f64().is_some_and(|s| s > 0.0), "{name}: {}", one["estimated_s"]);
    }
    assert_eq!(program.files(), [""; 0]);
}

#[test]
fn the_plan_says_every_byte_that_a_run_on_files_would_write() {
    let program = Program::new();
    for name in names(&program) {
        let plan = program.json(&format!("plan {name} --on file:. --seed 7 --json"));
        let written = &plan["bytes_written"];
        let part = |key: &str| written[key].as_u64().unwrap_or_else(|| panic!("{name}: {key} in {written}"));
        assert_eq!(part("total"), part("fill") + part("refill") + part("precondition") + part("trials"));
        assert!(part("total") > 0, "{name} writes nothing");
    }
    assert_eq!(program.files(), [""; 0]);
}

#[test]
fn quick_writes_at_most_two_gibibytes_and_says_so() {
    let program = Program::new();
    let plan = program.json("plan quick --on file:/tmp --seed 7 --json");
    let total = plan["bytes_written"]["total"].as_u64().expect("a number");
    assert!(total <= 2 << 30, "{total}");
    assert!(plan["estimated_s"].as_f64().expect("a number") < 120.0);
}

#[test]
fn a_plan_reads_well() {
    let program = Program::new();
    insta::assert_snapshot!(program.fine("plan LAB --seed 7"));
    insta::assert_snapshot!(program.fine("plan LAB --on a=scripted: --on b=scripted: --seed 7"));
    insta::assert_snapshot!(program.fine("plan wide --on here=. --set width=1,2 --seed 7"));
}
