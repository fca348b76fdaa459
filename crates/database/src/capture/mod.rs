//! What clients say to a live server, heard for a while.
//!
//! The one idea: whatever the server already writes down is read, and nothing of it is changed. Its log has every statement with its
//! time; where it keeps none that this user may read, its list of sessions is looked at again and again, which misses the short ones.
//! What cannot be seen is told with what would show it. Where nothing is written down, clients may talk through a relay instead ([`Passing`]).
//!
//! What it does not do: it repeats nothing; the workload `replay` does. No statement that names a password is kept.

mod log;
mod mariadb;
mod postgres;
mod wire;

pub use wire::Passing;

use crate::{Database, DatabaseError, Failure, Session, tier};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::Engine;
use units::Nanos;
use workload::replay::{Heard, Trace};

/// Where it is listened.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// A log of PostgreSQL in a form, which this machine has or the server reads.
    Log { path: PathBuf, form: log::Form, here: bool },
    /// A table of MariaDB into which each statement goes.
    Table(&'static str),
    /// The list of sessions.
    Sessions,
}

/// What was heard of one statement, in the server's words.
#[derive(Clone, Debug, Default, PartialEq)]
struct Words {
    /// When it began, in microseconds of the server's clock.
    at_us: i64,
    took_us: Option<u64>,
    session: String,
    sql: String,
    parameters: Option<Vec<Option<String>>>,
}

/// What was heard, and what was not.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// What can be sent again.
    pub trace: Trace,
    /// Where it was listened, in words.
    pub source: String,
    /// Whether statements may be missing between those that were heard.
    pub sampled: bool,
    /// Statements that were heard and are not in the trace, by the reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// What cannot be heard, each with what would change that.
    pub lacking: Vec<String>,
}

/// One who listens.
pub struct Ear {
    session: Box<dyn Session>,
    engine: Engine,
    place: String,
    /// The session of the ear itself.
    own: String,
    server: String,
    source: Source,
    lacking: Vec<String>,
    /// Where a log ended when the window began; when that was, in microseconds of the server's clock.
    from: u64,
    begun_us: i64,
    /// What the list of sessions showed, by session and beginning.
    seen: HashMap<(String, i64), Words>,
}

impl Ear {
    /// Opens a session that can change nothing, and finds out where to listen; `log` is the server's log on this machine.
    ///
    /// # Errors
    /// When it cannot be opened, or the engine has no server.
    pub fn open(database: &dyn Database, log: Option<&Path>) -> Result<Ear, DatabaseError> {
        let (engine, place) = (database.engine(), database.place());
        let limits = match engine {
            Engine::Postgres => postgres::LIMITS,
            Engine::Mariadb => mariadb::LIMITS,
            Engine::Sqlite | Engine::Null => {
                let problem = "statements are heard on a PostgreSQL or a MariaDB".to_owned();
                return Err(DatabaseError::Address { place, problem });
            }
        };
        let mut session = tier::limited(database, limits)?;
        let failed = |failure| DatabaseError::statement(&place, "look where statements are written down", failure);
        let mut lacking = Vec::new();
        let (server, own, source) = match engine {
            Engine::Mariadb => mariadb::found(session.as_mut(), &mut lacking),
            _ => postgres::found(session.as_mut(), log, &mut lacking),
        }
        .map_err(failed)?;
        let (from, begun_us, seen) = (0, 0, HashMap::new());
        Ok(Ear { session, engine, place, own, server, source, lacking, from, begun_us, seen })
    }

    /// How often it wants to look, where it must look to hear anything.
    pub fn every(&self) -> Option<Duration> {
        (self.source == Source::Sessions).then_some(Duration::from_millis(10))
    }

    /// The window begins.
    ///
    /// # Errors
    /// When the server does not answer, or its log cannot be read.
    pub fn begin(&mut self) -> Result<(), DatabaseError> {
        let engine = self.engine;
        self.begun_us = self.asked(|session| match engine {
            Engine::Mariadb => mariadb::now_us(session),
            _ => postgres::now_us(session),
        })?;
        self.from = self.size()?;
        Ok(())
    }

