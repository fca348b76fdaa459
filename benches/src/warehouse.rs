//! A warehouse of ten million rows on PostgreSQL: fill, a hundred dialog steps, one delta, and the disk that it takes.

use crate::postgres::{Data, Server};
use crate::{Settings, prony, row};
use serde_json::Value;
use std::ffi::OsStr;
use std::time::Instant;

const DATA: Data = Data { study: "warehouse", sets: &["rows=10M"], schema: "warehouse_10000000_2_" };
const STEPS: f64 = 100.0;

/// One fill; as many trials of steps beside loads as there are pairs, three at most.
pub fn measure(settings: &Settings) {
    let Some(server) = Server::given("warehouse") else { return };
    println!("\nwarehouse of 10 million rows, PostgreSQL, one user beside three streams of deltas of 500 rows");
    DATA.drop(&server);
    let size = |server: &Server| -> f64 {
        server.ask("select pg_database_size(current_database())")[0].parse::<f64>().expect("bytes") / 1e9
    };
    let before = size(&server);
    let begun = Instant::now();
    crate::process::run(&mut DATA.command(&["db", "fill"], &server));
    let fill = begun.elapsed().as_secs_f64();
    let (mut steps, mut deltas, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.pairs.min(3) {
        let words = ["warehouse", "--on", &server.url].map(OsStr::new);
        let sets = ["rows=10M", "users=1", "sessions=4", "load_rate=500", "warm_up=0s", "measure=20s", "check=false"];
        let trial = prony::run(&settings.dir, &words, &sets.map(str::to_owned)).0["trials"][0].clone();
        let mean_s = |name: &str| class(&trial, name)["response_ms"]["mean"].as_f64().expect("a mean") / 1e3;
        let per_h = trial["yields"].as_array().and_then(|all| all.iter().find(|one| one["what"] == "dialog steps"));
        steps.push(STEPS * 3_600.0 / per_h.and_then(|one| one["per_h"].as_f64()).expect("steps an hour"));
        deltas.push(mean_s("order-change") + mean_s("delta-load"));
        all.push((fill + steps.last().unwrap_or(&0.0) + deltas.last().unwrap_or(&0.0)) / 60.0);
    }
    row("fill", &[fill], "s", "");
    row("100 dialog steps", &steps, "s", "");
    row("one delta", &deltas, "s", "");
    row("all of it", &all, "min", "at most 10");
    row("disk", &[size(&server) - before], "GB", "at most 6");
    DATA.drop(&server);
}

fn class<'a>(trial: &'a Value, name: &str) -> &'a Value {
    let classes = trial["classes"].as_array().expect("classes");
    classes.iter().find(|class| class["name"] == name).unwrap_or_else(|| panic!("no {name} in {trial}"))
}
