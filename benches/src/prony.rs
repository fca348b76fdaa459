//! Our side: the release binary, its JSON, the same three figures.

use crate::fio::Delivered;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The binary that the reader names, when it is not the one that is built here.
fn given() -> Option<PathBuf> {
    std::env::var_os("PRONY_BENCH_BINARY").map(PathBuf::from)
}

/// Builds the release binary, so that a benchmark never measures an old one. A binary that `PRONY_BENCH_BINARY` names is
/// taken as it is, and its version printed.
pub fn build() {
    if given().is_some() {
        let version = crate::process::run(command().arg("--version")).stdout;
        return print!("measured with {}", String::from_utf8_lossy(&version));
    }
    let status = Command::new("cargo").args(["build", "--release", "-q", "-p", "prony"]).current_dir(root()).status();
    assert!(status.is_ok_and(|status| status.success()), "building prony");
}

/// Where the studies of the benchmarks lie.
pub fn studies() -> PathBuf {
    root().join("benches/studies")
}

/// The release binary, ready for arguments.
pub fn command() -> Command {
    Command::new(given().unwrap_or_else(|| root().join("target/release/prony")))
}

/// Gives it settings.
pub fn set(command: &mut Command, settings: &[impl AsRef<OsStr>]) {
    settings.iter().for_each(|setting| {
        command.arg("--set").arg(setting);
    });
}

/// Runs one of this folder's studies and returns its report and its peak memory.
pub fn study(name: &str, dir: &Path, settings: &[String]) -> (Value, u64) {
    let study = studies().join(name);
    run(dir, &[study.as_os_str()], settings)
}

/// `prony run` with these words and settings: its report and its peak memory.
pub fn run(dir: &Path, words: &[&OsStr], settings: &[String]) -> (Value, u64) {
    let run_file = dir.join(format!("bench-{}.prony", std::process::id()));
    let _ = std::fs::remove_file(&run_file);
    let mut command = command();
    command.arg("run").args(words).arg("--json").arg("-o").arg(&run_file);
    set(&mut command, settings);
    let finished = crate::process::run(command.current_dir(dir));
    let _ = std::fs::remove_file(&run_file);
    (serde_json::from_slice(&finished.stdout).expect("prony prints JSON"), finished.peak_resident)
}

/// The three figures of a report's first trial.
pub fn delivered(report: &Value) -> Delivered {
    let trial = &report["trials"][0];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no such figure in {trial}"));
    let done = number(&trial["throughput_per_s"]) * number(&trial["elapsed_s"]);
    Delivered {
        per_second: number(&trial["throughput_per_s"]),
        user_us: number(&trial["generator_cpu_s"]["user"]) * 1e6 / done,
        system_us: number(&trial["generator_cpu_s"]["system"]) * 1e6 / done,
    }
}
