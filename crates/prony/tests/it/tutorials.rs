//! The pages that show commands: every command in them is run, and what they show is held against what comes out.
//!
//! The one idea: numbers are the machine's and words are ours, so that the words shown must come out in the same order. What needs a
//! server, a device or minutes says so behind the command, and is planned or parsed. A comment before a block may say how its first
//! command is tried in short; where that is measured, the words that begin the lines of a card and a table are compared.

use crate::program::{Program, Ran};
use regex::{Captures, Regex};

/// Units and what depends on how much was measured, which numbers bring along.
const BESIDE_NUMBERS: &str = "to k M ns us ms s B kB MB GB kB/s MB/s GB/s KiB MiB GiB /s at least seen cannot tell unknown too few independent samples";

/// A command that is shown.
struct Shown<'a> {
    line: &'a str,
    /// What stands behind it: what it needs, or how it exits.
    note: &'a str,
    /// The comment before its block.
    comment: &'a str,
    output: Vec<&'a str>,
}

/// The commands of a page. Files that it says to save are written.
fn commands<'a>(program: &Program, page: &'a str) -> Vec<Shown<'a>> {
    let mut found: Vec<Shown> = Vec::new();
    let (mut comment, mut lines) = ("", page.lines());
    while let Some(line) = lines.next() {
        let Some(fence) = line.strip_prefix("```") else {
            let text = line.strip_prefix("<!-- ").and_then(|text| text.strip_suffix(" -->"));
            comment = text.unwrap_or_default();
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some((_, name)) = fence.split_once(' ') {
            program.write(name, &(block.join("\n") + "\n"));
        }
        for line in block.iter().filter(|_| fence == "console") {
            let Some(command) = line.strip_prefix("$ prony ") else {
                found.last_mut().expect("a command comes first").output.push(line);
                continue;
            };
            let (line, note) = command.split_once(" # ").unwrap_or((command, ""));
            found.push(Shown { line: line.trim(), note, comment: std::mem::take(&mut comment), output: Vec::new() });
        }
    }
    found
}

/// Runs everything that a page shows.
fn try_page(path: &str, at_least: usize) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let page = std::fs::read_to_string(format!("{root}{path}")).expect("the page is there");
    let program = Program::new();
    std::os::unix::fs::symlink(format!("{root}models"), program.path("models")).expect("a link to the tables");
    let commands = commands(&program, &page);
    assert!(commands.len() >= at_least, "{path}: {} commands", commands.len());
    for shown in commands {
        if shown.note.starts_with("needs") {
            let line = without_what_it_needs(shown.line);
            program.fine(&line);
        } else {
            try_command(&program, path, &shown);
        }
    }
}

fn try_command(program: &Program, path: &str, shown: &Shown) {
    let instead = shown.comment.split_once("tried as: ").map(|(_, line)| line);
    if instead.is_some() {
        program.fine(&format!("{} --help", shown.line));
    }
    let ran = program.run(instead.unwrap_or(shown.line));
    let code = if shown.note == "exits with 1" { 1 } else { 0 };
    assert_eq!(ran.code, Some(code), "{path}: prony {}\n{ran}", shown.line);
    let expected = match shown.comment.starts_with("measured") {
        true => beginnings(&shown.output, &ran),
        false => words(&shown.output.join("\n")),
    };
    if let Some(word) = missing(&expected, &words(&ran.stdout)) {
        panic!(
            "{path}: prony {}: `{word}` does not come out behind the words before it\n{expected:?}\n{ran}",
            shown.line
        );
    }
}

/// The same command where there is no server and no device: a plan of a study, else only its options are read.
fn without_what_it_needs(line: &str) -> String {
    let Some(study) = line.strip_prefix("run ").or(line.strip_prefix("plan ")) else { return format!("{line} --help") };
    let pattern = |text| Regex::new(text).expect("a pattern");
    let study = pattern(" (-o|--html|--progress|--destroy) [^ ]+").replace_all(study, "");
    let mut places = 0;
    let nowhere = |found: &Captures| {
        places += 1;
        let kind = if found[2].starts_with(['/', 'd']) { "scripted:" } else { "null-database:" };
        format!("--on at{places}={kind}")
    };
    format!("plan {}", pattern("--on ([a-z]+=)?([^ ]+)").replace_all(&study, nowhere))
}

