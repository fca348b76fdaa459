//! `kill -9` at random moments of a run on a real file system: the file opens, every finished interval is there, the run
//! goes on, and the scratch files of the dead are found.

use crate::program::Program;
use rustix::process::Signal;
use std::time::Duration;

/// Six trials of 300 ms on a file.
const RUN: &str = "run LAB --on file:. --set size=4MiB --set measure=300ms --set warm_up=0s --set replicates=3 --seed 7 \
                   --quiet -o x.prony";

const RESUME: &str = "run --resume x.prony --quiet";

/// Between 200 ms and 1.4 s.
fn random_moment() -> Duration {
    Duration::from_millis(200 + getrandom::u64().expect("randomness") % 1200)
}

/// Starts a run, kills it after a while, and returns whether it was still alive.
fn kill_after(program: &Program, line: &str, after: Duration) -> bool {
    let mut child = program.command(line).spawn().expect("the program starts");
    std::thread::sleep(after);
    let alive = child.try_wait().expect("a state").is_none();
    child.kill().expect("it can be killed");
    child.wait().expect("an end");
    alive
}

#[test]
fn clean_gives_back_what_a_killed_run_had_reserved_and_leaves_a_living_one_alone() {
    let program = Program::new();
    let mut going = program.start("run LAB --on null: --set measure=3s --seed 7 --verbose -o x.prony");
    going.until("measure", 1);
    assert_eq!(program.fine("clean"), "", "its run goes on");
    going.signal(Signal::KILL);
    going.end();
    let length = |name: &str| std::fs::metadata(program.path(name)).map_or(0, |file| file.len());
    let before = length("x.prony") + length("x.prony-wal");
    assert!(program.fine("clean --dry-run").contains("would close ./x.prony ("));
    assert!(program.fine("clean").contains(" back that ./x.prony had reserved"));
    assert!(length("x.prony") < before / 4 && length("x.prony-wal") == 0, "{} of {before}", length("x.prony"));
    assert_eq!(program.fine("clean"), "");
    let run = program.json("run --resume x.prony --quiet --json");
    assert_eq!(run["trials"].as_array().map(Vec::len), Some(2), "{run}");
}

#[test]
fn a_run_that_is_killed_again_and_again_loses_no_finished_trial() {
    let program = Program::new();
    let mut finished = 0;
    for attempt in 0..4 {
        let after = random_moment();
        let alive = kill_after(&program, if program.path("x.prony").exists() { RESUME } else { RUN }, after);
        let Some(now) = finished_trials(&program) else {
            assert!(alive && finished == 0, "attempt {attempt}: the run file is gone");
            continue;
        };
        assert!(now >= finished, "attempt {attempt}, killed after {after:?}: {finished} trials were there, {now} are");
        finished = now;
        if !alive {
            break;
        }
    }
    if !program.path("x.prony").exists() {
        program.fine(RUN);
    } else if finished < 6 {
        program.fine(RESUME);
    }
    let json = program.json("show x.prony --json");
    assert_eq!(json["trials"].as_array().expect("trials").len(), 6);
    program.fine("clean");
    assert_eq!(program.files(), ["x.prony"], "scratch folders or logs are left");
}

#[test]
fn a_resumed_run_takes_away_what_the_killed_one_left() {
    let program = Program::new();
    let mut child = program.command(RUN).spawn().expect("the program starts");
    let scratch = || program.files().iter().any(|name| name.starts_with("prony-scratch"));
    while !scratch() {
        assert!(child.try_wait().expect("a state").is_none(), "it ended before it made scratch files");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The marker in the folder comes right behind the folder; trials take far longer than this.
    std::thread::sleep(Duration::from_millis(100));
    child.kill().expect("it can be killed");
    child.wait().expect("an end");
    assert!(scratch(), "a killed run cannot clean up");
    program.fine(RESUME);
    assert_eq!(program.files(), ["x.prony"]);
}

#[test]
fn the_finished_part_of_a_killed_trial_is_shown_and_the_trial_is_run_again() {
    let program = Program::new();
    let mut going = program.start(
        "run LAB --on null: --set warm_up=0s --set measure=2s --set interval=100ms --seed 7 --verbose -o x.prony",
    );
    going.until("measure", 1);
    // From here on the log is written at the borders of intervals, and only there.
    let log = || std::fs::metadata(program.path("x.prony-wal")).and_then(|file| file.modified()).ok();
    let mut writes = Vec::new();
    while writes.len() < 8 {
        assert!(going.runs(), "it ended before it could be killed");
        writes.extend(log().filter(|at| writes.last() != Some(at)));
        std::thread::sleep(Duration::from_millis(5));
    }
    going.signal(Signal::KILL);
    going.end();
    let shown = program.json("show x.prony --json");
    let trials = shown["trials"].as_array().expect("trials");
    let [trial] = trials.as_slice() else { panic!("one trial: {trials:#?}") };
    assert_eq!(trial["interrupted"], true);
    assert!(trial["throughput_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{trial:#}");
    let seconds = trial["window_s"]["end"].as_f64().expect("a number");
    assert!((0.1..2.0).contains(&seconds), "{seconds} s are finished");
    let count = |key: &str| trial[key].as_u64().expect("a count");
    assert_eq!(count("planned"), count("done") + count("failed") + count("censored"));
    assert_eq!(shown["points"], serde_json::json!([]), "nothing is concluded from it");
    assert!(program.fine("show x.prony").contains("Interrupted"));
    assert_eq!(finished_trials(&program), Some(0));
    let whole = program.json("run --resume x.prony --json --quiet");
    let trials = whole["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 2);
    assert!(trials.iter().all(|trial| trial["interrupted"] == false));
}

/// Finished trials in the run file; none when the run was killed before there was one that can be read.
fn finished_trials(program: &Program) -> Option<u64> {
    let listed = program.json("list --json");
    listed["runs"].as_array()?.first()?["trials"].as_u64()
}

#[test]
fn scratch_files_of_a_killed_run_are_found_and_removed_and_those_of_a_living_one_are_not() {
    let program = Program::new();
    let long = RUN.replace("measure=300ms", "measure=20s");
    let mut child = program.command(&long).spawn().expect("the program starts");
    let scratch = || program.files().into_iter().filter(|name| name.contains("scratch")).count();
    for _ in 0..400 {
        if scratch() > 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    assert_eq!(scratch(), 1);
    program.fine("clean");
    assert_eq!(scratch(), 1, "the scratch folder of a living run was removed");
    child.kill().expect("it can be killed");
    child.wait().expect("an end");
    assert!(program.fine("clean --dry-run").starts_with("would remove "));
    assert_eq!(scratch(), 1);
    assert!(program.fine("clean").starts_with("removed "));
    assert_eq!(scratch(), 0);
}
