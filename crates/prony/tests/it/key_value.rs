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

/// What stands behind a key of a line, up to the next one.
fn word<'a>(line: &'a str, key: &str) -> &'a str {
    line.split(key).nth(1).expect("the key").split(',').next().expect("a value").trim()
}

/// Steps of a line of a history, each as its words: `append 3 17`, or `r 3` and what was seen.
fn steps(line: &str) -> Vec<Vec<&str>> {
    let value = line.split(":value [").nth(1).expect("a value");
    value
        .split("[:")
        .skip(1)
        .map(|step| step.split([' ', '[', ']', '}']).filter(|word| !word.is_empty()).collect())
        .collect()
}

/// What a checker makes of a history.
struct Judged<'a> {
    /// Numbers that were acknowledged as appended.
    acknowledged: usize,
    /// The numbers that a read which began later holds.
    kept: Vec<&'a str>,
    /// How many numbers a read that began later lacks.
    lost: usize,
}

/// Judges a history of which no read holds the number `gone`.
fn judged<'a>(history: &'a str, gone: &str) -> Judged<'a> {
    let (mut acknowledged, mut before) = (Vec::new(), std::collections::BTreeMap::new());
    let (mut kept, mut lost) = (Vec::new(), 0);
    for line in history.lines() {
        let process = word(line, ":process");
        if word(line, ":type") == ":invoke" {
            before.insert(process, acknowledged.len());
        }
        for step in steps(line).into_iter().filter(|_| word(line, ":type") == ":ok") {
            if step[0] == "append" {
                acknowledged.push((step[1], step[2]));
                continue;
            }
            let known = acknowledged[..before[process]].iter().filter(|(key, _)| *key == step[1]);
            for (_, number) in known {
                if *number != gone && step[2..].contains(number) {
                    kept.push(*number);
                } else {
                    lost += 1;
                }
            }
        }
    }
    Judged { acknowledged: acknowledged.len(), kept, lost }
}

#[test]
fn the_history_of_lists_holds_every_acknowledged_number_in_later_reads_and_one_that_is_taken_away_is_missed() {
    let program = Program::new();
    let lists = "--set mix=lists --set rows=6 --set fields=1 --set field=8kB --set keys=uniform --set sessions=3";
    let line = format!("run key-value --on sqlite:lists.db {lists} --set measure=500ms --set warm_up=0s");
    let told = program.json(&format!("{line} --json --quiet -o x.prony"));
    fine(&told, 1);
    let checks = told["checks"].as_array().expect("checks");
    assert!(checks.iter().any(|check| check["name"] == "lists" && check["result"] == "passed"), "{checks:#?}");
    let history = program.fine("show x.prony --history 0");
    let found = judged(&history, "none");
    assert!(found.acknowledged > 20 && found.lost == 0, "{} of {}", found.lost, found.acknowledged);
    // A number that goes from the reads that held it is one that a checker misses.
    let number = found.kept[0];
    assert!(judged(&history, number).lost > 0, "{number} in {history}");
    assert_eq!(program.run("db check --ledger x.prony").code, Some(0));
    let db = rusqlite::Connection::open(program.path("lists.db")).expect("a database");
    let read = "SELECT id, field0 FROM record WHERE field0 LIKE '%:% %' ORDER BY id LIMIT 1";
    let (id, list): (i64, String) = db.query_row(read, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("a list");
    let (of, numbers) = list.split_once(':').expect("whose it is");
    let (gone, rest) = numbers.split_once(' ').expect("two numbers");
    let without = format!("{of}:{rest}{}", ".".repeat(gone.len() + 1));
    db.execute("UPDATE record SET field0 = ?1 WHERE id = ?2", (without, id)).expect("a record");
    drop(db);
    let ran = program.run("db check --ledger x.prony");
    assert!(ran.code == Some(1) && ran.stdout.contains("was acknowledged as appended"), "{ran}");
    assert!(program.refused("show x.prony --history 1").contains("a history of trial 1, got none"));
}
