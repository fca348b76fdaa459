//! Checks: what must hold for the data, and what the generator knows of it.
//!
//! The one idea: invariants, checksums and what a workload asks around a trial come as queries from the workload and are run as
//! they are, side by side where there are sessions for it: nobody else works on the data meanwhile.
//!
//! What it does not do: it mends nothing, and it measures no time but with the clock that it is handed.

use super::{DataSet, shape};
use crate::database::origin;
use crate::{Database, DatabaseError, Failure, Session, Texts, dialect};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use study::{Engine, Sessions};
use workload::dataset::{Figure, Invariant, RowCheck};
use workload::kind::{Queries, Refused};
use workload::transaction::{Answers, Batch, Statement, Value};

/// Violations of one check that are told.
const VIOLATIONS: usize = 10;

/// Sessions that check side by side: the server has work for a core, and so has the comparison of rows here.
const SESSIONS: usize = 2;

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOutcome {
    /// Its name.
    pub name: String,
    /// What should hold, as a sentence.
    pub says: String,
    /// Whether it holds.
    pub passed: bool,
    /// Rows that break it, ten at most.
    pub violations: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// How much of the data is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What transactions change, and whether tables and counts are those of the fill: after every trial.
    Moved,
    /// All, also each reference and what the history adds up to: when somebody asks for it, and after an outage.
    All,
}

/// The time since any moment, for all who look.
pub type Since<'a> = &'a (dyn Fn() -> Duration + Sync);

/// One check.
#[derive(Clone, Copy)]
enum Look<'a> {
    Invariant(&'a Invariant),
    Rows(&'a RowCheck),
    References,
    Pages,
    Schema(Engine),
    /// Of the history, too.
    Figures(bool),
}

/// Holds the data of a database to all that [`check`] does, over more than one session where the database lets another in.
///
/// # Errors
/// When it cannot be opened, or refuses a query.
pub fn check_database(
    database: &dyn Database,
    dataset: &DataSet,
    depth: Depth,
    clock: Since,
) -> Result<Vec<CheckOutcome>, DatabaseError> {
    let open = || database.session(&Texts::none(database.engine()), &Sessions::default());
    let mut sessions = vec![open()?];
    sessions.extend((1..SESSIONS).map_while(|_| open().ok()));
    let mut sessions: Vec<&mut dyn Session> = sessions.iter_mut().map(|session| &mut **session as _).collect();
    check(&mut sessions, database.engine(), dataset, depth, clock)
}

/// Holds the data against all invariants of its kind, where it has some, and against what the fill made of it.
///
/// # Errors
/// When the database refuses a query.
pub fn check(
    sessions: &mut [&mut dyn Session],
    engine: Engine,
    dataset: &DataSet,
    depth: Depth,
    clock: Since,
) -> Result<Vec<CheckOutcome>, DatabaseError> {
    for session in sessions.iter_mut() {
        for sql in dialect::whole_tables(engine) {
            session.query(sql).map_err(|failure| failed(dataset, "how tables are joined", failure))?;
        }
    }
    let (invariants, rows, all) = (dataset.invariants(), dataset.row_checks(), depth == Depth::All);
    let mut looks: Vec<Look> = invariants.iter().map(Look::Invariant).chain(rows.iter().map(Look::Rows)).collect();
    if !looks.is_empty() {
        looks.extend([Look::References, Look::Pages].iter().filter(|_| all));
        looks.extend([Look::Schema(engine), Look::Figures(all)]);
    }
    side_by_side(sessions, dataset, &looks, clock)
}

/// What each of the checks found, in their order.
fn side_by_side(
    sessions: &mut [&mut dyn Session],
    dataset: &DataSet,
    looks: &[Look],
    clock: Since,
) -> Result<Vec<CheckOutcome>, DatabaseError> {
    // What takes longest begins first.
    let mut left: Vec<(usize, Look)> = looks.iter().copied().enumerate().collect();
    left.sort_by_key(|(_, look)| matches!(look, Look::Pages));
    let (left, found) = (Mutex::new(left), Mutex::new(BTreeMap::new()));
    let (left, found) = (&left, &found);
    let next = move || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
    thread::scope(|scope| {
        for session in sessions.iter_mut() {
            scope.spawn(move || {
                let mut looking = Looking { session: &mut **session, dataset, clock };
                while let Some((place, look)) = next() {
                    let outcome = looking.look(look);
                    if outcome.is_err() {
                        left.lock().unwrap_or_else(PoisonError::into_inner).clear();
                    }
                    found.lock().unwrap_or_else(PoisonError::into_inner).insert(place, outcome);
                }
            });
        }
    });
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    found.into_values().filter_map(Result::transpose).collect()
}

/// Looks whether the data set is still the one that was filled, by what is quickly told: the shape of its tables, and rows of
/// those that no transaction changes the number of.
///
/// # Errors
/// When the database refuses a query.
pub fn fingerprint(
    session: &mut dyn Session,
    engine: Engine,
    dataset: &DataSet,
    clock: Since,
) -> Result<Vec<CheckOutcome>, DatabaseError> {
    side_by_side(&mut [session], dataset, &[Look::Schema(engine), Look::Figures(false)], clock)
}

/// The columns, keys, indexes, references and checks that somebody added to tables of a data set, in words of the catalogue; ten at most.
///
/// # Errors
/// When the database refuses a query.
pub fn added(database: &dyn Database, dataset: &DataSet) -> Result<Vec<String>, DatabaseError> {
    let (engine, tables) = (database.engine(), dataset.tables());
    let mut session = database.session(&Texts::none(engine), &Sessions::default())?;
    let mut found = BTreeSet::new();
    for sql in shape::queries(engine) {
        let rows = session.query(sql).map_err(|failure| failed(dataset, "schema", failure))?;
        found.extend(rows.iter().filter_map(|row| row.first().and_then(Value::text)).map(str::to_owned));
    }
    Ok(shape::added(found, engine, &tables).take(VIOLATIONS).collect())
}

/// The same as a check, for who asks whether a data set is the one that was filled: a run goes on, and says what was added.
///
/// # Errors
/// When the database refuses a query.
pub fn check_added(database: &dyn Database, dataset: &DataSet, clock: Since) -> Result<CheckOutcome, DatabaseError> {
    let began = clock();
    let violations: Vec<String> =
        added(database, dataset)?.into_iter().map(|what| format!("{what} was not made by the fill")).collect();
    let says = "nothing was added to the tables of the data set: no column, key, index, reference or check";
    Ok(outcome(("additions", says, violations), clock().saturating_sub(began)))
}

/// What was looked at, what holds there, and where it does not.
type Seen = (&'static str, &'static str, Vec<String>);

fn outcome((name, says, violations): Seen, took: Duration) -> CheckOutcome {
    let (name, says, passed) = (name.to_owned(), says.to_owned(), violations.is_empty());
    CheckOutcome { name, says, passed, violations, took }
}

/// A session with the data set that is looked at.
struct Looking<'a> {
    session: &'a mut dyn Session,
    dataset: &'a DataSet,
    clock: Since<'a>,
}

