//! Tiers on devices that are not there: placements of eight objects as simulated and as measured, what tiers cost a read that stays
//! where it is, and a live PostgreSQL whose hot set wanders.
//!
//! The one idea: extents that move are held against one who knows what comes and has moved it before, and moves by SQL against one who
//! knows it as well and pays for his copies. The study `tier-wander` compares all of them in one run; here tables are larger.

#[path = "../../crates/advisor/tests/it/world.rs"]
mod world;

use crate::emulate::Mount;
use crate::{Settings, median, prony, row, turns};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use world::{OBJECTS, PLACEMENTS, Placement, Request, fast_mib, gains, is_fast};

const MIB: u64 = 1 << 20;

/// Whether devices can be mounted here; says so where not.
fn mounts() -> bool {
    let can = Path::new("/dev/fuse").exists() && unsafe { libc::geteuid() } == 0;
    if !can {
        println!("\ntiers: skipped, mounting needs root and /dev/fuse");
    }
    can
}

/// A live PostgreSQL whose hot set wanders, with what moves extents beside what moves nothing.
pub fn follow(settings: &Settings) {
    let all = [
        ("one who knows what comes, by SQL", By::Clairvoyant),
        ("extents that move under `emulate tiered`", By::Extents),
        ("a placement that stays", By::Nobody),
    ];
    wanders(settings, &all);
}

/// The same with what moves tables by SQL and pays for its copies: each table stays hot for ten times as long.
pub fn balance(settings: &Settings) {
    let all = [
        ("one who knows what comes and pays for the copies", By::Mover),
        ("`prony tier balance`, by SQL", By::Balance),
    ];
    wanders(settings, &all);
}

fn wanders(settings: &Settings, all: &[(&str, By)]) {
    if !mounts() {
        return;
    }
    let home = std::path::absolute(&settings.dir).expect("a folder").join("bench-wander");
    match ["pgbench", "psql"].iter().all(|name| Command::new(name).arg("--version").output().is_ok()) {
        true => wander(settings, &home, all),
        false => println!("\na hot set that wanders: skipped, pgbench and psql are not installed"),
    }
    let _ = std::fs::remove_dir_all(home);
}

/// What tiers cost a read, and placements of eight objects.
pub fn measure(settings: &Settings) {
    if !mounts() {
        return;
    }
    let home = std::path::absolute(&settings.dir).expect("a folder").join("bench-tiers");
    unmoved(settings, &home.join("unmoved"));
    order(settings, &home.join("order"));
    let _ = std::fs::remove_dir_all(home);
}

/// A folder below another that anybody may pass.
fn folder(home: &Path, name: &str) -> PathBuf {
    let folder = home.join(name);
    std::fs::create_dir_all(&folder).expect("a folder for mounts");
    folder
}

/// What `prony emulate` serves with such words at `at`, without pages of the kernel.
fn served(at: &Path, words: &[&str]) -> Mount {
    let mut command = prony::command();
    command.arg("emulate").args(words).arg("--no-page-cache").arg("--at").arg(at);
    Mount::start(command, at.to_owned())
}

/// A device of a model over a folder of its own.
fn device(home: &Path, model: &str) -> Mount {
    let below = folder(home, &format!("{model}-below"));
    served(&folder(home, model), &[model, "--backing", below.to_str().expect("text")])
}

fn filled(path: &Path, mib: u64) -> File {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path).expect("a file");
    let data = vec![7; MIB as usize];
    (0..mib).for_each(|at| file.write_all_at(&data, at * MIB).expect("room for it"));
    file
}

