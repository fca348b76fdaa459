//! The help of every command, as it is printed.

use crate::program::Program;

/// Every command that the main help names.
fn commands(program: &Program) -> Vec<String> {
    let help = program.fine("-h");
    let table =
        help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a table of commands");
    let words = table.lines().filter_map(|line| line.split_whitespace().next());
    words.filter(|word| *word != "help").map(str::to_owned).collect()
}

#[test]
fn every_command_has_help_on_one_screen_and_in_full() {
    let program = Program::new();
    let names = commands(&program);
    assert_eq!(names.len(), 28, "{names:?}");
    insta::assert_snapshot!("help-prony", program.fine("--help"));
    for name in names {
        let (short, long) = (program.fine(&format!("{name} -h")), program.fine(&format!("{name} --help")));
        insta::assert_snapshot!(format!("help-{name}"), format!("{short}\n=== --help\n\n{long}"));
        assert!(short.lines().count() <= 40, "-h of {name} is more than one screen:\n{short}");
    }
}

#[test]
fn the_full_help_of_every_command_has_two_examples() {
    let program = Program::new();
    for name in commands(&program) {
        let long = program.fine(&format!("{name} --help"));
        let examples = long.split("Examples:\n").nth(1).unwrap_or_default();
        assert!(examples.matches("  prony ").count() >= 2, "{name}:\n{long}");
    }
}

#[test]
fn help_is_80_columns_wide() {
    let program = Program::new();
    for name in commands(&program) {
        for flag in ["-h", "--help"] {
            let help = program.fine(&format!("{name} {flag}"));
            // Examples are commands to copy: they are never broken.
            let prose = help.split("Examples:\n").next().unwrap_or_default();
            let long: Vec<&str> = prose.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(long.is_empty(), "{name} {flag}: {long:?}");
        }
    }
}

#[test]
fn completions_know_every_command() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = program.fine(&format!("completions {shell}"));
        for name in commands(&program) {
            assert!(text.contains(&name), "{shell} does not know {name}");
        }
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let program = Program::new();
    assert!(program.fine("man").contains(".TH prony 1"));
    program.fine("man --dir man");
    let pages = std::fs::read_dir(program.path("man")).expect("the pages").count();
    assert_eq!(pages, commands(&program).len() + 1);
    let page = std::fs::read_to_string(program.path("man/prony-run.1")).expect("the page of run");
    assert!(page.contains(r"\-\-resume") && page.contains("prony run flash"), "{page}");
}

#[test]
fn the_version_names_the_commit_or_says_that_it_is_unknown() {
    let program = Program::new();
    assert_eq!(program.fine("--version"), "Prony [VERSION]\n");
    let plain = program.command("--version").output().expect("the program starts").stdout;
    assert!(String::from_utf8_lossy(&plain).contains("(commit "), "{}", String::from_utf8_lossy(&plain));
}
