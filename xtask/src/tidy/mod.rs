//! Invariants of the tree that no compiler and no linter holds.
//!
//! The one idea: each rule is a function from files to problems, so that it can be shown to find what it looks for.

mod circles;
mod decisions;
mod documents;
mod libraries;
mod rooms;
mod sizes;
mod sources;

use crate::tree;
use std::path::Path;

/// Holds every rule against the workspace; what it returns are the sizes of the tree.
///
/// # Errors
/// All problems, one a line.
pub fn run(root: &Path) -> Result<String, String> {
    let files = tree::files(root)?;
    let sizes = sizes::measure(&files);
    let mut problems = rooms::problems(&rooms::read(root)?);
    problems.extend(sources::problems(&files));
    problems.extend(circles::problems(&files));
    problems.extend(decisions::problems(&files));
    problems.extend(documents::problems(&files));
    let rules = files.iter().find(|file| file.path == "deny.toml").map_or("", |file| &file.text);
    problems.extend(libraries::problems(&libraries::read(root)?, rules));
    problems.extend(sizes.problems());
    if problems.is_empty() { Ok(sizes.to_string()) } else { Err(problems.join("\n") + "\n") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_workspace_is_tidy() {
        if let Err(problems) = super::run(&crate::tree::root()) {
            panic!("{problems}");
        }
    }
}
