//! Every study that ships goes through check and plan; nothing is written by either.

use crate::program::Program;
use serde_json::Value;

fn names(program: &Program) -> Vec<String> {
    let listed = program.json("studies --json");
    let studies = listed["studies"].as_array().expect("a list").iter();
    studies.map(|study| study["name"].as_str().expect("a name").to_owned()).collect()
}

/// Where a study is planned when nobody answers: storage that is asked nothing, or `null-database:`, which answers at once and has
/// no mirror that could go away.
fn nowhere(program: &Program, name: &str, storage: &str) -> String {
    if !asks_a_database(program, name) {
        return format!("--on {storage}");
    }
    let text = program.fine(&format!("studies {name}"));
    let happens = [("\nfault ", " --set fault=none"), ("\nevents ", " --set events=")];
    let stays: String = happens.iter().filter(|(key, _)| text.contains(key)).map(|(_, none)| *none).collect();
    format!("--on null-database:{stays}")
}

/// Studies that ask a database.
fn asks_a_database(program: &Program, name: &str) -> bool {
    let text = program.fine(&format!("studies {name}"));
    !["file", "model"].iter().any(|kind| text.contains(&format!("kind = \"{kind}\"")))
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
        let on = nowhere(&program, &name, "null:");
        let shipped = program.json(&format!("plan {name} {on} --seed 5 --json"));
        let saved = program.json(&format!("plan ./{name}.toml {on} --seed 5 --json"));
        assert_eq!(shipped, saved);
    }
}

#[test]
fn every_shipped_study_has_a_plan_that_its_seed_decides_and_that_touches_nothing() {
    let program = Program::new();
    for name in names(&program) {
        let on = nowhere(&program, &name, "scripted:");
        let plan = |seed: &str| program.json(&format!("plan {name} {on} --seed {seed} --json"));
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
    for name in names(&program).into_iter().filter(|name| !asks_a_database(&program, name)) {
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
fn quick_asks_its_folder_for_storage_and_sqlite_for_transactions_and_compares_neither() {
    let program = Program::new();
    let plan = program.json("plan quick --seed 7 --json");
    let trials = plan["trials"].as_array().expect("a list");
    let on = |system: &str| trials.iter().filter(|trial| trial["system"] == system).count();
    assert_eq!((on("sqlite"), on("here")), (2, 12));
    assert!(trials.iter().all(|trial| (trial["experiment"] == "transactions") == (trial["system"] == "sqlite")));
    assert_eq!(plan["detectable"], Value::Null);
    assert!(!program.fine("plan quick --seed 7").contains("detectable"));
}

#[test]
fn a_script_with_a_problem_is_refused_before_anything_is_touched() {
    let program = Program::new();
    program.write("bad.sql", "SELECT 1;\n\\shell rm\n");
    program.write("good.sql", "SELECT 1 AS one \\gset\nSELECT :one;\n");
    for line in ["check sql", "plan sql", "run sql"] {
        let ran = program.run(&format!("{line} --on sqlite:x.db --set script=bad.sql"));
        assert_eq!(ran.code, Some(2), "{ran}");
        assert!(ran.stderr.contains("bad.sql:2:1: "), "{ran}");
        let ran = program.run(&format!("{line} --on sqlite:x.db --set script=none.sql"));
        assert_eq!(ran.code, Some(2), "{ran}");
        assert!(ran.stderr.contains("reading the script `none.sql`: No such file"), "{ran}");
    }
    let problems = program.run("check sql --on sqlite:x.db --set script=bad.sql --json");
    assert_eq!((problems.code, &problems.json()["ok"]), (Some(2), &Value::Bool(false)));
    assert!(program.fine("check sql --on sqlite:x.db --set script=good.sql").starts_with("sql: no problems"));
    assert_eq!(program.files(), ["bad.sql", "good.sql"]);
}

#[test]
fn a_plan_reads_well() {
    let program = Program::new();
    insta::assert_snapshot!(program.fine("plan LAB --seed 7"));
    insta::assert_snapshot!(program.fine("plan LAB --on a=scripted: --on b=scripted: --seed 7"));
    insta::assert_snapshot!(program.fine("plan wide --on here=. --set width=1,2 --seed 7"));
}

/// The commands on top of a study, without those that need a server, a device or a trace of the reader's own.
fn commands_on_top(text: &str) -> Vec<String> {
    let top = text.lines().take_while(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let whole = top.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    let commands = whole.lines().filter_map(|line| line.strip_prefix("prony run "));
    let commands = commands.map(|line| line.split("   ").next().unwrap_or(line).trim().to_owned());
    commands.filter(|line| !["://", "..", "device:", ".trace"].iter().any(|own| line.contains(own))).collect()
}

/// Two of them said a list where one value goes, and one the name of an experiment that is not there.
#[test]
fn every_command_on_top_of_a_study_that_ships_can_be_planned() {
    let program = Program::new();
    ["a", "b"].iter().for_each(|folder| std::fs::create_dir(program.path(folder)).expect("a folder of its own"));
    let mut tried = 0;
    for name in names(&program) {
        for command in commands_on_top(&program.fine(&format!("studies {name}"))) {
            let here =
                [("DIR1", "a"), ("DIR2", "b"), ("/mnt/data", "a"), ("/mnt/a", "a"), ("/mnt/b", "b"), (":DIR", ":a")];
            let placed = here.iter().fold(command, |command, (named, own)| command.replace(named, own));
            // Quotes of a shell may begin within a word, which those of a test do not.
            let quoted = placed.replace('"', "'").replace("link='", "'link=").replace("events='", "'events=");
            program.fine(&format!("plan {}", quoted.replace("--allow-errors", "")));
            tried += 1;
        }
    }
    assert!(tried > 40, "{tried}");
}
