//! Faults for an hour: runs on all engines while servers are killed, stopped, slowed and cut off, disks fill up, and Prony
//! itself is interrupted and killed.
//!
//! The one idea: whatever happens, a run ends within its time, its file opens, its accounts close, and the data that the
//! server holds afterwards passes its checks; and the hundredth run takes no more memory than the first.
//!
//! It needs root (servers, a filesystem of its own) and installed PostgreSQL and MariaDB; nothing outside of its folder is
//! touched.

use crate::faults::{self, Fault};
use crate::{Settings, prony};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A run of 12 s with a fill before it has to be over by then, faults included.
const LIMIT: Duration = Duration::from_secs(120);
/// The first Ctrl-C ends a run within this time.
const STOPS_WITHIN: Duration = Duration::from_secs(2);
/// Resident memory of a long run may move by so much: pages of the recorder, of the allocator, of the terminal.
const GROWTH: f64 = 1.10;

/// An engine: its target, and what can happen to it.
struct Engine {
    target: &'static str,
    study: &'static [&'static str],
    faults: &'static [Fault],
}

use Fault::{Crash, Cut, Full, Interrupt, Kill, Nothing, Slow, Stop};

const TRADING: &[&str] =
    &["brokerage", "--set", "customers=100", "--set", "days=1", "--set", "sessions=4", "--set", "highest_rate=off"];
const RECORDS: &[&str] = &["key-value", "--set", "sessions=4"];
const ENGINES: &[Engine] = &[
    Engine {
        target: "local:postgres",
        study: TRADING,
        faults: &[Nothing, Kill, Stop, Slow, Cut, Full, Interrupt, Crash],
    },
    Engine { target: "local:mariadb", study: TRADING, faults: &[Nothing, Kill, Stop, Slow, Full, Interrupt, Crash] },
    Engine { target: "sqlite:", study: TRADING, faults: &[Nothing, Full, Interrupt, Crash] },
    Engine { target: "null-database:", study: RECORDS, faults: &[Nothing, Interrupt, Crash] },
    Engine { target: "files", study: &["soak.toml"], faults: &[Nothing, Full, Interrupt, Crash] },
];

/// What became of one run.
struct Round {
    engine: &'static str,
    fault: Fault,
    peak_mb: f64,
    found: Vec<String>,
}

