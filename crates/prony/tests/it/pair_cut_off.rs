//! Bringing a pair up that is killed: the next `up` makes it anew, whatever was there by then, and nothing of it is left when it goes.
//!
//! The one idea: a step is a file that is there, so that what is killed was killed there on any machine.

use crate::house::House;
use crate::program::skipped;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

/// Processes whose command lines hold this.
fn processes(words: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = all.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).filter(|line| line.contains(words)).collect()
}

/// Kills `up` at each of these files, and brings the pair up again.
fn is_made_anew(up: &str, steps: &[&str]) {
    for step in steps {
        let house = House::new("null:");
        let (program, line) = (&house.program, format!("{up} --dir pair"));
        let mut child = program.command(&format!("pair {line}")).stderr(Stdio::null()).spawn().expect("it starts");
        while !program.path("pair").join(step).exists() {
            if child.try_wait().expect("it is ours").is_some() {
                let ran = program.run(&format!("pair {line}"));
                assert!(ran.stderr.contains("is not installed"), "{step} was not seen: {ran}");
                return skipped("no package of the pair");
            }
            std::thread::yield_now();
        }
        child.kill().and_then(|()| child.wait()).expect("it is ours");
        let status = house.pair("status --dir pair");
        assert_eq!(status["state"], "unfinished", "{step}: {status:#}");
        assert!(status["next"].as_str().is_some_and(|next| next.contains("makes its nodes anew")), "{status:#}");
        for command in ["resume", "suspend", "check", "heal"] {
            let refused = program.refused(&format!("pair {command} --dir pair"));
            assert!(refused.contains("was never finished") && refused.contains("prony pair up"), "{step}: {refused}");
        }
        let again = program.run(&format!("pair {line} --json"));
        assert_eq!((again.code, &again.json()["state"]), (Some(0), &"replicating".into()), "{step}: {again}");
        assert!(again.stderr.contains("never finished, so that its nodes are made anew"), "{step}: {again}");
        assert_eq!(house.pair("check --dir pair")["equal"], true);
        // One that is whole is not made anew.
        let third = program.run(&format!("pair {line}"));
        assert!(third.code == Some(0) && !third.stderr.contains("made anew"), "{step}: {third}");
        program.fine("pair down --remove --dir pair");
        let left = processes(&program.path("pair").display().to_string());
        assert!(left.is_empty() && !program.path("pair").exists(), "{step}: {left:#?}");
    }
}

#[test]
fn a_pair_that_follows_by_its_log_is_made_anew() {
    is_made_anew("up postgres-pair --link plain", &["pair.json", "a/data.half", "b/data.half/PG_VERSION"]);
}

#[test]
fn a_pair_in_lock_step_is_made_anew() {
    is_made_anew("up two-phase-pair", &["a/data.half/PG_VERSION", "a/begun", "b/data.half", "b/begun"]);
}

#[test]
fn a_pair_that_galera_joins_is_made_anew() {
    is_made_anew("up galera-pair --voter garbd", &["a/data.half", "voter/pid", "b/begun"]);
}

/// Both kinds of an end, to all that a terminal would send Ctrl-C to: the pair goes down with all that it has, and comes up again.
#[test]
fn an_up_that_is_ended_by_ctrl_c_or_killed_goes_down_and_comes_up_and_nothing_of_it_is_left_running() {
    for (signal, step) in
        [(Signal::INT, "a/data.half/PG_VERSION"), (Signal::INT, "b/data.half"), (Signal::KILL, "b/data.half")]
    {
        let house = House::new("null:");
        let (program, line) = (&house.program, "pair up postgres-pair --dir pair");
        let mut child = program.command(line).process_group(0).stderr(Stdio::null()).spawn().expect("it starts");
        while !program.path("pair").join(step).exists() {
            if child.try_wait().expect("it is ours").is_some() {
                return skipped("no package of PostgreSQL");
            }
            std::thread::yield_now();
        }
        kill_process_group(Pid::from_child(&child), signal).expect("it is running");
        let code = child.wait().expect("it is ours").code();
        assert_eq!(code, (signal == Signal::INT).then_some(2), "{step}");
        let left = || processes(&program.path("pair").display().to_string());
        program.fine("pair down --dir pair");
        assert!(left().is_empty(), "{signal:?} at {step}: {:#?}", left());
        let again = program.run(&format!("{line} --json"));
        assert_eq!(
            (again.code, &again.json()["state"]),
            (Some(0), &"replicating".into()),
            "{signal:?} at {step}: {again}"
        );
        program.fine("pair down --remove --dir pair");
        assert!(left().is_empty() && !program.path("pair").exists(), "{signal:?} at {step}: {:#?}", left());
    }
}

#[test]
fn one_that_is_taken_away_half_made_leaves_nothing_and_a_next_step_names_the_folder_of_the_pair_it_is_for() {
    let house = House::new("null:");
    let program = &house.program;
    for folder in ["pair", "other"] {
        let line = format!("pair up postgres-pair --dir {folder}");
        let mut child = program.command(&line).stderr(Stdio::null()).spawn().expect("it starts");
        while !program.path(folder).join("a/data.half").exists() {
            if child.try_wait().expect("it is ours").is_some() {
                return skipped("no package of PostgreSQL");
            }
            std::thread::yield_now();
        }
        child.kill().and_then(|()| child.wait()).expect("it is ours");
    }
    let next = |folder: &str| house.pair(&format!("status --dir {folder}"))["next"].to_string();
    assert!(next("pair").contains(", each with --dir /") && !next("other").contains("--dir"), "{}", next("pair"));
    program.write("other/pair.json", "{");
    let refused = program.refused("pair status --dir other");
    assert!(
        refused.contains("cannot read") && refused.contains("prony pair down --remove --dir [DIR]/other"),
        "{refused}"
    );
    for folder in ["other", "pair"] {
        assert!(program.fine(&format!("pair down --remove --dir {folder}")).contains("removed"));
        let left = processes(&program.path(folder).display().to_string());
        assert!(left.is_empty() && !program.path(folder).exists(), "{left:#?}");
    }
}
