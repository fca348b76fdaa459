//! What every workload of transactions supplies: classes, data set, statements, steps, and checks.
//!
//! The one idea: whoever plans, runs, checks or reports transactions sees these traits only, so that a new workload is a
//! folder that implements them and a row in the table of workloads.
//!
//! What it does not do: it opens no file and asks no database; both are handed in.

mod check;
pub(crate) mod numbers;
pub mod orders;

pub use check::{Found, Ledger, Queries, Refused, Told, Verdict};

use crate::dataset::{DataSet, Indexes, Language};
use crate::transaction::{Business, Sample, Statement};
use reading::key;
use reading::key::{Choice, Count};
use std::any::Any;
use std::fmt::Debug;
use std::io;
use std::sync::Arc;
use units::Nanos;

key! {
    /// Sessions on the database. Without `users` and `rate` each starts its next transaction when its last has ended.
    pub SESSIONS "sessions": Count = Count { min: 1, max: 10_000 }, Is("1")
}

key! {
    /// Rows of the table that is asked; each batch job has one of its own. Of a warehouse, of its ten cubes together:
    /// customers, products and source orders scale with them.
    pub ROWS "rows": Count = Count { min: 1, max: 1_000_000_000 }, Is("1000000")
}

key! {
    /// Days of history: trading days of a brokerage house, with about 58 trades for each customer and day; value dates
    /// of a bank, with about one item a day on each account, all of one period that a night settles.
    pub DAYS "days": Count = Count { min: 1, max: 3_650 }, Follows("(20 for a bank, 5 for a brokerage house)")
}

key! {
    /// Indexes beside the keys of tables: `few` has none. On each cube of a warehouse, whose key begins with the day,
    /// `usual` is one on products, `more` also those on customers and on the delta that wrote a row. Of a bank `usual`
    /// are those on customer and branch of accounts, on accounts of prenotes, and on standing orders by their day;
    /// `more` also those on accounts of orders and of their items, and on orders of posted items.
    pub INDEXES "indexes": Choice<Indexes> = Choice(Indexes::WORDS), Is("usual")
}

key! {
    /// Rows that an update job changes between two commits, or accounts that a job of a bank's night settles; they are
    /// one operation. A copy commits each block.
    pub COMMIT_EVERY "commit_every": Count = Count { min: 1, max: 1_000_000 }, Follows("(100 for a bank's night, 1 for batch jobs)")
}

/// Workers at most that may share a workload: numbers of new rows are given out by worker.
pub const WORKERS_MAX: u32 = 1 << 11;

/// A class of operations or transactions, with what is planned for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// What reports call it.
    pub name: String,
    /// Its share of all transactions, 0 to 1; none for what comes by the clock, or where nothing is planned.
    pub share: Option<f64>,
    /// Seconds within which nine of ten should answer; none where nobody waits.
    pub limit_s: Option<f64>,
    /// Whether it follows from other work, and is no work that anybody asked for.
    pub upkeep: bool,
    /// Whether it is no work at all, but how old the data was that others saw.
    pub age: bool,
    /// What one of it gives those who asked, on the mean; none where nobody counts. What each gave is counted
    /// ([`Business::gave`]); on a described machine, whose answers are made up, it is the mean.
    pub gives: Option<(Yield, f64)>,
    /// How many of what it gives come a second by the workload's own clock; none where it follows from the load.
    pub offered_per_s: Option<f64>,
    /// What one of it asks of a database, on the mean; none where all classes are taken for alike.
    pub demand: Option<Demand>,
}

/// What a transaction asks of a database, on the mean, whatever the database takes for it. A model of a server scales its
/// numbers by it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    /// Statements that are executed; above zero. Rows that one goes through beyond a few are parts of more, as in
    /// [`Demand::over_sets`].
    pub statements: f64,
    /// Rows that are found by key or range, to be read or changed, and may miss the buffer; of rows that a
    /// statement goes through side by side, their pages.
    pub lookups: f64,
    /// Rows that are inserted, changed or deleted; without any nobody waits for the log.
    pub changes: f64,
}

/// Rows of a set that a statement goes through in the processor time of a statement by key.
const READ_A_STATEMENT: f64 = 40.0;
/// Rows of a set that it inserts, changes or deletes in that time.
const CHANGED_A_STATEMENT: f64 = 4.0;
/// Rows that it only counts or adds up, of a whole table, in that time.
const COUNTED_A_STATEMENT: f64 = 130.0;
/// Rows side by side on a page.
const A_PAGE: f64 = 80.0;