/// Words in their order, without numbers, what stands beside these, intervals in brackets, and the letters of caveats.
fn words(text: &str) -> Vec<String> {
    let text = Regex::new(r"\([^()]*–[^()]*\)").expect("a pattern").replace_all(text, " ");
    // Which disk a cache lies on, and whether it is one, is the machine's.
    let text = Regex::new(r"(SQLite \S+) on /dev/\S+ \([a-z ]+\)").expect("a pattern").replace_all(&text, "$1");
    let is_caveats = |word: &str| word.chars().all(|c| ('a'..='j').contains(&c)) && word.chars().is_sorted();
    let split = text.split(|c: char| c.is_whitespace() || "(),;:`…".contains(c));
    let kept = split.filter(|word| word.contains(char::is_alphabetic) && !word.contains(|c: char| c.is_ascii_digit()));
    kept.filter(|word| !is_caveats(word) && !BESIDE_NUMBERS.split(' ').any(|beside| beside == *word))
        .map(str::to_owned)
        .collect()
}

/// The two words that begin each line that is not indented, but for answer, doubt and what is typical, which are the machine's.
fn beginnings(shown: &[&str], ran: &Ran) -> Vec<String> {
    let doubts = |line: &&str| line.starts_with("Doubt:") || line.starts_with("No serious doubt");
    let mut expected = Vec::new();
    for paragraph in shown.split(|line| line.is_empty()) {
        if paragraph.iter().any(doubts) {
            assert!(ran.stdout.lines().any(|line| doubts(&line)), "no word of doubt\n{ran}");
            continue;
        }
        let lines = paragraph.iter().filter(|line| !line.starts_with(' ') && !line.starts_with("Typical:"));
        expected.extend(lines.flat_map(|line| words(line).into_iter().take(2)));
    }
    expected
}

/// The first word that does not come behind those before it.
fn missing<'a>(expected: &'a [String], got: &[String]) -> Option<&'a str> {
    let mut got = got.iter();
    expected.iter().find(|word| !got.any(|seen| seen == *word)).map(String::as_str)
}

#[test]
fn every_command_of_the_tutorial_for_storage_gives_what_it_shows() {
    try_page("docs/tutorial/storage.md", 8);
}

#[test]
fn every_command_of_the_tutorial_for_databases_gives_what_it_shows() {
    try_page("docs/tutorial/database.md", 9);
}

#[test]
fn every_command_of_the_tutorial_for_architects_gives_what_it_shows() {
    try_page("docs/tutorial/architect.md", 8);
}

#[test]
fn every_command_of_the_first_page_and_of_what_it_is_called_elsewhere_gives_what_it_shows() {
    try_page("README.md", 4);
    try_page("docs/coming-from.md", 4);
}

#[test]
fn a_word_that_does_not_come_out_in_its_place_is_found() {
    let got = words("reads 4 us (p99 8 us) on old, then 3 k IOPS (2–4 k IOPS) abc on new: better");
    assert_eq!(got, ["reads", "on", "old", "then", "IOPS", "on", "new", "better"]);
    assert_eq!(missing(&words("old 5 ms, new"), &got), None);
    assert_eq!(missing(&words("new, old"), &got), Some("old"));
    assert_eq!(missing(&words("worse"), &got), Some("worse"));
    let needs = without_what_it_needs("run flash --on a=/mnt/a --on local:mariadb --set 'bs=4 KiB' -o x --only b");
    assert_eq!(needs, "plan flash --on at1=scripted: --on at2=null-database: --set 'bs=4 KiB' --only b");
}
