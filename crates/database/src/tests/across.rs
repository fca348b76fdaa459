//! The brokerage house on real servers beside the same on SQLite: the same rows, the same answers, the same end.

use crate::dataset::{Asking, DataSet, Depth, Filled, added, check, checksums, fill};
use crate::{Database, DatabaseError, OpenOptions, Profiling, Session, Texts, open, server};
use std::collections::VecDeque;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use study::{At, DatabaseSpec, Engine, Protocol, Sessions};
use tempfile::TempDir;
use units::Nanos;
use workload::brokerage::data_set::seeded;
use workload::brokerage::procedures;
use workload::brokerage::{Brokerage, Market, Preset, Scale, Spec, judge, statements};
use workload::transaction::{Answers, Batch, Begun, Business, Call, Caused, Ending, Statement, Step, Value};

/// A cache folder of one test; its servers end with the test.
pub(super) struct Cache(TempDir, Engine);

impl Cache {
    pub(super) fn new(engine: Engine) -> Cache {
        let folder = tempfile::tempdir().unwrap();
        // The server runs as another user when the test is root.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        Cache(folder, engine)
    }

    pub(super) fn folder(&self) -> std::path::PathBuf {
        self.0.path().to_owned()
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let _ = server::down(self.1, self.0.path(), &Arc::default(), true);
    }
}

fn spec(preset: Preset) -> Spec {
    let customers = if preset == Preset::Desk { 100 } else { 50 };
    Spec { preset, customers, days: 2, market: Market::ByCount, maintenance: true, procedures: false }
}

/// The filled data set; none where the server is not installed.
pub(super) fn filled(cache: &Cache, engine: Engine, preset: Preset) -> Option<(Box<dyn Database>, DataSet)> {
    let dataset = seeded(Scale::of(&spec(preset)), 5);
    Some((filled_with(cache, engine, &dataset)?, dataset))
}

/// A database with a data set; none where the server is not installed.
pub(super) fn filled_with(cache: &Cache, engine: Engine, dataset: &DataSet) -> Option<Box<dyn Database>> {
    let at = if engine == Engine::Sqlite { At::Cache } else { At::Local };
    let (cache_dir, settings) = (cache.0.path().to_owned(), Vec::new());
    let options = OpenOptions {
        cache_dir,
        dataset: Some(dataset.clone()),
        settings,
        profiling: Profiling::default(),
        stop: Arc::default(),
    };
    let database = match open(&DatabaseSpec::new(engine, at), &options) {
        Ok(database) => database,
        Err(missing @ DatabaseError::MissingPackage { .. }) => {
            crate::tests::skip::skipped(&format!("{} on {}: {missing}", dataset.name(), engine.word()));
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let done = fill(&*database, dataset, false, &|_| {}, &AtomicBool::new(false));
    let done = done.unwrap_or_else(|error| panic!("{engine:?}: {error}: {:?}", std::error::Error::source(&error)));
    assert!(matches!(done, Filled::Anew { .. }), "{done:?}");
    assert_eq!(added(&*database, dataset).unwrap(), [""; 0], "{engine:?}: nobody added anything");
    Some(database)
}

pub(super) fn holds(session: &mut dyn Session, engine: Engine, dataset: &DataSet) {
    let outcomes = check(&mut [session], engine, dataset, Depth::All, &|| Duration::ZERO);
    let outcomes = outcomes.unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)));
    assert!(outcomes.len() > 5, "{}", outcomes.len());
    for outcome in outcomes {
        assert!(outcome.passed, "{}: {:?}", outcome.name, outcome.violations);
    }
}

/// A row that a transaction read: the place of the statement, and the fields as texts.
type Row = (u16, Vec<Option<String>>);

/// What transactions heard.
#[derive(Default)]
struct Carried {
    /// By statements: all answers, batch by batch.
    answers: Vec<Answers>,
    /// The rows that each transaction read, in order, however it was carried out.
    read: Vec<Vec<Row>>,
}

/// A row that a procedure read: a line behind the place of its statement. What came of the transaction has no such place.
fn heard(line: &str) -> Option<Row> {
    let mut fields = line.split('\x1f');
    let statement = fields.next()?.parse().ok()?;
    Some((statement, fields.map(|field| (field != "\x1a").then(|| field.to_owned())).collect()))
}

/// A transaction's rows in the form that statements and procedures have in common.
fn rows_of(batch: &Batch, answers: &Answers, statements: &[Statement], procedures: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for (place, call) in batch.calls().enumerate() {
        let Call::Statement { statement, .. } = call else { continue };
        if procedures {
            let answer = answers.get(place);
            let texts = answer.rows().filter_map(|row| row.first()?.text());
            rows.extend(texts.flat_map(|text| text.split('\x1e')).filter_map(heard));
        } else if statements[usize::from(statement)].rows {
            let text = |value: &Value| match value {
                Value::Null => None,
                Value::Int(number) => Some(number.to_string()),
                Value::Float(number) => Some(number.to_string()),
                Value::Text(text) => Some(text.clone()),
            };
            rows.extend(answers.get(place).rows().map(|row| (statement, row.iter().map(text).collect())));
        }
    }
    rows
}

