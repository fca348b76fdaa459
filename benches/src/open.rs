//! An open Poisson load of 300,000 a second on the null system: whether a rate is the rate.

use crate::{Settings, fio, prony, row};

/// Arrivals planned in the window against those that ended in time, and the drawn mean against what was asked.
pub fn measure(settings: &Settings) {
    println!("\nopen Poisson load of 300,000/s on the null system");
    let seconds = settings.seconds.min(5);
    let (mut issued, mut deviations) = (Vec::new(), Vec::new());
    let mut peer = [("1", Vec::new()), ("32", Vec::new())];
    for _ in 0..settings.pairs {
        let (report, _) = prony::study("open.toml", &settings.dir, &[format!("measure={seconds}s")]);
        let trial = &report["trials"][0];
        let number = |key: &str| trial[key].as_f64().unwrap_or_else(|| panic!("no `{key}` in {trial}"));
        let (planned, elapsed) = (number("planned"), number("elapsed_s"));
        issued.push((number("throughput_per_s") * elapsed - planned).abs() / planned * 100.0);
        let asked = 300_000.0 * elapsed;
        // A Poisson count has a variance equal to its mean.
        deviations.push((planned - asked).abs() / asked.sqrt());
        for (depth, rates) in peer.iter_mut().filter(|_| fio::present()) {
            rates.push(peer_error(seconds, depth));
        }
    }
    row("issued in the window, off the arrivals drawn", &issued, "%", "at most 0.1");
    row("drawn mean, off what was asked", &deviations, "sigma", "at most 3");
    for (depth, rates) in peer.iter().filter(|(_, rates)| !rates.is_empty()) {
        row(&format!("fio at depth {depth}: rate off what was asked"), rates, "%", "(for comparison)");
    }
}

/// How far the peer's Poisson load is from the rate that it was asked for, percent. Its gaps are whole microseconds when it
/// waits for each operation, which is what depth 1 shows.
fn peer_error(seconds: u32, depth: &str) -> f64 {
    let depth = format!("--iodepth={depth}");
    let options = ["--ioengine=null", &depth, "--size=100g", "--rate_iops=300000", "--rate_process=poisson"];
    fio::job(seconds, &options.map(str::to_owned)).per_second / 300_000.0 * 100.0 - 100.0
}
