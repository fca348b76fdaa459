//! What the sessions of a server do at this moment, as the server tells it.
//!
//! The one idea: one statement, asked over and over from a session of its own, tells for each text that is being carried out how many
//! sessions are at it and what they wait for; who is asked often enough knows where the time of a statement goes.
//!
//! What it does not do: it sets nothing on a server, and it tells neither CPU from I/O nor the log from both on a MariaDB, which names
//! waits for locks and commits only.

use crate::{Failure, Session, fingerprint};
use study::Engine;
use workload::transaction::Value;

/// How waits for locks begin.
pub const LOCK: &str = "Lock:";

/// Characters of somebody else's statement that are told.
const TOLD_MAX: usize = 80;

/// Sessions that carry out one text and wait for one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Doing {
    /// What the server shows of the text: PostgreSQL its first kilobyte.
    pub text: String,
    /// What they wait for, as kind and name (`Lock:transactionid`), or `CPU`.
    pub event: String,
    /// How many they are.
    pub sessions: f64,
    /// The one that has been at it for longest, by the server's number.
    pub oldest: i64,
    /// For how long, seconds.
    pub age_s: f64,
}

/// Sessions of the same program and database.
const POSTGRES: &str = include_str!("activity_postgres.sql");

/// Whoever is the same user, or anybody where this one may see them.
const MARIADB: &str = include_str!("activity_mariadb.sql");

/// What sessions of the run do now; the session that asks is left out. None of an engine that tells nothing.
///
/// # Errors
/// The failure.
pub fn activity(session: &mut dyn Session, engine: Engine) -> Result<Vec<Doing>, Failure> {
    let sql = match engine {
        Engine::Postgres => POSTGRES,
        Engine::Mariadb => MARIADB,
        Engine::Sqlite | Engine::Null => return Ok(Vec::new()),
    };
    let text = |value: &Value| value.text().map(str::to_owned);
    let one = |row: &Vec<Value>| {
        let [shown, event, sessions, oldest, age] = row.as_slice() else { return None };
        // The parts of a probe's name stand between dots.
        let event = text(event)?.replace('.', "_");
        let sessions = sessions.number()?;
        Some(Doing { text: text(shown)?, event, sessions, oldest: oldest.number()? as i64, age_s: age.number()? })
    };
    Ok(session.query(sql)?.iter().filter_map(one).collect())
}

/// Who holds what a session waits for, in words; none where the server does not say so.
pub fn holder(session: &mut dyn Session, engine: Engine, waits: i64) -> Option<String> {
    let sql = match engine {
        Engine::Postgres => format!(
            "SELECT a.pid::text, a.application_name, a.state, a.query FROM unnest(pg_blocking_pids({waits})) b \
             JOIN pg_stat_activity a ON a.pid = b ORDER BY a.wait_event_type IS NOT DISTINCT FROM 'Lock', a.xact_start LIMIT 1"
        ),
        Engine::Mariadb => format!(
            "SELECT CAST(p.id AS CHAR), p.user, CASE p.command WHEN 'Sleep' THEN 'idle in transaction' ELSE 'active' END, \
             coalesce(p.info, '') FROM information_schema.innodb_lock_waits w JOIN information_schema.innodb_trx r \
             ON r.trx_id = w.requesting_trx_id JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id \
             JOIN information_schema.processlist p ON p.id = b.trx_mysql_thread_id WHERE r.trx_mysql_thread_id = {waits} \
             ORDER BY b.trx_state = 'LOCK WAIT', b.trx_started LIMIT 1"
        ),
        Engine::Sqlite | Engine::Null => return None,
    };
    let row = session.row(&sql).ok()?;
    let field = |at: usize| row.get(at)?.text();
    let who = field(1).filter(|who| !who.is_empty()).map_or(String::new(), |who| format!(" of {who}"));
    // Values in it may be nobody's business.
    let last = fingerprint(engine, field(3)?).replace("( ", "(").replace(" )", ")");
    let cut: String = last.chars().take(TOLD_MAX).collect();
    let dots = if cut.len() < last.len() { " .." } else { "" };
    let last = if cut.is_empty() { String::new() } else { format!(", last statement `{cut}{dots}`") };
    Some(format!("session {}{who} held it ({}{last})", field(0)?, field(2).unwrap_or("state unknown")))
}

/// Whether a text that a server shows is the end of a transaction that is kept.
pub fn is_commit(text: &str) -> bool {
    text.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("commit"))
}
