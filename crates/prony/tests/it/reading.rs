//! The commands that read a run that is there.

use crate::program::Program;

/// A folder with one finished run in `x.prony`.
fn with_run() -> Program {
    let program = Program::new();
    program.fine("run LAB --seed 7 --quiet --tag lab -o x.prony");
    program
}

#[test]
fn a_run_is_shown_as_it_was_when_it_ended() {
    let program = Program::new();
    let ended = program.json("run LAB --seed 7 --json -o x.prony");
    assert_eq!(program.json("show x.prony --json"), ended);
}

#[test]
fn a_run_is_shown_in_full() {
    insta::assert_snapshot!(with_run().fine("show x.prony"));
}

#[test]
fn a_run_is_found_by_its_id_by_its_beginning_by_its_file_and_as_the_latest() {
    let program = Program::new();
    program.fine("run LAB --seed 7 --quiet");
    let id = program.json("list --json")["runs"][0]["run"].as_str().expect("an id").to_owned();
    assert!(id.ends_with("-lab"), "{id}");
    let wanted = program.fine(&format!("show {id}.prony --csv"));
    for word in [id.as_str(), &id[..10], "latest"] {
        assert_eq!(program.fine(&format!("show {word} --csv")), wanted, "{word}");
    }
}

#[test]
fn a_run_whose_file_was_named_has_that_name() {
    assert_eq!(with_run().json("show x --json")["run"], "x");
}

/// Title of the window, screen, bell, direction: none of it reaches a terminal, from whatever command.
#[test]
fn what_a_run_says_to_a_terminal_is_shown_and_not_sent() {
    const SPELL: &str = "\u{1b}]0;mine\u{7}\u{1b}[2J\u{9b}8m\u{202e}";
    let program = with_run();
    let mut file = store::RunFile::open_for_notes(&program.path("x.prony")).expect("it opens");
    file.set_tags(&[SPELL.to_owned()]).and_then(|()| file.set_note(SPELL)).expect("they are written");
    file.close().expect("it closes");
    for line in
        ["show x.prony", "show x.prony --csv", "show x.prony --json", "list", "list --json", "compare x.prony x"]
    {
        let ran = program.run(line);
        assert!(!ran.to_string().contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{line}: {ran}");
    }
    assert_eq!(program.json("list --json")["runs"][0]["tags"][0], SPELL);
    assert!(program.fine("list").contains("\\u001b]0;mine\\u0007\\u001b[2J\\u009b8m\\u202e"));
    let missing = program.refused(&format!("show '{SPELL}'"));
    assert!(!missing.contains('\u{1b}'), "{missing}");
}

#[test]
fn a_run_that_was_not_closed_is_shown_from_a_copy_and_left_as_it_is() {
    let program = with_run();
    let shown = program.fine("show x.prony --csv");
    let mut file = store::RunFile::open_for_notes(&program.path("x.prony")).expect("it opens");
    file.set_note("only in the log").expect("it is written");
    for ending in ["", "-wal"] {
        std::fs::copy(program.path(&format!("x.prony{ending}")), program.path(&format!("y.prony{ending}")))
            .expect("copied");
    }
    drop(file);
    let read = |name: &str| std::fs::read(program.path(name)).expect("it is there");
    let (before, log) = (read("y.prony"), read("y.prony-wal"));
    assert_eq!(program.fine("show y.prony --csv"), shown);
    assert!(program.fine("show y.prony --json").contains("only in the log"));
    assert_eq!(program.json("list --json")["runs"].as_array().map(Vec::len), Some(2));
    let nowhere = program.command("show y.prony").env("TMPDIR", "/no/such/folder").output().expect("it runs");
    let told = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(told.contains("y.prony") && told.contains("TMPDIR"), "{told}");
    assert!(read("y.prony") == before && read("y.prony-wal") == log);
    assert!(!program.path("y.prony-shm").exists() && !program.path("y.prony-journal").exists());
}

#[test]
fn csv_has_a_header_and_one_line_a_trial_and_stream() {
    let csv = with_run().fine("show x.prony --csv");
    let mut lines = csv.lines();
    let columns = lines.next().expect("a header").split(',').count();
    assert!(columns > 10, "{csv}");
    assert!(lines.clone().count() >= 1 && lines.all(|line| line.split(',').count() >= columns), "{csv}");
}

#[test]
fn the_list_names_runs_and_what_cannot_be_read() {
    let program = with_run();
    program.write("broken.prony", "no run");
    insta::assert_snapshot!(program.fine("list"));
}

#[test]
fn an_empty_folder_has_no_runs() {
    let ran = Program::new().run("list");
    insta::assert_snapshot!(ran);
}

#[test]
fn a_report_is_one_page_beside_the_run() {
    let program = with_run();
    assert_eq!(program.fine("report x.prony"), "x.html\n");
    let page = std::fs::read_to_string(program.path("x.html")).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"), "{}", &page[..60]);
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"), "the page needs the network");
    let piped = program.command("report x.prony -o -").output().expect("the program starts").stdout;
    assert_eq!(String::from_utf8_lossy(&piped), page);
}

#[test]
fn a_page_replaces_a_page_and_nothing_else() {
    let program = with_run();
    program.fine("report x.prony");
    assert_eq!(program.fine("report x.prony"), "x.html\n", "the page is written anew");
    let told = program.refused("run LAB -o both --html both");
    assert!(told.contains("a run and its report need a file each, got `both` for both"), "{told}");
    let run = std::fs::read(program.path("x.prony")).expect("the run");
    std::fs::write(program.path("y.html"), &run).expect("a run with the name of a page");
    std::fs::write(program.path("precious"), "mine").expect("a file");
    std::os::unix::fs::symlink(program.path("precious"), program.path("v.html")).expect("a link");
    for line in ["report y.html", "report x.prony -o x.prony", "report x.prony -o v.html", "report x.prony -o precious"]
    {
        let output = program.command(line).output().expect("the program starts");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {told}");
        assert!(told.contains("is no page of Prony"), "{line}: {told}");
    }
    assert_eq!(std::fs::read(program.path("x.prony")).expect("the run"), run);
    assert_eq!(std::fs::read(program.path("y.html")).expect("the run"), run);
    assert_eq!(std::fs::read_to_string(program.path("precious")).expect("the file"), "mine");
}

#[test]
fn tags_and_notes_change_and_observations_do_not() {
    let program = with_run();
    let before = program.fine("show x.prony --csv");
    assert_eq!(program.fine("tag x first lab"), "first lab\n");
    assert_eq!(program.fine("tag x --remove lab"), "first\n");
    program.fine("note x 'after the update'");
    assert_eq!(program.json("show x.prony --json")["about"]["note"], "after the update");
    assert_eq!(program.fine("show x.prony --csv"), before);
}

#[test]
fn a_redacted_copy_keeps_the_numbers_and_loses_the_places() {
    let program = Program::new();
    std::fs::create_dir(program.path("customer-array")).expect("a folder");
    let few = "--set size=2MiB --set measure=100ms --set warm_up=0s";
    let run = format!("run LAB --on here=file:customer-array {few} --seed 7 --quiet -o x.prony");
    program.fine(&format!("{run} --note 'customer-array after the update'"));
    assert_eq!(program.fine("redact x.prony"), "x-redacted.prony\n");
    assert_eq!(program.fine("show x-redacted.prony --csv"), program.fine("show x.prony --csv"));
    let bytes = std::fs::read(program.path("x-redacted.prony")).expect("the copy");
    assert!(!bytes.windows(8).any(|window| window == b"customer"), "the place is in the copy");
    program.refused("redact x.prony");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::io::Read as _;
    let program = with_run();
    let mut child = program.command("show x.prony --json").spawn().expect("the program starts");
    // Closed before anything is read: the first write meets a closed pipe.
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("an end").code(), Some(0));
    let mut told = String::new();
    child.stderr.take().expect("stderr").read_to_string(&mut told).expect("text");
    assert_eq!(told, "");
}

