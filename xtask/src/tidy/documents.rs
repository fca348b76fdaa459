//! Rules for Markdown: one title, links that lead somewhere, a changelog and decision records of one shape.

use crate::tree::{Problem, SourceFile};
use regex::Regex;
use std::collections::BTreeSet;

const CHANGES: [&str; 4] = ["Added", "Changed", "Fixed", "Measured differently"];

const DECISION: [&str; 4] = ["Context", "Decision", "Consequences", "Alternatives"];

/// Everything that is wrong in the documents.
pub fn problems(files: &[SourceFile]) -> Vec<Problem> {
    let places: BTreeSet<&str> = files.iter().flat_map(|file| folders(&file.path)).collect();
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        problems.extend(title(file));
        problems.extend(links(file, &places));
        if file.path == "CHANGELOG.md" {
            problems.extend(changelog(file));
        }
        if file.path.starts_with("docs/decisions/") {
            problems.extend(decision(file));
        }
    }
    problems.extend(numbers(files));
    problems.extend(unknown_words(files));
    problems
}

/// A file's own path and all folders that it lies in.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).chain([path])
}

/// The lines outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

fn title(file: &SourceFile) -> Option<Problem> {
    let titles: Vec<usize> = prose(&file.text).filter(|(_, line)| line.starts_with("# ")).map(|(at, _)| at).collect();
    (titles != [1]).then(|| format!("{}: one title, on the first line; found at {titles:?}", file.path))
}

