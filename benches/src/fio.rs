//! The peer for storage: one job, its JSON, the three figures that are compared.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What a job delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivered {
    /// Operations a second.
    pub per_second: f64,
    /// User CPU an operation, microseconds.
    pub user_us: f64,
    /// System CPU an operation, microseconds.
    pub system_us: f64,
}

/// Whether the peer is installed.
pub fn present() -> bool {
    Command::new("fio").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs one job with these options beside the common ones.
pub fn job(seconds: u32, options: &[String]) -> Delivered {
    let mut command = Command::new("fio");
    command.args(["--name=peer", "--output-format=json", "--time_based", "--rw=randread", "--bs=4k", "--randrepeat=0"]);
    command.arg(format!("--runtime={seconds}")).args(options);
    let output = crate::process::run(&mut command).stdout;
    // The program may print warnings before its JSON.
    let start = output.iter().position(|byte| *byte == b'{').expect("fio prints JSON");
    let report: Value = serde_json::from_slice(&output[start..]).expect("fio prints JSON");
    let job = &report["jobs"][0];
    let number = |value: &Value| value.as_f64().expect("fio's report has this figure");
    let both = |figure: &str| ["read", "write"].iter().map(|way| number(&job[*way][figure])).sum::<f64>();
    let operations = both("total_ios").max(1.0);
    let wall_s = number(&job["job_runtime"]) / 1e3;
    let cpu_us = |key: &str| number(&job[key]) / 100.0 * wall_s * 1e6 / operations;
    Delivered { per_second: both("iops"), user_us: cpu_us("usr_cpu"), system_us: cpu_us("sys_cpu") }
}

/// Options for direct random reads of a file of its own.
pub fn file_options(engine: &[&str], dir: &Path, depth: u32) -> Vec<String> {
    let mut options: Vec<String> = engine.iter().map(|option| (*option).to_owned()).collect();
    options.push(format!("--filename={}", dir.join("peer.dat").display()));
    options.push(format!("--iodepth={depth}"));
    options.extend(["--direct=1", "--size=1g", "--norandommap"].map(str::to_owned));
    options
}
