//! `prony capture URL`: what clients say to a live database, in a file that the workload `replay` sends again.
//!
//! The one idea: whatever the server writes down already is read, and nothing is changed. Ctrl-C ends the window, and what was heard is
//! kept.

mod said;

use super::db;
use super::tier::{open, spec, time};
use crate::args::Capture;
use crate::failure::Failure;
use crate::{output, run};
use database::capture::{Captured, Ear};
use recorder::{Clock, WallClock};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::Engine;
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
    let database = open(&spec, stop.clone())?;
    let doing = |error| db::failed(format!("listening at `{}`", spec.shown()), &error);
    let mut ear = Ear::open(database.as_ref(), asked.log.as_deref()).map_err(doing)?;
    ear.begin().map_err(doing)?;
    let lasted = listened(&mut ear, window, &stop).map_err(doing)?;
    // Whoever ended the window still wants what was heard.
    stop.store(false, Ordering::Relaxed);
    let captured = ear.end(lasted).map_err(doing)?;
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
