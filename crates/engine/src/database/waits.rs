//! Where the time of statements goes: what sessions wait for, looked at 20 times a second.
//!
//! The one idea: a statement that is seen on so many sessions on the mean spends as many seconds in every second; looks that find it
//! waiting for a lock, the log or a read are the part of it that is no CPU. A wait for a lock of a second or more is told by itself,
//! with who held that.
//!
//! What it does not do: texts that no statement of the run has (settings, other programs' work) are not counted.

use crate::database::looking::{BETWEEN, Looking};
use crate::told::{Ended, Told, remark};
use crate::worker::profile::Profile;
use database::{Database, Doing, LOCK, Session, activity, fingerprint, holder, is_commit};
use observation::{COMMIT, Event, EventKind, Probe, Series};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use study::Engine;
use units::{Nanos, counted, duration};

/// Looks are kept together so long: what lies before and behind a trial is cut off to that.
const KEPT: u64 = 250_000_000;

/// A wait for a lock that is told by itself.
const LONG_S: f64 = 1.0;

/// How many of these are told, the longest first.
const TOLD: usize = 3;

/// InnoDB tells who waits as it was at an earlier look, unless nobody has asked for a tenth of a second.
const SELDOM: Duration = Duration::from_millis(120);

/// Between two tries to reach a server that went away.
const AGAIN: Nanos = Nanos(250_000_000);

/// Somebody who looks at what the sessions of a trial wait for.
pub(crate) struct Waits(Looking<Seen>);

/// Looks of a piece of time: how many, and sessions by text and event over all of them.
#[derive(Default)]
struct Piece {
    looks: f64,
    sessions: HashMap<usize, f64>,
}

#[derive(Default)]
struct Seen {
    /// Texts with events, by their number.
    known: HashMap<(String, String), usize>,
    pieces: BTreeMap<u64, Piece>,
    long: Vec<Held>,
    /// Whether a long wait goes on.
    goes_on: bool,
    /// Why nothing was seen.
    failed: Option<String>,
}

/// A time in which sessions waited for a lock for long.
struct Held {
    from: Nanos,
    longest_s: f64,
    /// Sessions that waited at once.
    most: f64,
    text: String,
    event: String,
    holder: Option<String>,
}

impl Waits {
    /// Looks from now on, where the engine tells what its sessions do.
    pub(crate) fn of(database: Arc<dyn Database>) -> Option<Waits> {
        let engine = database.engine();
        if !matches!(engine, Engine::Postgres | Engine::Mariadb) {
            return None;
        }
        let between = if engine == Engine::Mariadb { SELDOM } else { BETWEEN };
        let (mut session, mut tried) = (None::<Box<dyn Session>>, None::<Nanos>);
        Some(Waits(Looking::start(between, Seen::default(), move |seen: &mut Seen, now| {
            if session.is_none() && tried.is_none_or(|tried| now >= tried + AGAIN) {
                tried = Some(now);
                session = database.catalogue().map_err(|error| seen.failed = Some(error.to_string())).ok();
            }
            let Some(asked) = &mut session else { return true };
            match activity(&mut **asked, engine) {
                Ok(all) => seen.take(now, all, |waits| holder(&mut **asked, engine, waits)),
                // One that was lost is opened again.
                Err(failure) => (session, seen.failed) = (None, Some(failure.text)),
            }
            true
        })))
    }

    /// What was seen during a trial.
    pub(crate) fn ended(self, engine: Engine, profile: &Profile, ended: Ended<'_>) -> Told {
        let seen = ended.started_unix_ns.and_then(|started| self.0.ended(started));
        seen.map_or_else(Told::default, |(seen, zero)| seen.told(&Names::new(engine, profile), zero, ended.at))
    }
}