impl Demand {
    /// That of statements over sets of rows that lie side by side, together so many. SQLite and PostgreSQL went through 20 to 95
    /// rows in the time of the mean statement of a bank's day, and changed 1 to 10 (accounts of a night, rows of a warehouse).
    pub fn over_sets(statements: f64, read: f64, changed: f64) -> Demand {
        Demand {
            statements: statements + read / READ_A_STATEMENT + changed / CHANGED_A_STATEMENT,
            lookups: statements + (read + changed) / A_PAGE,
            changes: changed,
        }
    }

    /// That of statements that only count or add up the rows of whole tables. At the cut-off of a night SQLite went through 80 of
    /// them in the time of such a statement, PostgreSQL through 220.
    pub fn over_counted(statements: f64, counted: f64, changed: f64) -> Demand {
        let sets = Demand::over_sets(statements, 0.0, changed);
        Demand {
            statements: sets.statements + counted / COUNTED_A_STATEMENT,
            lookups: sets.lookups + counted / A_PAGE,
            ..sets
        }
    }
}

units::words! {
    /// What transactions give those who ask for them, in words of theirs. It is told by the hour.
    pub enum Yield {
        Postings = "postings" "Items posted to accounts of a bank.",
        Accounts = "accounts balanced" "Accounts of a bank balanced.",
        DialogSteps = "dialog steps" "Steps of users through reports.",
        LoadedRows = "rows loaded" "Rows loaded into a warehouse.",
    }
}

impl Class {
    /// A class for which nothing is planned.
    pub fn plain(name: impl Into<String>) -> Class {
        Class { name: name.into(), ..Class::default() }
    }
}

/// Work that comes by the clock beside what users ask for. A session of its own carries all of it, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocked {
    /// What several of them are called.
    pub name: &'static str,
    /// Between two of them.
    pub every: Nanos,
    /// The key that says so; none where nothing does.
    pub key: Option<&'static str>,
    /// How many transactions one of them is.
    pub transactions: u64,
    /// What [`Business::begin`] is given for the first transaction of all; those of a kind are counted on from there.
    pub payload: u64,
}

impl Clocked {
    /// Transactions a second.
    pub fn per_s(&self) -> f64 {
        self.transactions as f64 / self.every.seconds()
    }
}

/// A workload of transactions, as a study says it.
pub trait Transactions: Same + Any + Debug + Send + Sync {
    /// Its classes; [`Business::class`] is a place in this list.
    fn classes(&self) -> Vec<Class>;

    /// What it works on; none when it brings no tables of its own. `theirs` says that the database is the user's, where
    /// tables that are not ours may be meant.
    fn data_set(&self, theirs: bool) -> Option<DataSet>;

    /// Whether somebody else wrote its statements: what brings no tables even where none are meant to be there is the user's own.
    fn is_foreign(&self) -> bool {
        self.data_set(false).is_none()
    }

    /// Whether another one asks the same, whatever its data set holds beside.
    fn asks_alike(&self, other: &dyn Transactions) -> bool {
        self.same(other)
    }

    /// Transactions of the whole job, where it is one that ends; none where it goes on for as long as it is asked.
    fn work(&self) -> Option<u64> {
        None
    }

    /// What comes by the clock; a run of several transactions causes the one behind each.
    fn clock(&self) -> Vec<Clocked> {
        Vec::new()
    }

    /// Whether it says itself when the next transaction of each session is due ([`Business::due`]).
    fn paces_itself(&self) -> bool {
        false
    }

    /// What the whole job gives those who ask for it, where it is one that ends and gives anything.
    fn amount(&self) -> Option<u64> {
        None
    }

