//! Chores of the workspace: `cargo xtask tidy` and `cargo xtask release`.
//!
//! The one idea: a rule that no compiler and no linter can hold is held here, by a program that also runs as a test.
//!
//! What it does not do: nothing here is part of Prony, and Prony does not need it to build.

mod release;
mod tidy;
mod tree;

use std::io::Write;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  tidy       hold the invariants of ARCHITECTURE.md against the tree, and print its sizes
  release    make a static binary in target/release-static/
";

fn main() -> ExitCode {
    let chore = std::env::args().nth(1).unwrap_or_default();
    let outcome = match chore.as_str() {
        "tidy" => tidy::run(&tree::root()),
        "release" => release::run(&tree::root()),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(report) => {
            let _ = std::io::stdout().write_all(report.as_bytes());
            ExitCode::SUCCESS
        }
        Err(problems) => {
            let _ = std::io::stderr().write_all(problems.as_bytes());
            ExitCode::FAILURE
        }
    }
}
