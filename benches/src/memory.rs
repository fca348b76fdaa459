//! Resident memory of a short and of a long run: it must not grow with the length.

use crate::{Settings, prony};

/// A slow open load, so that an hour costs little CPU; the long run is `PRONY_BENCH_LONG` (default `10min`).
pub fn measure(settings: &Settings) {
    println!("\nmemory of a run, one worker, 64 slots of 4 KiB");
    let long = std::env::var("PRONY_BENCH_LONG").unwrap_or_else(|_| "10min".to_owned());
    for length in ["60s", &long] {
        let (_, peak) = prony::study("memory.toml", &settings.dir, &[format!("measure={length}")]);
        println!(
            "peak resident over {length:<8} {:>8.1} MiB   wanted under 64, the same for both",
            peak as f64 / 1048576.0
        );
    }
}