impl Looking<'_> {
    /// None where a data set has nothing to look at.
    fn look(&mut self, look: Look) -> Result<Option<CheckOutcome>, DatabaseError> {
        let began = (self.clock)();
        let seen = match look {
            Look::Invariant(invariant) => Some(self.invariant(invariant)?),
            Look::Rows(check) => Some(self.rows(check)?),
            Look::References => Some(self.references()?),
            Look::Pages => self.pages()?,
            Look::Schema(engine) => Some(self.shape(engine)?),
            Look::Figures(history) => Some(self.figures(history)?),
        };
        Ok(seen.map(|seen| outcome(seen, (self.clock)().saturating_sub(began))))
    }

    fn ask(&mut self, what: &str, sql: &str) -> Result<Vec<Vec<Value>>, DatabaseError> {
        self.session.query(sql).map_err(|failure| failed(self.dataset, what, failure))
    }

    fn invariant(&mut self, invariant: &Invariant) -> Result<Seen, DatabaseError> {
        let rows = self.ask(invariant.name, &invariant.sql)?;
        Ok((invariant.name, invariant.says, rows.iter().map(|row| in_words(row)).collect()))
    }

    /// Whether all tables, columns, keys, indexes and references are there, and can do their work.
    fn shape(&mut self, engine: Engine) -> Result<Seen, DatabaseError> {
        let mut missing = shape::expected(engine, &self.dataset.tables());
        for sql in shape::queries(engine) {
            for row in self.ask("schema", sql)? {
                missing.remove(row.first().and_then(Value::text).unwrap_or_default());
            }
        }
        let schema = self.dataset.schema();
        let strange = origin::strange(self.session, engine, &schema);
        let strange = strange.map_err(|failure| failed(self.dataset, "schema", failure))?;
        let strange = strange.into_iter().map(|what| format!("{what} was not made by Prony"));
        let missing = missing.into_iter().map(|what| format!("{what} is missing"));
        let says = "all tables, columns, keys, indexes and references of the data set are there, each of its kind and in force";
        Ok(("schema", says, strange.chain(missing).take(VIOLATIONS).collect()))
    }

    /// Whether counts and sums are those of the fill.
    fn figures(&mut self, history: bool) -> Result<Seen, DatabaseError> {
        let mut violations = Vec::new();
        for Figure { what, sql, is } in self.dataset.figures(history) {
            let found = self.session.one(&sql).map_err(|failure| failed(self.dataset, &what, failure))?;
            let found = found.map_or_else(|| "nothing".to_owned(), |found| found.to_string());
            if found != is.to_string() {
                violations.push(format!("{what}: the fill made {is}, got {found}"));
            }
        }
        violations.truncate(VIOLATIONS);
        Ok(("figures", "counts and sums that no transaction changes are those of the fill", violations))
    }

    /// Whether every reference leads to a row: an engine may be told not to look.
    fn references(&mut self) -> Result<Seen, DatabaseError> {
        let mut violations = Vec::new();
        for (words, sql) in shape::orphans(&self.dataset.tables()) {
            if violations.len() < VIOLATIONS {
                let rows = self.ask("references", &sql)?;
                violations.extend(rows.iter().map(|row| format!("{words}: {}", in_words(row))));
            }
        }
        violations.truncate(VIOLATIONS);
        Ok(("references", "each row leads to the rows that it refers to", violations))
    }

    /// Whether rows of the fill that no transaction changes are as they were made, where a data set can tell.
    fn pages(&mut self) -> Result<Option<Seen>, DatabaseError> {
        let (mut violations, mut pages) = (Vec::new(), self.dataset.pages().peekable());
        if pages.peek().is_none() {
            return Ok(None);
        }
        while violations.len() < VIOLATIONS
            && let Some(page) = pages.next()
        {
            violations.extend(page.differences(&self.ask("rows of the fill", &page.sql)?));
        }
        violations.truncate(VIOLATIONS);
        let says = "rows that the fill made are as they were made, but for what transactions change";
        Ok(Some(("rows of the fill", says, violations)))
    }

    fn rows(&mut self, check: &RowCheck) -> Result<Seen, DatabaseError> {
        let rows = self.ask(check.name, &check.sql)?;
        let broken = rows.iter().filter(|row| !(check.holds)(row)).take(VIOLATIONS);
        Ok((check.name, check.says, broken.map(|row| in_words(row)).collect()))
    }
}