    /// Looks at the list of sessions.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn look(&mut self) -> Result<(), DatabaseError> {
        let (engine, own) = (self.engine, self.own.clone());
        let found = self.asked(|session| match engine {
            Engine::Mariadb => mariadb::sessions(session, &own),
            _ => postgres::sessions(session),
        })?;
        for words in found.into_iter().filter(|words| words.at_us >= self.begun_us) {
            let seen = self.seen.entry((words.session.clone(), words.at_us)).or_default();
            // The longest time is that of its end, or comes closest to it.
            let took_us = words.took_us.max(seen.took_us);
            *seen = Words { took_us, ..words };
        }
        Ok(())
    }

    /// The window ends: what was heard in it.
    ///
    /// # Errors
    /// When the server does not answer, or its log cannot be read.
    pub fn end(mut self, window: Duration) -> Result<Captured, DatabaseError> {
        let heard = match self.source.clone() {
            Source::Log { form, .. } => {
                let to = self.size()?;
                log::words(form, &self.read(self.from, to)?)
            }
            Source::Table(table) => {
                let (begun_us, own) = (self.begun_us, self.own.clone());
                self.asked(|session| mariadb::table(session, table, begun_us, &own))?
            }
            Source::Sessions => {
                let mut seen: Vec<Words> = std::mem::take(&mut self.seen).into_values().collect();
                seen.sort_by_key(|one| one.at_us);
                seen
            }
        };
        let source = match &self.source {
            Source::Log { path, .. } => format!("the server's log {}", path.display()),
            Source::Table(table) => format!("the table `{table}`"),
            Source::Sessions => "the list of sessions, every 10 ms".to_owned(),
        };
        let sampled = self.source == Source::Sessions;
        let window = Nanos(window.as_nanos() as u64);
        let (heard, left_out) = sorted(heard, &self.own, self.begun_us, window, sampled);
        let trace = Trace { server: self.server, window, heard };
        Ok(Captured { trace, source, sampled, left_out, lacking: self.lacking })
    }

    /// Bytes of the log so far.
    fn size(&mut self) -> Result<u64, DatabaseError> {
        match self.source.clone() {
            Source::Log { path, here: true, .. } => match std::fs::metadata(&path) {
                Ok(found) => Ok(found.len()),
                Err(source) => Err(DatabaseError::file("read", &path, source)),
            },
            Source::Log { path, .. } => self.asked(|session| postgres::size(session, &path)),
            _ => Ok(0),
        }
    }

    fn read(&mut self, from: u64, to: u64) -> Result<String, DatabaseError> {
        let Source::Log { path, here, .. } = self.source.clone() else { return Ok(String::new()) };
        if to < from {
            self.lacking.push("the log was begun anew in the window: what was said before that is missing".to_owned());
            return self.read(0, to);
        }
        match here {
            true => log::read(&path, from, to).map_err(|source| DatabaseError::file("read", &path, source)),
            false => self.asked(|session| postgres::read(session, &path, from, to)),
        }
    }

    fn asked<T>(&mut self, ask: impl FnOnce(&mut dyn Session) -> Result<T, Failure>) -> Result<T, DatabaseError> {
        let found = ask(self.session.as_mut());
        found.map_err(|failure| DatabaseError::statement(&self.place, "listen", failure))
    }
}

/// Where a server listens: its socket, or its host and port.
///
/// # Errors
/// The URL is not understood, or the engine has no server.
pub fn listens(engine: Engine, url: &str) -> Result<String, DatabaseError> {
    let joined = |host: &str, port: u16| match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    };
    match engine {
        Engine::Mariadb => {
            let place = crate::mariadb::Place::read(url)?;
            Ok(place.socket.unwrap_or_else(|| joined(&place.host, place.port)))
        }
        _ => crate::postgres::Connect::parse(url).map(|connect| connect.place()),
    }
}

