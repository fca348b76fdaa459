//! Whether a prediction is what the same model does when it is simulated, over questions drawn at random.
//!
//! The one idea: `prony predict` and `prony run` are asked the same line on every shipped model with stations. A prediction
//! holds where it is within 3 percent on rates and 5 on responses, or where its interval says that it may be further off.

use crate::{Settings, prony};
use random::Draws;
use serde_json::Value;
use std::fmt::Write as _;

/// Models with what carries on them, and what makes them whole.
const MODELS: [(&str, &str); 16] = [
    ("s824-fs840", "brokerage"),
    ("power770-san", "brokerage"),
    ("small-server", "brokerage"),
    ("mirror-case2,source_cores=22,target_cores=11", "brokerage"),
    ("mirror-case2,source_cores=22,mirroring=0", "brokerage"),
    ("mirror-case3,source_cores=8,mirroring=2", "brokerage"),
    ("f5100", "block"),
    ("f5100,failed_ports=3,failed_channels=1,write_credit=3000", "block"),
    ("this-machine", "block"),
    ("tiered", "block"),
    ("tiered,fast_share=0", "block"),
    ("disk-array", "block"),
    ("disk-array,write_cache=20,failed_modules=1", "block"),
    ("flash-array-2d", "block"),
    ("nand-device", "block"),
    ("disk-15k", "block"),
];

fn one<'a>(draws: &mut Draws, of: &[&'a str]) -> &'a str {
    of[draws.below(of.len() as u64) as usize]
}

/// What became of the questions of one model.
#[derive(Default)]
struct Found {
    asked: u32,
    refused: u32,
    rates: Vec<f64>,
    responses: Vec<f64>,
    held: u32,
}

/// Prints the table; `PRONY_BENCH_RUNS` questions a model (20).
pub fn measure(_: &Settings) {
    println!("\n{}", rows(crate::number("PRONY_BENCH_RUNS", 20) as u32, 1));
}

/// A table with a row for each model: questions, how far predictions are off, and how many hold.
fn rows(runs: u32, seed: u64) -> String {
    let mut text = String::from(
        "| model | questions | refused | rates: median, worst | responses: median, worst | hold |\n|---|---|---|---|---|---|\n",
    );
    let mut draws = Draws::numbered(seed, 0);
    for (model, workload) in MODELS {
        let mut found = Found::default();
        (0..runs).for_each(|_| ask(model, workload, &mut draws, &mut found));
        let answers = found.rates.len() + found.responses.len();
        let _ = writeln!(
            text,
            "| {model} | {} | {} | {} | {} | {:.0} % |",
            found.asked,
            found.refused,
            spread(&mut found.rates),
            spread(&mut found.responses),
            100.0 * f64::from(found.held) / (answers.max(1) as f64)
        );
    }
    text
}

fn spread(errors: &mut [f64]) -> String {
    errors.sort_by(f64::total_cmp);
    let Some(worst) = errors.last() else { return "-".to_owned() };
    format!("{:.1} %, {worst:.1} %", errors[errors.len() / 2])
}

fn ask(model: &str, workload: &str, draws: &mut Draws, found: &mut Found) {
    let study = std::env::temp_dir().join(format!("prony-predict-{}.toml", std::process::id()));
    let words = if workload == "block" { operations(&study, draws) } else { transactions(draws) };
    let seed = draws.below(1 << 32).to_string();
    found.asked += 1;
    let (Some(predicted), Some(ran)) =
        (answer("predict", model, &words, None), answer("run", model, &words, Some(&seed)))
    else {
        found.refused += 1;
        return;
    };
    let trial = &ran["trials"][0];
    for row in predicted["rows"].as_array().into_iter().flatten() {
        let (simulated, most) = match row["metric"].as_str() {
            Some("throughput" | "rate") => (trial["throughput_per_s"].as_f64(), 3.0),
            Some("response") => (trial["response_ms"]["mean"].as_f64(), 5.0),
            _ => continue,
        };
        let (Some(simulated), Some(value)) = (simulated, row["predicted"].as_f64()) else { continue };
        let off = 100.0 * (value / simulated - 1.0).abs();
        let inside = row["low"].as_f64() <= Some(simulated) && Some(simulated) <= row["high"].as_f64();
        found.held += u32::from(off <= most || inside);
        if most < 4.0 { found.rates.push(off) } else { found.responses.push(off) }
    }
}

/// Sessions, users who think, or arrivals.
fn transactions(draws: &mut Draws) -> Vec<String> {
    let sessions = 1 << draws.below(8);
    let mut words =
        vec!["brokerage".to_owned(), format!("--set=sessions={sessions}"), "--set=highest_rate=off".to_owned()];
    words.push(format!("--set=customers={}", one(draws, &["1000", "6000", "20000"])));
    match draws.below(3) {
        0 => {}
        1 => {
            words.push(format!("--set=users={}", sessions * (1 + draws.below(8))));
            words.push(format!("--set=think={}ms", 1 + draws.below(50)));
            words.push(format!("--set=think_times={}", one(draws, &["constant", "exponential"])));
        }
        _ => words.push(format!("--set=rate={}/s", 1 + sessions * draws.below(20))),
    }
    words.push("--set=measure=10s".to_owned());
    words
}

/// Reads and writes of some size, so many outstanding.
fn operations(study: &std::path::Path, draws: &mut Draws) -> Vec<String> {
    let text = format!(
        "title = 'One'\nquestion = 'How many?'\n[system.any]\nkind = 'null'\n[workload.w]\nkind = 'block'\ntransfer = '{}'\n\
         read = '{}'\n[[experiment]]\nname = 'all'\nworkload = 'w'\nload = {{ outstanding = {} }}\nmeasure = '2 s'\n\
         warm_up = '{}'\n",
        one(draws, &["4 KiB", "8 KiB", "64 KiB"]),
        one(draws, &["100%", "70%", "0%"]),
        1 << draws.below(7),
        one(draws, &["200 ms", "2 s"]),
    );
    std::fs::write(study, text).expect("a study is written");
    vec![study.display().to_string()]
}

fn answer(verb: &str, model: &str, words: &[String], seed: Option<&str>) -> Option<Value> {
    let file = std::env::temp_dir().join(format!("prony-predict-{}.prony", std::process::id()));
    let mut command = prony::command();
    command.arg(verb).args(words).arg(format!("--on=model:{model}")).arg("--json");
    if let Some(seed) = seed {
        let _ = std::fs::remove_file(&file);
        command.arg("--seed").arg(seed).arg("-o").arg(&file);
    }
    let output = command.output().expect("prony starts");
    let _ = std::fs::remove_file(&file);
    serde_json::from_slice(&output.stdout).ok()
}
