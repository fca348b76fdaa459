//! The brokerage house on real servers beside the same on SQLite: the same rows, the same answers, the same end.

use crate::dataset::{DataSet, Filled, check, check_ledger, checksums, drop_dataset, fill};
use crate::{Database, DatabaseError, OpenOptions, Session, Texts, open, server};
use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use study::{At, DatabaseSpec, Engine, Protocol, Sessions};
use tempfile::TempDir;
use units::Nanos;
use workload::brokerage::{Brokerage, Market, Preset, Scale, Spec, statements};
use workload::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step};

/// A cache folder of one test; its servers end with the test.
struct Cache(TempDir, Engine);

impl Drop for Cache {
    fn drop(&mut self) {
        let _ = server::down(self.1, self.0.path(), &Arc::default(), true);
    }
}

fn spec(preset: Preset) -> Spec {
    let customers = if preset == Preset::Desk { 100 } else { 50 };
    Spec { preset, customers, days: 2, market: Market::ByCount, maintenance: true }
}

/// The filled data set; none where the server is not installed.
fn filled(cache: &Cache, engine: Engine, preset: Preset) -> Option<(Box<dyn Database>, DataSet)> {
    let dataset = DataSet::Brokerage { scale: Scale::of(&spec(preset)), seed: 5 };
    let at = if engine == Engine::Sqlite { At::Cache } else { At::Local };
    let (cache_dir, settings) = (cache.0.path().to_owned(), Vec::new());
    let options = OpenOptions { cache_dir, dataset: Some(dataset.clone()), settings, stop: Arc::default() };
    let database = match open(&DatabaseSpec { engine, at }, &options) {
        Ok(database) => database,
        Err(missing @ DatabaseError::MissingPackage { .. }) => {
            crate::skip::skipped(&format!("the {} on {}: {missing}", preset.word(), engine.word()));
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let done = fill(&*database, &dataset, false, &|_| {}, &AtomicBool::new(false));
    let done = done.unwrap_or_else(|error| panic!("{engine:?}: {error}: {:?}", std::error::Error::source(&error)));
    assert!(matches!(done, Filled::Anew { .. }), "{done:?}");
    Some((database, dataset))
}

fn holds(session: &mut dyn Session, dataset: &DataSet) {
    let outcomes = check(session, dataset, &|| Duration::ZERO);
    let outcomes = outcomes.unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)));
    assert!(outcomes.len() > 5, "{}", outcomes.len());
    for outcome in outcomes {
        assert!(outcome.passed, "{}: {:?}", outcome.name, outcome.violations);
    }
}

/// One transaction to its end; answers are added to `heard`.
fn carry_out(
    session: &mut dyn Session,
    business: &mut Brokerage,
    begun: Begun,
    heard: &mut Vec<Answers>,
) -> Vec<Caused> {
    let (mut batch, mut answers, mut caused) = (Batch::default(), Answers::default(), Vec::new());
    business.class(begun.n, begun.payload);
    business.begin(0, begun);
    loop {
        batch.clear();
        match business.step(0, &answers, &mut batch) {
            Step::Send => {
                answers.clear();
                session.run(&batch, &mut answers).unwrap_or_else(|failure| panic!("{failure} in {batch:?}"));
                heard.push(answers.clone());
            }
            Step::Done { .. } => break,
            other => panic!("{other:?}"),
        }
    }
    business.ended(0, Ending::Done, begun.at, &mut caused);
    caused
}

