//! The first results of studies on SQLite from nothing: an empty cache, the data set filled, the trials, their report.

use crate::{Settings, prony, row};
use std::fs;
use std::time::Instant;

/// Studies as they ship; of the brokerage one number of sessions: the level of the sweep, which is the first result, and then with
/// the search that confirms the highest rate behind it.
pub fn measure(settings: &Settings) {
    println!("\nfirst results on SQLite from nothing: fill, trials, checks and report");
    let brokerage = |search: &'static str| ["sessions=8", search];
    let times = settings.pairs.min(3);
    row(
        "brokerage, 20 s of trading",
        &seconds(settings, "brokerage", &brokerage("highest_rate=off"), times),
        "s",
        "under 60",
    );
    let confirmed = seconds(settings, "brokerage", &brokerage("highest_rate=on"), 1);
    row("the same, and the highest rate confirmed in an open load", &confirmed, "s", "");
    for study in ["bank-day", "bank-night", "warehouse"] {
        row(&format!("{study}, as it ships"), &seconds(settings, study, &[], times), "s", "under 60");
    }
}

fn seconds(settings: &Settings, study: &str, sets: &[&str], times: usize) -> Vec<f64> {
    let cache = settings.dir.join(format!("first-cache-{}", std::process::id()));
    let seconds = (0..times)
        .map(|_| {
            let _ = fs::remove_dir_all(&cache);
            let file = settings.dir.join(format!("first-{}.prony", std::process::id()));
            let _ = fs::remove_file(&file);
            let mut command = prony::command();
            command.args(["run", study, "--on", "sqlite:", "--json", "-o"]).arg(&file);
            prony::set(&mut command, sets);
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
