//! The sessions of a stream of transactions, divided among workers.
//!
//! The one idea: where a conversation can be driven without blocking, one thread serves many; elsewhere each session has a
//! thread of its own. Either way a worker has its own share of the load and of the workload.

use crate::TrialError;
use crate::again::Again;
use crate::databases::{Databases, MAX_CONNECTIONS};
use crate::muster;
use crate::profile::{self, Profile};
use crate::ring;
use crate::sessions::Work;
use crate::task::Task;
use crate::wires::Line;
use crate::worker::{Assignment, Road};
use database::{Database, DatabaseError, Session, Texts, null};
use load::Load;
use recorder::Collector;
use std::sync::Arc;
use study::{At, DatabaseSpec, Driver, Engine, Pool, Stream, Trial, Workload};
use workload::brokerage::{self, Brokerage, WORKERS_MAX};
use workload::rows;
use workload::sql;
use workload::transaction::{Business, Sample, Statement};

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
    let (database, begun) = databases.current()?;
    let asked = Asked::of(stream, pool, muster::stream_seed(trial, index), begun.epoch)?;
    let texts = asked.texts(database.engine());
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
    let mut first = 0;
    for worker in 0..workers {
        let load = muster::load(trial, index, worker, workers);
        let slots = load.slots();
        let business = asked.business(&Share { worker, workers, first, slots });
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
            recorder: muster::recorder(trial, index, into.len() as u16, collector),
            road,
            task: Task::transactions(asked.bytes()),
            load,
            access: stream.access,
            worker: into.len() as u32,
            window: muster::window(trial),
            deadline: muster::window(trial).end + trial.phases.drain,
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
    let asked = Asked::of(stream, pool, muster::stream_seed(trial, index), FIRST_EPOCH)?;
    let Asked::Brokerage { .. } = &asked else {
        let what =
            "carry scripts or batch jobs: the transaction that its model describes is the brokerage's".to_owned();
        return Err(TrialError::Unsupported { system: trial.label.system.clone(), what });
    };
    let slots = muster::load(trial, index, 0, 1).slots();
    let business = asked.business(&Share { worker: 0, workers: 1, first: 0, slots });
    let nowhere = DatabaseSpec { engine: Engine::Null, at: At::Nowhere { socket: false } };
    let session = null::Database::of(&nowhere).session(&asked.texts(Engine::Null), &pool.how);
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
        DatabaseError::ServerFull { place, text } => {
            let settings = database.facts().settings;
            let limit = settings.into_iter().find(|(key, _)| key == MAX_CONNECTIONS);
            let limit = limit.map_or_else(String::new, |(_, value)| format!("; its max_connections is {value}"));
            let asked = format!("{} sessions were asked for", pool.sessions);
            DatabaseError::ServerFull { place, text: format!("{text}; {asked}{limit}") }
        }
        other => other,
    }
}

fn ring_allowed(stream: &Stream) -> bool {
    stream.access.driver != Driver::Plain && ring::probe().is_ok()
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
enum Asked {
    Brokerage { spec: brokerage::Spec, seed: u64, epoch: u64 },
    Scripts { program: Arc<sql::Program>, seed: u64 },
    Rows { spec: rows::Spec },
}

/// One worker's share of the slots of a stream.
struct Share {
    worker: u32,
    workers: u32,
    /// The first of its slots, counted over all workers.
    first: u32,
    slots: u32,
}

impl Asked {
    fn of(stream: &Stream, pool: &Pool, seed: u64, epoch: u64) -> Result<Asked, TrialError> {
        match &stream.workload {
            Workload::Brokerage(spec) => Ok(Asked::Brokerage { spec: *spec, seed, epoch }),
            Workload::Sql(spec) => {
                let textual = pool.how.protocol == study::Protocol::Simple;
                Ok(Asked::Scripts { program: Arc::new(crate::scripts::program(spec, textual)?), seed })
            }
            // The data set may have tables for more jobs than this trial has sessions.
            Workload::Rows(spec) => {
                Ok(Asked::Rows { spec: rows::Spec { jobs: pool.sessions.clamp(1, spec.jobs.max(1)), ..*spec } })
            }
            Workload::Block(_) | Workload::Files(_) => {
                let what = "carry storage work over sessions".to_owned();
                Err(TrialError::Unsupported { system: "database".to_owned(), what })
            }
        }
    }

    fn statements(&self, engine: Engine) -> Vec<Statement> {
        match self {
            Asked::Brokerage { spec, .. } if spec.procedures => database::procedures::language(engine)
                .map_or_else(Vec::new, |language| brokerage::procedures::calls(spec.preset, language)),
            Asked::Brokerage { spec, .. } => brokerage::statements(spec.preset),
            Asked::Scripts { program, .. } => program.statements(),
            Asked::Rows { spec } => rows::statements(spec),
        }
    }

    /// Bytes of rows that one transaction of a batch job moves: the mean over a round, whose last block may be short.
    fn bytes(&self) -> u32 {
        let Asked::Rows { spec } = self else { return 0 };
        let rows = match spec.mode {
            rows::Mode::Update { .. } => spec.rows_per_arrival() as f64,
            rows::Mode::Copy { .. } => {
                spec.rows_per_job as f64 / spec.rows_per_job.div_ceil(spec.rows_per_arrival()) as f64
            }
        };
        (rows * f64::from(spec.row_bytes)).round() as u32
    }

    /// What a database without rows gives for each statement. Batch jobs need none: they know what they ask for.
    fn samples(&self) -> Vec<Option<Sample>> {
        match self {
            Asked::Brokerage { spec, .. } => brokerage::samples(spec.preset),
            Asked::Scripts { program, .. } => program.samples(),
            Asked::Rows { .. } => Vec::new(),
        }
    }

    /// The statements in the text of an engine. Scripts read columns by name, and the simple protocol splices their values in.
    fn texts(&self, engine: Engine) -> Texts {
        let mut texts = Texts::of(engine, &self.statements(engine));
        if engine == Engine::Null {
            texts = texts.answering(self.samples());
        }
        match self {
            Asked::Scripts { program, .. } => {
                let naming = texts.naming(|statement| program.wants_names(statement));
                if program.textual() { naming.spliced() } else { naming }
            }
            Asked::Brokerage { spec, .. } if spec.procedures => texts.gathering(),
            Asked::Brokerage { .. } | Asked::Rows { .. } => texts,
        }
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        let &Share { worker, workers, first, slots } = share;
        match self {
            Asked::Brokerage { spec, seed, epoch } => {
                Box::new(Brokerage::new(*spec, *seed, worker, workers, slots, *epoch))
            }
            Asked::Scripts { program, seed } => {
                let clients = (0..slots).map(|slot| u64::from(slot) * u64::from(workers) + u64::from(worker));
                Box::new(sql::Scripts::new(program.clone(), *seed, clients))
            }
            Asked::Rows { spec } => Box::new(rows::Rows::new(*spec, first, slots)),
        }
    }
}
