//! A bank's night and the loads of a warehouse, killed at moments that are no pattern: Prony itself, or the server with all its
//! processes. What was killed is checked, run again to its end, and checked again.
//!
//! The one idea: nobody asks what the kill hit. After it the invariants hold, the next run goes on from the data as it was left,
//! fails nothing, and leaves data in which they hold again.
//!
//! What it does not do: it cuts no power; what the operating system was given is there after a kill.

use crate::faults::{self, Fault};
use crate::{Settings, number, prony};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What is killed: a study with its data, and words of the run that is killed and of the one behind it.
struct Work {
    study: &'static str,
    data: &'static [&'static str],
    run: &'static [&'static str],
}

const WORKS: [Work; 2] = [
    Work {
        study: "bank-night",
        data: &["accounts=5000"],
        run: &["sessions=4", "commit_every=5", "state=left", "replicates=1"],
    },
    Work {
        study: "warehouse",
        data: &["rows=50k"],
        run: &["users=2", "sessions=5", "load_rate=full", "delta=200", "warm_up=0s", "measure=4s"],
    },
];

const ENGINES: [(&str, &[Fault]); 3] = [
    ("sqlite:", &[Fault::Crash]),
    ("local:postgres", &[Fault::Crash, Fault::Kill]),
    ("local:mariadb", &[Fault::Crash, Fault::Kill]),
];

/// A run has to end within so long of the kill of its server.
const LIMIT: Duration = Duration::from_secs(180);

/// So many moments (`PRONY_BENCH_KILLS`) of each work on each engine, for each that can be killed there.
///
/// # Panics
/// When anything was found.
pub fn measure(settings: &Settings) {
    let (moments, dir) = (number("PRONY_BENCH_KILLS", 6), Place::new(&settings.dir));
    println!("\nkills: {moments} moments of each work, engine and victim, in {}", dir.0.display());
    let (mut all, mut found) = (0, Vec::new());
    for (target, victims) in ENGINES {
        for work in &WORKS {
            let whole = dir.whole(work, target);
            for victim in victims {
                let kills: Vec<Kill> = (0..moments).map(|_| dir.kill(work, target, *victim, whole, &mut all)).collect();
                let amid = kills.iter().filter(|kill| kill.amid).count();
                let who = if *victim == Fault::Crash { "prony" } else { "server" };
                println!(
                    "{target:<15} {:<11} {who:<7} {moments:>3} kills, {amid} with a part of the work done",
                    work.study
                );
                found.extend(kills.into_iter().flat_map(|kill| kill.found));
            }
        }
    }
    println!("{} findings", found.len());
    drop(dir);
    assert!(found.is_empty(), "{found:#?}");
}

/// What came of one.
struct Kill {
    /// Whether the next run found a part of the work done.
    amid: bool,
    found: Vec<String>,
}

/// A folder for everything.
struct Place(PathBuf);

impl Place {
    fn new(dir: &Path) -> Place {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = fs::canonicalize(dir).expect("a folder").join(format!("kills-{}", std::process::id()));
        fs::create_dir(&dir).expect("a new folder");
        // Servers of root run as somebody else, who must be able to pass.
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).expect("the folder is ours");
        Place(dir)
    }

    fn prony(&self, words: &[&str], work: &Work, target: &str, sets: &[&str]) -> Command {
        let mut command = prony::command();
        command.env("PRONY_CACHE", self.0.join("cache")).current_dir(&self.0).stdin(Stdio::null());
        command.args(words).args([work.study, "--on", target]);
        prony::set(&mut command, work.data);
        prony::set(&mut command, sets);
        command
    }

    fn run(&self, work: &Work, target: &str) -> Command {
        for file in ["run.prony", "run.prony-wal", "run.prony-shm"] {
            let _ = fs::remove_file(self.0.join(file));
        }
        let mut command = self.prony(&["run"], work, target, work.run);
        if work.study == "bank-night" {
            command.args(["--only", "accounts by jobs"]);
        }
        command.args(["--json", "-o", "run.prony"]);
        command
    }

    /// Fills, and answers with how long the work takes undisturbed.
    fn whole(&self, work: &Work, target: &str) -> Duration {
        let filled = self.run(work, target).output().expect("prony starts");
        Duration::from_secs_f64(
            report(&filled)["trials"][0]["elapsed_s"].as_f64().unwrap_or_else(|| panic!("{filled:?}")),
        )
    }

    /// Starts the work, kills at a moment, and holds what is left against what must be. A run that was over before is none.
    fn kill(&self, work: &Work, target: &str, victim: Fault, whole: Duration, all: &mut u64) -> Kill {
        loop {
            *all += 1;
            let part = random::mix(*all) as f64 / u64::MAX as f64;
            if self.struck(work, target, victim, whole.mul_f64(part)) {
                break;
            }
        }
        let (named, mut found) = (format!("{} on {target}, {victim:?} {all}", work.study), Vec::new());
        let mut hold = |when: &str| {
            let checked = self.prony(&["db", "check"], work, target, &[]).arg("--json").output().expect("prony starts");
            if report(&checked)["datasets"][0]["passed"] != true {
                found.push(format!("{named}, {when}: {}", told(&checked)));
            }
        };
        hold("after the kill");
        let again = self.run(work, target).output().expect("prony starts");
        hold("after the next run");
        let (trial, words) = (&report(&again)["trials"][0], told(&again));
        if !again.status.success() || trial["failed"] != 0 || !words.contains("reused as earlier trials left it") {
            found.push(format!("{named}, next run: {words}"));
        }
        // A night that was settled in part has less to give than all accounts, and a delta that was left is loaded first.
        let settled =
            words.split(" accounts are settled").next().and_then(|text| text.rsplit([' ', '"']).next()?.parse().ok());
        let amid = work.study != "bank-night" || settled.is_some_and(|count: u64| 0 < count && count < 5_000);
        Kill { amid, found }
    }

    /// Whether the work was still going on when it was killed.
    fn struck(&self, work: &Work, target: &str, victim: Fault, after: Duration) -> bool {
        let mut command = self.run(work, target);
        let child = command.arg("--verbose").stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("prony starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
        let began = lines.any(|line| line.contains("· measure"));
        let rest = std::thread::spawn(move || lines.count());
        std::thread::sleep(after);
        let going = began && child.try_wait().is_ok_and(|ended| ended.is_none());
        if going {
            faults::strike(victim, &self.0, child.id());
        }
        let end = Instant::now() + LIMIT;
        while child.try_wait().is_ok_and(|ended| ended.is_none()) {
            assert!(Instant::now() < end, "{} on {target} did not end in time", work.study);
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = rest.join();
        going
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for (target, victims) in ENGINES {
            if victims.len() > 1 {
                let mut down = prony::command();
                let _ = down.env("PRONY_CACHE", self.0.join("cache")).args(["db", "down", target, "--remove"]).output();
            }
        }
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn report(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

/// What a program said, in one text.
fn told(output: &Output) -> String {
    format!("{} {}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