/// Carries out so many arrivals and all that they cause, and holds the end against invariants and ledger.
fn traded(database: &dyn Database, dataset: &DataSet, preset: Preset, protocol: Protocol, epoch: u64) -> Vec<Answers> {
    let texts = Texts::of(database.engine(), &statements(preset));
    let mut session = database.session(&texts, &Sessions { protocol, ..Sessions::default() }).unwrap();
    let mut business = Brokerage::new(spec(preset), 3, 0, 1, 1, epoch);
    let (mut heard, mut queue, mut extra) = (Vec::new(), VecDeque::new(), 1 << 63);
    for n in 0..400 {
        let at = Nanos(n * 1_000_000);
        queue.extend(carry_out(&mut *session, &mut business, Begun { n, payload: 0, at }, &mut heard));
        while let Some(Caused { payload, .. }) = queue.pop_front() {
            queue.extend(carry_out(&mut *session, &mut business, Begun { n: extra, payload, at }, &mut heard));
            extra += 1;
        }
    }
    holds(&mut *session, dataset);
    let none = workload::brokerage::ledger::Faulty::default();
    let judged = check_ledger(&mut *session, dataset, business.ledger(), 1).unwrap();
    assert!(
        judged.missing == none && judged.resurrected == none && judged.unfilled == none && judged.ok > 0,
        "{judged:?}"
    );
    heard
}

/// Fills the data set on this engine and on SQLite, compares, trades by all protocols, and compares again.
fn the_same_as_sqlite(engine: Engine, preset: Preset) {
    let folder = tempfile::tempdir().unwrap();
    // The server runs as another user when the test is root.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let cache = Cache(folder, engine);
    let Some((theirs, dataset)) = filled(&cache, engine, preset) else { return };
    let (ours, _) = filled(&cache, Engine::Sqlite, preset).unwrap();
    let sums = |database: &dyn Database| {
        let mut session = database.session(&Texts::none(database.engine()), &Sessions::default()).unwrap();
        checksums(&mut *session, &dataset).unwrap()
    };
    holds(&mut *theirs.session(&Texts::none(engine), &Sessions::default()).unwrap(), &dataset);
    assert_eq!(sums(&*theirs), sums(&*ours), "after the fill");
    for (epoch, protocol) in [Protocol::Prepared, Protocol::Simple, Protocol::Extended].into_iter().enumerate() {
        let left = traded(&*theirs, &dataset, preset, protocol, epoch as u64);
        let right = traded(&*ours, &dataset, preset, Protocol::Prepared, epoch as u64);
        for (place, (left, right)) in left.iter().zip(&right).enumerate() {
            assert_eq!(left, right, "answer {place} by {protocol:?}");
        }
        assert_eq!(sums(&*theirs), sums(&*ours), "after trading by {protocol:?}");
    }
    let before = sums(&*theirs);
    refused_without_its_mark(&*theirs, &dataset);
    assert_eq!(sums(&*theirs), before, "something of somebody else was changed");
}

/// Without its mark a data set is somebody else's.
fn refused_without_its_mark(database: &dyn Database, dataset: &DataSet) {
    let mut session = database.session(&Texts::none(database.engine()), &Sessions::default()).unwrap();
    session.query(&format!("drop table {}", crate::dataset::mark::TABLE)).unwrap();
    let filled = fill(database, dataset, false, &|_| {}, &AtomicBool::new(false));
    assert!(matches!(filled, Err(DatabaseError::NotOurs { .. })), "{filled:?}");
    let dropped = drop_dataset(database, dataset);
    assert!(matches!(dropped, Err(DatabaseError::NotOurs { .. })), "{dropped:?}");
}

#[test]
fn the_desk_is_the_same_on_mariadb_as_on_sqlite() {
    the_same_as_sqlite(Engine::Mariadb, Preset::Desk);
}

#[test]
fn the_house_is_the_same_on_mariadb_as_on_sqlite() {
    the_same_as_sqlite(Engine::Mariadb, Preset::House);
}

#[test]
fn the_desk_is_the_same_on_postgres_as_on_sqlite() {
    the_same_as_sqlite(Engine::Postgres, Preset::Desk);
}

#[test]
fn the_house_is_the_same_on_postgres_as_on_sqlite() {
    the_same_as_sqlite(Engine::Postgres, Preset::House);
}
