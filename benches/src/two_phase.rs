//! Commits on two PostgreSQL servers in lock step beside the same commits by hand over two sessions.
//!
//! The one idea: by hand, each statement goes to one server after the other and is waited for, which is the sum of all round trips. The
//! session of studies and `prony pair serve` do the same transaction in turns with that, so that what they add, or save, is a ratio of one run.

use crate::{Settings, median, prony, row};
use database::server::{self, Mirror, postgres::USER};
use database::{Database, OpenOptions, Profiling, Session, Texts};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Instant;
use study::{At, DatabaseSpec, Engine, Pairing, Sessions, Waits};
use workload::transaction::{Answers, Batch, Statement, Value};

/// Transactions of each way before another one has its turn.
const TURN: usize = 100;

const ROWS: i64 = 1_000;

const TABLE: &str = "CREATE TABLE public.t (id int PRIMARY KEY, n int NOT NULL)";
const FILL: &str = "INSERT INTO public.t SELECT g, 0 FROM generate_series(1, 1000) g";

/// A way to carry out the transaction that changes the row of a key.
struct Way {
    transact: Box<dyn FnMut(i64)>,
    /// The process that stands between this one and both servers.
    between: Option<u32>,
}

/// What a turn took.
#[derive(Clone, Copy)]
struct Took {
    /// Median of the responses, milliseconds.
    response_ms: f64,
    /// CPU of this thread for one transaction, microseconds.
    client_us: f64,
    /// The same of the process between.
    between_us: f64,
}

/// All ways in turns on servers of one folder.
pub fn measure(settings: &Settings) {
    let folder = settings.dir.join(format!("two-phase-{}", std::process::id()));
    println!("\ntwo-phase commits of one UPDATE by key, PostgreSQL, turns of {TURN} below {}", settings.dir.display());
    let by_session = Both::start(&folder.join("servers"));
    let served = Served::start(&folder.join("pair"));
    let (mut near, mut far) = (by_session.near(), by_session.far());
    let (mut both, mut client) = (by_session.on_both(), reached(&served.url()));
    let mut ways = [
        Way { transact: Box::new(move |key| by_hand(&mut *near, &mut *far, key)), between: None },
        Way { transact: Box::new(move |key| whole(&mut *both, key)), between: None },
        Way { transact: Box::new(move |key| in_steps(&mut *client, key)), between: Some(served.serve.id()) },
    ];
    tell(&in_turns(settings.pairs, &mut ways));
    // Servers end when nobody has a session there.
    drop(ways);
    drop((by_session, served));
    let _ = std::fs::remove_dir_all(folder);
}

/// What each way took in each turn; who begins changes from turn to turn, and the first turn of all warms up.
fn in_turns(turns: usize, ways: &mut [Way]) -> Vec<Vec<Took>> {
    let count = ways.len();
    let mut all = vec![Vec::with_capacity(turns); count];
    for turn in 0..=turns {
        for at in (0..count).map(|step| (turn + step) % count) {
            let took = one_turn(&mut ways[at]);
            if turn > 0 {
                all[at].push(took);
            }
        }
    }
    all
}

