//! Rules for source files.

use super::rooms;
use crate::tree::{Problem, SourceFile};
use std::collections::BTreeSet;

/// What a pure room must not name.
const IMPURE: [&str; 8] = [
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::os",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 10] =
    ["util", "utils", "helper", "helpers", "manager", "common", "misc", "shared", "stuff", "base"];

/// The beginnings of paths that only exist on somebody's machine. Written in parts, or this file would find itself.
const MACHINES: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/tmp/", "target"), concat!("/Use", "rs/")];

/// What unsafe code begins with, and what allows it.
const SIGNS: [&str; 4] =
    [concat!("uns", "afe {"), concat!("uns", "afe fn"), concat!("uns", "afe impl"), concat!("allow(uns", "afe_code)")];

/// Crates in which a file may still stand beside a folder of its name.
const NOT_YET: [&str; 1] = ["study"];

/// Everything that is wrong in the sources.
pub fn problems(files: &[SourceFile]) -> Vec<Problem> {
    let mut problems = beside_folders(files);
    problems.extend(unlisted_unsafe_code(files));
    for file in files {
        problems.extend(empty_name(file));
        problems.extend(machine_paths(file));
        if file.path.ends_with(".rs") {
            problems.extend(header(file));
            problems.extend(prefixed_tests(file));
            problems.extend(unsafe_code(file));
        }
        if file.is_code() && file.room().is_some_and(rooms::is_pure) {
            problems.extend(impure(file));
        }
        if file.path.ends_with("/Cargo.toml")
            && file.room().is_some()
            && !file.text.contains("[lints]\nworkspace = true")
        {
            problems.push(format!("{}: take the lints of the workspace", file.path));
        }
    }
    problems
}

/// Files beside a folder of the same name, which belong into it as its `mod.rs`.
fn beside_folders(files: &[SourceFile]) -> Vec<Problem> {
    let folders: BTreeSet<&str> = files.iter().filter_map(|file| Some(file.path.rsplit_once('/')?.0)).collect();
    let held = files.iter().filter(|file| file.room().is_none_or(|room| !NOT_YET.contains(&room)));
    let beside = held.filter_map(|file| file.path.strip_suffix(".rs").filter(|stem| folders.contains(stem)));
    beside.map(|stem| format!("{stem}.rs: stands beside its folder; move it to {stem}/mod.rs")).collect()
}

fn empty_name(file: &SourceFile) -> Option<Problem> {
    let stem = |part: &str| part.split('.').next().unwrap_or_default().to_owned();
    let name = file.path.split('/').map(stem).find(|part| EMPTY_NAMES.contains(&part.as_str()))?;
    Some(format!("{}: `{name}` says nothing about what is inside; name the thing", file.path))
}

fn machine_paths(file: &SourceFile) -> Vec<Problem> {
    at_lines(file, |line| {
        let path = MACHINES.iter().find(|path| line.contains(**path))?;
        Some(format!("`{path}` is a path of one machine"))
    })
}

fn header(file: &SourceFile) -> Option<Problem> {
    // A file that starts with an attribute for the whole crate (a fuzz target) has its header right behind it.
    let first = file.text.lines().find(|line| !line.starts_with("#!") && !line.is_empty());
    let missing = !first.is_some_and(|line| line.starts_with("//! "));
    missing.then(|| format!("{}:1: open with a `//!` header: what it is, the one idea, what it does not do", file.path))
}

fn prefixed_tests(file: &SourceFile) -> Vec<Problem> {
    at_lines(file, |line| {
        let prefixed = line.trim_start().starts_with(concat!("fn te", "st_"));
        prefixed.then(|| "a test is named as a sentence about behaviour, without the prefix".to_owned())
    })
}

fn unsafe_code(file: &SourceFile) -> Vec<Problem> {
    if file.room().is_none_or(|room| room == "engine") {
        return Vec::new();
    }
    at_lines(file, |line| {
        let found = SIGNS.iter().any(|sign| line.contains(sign)) && !line.trim_start().starts_with("//");
        found.then(|| "only the engine holds code that the compiler cannot check".to_owned())
    })
}

/// Every file with unsafe code stands in a table of CONTRIBUTING.md, with how many places it has and what covers them.
fn unlisted_unsafe_code(files: &[SourceFile]) -> Vec<Problem> {
    const TABLE: &str = "CONTRIBUTING.md";
    let Some(table) = files.iter().find(|file| file.path == TABLE) else { return Vec::new() };
    let places = |file: &SourceFile| {
        let begins =
            |line: &str| SIGNS[..3].iter().any(|sign| line.contains(sign)) && !line.trim_start().starts_with("//");
        file.code().lines().filter(|line| begins(line)).count()
    };
    let row = |file: &SourceFile| {
        let name = file.path.strip_prefix("crates/engine/src/")?;
        Some((places(file), name))
            .filter(|(places, _)| *places > 0)
            .map(|(places, name)| format!("| `{name}` | {places} |"))
    };
    let expected: Vec<String> = files.iter().filter(|file| file.is_code()).filter_map(row).collect();
    let rows = table.text.lines().filter(|line| line.starts_with("| `") && line.contains(".rs` | "));
    let stale = rows.filter(|line| !expected.iter().any(|row| line.starts_with(row)));
    let missing = expected.iter().filter(|row| !table.text.contains(*row));
    let stale = stale.map(|line| format!("{TABLE}: not so any more in the table of unsafe code: {line}"));
    missing.map(|row| format!("{TABLE}: missing in the table of unsafe code: {row}")).chain(stale).collect()
}

fn impure(file: &SourceFile) -> Vec<Problem> {
    let lines = file.code().lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = spelled_out(&lines.collect::<Vec<_>>().join("\n"));
    let found = IMPURE.iter().filter(|name| code.contains(**name));
    found.map(|name| format!("{}: a pure room must not use `{name}`", file.path)).collect()
}

/// Writes `use std::{fs, time::Instant}` as `std::fs`, `std::time::Instant`, so that grouping hides nothing.
fn spelled_out(code: &str) -> String {
    let mut text = code.to_owned();
    for (at, opening) in code.match_indices("std::{").chain(code.match_indices("std::time::{")) {
        let prefix = opening.trim_end_matches('{');
        let group = code[at + opening.len()..].split(';').next().unwrap_or_default();
        for part in group.split([',', '{', '}']) {
            text.push_str(&format!("\n{prefix}{}", part.trim()));
        }
    }
    text
}

/// What is found on lines of a file, with its place.
fn at_lines(file: &SourceFile, found: impl Fn(&str) -> Option<String>) -> Vec<Problem> {
    let lines = (1..).zip(file.text.lines());
    lines.filter_map(|(at, line)| Some(format!("{}:{at}: {}", file.path, found(line)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> Vec<Problem> {
        problems(&[SourceFile { path: path.into(), text: text.into() }])
    }

    #[test]
    fn a_pure_room_that_opens_a_file_or_reads_a_clock_is_found_in_any_spelling() {
        for line in [
            "use std::fs;",
            "use std::{fmt, fs};",
            "use std::time::{Duration, Instant};",
            "let x = std::env::var(\"A\");",
        ] {
            assert_eq!(check("crates/load/src/a.rs", &format!("//! A.\n{line}\n")).len(), 1, "{line}");
            assert_eq!(check("crates/store/src/a.rs", &format!("//! A.\n{line}\n")).len(), 0, "{line}");
        }
    }

    #[test]
    fn a_comment_and_a_test_may_speak_of_files() {
        let text = "//! Never std::fs.\n// std::fs\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert_eq!(check("crates/load/src/a.rs", text), Vec::<Problem>::new());
    }

    #[test]
    fn unchecked_code_is_found_outside_the_engine() {
        let text = format!("//! A.\nfn f() {{ uns{} }}\n", "afe { g() }");
        assert_eq!(check("crates/store/src/a.rs", &text).len(), 1);
        assert_eq!(check("crates/engine/src/a.rs", &text).len(), 0);
    }

    #[test]
    fn unsafe_code_that_the_table_does_not_count_rightly_is_found() {
        let code = format!("//! A.\nfn f() {{ uns{} }}\n", "afe { g() }");
        let code = SourceFile { path: "crates/engine/src/a.rs".into(), text: code };
        for (table, found) in
            [("| `a.rs` | 1 | Miri |\n", 0), ("", 1), ("| `a.rs` | 2 |\n", 2), ("| `a.rs` | 1 |\n| `b.rs` | 1 |", 1)]
        {
            let table = SourceFile { path: "CONTRIBUTING.md".into(), text: table.into() };
            assert_eq!(problems(&[code.clone(), table]).len(), found);
        }
    }

    #[test]
    fn empty_names_missing_headers_and_prefixed_tests_are_found() {
        assert_eq!(check("crates/store/src/utils.rs", "//! A.\n").len(), 1);
        assert_eq!(check("crates/store/src/a.rs", "fn f() {}\n").len(), 1);
        assert_eq!(check("crates/store/src/a.rs", &format!("//! A.\nfn te{}() {{}}\n", "st_it")).len(), 1);
    }

    #[test]
    fn a_file_beside_its_folder_is_found() {
        let file = |path: &str| SourceFile { path: format!("crates/load/src/{path}"), text: "//! A.\n".into() };
        assert_eq!(problems(&[file("a.rs"), file("a/b.rs")]).len(), 1);
        assert_eq!(problems(&[file("a/mod.rs"), file("a/b.rs"), file("ab.rs")]).len(), 0);
    }

    #[test]
    fn a_path_of_one_machine_is_found_in_any_file() {
        assert_eq!(check("docs/a.md", &format!("see /wo{}\n", "rk/main")).len(), 1);
    }
}
