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

use crate::limited::Limited;
use crate::{Database, DatabaseError, tier};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::Engine;
use units::Nanos;
use workload::replay::{Heard, Said, Trace};
use workload::transaction::Value;

/// Where it is listened.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// A log of PostgreSQL in a form, which this machine has or the server reads; how its lines begin.
    Log { path: PathBuf, form: log::Form, here: bool, prefix: String },
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
    /// The database that its session was in, where that was told.
    database: Option<String>,
    sql: String,
    parameters: Option<Vec<Option<String>>>,
    /// Whether the server refused it; a log has neither time nor values of it.
    failed: bool,
}

impl Words {
    /// Of a row: when it began, how long it took, its session, its text, and its database where the row has one.
    fn of(row: &[Value]) -> Option<Words> {
        let int = |at: usize| row.get(at).and_then(Value::int);
        let took_us = int(1).and_then(|took| u64::try_from(took).ok());
        let (session, sql, database) = (tier::text(row, 2), tier::text(row, 3), row.get(4).map(|_| tier::text(row, 4)));
        Some(Words { at_us: int(0)?, took_us, session, database, sql, ..Words::default() })
    }
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

/// Which server it is, who is listening and where, and what cannot be heard.
type Found = ((String, String, Source), Vec<String>);

/// What the server is asked for.
const LISTEN: &str = "listen";

/// One who listens.
pub struct Ear {
    hears: Limited,
    /// The session of the ear itself.
    own: String,
    /// The database whose statements are wanted; none where the address names none, which wants all.
    wanted: Option<String>,
    server: String,
    source: Source,
    lacking: Vec<String>,
    /// Where a log ended when the window began; when that was, in microseconds of the server's clock.
    from: u64,
    begun_us: i64,
    /// What the list of sessions showed, by session and beginning.
    seen: HashMap<(String, i64), Words>,
    /// The database of each session that was seen, for sources that do not tell it with a statement.
    databases: HashMap<String, String>,
}

impl Ear {
    /// Opens a session that can change nothing, and finds out where to listen; `log` is the server's log on this machine.
    ///
    /// # Errors
    /// When it cannot be opened, or the engine has no server.
    pub fn open(database: &dyn Database, log: Option<&Path>) -> Result<Ear, DatabaseError> {
        let only = "statements are heard on a PostgreSQL or a MariaDB";
        let mut hears = Limited::open(database, [mariadb::LIMITS, postgres::LIMITS], only)?;
        let action = "look where statements are written down";
        let ((server, own, source), lacking) =
            hears.ask(action, mariadb::found, |session| postgres::found(session, log))?;
        let asks = if hears.engine == Engine::Mariadb { "SELECT DATABASE()" } else { "SELECT current_database()" };
        let wanted = hears.asked(action, |session| session.text(asks))?.filter(|name| !name.is_empty());
        let (from, begun_us, seen, databases) = (0, 0, HashMap::new(), HashMap::new());
        Ok(Ear { hears, own, wanted, server, source, lacking, from, begun_us, seen, databases })
    }

    /// How often it wants to look, where it must look to hear anything.
    pub fn every(&self) -> Option<Duration> {
        match &self.source {
            Source::Sessions => Some(Duration::from_millis(10)),
            Source::Log { form: log::Form::Plain, .. } | Source::Table(mariadb::GENERAL) => {
                Some(Duration::from_millis(200))
            }
            _ => None,
        }
    }

    /// The window begins.
    ///
    /// # Errors
    /// When the server does not answer, or its log cannot be read.
    pub fn begin(&mut self) -> Result<(), DatabaseError> {
        let now = if self.hears.engine == Engine::Mariadb { mariadb::NOW } else { postgres::NOW };
        self.begun_us = self.hears.asked(LISTEN, |session| session.one(now))?.and_then(|now| now.int()).unwrap_or(0);
        self.from = self.size()?;
        if self.every().is_some() { self.look() } else { Ok(()) }
    }

