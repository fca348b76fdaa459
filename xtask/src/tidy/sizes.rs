//! How long files and functions are, and where somebody should look again.

use crate::tree::{Problem, SourceFile};
use std::fmt;

/// Nine functions in ten are at most this long.
const FUNCTION_P90: usize = 30;

/// One screen: longer functions are listed, for somebody to look at again.
const SCREEN: usize = 70;

/// Longer files are listed; a table or one algorithm may be.
const FILE: usize = 500;

/// Lengths in lines, ascending by length.
#[derive(Debug, Default)]
pub struct Sizes {
    files: Vec<(usize, String)>,
    functions: Vec<(usize, String)>,
}

/// Measures the shipped code; tests are not counted.
pub fn measure(files: &[SourceFile]) -> Sizes {
    let mut sizes = Sizes::default();
    for file in files.iter().filter(|file| file.is_code()) {
        sizes.files.push((file.text.lines().count(), file.path.clone()));
        sizes.functions.extend(functions(file));
    }
    sizes.files.sort();
    sizes.functions.sort();
    sizes
}

/// Functions from their signature to the brace that closes them: rustfmt puts it at the same depth.
fn functions(file: &SourceFile) -> Vec<(usize, String)> {
    let lines: Vec<&str> = file.code().lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let depth = line.len() - line.trim_start().len();
        let Some(name) = name(line) else { continue };
        let closes = |line: &&&str| **line == format!("{}}}", " ".repeat(depth));
        let length = match lines[start..].iter().position(|line| line.ends_with(';') || line.ends_with('}')) {
            Some(0) => Some(1),
            _ => lines[start..].iter().position(|line| closes(&line)).map(|end| end + 1),
        };
        found.extend(length.map(|length| (length, format!("{}:{} {name}", file.path, start + 1))));
    }
    found
}

fn name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    for word in ["pub ", "pub(crate) ", "pub(super) ", "const ", "unsafe ", "async "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    rest.strip_prefix("fn ")?.split(['(', '<']).next()
}

impl Sizes {
    /// What is against the rules, as against merely long.
    pub fn problems(&self) -> Vec<Problem> {
        let p90 = quantile(&self.functions, 0.9);
        let long = p90 > FUNCTION_P90;
        long.then(|| format!("nine functions in ten are at most {FUNCTION_P90} lines long, got {p90}"))
            .into_iter()
            .collect()
    }
}

fn quantile(lengths: &[(usize, String)], q: f64) -> usize {
    let at = (lengths.len() as f64 * q) as usize;
    lengths.get(at.min(lengths.len().saturating_sub(1))).map_or(0, |(length, _)| *length)
}

impl fmt::Display for Sizes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, lengths) in [("files", &self.files), ("functions", &self.functions)] {
            let (median, p90) = (quantile(lengths, 0.5), quantile(lengths, 0.9));
            let longest = lengths.last().map_or(0, |(length, _)| *length);
            writeln!(out, "{} {what}: median {median} lines, p90 {p90}, longest {longest}", lengths.len())?;
        }
        let long_files = self.files.iter().filter(|(length, _)| *length > FILE);
        let long_functions = self.functions.iter().filter(|(length, _)| *length > SCREEN);
        for (length, place) in long_files.chain(long_functions) {
            writeln!(out, "  look again: {place}, {length} lines")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_from_signature_to_closing_brace() {
        let text =
            "//! A.\nfn one() {}\n\nimpl A {\n    pub fn two(\n        a: u8,\n    ) -> u8 {\n        a\n    }\n}\n";
        let sizes = measure(&[SourceFile { path: "crates/a/src/a.rs".into(), text: text.into() }]);
        let lengths: Vec<_> = sizes.functions.iter().map(|(length, _)| *length).collect();
        assert_eq!(lengths, [1, 5]);
    }

    #[test]
    fn a_tree_of_long_functions_is_a_problem() {
        let body = "    x();\n".repeat(40);
        let text = format!("fn a() {{\n{body}}}\n");
        let sizes = measure(&[SourceFile { path: "crates/a/src/a.rs".into(), text }]);
        assert_eq!(sizes.problems().len(), 1);
    }
}