impl Seen {
    fn take(&mut self, now: Nanos, all: Vec<Doing>, holder: impl FnOnce(i64) -> Option<String>) {
        let piece = self.pieces.entry(now.0 / KEPT).or_default();
        piece.looks += 1.0;
        let waiting: f64 = all.iter().filter(|one| one.event.starts_with(LOCK)).map(|one| one.sessions).sum();
        let locked = all.iter().filter(|one| one.event.starts_with(LOCK) && one.age_s >= LONG_S);
        let oldest = locked.max_by(|a, b| a.age_s.total_cmp(&b.age_s)).cloned();
        for Doing { text, event, sessions, .. } in all {
            let number = self.known.len();
            let number = *self.known.entry((text, event)).or_insert(number);
            *piece.sessions.entry(number).or_default() += sessions;
        }
        let goes_on = std::mem::replace(&mut self.goes_on, oldest.is_some());
        let Some(oldest) = oldest else { return };
        if !goes_on {
            let from = now.saturating_sub(Nanos::from_seconds(oldest.age_s));
            let holder = holder(oldest.oldest);
            let Doing { text, event, .. } = oldest.clone();
            self.long.push(Held { from, longest_s: 0.0, most: 0.0, text, event, holder });
        }
        let Some(held) = self.long.last_mut() else { return };
        (held.longest_s, held.most) = (held.longest_s.max(oldest.age_s), held.most.max(waiting));
    }

    fn told(mut self, names: &Names, zero: Nanos, end: Nanos) -> Told {
        let mut told = Told::default();
        let middle = |at: u64| Nanos(at * KEPT + KEPT / 2);
        let inside = |at: &u64| (zero..=zero + end).contains(&middle(*at));
        let pieces: Vec<&Piece> = self.pieces.iter().filter(|(at, _)| inside(at)).map(|(_, piece)| piece).collect();
        let looks: f64 = pieces.iter().map(|piece| piece.looks).sum();
        if looks == 0.0 {
            told.events.extend(self.failed.map(|why| remark(format!("what sessions wait for is not known: {why}"))));
            return told;
        }
        let mut sums = BTreeMap::<(&str, &str), f64>::new();
        for ((text, event), number) in &self.known {
            let sessions: f64 = pieces.iter().filter_map(|piece| piece.sessions.get(number)).sum();
            for (name, share) in names.of(text) {
                *sums.entry((name, event)).or_default() += share * sessions / looks;
            }
        }
        let series = sums.into_iter().filter(|(_, sessions)| *sessions > 0.0).map(|((name, event), sessions)| {
            let probe = Probe::Wait(name.to_owned(), event.to_owned());
            Series { probe, points: vec![(end, sessions)] }
        });
        told.series.extend(series);
        self.long.retain(|held| held.from + Nanos::from_seconds(held.longest_s) > zero && held.from < zero + end);
        self.long.sort_by(|a, b| b.longest_s.total_cmp(&a.longest_s));
        told.events.extend(self.long.iter().take(TOLD).map(|held| held.event(names, zero)));
        told
    }
}

impl Held {
    fn event(&self, names: &Names, zero: Nanos) -> Event {
        let who = names.of(&self.text).next().map_or("another statement", |(name, _)| name);
        let holder = self.holder.as_ref().map(|holder| format!("; {holder}")).unwrap_or_default();
        let text = format!(
            "`{who}` waited {} for a lock ({}), with up to {} waiting at once{holder}",
            duration(Nanos::from_seconds(self.longest_s)),
            self.event,
            counted(self.most as u64, "sessions"),
        );
        Event { at: self.from.saturating_sub(zero), kind: EventKind::Held, text }
    }
}

/// Which statements a text is of, each with its share of the executions.
struct Names<'a> {
    engine: Engine,
    all: HashMap<&'a str, Vec<(&'a str, f64)>>,
}

