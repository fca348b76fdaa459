//! Our side: the release binary, its JSON, the same three figures.

use crate::fio::Delivered;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Builds the release binary, so that a benchmark never measures an old one.
pub fn build() {
    let status = Command::new("cargo").args(["build", "--release", "-q", "-p", "prony"]).current_dir(root()).status();
    assert!(status.is_ok_and(|status| status.success()), "building prony");
}

/// The release binary, ready for arguments.
pub fn command() -> Command {
    Command::new(root().join("target/release/prony"))
}

/// Runs one of this folder's studies and returns its report and its peak memory.
pub fn study(name: &str, dir: &Path, settings: &[String]) -> (Value, u64) {
    let study = root().join("benches/studies").join(name);
    let run_file = dir.join(format!("bench-{}-{name}.prony", std::process::id()));
    let _ = std::fs::remove_file(&run_file);
    let mut command = command();
    command.arg("run").arg(study).arg("--json").arg("-o").arg(&run_file);
    for setting in settings {
        command.arg("--set").arg(setting);
    }
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
