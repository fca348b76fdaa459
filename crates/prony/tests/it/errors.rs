//! What is said when something is wrong: what was being done, the limit, the value, and what to do.

use crate::program::Program;
use crate::skip;

#[test]
fn a_study_that_does_not_ship_is_refused_with_what_does() {
    insta::assert_snapshot!(Program::new().refused("run flahs"));
}

#[test]
fn a_file_that_is_called_like_a_word_needs_its_path() {
    let program = Program::new();
    program.write("mine", "title = \"x\"\n");
    let told = program.refused("check mine");
    assert!(told.contains("hint: a file of that name is here; write `./mine` to use it"), "{told}");
}

#[test]
fn a_missing_study_file_is_named_with_the_cause() {
    insta::assert_snapshot!(Program::new().refused("check missing.toml"));
}

#[test]
fn all_problems_of_a_study_come_at_once_with_line_and_column() {
    let program = Program::new();
    program.write(
        "wrong.toml",
        "title = \"Wrong\"\nquestion = \"What is wrong?\"\n\n[system.here]\nkind = \"file\"\ndir = \".\"\nsize = \"64\"\n\n\
         [workload.reads]\nkind = \"block\"\npatern = \"random\"\nread = \"130%\"\n\n[[experiment]]\nname = \"one\"\n\
         workload = [\"reeds\"]\nload = { outstanding = 0 }\nmeasure = \"5 KiB\"\n",
    );
    insta::assert_snapshot!(program.refused("check wrong.toml"));
}

#[test]
fn one_problem_of_a_setting_is_told_with_its_option() {
    insta::assert_snapshot!(Program::new().refused("plan flash --on null: --set measure=60"));
}

#[test]
fn a_target_of_no_known_kind_is_refused() {
    insta::assert_snapshot!(Program::new().refused("plan flash --on floppy:a"));
}

#[test]
fn an_experiment_that_is_not_there_is_refused_with_those_that_are() {
    insta::assert_snapshot!(Program::new().refused("plan flash --on null: --only random-reed"));
}

#[test]
fn a_folder_that_is_not_there_is_refused_before_anything_is_made() {
    let program = Program::new();
    insta::assert_snapshot!(program.refused("run flash --on file:missing"));
    assert_eq!(program.files(), [""; 0]);
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    insta::assert_snapshot!(Program::new().refused("plan flash --on device:/dev/prony-has-no-such"));
}

#[test]
fn the_simulated_backend_needs_a_model() {
    insta::assert_snapshot!(Program::new().refused("run flash --on null: --backend simulated"));
    insta::assert_snapshot!(Program::new().refused("run LAB --backend measured"));
}

#[test]
fn a_run_file_is_never_overwritten() {
    let program = Program::new();
    program.write("kept.prony", "something else");
    insta::assert_snapshot!(program.refused("run LAB -o kept.prony"));
    assert_eq!(std::fs::read_to_string(program.path("kept.prony")).expect("the file"), "something else");
}

#[test]
fn a_run_file_needs_a_folder_that_is_there() {
    insta::assert_snapshot!(Program::new().refused("run LAB -o missing/x.prony"));
}

/// It was written over a file system, and told as success.
#[test]
fn a_report_is_never_written_over_a_block_device() {
    if !rustix::process::geteuid().is_root() {
        skip!("making a device needs root")
    }
    let program = Program::new();
    program.fine("run LAB --seed 7 --quiet -o x.prony");
    // Nothing stands behind this number: whoever opens it fails, and whoever looks first says why.
    let (kind, nobody) = (rustix::fs::FileType::BlockDevice, rustix::fs::makedev(259, 1_000_000));
    rustix::fs::mknodat(rustix::fs::CWD, program.path("disk"), kind, rustix::fs::Mode::RWXU, nobody).unwrap();
    for line in ["report x.prony -o disk", "run LAB -o y.prony --html disk", "quick --html disk"] {
        let told = program.refused(line);
        assert!(told.contains("writing the report `disk`: it is a block device, and it stays as it is"), "{told}");
    }
}

#[test]
fn a_report_that_could_not_be_written_is_refused_before_anything_is_measured() {
    let program = Program::new();
    for command in ["run LAB -o x.prony", "quick"] {
        let told = program.refused(&format!("{command} --html missing/x.html"));
        assert!(told.contains("writing the report to `missing/x.html`: a folder that exists is needed"), "{told}");
        assert!(told.contains("hint: make it with `mkdir -p missing`"), "{told}");
    }
    std::fs::create_dir(program.path("folder")).expect("a folder");
    let told = program.refused("run LAB -o x.prony --html folder");
    assert!(told.contains("writing the report to `folder`"), "{told}");
    assert_eq!(program.files(), ["folder"]);
}

#[test]
fn quick_takes_its_folder_by_on_as_other_commands_do_and_nothing_else() {
    let program = Program::new();
    for on in ["missing", "file:missing"] {
        let told = program.refused(&format!("quick --on {on}"));
        assert!(told.contains("`missing`") && told.contains("No such file"), "{told}");
    }
    let told = program.refused("quick --on sqlite:x.db");
    assert!(told.contains("one folder, as it is") && told.contains("prony run quick --on sqlite:x.db"), "{told}");
    assert_eq!(program.files(), [""; 0]);
}

#[test]
fn a_consent_that_cannot_be_read_is_refused() {
    insta::assert_snapshot!(Program::new().refused("run LAB --destroy S4X9"));
}

#[test]
fn a_tag_of_two_words_is_refused() {
    insta::assert_snapshot!(Program::new().refused("run LAB --tag 'two words'"));
}

#[test]
fn a_run_that_is_not_there_is_refused() {
    insta::assert_snapshot!(Program::new().refused("show 2026-11"));
    insta::assert_snapshot!(Program::new().refused("show latest"));
}

#[test]
fn a_file_that_is_no_run_is_refused_by_every_reader() {
    let program = Program::new();
    program.write("x.prony", "this is no run file, however long the text in it may be");
    for command in ["show", "report", "compare", "redact"] {
        let told = program.refused(&format!("{command} x.prony"));
        assert!(told.contains("`x.prony` is not a run file of Prony"), "{command}: {told}");
    }
}

#[test]
fn usage_errors_name_the_argument() {
    insta::assert_snapshot!(Program::new().refused("run flash --onn x"));
    insta::assert_snapshot!(Program::new().refused("run flash --seed -1"));
    insta::assert_snapshot!(Program::new().refused("run"));
    insta::assert_snapshot!(Program::new().refused("show"));
}
