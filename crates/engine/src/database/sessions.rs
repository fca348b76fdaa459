//! The sessions of a stream of transactions, divided among workers.
//!
//! The one idea: where a conversation can be driven without blocking, one thread serves many; elsewhere each session has a
//! thread of its own. Either way a worker has its own share of the load and of the workload.

use crate::TrialError;
use crate::database::databases::Databases;
use crate::database::profile::{self, Profile};
use crate::hot::task::Task;
use crate::port::connections::Line;
use crate::port::reconnect::Again;
use crate::port::session::Work;
use crate::port::uring;
use crate::trial::assign;
use crate::trial::worker::{Assignment, Road};
use database::{Database, DatabaseError, Session, Texts, null};
use load::Load;
use recorder::Collector;
use std::fs;
use std::sync::Arc;
use study::{At, DatabaseSpec, Driver, Engine, Pool, Protocol, Stream, Trial};
use workload::kind::{Around, Ready, Share, Transactions, Unready, WORKERS_MAX};
use workload::transaction::Business;

/// Adds the assignments of one stream.
///
/// # Errors
/// When a session cannot be opened, or a script cannot be read.
pub(crate) fn call(
    databases: &Databases,
    trial: &Trial,
    index: usize,
    collector: &mut Collector,
    into: &mut Vec<Assignment>,
) -> Result<(), TrialError> {
    let stream = &trial.streams[index];
    let Some(pool) = &stream.pool else { return Ok(()) };
    let (database, found) = databases.current()?;
    let asked = ready(trial, index, pool)?;
    let texts = texts(asked.as_ref(), database.engine());
    let names = profile::names(&texts);
    let refused = |error| databases.refused()(crowded(error, database, pool));
    let many = pool.sessions > 0 && ring_allowed(stream);
    let mut lines = if many { lines(database, &texts, pool).map_err(&refused)? } else { Vec::new() };
    let workers = if lines.is_empty() { pool.sessions } else { stream.access.workers.clamp(1, pool.sessions) };
    if workers > WORKERS_MAX {
        let what =
            format!("give more than {WORKERS_MAX} sessions a thread each, got {workers}: ask for fewer, with `users`");
        return Err(TrialError::Unsupported { system: trial.label.system.clone(), what });
    }
    let again = Again { database: databases.lasting(), texts: texts.clone(), how: pool.how };
    let (mut first, seed) = (0, assign::stream_seed(trial, index));
    for worker in 0..workers {
        let load = assign::load(trial, index, worker, workers);
        let slots = load.slots();
        let business = asked.business(&Share { worker, workers, first, slots, seed, epoch: found.epoch });
        let work = Work { business, tries: pool.how.tries, profile: Profile::new(names.clone()) };
        first += slots;
        let road = if lines.is_empty() {
            Road::Session(database.session(&texts, &pool.how).map_err(&refused)?, again.clone(), work)
        } else {
            // Of those that are left, an equal share for each worker that is left.
            let share = lines.len().div_ceil((workers - worker) as usize);
            Road::Wires(lines.split_off(lines.len() - share), again.clone(), work)
        };
        into.push(Assignment {
            stream: index as u16,
            recorder: assign::recorder(trial, index, into.len() as u16, collector),
            road,
            task: Task::transactions(asked.bytes()),
            load,
            access: stream.access,
            worker: into.len() as u32,
            window: assign::window(trial),
            deadline: assign::window(trial).end + trial.phases.drain,
        });
    }
    Ok(())
}

/// A stream of transactions on a machine in virtual time: what it asks for, in one share, and a database that answers in its
/// place.
///
/// # Errors
/// When a described machine has no transaction like those of the stream.
pub(crate) fn imagined(trial: &Trial, index: usize) -> Result<Option<Imagined>, TrialError> {
    let stream = &trial.streams[index];
    let Some(pool) = &stream.pool else { return Ok(None) };
    if stream.workload.transactions().is_none_or(|asked| !asked.described_by_models()) {
        let what =
            "carry scripts or batch jobs: the transaction that its model describes is the brokerage's".to_owned();
        return Err(TrialError::Unsupported { system: trial.label.system.clone(), what });
    }
    let asked = ready(trial, index, pool)?;
    let (slots, seed) = (assign::load(trial, index, 0, 1).slots(), assign::stream_seed(trial, index));
    let business = asked.business(&Share { worker: 0, workers: 1, first: 0, slots, seed, epoch: FIRST_EPOCH });
    let nowhere = DatabaseSpec { engine: Engine::Null, at: At::Nowhere { socket: false } };
    let session = null::Database::of(&nowhere).session(&texts(asked.as_ref(), Engine::Null), &pool.how);
    let system = trial.label.system.clone();
    let session = session.map_err(|source| TrialError::Database { system, source: Box::new(source) })?;
    Ok(Some(Imagined { business, session, sessions: pool.sessions, slots }))
}