/// Goes round until `PRONY_SOAK_MINUTES` are over (60).
///
/// # Panics
/// When anything was found.
pub fn measure(settings: &Settings) {
    let minutes: u64 = std::env::var("PRONY_SOAK_MINUTES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let place = Place::new(&settings.dir);
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    println!("\nsoak: {minutes} min in {}", place.dir.display());
    let mut long = Long::start(&place, minutes);
    let mut rounds = Vec::new();
    for turn in 0.. {
        let engine = &ENGINES[turn % ENGINES.len()];
        let fault = engine.faults[turn / ENGINES.len() % engine.faults.len()];
        let round = round(&place, engine, fault, turn as u64);
        println!("{turn:>4} {:<15} {:<9} {:>6.1} MB {}", round.engine, fault.word(), round.peak_mb, told(&round.found));
        rounds.push(round);
        long.look();
        if Instant::now() > end {
            break;
        }
    }
    let found = rounds.iter().filter(|round| !round.found.is_empty()).count();
    summary(&rounds);
    println!("one run over all of it: {}", long.end());
    drop(place);
    assert_eq!(found, 0, "rounds with findings");
}

fn told(found: &[String]) -> String {
    if found.is_empty() { "fine".to_owned() } else { found.join("; ") }
}

/// A filesystem of its own, so that a full disk is nobody else's.
struct Place {
    dir: PathBuf,
}

impl Place {
    fn new(dir: &Path) -> Place {
        let dir = fs::canonicalize(dir).expect("a folder").join(format!("soak-{}", std::process::id()));
        fs::create_dir(&dir).expect("a new folder");
        let (image, mount) = (dir.join("image"), dir.join("disk"));
        fs::create_dir(&mount).expect("a new folder");
        fs::File::create(&image).and_then(|file| file.set_len(4 << 30)).expect("an image");
        must(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image));
        must(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&mount));
        Place { dir }
    }

    fn disk(&self) -> PathBuf {
        self.dir.join("disk")
    }

    /// Prony with its cache on that filesystem, run files beside it.
    fn prony(&self) -> Command {
        let mut command = prony::command();
        command.env("PRONY_CACHE", self.disk().join("cache")).current_dir(&self.dir).stdin(Stdio::null());
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for engine in ["local:postgres", "local:mariadb"] {
            let _ = self.prony().args(["db", "down", engine, "--remove"]).output();
        }
        let _ = Command::new("umount").arg(self.disk()).status();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn must(command: &mut Command) {
    let status = command.status();
    assert!(status.is_ok_and(|status| status.success()), "{command:?}");
}

/// The words of a run on this engine.
fn words(place: &Place, engine: &Engine, file: &str) -> Vec<String> {
    let mut words = vec!["run".to_owned()];
    let study = engine.study.iter().map(|word| match *word {
        "soak.toml" => prony::studies().join(word).display().to_string(),
        word => word.to_owned(),
    });
    words.extend(study);
    let target = if engine.target == "files" { place.disk().display().to_string() } else { engine.target.to_owned() };
    words.extend(["--set", "warm_up=1s", "--set", "measure=12s", "--on", &target, "-o", file].map(str::to_owned));
    words
}

fn round(place: &Place, engine: &'static Engine, fault: Fault, turn: u64) -> Round {
    let file = format!("run-{turn}.prony");
    let mut found = Vec::new();
    let mut child = spawn(place, &words(place, engine, &file), "errors");
    // The fault falls anywhere between the first look at the system and the end of the run, in an order that is no pattern.
    let after = Duration::from_millis(500 + turn.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 14_000);
    let mut peak_mb = wait(&mut child, after);
    if child.try_wait().is_ok_and(|ended| ended.is_none()) {
        let begun = Instant::now();
        faults::strike(fault, &place.disk(), child.id());
        if fault == Interrupt {
            peak_mb = peak_mb.max(wait(&mut child, LIMIT));
            if begun.elapsed() > STOPS_WITHIN {
                found.push(format!("ended {:.1} s after the first signal", begun.elapsed().as_secs_f64()));
            }
        }
    }
    peak_mb = peak_mb.max(wait(&mut child, LIMIT));
    if child.try_wait().is_ok_and(|ended| ended.is_none()) {
        found.push("did not end in time".to_owned());
        let _ = child.kill();
    }
    let _ = child.wait();
    let errors = fs::read_to_string(place.dir.join("errors")).unwrap_or_default();
    if errors.contains("panicked") || errors.contains("defect") {
        found.push(errors.lines().last().unwrap_or_default().to_owned());
    }
    found.extend(accounts(place, &file));
    found.extend(data(place, engine));
    let _ = fs::remove_file(place.dir.join(&file));
    Round { engine: engine.target, fault, peak_mb, found }
}

fn spawn(place: &Place, words: &[String], errors: &str) -> Child {
    let errors = fs::File::create(place.dir.join(errors)).expect("a file");
    place.prony().args(words).stdout(Stdio::null()).stderr(errors).spawn().expect("prony starts")
}

/// Waits for the end at most so long, and answers with the largest resident memory meanwhile.
fn wait(child: &mut Child, most: Duration) -> f64 {
    let end = Instant::now() + most;
    let mut peak = 0.0f64;
    while Instant::now() < end && child.try_wait().is_ok_and(|ended| ended.is_none()) {
        peak = peak.max(resident_mb(child.id()));
        std::thread::sleep(Duration::from_millis(50));
    }
    peak
}

fn resident_mb(pid: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// A run file opens, and all that was planned is done, failed or censored. A run that never began has none.
fn accounts(place: &Place, file: &str) -> Vec<String> {
    if !place.dir.join(file).exists() {
        return Vec::new();
    }
    let shown = place.prony().args(["show", file, "--json"]).output().expect("prony starts");
    let Ok(report) = serde_json::from_slice::<Value>(&shown.stdout) else {
        return vec![format!("the run does not open: {}", String::from_utf8_lossy(&shown.stderr).trim())];
    };
    let open = |trial: &&Value| {
        let count = |name: &str| trial[name].as_u64().unwrap_or(0);
        count("planned") != count("done") + count("failed") + count("censored")
    };
    let trials = report["trials"].as_array().cloned().unwrap_or_default();
    trials.iter().filter(open).map(|trial| format!("accounts of trial {} do not close", trial["trial"])).collect()
}

/// The data set passes its checks, with the server up again.
fn data(place: &Place, engine: &Engine) -> Vec<String> {
    if engine.study != TRADING {
        return Vec::new();
    }
    let checked = place.prony().args(["db", "check", "brokerage", "--on", engine.target]).output().expect("starts");
    let told = String::from_utf8_lossy(&checked.stderr).into_owned();
    // A fill that was cut off leaves nothing to check.
    if checked.status.success() || told.contains("none is filled") {
        return Vec::new();
    }
    vec![format!("data: {} {}", String::from_utf8_lossy(&checked.stdout).trim(), told.trim())]
}

/// One run for as long as all others take, whose memory has to stay what it was.
struct Long {
    child: Child,
    seen_mb: Vec<f64>,
}

impl Long {
    fn start(place: &Place, minutes: u64) -> Long {
        let measure = format!("measure={}s", 60 * minutes + 600);
        let words = [
            "run",
            "key-value",
            "--on",
            "null-database:",
            "-o",
            "long.prony",
            "--set",
            "sessions=4",
            "--set",
            "rate=500/s",
        ];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        words.extend(["--set".to_owned(), measure]);
        Long { child: spawn(place, &words, "long-errors"), seen_mb: Vec::new() }
    }

    fn look(&mut self) {
        self.seen_mb.push(resident_mb(self.child.id()));
    }

    fn end(mut self) -> String {
        let early = self.seen_mb.get(self.seen_mb.len() / 6).copied().unwrap_or(0.0);
        let late = self.seen_mb.last().copied().unwrap_or(0.0);
        // SAFETY: a child that was not waited for yet.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGINT) };
        let _ = self.child.wait();
        assert!(late > 0.0 && late < GROWTH * early, "the long run grew from {early:.1} to {late:.1} MB");
        format!("{early:.1} MB after a sixth, {late:.1} MB at the end")
    }
}

fn summary(rounds: &[Round]) {
    let mut by_engine: BTreeMap<&str, Vec<&Round>> = BTreeMap::new();
    for round in rounds {
        by_engine.entry(round.engine).or_default().push(round);
    }
    for (engine, rounds) in by_engine {
        let third = rounds.len().div_ceil(3);
        let median = |rounds: &[&Round]| {
            let mut peaks: Vec<f64> = rounds.iter().map(|round| round.peak_mb).collect();
            peaks.sort_by(f64::total_cmp);
            peaks[peaks.len() / 2]
        };
        let found = rounds.iter().filter(|round| !round.found.is_empty()).count();
        let faults = rounds.iter().filter(|round| round.fault != Nothing).count();
        println!(
            "{engine:<15} {:>3} runs, {faults} with faults, {found} with findings; peak of memory {:.1} MB in the first \
             third, {:.1} MB in the last",
            rounds.len(),
            median(&rounds[..third]),
            median(&rounds[rounds.len() - third..])
        );
    }
}
