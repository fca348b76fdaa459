//! A disk that fills up during a run. Needs a small file system of its own, which only root can mount.

use crate::program::Program;
use crate::skip;
use crate::small::{Small, fill, filler};
use rustix::process::Signal;
use std::fs;
use std::time::Duration;

#[test]
fn a_disk_that_fills_up_under_the_run_file_loses_no_finished_interval() {
    let program = Program::new();
    let Some(small) = Small::mount(program.path("small"), "64m") else { skip!("mounting a tmpfs needs root") };
    let line = "run LAB --on null: --set measure=700ms --set replicates=3 --seed 7 --verbose -o small/x.prony";
    let mut going = program.start(line);
    going.until("measure", 2);
    fill(&mut filler(&small.path));
    let (code, told) = going.end();
    // The space was reserved beforehand, so that the run should not even notice.
    assert_eq!(code, Some(0), "{told}");
    let json = program.json("show small/x.prony --json");
    assert_eq!(json["trials"].as_array().expect("trials").len(), 6);
}

#[test]
fn a_disk_that_fills_up_under_the_scratch_files_ends_the_run_with_a_clear_error() {
    let program = Program::new();
    let Some(small) = Small::mount(program.path("small"), "64m") else { skip!("mounting a tmpfs needs root") };
    let line = "run wide --on file:small --set width=1 --set file=4MiB --set loops=4000 --set replicates=2 --seed 7 \
                --verbose -o x.prony";
    let mut going = program.start(line);
    going.until("measure", 1);
    // The copies of the loop free their space before they take it again; whoever asks in between gets it.
    let mut filler = filler(&small.path);
    while going.runs() {
        fill(&mut filler);
        std::thread::sleep(Duration::from_millis(1));
    }
    let (code, told) = going.end();
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("No space left") || told.contains("no space left"), "{told}");
    assert!(told.contains("hint: "), "{told}");
    let left: Vec<_> =
        fs::read_dir(&small.path).expect("the folder").filter_map(Result::ok).map(|e| e.file_name()).collect();
    assert_eq!(left, ["filler"], "scratch files are left");
    assert_eq!(program.run("list --json").code, Some(0));
}

#[test]
fn a_pair_for_which_there_is_no_room_says_what_to_do_and_leaves_no_record() {
    let program = Program::new();
    let Some(small) = Small::mount(program.path("small"), "1m") else { skip!("mounting a tmpfs needs root") };
    fill(&mut filler(&small.path));
    let refused = program.refused("pair up postgres-pair --dir small/pair");
    assert!(refused.contains("free space there") && refused.contains("--dir"), "{refused}");
    let files = fs::read_dir(small.path.join("pair")).into_iter().flatten().flatten();
    assert_eq!(
        files.map(|file| file.file_name()).collect::<Vec<_>>(),
        [""; 0],
        "nothing is left that looks like a pair"
    );
}

#[test]
fn a_limit_on_the_size_of_files_ends_a_run_with_the_file_and_the_limit_in_its_error() {
    let program = Program::new();
    let ran = program.limited(&["--fsize=1048576"], "run LAB --on null: --set measure=100ms -o x.prony");
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.stderr.contains("`x.prony` may not grow beyond 1 MiB") && ran.stderr.contains("ulimit -f"), "{ran}");
}

#[test]
fn a_plan_that_does_not_fit_is_refused_before_anything_is_made() {
    let program = Program::new();
    let Some(small) = Small::mount(program.path("small"), "32m") else { skip!("mounting a tmpfs needs root") };
    let ran = program.run("run LAB --on file:small --set size=64MiB");
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.stderr.contains("64 MiB"), "{ran}");
    assert_eq!(fs::read_dir(&small.path).expect("the folder").count(), 0);
    assert_eq!(program.files(), ["small"]);
}

#[test]
fn quick_shrinks_to_a_small_folder_and_says_so() {
    let program = Program::new();
    let Some(_small) = Small::mount(program.path("small"), "160m") else { skip!("mounting a tmpfs needs root") };
    let mut going = program.start("quick small --verbose");
    // Its first words come before anything is measured; the minute that it takes is not waited for.
    going.until("writes", 1);
    going.signal(Signal::INT);
    let (code, told) = going.end();
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("are free in small: a scratch file of 64 MiB instead of"), "{told}");
}

#[test]
fn a_folder_on_a_read_only_file_system_is_refused_with_the_next_step() {
    let program = Program::new();
    let Some(_small) = Small::mount(program.path("small"), "64m,ro") else { skip!("mounting a tmpfs needs root") };
    let told = program.refused("run LAB --on file:small --set size=1MiB");
    assert!(told.contains("Read-only file system"), "{told}");
    assert!(told.contains("hint: remount it for writing, or name a folder on another filesystem"), "{told}");
    assert_eq!(program.files(), ["small"], "no run file stays behind");
}