    /// Looks at the list of sessions.
    ///
    /// # Errors
    /// When the server does not answer.
    pub fn look(&mut self) -> Result<(), DatabaseError> {
        if self.source != Source::Sessions {
            let of = if self.hears.engine == Engine::Mariadb { mariadb::WHERE } else { postgres::WHERE };
            let found = self.hears.asked(LISTEN, |session| session.query(of))?;
            self.databases.extend(found.iter().map(|row| (tier::text(row, 0), tier::text(row, 1))));
            return Ok(());
        }
        let found = self.hears.ask(LISTEN, |session| mariadb::sessions(session, &self.own), postgres::sessions)?;
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
        if self.every().is_some() {
            self.look()?;
        }
        let mut heard = match self.source.clone() {
            Source::Log { form, prefix, .. } => {
                let to = self.size()?;
                log::words(form, &prefix, &self.read(self.from, to)?)
            }
            Source::Table(table) => {
                self.hears.asked(LISTEN, |session| mariadb::table(session, table, self.begun_us, &self.own))?
            }
            Source::Sessions => {
                let mut seen: Vec<Words> = std::mem::take(&mut self.seen).into_values().collect();
                seen.sort_by_key(|one| one.at_us);
                seen
            }
        };
        for one in heard.iter_mut().filter(|one| one.database.is_none()) {
            one.database = self.databases.get(&one.session).cloned();
        }
        let source = match &self.source {
            Source::Log { path, .. } => format!("the server's log {}", path.display()),
            Source::Table(table) => format!("the table `{table}`"),
            Source::Sessions => "the list of sessions, every 10 ms".to_owned(),
        };
        let sampled = self.source == Source::Sessions;
        let source = source + if self.wanted.is_none() { ", of all databases: the address names none" } else { "" };
        let window = Nanos(window.as_nanos() as u64);
        let of = Of { own: &self.own, wanted: self.wanted.as_deref(), server: &self.server };
        let (heard, left_out) = sorted(heard, &of, self.begun_us, window, sampled);
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
            Source::Log { path, .. } => self.hears.asked(LISTEN, |session| postgres::size(session, &path)),
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
            false => self.hears.asked(LISTEN, |session| postgres::read(session, &path, from, to)),
        }
    }
}

/// Where a server listens, its socket or its host and port, and the database that a URL names.
///
/// # Errors
/// The URL is not understood, or the engine has no server.
pub fn listens(engine: Engine, url: &str) -> Result<(String, Option<String>), DatabaseError> {
    let joined = |host: &str, port: u16| match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    };
    match engine {
        Engine::Mariadb => {
            let place = crate::mariadb::Place::read(url)?;
            Ok((place.socket.unwrap_or_else(|| joined(&place.host, place.port)), place.database))
        }
        _ => crate::postgres::Connect::parse(url).map(|connect| (connect.place(), Some(connect.database))),
    }
}

/// Whose words are sorted.
struct Of<'a> {
    /// The session of the ear itself.
    own: &'a str,
    /// The database that is wanted; none wants all.
    wanted: Option<&'a str>,
    /// Which server it is, as a trace says it.
    server: &'a str,
}

/// How far a session has come.
#[derive(Clone, Copy, Default)]
struct Course {
    number: u32,
    /// When its last statement was over.
    over: Nanos,
    /// Whether its transaction is open, and whether the server will undo it whatever ends it.
    open: bool,
    undone: bool,
}

impl Course {
    /// Goes on with a statement, which becomes what it came to: of a transaction in which one failed, PostgreSQL makes a rollback.
    fn follows(&mut self, one: &mut Words, server: &str) {
        let first = |words: [&str; 2]| {
            let mut said = one.sql.split_whitespace();
            words.iter().all(|word| said.next().is_some_and(|first| first.eq_ignore_ascii_case(word)))
        };
        match workload::replay::bound(&one.sql) {
            Some(Said::Begin) => (self.open, self.undone) = (true, false),
            Some(said) => {
                if said == Said::Commit && (self.undone || one.failed) {
                    (one.sql, one.failed) = ("ROLLBACK".to_owned(), false);
                }
                (self.open, self.undone) = (false, false);
            }
            None if one.failed => self.undone = self.open && server.starts_with("PostgreSQL"),
            None if first(["rollback", "to"]) => self.undone = false,
            None => {}
        }
    }
}

