//! The sessions of a stream of transactions, divided among workers.
//!
//! The one idea: where a conversation can be driven without blocking, one thread serves many; elsewhere each session has a
//! thread of its own. Either way a worker has its own share of the load and of the workload.

use crate::TrialError;
use crate::database::databases::{Databases, MAX_CONNECTIONS};
use crate::hot::transactions::{Beside, TransactionWork};
use crate::port::reconnect::Reconnect;
use crate::port::simulated::sessions::Imagined;
use crate::port::{connections, session, uring};
use crate::worker::assign::{Carriers, Place, StreamOf};
use crate::worker::profile::{self, Profile};
use crate::worker::run::Driver;
use crate::worker::transactions::Transactions as Carried;
use database::{Conversation, Database, DatabaseError, Texts, null};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use study::{At, DatabaseSpec, Engine, OnError, Pool, Protocol, Sessions, Spread};
use workload::kind::{Around, Ready, Share, Transactions, Unready, WORKERS_MAX};

/// What carries a stream.
pub(crate) fn carriers<'a>(databases: &'a Databases, stream: StreamOf<'a>) -> Result<Carriers<'a, Driver>, TrialError> {
    let (transactions, pool) = pool(stream)?;
    let beside = stream.label().map(|label| Beside::of(label, pool.limit)).unwrap_or_default();
    let (database, found) = databases.current()?;
    let asked = ready(stream)?;
    let mut texts = texts(asked.as_ref(), database.engine());
    texts.foreign = transactions.is_foreign();
    if pool.profile {
        databases.texts().push(texts.clone());
    }
    let names = profile::names(&texts);
    let sessions = stream.stream().sessions();
    let refused = move |error| databases.refused()(crowded(error, database, sessions));
    // What answers by itself has none either, and stands for one that has.
    if pool.how.reopen > 0 && databases.lasting().is_none() && database.engine() != Engine::Null {
        return Err(stream.unsupported("open sessions again: this database has no connections (`reopen`)"));
    }
    let many = pool.sessions > 0 && uring::allowed() && pool.how.reopen == 0;
    let spread = stream.trial.state.spread;
    let how = move |number| on_node(pool, spread, number);
    let mut open = if many { conversations(database, &texts, sessions, how).map_err(refused)? } else { Vec::new() };
    let by_ring = !open.is_empty();
    // Each of them is on one of the servers.
    let least = if databases.spec.pairing.both_write() { 2 } else { 1 };
    let workers = if by_ring { stream.stream().threads.count.max(least).min(pool.sessions) } else { pool.sessions };
    let by_clock = (sessions - pool.sessions) as usize;
    if workers as usize + by_clock > WORKERS_MAX as usize {
        let ask = "ask for fewer, with `users`";
        let what =
            format!("give more than {WORKERS_MAX} sessions a thread each, got {}: {ask}", workers as usize + by_clock);
        return Err(stream.unsupported(what));
    }
    let reconnect = Reconnect {
        database: databases.lasting(),
        served: databases.served.clone(),
        texts: texts.clone(),
        how: pool.how,
        patience: if pool.waits { Duration::from_nanos(pool.recovery.0) } else { Duration::ZERO },
    };
    let each = move |place: Place| {
        let (tries, profile) = (pool.how.tries, Profile::new(names.clone()));
        let how = how(place.worker);
        let business = asked.business(&share(stream, place, found.epoch));
        let transactions = Carried { business, tries, stops: pool.on_error == OnError::Stop, profile };
        let (work, reconnect) =
            (TransactionWork::new(asked.bytes(), beside.clone()), Reconnect { how, ..reconnect.clone() });
        let driver: Driver = if by_ring {
            // Of those that are left for users, an equal share for each of their workers that is left.
            let share = match (place.workers - place.worker) as usize {
                0 => by_clock,
                left => (open.len() - by_clock).div_ceil(left),
            };
            open.sort_by_key(|(node, _)| *node == how.node);
            let conversations = open.split_off(open.len() - share).into_iter().map(|(_, open)| open).collect();
            Box::new(move |share, start| connections::drive(conversations, reconnect, transactions, work, share, start))
        } else {
            let session = database.session(&texts, &how).map_err(refused)?;
            Box::new(move |share, start| session::drive(session, reconnect, transactions, work, share, start))
        };
        Ok(driver)
    };
    Ok(Carriers::new(workers, each))
}

