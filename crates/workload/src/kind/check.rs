//! Checks of a workload around a trial, by whatever session they are handed.

use crate::transaction::{Ending, Value};
use std::collections::BTreeMap;
use std::iter::Sum;

/// A session for checks. What the database said to a refused call is kept there.
pub trait Queries {
    /// One statement with the rows that it gives back; `what` says in errors what it was for.
    ///
    /// # Errors
    /// When the database refuses.
    fn query(&mut self, what: &str, sql: &str) -> Result<Vec<Vec<Value>>, Refused>;

    /// The same for the first whole number of an answer; 0 when there is none.
    ///
    /// # Errors
    /// When the database refuses.
    fn number(&mut self, what: &str, sql: &str) -> Result<i64, Refused> {
        Ok(whole(&self.query(what, sql)?).unwrap_or(0))
    }

    /// Statements of portable SQL as one transaction.
    ///
    /// # Errors
    /// When the database refuses.
    fn transaction(&mut self, what: &str, statements: Vec<String>) -> Result<(), Refused>;

    /// Removes all rows of a table.
    ///
    /// # Errors
    /// When the database refuses.
    fn empty(&mut self, what: &str, table: &str) -> Result<(), Refused>;
}

/// A call was refused; whoever handed the session out knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// What a trial finds in the data, as far as the workload must know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Tells trials on the same data apart.
    pub epoch: u64,
    /// How much work the data holds already.
    pub counts: Vec<i64>,
}

/// What the workers of a trial know of acknowledged work: enough to hold it against the data at any later time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Counts, by name.
    pub counts: BTreeMap<String, i64>,
    /// What is known of numbered pieces of work, in pages of the workload's own form.
    pub pages: BTreeMap<u64, Vec<u8>>,
}

/// Work that was acknowledged, and work of which nobody knows whether it was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Acknowledged.
    pub done: u64,
    /// Not known.
    pub unknown: u64,
}

impl Told {
    /// So much work ended.
    pub(crate) fn count(&mut self, amount: u64, ending: Ending) {
        match ending {
            Ending::Done => self.done += amount,
            Ending::Unknown => self.unknown += amount,
            Ending::Failed => {}
        }
    }

    /// The same with so much work that is still under way.
    pub(crate) fn open(self, amount: u64) -> Told {
        Told { unknown: self.unknown + amount, ..self }
    }

    /// Whether the data may hold so much.
    pub(crate) fn allows(self, there: i64) -> bool {
        (self.done as i64..=(self.done + self.unknown) as i64).contains(&there)
    }

    /// What is said of unknown outcomes behind everything else.
    pub(crate) fn doubt(self) -> String {
        if self.unknown == 0 { String::new() } else { format!("; {} of unknown outcome", self.unknown) }
    }
}

impl Sum for Told {
    fn sum<I: Iterator<Item = Told>>(all: I) -> Told {
        all.fold(Told::default(), |sum, one| Told { done: sum.done + one.done, unknown: sum.unknown + one.unknown })
    }
}

impl Ledger {
    /// The same with what was told of some work, under its name and under that with `unknown` behind it.
    pub(crate) fn with(mut self, what: &str, told: Told) -> Ledger {
        let counts = [(what.to_owned(), told.done as i64), (format!("{what} unknown"), told.unknown as i64)];
        self.counts.extend(counts);
        self
    }

    /// What was told of some work.
    pub(crate) fn told(&self, what: &str) -> Told {
        Told { done: self.count(what) as u64, unknown: self.count(&format!("{what} unknown")) as u64 }
    }

    /// One of counts alone.
    pub(crate) fn of_counts<const N: usize>(counts: [(&str, i64); N]) -> Ledger {
        Ledger { counts: counts.map(|(name, count)| (name.to_owned(), count)).into(), ..Ledger::default() }
    }

    /// A count; 0 when there is none of that name.
    pub(crate) fn count(&self, name: &str) -> i64 {
        self.counts.get(name).copied().unwrap_or(0)
    }
}

/// What a check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The name of the check.
    pub name: &'static str,
    /// Whether something that was acknowledged is missing, or something else that is damage.
    pub damaged: bool,
    /// In words.
    pub text: String,
}

/// The first whole number of an answer, whatever type the engine gives it. A sum of whole numbers comes as another type
/// where the engine has a wider one for it.
fn whole(rows: &[Vec<Value>]) -> Option<i64> {
    match rows.first()?.first()? {
        Value::Float(number) => Some(*number as i64),
        Value::Text(text) => text.parse().ok(),
        value => value.int(),
    }
}
