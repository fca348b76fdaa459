//! The first brokerage result on SQLite from nothing: an empty cache, the data set filled, one trial, its report.

use crate::{Settings, prony, row};
use std::fs;
use std::time::Instant;

/// The study as it ships, at one number of sessions.
pub fn measure(settings: &Settings) {
    println!("\nfirst brokerage result on SQLite from nothing");
    let cache = settings.dir.join(format!("first-cache-{}", std::process::id()));
    let seconds: Vec<f64> = (0..settings.pairs.min(3))
        .map(|_| {
            let _ = fs::remove_dir_all(&cache);
            let file = settings.dir.join(format!("first-{}.prony", std::process::id()));
            let _ = fs::remove_file(&file);
            let mut command = prony::command();
            command.args(["run", "brokerage", "--on", "sqlite:", "--set", "sessions=8", "--json", "-o"]).arg(&file);
            let begun = Instant::now();
            crate::process::run(command.env("PRONY_CACHE", &cache));
            let took = begun.elapsed().as_secs_f64();
            let _ = fs::remove_file(&file);
            took
        })
        .collect();
    let _ = fs::remove_dir_all(&cache);
    row("fill, warm-up, 20 s of trading, checks and report", &seconds, "s", "under 60");
}
