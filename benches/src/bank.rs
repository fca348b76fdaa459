//! A bank's night beside one set-based statement a step that posts the same, and what a posting costs where nothing answers slowly.

use crate::postgres::{Data, Server};
use crate::{Settings, prony, row, turns};
use serde_json::Value;
use std::ffi::OsStr;
use std::time::Instant;

const ACCOUNTS: &str = "100000";
const BANK: Data = Data { study: "bank-night", sets: &["accounts=100000"], schema: "bank_100000_20_usual_" };

/// A posting on the null database, a day of 10,000 users on a model, and a night on PostgreSQL.
pub fn measure(settings: &Settings) {
    println!("\na bank's day where nothing answers slowly");
    let (mut posting, mut simulated, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.pairs {
        let trial =
            day(settings, "null-database:", &["users=off", "think=0s", "sessions=8", "warm_up=1s", "measure=3s"]).0;
        let cpu_us: f64 = ["user", "system"].iter().map(|part| number(&trial["cpu_us_per_operation"][*part])).sum();
        posting.push(cpu_us * 3_600.0 * number(&trial["throughput_per_s"]) / number(&trial["yields"][0]["per_h"]));
        let users = ["users=10000", "think=5s", "sessions=64", "interval=10s", "warm_up=10s", "measure=400s"];
        let (trial, cpu_s, user_s) = day(settings, "model:s824-fs840", &users);
        let done = number(&trial["throughput_per_s"]) * number(&trial["window_s"]["end"]);
        simulated.push(done / cpu_s / 1e3);
        alone.push(done / user_s / 1e3);
    }
    row("client CPU of a posting on the null database", &posting, "us", "at most 5");
    row("simulated transactions a second of CPU, 10,000 users", &simulated, "k/s", "at least 200");
    row("the same, of user CPU alone", &alone, "k/s", "");
    night(settings);
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number but {value}"))
}

/// The trial, and the CPU of the whole process with and without the kernel's, seconds.
fn day(settings: &Settings, on: &str, sets: &[&str]) -> (Value, f64, f64) {
    let file = settings.dir.join(format!("day-{}.prony", std::process::id()));
    let mut command = prony::command();
    command.args(["run", "bank-day", "--on", on, "--json", "-o"]).arg(&file);
    prony::set(&mut command, sets);
    let finished = crate::process::run(&mut command);
    let _ = std::fs::remove_file(file);
    let report: Value = serde_json::from_slice(&finished.stdout).expect("prony prints JSON");
    (report["trials"][0].clone(), finished.user_s + finished.system_s, finished.user_s)
}

/// Turns of both on the same rows, which are taken back in between; what the statements posted passes the same checks.
fn night(settings: &Settings) {
    let Some(server) = Server::given("bank") else { return };
    crate::process::run(&mut BANK.command(&["db", "fill"], &server));
    let schema = BANK.schemas(&server).pop().expect("the data set was filled");
    let script = |name: &str| {
        let mut psql = server.psql();
        psql.env("PGOPTIONS", format!("-c search_path={schema}")).args(["-v", &format!("accounts={ACCOUNTS}"), "-f"]);
        crate::process::run(psql.arg(prony::studies().join(name)));
    };
    let statements = || {
        script("night-back.sql");
        let begun = Instant::now();
        script("night.sql");
        begun.elapsed().as_secs_f64()
    };
    let ours = |commit_every: &str| {
        script("night-back.sql");
        let words = ["bank-night", "--on", &server.url, "--only", "accounts by jobs"].map(OsStr::new);
        let asked = ["accounts=100000", "sessions=2", "state=left", "replicates=1", commit_every].map(str::to_owned);
        number(&prony::run(&settings.dir, &words, &asked).0["trials"][0]["elapsed_s"])
    };
    for commit_every in ["commit_every=100", "commit_every=1000"] {
        println!("\na night of {ACCOUNTS} accounts, 2 jobs, {commit_every}, beside one set-based statement a step");
        let pairs = turns(settings.pairs, || ours(commit_every), statements);
        row(
            "time over that of the statements",
            &pairs.iter().map(|(a, b)| a / b).collect::<Vec<_>>(),
            "",
            "at most 1.5",
        );
        row("our night", &pairs.iter().map(|(a, _)| *a).collect::<Vec<_>>(), "s", "");
        row("the statements", &pairs.iter().map(|(_, b)| *b).collect::<Vec<_>>(), "s", "");
    }
    script("night-back.sql");
    script("night.sql");
    crate::process::run(&mut BANK.command(&["db", "check"], &server));
    println!("what the statements posted passes all checks");
}
