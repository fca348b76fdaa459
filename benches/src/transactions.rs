//! Sessions on PostgreSQL beside pgbench: the TPC-B-like script and the select-only one, on the same server, turn by turn.
//!
//! The server is the reader's own: `PRONY_BENCH_POSTGRES` is a URL of a database that `pgbench -i` has filled, such as
//! `postgres://bench@127.0.0.1:5499/postgres`.

use crate::fio::Delivered;
use crate::{Settings, prony, row, turns};
use std::ffi::OsStr;
use std::process::Command;

/// Both scripts at 8 and 32 sessions, one thread each, prepared statements.
pub fn measure(settings: &Settings) {
    let Ok(url) = std::env::var("PRONY_BENCH_POSTGRES") else {
        println!("\ntransactions: skipped, PRONY_BENCH_POSTGRES names no database that `pgbench -i` has filled");
        return;
    };
    for script in ["select-only", "tpcb-like"] {
        for sessions in [8, 32] {
            compare(settings, &url, script, sessions);
        }
    }
}

fn compare(settings: &Settings, url: &str, script: &str, sessions: u32) {
    println!("\nPostgreSQL, {script}, {sessions} sessions, one thread, prepared");
    let ours = || ours(settings, url, script, sessions);
    let pairs = turns(settings.pairs, ours, || theirs(settings, url, script, sessions));
    let over =
        |figure: fn(&Delivered) -> f64| -> Vec<f64> { pairs.iter().map(|(a, b)| figure(a) / figure(b)).collect() };
    row("rate over pgbench", &over(|d| d.per_second), "", "at least 0.98");
    row("client CPU a transaction over pgbench", &over(|d| d.user_us + d.system_us), "", "at most 1.0");
    row("our rate", &pairs.iter().map(|(a, _)| a.per_second).collect::<Vec<_>>(), "/s", "");
    row("our client CPU", &pairs.iter().map(|(a, _)| a.user_us + a.system_us).collect::<Vec<_>>(), "us/tx", "");
    row("pgbench's client CPU", &pairs.iter().map(|(_, b)| b.user_us + b.system_us).collect::<Vec<_>>(), "us/tx", "");
}

fn ours(settings: &Settings, url: &str, script: &str, sessions: u32) -> Delivered {
    let asked = [
        format!("script={script}"),
        format!("scale={}", scale()),
        format!("sessions={sessions}"),
        "threads=1".to_owned(),
        "warm_up=1s".to_owned(),
        format!("measure={}s", settings.seconds),
    ];
    prony::delivered(&prony::run(&settings.dir, &["sql", "--on", url].map(OsStr::new), &asked).0)
}

/// pgbench has no window: its CPU is that of the whole process, connecting included, over all of its transactions.
fn theirs(settings: &Settings, url: &str, builtin: &str, sessions: u32) -> Delivered {
    let mut command = Command::new("pgbench");
    command.args(["-n", "-M", "prepared", "-j", "1", "-b", builtin]);
    command.args(["-c", &sessions.to_string(), "-T", &settings.seconds.to_string(), "-s", &scale(), url]);
    let finished = crate::process::run(&mut command);
    let text = String::from_utf8_lossy(&finished.stdout).into_owned();
    let after = |mark: &str| -> f64 {
        let line =
            text.lines().find_map(|line| line.strip_prefix(mark)).unwrap_or_else(|| panic!("no {mark} in {text}"));
        line.split([' ', '/']).find(|word| !word.is_empty()).and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
    };
    let done = after("number of transactions actually processed:");
    Delivered {
        per_second: after("tps ="),
        user_us: finished.user_s * 1e6 / done,
        system_us: finished.system_s * 1e6 / done,
    }
}

fn scale() -> String {
    std::env::var("PRONY_BENCH_SCALE").unwrap_or_else(|_| "20".to_owned())
}
