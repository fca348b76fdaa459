//! Prony beside its peers, in one run: `cargo run --release --manifest-path benches/Cargo.toml -- [null|real|open|memory|emulate|tiers|wander|balance|link|two-phase|assess|transactions|slap|fill|users|progress|looks|checks|bank|warehouse|request|predict|first|kills|soak|truth]...`
//!
//! The one idea: a figure is a ratio between two programs that took turns on the same machine, and the median of
//! several such pairs. Absolute figures are printed for orientation only; a shared machine moves them from day to day.
//!
//! What it does not do: it judges nothing and fails on no figure.

mod assess;
mod bank;
mod checks;
mod emulate;
#[path = "../tests/faults.rs"]
mod faults;
mod fill;
mod fio;
mod first;
#[path = "../tests/kills.rs"]
mod kills;
mod link;
mod memory;
mod null;
mod open;
mod plain;
mod postgres;
mod predict;
mod process;
mod prony;
mod real;
mod request;
mod slap;
#[path = "../tests/soak.rs"]
mod soak;
mod tiers;
mod transactions;
#[path = "../../crates/analysis/tests/truth/mod.rs"]
mod truth;
mod two_phase;
mod users;
mod warehouse;
mod watched;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where scratch files go and how long each measurement takes.
pub struct Settings {
    /// Folder for scratch files of both programs, from the root on.
    pub dir: PathBuf,
    /// Interleaved pairs.
    pub pairs: usize,
    /// Seconds of one measurement.
    pub seconds: u32,
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    // Needs neither a peer nor the program itself.
    if asked.first().is_some_and(|name| name == "truth") {
        return truth::tell(&asked[1..], |text| println!("{text}"));
    }
    if let [part, below, at] = &asked[..]
        && part == plain::SERVE
    {
        return plain::serve(below.as_ref(), at.as_ref());
    }
    let settings = Settings {
        dir: scratch(std::env::var_os("PRONY_BENCH_DIR")),
        pairs: number("PRONY_BENCH_PAIRS", 7),
        seconds: number("PRONY_BENCH_SECONDS", 10) as u32,
    };
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|a| a == name);
    prony::build();
    let all: [(&str, fn(&Settings)); 23] = [
        ("null", null::measure),
        ("open", open::measure),
        ("real", real::measure),
        ("transactions", transactions::measure),
        ("slap", slap::measure),
        ("fill", fill::measure),
        ("users", users::measure),
        ("progress", watched::progress),
        ("looks", watched::looks),
        ("checks", checks::measure),
        ("bank", bank::measure),
        ("warehouse", warehouse::measure),
        ("request", request::measure),
        ("predict", predict::measure),
        ("first", first::measure),
        ("memory", memory::measure),
        ("emulate", emulate::measure),
        ("tiers", tiers::measure),
        ("wander", tiers::follow),
        ("balance", tiers::balance),
        ("link", link::measure),
        ("two-phase", two_phase::measure),
        ("assess", assess::measure),
    ];
    if let Some(unknown) = asked
        .iter()
        .find(|name| !["soak", "kills"].contains(&name.as_str()) && all.iter().all(|(known, _)| known != name))
    {
        panic!("no benchmark is called {unknown}; there are {}", all.map(|(known, _)| known).join(", "));
    }
    // Faults are no comparison: only who asks for them by name gets them.
    match asked.first().map(String::as_str) {
        Some("soak") => return soak::measure(&settings),
        Some("kills") => return kills::measure(&settings),
        _ => {}
    }
    all.iter().filter(|(name, _)| wanted(name)).for_each(|(_, measure)| measure(&settings));
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The middle of several figures, with the least and the greatest.
pub fn median(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[sorted.len() / 2], sorted[0], sorted[sorted.len() - 1])
}

/// Pairs of figures, each from ours and theirs. Who goes first changes from pair to pair, so that neither always finds
/// the machine rested.
pub fn turns<T>(pairs: usize, ours: impl Fn() -> T, theirs: impl Fn() -> T) -> Vec<(T, T)> {
    let turn = |pair: usize| {
        if pair % 2 == 0 {
            let first = ours();
            return (first, theirs());
        }
        let first = theirs();
        (ours(), first)
    };
    (0..pairs).map(turn).collect()
}

/// One row of the table.
pub fn row(what: &str, values: &[f64], unit: &str, wanted: &str) {
    let (middle, least, greatest) = median(values);
    println!("{what:<58} {middle:>10.3} [{least:.3} .. {greatest:.3}] {unit:<6} wanted {wanted}");
}

/// The folder that somebody named, or this one, from the root on: `XDG_CACHE_HOME` counts for nothing where it says less.
fn scratch(named: Option<OsString>) -> PathBuf {
    std::path::absolute(named.as_deref().map_or(Path::new("."), Path::new)).expect("a folder")
}

#[test]
fn a_folder_for_scratch_files_is_told_from_the_root_on_however_it_was_named() {
    let here = std::env::current_dir().expect("a folder");
    assert_eq!(scratch(None), here);
    assert_eq!(scratch(Some("x/y".into())), here.join("x/y"));
    assert_eq!(scratch(Some("/x".into())), Path::new("/x"));
}