/// The transactions of a stream with their sessions; storage work has none.
fn pool(stream: StreamOf<'_>) -> Result<(&dyn Transactions, &Pool), TrialError> {
    stream.stream().transactions().ok_or_else(|| stream.unsupported("carry storage work over sessions"))
}

/// A stream of transactions on a machine in virtual time: what it asks for, in one share, and a database that answers in its
/// place.
pub(crate) fn imagined(stream: StreamOf<'_>) -> Result<Imagined, TrialError> {
    let (asked, pool) = pool(stream)?;
    if !asked.described_by_models() {
        let what = NOT_DESCRIBED;
        return Err(stream.unsupported(what));
    }
    let mean = |class: workload::kind::Class| class.gives.map_or(0.0, |(_, mean)| mean);
    let gives = asked.classes().into_iter().map(mean).collect();
    let asked = ready(stream)?;
    let sessions = stream.stream().sessions();
    let place = Place { worker: 0, workers: 1, first: 0, slots: sessions, number: 0 };
    let business = asked.business(&share(stream, place, FIRST_EPOCH));
    let nowhere = DatabaseSpec::new(Engine::Null, At::Nowhere { socket: false });
    let session = null::Database::of(&nowhere).session(&texts(asked.as_ref(), Engine::Null), &pool.how);
    let system = stream.trial.label.system.clone();
    let session = session.map_err(|source| TrialError::Database { system, source: Box::new(source) })?;
    let transactions = Carried { business, tries: 1, stops: false, profile: Profile::default() };
    Ok(Imagined { transactions, session, sessions, gives })
}

/// Why a workload that does not say what its classes ask for is not carried in virtual time.
const NOT_DESCRIBED: &str = "carry transactions that do not say what they ask of a database, such as scripts, batch jobs or rows \
                             by key: the transaction that its model describes is the brokerage's, and others are scaled by what they say";

/// A machine in virtual time never saw a trial before.
const FIRST_EPOCH: u64 = 1;

/// A server that takes no more sessions: what was asked for, and what it allows.
fn crowded(error: DatabaseError, database: &dyn Database, sessions: u32) -> DatabaseError {
    let full = error.server_is_full();
    match error {
        DatabaseError::ServerFull { place, text } => {
            let settings = database.facts().settings;
            let limit = settings.into_iter().find(|(key, _)| full && key == MAX_CONNECTIONS);
            let limit = limit.map_or_else(String::new, |(_, value)| format!("; its max_connections is {value}"));
            let asked = format!("{sessions} sessions were asked for");
            DatabaseError::ServerFull { place, text: format!("{text}; {asked}{limit}") }
        }
        other => other,
    }
}

/// So many conversations, each with its server, or none when this database cannot be driven so.
fn conversations(
    database: &dyn Database,
    texts: &Texts,
    sessions: u32,
    how: impl Fn(u32) -> Sessions,
) -> Result<Vec<(u32, Conversation)>, DatabaseError> {
    let one = |number| {
        let how = how(number);
        let open = database.conversation(texts, &how)?;
        Ok(open.map(|open| (how.node, open)))
    };
    let open: Result<Option<_>, _> = (0..sessions).map(one).collect();
    open.map(Option::unwrap_or_default)
}

/// How the sessions of a worker talk, or one of this number: every other one to the second server, where they are spread.
fn on_node(pool: &Pool, spread: Spread, number: u32) -> Sessions {
    Sessions { node: if spread == Spread::One { 0 } else { number % 2 }, ..pool.how }
}

/// What a stream asks for, ready to be shared by its workers.
fn ready(stream: StreamOf<'_>) -> Result<Arc<dyn Ready>, TrialError> {
    let (asked, pool) = pool(stream)?;
    made_ready(asked, pool.how.protocol == Protocol::Simple, pool.sessions)
}

fn share(stream: StreamOf<'_>, place: Place, epoch: u64) -> Share {
    let Place { worker, workers, first, slots, .. } = place;
    let half = (stream.trial.state.spread == Spread::Split).then_some(worker % 2);
    Share { worker, workers, first, slots, seed: stream.seed(), epoch, half }
}

/// Reads what a workload of transactions names, such as scripts. `textual` puts values into the texts of statements.
///
/// # Errors
/// When a file cannot be read, or what it holds makes no sense; all problems, with line and column.
pub fn made_ready(asked: &dyn Transactions, textual: bool, sessions: u32) -> Result<Arc<dyn Ready>, TrialError> {
    let file = |path: &str| system::text::read(Path::new(path));
    let around = Around { textual, sessions, file: &file };
    asked.ready(&around).map_err(|unready| match unready {
        Unready::File { action, path, source } => TrialError::File { action, path, source },
        Unready::Script { action, path, problem } => TrialError::Script { action, path, problem },
        Unready::Unnamed(what) => TrialError::Unnamed(what),
    })
}

