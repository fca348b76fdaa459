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
pub mod table;
pub mod world;

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
pub const PARTS: [Part; 1] = [("coverage", "does the printed interval hold what is true?", |asked| {
    [1, 4, 8].map(|replicates| coverage::table(replicates, asked.runs, asked.seed, asked.only.as_deref())).concat()
})];

/// Prints the tables that are asked for.
#[allow(dead_code, reason = "tests run the parts themselves")]
pub fn main(words: &[String]) {
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
        println!("## {name}: {question}");
        println!("{}", tables(&asked));
    }
}

fn value(words: &[String], name: &str) -> Option<String> {
    let at = words.iter().position(|word| word == name)?;
    Some(words.get(at + 1).unwrap_or_else(|| panic!("{name} needs a value")).clone())
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("a whole number, got {text}"))
}