fn in_words(row: &[Value]) -> String {
    row.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// The checksums of each table: the same on all engines that hold the same rows.
///
/// # Errors
/// When the database refuses a query.
pub fn checksums(session: &mut dyn Session, dataset: &DataSet) -> Result<Vec<(String, Vec<String>)>, DatabaseError> {
    let sums = dataset.checksums().into_iter().map(|(table, sql)| {
        let row = session.row(&sql).map_err(|failure| failed(dataset, &format!("checksum of {table}"), failure))?;
        Ok((table, row.iter().map(Value::to_string).collect()))
    });
    sums.collect()
}

/// What a workload asks a database around a trial.
pub struct Asking<'a> {
    database: &'a dyn Database,
    session: Box<dyn Session>,
    refused: Option<DatabaseError>,
}

impl Asking<'_> {
    /// Lets a workload ask.
    ///
    /// # Errors
    /// What the database said to the call that it refused.
    pub fn on<T>(
        database: &dyn Database,
        ask: impl FnOnce(&mut dyn Queries) -> Result<T, Refused>,
    ) -> Result<T, DatabaseError> {
        let session = database.session(&Texts::none(database.engine()), &Sessions::default())?;
        let mut asking = Asking { database, session, refused: None };
        let answer = ask(&mut asking);
        answer.map_err(|Refused| asking.refused.unwrap_or(DatabaseError::Stopped))
    }

    fn told<T>(&mut self, what: &str, answer: Result<T, Failure>) -> Result<T, Refused> {
        answer.map_err(|failure| {
            self.refused = Some(DatabaseError::statement(&self.database.place(), what, failure));
            Refused
        })
    }
}

impl Queries for Asking<'_> {
    fn query(&mut self, what: &str, sql: &str) -> Result<Vec<Vec<Value>>, Refused> {
        let answer = self.session.query(sql);
        self.told(what, answer)
    }

    fn transaction(&mut self, what: &str, statements: Vec<String>) -> Result<(), Refused> {
        let statement = |sql: String| Statement { name: "clean-up".to_owned(), sql, rows: false };
        let statements: Vec<Statement> = statements.into_iter().map(statement).collect();
        let mut batch = Batch::default();
        batch.begin(true);
        (0..statements.len()).for_each(|index| batch.call(index as u16, []));
        batch.commit();
        let texts = Texts::of(self.database.engine(), &statements);
        let mut session = self.database.session(&texts, &Sessions::default()).map_err(|error| {
            self.refused = Some(error);
            Refused
        })?;
        let answer = session.run(&batch, &mut Answers::default());
        self.told(what, answer)
    }

    fn empty(&mut self, what: &str, table: &str) -> Result<(), Refused> {
        let verb = if self.database.engine() == Engine::Sqlite { "DELETE FROM" } else { "TRUNCATE TABLE" };
        let answer = self.session.script(&format!("{verb} {table}"));
        self.told(what, answer)
    }
}

fn failed(dataset: &DataSet, what: &str, failure: Failure) -> DatabaseError {
    DatabaseError::statement(&dataset.name(), &format!("check {what}"), failure)
}
