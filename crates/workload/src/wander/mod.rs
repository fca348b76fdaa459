//! Reads by key from several tables, of which one is hot for a while, and then the next.
//!
//! The one idea: which table is hot follows from the trial's clock alone, so that all workers agree without a word, and one who wants to
//! be ahead of them can know it. Everything else is a function of seed and number.
//!
//! What it does not do: it changes nothing, so that nothing but the placement of the tables differs between two trials.

mod business;
pub mod data_set;
mod keys;

pub use keys::{KEYS, read};

use crate::dataset::{DataSet, Language};
use crate::kind::{Around, Class, Ready, Share, Transactions, Unready};
use crate::transaction::{Business, Sample, Statement, Value};
use std::any::Any;
use std::sync::Arc;
use units::Nanos;

/// The workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// Tables.
    pub tables: u32,
    /// Rows of each.
    pub rows: u64,
    /// How long one of them is hot.
    pub stay: Nanos,
}

/// Reads in a hundred that go to the hot table; the others go to any.
const HOT: u64 = 90;

/// Characters of a row's text.
const TEXT: u16 = 500;

impl Spec {
    /// The number of the table that is hot at a moment of the trial's clock.
    pub fn hot(&self, at: Nanos) -> u32 {
        ((at.0 / self.stay.0.max(1)) % u64::from(self.tables.max(1))) as u32
    }

    /// The workload behind a trait, where it is this one.
    pub fn of(asked: &dyn Transactions) -> Option<Spec> {
        (asked as &dyn Any).downcast_ref().copied()
    }

    /// What a table is called.
    pub fn table(number: u32) -> String {
        format!("part_{number}")
    }
}

impl Transactions for Spec {
    fn classes(&self) -> Vec<Class> {
        vec![Class::plain("read")]
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(data_set::data_set(self))
    }

    fn ready(&self, _around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        Ok(Arc::new(*self))
    }
}

impl Ready for Spec {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        let statement = |name: String| Statement {
            sql: format!("select body from {name} where id = $1"),
            name: format!("read: {name}"),
            rows: true,
        };
        (0..self.tables).map(Spec::table).map(statement).collect()
    }

    fn samples(&self) -> Vec<Option<Sample>> {
        let text = || vec![Value::Text("x".repeat(TEXT.into()))];
        (0..self.tables).map(|_| Some(Sample::new(1.0, vec![text()]))).collect()
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        Box::new(business::Reads::new(*self, share))
    }
}
