//! A system that answers at once: what an operation costs the generator itself.

use crate::{Settings, fio, prony, row};

/// 32 outstanding, one worker, all three histograms on, against the peer's null engine with its statistics on.
pub fn measure(settings: &Settings) {
    println!("\nnull system, 32 outstanding, one worker");
    let seconds = settings.seconds.min(3);
    let (mut ours_ns, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..settings.pairs {
        let (report, _) = prony::study("null.toml", &settings.dir, &[format!("measure={seconds}s")]);
        let ours = prony::delivered(&report).per_second;
        ours_ns.push(1e9 / ours);
        if fio::present() {
            let options = ["--ioengine=null", "--iodepth=32", "--size=100g"].map(str::to_owned);
            ratios.push(ours / fio::job(seconds, &options).per_second);
        }
    }
    row("an operation", &ours_ns, "ns", "at most 60");
    if !ratios.is_empty() {
        row("rate over fio --ioengine=null", &ratios, "", "at least 3.5");
    }
}
