//! What statements cost the database, counted where they are carried out.
//!
//! The one idea: a cost belongs to the text of a statement. Engines rewrite texts before they count (values become marks,
//! spaces go, names are quoted), so that costs are found again by the [`crate::fingerprint`] of a text, which is the same for
//! what was sent and for what an engine made of it.
//!
//! What it does not do: it takes no differences, and it shares nothing out between statements.

use observation::OfStatement;
use rusqlite::Connection;
use study::Engine;
use workload::transaction::Value;

/// What one text has cost since the database began to count.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementCost {
    /// The fingerprint of its text.
    pub key: String,
    /// What is known; amounts grow for as long as the engine counts.
    pub amounts: Vec<(OfStatement, f64)>,
}

impl StatementCost {
    /// From what an engine shows: the text, then amounts in this order, as far as it knows them.
    pub(crate) fn shown(engine: Engine, amounts: &[OfStatement], row: &[Value]) -> Option<StatementCost> {
        let key = crate::fingerprint(engine, row.first()?.text()?);
        let amounts = amounts.iter().zip(&row[1..]).filter_map(|(name, value)| Some((*name, value.number()?)));
        Some(StatementCost { key, amounts: amounts.collect() })
    }
}

/// Whether costs of statements are counted, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Profiling {
    /// Whether they are: private servers are started so that they count, SQLite is sampled.
    pub on: bool,
    /// How pages of a SQLite connection are counted; without it they are not.
    pub pages: Option<PageCounter>,
}

/// Reads the page counters of a connection.
pub type PageCounter = fn(&Connection) -> Pages;

/// What a connection to SQLite did with pages since it was opened. Counts are of 32 bits and begin again at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// Found in the connection's cache.
    pub hits: u32,
    /// Not found there.
    pub misses: u32,
    /// Written to the file or its log.
    pub writes: u32,
}
