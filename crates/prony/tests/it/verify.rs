//! What a run left on files is checked long after it, and nothing is written to it.

use crate::emulate::Device;
use crate::program::Program;
use crate::schema::hold;
use crate::skip;
use rustix::process::Signal;
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

const STUDY: &str = "title = 'One'\nquestion = 'What?'\n[system.disk]\nkind = 'file'\ndir = 'data'\nsize = '1 MiB'\n\
                     [workload.writes]\nkind = 'block'\nread = '0%'\n\
                     [[experiment]]\nname = 'all'\nworkload = 'writes'\nload = { outstanding = 2 }\nwarm_up = '0 s'\n\
                     measure = '300 ms'\n";

/// A run whose scratch file is kept.
fn kept(changes: &str) -> (Program, PathBuf) {
    let program = Program::new();
    program.write("one.toml", STUDY);
    std::fs::create_dir(program.path("data")).unwrap();
    program.fine(&format!("run one.toml --seed 7 --quiet --keep -o one.prony {changes}"));
    let folder = std::fs::read_dir(program.path("data")).unwrap().next().unwrap().unwrap().path();
    (program, folder.join("module-0.dat"))
}

fn open(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

fn found(program: &Program) -> (Option<i32>, Value) {
    let ran = program.run("verify one.prony --json");
    let value = ran.json();
    hold(&value);
    (ran.code, value["systems"][0].clone())
}

fn kinds(system: &Value) -> Vec<(String, u64)> {
    let one = |damage: &Value| (damage["what"].as_str().unwrap().to_owned(), damage["sectors"].as_u64().unwrap());
    system["damage"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn a_device_beside_the_data_that_never_answers_is_not_asked() {
    let (program, _) = kept("");
    if !Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
        skip!("mounting needs root and /dev/fuse")
    }
    let places = [("behind", "stuck"), ("more", "data/stuck")];
    for folder in places.iter().flat_map(|(backing, at)| [backing, at]) {
        std::fs::create_dir(program.path(folder)).unwrap();
    }
    let stuck = places.map(|(backing, at)| Device::serve(&program, &format!("nothing --backing {backing}"), at));
    let all = |signal| stuck.iter().for_each(|device| device.going.as_ref().unwrap().signal(signal));
    all(Signal::STOP);
    let mut going = program.start("verify one.prony");
    let ends = (0..2000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        !going.runs()
    });
    all(Signal::CONT);
    assert!(ends, "it waits for what is not its own");
    assert_eq!(going.end().0, Some(0));
}

/// All of it gone was an error of the command, and half of it damage.
#[test]
fn a_scratch_file_that_is_gone_is_missing_sectors_as_long_as_its_folder_is_there() {
    let (program, path) = kept("--set verify=after");
    std::fs::remove_file(&path).unwrap();
    let (code, system) = found(&program);
    assert_eq!((code, kinds(&system)), (Some(1), vec![("missing".to_owned(), 2048)]), "{system:#}");
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert!(program.refused("verify one.prony").contains("got no file"));
}

/// What somebody laid beside them went with the scratch files.
#[test]
fn a_scratch_folder_in_which_a_user_keeps_something_is_left_and_named() {
    let (program, path) = kept("");
    let theirs = path.with_file_name("thesis.txt");
    std::fs::write(&theirs, "years").unwrap();
    for line in ["clean data --dry-run", "clean data"] {
        let ran = program.run(line);
        assert!(ran.stderr.contains("holds `thesis.txt`, which Prony did not make, and stays"), "{ran}");
        assert!(theirs.exists() && path.exists());
    }
    std::fs::remove_file(&theirs).unwrap();
    assert!(program.fine("clean data").starts_with("removed "));
    assert!(!path.exists());
}

#[test]
fn what_a_run_left_is_sound_until_it_is_damaged_and_is_never_written() {
    let (program, path) = kept("--set verify=after");
    let before = (std::fs::read(&path).unwrap(), std::fs::metadata(&path).unwrap());
    let (code, system) = found(&program);
    assert_eq!((code, &system["sectors"], &system["damaged"]), (Some(0), &2048.into(), &0.into()), "{system:#}");
    assert_eq!((&system["held_to"], &system["bytes"]), (&"writes".into(), &(1 << 20).into()), "{system:#}");
    assert!(system["generations"][0].as_str().unwrap().starts_with("1."), "{system:#}");
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!((after.mtime_nsec(), after.ctime_nsec()), (before.1.mtime_nsec(), before.1.ctime_nsec()));
    assert!(std::fs::read(&path).unwrap() == before.0, "nothing was written");

    let (file, mut block) = (open(&path), [0; 4096]);
    file.read_exact_at(&mut block, 0).unwrap();
    file.write_all_at(&block, 8192).unwrap();
    file.write_all_at(&[0; 4096], 16384).unwrap();
    file.read_exact_at(&mut block, 32768).unwrap();
    block[700] ^= 1;
    file.write_all_at(&block, 32768).unwrap();
    file.write_all_at(&[7; 512], 65536).unwrap();
    let (code, system) = found(&program);
    assert_eq!((code, &system["passed"]), (Some(1), &false.into()), "{system:#}");
    let expected = [("misplaced", 8), ("zeroed", 8), ("flipped", 1), ("foreign", 1)];
    assert_eq!(kinds(&system), expected.map(|(kind, sectors)| (kind.to_owned(), sectors)), "{system:#}");
    let told = program.run("verify one.prony");
    assert!(told.code == Some(1) && told.stdout.contains("DAMAGED  8 misplaced; first: misplaced sector"), "{told}");
}

#[test]
fn a_write_that_was_lost_in_whole_or_in_part_is_found_where_the_run_noted_its_writes() {
    let two = STUDY.replace("measure = '300 ms'", "measure = '300 ms'\nreplicates = 2\nvalidate = true");
    let program = Program::new();
    program.write("one.toml", &two);
    std::fs::create_dir(program.path("data")).unwrap();
    // The file as it was after a run of the same seed that wrote less.
    program.fine("run one.toml --seed 7 --quiet --keep -o less.prony --set replicates=1 --set operations=300");
    let folder = std::fs::read_dir(program.path("data")).unwrap().next().unwrap().unwrap().path();
    let less = std::fs::read(folder.join("module-0.dat")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    program.fine("run one.toml --seed 7 --quiet --keep -o one.prony");
    let folder = std::fs::read_dir(program.path("data")).unwrap().next().unwrap().unwrap().path();
    let path = folder.join("module-0.dat");
    assert_eq!(found(&program).0, Some(0));
    let file = open(&path);
    file.write_all_at(&less[..4096], 0).unwrap();
    file.write_all_at(&less[8192..10240], 8192).unwrap();
    let (code, system) = found(&program);
    assert_eq!(code, Some(1), "{system:#}");
    assert_eq!(kinds(&system), [("stale".to_owned(), 8), ("torn".to_owned(), 4)], "{system:#}");
}

#[test]
fn a_run_that_noted_no_writes_is_held_to_its_stamps_and_one_elsewhere_is_named() {
    let (program, path) = kept("");
    let (code, system) = found(&program);
    assert_eq!((code, &system["held_to"]), (Some(0), &"stamps".into()), "{system:#}");
    open(&path).write_all_at(&[0; 512], 1024).unwrap();
    assert_eq!(kinds(&found(&program).1), [("zeroed".to_owned(), 1)]);
    let moved = program.path("moved");
    std::fs::rename(path.parent().unwrap(), program.path("data").join("prony-scratch-elsewhere")).unwrap();
    std::fs::rename(program.path("data"), &moved).unwrap();
    let told = program.refused("verify one.prony");
    assert!(told.contains("left of `disk` in") && told.contains("--on names a folder that was moved"), "{told}");
    assert_eq!(program.run("verify one.prony --on moved").code, Some(1));
    let told = program.refused("verify one.prony --on null:");
    assert!(told.contains("a folder, `file:DIR` or `device:PATH`, got `null:`"), "{told}");
    program.fine("run LAB --seed 7 --quiet -o two.prony");
    assert!(program.refused("verify two.prony").contains("a system of files or devices is needed, got none"));
}

#[test]
fn data_that_is_not_there_any_more_is_damage() {
    for changes in ["--set verify=after", "", "--set modules=2"] {
        let (program, path) = kept(changes);
        let cut = 4 * 4096 + 100;
        open(&path).set_len((1 << 20) - cut).unwrap();
        let (code, system) = found(&program);
        let missing = kinds(&system).into_iter().find(|(what, _)| what == "missing");
        assert_eq!(
            (code, missing),
            (Some(1), Some(("missing".to_owned(), cut.div_ceil(512)))),
            "{changes}: {system:#}"
        );
        open(&path).set_len(0).unwrap();
        assert_eq!(found(&program).0, Some(1), "{changes}");
        let second = path.with_file_name("module-1.dat");
        if second.exists() {
            open(&path).set_len(1 << 20).unwrap();
            std::fs::remove_file(second).unwrap();
            let told = program.run("verify one.prony");
            assert!(told.code == Some(1) && told.stdout.contains("module 1 of 2, 1 MiB, is not there"), "{told}");
        }
    }
}