#[test]
fn nothing_is_left_behind_where_nothing_ran() {
    insta::assert_snapshot!(Program::new().run("clean"));
}

#[test]
fn a_redacted_copy_of_a_study_that_names_a_server_is_read_as_any_other() {
    let program = Program::new();
    let lab = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/lab.toml")).expect("the study");
    let server =
        "[system.db]\nkind = \"postgres\"\nurl = \"postgres://alice@db1.corp.example:5432/shop\"\n\n[workload.reads]";
    program.write("with.toml", &lab.replace("[workload.reads]", server));
    program.fine("run with.toml --on x=scripted:service=100us --set measure=100ms --seed 7 --quiet -o x.prony");
    program.fine("redact x.prony");
    for line in
        ["show x-redacted", "show x-redacted --json", "report x-redacted -o x.html", "redact x-redacted -o y.prony"]
    {
        program.fine(line);
    }
    let copy = std::fs::read(program.path("x-redacted.prony")).expect("the copy");
    for private in ["alice", "db1", "corp", "shop"] {
        assert!(!copy.windows(private.len()).any(|window| window == private.as_bytes()), "{private} is in the copy");
    }
}

#[test]
fn a_plan_says_what_a_script_may_do_on_a_private_server() {
    let program = Program::new();
    program.write("own.sql", "SELECT 1;\n");
    let told = |on: &str, script: &str| {
        let plan = program.fine(&format!("plan sql --on {on} --set script={script}"));
        plan.split_whitespace().collect::<Vec<_>>().join(" ").contains("as the role prony_script of the private server")
    };
    assert!(told("local:postgres", "./own.sql"));
    assert!(!told("local:postgres", "tpcb-like"), "Prony's own do nothing else");
    assert!(!told("postgres://me@/mine", "./own.sql"), "whose role is the user's choice");
}
