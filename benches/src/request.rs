//! Request time beside what the server counted: how much of the time that clients saw, statement by statement, the server says it was
//! executing.
//!
//! The one idea: reports that take milliseconds leave little room for the wire, postings that take microseconds much; so the first
//! say whether both clocks tell the same, and the second what lies between them for each call.
//!
//! What it does not do: a server counts no time between statements, and PostgreSQL none of a commit.

use crate::{Settings, prony, row};
use serde_json::Value;
use std::ffi::OsStr;

/// Reports and postings on private servers, one session each.
pub fn measure(settings: &Settings) {
    for (on, server) in [("local:postgres", ""), ("local:mariadb", "performance_schema=ON")] {
        let alone = "sessions=1";
        compare(settings, on, server, "warehouse", &["rows=1M", "users=off", "load_rate=off", alone]);
        compare(settings, on, server, "bank-day", &["accounts=5000", "users=off", "think=0s", alone]);
    }
}

fn compare(settings: &Settings, on: &str, server: &str, study: &str, sets: &[&str]) {
    println!("\n{study} on {on}, one session");
    let (mut shares, mut asked, mut counted, mut between) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.pairs {
        let mut sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        sets.extend([format!("server={server}"), "warm_up=0s".to_owned(), format!("measure={}s", settings.seconds)]);
        let (report, _) = prony::run(&settings.dir, &[study, "--on", on].map(OsStr::new), &sets);
        let trial = &report["trials"][0];
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        let total = &trial["server"]["profile"]["total"];
        let request = number(&trial["service_ms"]["mean"]) * 1e3;
        let server = number(&total["execution_us"]) + number(&total["planning_us"]);
        asked.push(request);
        counted.push(server);
        shares.push(100.0 * server / request);
        between.push((request - server) / number(&total["executions"]));
    }
    row("request time of a transaction", &asked, "us", "");
    row("what the server counted of it", &counted, "us", "");
    row("share", &shares, "%", "at most 100");
    row("between both, for each statement", &between, "us", "");
}
