//! How moves are made: one after the other, told as they go, no faster than was asked for.

use super::{open, size, time};
use crate::args::TierManner;
use crate::failure::Failure;
use crate::output;
use database::tier::{Mover, Outcome, Relation};
use database::{Database, DatabaseError};
use recorder::{Clock, WallClock};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::DatabaseSpec;
use units::{Bytes, Nanos};

/// How moves are made.
pub(super) struct Manner {
    pub(super) lock_timeout: Duration,
    rate: Option<f64>,
    clock: WallClock,
    stop: Arc<AtomicBool>,
    /// Whether nobody is told, because somebody else tells of the moves.
    quiet: bool,
    /// Whether nothing is changed.
    pub(super) dry_run: bool,
}

/// What became of one object.
pub(super) struct Done {
    pub(super) name: String,
    pub(super) outcome: Outcome,
    seconds: f64,
}

impl Manner {
    pub(super) fn of(asked: &TierManner, stop: Arc<AtomicBool>) -> Result<Manner, Failure> {
        let lock_timeout = time("--lock-timeout", &asked.lock_timeout)?;
        let rate =
            asked.rate.as_ref().map(|text| size("--rate", text.strip_suffix("/s").unwrap_or(text))).transpose()?;
        Ok(Manner { lock_timeout, rate, clock: WallClock::new(), stop, quiet: false, dry_run: asked.dry_run })
    }

    /// As fast as it goes, without a word; a move that was begun is finished.
    pub(super) fn beside_a_trial() -> Manner {
        let (lock_timeout, stop) = (Duration::from_secs(2), Arc::default());
        Manner { lock_timeout, rate: None, clock: WallClock::new(), stop, quiet: true, dry_run: false }
    }