    /// Reads what it names and makes it ready to be shared by all workers of a trial.
    ///
    /// # Errors
    /// When a file cannot be read, or what it holds makes no sense.
    fn ready(&self, around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready>;

    /// What one transaction is, where a report should say so: `1 row of 200 B`.
    fn unit(&self) -> Option<String> {
        None
    }

    /// Whether its transactions are stored procedures.
    fn calls_procedures(&self) -> bool {
        false
    }

    /// Whether a model of a server can carry it: it says what each of its classes asks for.
    fn described_by_models(&self) -> bool {
        let classes = self.classes();
        !classes.is_empty() && classes.iter().all(|class| class.age || class.demand.is_some())
    }

    /// Whether its keys can be split between two nodes ([`Share::half`]).
    fn splits(&self) -> bool {
        false
    }

    /// Customers whose data it asks for, where it has such.
    fn customers(&self) -> Option<u64> {
        None
    }

    /// What a model needs to know of it, by the columns of its rows.
    fn columns(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Clears away what an earlier trial left, and says what this one finds. `counts` asks for what [`Transactions::hold`]
    /// needs.
    ///
    /// # Errors
    /// When the database refuses.
    fn begin(&self, _queries: &mut dyn Queries, _sessions: u32, _counts: bool) -> Result<Found, Refused> {
        Ok(Found::default())
    }

    /// What the workers know of acknowledged work, beside what the trial found; none when there is nothing to hold against the
    /// data. `businesses` are of this workload.
    fn ledger(&self, _sessions: u32, _found: &Found, _businesses: &[&dyn Business]) -> Option<Ledger> {
        None
    }

    /// Holds a ledger of this workload against the data.
    ///
    /// # Errors
    /// When the database refuses.
    fn hold(&self, _queries: &mut dyn Queries, _ledger: &Ledger) -> Result<Vec<Verdict>, Refused> {
        Ok(Vec::new())
    }
}

/// Those of the workers that are of one kind.
pub(crate) fn workers<'a, T: Any>(businesses: &'a [&dyn Business]) -> impl Iterator<Item = &'a T> + Clone {
    businesses.iter().filter_map(|business| (*business as &dyn Any).downcast_ref())
}

impl PartialEq for dyn Transactions {
    fn eq(&self, other: &dyn Transactions) -> bool {
        self.same(other)
    }
}

/// Equality of values behind a trait.
pub trait Same {
    /// Whether the other is an equal value of the same type.
    fn same(&self, other: &dyn Any) -> bool;
}

impl<T: PartialEq + Any> Same for T {
    fn same(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

/// How sessions will carry a workload out.
pub struct Around<'a> {
    /// Whether values go into the texts of statements, as the simple protocol wants it.
    pub textual: bool,
    /// How many sessions there are.
    pub sessions: u32,
    /// Reads a file that the study names.
    pub file: &'a dyn Fn(&str) -> io::Result<String>,
}

/// Why a workload is not ready.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum Unready {
    /// A file cannot be read.
    #[error("{action} `{path}` failed")]
    File { action: &'static str, path: String, source: io::Error },
    /// What a file holds makes no sense.
    #[error("{action} `{path}`: {problem}")]
    Script { action: &'static str, path: String, problem: String },
    /// A file must be named by whoever runs it: until then it is sound, and nothing is known of it.
    #[error("{0}")]
    Unnamed(&'static str),
}

/// One worker's share of the slots of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Which worker, from 0.
    pub worker: u32,
    /// How many there are.
    pub workers: u32,
    /// The first of its slots, counted over all workers.
    pub first: u32,
    /// How many slots it has.
    pub slots: u32,
    /// The seed of the stream.
    pub seed: u64,
    /// Tells trials on the same data apart.
    pub epoch: u64,
    /// Which half of the keys it may draw, 0 or 1; none for all of them.
    pub half: Option<u32>,
}

/// A workload of transactions with all its texts, shared by the workers of a trial.
pub trait Ready: Send + Sync {
    /// The statements that its transactions call, by place; in a language of procedures where it calls these.
    fn statements(&self, language: Option<Language>) -> Vec<Statement>;

    /// What a database without rows gives for each statement; none for a workload that knows what it asks for.
    fn samples(&self) -> Vec<Option<Sample>> {
        Vec::new()
    }

    /// Bytes that one transaction moves, on the mean; 0 where nobody counts them.
    fn bytes(&self) -> u32 {
        0
    }

    /// Whether answers to a statement must name their columns.
    fn wants_names(&self, _statement: u16) -> bool {
        false
    }

    /// Whether values are put into texts as they are.
    fn spliced(&self) -> bool {
        false
    }

    /// Whether all sets of rows that a statement gives back are kept, as one.
    fn gathers(&self) -> bool {
        false
    }

    /// The share of one worker.
    fn business(&self, share: &Share) -> Box<dyn Business>;
}
