//! How long the invariants of a data set that was worked on take on PostgreSQL.

use crate::postgres::{Data, Server};
use crate::{Settings, row};
use std::time::Instant;

/// A house after 10 s of trading, and a bank after a day and a night.
pub fn measure(settings: &Settings) {
    let Some(server) = Server::given("checks") else { return };
    let (house, bank) = (&["preset=house", "customers=1000", "days=10"], &["accounts=100000"]);
    let traded = ["sessions=8", "warm_up=1s", "measure=10s", "highest_rate=off"];
    time(
        settings,
        &server,
        Data { study: "brokerage", sets: house, schema: "" },
        &[("brokerage", &traded)],
        "at most 10",
    );
    let day = ["sessions=8", "warm_up=1s", "measure=10s"];
    let night = ["sessions=2", "state=left", "replicates=1", "measure=10min", "commit_every=100"];
    let bank = Data { study: "bank-night", sets: bank, schema: "" };
    time(settings, &server, bank, &[("bank-day", &day), ("bank-night", &night)], "at most 20");
}

/// Works on the data, then checks as often as there are pairs.
fn time(settings: &Settings, server: &Server, data: Data, work: &[(&'static str, &[&str])], wanted: &str) {
    println!(
        "\nchecks after {}, {}, PostgreSQL",
        work.iter().map(|(study, _)| *study).collect::<Vec<_>>().join(" and "),
        data.sets.join(", ")
    );
    for (study, sets) in work {
        let mut command = Data { study, ..data }.command(&["run"], server);
        crate::prony::set(&mut command, sets);
        let file = settings.dir.join(format!("checked-{}.prony", std::process::id()));
        crate::process::run(command.arg("-o").arg(&file));
        let _ = std::fs::remove_file(file);
    }
    let seconds: Vec<f64> = (0..settings.pairs)
        .map(|_| {
            let begun = Instant::now();
            crate::process::run(data.command(&["db", "check"], server).arg("--json"));
            begun.elapsed().as_secs_f64()
        })
        .collect();
    row("all checks", &seconds, "s", wanted);
}