/// The statements of others that can be sent again, by their moments, of those of a session in their order, and how many cannot, by the reason.
fn sorted(
    words: Vec<Words>,
    own: &str,
    begun_us: i64,
    window: Nanos,
    sampled: bool,
) -> (Vec<Heard>, BTreeMap<&'static str, u64>) {
    let (mut heard, mut left_out) = (Vec::<Heard>::new(), BTreeMap::new());
    // The number of each session, and when its last statement was over.
    let mut sessions: HashMap<String, (u32, Nanos)> = HashMap::new();
    for one in words.into_iter().filter(|one| one.session != own) {
        let next = sessions.len() as u32;
        let at = Nanos(u64::try_from(one.at_us - begun_us).unwrap_or(0) * 1_000);
        let (session, over) = sessions.get(&one.session).copied().unwrap_or((next, Nanos::ZERO));
        // A log counts whole milliseconds; what a session says next comes behind what it said.
        let at = at.max(over);
        if at >= window {
            continue;
        }
        // Where statements are missing, a transaction would go on to the end of another.
        let bound = sampled && workload::replay::bounds(&one.sql);
        let why = bound.then_some("it begins or ends a transaction whose other statements may be missing");
        if let Some(why) = why.or_else(|| lost(&one)) {
            *left_out.entry(why).or_default() += 1;
            continue;
        }
        let took = one.took_us.map(Nanos::from_micros);
        sessions.insert(one.session, (session, at + took.unwrap_or_default()));
        heard.push(Heard { at, session, took, sql: one.sql, parameters: one.parameters });
    }
    heard.sort_by_key(|one| one.at);
    (heard, left_out)
}

/// Why a statement cannot be sent again.
fn lost(one: &Words) -> Option<&'static str> {
    let text = one.sql.trim().to_ascii_lowercase();
    let numbered = || {
        let given = one.parameters.as_ref().map_or(0, Vec::len);
        // A text with `$1` in it and nothing beside it was prepared somewhere else.
        let wanted: BTreeSet<&str> = text.split('$').skip(1).map(digits).filter(|digits| !digits.is_empty()).collect();
        wanted.len() > given && !workload::replay::shape(&text).1.iter().any(|value| value.contains('$'))
    };
    if text.is_empty() {
        Some("it has no text")
    } else if text.contains("password") || text.contains("identified by") {
        Some("it may name a password")
    } else if text.starts_with("copy") && (text.contains("stdin") || text.contains("stdout")) {
        Some("its rows are not written down (COPY)")
    } else if one.sql.contains("<insufficient privilege>") {
        Some("this user may not see its text")
    } else if numbered() {
        Some("its values are not written down")
    } else {
        None
    }
}

fn digits(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

#[test]
fn what_cannot_be_sent_again_is_left_out_with_its_reason_and_the_ears_own_words_are_no_work() {
    let words = |at_us, session: &str, sql: &str| Words {
        at_us,
        session: session.to_owned(),
        sql: sql.to_owned(),
        ..Words::default()
    };
    let all = vec![
        words(30, "b", "SELECT '$1'"),
        Words { took_us: Some(4), ..words(20, "a", "SELECT 1") },
        words(21, "me", "SELECT 2"),
        words(22, "a", "ALTER ROLE x PASSWORD 'y'"),
        words(23, "c", "SELECT a FROM t WHERE b = $1"),
        words(24, "a", "COPY t FROM STDIN"),
        words(24, "a", "begin;"),
        Words { parameters: Some(vec![None]), ..words(22, "a", "SELECT $1") },
        words(2_000, "a", "SELECT 3"),
    ];
    let (heard, left_out) = sorted(all, "me", 10, Nanos::from_micros(1_000), true);
    let told: Vec<(u64, u32, &str)> =
        heard.iter().map(|one| (one.at.0 / 1_000, one.session, one.sql.as_str())).collect();
    assert_eq!(told, [(10, 1, "SELECT 1"), (14, 1, "SELECT $1"), (20, 0, "SELECT '$1'")]);
    let reasons: Vec<&str> = left_out.keys().copied().collect();
    let wanted = [
        "it begins or ends a transaction whose other statements may be missing",
        "it may name a password",
        "its rows are not written down (COPY)",
        "its values are not written down",
    ];
    assert_eq!(reasons, wanted);
}
