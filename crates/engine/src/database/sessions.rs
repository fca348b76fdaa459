//! The sessions of a stream of transactions, divided among workers.
//!
//! The one idea: where a conversation can be driven without blocking, one thread serves many; elsewhere each session has a
//! thread of its own. Either way a worker has its own share of the load and of the workload.

use crate::TrialError;
use crate::database::databases::Databases;
use crate::hot::transactions::TransactionWork;
use crate::port::reconnect::{Conversation, Reconnect};
use crate::port::simulated::sessions::Imagined;
use crate::port::{connections, session, uring};
use crate::worker::assign::{Carriers, Place, StreamOf};
use crate::worker::profile::{self, Profile};
use crate::worker::run::Driver;
use crate::worker::transactions::Transactions;
use database::{Database, DatabaseError, Texts, null};
use std::sync::Arc;
use study::{At, DatabaseSpec, Engine, Pool, Stream, Workload};
use workload::brokerage::{self, Brokerage, WORKERS_MAX};
use workload::rows;
use workload::sql;
use workload::transaction::{Business, Sample, Statement};

/// What carries a stream.
pub(crate) fn carriers<'a>(databases: &'a Databases, stream: StreamOf<'a>) -> Result<Carriers<'a, Driver>, TrialError> {
    let pool = pool(stream)?;
    let (database, begun) = databases.current()?;
    let asked = Asked::of(stream.stream(), pool, stream.seed(), begun.epoch)?;
    let texts = asked.texts(database.engine());
    let names = profile::names(&texts);
    let refused = move |error| databases.refused()(crowded(error, database, pool));
    let many = pool.sessions > 0 && ring_allowed(stream.stream());
    let mut open = if many { conversations(database, &texts, pool).map_err(refused)? } else { Vec::new() };
    let by_ring = !open.is_empty();
    let workers = if by_ring { stream.stream().access.workers.clamp(1, pool.sessions) } else { pool.sessions };
    if workers > WORKERS_MAX {
        let ask = "ask for fewer, with `users`";
        let what = format!("give more than {WORKERS_MAX} sessions a thread each, got {workers}: {ask}");
        return Err(stream.unsupported(what));
    }
    let reconnect = Reconnect { database: databases.lasting(), texts: texts.clone(), how: pool.how };
    let each = move |place: Place| {
        let (tries, profile) = (pool.how.tries, Profile::new(names.clone()));
        let transactions = Transactions { business: asked.business(&place), tries, profile };
        let (work, reconnect) = (TransactionWork::new(asked.bytes()), reconnect.clone());
        let driver: Driver = if by_ring {
            // Of those that are left, an equal share for each worker that is left.
            let share = open.len().div_ceil((place.workers - place.worker) as usize);
            let conversations = open.split_off(open.len() - share);
            Box::new(move |share, start| connections::drive(conversations, reconnect, transactions, work, share, start))
        } else {
            let session = database.session(&texts, &pool.how).map_err(refused)?;
            Box::new(move |share, start| session::drive(session, reconnect, transactions, work, share, start))
        };
        Ok(driver)
    };
    Ok(Carriers::new(workers, each))
}

/// The sessions of a stream; storage work has none.
fn pool(stream: StreamOf<'_>) -> Result<&Pool, TrialError> {
    stream.stream().pool.as_ref().ok_or_else(|| stream.unsupported("carry storage work over sessions"))
}

/// A stream of transactions on a machine in virtual time: what it asks for, in one share, and a database that answers in its
/// place.
pub(crate) fn imagined(stream: StreamOf<'_>) -> Result<Imagined, TrialError> {
    let pool = pool(stream)?;
    let asked = Asked::of(stream.stream(), pool, stream.seed(), FIRST_EPOCH)?;
    let Asked::Brokerage { .. } = &asked else {
        let what = "carry scripts or batch jobs: the transaction that its model describes is the brokerage's";
        return Err(stream.unsupported(what));
    };
    let slots = stream.stream().slots();
    let business = asked.business(&Place { worker: 0, workers: 1, first: 0, slots, number: 0 });
    let nowhere = DatabaseSpec { engine: Engine::Null, at: At::Nowhere { socket: false } };
    let session = null::Database::of(&nowhere).session(&asked.texts(Engine::Null), &pool.how);
    let system = stream.trial.label.system.clone();
    let session = session.map_err(|source| TrialError::Database { system, source: Box::new(source) })?;
    let transactions = Transactions { business, tries: 1, profile: Profile::default() };
    Ok(Imagined { transactions, session, sessions: pool.sessions, slots })
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
    stream.access.driver != study::Driver::Plain && uring::probe().is_ok()
}