/// The statements in the text of an engine.
fn texts(asked: &dyn Ready, engine: Engine) -> Texts {
    let texts = Texts::of(engine, &asked.statements(engine.language()));
    let mut texts = texts.naming(|statement| asked.wants_names(statement));
    if engine == Engine::Null {
        texts.samples = asked.samples();
    }
    (texts.spliced, texts.gathering) = (asked.spliced(), asked.gathers());
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;
    use crate::sample;
    use crate::worker::assign::assign;
    use load::{Load, Spec, Think};
    use recorder::Collector;
    use std::sync::atomic::AtomicBool;
    use study::{Sessions, Trial, Work};
    use units::Nanos;
    use workload::bank;
    use workload::brokerage::{self, Market, Preset};
    use workload::dataset::Indexes;
    use workload::sql;

    /// Users of a small house who share such sessions.
    fn trial(users: u32, sessions: u32) -> Trial {
        let mut trial = sample::trial(Spec::Closed { slots: users, think: Think::None }, Nanos(1));
        let (preset, market) = (Preset::Desk, Market::ByTime);
        let spec = brokerage::Spec { preset, customers: 10, days: 1, market, maintenance: false, procedures: false };
        let pool = Pool {
            sessions,
            how: Sessions::default(),
            on_error: OnError::GoOn,
            check: false,
            recovery: Nanos::ZERO,
            waits: false,
            profile: false,
            limit: Nanos::ZERO,
        };
        trial.streams[0].work = Work::Transactions { asked: Arc::new(spec), pool };
        trial
    }

    /// How the trial is divided among sessions of a database that answers at once: the slots of each worker.
    fn divided(trial: &Trial) -> Result<Vec<u32>, TrialError> {
        let spec = DatabaseSpec::new(Engine::Null, At::Nowhere { socket: false });
        let stop = Arc::new(AtomicBool::new(false));
        let mut databases = Databases::new("null", &spec, false, std::env::temp_dir(), stop.clone());
        databases.make_ready(trial, &mut Unobserved, &stop)?;
        let shares = assign(trial, &mut Collector::default(), |stream| carriers(&databases, stream))?;
        Ok(shares.iter().map(|(share, _)| share.load.slots()).collect())
    }

    #[test]
    fn a_blocking_session_has_a_worker_and_carries_one_user_at_a_time() {
        assert_eq!(divided(&trial(4, 4)).unwrap(), [1, 1, 1, 1]);
        assert_eq!(divided(&trial(7, 3)).unwrap(), [1, 1, 1]);
    }

    #[test]
    fn what_comes_by_the_clock_has_a_session_of_its_own_behind_all_others() {
        let mut trial = trial(3, 3);
        let scale = bank::Scale { accounts: 1_000, days: 20, indexes: Indexes::Usual };
        let every = Nanos::from_secs(10);
        let spec = bank::day::Spec { scale, payments: 1, reads: 1, hot: 60, run_every: every, run_orders: 500 };
        let Work::Transactions { asked, .. } = &mut trial.streams[0].work else { panic!("no transactions") };
        *asked = Arc::new(spec);
        assert_eq!(divided(&trial).unwrap(), [1, 1, 1, 1]);
        assert_eq!(imagined(StreamOf { trial: &trial, index: 0 }).unwrap().sessions, 4);
        let Work::Transactions { pool, .. } = &mut trial.streams[0].work else { panic!("no transactions") };
        pool.sessions = WORKERS_MAX;
        let refused = divided(&trial).unwrap_err().to_string();
        assert!(refused.contains("got 2049"), "{refused}");
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
        assert_eq!(imagined.sessions, 2);
        let scripts = vec![("select-only".to_owned(), 1.0)];
        let scripts = sql::Asked { scripts, define: Vec::new(), scale: 1, partitions: None };
        let Work::Transactions { asked, .. } = &mut trial.streams[0].work else { panic!("no transactions") };
        *asked = Arc::new(scripts);
        let refused = super::imagined(StreamOf { trial: &trial, index: 0 }).err().unwrap().to_string();
        assert!(refused.contains("the transaction that its model describes is the brokerage's"), "{refused}");
    }
}