    /// A mover, and word that another one is waited for; nobody who only looks is in another's way.
    pub(super) fn mover<'a>(&self, database: &'a dyn Database) -> Result<Mover<'a>, DatabaseError> {
        if self.dry_run {
            return Mover::looking(database, self.lock_timeout);
        }
        let waits = |process| {
            output::note_line(&format!(
                "waiting for another move in this database to end (process {process} of the server); Ctrl-C to give up"
            ));
        };
        Mover::open(database, self.lock_timeout, &self.stop, &waits)
    }

    /// Brings one object to a tablespace or folder and tells it; the pause that the rate asks for comes behind it.
    pub(super) fn bring(&self, mover: &mut Mover<'_>, object: &Relation, space: &str) -> Result<Done, DatabaseError> {
        let begun = self.clock.now();
        let outcome = mover.bring(object, space)?;
        let seconds = self.clock.now().saturating_sub(begun).seconds();
        let done = Done { name: object.kept.name.clone(), outcome, seconds };
        self.tell(&done);
        self.note(mover);
        if let (Some(rate), Outcome::Moved { before, .. }) = (self.rate, &done.outcome) {
            let due = begun.saturating_add(Nanos::from_seconds(before / rate));
            while !self.stop.load(Ordering::Relaxed) && self.clock.now() < due {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(done)
    }

    /// Tells what became of an object.
    pub(super) fn tell(&self, done: &Done) {
        if !self.quiet {
            output::note_line(&done.says());
        }
    }

    /// Clears away what moves left unfinished, and tells it; the names of what stays.
    pub(super) fn tidy(&self, mover: &mut Mover<'_>) -> Result<Vec<String>, DatabaseError> {
        let left = mover.tidy();
        self.note(mover);
        left
    }

    fn note(&self, mover: &mut Mover<'_>) {
        mover.notes().iter().filter(|_| !self.quiet).for_each(|note| output::note_line(note));
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends what the server still does for a mover that was stopped, and clears away what it left unfinished.
    pub(super) fn clear_away(&self, spec: &DatabaseSpec, process: u32) -> Result<(), Failure> {
        let doing = |error| super::failed("clearing away behind a move that was stopped in", spec, &error);
        let go = Arc::new(AtomicBool::new(false));
        let database = open(spec, go.clone())?;
        Mover::end_other(database.as_ref(), process).map_err(doing)?;
        let mut mover = Mover::open(database.as_ref(), self.lock_timeout, &go, &|_| ()).map_err(doing)?;
        tell_unfinished(&self.tidy(&mut mover).map_err(doing)?);
        Ok(())
    }
}

/// Says beside what something unfinished stays, because somebody holds it.
pub(super) fn tell_unfinished(names: &[String]) {
    for name in names {
        output::note_line(&format!(
            "what was unfinished of {name} stays, because somebody holds its table; the next move or undo drops it"
        ));
    }
}

impl Done {
    /// An object of which only this is known.
    pub(super) fn at_once(name: &str, outcome: Outcome) -> Done {
        Done { name: name.to_owned(), outcome, seconds: 0.0 }
    }

    /// Whether it is not where it should be.
    pub(super) fn left(&self) -> bool {
        !matches!(self.outcome, Outcome::Moved { .. } | Outcome::There | Outcome::Gone)
    }

    /// In one line, whatever letters names have.
    pub(super) fn says(&self) -> String {
        let size = |bytes: f64| units::bytes(Bytes(bytes as u64));
        let text = match &self.outcome {
            Outcome::Moved { before, after } => {
                let took = units::milliseconds(1e3 * self.seconds);
                // What a rebuild frees is no gain of the tier.
                let bloat = match before - after {
                    freed if freed > 0.1 * before => {
                        format!("; built anew it holds {}: what that gains is not the tier's doing", size(*after))
                    }
                    _ => String::new(),
                };
                format!("moved {} ({}) in {took}{bloat}", self.name, size(*before))
            }
            Outcome::There => format!("{} is there already", self.name),
            Outcome::Gone => format!("{} is gone", self.name),
            Outcome::Another => format!(
                "left {} where it is: something of this name exists, but is another one than the plan's (made since): make a new plan with \
                 `prony tier advise`",
                self.name
            ),
            Outcome::Unknown(names) => format!(
                "{} is not found by its number or name; what its table has had since the plan was made may be it: {names}: make a new plan with \
                 `prony tier advise`",
                self.name
            ),
            Outcome::Lost(names) => format!(
                "{} is not found, and what lies on another tier may be it under another name: {names}; where it lay stays in prony_tier.moved",
                self.name
            ),
            Outcome::Elsewhere { put, now, home } => format!(
                "left {} where it is: prony tier had put it into {put}, and somebody has moved it into {now} since; before both it lay in {home}",
                self.name
            ),
            Outcome::NoRoom(text) => format!("left {} where it is: no room ({text})", self.name),
            Outcome::Locked(text) | Outcome::Refused(text) => format!("left {} where it is: {text}", self.name),
        };
        output::on_one_line(&text).into_owned()
    }

    pub(super) fn json(&self) -> Value {
        let (word, before, after) = match &self.outcome {
            Outcome::Moved { before, after } => ("moved", Some(before), Some(after)),
            Outcome::There => ("there", None, None),
            Outcome::Gone => ("gone", None, None),
            Outcome::Another => ("another", None, None),
            Outcome::Lost(_) | Outcome::Unknown(_) => ("lost", None, None),
            Outcome::Elsewhere { .. } => ("elsewhere", None, None),
            Outcome::Locked(_) => ("locked", None, None),
            Outcome::NoRoom(_) => ("no-room", None, None),
            Outcome::Refused(_) => ("refused", None, None),
        };
        json!({
            "name": self.name, "outcome": word, "bytes_before": before, "bytes_after": after, "seconds": self.seconds,
            "says": self.says(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_letters_a_name_has_what_became_of_its_object_is_one_line() {
        let done = Done::at_once("public.\"new\nline\ttab\"", Outcome::Refused("it lies in \"a\nb\"".to_owned()));
        assert_eq!(done.says(), r#"left public."new\u000aline\u0009tab" where it is: it lies in "a\u000ab""#);
    }
}