/// All conversations of the pool, or none when this database cannot be driven so.
fn conversations(database: &dyn Database, texts: &Texts, pool: &Pool) -> Result<Vec<Conversation>, DatabaseError> {
    let mut open = Vec::new();
    for _ in 0..pool.sessions {
        match database.conversation(texts, &pool.how)? {
            Some((socket, wire)) => open.push(Conversation { wire, socket }),
            None => return Ok(Vec::new()),
        }
    }
    Ok(open)
}

/// What a stream asks for, ready to be shared by its workers.
enum Asked {
    Brokerage { spec: brokerage::Spec, seed: u64, epoch: u64 },
    Scripts { program: Arc<sql::Program>, seed: u64 },
    Rows { spec: rows::Spec },
}

impl Asked {
    fn of(stream: &Stream, pool: &Pool, seed: u64, epoch: u64) -> Result<Asked, TrialError> {
        match &stream.workload {
            Workload::Brokerage(spec) => Ok(Asked::Brokerage { spec: *spec, seed, epoch }),
            Workload::Sql(spec) => {
                let textual = pool.how.protocol == study::Protocol::Simple;
                Ok(Asked::Scripts { program: Arc::new(crate::database::scripts::program(spec, textual)?), seed })
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

    fn business(&self, place: &Place) -> Box<dyn Business> {
        let &Place { worker, workers, first, slots, .. } = place;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;
    use crate::sample;
    use crate::worker::assign::assign;
    use load::{Load, Spec, Think};
    use recorder::{Collector, WallClock};
    use std::sync::atomic::AtomicBool;
    use study::{Access, Sessions, Trial};
    use units::Nanos;
    use workload::brokerage::{Market, Preset};

    /// Users of a small house who share such sessions.
    fn trial(users: u32, sessions: u32) -> Trial {
        let mut trial = sample::trial(Spec::Closed { slots: users, think: Think::None }, Nanos(1));
        let (preset, market) = (Preset::Desk, Market::ByTime);
        let spec = brokerage::Spec { preset, customers: 10, days: 1, market, maintenance: false, procedures: false };
        let stream = &mut trial.streams[0];
        (stream.workload, stream.access) = (Workload::Brokerage(spec), Access::plain());
        stream.pool = Some(Pool { sessions, how: Sessions::default(), check: false, profile: false });
        trial
    }

    /// How the trial is divided among sessions of a database that answers at once: the slots of each worker.
    fn divided(trial: &Trial) -> Result<Vec<u32>, TrialError> {
        let spec = DatabaseSpec { engine: Engine::Null, at: At::Nowhere { socket: false } };
        let stop = Arc::new(AtomicBool::new(false));
        let mut databases = Databases::new("null", &spec, std::env::temp_dir(), stop.clone());
        databases.prepare(trial, &mut Unobserved, (&WallClock::new(), &stop))?;
        let shares = assign(trial, &mut Collector::default(), |stream| carriers(&databases, stream))?;
        Ok(shares.iter().map(|(share, _)| share.load.slots()).collect())
    }

    #[test]
    fn a_blocking_session_has_a_worker_and_users_are_shared_among_them() {
        assert_eq!(divided(&trial(4, 4)).unwrap(), [1, 1, 1, 1]);
        assert_eq!(divided(&trial(7, 3)).unwrap(), [3, 2, 2]);
    }

    #[test]
    fn more_sessions_than_there_are_numbers_for_workers_are_refused_before_any_is_opened() {
        let refused = divided(&trial(1, WORKERS_MAX + 1)).unwrap_err().to_string();
        assert!(refused.contains("more than 2048 sessions a thread each, got 2049"), "{refused}");
    }

    #[test]
    fn storage_work_is_not_carried_over_sessions() {
        let trial = sample::trial(Spec::Closed { slots: 1, think: Think::None }, Nanos(1));
        let refused = divided(&trial).unwrap_err().to_string();
        assert_eq!(refused, "system `null` cannot carry storage work over sessions");
    }

    #[test]
    fn only_the_brokerage_is_carried_in_virtual_time() {
        let mut trial = trial(5, 2);
        let imagined = imagined(StreamOf { trial: &trial, index: 0 }).unwrap();
        assert_eq!((imagined.sessions, imagined.slots), (2, 5));
        let scripts = vec![("select-only".to_owned(), 1.0)];
        trial.streams[0].workload = Workload::Sql(study::ScriptsSpec { scripts, define: Vec::new(), scale: 1 });
        let refused = super::imagined(StreamOf { trial: &trial, index: 0 }).err().unwrap().to_string();
        assert!(refused.contains("the transaction that its model describes is the brokerage's"), "{refused}");
    }
}
