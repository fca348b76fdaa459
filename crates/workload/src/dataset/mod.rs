//! Data sets: tables with their rows, made from a few numbers.
//!
//! The one idea: a data set is a small value from which its name, its tables and every row follow. What does not change the
//! tables (how jobs go over them, say) is no part of it, so that data is reused wherever it fits.
//!
//! What it does not do: it writes to no database, and knows no engine's own SQL.

mod page;
mod procedure;
mod row;
mod table;

pub use page::Page;
pub(crate) use page::Staying;
pub use procedure::{Definition, Language, Procedures};
pub(crate) use row::{Row, push_number, push_padded};
pub use table::{Column, Indexes, Made, Partitions, Reference, Rows, Table, Type};
pub(crate) use table::{Source, Units, checksum, letters, span, tables};

use crate::transaction::Value;
use crate::transaction::texts::{Written, written};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The seed of the data set of every run: data is reused from run to run, so it must not follow the seed of one.
pub(crate) const SEED: u64 = 1;

/// Something that always holds for the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// Its name in reports.
    pub name: &'static str,
    /// What holds, as a sentence.
    pub says: &'static str,
    /// The tables that it reads.
    pub tables: Vec<&'static str>,
    /// A query for rows that break it, ten at most: no row says that it holds.
    pub sql: String,
}

impl Invariant {
    /// Those of a file of SQL: behind the name of each stand its tables and what holds. Each name in braces is replaced by its text.
    pub(crate) fn all(file: &'static str, texts: &[(&str, String)]) -> Vec<Invariant> {
        let made = |one: Written| {
            let [of, says] = [0, 1].map(|at| one.notes.get(at).copied().unwrap_or_default());
            let tables = of.trim_start_matches("of").split(',').map(str::trim).filter(|table| !table.is_empty());
            Invariant { name: one.head, says, tables: tables.collect(), sql: one.sql }
        };
        written(file, texts).map(made).collect()
    }
}

/// A whole number that the data must give, whatever transactions did to it since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What it is, as a sentence's beginning: `rows of customer`.
    pub what: String,
    /// The query that gives it.
    pub sql: String,
    /// What it must be.
    pub is: i64,
}

impl Figure {
    /// How many rows a table has.
    pub(crate) fn rows_of(table: &str, count: u64) -> Figure {
        let (what, sql) = (format!("rows of {table}"), format!("SELECT COUNT(*) FROM {table}"));
        Figure { what, sql, is: count as i64 }
    }
}

/// Rows of which each must be what follows from its key.
pub struct RowCheck {
    /// Its name in reports.
    pub name: &'static str,
    /// What holds, as a sentence.
    pub says: &'static str,
    /// The query for the rows.
    pub sql: String,
    /// Whether a row is as it must be.
    pub holds: Holds,
}

/// Whether the values of a row are what they must be.
pub type Holds = Box<dyn Fn(&[Value]) -> bool + Send + Sync>;

/// What a data set holds: supplied by the workload that it is for.
pub trait Contents: Send + Sync {
    /// A name of its own, where its kind and its facts are not what it is called by.
    fn name(&self) -> Option<String> {
        None
    }

    /// The value written out: what its kind reads back from these facts is this data set.
    fn facts(&self) -> Vec<(&'static str, String)>;

    /// Its tables; one comes after those that it refers to.
    fn tables(&self) -> Vec<Table>;

    /// Rows of a table; an estimate for some.
    fn row_count(&self, table: &str) -> u64;

    /// The rows of part `part` of `parts` of a table.
    fn part(&self, table: &str, part: u32, parts: u32) -> Box<dyn Rows>;

    /// What must hold for its data.
    fn invariants(&self) -> Vec<Invariant> {
        Vec::new()
    }

    /// What is quickly counted of tables that no transaction grows or shrinks. `history` asks for what takes a walk over the
    /// history, too.
    fn figures(&self, _history: bool) -> Vec<Figure> {
        Vec::new()
    }

    /// Rows that are looked at one by one.
    fn row_checks(&self) -> Vec<RowCheck> {
        Vec::new()
    }

    /// Rows that the fill made and no transaction changes, page by page.
    fn pages(&self) -> Box<dyn Iterator<Item = Page>> {
        Box::new(std::iter::empty())
    }

    /// For each table its name and a query whose answer is the same on all engines that hold the same rows.
    fn checksums(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The stored procedures that its transactions may call.
    fn procedures(&self, _language: Language) -> Option<Procedures> {
        None
    }
}

/// A data set: everything in it follows from this value.
#[derive(Clone)]
pub struct DataSet {
    kind: &'static str,
    contents: Arc<dyn Contents>,
}

impl DataSet {
    /// The data set of a kind, by its word in marks, with these contents.
    pub fn new(kind: &'static str, contents: impl Contents + 'static) -> DataSet {
        DataSet { kind, contents: Arc::new(contents) }
    }

    /// The word of its kind in the mark.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Its name, of words, digits and dashes: `brokerage-desk-200-5-42`. Servers of users know the data set by it.
    pub fn name(&self) -> String {
        let values = self.contents.facts().into_iter().map(|(_, value)| value);
        let told = || [self.kind.to_owned()].into_iter().chain(values).collect::<Vec<_>>().join("-");
        self.contents.name().unwrap_or_else(told)
    }

    /// The schema or database that it has for itself on a server: `prony_brokerage_desk_200_5_42`.
    pub fn schema(&self) -> String {
        format!("prony_{}", self.name().replace('-', "_"))
    }

    /// Rows of a table; an estimate for some.
    pub fn row_count(&self, table: &Table) -> u64 {
        self.contents.row_count(&table.name)
    }

    /// Rows of all tables; an estimate.
    pub fn rows(&self) -> u64 {
        self.tables().iter().map(|table| self.row_count(table)).sum()
    }

    /// The rows of part `part` of `parts` of a table.
    pub fn part(&self, table: &Table, part: u32, parts: u32) -> Box<dyn Rows> {
        self.contents.part(&table.name, part, parts)
    }

    /// The value written out, with the word of its kind first.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("kind", self.kind.to_owned())];
        facts.extend(self.contents.facts());
        facts
    }
}

impl Deref for DataSet {
    type Target = dyn Contents;

    fn deref(&self) -> &Self::Target {
        &*self.contents
    }
}

impl PartialEq for DataSet {
    fn eq(&self, other: &DataSet) -> bool {
        self.facts() == other.facts()
    }
}

impl Eq for DataSet {}

impl fmt::Debug for DataSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DataSet").field(&self.name()).finish()
    }
}
