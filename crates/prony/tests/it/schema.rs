//! Every JSON that the program prints is what its committed schema says.

use crate::program::{Program, TWO};
use serde_json::Value;
use std::path::Path;

/// Holds a value to the schema that it names itself.
pub fn hold(value: &Value) {
    let schema = value["schema"].as_str().expect("a `schema` field");
    let name = schema.strip_prefix("prony/").expect("a schema of ours").replace('/', "-");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/schema/{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let validator =
        jsonschema::validator_for(&serde_json::from_str(&text).expect("the schema is JSON")).expect("a schema");
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{schema}: {errors:#?}");
}

fn json(program: &Program, line: &str) -> Value {
    program.run(line).json()
}

#[test]
fn what_is_printed_before_a_run_fits_its_schema() {
    let program = Program::new();
    program.write("wrong.toml", "title = 1\n");
    for line in [
        "studies --json",
        "studies flash --json",
        "check flash --json",
        "check wrong.toml --json",
        "list --json",
        "plan quick --on null: --json",
        "plan flash --on null: --json",
        "plan wide --on a=file:. --on b=file:. --json",
    ] {
        hold(&json(&program, line));
    }
}

#[test]
fn what_is_understood_of_a_script_fits_its_schema_and_notes_are_no_failure() {
    let program = Program::new();
    program.write("good.sql", "\\set a random(1, 10)\nSELECT :b AS c \\gset\n\\if :a > 5\nSELECT :c, ':a';\n\\endif\n");
    program.write("bad.sql", "\\setshell a date\nSELECT 1;\n");
    let good = program.run("import pgbench good.sql --json");
    assert_eq!(good.code, Some(0), "{good}");
    let value = good.json();
    hold(&value);
    // What `\gset` sets is known only to the server, so that it may be whatever the script reads.
    assert_eq!((&value["ok"], &value["needs"]), (&Value::Bool(true), &serde_json::json!([])));
    program.write("needy.sql", "SELECT :b;\n");
    assert_eq!(program.json("import pgbench needy.sql --json")["needs"], serde_json::json!(["b"]));
    assert!(value["notes"].as_array().is_some_and(|notes| notes.len() >= 2), "{good}");
    let bad = program.run("import pgbench bad.sql --json");
    assert_eq!(bad.code, Some(2), "{bad}");
    hold(&bad.json());
    let text = program.run("import pgbench bad.sql");
    assert!(text.code == Some(2) && text.stdout.contains("cannot be run, because of 1 problem"), "{text}");
}

#[test]
fn a_check_that_fails_prints_its_problems_as_json_and_exits_with_2() {
    let program = Program::new();
    program.write("wrong.toml", "title = 1\n");
    let ran = program.run("check wrong.toml --json");
    assert_eq!(ran.code, Some(2), "{ran}");
    let value = ran.json();
    assert_eq!(value["ok"], false);
    assert!(value["problems"].as_array().is_some_and(|problems| !problems.is_empty()), "{ran}");
}

#[test]
fn what_is_printed_of_a_run_fits_its_schema() {
    let program = Program::new();
    hold(&json(&program, &format!("{TWO} --json -o x.prony")));
    program.write("broken.prony", "no run");
    for line in ["show x.prony --json", "compare x.prony --json", "list --json"] {
        hold(&json(&program, line));
    }
}

#[test]
fn a_run_on_real_files_fits_the_schema_and_leaves_no_scratch() {
    let program = Program::new();
    let few = "--set size=4MiB --set modules=1,2 --set measure=100ms --set warm_up=0s --set settle=0s";
    let value = json(&program, &format!("run flash --on file:. {few} --only random-read --json -o x.prony"));
    hold(&value);
    let trials = value["trials"].as_array().expect("trials");
    assert!(trials.iter().all(|trial| trial["backend"] == "measured" && trial["failed"] == 0), "{value:#}");
    assert_eq!(program.files(), ["x.prony"]);
}

#[test]
fn the_ceiling_fits_its_schema() {
    hold(&json(&Program::new(), "ceiling --json"));
}

#[test]
fn a_folder_that_was_named_and_cannot_be_measured_is_refused() {
    let program = Program::new();
    for folder in ["nowhere", "/proc"] {
        let told = program.refused(&format!("ceiling --json --on {folder}"));
        assert!(told.contains(&format!("measuring the drivers of storage in `{folder}`")), "{told}");
    }
}

#[test]
fn the_ceiling_of_models_names_every_way_and_its_aim() {
    let value = json(&Program::new(), "ceiling --model --json");
    hold(&value);
    let ways = value["model"].as_array().expect("ways");
    let named: Vec<&str> = ways.iter().filter_map(|way| way["path"].as_str()).collect();
    let ways_of_now =
        ["closed form", "two stations", "flash array", "array", "transactions", "flash device", "all rows", "study"];
    assert_eq!(named, ways_of_now);
    assert!(ways.iter().all(|way| way["value"].as_f64().is_some_and(|value| value > 0.0)), "{value:#}");
}

#[test]
fn a_run_of_files_fits_the_schema() {
    let program = Program::new();
    hold(&json(&program, "run wide --on . --set width=1,2 --set file=64KiB --set replicates=1 --json"));
}
