//! What a key is: its name, where it may stand, what it holds and what it is without being given.
//!
//! The one idea: one table of keys serves the reader of the file, `--set`, factors, and the reference page, so that the
//! four cannot disagree.
//!
//! What it does not do: it resolves nothing; which of several settings wins is decided when a study is expanded.

use crate::value::{self, Value};
use units::{Bytes, Nanos};

/// A key that may be set, be a factor, or be given on the command line.
#[derive(Debug, PartialEq)]
pub struct Key {
    /// Its name, as in the file and in `--set`.
    pub name: &'static str,
    /// What it belongs to.
    pub group: Group,
    /// What it holds.
    pub kind: Kind,
    /// What it is when nobody sets it, in the words of the file; a text in brackets says what it follows from.
    pub default: &'static str,
    /// One sentence for the reference page.
    pub help: &'static str,
}

/// What a key belongs to; decides in which tables of the file it may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The system: in `[system.NAME]`, and in an experiment.
    System,
    /// How a system is opened, once for the whole run: in `[system.NAME]` only.
    Opening,
    /// A workload of blocks: in `[workload.NAME]`, a stream or an experiment.
    Block,
    /// A workload of files: in the same places.
    Files,
    /// A brokerage house: in the same places.
    Brokerage,
    /// Scripts of transactions: in the same places.
    Sql,
    /// Batch jobs over rows: in the same places.
    Rows,
    /// How sessions talk to a database: in the same places.
    Session,
    /// How a workload reaches the system: in the same places.
    Access,
    /// How fast: in the `load` table of a stream or an experiment.
    Load,
    /// What a trial finds: in an experiment.
    State,
    /// How long it takes and how often it is repeated: in an experiment.
    Phases,
}

/// What a key holds, with its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A size.
    Bytes {
        /// Smallest.
        min: Bytes,
        /// Largest.
        max: Bytes,
    },
    /// A time.
    Duration {
        /// Shortest.
        min: Nanos,
        /// Longest.
        max: Nanos,
    },
    /// Events a second, above 0.
    Rate {
        /// Highest.
        max: f64,
    },
    /// A share.
    Share {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A whole number.
    Count {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A whole number, or one word.
    CountOr {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// The word.
        word: &'static str,
    },
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One size, or a mixture.
    Transfers {
        /// Smallest.
        min: Bytes,
        /// Largest.
        max: Bytes,
    },
    /// `uniform`, `zipf ..`, `hotspot ..`.
    Offsets,
    /// `never`, `each`, `every N`.
    Sync,
    /// An I/O priority.
    Priority,
    /// `off`, `N fills`, `N fills until steady`.
    Precondition,
    /// Any text, described in words.
    Text(&'static str),
}

impl Kind {
    /// Reads a value from its text.
    ///
    /// # Errors
    /// The limit, then the value that was given.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match self {
            Kind::Bytes { .. } => Value::Bytes(units::parse_bytes(text).map_err(|e| e.to_string())?),
            Kind::Duration { .. } => Value::Duration(units::parse_duration(text).map_err(|e| e.to_string())?),
            Kind::Rate { .. } => Value::Rate(units::parse_rate(text).map_err(|e| e.to_string())?),
            Kind::Share { .. } => Value::Share(value::share(text)?),
            Kind::CountOr { word, .. } if text == *word => Value::Word(word),
            Kind::Count { .. } | Kind::CountOr { .. } => Value::Count(self.count(text)?),
            Kind::Flag => Value::Flag(text.parse().map_err(|_| self.refused(text))?),
            Kind::Choice(words) => {
                Value::Word(words.iter().find(|word| **word == text).ok_or_else(|| self.refused(text))?)
            }
            Kind::Transfers { .. } => Value::Transfers(value::transfers(text)?),
            Kind::Offsets => Value::Offsets(value::offsets(text)?),
            Kind::Sync => Value::Sync(value::sync(text)?),
            Kind::Priority => value::priority(text)?,
            Kind::Precondition => value::precondition(text)?,
            Kind::Text(_) => Value::Text(text.to_owned()),
        };
        if self.holds(&value) { Ok(value) } else { Err(self.refused(text)) }
    }

    /// What may be written, in words.
    pub fn allowed(&self) -> String {
        match self {
            Kind::Bytes { min, max } | Kind::Transfers { min, max } => {
                let mixture = if matches!(self, Kind::Transfers { .. }) { ", or a mixture of sizes" } else { "" };
                format!("a size from {} to {}{mixture}", units::bytes(*min), units::bytes(*max))
            }
            Kind::Duration { min, max } => format!("a time from {} to {}", time(*min), time(*max)),
            Kind::Rate { max } => format!("a rate above 0 /s, at most {}", units::rate(*max)),
            Kind::Share { min, max } => {
                format!("a share from {} to {}", units::percent(*min), units::percent(*max))
            }
            Kind::Count { min, max } => format!("a whole number from {min} to {max}"),
            Kind::CountOr { min, max, word } => format!("a whole number from {min} to {max}, or `{word}`"),
            Kind::Flag => "`true` or `false`".to_owned(),
            Kind::Choice(words) => {
                format!("one of {}", words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", "))
            }
            Kind::Offsets => "`uniform`, `zipf 0.99` or `hotspot 90% to 10%`".to_owned(),
            Kind::Sync => "`never`, `each` or `every N`".to_owned(),
            Kind::Priority => "`off`, `idle`, `best-effort 0`..`7` or `real-time 0`..`7`".to_owned(),
            Kind::Precondition => "`off`, `2 fills` or `2 fills until steady`".to_owned(),
            Kind::Text(what) => (*what).to_owned(),
        }
    }

    fn refused(&self, text: &str) -> String {
        format!("{}, got `{text}`", self.allowed())
    }

    fn count(&self, text: &str) -> Result<u64, String> {
        units::parse_count(text).map_err(|_| self.refused(text))
    }

    fn holds(&self, value: &Value) -> bool {
        match (self, value) {
            (Kind::Bytes { min, max }, Value::Bytes(v)) => (min..=max).contains(&v),
            (Kind::Duration { min, max }, Value::Duration(v)) => (min..=max).contains(&v),
            (Kind::Rate { max }, Value::Rate(v)) => v.0 > 0.0 && v.0 <= *max,
            (Kind::Share { min, max }, Value::Share(v)) => (*min..=*max).contains(&v.0),
            (Kind::Count { min, max } | Kind::CountOr { min, max, .. }, Value::Count(v)) => (min..=max).contains(&v),
            (Kind::Transfers { min, max }, Value::Transfers(list)) => {
                list.iter().all(|t| (min..=max).contains(&&t.size))
            }
            _ => true,
        }
    }
}

fn time(time: Nanos) -> String {
    if time == Nanos::ZERO { "0 s".to_owned() } else { units::duration(time) }
}
