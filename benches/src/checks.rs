//! How long the invariants of a traded house take on PostgreSQL.

use crate::postgres::Server;
use crate::{Settings, prony, row};
use std::ffi::OsStr;
use std::time::Instant;

/// Fills 1,000 customers and 10 days, trades for a while, then checks as often as there are pairs.
pub fn measure(settings: &Settings) {
    let Some(server) = Server::given("checks") else { return };
    println!("\nchecks of house, 1,000 customers and 10 days, after a run, PostgreSQL");
    let scale = ["preset=house", "customers=1000", "days=10"].map(str::to_owned);
    let mut asked = scale.to_vec();
    asked.extend(["sessions=8", "warm_up=1s", "measure=10s", "highest_rate=off"].map(str::to_owned));
    prony::run(&settings.dir, &["brokerage", "--on", &server.url].map(OsStr::new), &asked);
    let seconds: Vec<f64> = (0..settings.pairs)
        .map(|_| {
            let mut command = prony::command();
            command.args(["db", "check", "brokerage", "--on", &server.url, "--json"]);
            for setting in &scale {
                command.args(["--set", setting]);
            }
            let begun = Instant::now();
            crate::process::run(&mut command);
            begun.elapsed().as_secs_f64()
        })
        .collect();
    row("all checks", &seconds, "s", "at most 10");
}