/// Microseconds of a read under tiers that move nothing, beyond one of a plain mount that takes no time either.
fn unmoved(settings: &Settings, home: &Path) {
    println!(
        "\nreads of 4 KiB that are not moved under `emulate tiered`, over those of a plain emulated mount, one outstanding"
    );
    let tier = |name| folder(home, name).display().to_string();
    let (fast, slow) = (tier("fast"), tier("slow"));
    let tiers = served(&folder(home, "tiers"), &["tiered", "--fast", &fast, "--slow", &slow, "--budget", "0B"]);
    let plain = device(home, "nothing");
    let files = [&tiers, &plain].map(|mount| filled(&mount.at.join("f"), 64));
    let mean_us = |file: &File| {
        let (begun, mut draws, mut buffer, mut reads) = (Instant::now(), random::Draws::numbered(1, 1), [0; 4096], 0);
        while begun.elapsed().as_secs() < u64::from(settings.seconds) {
            file.read_exact_at(&mut buffer, draws.below(64 * MIB / 4096) * 4096).expect("a read");
            reads += 1;
        }
        begun.elapsed().as_secs_f64() * 1e6 / f64::from(reads)
    };
    let pairs = turns(settings.pairs, || mean_us(&files[0]), || mean_us(&files[1]));
    row("added time", &pairs.iter().map(|(tiers, plain)| tiers - plain).collect::<Vec<_>>(), "us", "at most 50");
    row("  plain", &pairs.iter().map(|(_, plain)| *plain).collect::<Vec<_>>(), "us", "");
}

/// Those of the order of the advice, and the best rivals that simulation finds between them.
fn twenty(gains: &[f64], prefixes: &[Placement]) -> Vec<Placement> {
    let mut chosen: Vec<Placement> = prefixes.to_vec();
    let most = fast_mib(PLACEMENTS.end - 1);
    for part in 1..=20 - chosen.len() as u64 {
        let fits = PLACEMENTS.filter(|one| !chosen.contains(one) && fast_mib(*one) <= most * part / 11);
        chosen.extend(fits.max_by(|a, b| gains[*a as usize].total_cmp(&gains[*b as usize])));
    }
    chosen
}

/// Every placement simulated, twenty measured with the same requests: one file for each object on both devices.
fn order(settings: &Settings, home: &Path) {
    let asked = world::requests(3_000, 1);
    let simulated = gains(&PLACEMENTS.map(|one| world::simulated_s(one, &asked)).collect::<Vec<_>>());
    let advised = world::prefixes(&world::advice(&world::requests(3_000, 2), None));
    println!(
        "\nplacements of eight files on disk-15k and nand-device, as simulated and as measured: share of the time that is saved"
    );
    let mounts = world::MODELS.map(|model| device(home, model));
    let files = mounts.each_ref().map(|mount| OBJECTS.each_ref().map(|one| filled(&mount.at.join(one.name), one.mib)));
    let placements = twenty(&simulated, &advised);
    let runs: Vec<Vec<f64>> =
        (0..settings.pairs).map(|_| placements.iter().map(|one| measured_s(*one, &asked, &files)).collect()).collect();
    let measured: Vec<f64> =
        (0..placements.len()).map(|at| median(&runs.iter().map(|run| gains(run)[at]).collect::<Vec<_>>()).0).collect();
    println!("{:>5} {:<9} {:>10} {:>9} {:>26}", "MiB", "", "simulated", "measured", "over the best as small");
    let mut order: Vec<usize> = (0..placements.len()).collect();
    order.sort_by_key(|at| fast_mib(placements[*at]));
    for at in order {
        let (one, small) = (placements[at], |other: &usize| fast_mib(placements[*other]) <= fast_mib(placements[at]));
        let best = (0..placements.len()).filter(small).map(|other| measured[other]).fold(1e-9, f64::max);
        let listed = advised.contains(&one);
        let over = if listed && one > 0 { format!("{:.3}", measured[at] / best) } else { String::new() };
        let word = if listed { "advised" } else { "" };
        println!("{:>5} {word:<9} {:>10.3} {:>9.3} {over:>26}", fast_mib(one), simulated[one as usize], measured[at]);
    }
}

/// Seconds of all requests, with as many outstanding as were simulated.
fn measured_s(placement: Placement, requests: &[Request], files: &[[File; OBJECTS.len()]; 2]) -> f64 {
    let (next, begun) = (AtomicUsize::new(0), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..world::SLOTS {
            scope.spawn(|| {
                let mut buffer = vec![0; MIB as usize];
                while let Some(Request { object, offset, bytes }) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let file = &files[usize::from(is_fast(placement, *object))][*object];
                    file.read_exact_at(&mut buffer[..*bytes as usize], *offset).expect("a read");
                }
            });
        }
    });
    begun.elapsed().as_secs_f64()
}

