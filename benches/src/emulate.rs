//! Emulated devices: what they cost beyond a plain mount, and whether they answer as their model does.
//!
//! The one idea: the same job on two mounts by turns, and the same study on a mount and on the model beside one another.

use crate::{Settings, fio, median, plain, prony, row, turns};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Models whose single operations take 200 us and more, and which are at rest again soon behind a trial: on a mount a trial finds
/// the device as the one before it left it, and a model begins anew.
const MODELS: [&str; 2] = ["f5100", "disk-15k"];

/// Both comparisons.
pub fn measure(settings: &Settings) {
    if !Path::new("/dev/fuse").exists() || unsafe { libc::geteuid() } != 0 {
        println!("\nemulated devices: skipped, mounting needs root and /dev/fuse");
        return;
    }
    if fio::present() {
        nothing(settings);
    } else {
        println!("\nemulated device that adds nothing: skipped, fio is not installed");
    }
    MODELS.iter().for_each(|model| beside(settings, model));
}

/// A mount that another process serves; dropping it unmounts.
pub struct Mount {
    /// Where.
    pub at: PathBuf,
    served: Child,
}

impl Mount {
    /// Waits until it is there.
    pub fn start(mut command: Command, at: PathBuf) -> Mount {
        let served = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starting a mount");
        let begun = Instant::now();
        let listed = || std::fs::read_to_string("/proc/self/mounts").expect("the kernel lists its mounts");
        while !listed().lines().any(|line| line.split(' ').nth(1) == at.to_str()) {
            assert!(begun.elapsed() < Duration::from_secs(10), "nothing is mounted at {}", at.display());
            std::thread::sleep(Duration::from_millis(20));
        }
        // The way through the mount is measured before it is handed over.
        std::thread::sleep(Duration::from_millis(300));
        Mount { at, served }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).status();
        let _ = self.served.wait();
    }
}

fn folders(settings: &Settings, name: &str) -> (PathBuf, PathBuf) {
    let folder = settings.dir.join("bench-emulate").join(name);
    let (below, at) = (folder.join("below"), folder.join("at"));
    [&below, &at].into_iter().for_each(|folder| std::fs::create_dir_all(folder).expect("folders for mounts"));
    (below, at)
}

fn nothing(settings: &Settings) {
    println!("\nemulated device that adds nothing, over a plain pass-through, O_DIRECT, 4 KiB random, fio by io_uring");
    let (below, at) = folders(settings, "ours");
    let mut ours = prony::command();
    ours.args(["emulate", "nothing", "--backing"]).arg(&below).arg("--at").arg(&at);
    let ours = Mount::start(ours, at);
    let (below, at) = folders(settings, "theirs");
    let mut theirs = Command::new(std::env::current_exe().expect("this program"));
    theirs.arg(plain::SERVE).arg(&below).arg(&at);
    let theirs = Mount::start(theirs, at);
    for (way, depth) in [("randread", 1), ("randread", 32), ("randwrite", 1), ("randwrite", 32)] {
        let job = |mount: &Mount| {
            let words = [format!("--rw={way}"), format!("--filename={}", mount.at.join("f").display())];
            let more = [format!("--iodepth={depth}"), "--ioengine=io_uring".into(), "--direct=1".into()];
            let rest = ["--size=256m", "--norandommap"].map(str::to_owned);
            fio::job(settings.seconds, &[&words[..], &more, &rest].concat()).per_second
        };
        let pairs = turns(settings.pairs, || job(&ours), || job(&theirs));
        let ratios: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours / theirs).collect();
        row(&format!("{way}, {depth} outstanding, rate over the plain mount"), &ratios, "", "at least 0.6");
        row("  ours", &pairs.iter().map(|(ours, _)| *ours).collect::<Vec<_>>(), "/s", "");
        row("  plain", &pairs.iter().map(|(_, theirs)| *theirs).collect::<Vec<_>>(), "/s", "");
    }
    drop((ours, theirs));
    let _ = std::fs::remove_dir_all(settings.dir.join("bench-emulate"));
}

/// One trial: what it delivered, in operations a second and milliseconds.
struct Seen {
    workload: String,
    outstanding: u64,
    per_second: f64,
    p99_ms: f64,
}

fn sweep(settings: &Settings, on: &OsStr) -> Vec<Seen> {
    let study = prony::studies().join("emulate.toml");
    let set = [format!("measure={}s", settings.seconds), "replicates=1".to_owned()];
    let (report, _) = prony::run(&settings.dir, &[study.as_os_str(), OsStr::new("--on"), on], &set);
    let trial = |trial: &Value| Seen {
        workload: trial["workload"].as_str().expect("a name").to_owned(),
        outstanding: trial["factors"]["outstanding"].as_u64().expect("a number"),
        per_second: trial["throughput_per_s"].as_f64().expect("a rate"),
        p99_ms: trial["response_ms"]["p99"].as_f64().expect("a time"),
    };
    let mut seen: Vec<Seen> = report["trials"].as_array().expect("trials").iter().map(trial).collect();
    seen.sort_by(|a, b| (&a.workload, a.outstanding).cmp(&(&b.workload, b.outstanding)));
    seen
}

/// The same study on the mount and on the model.
fn beside(settings: &Settings, model: &str) {
    println!("\nemulated {model} beside its model, O_DIRECT, 4 KiB random; medians of {} sweeps", settings.pairs);
    let (below, _) = folders(settings, model);
    let mount = format!("emulated:{model}:{}", below.display());
    let models = sweep(settings, OsStr::new(&format!("model:{model}")));
    let mounts: Vec<Vec<Seen>> = (0..settings.pairs).map(|_| sweep(settings, OsStr::new(&mount))).collect();
    let _ = std::fs::remove_dir_all(below);
    println!(
        "{:<8} {:>5} {:>12} {:>12} {:>26} {:>10} {:>10} {:>26}",
        "",
        "depth",
        "model /s",
        "mount /s",
        "ratio (wanted 0.95..1.05)",
        "model p99",
        "mount p99",
        "ratio (wanted 0.9..1.1)"
    );
    for (at, expected) in models.iter().enumerate() {
        let over = |figure: fn(&Seen) -> f64| -> (f64, (f64, f64, f64)) {
            let all: Vec<f64> = mounts.iter().map(|sweep| figure(&sweep[at])).collect();
            let ratios: Vec<f64> = all.iter().map(|value| value / figure(expected)).collect();
            (median(&all).0, median(&ratios))
        };
        let (rate, rates) = over(|seen| seen.per_second);
        let (p99, p99s) = over(|seen| seen.p99_ms);
        println!(
            "{:<8} {:>5} {:>12.1} {:>12.1} {:>8.3} [{:.3} .. {:.3}] {:>10.3} {:>10.3} {:>8.3} [{:.3} .. {:.3}]",
            expected.workload,
            expected.outstanding,
            expected.per_second,
            rate,
            rates.0,
            rates.1,
            rates.2,
            expected.p99_ms,
            p99,
            p99s.0,
            p99s.1,
            p99s.2
        );
    }
}
