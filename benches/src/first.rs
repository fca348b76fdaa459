//! The first brokerage result on SQLite from nothing: an empty cache, the data set filled, one trial, its report.

use crate::{Settings, prony, row};
use std::fs;
use std::time::Instant;

/// The study as it ships, at one number of sessions: the level of the sweep, which is the first result, and then with the search
/// that confirms the highest rate behind it.
pub fn measure(settings: &Settings) {
    println!("\nfirst brokerage result on SQLite from nothing");
    let seconds = times(settings, "off", settings.pairs.min(3));
    row("fill, warm-up, 20 s of trading, checks and report", &seconds, "s", "under 60");
    row("the same, and the highest rate confirmed in an open load", &times(settings, "on", 1), "s", "");
}

fn times(settings: &Settings, search: &str, count: usize) -> Vec<f64> {
    let cache = settings.dir.join(format!("first-cache-{}", std::process::id()));
    let search = format!("highest_rate={search}");
    let seconds = (0..count)
        .map(|_| {
            let _ = fs::remove_dir_all(&cache);
            let file = settings.dir.join(format!("first-{}.prony", std::process::id()));
            let _ = fs::remove_file(&file);
            let mut command = prony::command();
            command.args(["run", "brokerage", "--on", "sqlite:", "--set", "sessions=8", "--set", &search]);
            command.args(["--json", "-o"]).arg(&file);
            let begun = Instant::now();
            crate::process::run(command.env("PRONY_CACHE", &cache));
            let took = begun.elapsed().as_secs_f64();
            let _ = fs::remove_file(&file);
            took
        })
        .collect();
    let _ = fs::remove_dir_all(&cache);
    seconds
}