/// Tables of a hot set that wanders from one to the next, and the bytes of the fast tier: one of them with its index, and a little.
const TABLES: usize = 6;
const ROOM: &str = "24MiB";

/// A server with its tables in a tablespace `slow`; dropping it ends it.
struct Server {
    cache: PathBuf,
}

impl Server {
    fn start(home: &Path, spaces: &[(&str, &Path)]) -> Server {
        let server = Server { cache: folder(home, "cache") };
        let mut up = server.prony();
        up.args(["db", "up", "local:postgres"]);
        for setting in ["shared_buffers=1MB", "autovacuum=off", "track_io_timing=on"] {
            up.args(["--server", setting]);
        }
        crate::process::run(&mut up);
        for (name, folder) in spaces {
            let owned = Command::new("chown").arg("--reference").arg(server.socket()).arg(folder).status();
            assert!(owned.is_ok_and(|status| status.success()), "giving {} to the server", folder.display());
            server.sql(&format!("CREATE TABLESPACE {name} LOCATION '{}'", folder.display()));
        }
        for table in 0..TABLES {
            server.sql(&format!(
                "SET default_tablespace = slow; CREATE TABLE t{table} (id int PRIMARY KEY, pad text); \
                 INSERT INTO t{table} SELECT n, repeat('x', 500) FROM generate_series(1, 30000) n; ANALYZE t{table}; CHECKPOINT"
            ));
        }
        server
    }

    fn socket(&self) -> PathBuf {
        self.cache.join("postgres-15/server/run")
    }

    fn prony(&self) -> Command {
        let mut command = prony::command();
        command.env("PRONY_CACHE", &self.cache);
        command
    }

    fn sql(&self, text: &str) {
        let mut command = Command::new("psql");
        command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-U", "prony", "-h"]).arg(self.socket());
        text.split("; ").for_each(|one| {
            command.args(["-c", one]);
        });
        crate::process::run(command.arg("postgres"));
    }