fn one_turn(way: &mut Way) -> Took {
    let before = (thread_cpu_us(), way.between.map_or(0.0, process_cpu_us));
    let responses: Vec<f64> = (0..TURN as i64)
        .map(|at| {
            let begun = Instant::now();
            (way.transact)(at * 7 % ROWS + 1);
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    let after = (thread_cpu_us(), way.between.map_or(0.0, process_cpu_us));
    Took {
        response_ms: median(&responses).0,
        client_us: (after.0 - before.0) / TURN as f64,
        between_us: (after.1 - before.1) / TURN as f64,
    }
}

fn tell(all: &[Vec<Took>]) {
    let by_hand = &all[0];
    let figures = |took: &[Took], of: fn(&Took) -> f64| took.iter().map(of).collect::<Vec<f64>>();
    row("by hand: response", &figures(by_hand, |took| took.response_ms), "ms", "");
    row("by hand: client CPU", &figures(by_hand, |took| took.client_us), "us/tx", "");
    for (took, name) in all[1..].iter().zip(["session of studies", "pair serve"]) {
        let over =
            |of: fn(&Took) -> f64| took.iter().zip(by_hand).map(|(one, peer)| of(one) / of(peer)).collect::<Vec<f64>>();
        row(&format!("{name}: response over by hand"), &over(|took| took.response_ms), "", "at most 1.10");
        row(&format!("{name}: client CPU over by hand"), &over(|took| took.client_us), "", "at most 1.10");
        row(&format!("{name}: response"), &figures(took, |took| took.response_ms), "ms", "");
        row(&format!("{name}: client CPU"), &figures(took, |took| took.client_us), "us/tx", "");
        if took.iter().any(|took| took.between_us > 0.0) {
            row(&format!("{name}: CPU of its process"), &figures(took, |took| took.between_us), "us/tx", "");
        }
    }
}

/// The only statement that is prepared: an update by key.
fn texts() -> Texts {
    let sql = "UPDATE public.t SET n = n + 1 WHERE id = $1".to_owned();
    Texts::of(Engine::Postgres, &[Statement { name: "change".into(), sql: sql.into(), rows: false }])
}

fn changes(session: &mut dyn Session, key: i64) {
    let mut batch = Batch::default();
    batch.call(0, [Value::Int(key)]);
    session.run(&batch, &mut Answers::default()).expect("updated");
}

fn says(session: &mut dyn Session, sql: &str) {
    session.script(sql).unwrap_or_else(|failure| panic!("{sql}: {failure}"));
}

/// Eight round trips, one after the other.
fn by_hand(near: &mut dyn Session, far: &mut dyn Session, key: i64) {
    let name = format!("prony_hand_{key}");
    says(near, "BEGIN");
    says(far, "BEGIN");
    changes(near, key);
    changes(far, key);
    for order in ["PREPARE TRANSACTION", "COMMIT PREPARED"] {
        says(near, &format!("{order} '{name}'"));
        says(far, &format!("{order} '{name}'"));
    }
}

/// As studies do it: all of the transaction in one batch.
fn whole(session: &mut dyn Session, key: i64) {
    let mut batch = Batch::default();
    batch.begin(true);
    batch.call(0, [Value::Int(key)]);
    batch.commit();
    session.run(&batch, &mut Answers::default()).expect("committed");
}

/// As a client of `prony pair serve` does it, who knows of no second server.
fn in_steps(session: &mut dyn Session, key: i64) {
    says(session, "BEGIN");
    changes(session, key);
    says(session, "COMMIT");
}

/// Two private servers of studies.
struct Both {
    cache: PathBuf,
    database: Box<dyn Database>,
    mirror: Arc<dyn Mirror>,
}

impl Drop for Both {
    fn drop(&mut self) {
        let _ = server::down(Engine::Postgres, &self.cache, &Arc::default(), true);
    }
}

impl Both {
    fn start(cache: &Path) -> Both {
        made(cache);
        let spec = DatabaseSpec::new(Engine::Postgres, At::Local);
        let database = database::open(&spec, &options(cache)).expect("PostgreSQL is installed");
        filled(&mut *database.outside().expect("a session"));
        let mirror = database.mirror(&DatabaseSpec { pairing: Pairing::TwoPhase, ..spec });
        let mirror = mirror.expect("a private server has a mirror");
        // A wire that is none.
        for [near, far] in mirror.wires().expect("wires") {
            symlink(far, near).expect("a way to a socket");
        }
        mirror.begin(Waits::Flushed, &[], None).expect("the second server");
        Both { cache: cache.to_owned(), database, mirror }
    }

    fn near(&self) -> Box<dyn Session> {
        self.database.session(&texts(), &Sessions::default()).expect("a session")
    }

    /// The first wire leads to the second server.
    fn far(&self) -> Box<dyn Session> {
        let socket = self.mirror.wires().expect("wires").swap_remove(0)[1].clone();
        let folder = Path::new(&socket).parent().expect("a socket lies in a folder");
        reached(&format!("postgres://{USER}@/postgres?host={}", folder.display()))
    }

    /// A session of studies in lock step.
    fn on_both(&self) -> Box<dyn Session> {
        self.database.on_both(Some(&DatabaseSpec::new(Engine::Postgres, At::Local)));
        self.near()
    }
}

/// A pair that is served.
struct Served {
    pair: PathBuf,
    serve: Child,
    address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.serve.kill();
        let _ = self.serve.wait();
        let mut command = prony::command();
        let _ = command.args(["pair", "down", "--remove", "--dir"]).arg(&self.pair).stdout(Stdio::null()).status();
    }
}

impl Served {
    fn start(pair: &Path) -> Served {
        made(pair);
        crate::process::run(prony::command().args(["pair", "up", "two-phase-pair", "--dir"]).arg(pair));
        let mut command = prony::command();
        command.args(["pair", "serve", "--listen", "127.0.0.1:0", "--dir"]).arg(pair).stderr(Stdio::piped());
        let mut serve = command.spawn().expect("prony pair serve");
        let mut lines = BufReader::new(serve.stderr.take().expect("piped")).lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.split_once("listening at ")?.1.trim().to_owned()));
        // Whatever it says later must find somebody who reads.
        std::thread::spawn(move || lines.for_each(drop));
        let served = Served { pair: pair.to_owned(), serve, address: address.expect("it listens") };
        filled(&mut *reached(&served.url()));
        served
    }

    fn url(&self) -> String {
        format!("postgres://{USER}@{}/postgres", self.address)
    }
}

fn options(cache: &Path) -> OpenOptions {
    OpenOptions {
        cache_dir: cache.to_owned(),
        dataset: None,
        settings: Vec::new(),
        profiling: Profiling::default(),
        stop: Arc::default(),
    }
}

/// A session on what listens there.
fn reached(url: &str) -> Box<dyn Session> {
    let spec = DatabaseSpec::new(Engine::Postgres, At::Url(url.to_owned()));
    let database = database::open(&spec, &options(Path::new("."))).unwrap_or_else(|error| panic!("{url}: {error}"));
    database.session(&texts(), &Sessions::default()).unwrap_or_else(|error| panic!("{url}: {error}"))
}

fn filled(session: &mut dyn Session) {
    [TABLE, FILL].iter().for_each(|sql| says(session, sql));
}

/// A folder that the servers' user may enter.
fn made(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    for folder in [folder, folder.parent().expect("it lies in another")] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).expect("a folder of ours");
    }
}

/// CPU of this thread up to now, microseconds.
fn thread_cpu_us() -> f64 {
    // SAFETY: all zeroes are such a value, and it is only written to.
    let mut usage = unsafe { std::mem::zeroed::<libc::rusage>() };
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    let us = |time: libc::timeval| time.tv_sec as f64 * 1e6 + time.tv_usec as f64;
    us(usage.ru_utime) + us(usage.ru_stime)
}

/// The same of all threads of a process.
fn process_cpu_us(process: u32) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() / 1e3
}