/// One transaction to its end; what it hears is added to `carried`.
fn carry_out(
    session: &mut dyn Session,
    (business, spec): (&mut Brokerage, Spec),
    begun: Begun,
    carried: &mut Carried,
) -> Vec<Caused> {
    let (mut batch, mut answers, mut caused) = (Batch::default(), Answers::default(), Vec::new());
    let statements = statements(spec.preset);
    carried.read.push(Vec::new());
    business.class(begun.n, begun.payload);
    business.begin(0, begun);
    loop {
        batch.clear();
        match business.step(0, &answers, &mut batch) {
            Step::Send => {
                answers.clear();
                session.run(&batch, &mut answers).unwrap_or_else(|failure| panic!("{failure} in {batch:?}"));
                if spec.procedures {
                    assert_eq!(batch.calls().filter(|call| matches!(call, Call::Statement { .. })).count(), 1);
                }
                carried.answers.push(answers.clone());
                let rows = rows_of(&batch, &answers, &statements, spec.procedures);
                carried.read.last_mut().into_iter().for_each(|read| read.extend(rows.clone()));
            }
            Step::Done { .. } => break,
            other => panic!("{other:?}"),
        }
    }
    business.ended(0, Ending::Done, begun.at, &mut caused);
    caused
}

/// The texts of a workload, as statements or as calls of procedures.
fn texts_of(engine: Engine, spec: Spec) -> Texts {
    match engine.language().filter(|_| spec.procedures) {
        Some(language) => {
            let mut texts = Texts::of(engine, &procedures::calls(spec.preset, language));
            texts.gathering = true;
            texts
        }
        None => Texts::of(engine, &statements(spec.preset)),
    }
}

/// What the generator hands over for the round of maintenance of that number.
fn round(number: u64) -> Caused {
    Caused { due: Nanos(0), payload: 3 << 56 | number }
}

/// Carries out so many arrivals and all that they cause, and holds the end against invariants and ledger.
fn traded(database: &dyn Database, dataset: &DataSet, spec: Spec, protocol: Protocol, epoch: u64) -> Carried {
    let texts = texts_of(database.engine(), spec);
    let mut session = database.session(&texts, &Sessions { protocol, ..Sessions::default() }).unwrap();
    let mut business = Brokerage::new(spec, 3, 0, 1, 1, epoch);
    let (mut carried, mut queue, mut extra) = (Carried::default(), VecDeque::new(), 1 << 63);
    if spec.preset == Preset::House {
        queue.extend((0..24).map(round));
    }
    for n in epoch * 400..(epoch + 1) * 400 {
        let at = Nanos(n * 1_000_000);
        let begun = Begun { n, payload: 0, at };
        queue.extend(carry_out(&mut *session, (&mut business, spec), begun, &mut carried));
        while let Some(Caused { payload, .. }) = queue.pop_front() {
            let begun = Begun { n: extra, payload, at };
            queue.extend(carry_out(&mut *session, (&mut business, spec), begun, &mut carried));
            extra += 1;
        }
    }
    holds(&mut *session, database.engine(), dataset);
    let none = workload::brokerage::ledger::Faulty::default();
    let judged = Asking::on(database, |queries| judge(queries, business.ledger(), 1)).unwrap();
    assert!(
        judged.missing == none && judged.resurrected == none && judged.unfilled == none && judged.ok > 0,
        "{judged:?}"
    );
    carried
}

/// Fills the data set on this engine and on SQLite, compares, trades by all protocols, and compares again.
fn the_same_as_sqlite(engine: Engine, preset: Preset) {
    let cache = Cache::new(engine);
    let Some((theirs, dataset)) = filled(&cache, engine, preset) else { return };
    let (ours, _) = filled(&cache, Engine::Sqlite, preset).unwrap();
    let sums = |database: &dyn Database| {
        let mut session = database.session(&Texts::none(database.engine()), &Sessions::default()).unwrap();
        checksums(&mut *session, &dataset).unwrap()
    };
    holds(&mut *theirs.session(&Texts::none(engine), &Sessions::default()).unwrap(), engine, &dataset);
    assert_eq!(sums(&*theirs), sums(&*ours), "after the fill");
    for (epoch, protocol) in [Protocol::Prepared, Protocol::Simple, Protocol::Extended].into_iter().enumerate() {
        let left = traded(&*theirs, &dataset, spec(preset), protocol, epoch as u64);
        let right = traded(&*ours, &dataset, spec(preset), Protocol::Prepared, epoch as u64);
        for (place, (left, right)) in left.answers.iter().zip(&right.answers).enumerate() {
            assert_eq!(left, right, "answer {place} by {protocol:?}");
        }
        assert_eq!(sums(&*theirs), sums(&*ours), "after trading by {protocol:?}");
    }
    let called = Spec { procedures: true, ..spec(preset) };
    for (epoch, protocol) in (3..).zip([Protocol::Prepared, Protocol::Simple, Protocol::Extended]) {
        let left = traded(&*theirs, &dataset, called, protocol, epoch);
        let right = traded(&*ours, &dataset, spec(preset), Protocol::Prepared, epoch);
        assert_eq!(left.read.len(), right.read.len(), "transactions by procedures, {protocol:?}");
        assert!(right.read.iter().filter(|read| !read.is_empty()).count() > 400);
        for (place, (left, right)) in left.read.iter().zip(&right.read).enumerate() {
            assert_eq!(left, right, "transaction {place} by procedures, {protocol:?}");
        }
        assert_eq!(sums(&*theirs), sums(&*ours), "after trading by procedures, {protocol:?}");
    }
    let before = sums(&*theirs);
    refused_without_its_mark(&*theirs, &dataset);
    assert_eq!(sums(&*theirs), before, "something of somebody else was changed");
}

/// Without its mark a data set is somebody else's.
fn refused_without_its_mark(database: &dyn Database, dataset: &DataSet) {
    let mut session = database.session(&Texts::none(database.engine()), &Sessions::default()).unwrap();
    session.query(&format!("drop table {}", crate::mark::TABLE)).unwrap();
    let filled = fill(database, dataset, false, &|_| {}, &AtomicBool::new(false));
    assert!(matches!(filled, Err(DatabaseError::NotOurs { .. })), "{filled:?}");
    let dropped = database.clear(dataset);
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