fn links(file: &SourceFile, places: &BTreeSet<&str>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (at, line) in prose(&file.text) {
        for (start, _) in line.match_indices("](") {
            let target = line[start + 2..].split([')', '#']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            if !places.contains(resolve(&file.path, target).as_str()) {
                problems.push(format!("{}:{at}: the link to `{target}` leads nowhere", file.path));
            }
        }
    }
    problems
}

/// The path from the root that a link in the file at `from` means.
fn resolve(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn headings<'a>(file: &'a SourceFile, mark: &'a str) -> impl Iterator<Item = &'a str> {
    prose(&file.text).filter_map(move |(_, line)| line.strip_prefix(mark))
}

/// Versions with their dates behind what is not released yet; sections of four names in one order; one line a change.
fn changelog(file: &SourceFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    let versions: Vec<&str> = headings(file, "## ").collect();
    if versions.first() != Some(&"Unreleased") {
        problems.push(format!("{}: `## Unreleased` comes first", file.path));
    }
    let dated = Regex::new(r"^\d+\.\d+\.\d+ \(\d+-\d+-\d+\)$").expect("a pattern");
    let undated = versions.iter().skip(1).filter(|version| !dated.is_match(version));
    problems.extend(undated.map(|version| format!("{}: `{version}` is no `0.1.0 (2026-11-21)`", file.path)));
    let mut last = None;
    for (at, line) in prose(&file.text) {
        if line.starts_with("## ") {
            last = None;
        } else if let Some(name) = line.strip_prefix("### ") {
            let place = CHANGES.iter().position(|known| *known == name);
            if place.is_none() || place <= last {
                problems.push(format!("{}:{at}: `{name}` is none of {CHANGES:?}, in this order", file.path));
            }
            last = place;
        } else if last.is_some() && !line.is_empty() && !(line.starts_with("- ") && line.ends_with('.')) {
            problems.push(format!("{}:{at}: a change is one line, from `- ` to a full stop", file.path));
        }
    }
    problems
}

fn decision(file: &SourceFile) -> Option<Problem> {
    let found: Vec<&str> = headings(file, "## ").collect();
    (found != DECISION).then(|| format!("{}: a decision has the parts {DECISION:?}, found {found:?}", file.path))
}

/// Decisions are numbered from 000 without a gap.
fn numbers(files: &[SourceFile]) -> Vec<Problem> {
    let paths = files.iter().filter(|file| file.path.ends_with(".md")).map(|file| file.path.as_str());
    let names = paths.filter_map(|path| path.strip_prefix("docs/decisions/"));
    (0..)
        .zip(names)
        .filter(|(number, name)| !name.starts_with(&format!("{number:03}-")))
        .map(|(number, name)| format!("docs/decisions/{name}: the next number is {number:03}"))
        .collect()
}

/// Commands, and words of the headings over keys, that the glossary does not know.
fn unknown_words(files: &[SourceFile]) -> Vec<Problem> {
    let page = |path: &str| files.iter().find(|file| file.path == path);
    let Some(glossary) = page("docs/glossary.md") else { return Vec::new() };
    let terms = glossary.text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let known: BTreeSet<&str> = terms.flat_map(|term| term.split([' ', ','])).collect();
    let is_known = |word: &str| ["of", "over", "the"].contains(&word) || known.contains(word);
    // A command below another, such as `db fill`, is explained with that one.
    let commands = page("docs/reference/cli.md").into_iter().flat_map(|page| headings(page, "## prony "));
    let commands = commands.filter_map(|heading| heading.split(' ').next());
    let groups = page("docs/reference/keys.md").into_iter().flat_map(|page| headings(page, "## "));
    let words = commands.chain(groups.flat_map(|heading| heading.split(' '))).map(str::to_lowercase);
    let missing: BTreeSet<String> =
        words.filter(|word| !is_known(word) && !is_known(word.trim_end_matches('s'))).collect();
    missing.into_iter().map(|word| format!("docs/glossary.md: `{word}` of the reference is missing")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn a_second_title_is_found_unless_it_is_a_comment_in_code() {
        assert_eq!(problems(&[file("a.md", "# A\n\n# B\n")]).len(), 1);
        assert_eq!(problems(&[file("a.md", "# A\n\n```\n# B\n```\n")]).len(), 0);
        assert_eq!(problems(&[file("a.md", "A\n")]).len(), 1);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let good = file("docs/a.md", "# A\n[b](../b.md#part) [docs](../docs) [far](https://example.org)\n");
        assert_eq!(problems(&[good.clone(), file("b.md", "# B\n")]), Vec::<Problem>::new());
        assert_eq!(problems(&[good]).len(), 1);
    }

    #[test]
    fn a_changelog_of_another_shape_is_found() {
        let count = |text: &str| problems(&[file("CHANGELOG.md", &format!("# Changes\n{text}"))]).len();
        assert_eq!(count("## Unreleased\n## 1.0.0 (2026-01-02)\nThe first.\n### Added\n\n- This.\n### Fixed\n"), 0);
        assert_eq!(count("## 1.0.0\n### Improved\n"), 2);
        assert_eq!(count("## Unreleased\n### Fixed\n### Added\n- One that goes\n  on.\n"), 3);
    }

    #[test]
    fn a_command_or_a_group_of_keys_that_the_glossary_does_not_know_is_found() {
        let glossary = file("docs/glossary.md", "# Words\n| check, plan | looks |\n| batch job | work |\n");
        let commands = file("docs/reference/cli.md", "# C\n## prony check\n## prony plan now\n## prony go\n");
        let keys = file("docs/reference/keys.md", "# K\n## Batch jobs over rows\n");
        let found = problems(&[glossary, commands, keys]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`go`") && found[1].contains("`rows`"), "{found:?}");
    }

    #[test]
    fn a_decision_without_its_parts_or_number_is_found() {
        let text = "# A\n## Context\n## Decision\n## Consequences\n## Alternatives\n";
        assert_eq!(problems(&[file("docs/decisions/000-a.md", text)]).len(), 0);
        assert_eq!(problems(&[file("docs/decisions/001-a.md", text)]).len(), 1);
        assert_eq!(problems(&[file("docs/decisions/000-a.md", "# A\n## Context\n")]).len(), 1);
    }
}
