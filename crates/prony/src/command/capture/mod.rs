//! `prony capture URL`: what clients say to a live database, in a file that the workload `replay` sends again.
//!
//! The one idea: whatever the server writes down already is read, or clients talk through a relay here; nothing is changed. Ctrl-C ends the window, and what was heard is
//! kept.

mod said;

use super::db;
use super::tier::{open, spec, time};
use crate::args::Capture;
use crate::failure::Failure;
use crate::{output, run};
use database::capture::{self, Captured, Ear, Passing};
use link::{Address, Relay};
use recorder::{Clock, WallClock};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::{At, DatabaseSpec, Engine, Wire};
use units::Nanos;

/// How often somebody who only waits looks whether he is told to stop.
const LOOK: Duration = Duration::from_millis(50);

/// Everything that is told.
struct Told {
    shown: String,
    trace: PathBuf,
    captured: Captured,
}

pub(super) fn run(asked: &Capture) -> Result<(), Failure> {
    let window = time("--window", &asked.window)?;
    let path = asked.output.clone().unwrap_or_else(|| PathBuf::from("statements.trace"));
    // A name that is taken is told before the wait, not after it.
    if path.exists() {
        return Err(Failure::new(format!("writing `{}`: a file is there", path.display()))
            .hint("choose a new name with --output: existing files are kept as they are"));
    }
    let spec = spec(&asked.place)?;
    if !matches!(spec.engine, Engine::Postgres | Engine::Mariadb) {
        return Err(Failure::new(format!("listening at `{}`: it has no server that others talk to", spec.shown()))
            .hint("write postgres://USER@HOST:PORT/DATABASE or mysql://USER@HOST:PORT/DATABASE"));
    }
    let stop = run::listen()?;
    let captured = match &asked.listen {
        Some(listen) => relayed(&spec, listen, window, &stop)?,
        None => written_down(&spec, asked.log.as_deref(), window, &stop)?,
    };
    if captured.trace.heard.is_empty() {
        let left_out = captured.left_out.iter().map(|(why, count)| format!("{count} left out because {why}"));
        let why: String = left_out.chain(captured.lacking.iter().cloned()).map(|why| format!("; {why}")).collect();
        let shown = spec.shown();
        return Err(Failure::new(format!("listening at `{shown}`: nothing was said that can be sent again{why}"))
            .hint("choose a window in which clients work"));
    }
    write(&path, &captured.trace.write())?;
    let told = Told { shown: spec.shown(), trace: path, captured };
    output::answer(asked.json, || said::json(&told), || said::text(&told))
}

/// What the server writes down in the window.
fn written_down(
    spec: &DatabaseSpec,
    log: Option<&Path>,
    window: Duration,
    stop: &Arc<AtomicBool>,
) -> Result<Captured, Failure> {
    let database = open(spec, stop.clone())?;
    let doing = |error| db::failed(format!("listening at `{}`", spec.shown()), &error);
    let mut ear = Ear::open(database.as_ref(), log).map_err(doing)?;
    ear.begin().map_err(doing)?;
    let lasted = listened(&mut ear, window, stop).map_err(doing)?;
    // Whoever ended the window still wants what was heard.
    stop.store(false, Ordering::Relaxed);
    ear.end(lasted).map_err(doing)
}

/// What passes a relay in the window. Connections through it end with it.
fn relayed(spec: &DatabaseSpec, listen: &str, window: Duration, stop: &AtomicBool) -> Result<Captured, Failure> {
    let doing = || format!("relaying from `{listen}` to `{}`", spec.shown());
    let At::Url(url) = &spec.at else {
        return Err(Failure::new(format!("{}: it is no running server", doing())).hint("write its URL"));
    };
    let (to, database) = capture::listens(spec.engine, url).map_err(|error| db::failed(doing(), &error))?;
    let address =
        |text: &str| text.parse::<Address>().map_err(|error| Failure::new(format!("reading `--listen`: {error}")));
    let settings = link::Settings {
        listen: address(listen)?,
        to: address(&to)?,
        paths: vec![Wire::default()],
        choice: link::Choice::Priority,
        failover: Nanos::ZERO,
        seed: 0,
    };
    let ear = Arc::new(Passing::new(spec.engine, database));
    let hears = ear.clone();
    let tap: link::Tap = Arc::new(move |number, there, at, bytes| hears.hear(number, there, at, bytes));
    let relay = Relay::tapped(&settings, tap)
        .map_err(|error| Failure::caused(doing(), &error).hint("name a free port or a socket that does not exist"))?;
    let at = relay.address().to_string();
    output::note_line(&format!("listening at {at} for {to}; connections through it end with the window"));
    let clock = WallClock::new();
    let begun = clock.now();
    let lasted = || clock.now().saturating_sub(begun);
    while lasted() < Nanos(window.as_nanos() as u64) && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
    let captured = ear.end(&at, lasted());
    drop(relay);
    Ok(captured)
}

/// Lets the window pass; says how long it was.
fn listened(ear: &mut Ear, window: Duration, stop: &AtomicBool) -> Result<Duration, database::DatabaseError> {
    let (clock, every) = (WallClock::new(), ear.every());
    let begun = clock.now();
    let end = begun.saturating_add(Nanos(window.as_nanos() as u64));
    while clock.now() < end && !stop.load(Ordering::Relaxed) {
        if every.is_some() {
            ear.look()?;
        }
        let left = Duration::from_nanos(end.saturating_sub(clock.now()).0);
        std::thread::sleep(left.min(every.unwrap_or(LOOK)));
    }
    Ok(Duration::from_nanos(clock.now().saturating_sub(begun).0.max(1)))
}

/// What clients say may be nobody else's business.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let doing = || format!("writing `{}`", path.display());
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = opened.map_err(|error| Failure::caused(doing(), &error))?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::caused(doing(), &error))
}