/// One stream of transactions that no server carries out.
pub(crate) struct Imagined {
    pub(crate) business: Box<dyn Business>,
    pub(crate) session: Box<dyn Session>,
    /// How many may be on the machine at once.
    pub(crate) sessions: u32,
    /// How many may be asked for at once: sessions, or the users who share them.
    pub(crate) slots: u32,
}

/// A machine in virtual time never saw a trial before.
const FIRST_EPOCH: u64 = 1;

/// A server that takes no more sessions: what was asked for, and what it allows.
fn crowded(error: DatabaseError, database: &dyn Database, pool: &Pool) -> DatabaseError {
    match error {
        DatabaseError::Refused { place, text } if full(&text) => {
            let settings = database.facts().settings;
            let limit = settings.into_iter().find(|(key, _)| key == "max_connections");
            let limit = limit.map_or_else(String::new, |(_, value)| format!("; its max_connections is {value}"));
            let asked = format!("{} sessions were asked for", pool.sessions);
            let text = format!("{text}; {asked}{limit}");
            DatabaseError::Refused { place, text }
        }
        other => other,
    }
}

/// Whether a server says that it is full: of PostgreSQL, MariaDB and MySQL.
fn full(text: &str) -> bool {
    ["too many clients", "too many connections", "Too many connections", "connection slots are reserved"]
        .iter()
        .any(|sign| text.contains(sign))
}

fn ring_allowed(stream: &Stream) -> bool {
    stream.access.driver != Driver::Plain && uring::probe().is_ok()
}

/// All conversations of the pool, or none when this database cannot be driven so.
fn lines(database: &dyn Database, texts: &Texts, pool: &Pool) -> Result<Vec<Line>, DatabaseError> {
    let mut lines = Vec::new();
    for _ in 0..pool.sessions {
        match database.conversation(texts, &pool.how)? {
            Some((socket, wire)) => lines.push(Line { wire, socket }),
            None => return Ok(Vec::new()),
        }
    }
    Ok(lines)
}

/// What a stream asks for, ready to be shared by its workers.
fn ready(trial: &Trial, index: usize, pool: &Pool) -> Result<Arc<dyn Ready>, TrialError> {
    let Some(asked) = trial.streams[index].workload.transactions() else {
        let what = "carry storage work over sessions".to_owned();
        return Err(TrialError::Unsupported { system: trial.label.system.clone(), what });
    };
    made_ready(asked, pool.how.protocol == Protocol::Simple, pool.sessions)
}

/// Reads what a workload of transactions names, such as scripts. `textual` puts values into the texts of statements.
///
/// # Errors
/// When a file cannot be read, or what it holds makes no sense; all problems, with line and column.
pub fn made_ready(asked: &dyn Transactions, textual: bool, sessions: u32) -> Result<Arc<dyn Ready>, TrialError> {
    let file = |path: &str| fs::read_to_string(path);
    let around = Around { textual, sessions, file: &file };
    asked.ready(&around).map_err(|unready| match unready {
        Unready::File { path, source } => TrialError::File { action: "reading the script", path, source },
        Unready::Script { path, problem } => TrialError::Script { path, problem },
    })
}

/// The statements in the text of an engine.
fn texts(asked: &dyn Ready, engine: Engine) -> Texts {
    let mut texts = Texts::of(engine, &asked.statements(database::procedures::language(engine)));
    if engine == Engine::Null {
        texts = texts.answering(asked.samples());
    }
    texts = texts.naming(|statement| asked.wants_names(statement));
    if asked.spliced() {
        texts = texts.spliced();
    }
    if asked.gathers() { texts.gathering() } else { texts }
}
