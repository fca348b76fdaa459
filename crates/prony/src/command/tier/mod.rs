//! `prony tier`: which data belongs on the fast tier, and the moves that bring it there and back.
//!
//! The one idea: advice looks and changes nothing; what it says is a plan that is bound to one server, and a move takes only such a
//! plan. `database` knows the servers, `advisor` judges; here they meet the clock, the options and the terminal.

mod advise;
mod balance;
mod carry;
mod document;
mod manner;
mod plan;
mod prove;
mod said;
mod sample;
mod times;
mod wander;

pub use prove::prepared;
pub use wander::beside;

use super::db;
use crate::args::{Tier, TierPlace};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::passwords;
use database::{Database, DatabaseError};
use recorder::{Clock as _, WallClock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::DatabaseSpec;
use units::Nanos;

/// How long a wait goes on before it looks whether it shall stop.
const LOOK: Duration = Duration::from_millis(50);

/// Carries out one of the commands.
pub fn run(asked: &Tier) -> Result<Outcome, Failure> {
    match asked {
        Tier::Advise(asked) => advise::run(asked).map(|()| Outcome::Fine),
        Tier::Move(asked) => carry::forth(asked),
        Tier::Undo(asked) => carry::back(asked),
        Tier::Balance(asked) => balance::run(asked).map(|()| Outcome::Fine),
    }
}

/// The database that a command is about.
pub(super) fn spec(place: &TierPlace) -> Result<DatabaseSpec, Failure> {
    let passwords = passwords::given(place.password_file.as_deref())?;
    db::warn(std::slice::from_ref(&place.url));
    Ok(db::target(&place.url)?.with_password_of(&passwords))
}

pub(super) fn open(spec: &DatabaseSpec, stop: Arc<AtomicBool>) -> Result<Box<dyn Database>, Failure> {
    db::open(spec, None, Vec::new(), stop)
}

/// What failed while something was done with the tiers of a database.
fn failed(doing: &str, spec: &DatabaseSpec, error: &DatabaseError) -> Failure {
    db::failed(format!("{doing} `{}`", spec.shown()), error)
}

/// Reads an option that holds a size.
fn size(option: &str, text: &str) -> Result<f64, Failure> {
    let read = units::parse_bytes(text).map(|bytes| bytes.0 as f64);
    read.map_err(|error| Failure::new(format!("reading `{option}`: {error}")).hint("give a size, such as `10GiB`"))
}

/// Reads an option that holds a time.
pub(super) fn time(option: &str, text: &str) -> Result<Duration, Failure> {
    let read = units::parse_duration(text).map(|time| Duration::from_nanos(time.0));
    let read =
        read.map_err(|error| Failure::new(format!("reading `{option}`: {error}")).hint("give a time, such as `10s`"))?;
    if read.is_zero() {
        return Err(Failure::new(format!("reading `{option}`: a time above 0 s, got `{text}`")));
    }
    Ok(read)
}

/// Lets time pass until a moment.
pub(super) fn wait(clock: &WallClock, spec: &DatabaseSpec, due: Nanos, stop: &AtomicBool) -> Result<(), Failure> {
    loop {
        let left = due.saturating_sub(clock.now());
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::new(format!("sampling `{}`: stopped before the window was over", spec.shown())));
        }
        if left == Nanos::ZERO {
            return Ok(());
        }
        std::thread::sleep(LOOK.min(Duration::from_nanos(left.0)));
    }
}
