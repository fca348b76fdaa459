//! A real file, past the page cache: 4 KiB random reads at 1 and 32 outstanding, turn by turn with the peer.

use crate::fio::{self, Delivered};
use crate::{Settings, prony, row, turns};

const ENGINES: [(&str, &[&str]); 4] = [
    ("psync", &["--ioengine=psync"]),
    ("io_uring", &["--ioengine=io_uring"]),
    ("io_uring, registered", &["--ioengine=io_uring", "--fixedbufs", "--registerfiles"]),
    ("libaio", &["--ioengine=libaio"]),
];

/// Rate, CPU and user CPU an operation, ours over the peer's best engine.
pub fn measure(settings: &Settings) {
    if !fio::present() {
        println!("\nreal file: skipped, fio is not installed");
        return;
    }
    for depth in [1, 32] {
        compare(settings, depth);
    }
    let _ = std::fs::remove_file(settings.dir.join("peer.dat"));
}

fn compare(settings: &Settings, depth: u32) {
    // Calls that wait for their end carry one outstanding operation, whatever depth is asked for.
    let fitting = ENGINES.iter().filter(|(name, _)| depth == 1 || *name != "psync");
    let engine = fitting
        .map(|engine| (fio::job(3, &fio::file_options(engine.1, &settings.dir, depth)).per_second, engine))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .expect("there are engines")
        .1;
    println!("\nreal file, O_DIRECT, 4 KiB random read, {depth} outstanding; the peer's better engine: {}", engine.0);
    let ours = || {
        let set = [format!("measure={}s", settings.seconds), format!("outstanding={depth}")];
        prony::delivered(&prony::study("real.toml", &settings.dir, &set).0)
    };
    let theirs = || {
        // Both read a file that was just written: one that was read for minutes is another file to the caches below.
        let _ = std::fs::remove_file(settings.dir.join("peer.dat"));
        fio::job(settings.seconds, &fio::file_options(engine.1, &settings.dir, depth))
    };
    let pairs = turns(settings.pairs, ours, theirs);
    let over =
        |figure: fn(&Delivered) -> f64| -> Vec<f64> { pairs.iter().map(|(a, b)| figure(a) / figure(b)).collect() };
    row("rate over fio", &over(|d| d.per_second), "", "at least 0.98");
    let cpu_aim = if depth == 1 { "at most 0.95" } else { "at most 1.0" };
    row("user + system CPU an operation over fio", &over(|d| d.user_us + d.system_us), "", cpu_aim);
    row("user CPU an operation over fio", &over(|d| d.user_us), "", "at most 0.8");
    row("our rate", &pairs.iter().map(|(a, _)| a.per_second).collect::<Vec<_>>(), "/s", "");
    row("our user CPU", &pairs.iter().map(|(a, _)| a.user_us).collect::<Vec<_>>(), "us/op", "");
    row("our system CPU", &pairs.iter().map(|(a, _)| a.system_us).collect::<Vec<_>>(), "us/op", "");
}