/// What others said in the database that is wanted and can be sent again, by the moment, within a session in its order; and how many
/// statements cannot, by the reason.
fn sorted(
    words: Vec<Words>,
    of: &Of<'_>,
    begun_us: i64,
    window: Nanos,
    sampled: bool,
) -> (Vec<Heard>, BTreeMap<&'static str, u64>) {
    let (mut heard, mut left_out) = (Vec::<Heard>::new(), BTreeMap::new());
    let mut sessions: HashMap<String, Course> = HashMap::new();
    for mut one in words.into_iter().filter(|one| one.session != of.own) {
        let next = Course { number: sessions.len() as u32, ..Course::default() };
        let at = Nanos(u64::try_from(one.at_us - begun_us).unwrap_or(0) * 1_000);
        let mut course = sessions.get(&one.session).copied().unwrap_or(next);
        // A log counts whole milliseconds; what a session says next comes behind what it said.
        let at = at.max(course.over);
        if at >= window {
            continue;
        }
        course.follows(&mut one, of.server);
        // Where statements are missing, a transaction would go on to the end of another.
        let bound = sampled && workload::replay::bound(&one.sql).is_some();
        let why = bound.then_some("it begins or ends a transaction whose other statements may be missing");
        if let Some(why) = elsewhere(&one, of.wanted).or(why).or_else(|| lost(&one, of.server)) {
            *left_out.entry(why).or_default() += 1;
            sessions.entry(one.session).and_modify(|then| *then = course);
            continue;
        }
        let took = one.took_us.map(Nanos::from_micros);
        course.over = at + took.unwrap_or_default();
        sessions.insert(one.session, course);
        heard.push(Heard { at, session: course.number, took, sql: one.sql, parameters: one.parameters });
    }
    heard.sort_by_key(|one| one.at);
    (heard, left_out)
}

/// Why a statement is none of the database that is wanted. What nobody tells is not taken: it may be anybody's.
fn elsewhere(one: &Words, wanted: Option<&str>) -> Option<&'static str> {
    match (&one.database, wanted) {
        (Some(database), Some(wanted)) if database != wanted => Some("it is of another database of the server"),
        (None, Some(_)) => {
            Some("nobody says of which database it is (its session was over too soon; `%d` in log_line_prefix tells)")
        }
        _ => None,
    }
}

/// Why a statement cannot be sent again.
fn lost(one: &Words, server: &str) -> Option<&'static str> {
    let text = one.sql.trim().to_ascii_lowercase();
    let numbered = || {
        let given = one.parameters.as_ref().map_or(0, Vec::len);
        // A text with `$1` in it and nothing beside it was prepared somewhere else.
        let wanted: BTreeSet<&str> = text.split('$').skip(1).map(digits).filter(|digits| !digits.is_empty()).collect();
        wanted.len() > given && !workload::replay::shape(&text, server).1.iter().any(|value| value.contains('$'))
    };
    let first = text.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    if one.failed {
        Some("it failed on the server")
    } else if text.is_empty() {
        Some("it has no text")
    } else if matches!(first, "prepare" | "execute" | "deallocate") && !text.starts_with("execute immediate") {
        Some(
            "it prepares a statement by name (PREPARE) or carries such a one out, and is sent again without its other half",
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(wanted: Option<&str>) -> Of<'_> {
        Of { own: "me", wanted, server: "PostgreSQL 15" }
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
        let (heard, left_out) = sorted(all, &of(None), 10, Nanos::from_micros(1_000), true);
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

    #[test]
    fn statements_of_other_databases_and_of_nobody_knows_which_are_left_out_and_prepared_halves_go_together() {
        let words = |database: Option<&str>, sql: &str| Words {
            at_us: 20,
            session: "a".to_owned(),
            database: database.map(str::to_owned),
            sql: sql.to_owned(),
            ..Words::default()
        };
        let all = || {
            let halves = ["PREPARE p AS SELECT $1", "EXECUTE p(1)", "deallocate p"].map(|sql| words(Some("shop"), sql));
            let failed = Words { failed: true, ..words(Some("shop"), "") };
            let mut all =
                vec![words(Some("shop"), "SELECT 1"), words(Some("bank"), "SELECT 2"), words(None, "SELECT 3"), failed];
            all.extend(halves);
            all.push(words(Some("shop"), "EXECUTE IMMEDIATE 'SELECT 4'"));
            all
        };
        let told = |wanted| {
            let (heard, left_out) = sorted(all(), &of(wanted), 10, Nanos::from_micros(1_000), false);
            (heard.into_iter().map(|one| one.sql).collect::<Vec<_>>(), left_out)
        };
        let (heard, left_out) = told(Some("shop"));
        assert_eq!(heard, ["SELECT 1", "EXECUTE IMMEDIATE 'SELECT 4'"]);
        let counts =
            |part: &str| left_out.iter().filter(|(why, _)| why.contains(part)).map(|(_, count)| *count).sum::<u64>();
        let parts = ["another database", "of which database", "it failed", "PREPARE"];
        assert_eq!(parts.map(counts), [1, 1, 1, 3], "{left_out:?}");
        assert_eq!(told(None).0.len(), 4, "an address without a database wants all");
    }
}
