//! The files of the workspace: what is under version control, or would be.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a rule finds, with its place: `crates/load/src/lib.rs:12: ...`.
pub type Problem = String;

/// A file of the tree.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// From the root, with forward slashes.
    pub path: String,
    /// What is in it; empty when that is not text.
    pub text: String,
}

impl SourceFile {
    /// The name of the crate that a file under `crates/` belongs to.
    pub fn room(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Whether it is shipped code, not a test or a fixture.
    pub fn is_code(&self) -> bool {
        let tests = self.path.contains("/tests/") || self.path.ends_with("/tests.rs");
        self.path.ends_with(".rs") && self.path.contains("/src/") && !tests
    }

    /// The text without the tests at its end.
    pub fn code(&self) -> &str {
        self.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default()
    }
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All files that are under version control, or new and not ignored.
///
/// # Errors
/// When git is not there, or this is no clone.
pub fn files(root: &Path) -> Result<Vec<SourceFile>, String> {
    let listing = output(Command::new("git").current_dir(root).args(["ls-files", "-co", "--exclude-standard"]))?;
    // What was deleted and not yet committed is listed and cannot be read.
    let read =
        |path: &str| Some(SourceFile { path: path.to_owned(), text: text(std::fs::read(root.join(path)).ok()?) });
    let mut files: Vec<SourceFile> = listing.lines().filter_map(read).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Pictures and run files are part of the tree, and have no text to look at.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

/// What a command prints.
///
/// # Errors
/// When it cannot be started or fails; then what it wrote about that.
pub fn output(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("cannot run {command:?}: {error}\n"))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
