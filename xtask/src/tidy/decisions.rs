//! No decision is made on a text that is meant for people.
//!
//! The one idea: labels, messages, names of probes and states travel as values through the rooms that measure, judge and show, so
//! that a sentence can be put better without a result changing. Texts are taken apart where they come in: from users, servers,
//! the kernel, and run files.
//!
//! What it does not do: it understands no Rust. It looks for what takes a text apart, or compares it, with a literal.

use crate::tree::{Problem, SourceFile};
use regex::Regex;

/// Where texts are values already: a crate, or a part of one.
const ROOMS: [&str; 13] = [
    "crates/analysis/src/",
    "crates/database/src/contents/",
    "crates/database/src/dataset/",
    "crates/engine/src/",
    "crates/load/src/",
    "crates/observation/src/",
    "crates/prony/src/judged.rs",
    "crates/prony/src/run/",
    "crates/prony/src/run_rows.rs",
    "crates/recorder/src/",
    "crates/report/src/",
    "crates/study/src/draft.rs",
    "crates/study/src/plan/",
];

/// Files of these rooms that may: crate, name of the file, and why.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("engine", "stations.rs", "the name of a model's station is its kind and its number"),
    ("observation", "label.rs", "reads the words of a load back, which are all that a run file keeps"),
    ("observation", "probe.rs", "reads the names of probes back out of a run file"),
    ("observation", "run.rs", "reads kinds and facts of systems back out of a run file"),
    ("observation", "state.rs", "reads states and searches back out of a run file"),
    ("recorder", "awake.rs", "reads what the kernel says of its driver for idle cores"),
    ("report", "csv.rs", "quotes fields"),
    ("report", "headline.rs", "shortens a level to its first word"),
    ("report", "kept.rs", "keeps options and numbers whole on a line"),
    ("report", "mark.rs", "shortens a number"),
    ("report", "noted.rs", "puts the figures of sentences together that differ in nothing else"),
    ("report", "prose.rs", "sets commands as code and keeps options whole"),
    ("report", "quantity.rs", "chooses the scale of an axis by its unit"),
    ("report", "wrap.rs", "breaks lines"),
    ("analysis", "worst.rs", "sets the trials of a doubt before what to do about it"),
];

/// What takes a text apart or looks into it with a literal, compares it with one, or chooses by one.
const DECIDES: &str = r#"(?x)
    \.(contains|ends_with|find|matches|r?split|r?split_once|splitn|starts_with|strip_(pre|suf)fix)\((["']|\[["']|&format!\()
    | [=!]=\x20" | "\x20[=!]=
    | ^[|(\x20]*(Some\()*".*\x20=>\x20
"#;

/// Every line that decides on a text where that is not allowed, and every exception that nothing needs any more.
pub fn problems(files: &[SourceFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut needed = vec![false; ALLOWED.len()];
    let pattern = Regex::new(DECIDES).expect("a pattern");
    let decides = |line: &str| !line.trim().starts_with("//") && pattern.is_match(line.trim());
    for file in files.iter().filter(|file| is_watched(file)) {
        let lines: Vec<usize> =
            (1..).zip(file.code().lines()).filter(|(_, line)| decides(line)).map(|(at, _)| at).collect();
        let is_it = |(room, name): (&str, &str)| file.room() == Some(room) && file.path.ends_with(&format!("/{name}"));
        let told = |at| format!("{}:{at}: decides on a text; carry a value, and make words of it last", file.path);
        match ALLOWED.iter().position(|(room, name, _)| is_it((room, name))) {
            Some(allowed) => needed[allowed] |= !lines.is_empty(),
            None => problems.extend(lines.iter().map(told)),
        }
    }
    let stale = ALLOWED.iter().zip(needed).filter(|(_, needed)| !needed);
    problems.extend(stale.map(|((room, name, _), _)| {
        format!("xtask/src/tidy/decisions.rs: {name} of `{room}` decides on no text any more; take it off the list")
    }));
    problems
}

fn is_watched(file: &SourceFile) -> bool {
    file.is_code() && !file.path.ends_with("_tests.rs") && ROOMS.iter().any(|room| file.path.starts_with(room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, line: &str) -> usize {
        let file = SourceFile { path: path.into(), text: format!("//! A room.\n{line}\n") };
        let own = |problem: &&Problem| problem.starts_with("crates/");
        problems(&[file]).iter().filter(own).count()
    }

    #[test]
    fn a_decision_on_a_text_is_found_in_any_spelling() {
        for line in [
            "if label.state.contains(\"precondition\") {",
            "let name = series.probe.strip_prefix(\"disk.\")?;",
            "let word = text.split(':').next();",
            "if name.ends_with(&format!(\".{what}\")) {",
            "system.kind == \"model\"",
            "    \"throughput\" => Quantity::Rate,",
            "    Some(\"file\") | None => 1,",
            "    (\"sessions\", 1) => one(),",
        ] {
            assert_eq!(found("crates/analysis/src/judge.rs", line), 1, "{line}");
        }
    }

    #[test]
    fn values_comments_and_rooms_that_read_texts_are_left_alone() {
        for line in
            ["Verdict::Better => \"better\",", "// if it == \"x\"", "known.contains(&name)", "names.join(\": \")"]
        {
            assert_eq!(found("crates/analysis/src/judge.rs", line), 0, "{line}");
        }
        for path in ["crates/study/src/read.rs", "crates/observation/src/state.rs", "crates/analysis/src/run/tests.rs"]
        {
            assert_eq!(found(path, "if words == \"cold caches\" {"), 0, "{path}");
        }
    }

    #[test]
    fn an_exception_that_nothing_needs_is_told() {
        assert_eq!(problems(&[]).len(), ALLOWED.len());
    }
}
