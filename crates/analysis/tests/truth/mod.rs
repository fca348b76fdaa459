//! Whether every claim holds: hostile worlds whose truth is known, and how often what Prony prints of them is right.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml -- truth [--runs N] [--part NAME] [--only WORLD] [--seed N]`
//!
//! The one idea: a part is a table; each of its rows is a world, and each figure a rate with the interval that the number of
//! draws leaves it. Trials go the road of real ones: recorded cells, `summarise_from`, `judge`. A part is one file and one row
//! of [`PARTS`]. Tests of `analysis` run the same parts with few draws.
//!
//! What it does not do: it fails on no figure. The tests do.

pub mod coverage;
pub mod floors;
pub mod hand;
pub mod knee;
pub mod power;
pub mod steady;
pub mod table;
pub mod thresholds;
pub mod two_runs;
pub mod world;

use coverage::Replicates;

/// What was asked for.
pub struct Asked {
    /// Runs a cell.
    pub runs: u32,
    /// Where all draws begin.
    pub seed: u64,
    /// Only worlds whose name has this in it.
    pub only: Option<String>,
}

/// A part: its name, what it asks, and its tables.
type Part = (&'static str, &'static str, fn(&Asked) -> String);

/// Every part.
pub const PARTS: [Part; 7] = [
    ("coverage", "Does the printed interval hold what is true?", |asked| {
        let all = [1, 4, 8].map(Replicates::Apart).into_iter().chain([Replicates::InStep(4)]);
        all.map(|one| coverage::table(one, asked.runs, asked.seed, asked.only.as_deref())).collect()
    }),
    ("floors", "Is what has no scatter taken for certain?", |asked| floors::table(asked.runs, asked.seed)),
    ("thresholds", "Is what a threshold decides true?", |asked| thresholds::table(asked.runs, asked.seed)),
    ("power", "Is the difference found as often as the plan promises?", |asked| power::rows(asked.runs, asked.seed)),
    ("two-runs", "Do two runs differ where nothing does?", |asked| two_runs::rows(asked.runs, asked.seed)),
    ("steady", "Is a window steady, and did it fall?", |asked| steady::rows(asked.runs, asked.seed)),
    ("knee", "Is the knee where it is said to be?", |asked| knee::rows(asked.runs, asked.seed)),
];

/// The parts that these words ask for, each under its heading as it is done.
#[allow(dead_code, reason = "tests run the parts themselves")]
pub fn tell(words: &[String], show: impl Fn(&str)) {
    let asked = Asked {
        runs: value(words, "--runs").map_or(1_000, |text| number(&text)),
        seed: value(words, "--seed").map_or(1, |text| u64::from(number(&text))),
        only: value(words, "--only"),
    };
    let part = value(words, "--part");
    if let Some(unknown) = part.as_ref().filter(|name| PARTS.iter().all(|(known, ..)| known != name)) {
        panic!("no part is called {unknown}; there are {}", PARTS.map(|(known, ..)| known).join(", "));
    }
    for (name, question, tables) in PARTS.iter().filter(|(name, ..)| part.as_ref().is_none_or(|part| part == name)) {
        show(&format!("\n## {name}: {question}\n{}", tables(&asked)));
    }
}

fn value(words: &[String], name: &str) -> Option<String> {
    let at = words.iter().position(|word| word == name)?;
    Some(words.get(at + 1).unwrap_or_else(|| panic!("{name} needs a value")).clone())
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("a whole number, got {text}"))
}
