//! Rules for Markdown: one title, links that lead somewhere, a changelog and decision records of one shape.

use super::problem::Problem;
use crate::tree::SourceFile;
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

fn changelog(file: &SourceFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    if headings(file, "## ").next() != Some("Unreleased") {
        problems.push(format!("{}: `## Unreleased` comes first", file.path));
    }
    let strange = headings(file, "### ").filter(|name| !CHANGES.contains(name));
    problems.extend(strange.map(|name| format!("{}: `{name}` is none of {CHANGES:?}", file.path)));
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
        assert_eq!(problems(&[file("CHANGELOG.md", "# Changes\n## Unreleased\n### Added\n")]).len(), 0);
        assert_eq!(problems(&[file("CHANGELOG.md", "# Changes\n## 1.0\n### Improved\n")]).len(), 2);
    }

    #[test]
    fn a_decision_without_its_parts_or_number_is_found() {
        let text = "# A\n## Context\n## Decision\n## Consequences\n## Alternatives\n";
        assert_eq!(problems(&[file("docs/decisions/000-a.md", text)]).len(), 0);
        assert_eq!(problems(&[file("docs/decisions/001-a.md", text)]).len(), 1);
        assert_eq!(problems(&[file("docs/decisions/000-a.md", "# A\n## Context\n")]).len(), 1);
    }
}
