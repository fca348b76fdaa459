//! Tens of thousands of users who think, over few sessions: memory, and the rate beside the interactive response-time law.
//!
//! Users who think Z on average and wait R on average make N / (Z + R) requests a second, whatever the system is. Pauses are
//! drawn from an exponential: constant ones would repeat the same seconds again and again.

use crate::postgres::Server;
use crate::{Settings, prony, row};
use std::ffi::OsStr;

const USERS: f64 = 32_000.0;
const THINK_S: f64 = 10.0;

/// One run a pair: memory does not depend on the machine, and the rate is held against a law.
pub fn measure(settings: &Settings) {
    let Some(server) = Server::given("users") else { return };
    println!("\n{USERS} users who think {THINK_S} s, 64 sessions of PostgreSQL, select-only");
    let words = ["sql", "--on", &server.url].map(OsStr::new);
    let asked =
        ["script=select-only", "scale=20", "sessions=64", "warm_up=20s", "think_times=exponential"].map(str::to_owned);
    let mut asked = asked.to_vec();
    asked.extend([
        format!("users={USERS}"),
        format!("think={THINK_S}s"),
        format!("measure={}s", settings.seconds.max(30)),
    ]);
    let (mut memory, mut off, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.pairs.min(3) {
        let (report, peak) = prony::run(&settings.dir, &words, &asked);
        let trial = &report["trials"][0];
        let response_s = trial["classes"][0]["response_ms"]["mean"].as_f64().expect("a mean response") / 1e3;
        let rate = prony::delivered(&report).per_second;
        memory.push(peak as f64 / 1048576.0);
        off.push((rate / (USERS / (THINK_S + response_s)) - 1.0) * 100.0);
        rates.push(rate);
    }
    row("peak resident memory", &memory, "MiB", "at most 400");
    row("rate off N / (Z + R)", &off, "%", "within 1");
    row("rate", &rates, "/s", "");
}
