//! What an assessment predicts of a mirror on the same machine, beside what the mirror then costs.
//!
//! The one idea: one run has trials without and with a mirror in turns. Within each trial without, `prony assess` watches the server from
//! outside and predicts; the prediction is held against the trial with the mirror of the same block.

use crate::{Settings, median, process, prony};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Whether the server has no mirror and clients at work: how many of them.
const AT_WORK: &str = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND \
    (state <> 'idle' OR state_change > now() - interval '0.3 s') AND NOT EXISTS (SELECT FROM pg_stat_replication)";
/// The window of an assessment, and how long the load is let run before it. Both are within a trial.
const WINDOW: &str = "4s";
const SETTLED: Duration = Duration::from_millis(1300);

/// A prediction, and when it was begun, in seconds of the calendar.
struct Told {
    from_s: f64,
    says: Value,
}

/// One table, a row for each workload.
pub fn measure(settings: &Settings) {
    println!("\nprony assess --mirror-on same-host: throughput with a mirror at 10 km, of that without");
    let (cache, run) = (settings.dir.join("assess-cache"), settings.dir.join("assess.prony"));
    let _ = std::fs::remove_file(&run);
    let mut command = prony::command();
    command.arg("run").arg(prony::studies().join("assess.toml")).arg("--json").arg("-o").arg(&run);
    prony::set(&mut command, &[format!("replicates={}", settings.pairs.max(4))]);
    command.env("XDG_CACHE_HOME", &cache).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut running = command.spawn().expect("prony runs");
    let mut pipe = running.stdout.take().expect("piped");
    let report = std::thread::spawn(move || {
        let mut report = Vec::new();
        std::io::Read::read_to_end(&mut pipe, &mut report).map(|_| report)
    });
    let mut told = Vec::new();
    while running.try_wait().expect("it is ours").is_none() {
        std::thread::sleep(Duration::from_millis(200));
        for socket in sockets(&cache) {
            told.extend(assessed(&socket));
        }
    }
    let report = report.join().expect("it reads").expect("reading from a pipe");
    let _ = std::fs::remove_file(&run);
    table(&serde_json::from_slice(&report).expect("prony prints JSON"), &told);
}

/// Folders with the sockets of data sets' servers below a cache.
fn sockets(cache: &Path) -> Vec<String> {
    let folders = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten().map(|one| one.path());
    let sets = folders(&cache.join("prony")).flat_map(|version| folders(&version).collect::<Vec<_>>());
    let with = sets.map(|set| set.join("run")).filter(|run| run.join(".s.PGSQL.5432").exists());
    with.map(|run| run.display().to_string()).collect()
}

fn at_work(socket: &str) -> bool {
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-A", "-t", "-U", "prony", "-h", socket, "-d", "postgres", "-c", AT_WORK]);
    let said = psql.stderr(Stdio::null()).output().map(|said| said.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).trim().parse::<u32>().is_ok_and(|count| count >= 2)
}

/// What is predicted of a server whose load has settled; none where nobody works or a mirror follows.
fn assessed(socket: &str) -> Option<Told> {
    if !at_work(socket) {
        return None;
    }
    std::thread::sleep(SETTLED);
    if !at_work(socket) {
        return None;
    }
    let from_s = now_s();
    let mut assess = prony::command();
    assess.args(["assess", &format!("postgres://prony@/postgres?host={socket}"), "--window", WINDOW]);
    let said = process::run(assess.args(["--distance", "10km", "--mirror-on", "same-host", "--json"])).stdout;
    let told = Told { from_s, says: serde_json::from_slice(&said).expect("prony prints JSON") };
    // One prediction is enough of a trial.
    while at_work(socket) {
        std::thread::sleep(Duration::from_millis(100));
    }
    Some(told)
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Predicted and measured of each pair of trials, and how far their medians are apart.
fn table(report: &Value, told: &[Told]) {
    println!("| work | pairs | predicted | interval | measured | off |\n|---|---|---|---|---|---|");
    let trials = report["trials"].as_array().expect("trials");
    let mut works: Vec<&str> = trials.iter().filter_map(|trial| trial["experiment"].as_str()).collect();
    works.sort_unstable();
    works.dedup();
    for work in works {
        let of = |system: &'static str| {
            trials.iter().filter(move |trial| trial["experiment"] == work && trial["system"] == system)
        };
        let mirrored = |alone: &Value| of("mirrored").find(|trial| trial["replicate"] == alone["replicate"]);
        let pairs: Vec<[f64; 4]> = of("alone").filter_map(|alone| beside(alone, mirrored(alone)?, told)).collect();
        if pairs.is_empty() {
            println!("| {work} | 0 | | | | |");
            continue;
        }
        let each = |at: usize| pairs.iter().map(|pair| pair[at]).collect::<Vec<_>>();
        let (middle, least, greatest) = median(&each(3));
        let [value, low, high] = [0, 1, 2].map(|at| median(&each(at)).0);
        println!(
            "| {work} | {} | {value:.2} | {low:.2} to {high:.2} | {middle:.2} ({least:.2} to {greatest:.2}) | {:+.0} % |",
            pairs.len(),
            100.0 * (value / middle - 1.0)
        );
    }
}

/// What was predicted within a trial without a mirror (value and both ends), and what became of it, all as shares of the rate without.
fn beside(alone: &Value, mirrored: &Value, told: &[Told]) -> Option<[f64; 4]> {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no number: {value}"));
    let begun_s = number(&alone["started_unix_ns"]) / 1e9;
    let ended_s = begun_s + number(&alone["window_s"]["end"]);
    let says = &told.iter().find(|one| begun_s <= one.from_s && one.from_s <= ended_s)?.says;
    let then = says["prediction"].as_array()?.iter().find(|one| one["what"] == "throughput")?;
    let share = |end: &str| number(&then[end]) / number(&then["now"]);
    let measured = number(&mirrored["throughput_per_s"]) / number(&alone["throughput_per_s"]);
    Some([share("value"), share("low"), share("high"), measured])
}