    /// Transactions that ended while one table took nine reads in ten.
    fn load(&self, hot: usize, seconds: u32) -> f64 {
        let mut command = Command::new("pgbench");
        command.args(["-n", "-M", "simple", "-c", "4", "-U", "prony", "-h"]).arg(self.socket());
        command.args(["-D", &format!("hot={hot}"), "-T", &seconds.to_string(), "-f"]);
        let told = crate::process::run(command.arg(prony::studies().join("wander.sql")).arg("postgres")).stdout;
        let told = String::from_utf8_lossy(&told).into_owned();
        let line = told.lines().find_map(|line| line.strip_prefix("number of transactions actually processed: "));
        line.and_then(|count| count.trim().parse().ok()).unwrap_or_else(|| panic!("pgbench told no count: {told}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.prony().args(["db", "down", "local:postgres", "--remove"]).output();
    }
}

/// How long a table stays hot, seconds: long enough for who is to keep up; where nothing changes meanwhile, a part of it shows the rate.
fn phase_s(settings: &Settings, by: By) -> u32 {
    match by {
        By::Nobody | By::Clairvoyant => settings.seconds,
        By::Extents => 3 * settings.seconds,
        By::Balance | By::Mover => 10 * settings.seconds,
    }
}

/// Who places what is hot.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// Nobody: what was hot at first is fast.
    Nobody,
    /// Extents that move under the mount.
    Extents,
    /// `prony tier balance`.
    Balance,
    /// One who has moved it by SQL before it becomes hot.
    Clairvoyant,
    /// One who knows what comes and moves it by SQL when it becomes hot: he pays for the copies, as the balancer does.
    Mover,
}

/// Transactions of all phases of a load whose hot set goes from table to table, the first of which only warms up.
fn phases(settings: &Settings, home: &Path, by: By) -> Vec<f64> {
    let spaces = ["slow", "fast"];
    let mounts = match by {
        By::Extents => {
            let tier = |model: &str| format!("{model}:{}", folder(home, model).display());
            let [slow, fast] = world::MODELS.map(tier);
            let pace = ["--room", ROOM, "--every", "500ms", "--half-life", "1s"];
            vec![served(&folder(home, "at"), &[&["tiered", "--fast", &fast, "--slow", &slow], &pace[..]].concat())]
        }
        _ => world::MODELS.map(|model| device(home, model)).into(),
    };
    let places: Vec<PathBuf> = mounts.iter().map(|mount| folder(&mount.at, "space")).collect();
    let named: Vec<(&str, &Path)> = spaces.into_iter().zip(places.iter().map(PathBuf::as_path)).collect();
    let server = Server::start(home, &named);
    let place = |table: usize, space: &str| {
        server.sql(&format!("ALTER TABLE t{table} SET TABLESPACE {space}; CHECKPOINT"));
    };
    if matches!(by, By::Nobody | By::Clairvoyant | By::Mover) {
        // Every index is hotter than any table that is not.
        place(0, "fast");
        (0..TABLES).for_each(|table| server.sql(&format!("ALTER INDEX t{table}_pkey SET TABLESPACE fast; CHECKPOINT")));
    }
    let mut balancer = (by == By::Balance).then(|| {
        let mut command = server.prony();
        command.args(["tier", "balance", "--fast", "fast", "--budget", ROOM, "--every", "2s", "--half-life", "2s"]);
        command
            .args(["--pay-off", "20s"])
            .arg(format!("postgres://prony@/postgres?host={}", server.socket().display()));
        command.stdout(File::create(folder(home, ".").join("balance.txt")).expect("a file")).stderr(Stdio::null());
        command.spawn().expect("starting the balancer")
    });
    let mut ended = Vec::new();
    for hot in 0..TABLES {
        if by == By::Clairvoyant && hot > 0 {
            place(hot - 1, "slow");
            place(hot, "fast");
        }
        ended.push(std::thread::scope(|scope| {
            if by == By::Mover && hot > 0 {
                // What was hot makes room first: the fast tier holds one table.
                scope.spawn(|| {
                    server.sql(&format!("ALTER TABLE t{} SET TABLESPACE slow", hot - 1));
                    server.sql(&format!("ALTER TABLE t{hot} SET TABLESPACE fast"));
                });
            }
            server.load(hot, phase_s(settings, by))
        }));
    }
    if let Some(balancer) = &mut balancer {
        unsafe { libc::kill(balancer.id() as i32, libc::SIGINT) };
        let _ = balancer.wait();
    }
    drop(server);
    drop(mounts);
    ended.split_off(1)
}

/// The same load, placed by each.
fn wander(settings: &Settings, home: &Path, all: &[(&str, By)]) {
    println!(
        "\nPostgreSQL on disk-15k and {ROOM} of nand-device; nine reads in ten go to one of {TABLES} tables of 16 MiB, then to another"
    );
    // The first knows what comes.
    let mut best = f64::NAN;
    for (what, by) in all {
        let home = folder(home, &format!("{}", *by as u8));
        let ended = phases(settings, &home, *by);
        let rates: Vec<f64> = ended.iter().map(|count| count / f64::from(phase_s(settings, *by))).collect();
        row(what, &rates, "/s", "");
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        best = if best.is_nan() { mean } else { best };
        let (each, moves) = (phase_s(settings, *by), moved_back(&home));
        println!("  {each} s a table; {mean:.1}/s over all, {:.3} of who knew{moves}", mean / best);
    }
}

/// How often the balancer moved, and how often it moved an object the other way within ten rounds, which take its pay-off time at least.
fn moved_back(home: &Path) -> String {
    let Ok(told) = std::fs::read_to_string(home.join("balance.txt")) else { return String::new() };
    let (mut round, mut moves, mut back) = (0, 0, 0);
    let mut last = BTreeMap::<&str, (bool, u32)>::new();
    for line in told.lines() {
        round += u32::from(line.starts_with("round "));
        let Some(name) = line.trim().strip_prefix("move ").and_then(|rest| rest.split(' ').next()) else { continue };
        let to_fast = line.contains(" to the fast tier");
        moves += 1;
        let before = last.insert(name, (to_fast, round));
        back += usize::from(before.is_some_and(|(was, at)| was != to_fast && round - at < 10));
    }
    format!("; {moves} moves of {} objects, {back} back within ten rounds", last.len())
}
