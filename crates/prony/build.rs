//! Writes the commit into the binary when the source is a git checkout; a tarball builds too and says `unknown`.

use std::path::Path;
use std::process::Command;

#[expect(clippy::disallowed_macros, reason = "a build script speaks to cargo on stdout")]
fn main() {
    let git = Path::new("../../.git").exists();
    if git {
        // HEAD changes when another commit is checked out, its log when one is added to the branch.
        println!("cargo::rerun-if-changed=../../.git/HEAD");
        println!("cargo::rerun-if-changed=../../.git/logs/HEAD");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PRONY_COMMIT");
    let commit =
        std::env::var("PRONY_COMMIT").ok().or_else(|| git.then(head).flatten()).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=PRONY_COMMIT={commit}");
}

/// Asked only when the checkout is our own: a tarball unpacked inside another repository must not borrow its commit.
fn head() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !commit.is_empty()).then_some(commit)
}