impl<'a> Names<'a> {
    fn new(engine: Engine, profile: &'a Profile) -> Names<'a> {
        let mut all = HashMap::<&str, Vec<(&str, f64)>>::new();
        for (name, key, count) in profile.executions().filter(|(_, _, count)| *count > 0) {
            all.entry(key).or_default().push((name, count as f64));
        }
        for statements in all.values_mut() {
            let sum: f64 = statements.iter().map(|(_, count)| count).sum();
            statements.iter_mut().for_each(|(_, count)| *count /= sum);
        }
        Names { engine, all }
    }

    /// A server shows the beginning of a long text, and several statements that were sent at once as one text.
    fn of(&self, text: &str) -> impl Iterator<Item = (&'a str, f64)> + use<'a> {
        let shown = fingerprint(self.engine, text);
        let key = if is_commit(text) { COMMIT } else { &shown };
        let near =
            |known: &&&str| known.len().min(key.len()) >= 20 && (known.starts_with(key) || key.starts_with(**known));
        let found = self.all.get(key).or_else(|| {
            let longest = self.all.keys().filter(near).max_by_key(|known| known.len())?;
            self.all.get(longest)
        });
        found.cloned().unwrap_or_default().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doing(text: &str, event: &str, sessions: f64, age_s: f64) -> Doing {
        Doing { text: text.into(), event: event.into(), sessions, oldest: 7, age_s }
    }

    /// One look each 100 ms from the start of the looker's clock; the trial begins 1 s later and lasts for 4 s.
    fn told(look: impl Fn(f64) -> Vec<Doing>) -> Told {
        let mut seen = Seen::default();
        for at in 0..60 {
            let now = Nanos::from_millis(100 * at);
            seen.take(now, look(now.seconds()), |waits| Some(format!("session {} held it", waits + 1)));
        }
        let profile = Profile::of_counts(&[
            ("one", "update t set v = ?", 3),
            ("two", "update t set v = ?", 1),
            (COMMIT, COMMIT, 4),
        ]);
        seen.told(&Names::new(Engine::Postgres, &profile), Nanos::from_secs(1), Nanos::from_secs(4))
    }

    #[test]
    fn sessions_that_were_seen_at_a_statement_on_the_mean_are_its_time_by_what_it_waited_for() {
        let found = told(|at| match at {
            // Before and behind the trial.
            at if !(1.0..5.0).contains(&at) => vec![doing("COMMIT", "CPU", 100.0, 0.0)],
            at if at < 3.0 => {
                vec![doing("UPDATE t SET v = $1", "Lock:tuple", 4.0, 0.1), doing("COMMIT;", "IO:WALSync", 1.0, 0.0)]
            }
            _ => vec![
                doing("UPDATE t SET v = 5", "CPU", 2.0, 0.1),
                doing("SELECT pg_sleep(1)", "Timeout:PgSleep", 1.0, 0.0),
            ],
        });
        let rates: Vec<(String, f64)> = found.series.iter().map(|s| (s.probe.to_string(), s.points[0].1)).collect();
        let expected = [
            ("wait.(commit).IO:WALSync", 0.5),
            ("wait.one.CPU", 0.75),
            ("wait.one.Lock:tuple", 1.5),
            ("wait.two.CPU", 0.25),
            ("wait.two.Lock:tuple", 0.5),
        ];
        assert_eq!(rates.len(), expected.len(), "{rates:?}");
        for ((name, rate), (wanted, value)) in rates.iter().zip(expected) {
            assert!(name == wanted && (rate - value).abs() < 1e-9, "{name} {rate}, not {wanted} {value}");
        }
        assert!(found.events.is_empty(), "a tenth of a second is no long wait: {:?}", found.events);
    }

    #[test]
    fn a_lock_that_is_held_for_long_is_told_once_with_who_waited_and_who_held_it() {
        let found = told(|at| match at {
            at if (2.0..=4.55).contains(&at) => vec![
                doing("UPDATE t SET v = 5", "Lock:transactionid", 1.0, at - 2.0),
                doing("UPDATE t SET v = 6", "Lock:tuple", 6.0, at - 2.1),
            ],
            _ => Vec::new(),
        });
        let [event] = found.events.as_slice() else { panic!("{:?}", found.events) };
        assert_eq!((event.at, event.kind), (Nanos::from_secs(1), EventKind::Held));
        assert_eq!(
            event.text,
            "`one` waited 2.5 s for a lock (Lock:transactionid), with up to 7 sessions waiting at once; session 8 held it"
        );
    }

    #[test]
    fn a_text_that_a_server_cut_off_or_that_holds_several_statements_is_known_by_its_beginning() {
        let profile =
            Profile::of_counts(&[("read", "select v from table_of_values where id = ?", 1), ("short", "select ?", 1)]);
        let names = Names::new(Engine::Postgres, &profile);
        let of = |text: &str| names.of(text).map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(of("SELECT v FROM table_of_values"), ["read"]);
        assert_eq!(of("SELECT v FROM table_of_values WHERE id = 7; COMMIT"), ["read"]);
        assert_eq!(of("SELECT 1"), ["short"]);
        assert_eq!(of("SELECT something()"), [""; 0], "a short text is known as a whole only");
    }
}
