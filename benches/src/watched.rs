//! What it costs to watch a run: lines of progress, and the session that looks for what the sessions of a run wait for.

use crate::{Settings, prony, row, turns};
use std::ffi::OsStr;

/// A line of progress every second against none, on a system that answers at once, where nothing hides what it costs.
pub fn progress(settings: &Settings) {
    println!("\n--progress 1s against none, null system, 32 outstanding, one worker");
    let study = prony::studies().join("null.toml");
    let rate = |told: &[&str]| {
        let words: Vec<&OsStr> = [study.as_os_str()].into_iter().chain(told.iter().map(OsStr::new)).collect();
        rate(settings, &words, &[])
    };
    compare(
        settings,
        "rate with progress over without",
        || rate(&["--progress", "1s"]),
        || rate(&["--quiet"]),
        "above 0.99",
    );
}

/// Looks 20 times a second against none, on a PostgreSQL that counts no statements on either side. What the generator counts of its
/// statements goes with the looks.
pub fn looks(settings: &Settings) {
    println!("\nlooks for waits against none, PostgreSQL of its own, tpcb-like, 8 sessions");
    let words = ["sql", "--on", "local:postgres", "--quiet"].map(OsStr::new);
    let rate = |profile: bool| {
        let asked = ["script=tpcb-like", "scale=8", "sessions=8", "warm_up=1s", "check=false"];
        let counts_nothing = "server=pg_stat_statements.track=none; track_io_timing=off";
        let set = asked.into_iter().chain([counts_nothing]).map(str::to_owned);
        rate(settings, &words, &set.chain([format!("profile={profile}")]).collect::<Vec<_>>())
    };
    compare(settings, "rate with looks over without", || rate(true), || rate(false), "above 0.98");
}

fn rate(settings: &Settings, words: &[&OsStr], set: &[String]) -> f64 {
    let measure = format!("measure={}s", settings.seconds);
    let set: Vec<String> = set.iter().cloned().chain([measure]).collect();
    prony::delivered(&prony::run(&settings.dir, words, &set).0).per_second
}

fn compare(settings: &Settings, what: &str, with: impl Fn() -> f64, without: impl Fn() -> f64, wanted: &str) {
    let pairs = turns(settings.pairs, with, without);
    row(what, &pairs.iter().map(|(with, without)| with / without).collect::<Vec<_>>(), "", wanted);
    row("rate without", &pairs.iter().map(|(_, without)| *without).collect::<Vec<_>>(), "/s", "");
}
